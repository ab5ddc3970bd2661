//! The files that the ranks measure. All ranks open them together, step by step: if one fails, all
//! stop.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::link::{Link, boot_id};
use super::messages::{RankRefusal, pack, unpack};
use super::nodes::Nodes;
use crate::backend::access_pattern::Place;
use crate::engine::locate::{PlaceError, usable};
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::plan::{Job, Layout, Op, Plan, TargetSpec};
use crate::sys::names::random;
use crate::sys::{cold, fd, mounts, signals};
use crate::text::show_path;

/// A file that a rank offers to the others.
#[derive(Debug, Serialize, Deserialize)]
struct OfferedFile {
    /// Bytes of the path, which need not be text.
    path: Vec<u8>,
    size: u64,
    /// A hash of its beginning, middle and end.
    sample: u64,
}

impl OfferedFile {
    fn of(path: &Path, file: &File, size: u64) -> io::Result<OfferedFile> {
        let path = path.as_os_str().as_bytes().to_vec();
        Ok(OfferedFile { path, size, sample: sample(file, size)? })
    }

    fn path(&self) -> PathBuf {
        OsStr::from_bytes(&self.path).into()
    }

    /// Checks whether `file`, opened by this path, is the same.
    fn check(&self, file: &File) -> Result<(), String> {
        let size = file.metadata().map(|meta| meta.len());
        let same =
            size.and_then(|size| Ok(size == self.size && sample(file, size)? == self.sample));
        match same {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("{} is another file here", show_path(&self.path()))),
            Err(error) => Err(format!("cannot read {}: {error}", show_path(&self.path()))),
        }
    }
}

/// Returns a hash by which another file is recognised.
fn sample(file: &File, size: u64) -> io::Result<u64> {
    const PIECE: u64 = 4096;
    let mut hasher = DefaultHasher::new();
    let last = size.saturating_sub(PIECE);
    for at in [0, last / 2, last] {
        let mut piece = vec![0; PIECE.min(size) as usize];
        file.read_exact_at(&mut piece, at)?;
        hasher.write(&piece);
    }
    Ok(hasher.finish())
}

/// The space that the file of a rank needs, and where.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct NeededSpace {
    /// Names the file system, the same on all ranks that share it.
    place: String,
    dir: String,
    need: u64,
    free: u64,
}

impl NeededSpace {
    fn of(dir: &Path, need: u64) -> io::Result<NeededSpace> {
        let folder = File::open(dir)?;
        let mount = mounts::mount_of(&folder)?;
        // All machines know an export of a server by one name, and each names its own disks.
        let place = match (mount.is_network(), mount.source) {
            (true, Some(source)) => source,
            _ => format!("{} {}", boot_id(), folder.metadata()?.dev()),
        };
        let free = mounts::space(&folder)?.available;
        Ok(NeededSpace { place, dir: show_path(dir), need, free })
    }
}

/// Returns the first rank whose file does not fit next to the files of the others, and why.
fn find_full(needs: &[Option<NeededSpace>]) -> Option<(usize, String)> {
    let mut places: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for space in needs.iter().flatten().filter(|space| space.need > 0) {
        let (ranks, need) = places.entry(&space.place).or_default();
        (*ranks, *need) = (*ranks + 1, need.saturating_add(space.need));
    }
    needs.iter().enumerate().find_map(|(rank, space)| {
        let space = space.as_ref()?;
        let (files, need) = *places.get(space.place.as_str())?;
        let (dir, free) = (space.dir.clone().into(), space.free);
        let full = PlaceError::Full { dir, need, files, free, by_quota: false };
        (need > usable(free)).then(|| (rank, full.to_string()))
    })
}

/// The ranks that open something together.
pub struct JointOpening<'a> {
    pub link: &'a dyn Link,
    pub nodes: &'a Nodes,
    pub plan: &'a Plan,
    pub stop: &'a dyn Fn() -> bool,
    /// Which signal this rank has received.
    pub signal: &'a dyn Fn() -> Option<i32>,
}

impl JointOpening<'_> {
    /// Ends a step on all ranks; the error is that of the first rank that failed, with its machine.
    fn agree<T>(&self, own: Result<T, String>) -> Result<T, RankRefusal> {
        let failed = own.as_ref().err().map(|why| {
            let signal = (self.signal)();
            let stopped = signal.map(|signal| format!("stopped by {}", signals::name(signal)));
            RankRefusal { why: stopped.unwrap_or_else(|| why.clone()), signal }
        });
        let all = self.link.gather(pack(&failed));
        let mut failures = all.iter().enumerate().filter_map(|(rank, message)| {
            let failed: Result<Option<RankRefusal>, String> = unpack(message);
            failed.unwrap_or_else(|why| Some(why.into())).map(|failed| (rank, failed))
        });
        let first = failures.next();
        self.decide(first.map(|(rank, failed)| RankRefusal {
            why: self.nodes.blame(rank, &failed.why),
            ..failed
        }))?;
        Ok(own?)
    }

    /// Ends a step as rank 0 decides, whose `failed` counts.
    fn decide(&self, failed: Option<RankRefusal>) -> Result<(), RankRefusal> {
        unpack::<Option<RankRefusal>>(&self.link.broadcast(pack(&failed)))?.map_or(Ok(()), Err)
    }

    /// Checks that the files of all ranks fit, before one of them writes.
    fn check_space(&self) -> Result<(), RankRefusal> {
        let TargetSpec::Scratch { dir, size, .. } = &self.plan.target else { return Ok(()) };
        let measures = self.link.rank() < self.plan.processes();
        // Where the space is unknown, making the file reports what is missing.
        let own = NeededSpace::of(dir, if measures { *size } else { 0 }).ok();
        let all = self.link.gather(pack(&own));
        let all: Vec<Option<NeededSpace>> =
            all.iter().map(|space| unpack(space).ok().flatten()).collect();
        let full = find_full(&all);
        self.decide(full.map(|(rank, why)| self.nodes.blame(rank, &why).into()))
    }

    /// Returns whether all ranks use the file that the first opens.
    pub fn is_shared(&self) -> bool {
        self.plan.cells.iter().any(Job::shares_its_file)
    }

    /// Opens the target of each rank, and the files of others that it reads. `own` opens this
    /// rank's target; only rank 0 opens a file that all share.
    pub fn open(
        &self,
        own: &mut dyn FnMut() -> Result<Option<Targets>, String>,
    ) -> Result<(Targets, RankFiles), RankRefusal> {
        self.check_space()?;
        let own = self.agree(own())?;
        let mut files = RankFiles::new(self.link.rank(), self.nodes, self.plan);
        if self.is_shared() {
            return Ok((self.open_shared(own)?, files));
        }
        let own = own.ok_or_else(|| String::from("there is no file"))?;
        files.others = self.open_others(&files, &own)?;
        Ok((own, files))
    }

    /// Opens the files of other ranks that this one reads.
    fn open_others(
        &self,
        files: &RankFiles,
        own: &Targets,
    ) -> Result<Vec<(u32, OpenTarget)>, RankRefusal> {
        if !self.plan.shift {
            return Ok(Vec::new());
        }
        let main = own.main();
        let offer = OfferedFile::of(&main.target.path, &main.file, main.target.size);
        let offer: Result<OfferedFile, String> = offer.map_err(|error| error.to_string());
        let offers = self.link.gather(pack(&offer));
        let offers: Vec<Result<OfferedFile, String>> =
            offers.iter().map(|offer| unpack(offer).and_then(|offer| offer)).collect();
        let offers: Vec<Result<OfferedFile, String>> = unpack(&self.link.broadcast(pack(&offers)))?;
        let open = |rank: u32| match offers.get(rank as usize) {
            Some(Ok(offer)) => self.open_offered(offer).map_err(|why| {
                format!("{why}; each machine must see the files of the others, or use --shift=no")
            }),
            Some(Err(why)) => Err(why.clone()),
            None => Err(format!("rank {rank} has no file")),
        };
        let opened: Result<Vec<(u32, OpenTarget)>, String> =
            files.sources(self.plan).into_iter().map(|rank| Ok((rank, open(rank)?))).collect();
        self.agree(opened)
    }

    /// Opens a file that another rank made or named, for reading.
    fn open_offered(&self, offer: &OfferedFile) -> Result<OpenTarget, String> {
        let path = offer.path();
        let file = fd::open_named(&path)
            .map_err(|error| format!("cannot open {}: {error}", show_path(&path)))?;
        offer.check(&file)?;
        OpenTarget::of_other(self.plan, file, &path, false).map_err(|error| error.to_string())
    }

    /// Opens the one file of all ranks, and fills it if it is ours, each its own part.
    fn open_shared(&self, own: Option<Targets>) -> Result<Targets, RankRefusal> {
        let ours = self.plan.target.is_ours();
        let offer = own.as_ref().map(|targets| self.offer_shared(targets.main()));
        let offer: Result<OfferedFile, String> =
            unpack(&self.link.broadcast(pack(&offer.unwrap_or(Err(String::new())))))?;
        let opened = match (own, offer) {
            (_, Err(why)) => Err(why),
            (Some(targets), Ok(_)) => Ok(targets),
            (None, Ok(offer)) if ours => self.open_to_write(&offer).map(Targets::from),
            (None, Ok(offer)) => self.open_offered(&offer).map(Targets::from),
        };
        let mut targets = self.agree(opened)?;
        if ours {
            self.agree(self.fill_part(targets.main()))?;
            targets.main_mut().reload();
        }
        Ok(targets)
    }

    /// Offers the one file to the other ranks. Ours is still empty: a random mark in it keeps them
    /// from writing to another file.
    fn offer_shared(&self, target: &OpenTarget) -> Result<OfferedFile, String> {
        let mark = || {
            if self.plan.target.is_ours() {
                target.file.write_all_at(&random::<32>()?, 0)?;
                target.file.sync_all()?;
            }
            OfferedFile::of(&target.target.path, &target.file, target.target.size)
        };
        mark().map_err(|error| format!("cannot mark {}: {error}", show_path(&target.target.path)))
    }

    fn open_to_write(&self, offer: &OfferedFile) -> Result<OpenTarget, String> {
        let path = offer.path();
        let mut options = File::options();
        let options = options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
        let file = options
            .open(&path)
            .map_err(|error| format!("cannot open {}: {error}", show_path(&path)))?;
        offer.check(&file)?;
        OpenTarget::of_other(self.plan, file, &path, true).map_err(|error| error.to_string())
    }

    /// Fills this rank's part of our file, and drops it from the page cache, as a machine must not
    /// read what it wrote.
    fn fill_part(&self, target: &OpenTarget) -> Result<(), String> {
        let TargetSpec::Scratch { size, .. } = self.plan.target else { return Ok(()) };
        if self.link.rank() >= self.plan.processes() {
            return Ok(());
        }
        let start = size.saturating_mul(self.link.rank().into());
        target.fill_part(start..start.saturating_add(size), self.stop)?;
        cold::drop_part(&target.file, start, size).map_err(|error| error.to_string())
    }
}

/// The files that a rank uses: its own, that of another rank, or its part of one that all share.
#[derive(Debug, Default)]
pub struct RankFiles {
    rank: u32,
    nodes: Nodes,
    /// Ranks read what the ranks of another machine wrote.
    shift: bool,
    /// The files of other ranks that it reads.
    others: Vec<(u32, OpenTarget)>,
}

impl RankFiles {
    pub fn new(rank: u32, nodes: &Nodes, plan: &Plan) -> RankFiles {
        RankFiles { rank, nodes: nodes.clone(), shift: plan.shift, others: Vec::new() }
    }

    /// Returns the rank whose data this one uses in a job.
    pub fn source(&self, job: &Job) -> u32 {
        let reads = job.op == Op::Read && job.mix.is_none();
        if self.shift && reads { self.nodes.shifted(self.rank, job.processes()) } else { self.rank }
    }

    /// Returns the part of a shared file that this rank uses in a job.
    pub fn place(&self, job: &Job) -> Option<Place> {
        job.shares_its_file().then(|| Place {
            index: self.source(job),
            of: job.processes(),
            strided: job.layout == Layout::Strided,
        })
    }

    /// Returns whether a lower rank of this machine does what is done once per machine.
    pub fn is_led(&self) -> bool {
        self.nodes.is_led(self.rank)
    }

    /// Returns the other ranks whose files this one reads in the jobs of a plan.
    pub fn sources(&self, plan: &Plan) -> Vec<u32> {
        let jobs = plan.cells.iter().filter(|job| job.layout.is_per_rank());
        let takes_part = jobs.filter(|job| self.rank < job.processes());
        let mut sources: Vec<u32> = takes_part.map(|job| self.source(job)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.retain(|source| *source != self.rank);
        sources
    }

    /// Returns the file that this rank uses in a job, where its own is `own`.
    pub fn target_of<'a>(&'a self, job: &Job, own: &'a OpenTarget) -> &'a OpenTarget {
        let source = self.source(job);
        let other = self.others.iter().find(|(rank, _)| *rank == source && !job.shares_its_file());
        other.map_or(own, |(_, of_other)| of_other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Choice;

    #[test]
    fn replaced_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let write = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            File::open(&path).unwrap()
        };
        let data = vec![7; 100_000];
        let offer = OfferedFile::of(&path, &write(&data), 100_000).unwrap();
        assert_eq!(offer.check(&write(&data)), Ok(()));
        let mut other = data.clone();
        other[99_999] = 8;
        for bytes in [&other[..], &data[..99_999], &[]] {
            let why = offer.check(&write(bytes)).unwrap_err();
            assert!(why.ends_with("data is another file here"), "{why}");
        }
        let empty = OfferedFile::of(&path, &write(&[]), 0).unwrap();
        assert_eq!(empty.check(&write(&[])), Ok(()));
    }

    #[test]
    fn ranks_on_one_disk_add_up() {
        let room = |place: &str, need, free| {
            Some(NeededSpace { place: place.into(), dir: "/data".into(), need, free })
        };
        let mib = |count: u64| count << 20;
        let all = [
            room("a", mib(30), mib(100)),
            room("b", mib(30), mib(50)),
            None,
            room("b", mib(30), mib(50)),
            room("b", 0, mib(50)),
        ];
        let (rank, why) = find_full(&all).unwrap();
        assert_eq!(rank, 1);
        let expected = "not enough space in /data: 60 MiB needed for 2 ranks, 50 MiB free; ";
        assert!(why.starts_with(expected), "{why}");
        assert_eq!(find_full(&all[..3]), None);
        // One place, and what is free in it, for all ranks of this machine.
        let dir = tempfile::tempdir().unwrap();
        let own = |need| NeededSpace::of(dir.path(), need).unwrap();
        assert_eq!((own(1).place, own(1).need), (own(2).place, 1));
        let most = usable(own(0).free);
        assert_eq!(find_full(&[Some(own(most / 4)), Some(own(most / 4))]), None);
        assert!(find_full(&[Some(own(most)), Some(own(most))]).is_some());
    }

    fn files(rank: u32, nodes: &[&str], shift: bool) -> RankFiles {
        RankFiles { rank, nodes: Nodes::named(nodes), shift, others: Vec::new() }
    }

    fn job(op: Op, ranks: u32, layout: Layout) -> Job {
        let plain = Job::plain(Choice::plain("pread"), op);
        Job { ranks: Some(ranks), layout, ..plain }
    }

    #[test]
    fn no_machine_reads_its_own_data() {
        let layouts: [&[&str]; 4] = [
            &["a", "b"],
            &["a", "a", "b", "b"],
            &["a", "b", "a", "b", "c", "c"],
            &["a", "b", "b", "c", "c", "c", "d"],
        ];
        for nodes in layouts {
            let ranks = nodes.len() as u32;
            let reads = job(Op::Read, ranks, Layout::PerRank);
            let sources: Vec<u32> =
                (0..ranks).map(|rank| files(rank, nodes, true).source(&reads)).collect();
            let mut once = sources.clone();
            once.sort_unstable();
            assert_eq!(once, (0..ranks).collect::<Vec<u32>>(), "{nodes:?}: each is read once");
            for (rank, source) in sources.iter().enumerate() {
                assert_ne!(nodes[rank], nodes[*source as usize], "{nodes:?}: {sources:?}");
            }
            for rank in 0..ranks {
                let write = job(Op::Write, ranks, Layout::PerRank);
                assert_eq!(files(rank, nodes, true).source(&write), rank);
                assert_eq!(files(rank, nodes, false).source(&reads), rank);
            }
        }
    }

    #[test]
    fn shared_part_follows_from_the_layout() {
        let files_of = files(1, &["a", "a", "b", "b"], true);
        let read = files_of.place(&job(Op::Read, 4, Layout::Segmented)).unwrap();
        assert_eq!((read.index, read.of, read.window(100)), (3, 4, 300..400));
        let write = files_of.place(&job(Op::Write, 4, Layout::Strided)).unwrap();
        assert_eq!((write.index, write.strided, write.window(100)), (1, true, 0..400));
        // Both ranks are on one machine.
        assert_eq!(files_of.place(&job(Op::Read, 2, Layout::Segmented)).unwrap().index, 1);
        assert_eq!(files_of.place(&job(Op::Read, 4, Layout::PerRank)), None);
        let mut plan = Plan::plain("sweep", TargetSpec::None);
        plan.cells = vec![job(Op::Read, 4, Layout::PerRank), job(Op::Read, 2, Layout::PerRank)];
        assert_eq!(files_of.sources(&plan), [3]);
        assert_eq!(files(2, &["a", "a", "b", "b"], true).sources(&plan), [0]);
    }
}

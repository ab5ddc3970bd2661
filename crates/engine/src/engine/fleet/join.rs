//! Opens what the ranks measure, in steps that all take together: if one cannot, none goes on.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::link::Link;
use super::link::boot_id;
use super::nodes::Nodes;
use super::order::{Refusal, pack, unpack};
use super::site::{Seats, Site};
use crate::engine::locate::{PlaceError, usable};
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::plan::{Job, Plan, TargetSpec};
use crate::sys::nonce::random;
use crate::sys::{cold, fd, mounts, signals};
use crate::text::show_path;

/// A file as another rank finds it.
#[derive(Debug, Serialize, Deserialize)]
struct Offer {
    /// Bytes of the path, which need not be text.
    path: Vec<u8>,
    size: u64,
    /// Of its beginning, middle and end.
    sample: u64,
}

impl Offer {
    fn of(path: &Path, file: &File, size: u64) -> io::Result<Offer> {
        let path = path.as_os_str().as_bytes().to_vec();
        Ok(Offer { path, size, sample: sample(file, size)? })
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

/// Returns a number that another file would hardly have.
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
struct Room {
    /// Names the file system, the same on all ranks that share it.
    place: String,
    dir: String,
    need: u64,
    free: u64,
}

impl Room {
    fn of(dir: &Path, need: u64) -> io::Result<Room> {
        let folder = File::open(dir)?;
        let mount = mounts::mount_of(&folder)?;
        // What a server exports has one name on all machines, and a disk one on each.
        let place = match (mount.is_network(), mount.source) {
            (true, Some(source)) => source,
            _ => format!("{} {}", boot_id(), folder.metadata()?.dev()),
        };
        let free = mounts::space(&folder)?.available;
        Ok(Room { place, dir: show_path(dir), need, free })
    }
}

/// Returns the first rank whose file does not fit next to the files of the others, and why.
fn find_full(rooms: &[Option<Room>]) -> Option<(usize, String)> {
    let mut places: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for room in rooms.iter().flatten().filter(|room| room.need > 0) {
        let (ranks, need) = places.entry(&room.place).or_default();
        (*ranks, *need) = (*ranks + 1, need.saturating_add(room.need));
    }
    rooms.iter().enumerate().find_map(|(rank, room)| {
        let room = room.as_ref()?;
        let (files, need) = *places.get(room.place.as_str())?;
        let (dir, free) = (room.dir.clone().into(), room.free);
        let full = PlaceError::Full { dir, need, files, free, by_quota: false };
        (need > usable(free)).then(|| (rank, full.to_string()))
    })
}

/// The ranks that open something together.
pub struct Opening<'a> {
    pub link: &'a dyn Link,
    pub nodes: &'a Nodes,
    pub plan: &'a Plan,
    pub stop: &'a dyn Fn() -> bool,
    /// Which signal this rank has received.
    pub signal: &'a dyn Fn() -> Option<i32>,
}

impl Opening<'_> {
    /// Agrees with all ranks that a step is done; the error is that of the first that could not,
    /// with its machine.
    ///
    /// # Errors
    /// One rank could not.
    pub fn agree(&self, own: Result<(), String>) -> Result<(), Refusal> {
        let own = own.map_err(|why| {
            let signal = (self.signal)();
            let stopped = signal.map(|signal| format!("stopped by {}", signals::name(signal)));
            Refusal { why: stopped.unwrap_or(why), signal }
        });
        let mut all = self.link.gather(pack(&own)).into_iter().enumerate();
        let blamed = all.find_map(|(rank, message)| {
            let done: Result<(), Refusal> =
                unpack(&message).map_err(Refusal::from).and_then(|done| done);
            done.err().map(|of| Refusal { why: self.nodes.blame(rank, &of.why), ..of })
        });
        self.decide(blamed)
    }

    /// Ends a step as rank 0 says, whose `blamed` counts.
    fn decide(&self, blamed: Option<Refusal>) -> Result<(), Refusal> {
        unpack::<Option<Refusal>>(&self.link.broadcast(pack(&blamed)))?.map_or(Ok(()), Err)
    }

    /// Checks that the files of all ranks fit, before one of them writes.
    fn check_space(&self) -> Result<(), Refusal> {
        let TargetSpec::Scratch { dir, size, .. } = &self.plan.target else { return Ok(()) };
        let measures = self.link.rank() < self.plan.processes();
        // Where the space is unknown, making the file reports what is missing.
        let own = Room::of(dir, if measures { *size } else { 0 }).ok();
        let all = self.link.gather(pack(&own));
        let all: Vec<Option<Room>> = all.iter().map(|room| unpack(room).ok().flatten()).collect();
        let full = find_full(&all);
        self.decide(full.map(|(rank, why)| self.nodes.blame(rank, &why).into()))
    }

    /// Returns whether all ranks use the file that the first opens.
    pub fn is_shared(&self) -> bool {
        self.plan.cells.iter().any(Job::shares_its_file)
    }

    /// Opens the target of each rank, and what it reads of others. `own` opens that of this one;
    /// of a file that all share, only the first has one.
    ///
    /// # Errors
    /// One rank could not.
    pub fn open(
        &self,
        own: impl FnOnce() -> Result<Option<Targets>, String>,
    ) -> Result<(Targets, Site), Refusal> {
        let seats = Seats::new(self.link.rank(), self.nodes, self.plan);
        self.check_space()?;
        let own = own();
        self.agree(own.as_ref().map(|_| ()).map_err(Clone::clone))?;
        let (targets, others) = match own? {
            own if self.is_shared() => (self.open_shared(own)?, Vec::new()),
            Some(own) => {
                let others = self.open_others(&seats, &own)?;
                (own, others)
            }
            None => return Err(String::from("there is no file").into()),
        };
        Ok((targets, Site { seats, others }))
    }

    /// Opens the files of other ranks that this one reads.
    fn open_others(&self, seats: &Seats, own: &Targets) -> Result<Vec<(u32, OpenTarget)>, Refusal> {
        if !self.plan.shift {
            return Ok(Vec::new());
        }
        let main = own.main();
        let offer = Offer::of(&main.target.path, &main.file, main.target.size);
        let offer: Result<Offer, String> = offer.map_err(|error| error.to_string());
        let offers = self.link.gather(pack(&offer));
        let offers: Vec<Result<Offer, String>> =
            offers.iter().map(|offer| unpack(offer).and_then(|offer| offer)).collect();
        let offers: Vec<Result<Offer, String>> = unpack(&self.link.broadcast(pack(&offers)))?;
        let open = |rank: u32| match offers.get(rank as usize) {
            Some(Ok(offer)) => self.open_offered(offer).map_err(|why| {
                format!("{why}; each machine must see the files of the others, or use --shift=no")
            }),
            Some(Err(why)) => Err(why.clone()),
            None => Err(format!("rank {rank} has no file")),
        };
        let opened: Result<Vec<(u32, OpenTarget)>, String> =
            seats.sources(self.plan).into_iter().map(|rank| Ok((rank, open(rank)?))).collect();
        self.agree(opened.as_ref().map(|_| ()).map_err(Clone::clone))?;
        Ok(opened?)
    }

    /// Opens a file that another rank made or named, for reading.
    fn open_offered(&self, offer: &Offer) -> Result<OpenTarget, String> {
        let path = offer.path();
        let file = fd::open_named(&path)
            .map_err(|error| format!("cannot open {}: {error}", show_path(&path)))?;
        offer.check(&file)?;
        OpenTarget::of_other(self.plan, file, &path, false).map_err(|error| error.to_string())
    }

    /// Opens the one file of all ranks, and fills it if it is ours, each its own part.
    fn open_shared(&self, own: Option<Targets>) -> Result<Targets, Refusal> {
        let ours = self.plan.target.is_ours();
        let offer = own.as_ref().map(|targets| self.offer_shared(targets.main()));
        let offer: Result<Offer, String> =
            unpack(&self.link.broadcast(pack(&offer.unwrap_or(Err(String::new())))))?;
        let opened = match (own, offer) {
            (_, Err(why)) => Err(why),
            (Some(targets), Ok(_)) => Ok(targets),
            (None, Ok(offer)) if ours => self.open_to_write(&offer).map(Targets::from),
            (None, Ok(offer)) => self.open_offered(&offer).map(Targets::from),
        };
        self.agree(opened.as_ref().map(|_| ()).map_err(Clone::clone))?;
        let mut targets = opened?;
        if ours {
            self.agree(self.fill_part(targets.main()))?;
            targets.main_mut().reload();
        }
        Ok(targets)
    }

    /// Describes the one file for the other ranks. Ours is still empty: it is marked by what nobody
    /// else knows, so that no other file is mistaken for it and written.
    fn offer_shared(&self, target: &OpenTarget) -> Result<Offer, String> {
        let mark = || {
            if self.plan.target.is_ours() {
                target.file.write_all_at(&random::<32>()?, 0)?;
                target.file.sync_all()?;
            }
            Offer::of(&target.target.path, &target.file, target.target.size)
        };
        mark().map_err(|error| format!("cannot mark {}: {error}", show_path(&target.target.path)))
    }

    fn open_to_write(&self, offer: &Offer) -> Result<OpenTarget, String> {
        let path = offer.path();
        let mut options = File::options();
        let options = options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
        let file = options
            .open(&path)
            .map_err(|error| format!("cannot open {}: {error}", show_path(&path)))?;
        offer.check(&file)?;
        OpenTarget::of_other(self.plan, file, &path, true).map_err(|error| error.to_string())
    }

    /// Fills this rank's part of our file, and drops it from the page cache: a machine is not to
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_behind_the_same_path_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let write = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            File::open(&path).unwrap()
        };
        let data = vec![7; 100_000];
        let offer = Offer::of(&path, &write(&data), 100_000).unwrap();
        assert_eq!(offer.check(&write(&data)), Ok(()));
        let mut other = data.clone();
        other[99_999] = 8;
        for bytes in [&other[..], &data[..99_999], &[]] {
            let why = offer.check(&write(bytes)).unwrap_err();
            assert!(why.ends_with("data is another file here"), "{why}");
        }
        let empty = Offer::of(&path, &write(&[]), 0).unwrap();
        assert_eq!(empty.check(&write(&[])), Ok(()));
    }

    #[test]
    fn files_of_ranks_that_share_a_disk_are_counted_together() {
        let room = |place: &str, need, free| {
            Some(Room { place: place.into(), dir: "/data".into(), need, free })
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
        let own = |need| Room::of(dir.path(), need).unwrap();
        assert_eq!((own(1).place, own(1).need), (own(2).place, 1));
        let most = usable(own(0).free);
        assert_eq!(find_full(&[Some(own(most / 4)), Some(own(most / 4))]), None);
        assert!(find_full(&[Some(own(most)), Some(own(most))]).is_some());
    }
}

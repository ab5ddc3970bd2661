//! Opens what the ranks measure, in steps that all take together: if one cannot, none goes on.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::link::Link;
use super::nodes::Nodes;
use super::order::{pack, unpack};
use super::site::{Seats, Site};
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::plan::{Job, Plan, TargetSpec};
use crate::sys::nonce::random;
use crate::sys::{cold, fd};
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

/// The ranks that open something together.
pub struct Opening<'a> {
    pub link: &'a dyn Link,
    pub nodes: &'a Nodes,
    pub plan: &'a Plan,
    pub stop: &'a dyn Fn() -> bool,
}

impl Opening<'_> {
    /// Agrees with all ranks that a step is done; the error is that of the first that could not,
    /// with its machine.
    ///
    /// # Errors
    /// One rank could not.
    pub fn agree(&self, own: Result<(), String>) -> Result<(), String> {
        let mut all = self.link.gather(pack(&own)).into_iter().enumerate();
        let blamed = all.find_map(|(rank, message)| {
            let done: Result<(), String> = unpack(&message).and_then(|done| done);
            done.err().map(|why| self.nodes.blame(rank, &why))
        });
        unpack::<Option<String>>(&self.link.broadcast(pack(&blamed)))?.map_or(Ok(()), Err)
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
    ) -> Result<(Targets, Site), String> {
        let seats = Seats::new(self.link.rank(), self.nodes, self.plan);
        let own = own();
        self.agree(own.as_ref().map(|_| ()).map_err(Clone::clone))?;
        let (targets, others) = match own? {
            own if self.is_shared() => (self.open_shared(own)?, Vec::new()),
            Some(own) => {
                let others = self.open_others(&seats, &own)?;
                (own, others)
            }
            None => return Err("there is no file".into()),
        };
        Ok((targets, Site { seats, others }))
    }

    /// Opens the files of other ranks that this one reads.
    fn open_others(&self, seats: &Seats, own: &Targets) -> Result<Vec<(u32, OpenTarget)>, String> {
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
        opened
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
    fn open_shared(&self, own: Option<Targets>) -> Result<Targets, String> {
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
}

//! `metadata`: files made, asked about, renamed and deleted.

use std::ffi::CString;
use std::os::fd::AsFd;

use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::files::{alone, folder, ground};
use super::known::{Known, has_only};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::scratch_dir::ScratchDir;

pub(super) struct Metadata;

static INFO: ProbeInfo = ProbeInfo {
    id: "metadata",
    group: Group::Files,
    title: "file metadata",
    about: "an empty file created, asked about (stat), renamed, deleted",
    doc: "Works on up to 4096 empty files in a folder of its own, which is removed. create opens a new file and closes it, stat asks \
          about one whose name is cached, rename gives a new name, delete takes the only name away, and with it the file. Nothing is \
          forced to the device: a journal is written by the kernel later, so these are mostly times of the CPU, and of a server on a \
          network mount. fsync is what waits for the device. Files are made and deleted outside the time where that is not what is \
          measured. ext4 takes no inode again that was freed in the last seconds, so where many were just deleted it searches long for \
          each new file.",
    makes_files: true,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Create,
    Stat,
    Rename,
    Delete,
}

impl Op {
    fn call(self) -> &'static str {
        match self {
            Op::Create => "creating a file",
            Op::Stat => "stat",
            Op::Rename => "rename",
            Op::Delete => "deleting a file",
        }
    }
}

/// Nanoseconds.
const OPS: &[Known<Op>] = &[
    Known {
        name: "create",
        what: Op::Create,
        range: (4e3, 1.5e6),
        why: "an inode, an entry, their part of the journal; most where many were just freed",
    },
    Known {
        name: "stat",
        what: Op::Stat,
        range: (250.0, 4e3),
        why: "a system call and a name that is found in the cache of names",
    },
    Known {
        name: "rename",
        what: Op::Rename,
        range: (3e3, 100e3),
        why: "two entries of a folder and their part of the journal",
    },
    Known {
        name: "delete",
        what: Op::Delete,
        range: (3e3, 150e3),
        why: "an entry and an inode given back, and their part of the journal",
    },
];

/// Files at a time.
const MOST: u64 = 4096;
/// Files that make a new folder an ordinary one.
const FIRST: u64 = 256;

fn op(cell: &ProbeCell) -> Option<&'static Known<Op>> {
    Known::of(OPS, cell, "op").filter(|_| has_only(cell, &["op"]))
}

impl Probe for Metadata {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        OPS.iter().map(|op| ProbeCell::new(INFO.id, [("op", op.name.into())])).collect()
    }

    fn check(&self, _: &ProbeCell, site: &Site) -> Result<(), String> {
        folder(site).map(drop)
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        op(cell)?.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let op = op(cell).ok_or_else(|| ProbeError::unknown(cell))?.what;
        alone();
        let dir = ScratchDir::create(folder(site).map_err(ProbeError::Missing)?)
            .map_err(ProbeError::of("a folder on the disk"))?;
        let names = |letter: char| {
            (0..MOST).filter_map(|number| CString::new(format!("{letter}{number}")).ok()).collect()
        };
        let mut files =
            Files { op, dir, names: names('f'), others: names('g'), done: 0, site: site.clone() };
        // The first entries of a folder take its blocks, and inodes of a group that nobody looked
        // at yet.
        files.run(FIRST)?;
        files.done = 0;
        Ok(Box::new(files))
    }
}

struct Files {
    op: Op,
    dir: ScratchDir,
    names: Vec<CString>,
    /// What they are renamed to.
    others: Vec<CString>,
    done: u64,
    site: Site,
}

impl Files {
    /// `op` on the first `count` files, until one fails or the run ends.
    fn each(&self, op: Op, count: usize) -> Result<(), ProbeError> {
        let folder = self.dir.folder().as_fd();
        for (name, other) in self.names.iter().zip(&self.others).take(count) {
            self.site.go_on()?;
            let name = name.as_c_str();
            let done = match op {
                Op::Create => {
                    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
                    openat(folder, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map(drop)
                }
                Op::Stat => fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)
                    .map(|stat| _ = std::hint::black_box(stat)),
                Op::Rename => renameat(folder, name, folder, other.as_c_str()),
                Op::Delete => unlinkat(folder, name, UnlinkatFlags::NoRemoveDir),
            };
            done.map_err(ProbeError::of(op.call()))?;
        }
        Ok(())
    }

    /// Away with the first `count`, whichever name they have.
    fn clear(&self, count: usize) -> Result<(), ProbeError> {
        let folder = self.dir.folder().as_fd();
        let names = if self.op == Op::Rename { &self.others } else { &self.names };
        let gone = |name: &CString| unlinkat(folder, name.as_c_str(), UnlinkatFlags::NoRemoveDir);
        names.iter().take(count).try_for_each(gone).map_err(ProbeError::of("deleting a file"))
    }
}

impl Gauge for Files {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let count = count.min(MOST);
        let files = count as usize;
        if self.op != Op::Create {
            self.each(Op::Create, files)?;
        }
        let mut done = Ok(());
        let took = Took::whole(count as f64, || done = self.each(self.op, files));
        done?;
        if self.op != Op::Delete {
            self.clear(files)?;
        }
        self.done += count;
        Ok(took)
    }

    fn evidence(&self) -> Vec<String> {
        let files = format!("{} files in a folder of their own", self.done);
        ground(self.dir.folder()).into_iter().chain([files]).collect()
    }

    fn most(&self) -> u64 {
        MOST
    }
}

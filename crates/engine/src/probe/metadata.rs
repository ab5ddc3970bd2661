//! `metadata`: creating, inspecting, renaming and deleting files.

use std::ffi::CString;
use std::os::fd::AsFd;

use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::files::{describe_file_system, test_folder, unshare_descriptors};
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::scratch::ScratchDir;

impl FileOp {
    fn call(self) -> &'static str {
        match self {
            FileOp::Create => "creating a file",
            FileOp::Stat => "stat",
            FileOp::Rename => "rename",
            FileOp::Delete => "deleting a file",
        }
    }
}

param_rows! {
    /// Expected nanoseconds.
    OPS: FileOp;
    "create" => Create, (4e3, 1.5e6),
        "an inode, a directory entry, their share of the journal; longest after many deletions";
    "stat" => Stat, (250.0, 4e3), "a system call and a name found in the dentry cache";
    "rename" => Rename, (3e3, 100e3), "two directory entries and their share of the journal";
    "delete" => Delete, (3e3, 150e3),
        "a directory entry and an inode freed, and their share of the journal";
}

/// Maximum number of files at a time.
const MAX_FILES: u64 = 4096;
/// Files created and deleted before the first batch, so that the folder is no longer brand new.
const WARM_UP_FILES: u64 = 256;

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(source.row("op", OPS)?))
}

impl KnownCell for &'static ParamRow<FileOp> {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        test_folder(context).map(drop)
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.as_estimate()
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        unshare_descriptors();
        let dir = ScratchDir::create(test_folder(context).map_err(ProbeError::Missing)?)
            .map_err(ProbeError::in_call("a folder on the disk"))?;
        let names = |letter: char| {
            (0..MAX_FILES)
                .filter_map(|number| CString::new(format!("{letter}{number}")).ok())
                .collect()
        };
        let mut files = Files {
            op: self.value,
            dir,
            names: names('f'),
            others: names('g'),
            done: 0,
            context: context.clone(),
        };
        // The first entries of a folder allocate its blocks, and inodes from a block group that was
        // not read yet.
        files.run(WARM_UP_FILES)?;
        files.done = 0;
        Ok(Box::new(files))
    }
}

struct Files {
    op: FileOp,
    dir: ScratchDir,
    names: Vec<CString>,
    /// Names after the rename.
    others: Vec<CString>,
    done: u64,
    context: ProbeContext,
}

impl Files {
    /// Applies `op` to the first `count` files, until one fails or the run is stopped.
    fn apply(&self, op: FileOp, count: usize) -> Result<(), ProbeError> {
        let folder = self.dir.folder().as_fd();
        for (name, other) in self.names.iter().zip(&self.others).take(count) {
            self.context.check_stop()?;
            let name = name.as_c_str();
            let done = match op {
                FileOp::Create => {
                    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
                    openat(folder, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map(drop)
                }
                FileOp::Stat => fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)
                    .map(|stat| _ = std::hint::black_box(stat)),
                FileOp::Rename => renameat(folder, name, folder, other.as_c_str()),
                FileOp::Delete => unlinkat(folder, name, UnlinkatFlags::NoRemoveDir),
            };
            done.map_err(ProbeError::in_call(op.call()))?;
        }
        Ok(())
    }

    /// Deletes the first `count` files under their current names.
    fn delete_files(&self, count: usize) -> Result<(), ProbeError> {
        let folder = self.dir.folder().as_fd();
        let names = if self.op == FileOp::Rename { &self.others } else { &self.names };
        let gone = |name: &CString| unlinkat(folder, name.as_c_str(), UnlinkatFlags::NoRemoveDir);
        names.iter().take(count).try_for_each(gone).map_err(ProbeError::in_call("deleting a file"))
    }
}

impl Gauge for Files {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let count = count.min(MAX_FILES);
        let files = count as usize;
        if self.op != FileOp::Create {
            self.apply(FileOp::Create, files)?;
        }
        let batch = BatchTime::of_work(count as f64, || self.apply(self.op, files))?;
        if self.op != FileOp::Delete {
            self.delete_files(files)?;
        }
        self.done += count;
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        let files = format!("{} files in their own folder", self.done);
        describe_file_system(self.dir.folder()).into_iter().chain([files]).collect()
    }

    fn max_batch(&self) -> u64 {
        MAX_FILES
    }
}

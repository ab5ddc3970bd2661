//! A file system of this process with one file that may take long to read, as where a host or a
//! drive caches it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry,
    Request,
};
use tempfile::TempDir;

use super::fuse::attributes;
use super::skip;

/// Bytes that the cache below holds together.
const PIECE: u64 = 64 << 10;
const SIZE: u64 = 64 << 20;
const FOREVER: Duration = Duration::from_secs(3600);

/// A mounted file system; it is unmounted on drop.
pub struct SlowFirst {
    /// Dropped before its folder.
    session: Option<BackgroundSession>,
    folder: TempDir,
    listings: Arc<AtomicU64>,
}

impl SlowFirst {
    /// Mounts it with a first read of each 64 KiB that takes `first`; skips the test where that is
    /// impossible.
    pub fn mount(first: Duration) -> Option<SlowFirst> {
        let mut seen = HashSet::new();
        SlowFirst::paced(move |now, bytes| {
            let pieces = bytes.start / PIECE..bytes.end.div_ceil(PIECE);
            now + first * pieces.filter(|piece| seen.insert(*piece)).count() as u32
        })
    }

    /// Mounts it with reads that are answered, one after the other, at a time chosen by when they
    /// arrive and what they read.
    pub fn paced(
        answer: impl FnMut(Instant, Range<u64>) -> Instant + Send + 'static,
    ) -> Option<SlowFirst> {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("slow".into()), MountOption::NoAtime];
        let listings = Arc::<AtomicU64>::default();
        let answer = Mutex::new(Box::new(answer) as Answer);
        let files = Files { answer, listings: Arc::clone(&listings) };
        match fuser::spawn_mount(files, folder.path(), &config) {
            Ok(session) => Some(SlowFirst { session: Some(session), folder, listings }),
            Err(error) => {
                skip(&format!("/dev/fuse cannot be used: {error}"));
                None
            }
        }
    }

    /// Returns the path of its file, of 64 MiB.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// Returns the number of times that its folder was listed in vain.
    pub fn listings(&self) -> u64 {
        self.listings.load(Ordering::Relaxed)
    }
}

impl Drop for SlowFirst {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.session.take().map(BackgroundSession::umount_and_join) {
            eprintln!("cannot unmount {}: {error}", self.folder.path().display());
        }
    }
}

type Answer = Box<dyn FnMut(Instant, Range<u64>) -> Instant + Send>;

struct Files {
    answer: Mutex<Answer>,
    listings: Arc<AtomicU64>,
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name.to_str() {
            Some("file") => reply.entry(&FOREVER, &attributes_of(2), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &attributes_of(inode.0));
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: u64, reply: ReplyDirectory) {
        self.listings.fetch_add(1, Ordering::Relaxed);
        reply.error(Errno::EIO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let end = SIZE.min(offset + u64::from(size));
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let due = answer(Instant::now(), offset..end);
        while let Some(left) = due.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left);
        }
        drop(answer);
        let bytes: Vec<u8> = (offset..end).map(|at| (at / 512 * 37 + at % 251) as u8).collect();
        reply.data(&bytes);
    }
}

fn attributes_of(inode: u64) -> FileAttr {
    match inode {
        1 => attributes(inode, FileType::Directory, 0o755, 0),
        _ => attributes(inode, FileType::RegularFile, 0o644, SIZE),
    }
}

//! A file system of this process with one file whose blocks may take long to read the first time,
//! as where a host or a drive caches them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, Request,
};
use tempfile::TempDir;

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
}

impl SlowFirst {
    /// Mounts it with a first read of each 64 KiB that takes `first`; skips the test where that is
    /// impossible.
    pub fn mount(first: Duration) -> Option<SlowFirst> {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("slow".into()), MountOption::NoAtime];
        let files = Files { first, seen: Mutex::default() };
        match fuser::spawn_mount(files, folder.path(), &config) {
            Ok(session) => Some(SlowFirst { session: Some(session), folder }),
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
}

impl Drop for SlowFirst {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.session.take().map(BackgroundSession::umount_and_join) {
            eprintln!("cannot unmount {}: {error}", self.folder.path().display());
        }
    }
}

struct Files {
    first: Duration,
    seen: Mutex<HashSet<u64>>,
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name.to_str() {
            Some("file") => reply.entry(&FOREVER, &attributes(2), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &attributes(inode.0));
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
        let begin = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let new = (offset / PIECE..end.div_ceil(PIECE)).filter(|piece| seen.insert(*piece)).count();
        drop(seen);
        while begin.elapsed() < self.first * new as u32 {
            std::thread::park_timeout(self.first);
        }
        let bytes: Vec<u8> = (offset..end).map(|at| (at / 512 * 37 + at % 251) as u8).collect();
        reply.data(&bytes);
    }
}

fn attributes(inode: u64) -> FileAttr {
    let then = SystemTime::UNIX_EPOCH;
    let (kind, size) =
        if inode == 1 { (FileType::Directory, 0) } else { (FileType::RegularFile, SIZE) };
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size.div_ceil(512),
        atime: then,
        mtime: then,
        ctime: then,
        crtime: then,
        kind,
        perm: 0o755,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

//! A file system of this process whose disk can lose, misplace, change and forget what is written.
//!
//! It holds its files in memory, in one folder, and knows what each should hold next to what it
//! does, so that a test can compare what is found with what is wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, LockOwner, MountOption, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use tempfile::TempDir;

use super::skip;

/// A fault of the disk in the writes of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// This bit of the block is not stored as it was written.
    Flip(u32),
    /// Nothing is stored.
    Lost,
    /// The data is stored at this offset.
    Elsewhere(u64),
    /// The data is stored, and read back as it was before.
    Old,
    /// The write fails with this errno.
    Refused(i32),
    /// The data is stored, and cannot be read.
    Unreadable,
    /// The data is stored, and no sync succeeds from then on.
    Unsynced,
}

/// The faults of one round, by the offset of the block.
pub type Round = BTreeMap<u64, Fault>;

/// A mounted file system; it is unmounted on drop.
pub struct FaultyDisk {
    disk: Arc<Mutex<Disk>>,
    /// Dropped before its folder.
    session: Option<BackgroundSession>,
    folder: TempDir,
}

impl FaultyDisk {
    /// Mounts it; skips the test where that is impossible.
    pub fn mount() -> Option<FaultyDisk> {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::default();
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("faulty".into()), MountOption::NoAtime];
        let faulty = Faulty { disk: Arc::clone(&disk) };
        match fuser::spawn_mount(faulty, folder.path(), &config) {
            Ok(session) => Some(FaultyDisk { disk, session: Some(session), folder }),
            Err(error) => {
                skip(&format!("/dev/fuse cannot be used: {error}"));
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Plans the faults of writes of `block` bytes. A round ends when the file is read after a
    /// fault and a sync; writes that are never read are part of the round after them.
    pub fn plan(&self, block: u64, rounds: impl IntoIterator<Item = Round>) {
        let mut disk = locked(&self.disk);
        (disk.block, disk.broken) = (block, false);
        disk.rounds = rounds.into_iter().collect();
        disk.faults = disk.rounds.pop_front().unwrap_or_default();
        disk.damage.clear();
    }

    /// Loses all that is written from this offset on, in blocks of any size.
    pub fn lose_from(&self, offset: u64) {
        locked(&self.disk).lost_from = Some(offset);
    }

    /// Returns the blocks that did not hold what was written last, in each round that ended.
    pub fn damage(&self) -> Vec<Vec<u64>> {
        locked(&self.disk).damage.clone()
    }

    /// Returns how many fsync and fdatasync calls arrived.
    pub fn syncs(&self) -> u64 {
        locked(&self.disk).syncs
    }
}

impl Drop for FaultyDisk {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.session.take().map(BackgroundSession::umount_and_join) {
            eprintln!("cannot unmount {}: {error}", self.folder.path().display());
        }
    }
}

fn locked(disk: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file: what was written, and what is stored.
#[derive(Debug, Default, Clone)]
struct Stored {
    written: Vec<u8>,
    stored: Vec<u8>,
    /// Blocks as they were before the round that forgets their data.
    old: HashMap<u64, Vec<u8>>,
    unreadable: BTreeSet<u64>,
}

#[derive(Debug, Default)]
struct Disk {
    /// By inode number; the root has none.
    files: HashMap<u64, Stored>,
    names: BTreeMap<OsString, u64>,
    last_inode: u64,
    block: u64,
    rounds: VecDeque<Round>,
    faults: Round,
    /// There was a fault since the last round ended, and then the file was synced.
    faulty: bool,
    synced: bool,
    syncs: u64,
    /// Syncs fail.
    broken: bool,
    damage: Vec<Vec<u64>>,
    lost_from: Option<u64>,
}

impl Disk {
    fn write(&mut self, inode: u64, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let is_block = data.len() as u64 == self.block;
        let fault = self.faults.get(&offset).copied().filter(|_| is_block);
        if let Some(Fault::Refused(errno)) = fault {
            return Err(Errno::from_i32(errno));
        }
        let file = self.files.get_mut(&inode).ok_or(Errno::EIO)?;
        self.synced &= !is_block;
        self.faulty |= fault.is_some();
        put(&mut file.written, offset, data);
        // The size is never wrong.
        if file.stored.len() < file.written.len() {
            file.stored.resize(file.written.len(), 0);
        }
        let kept = self.lost_from.map_or(u64::MAX, |from| from.saturating_sub(offset));
        let data = &data[..data.len().min(usize::try_from(kept).unwrap_or(usize::MAX))];
        match fault {
            None => put(&mut file.stored, offset, data),
            Some(Fault::Unreadable) => {
                put(&mut file.stored, offset, data);
                file.unreadable.insert(offset);
            }
            Some(Fault::Unsynced) => {
                put(&mut file.stored, offset, data);
                self.broken = true;
            }
            Some(Fault::Lost | Fault::Refused(_)) => {}
            Some(Fault::Flip(bit)) => {
                let mut data = data.to_vec();
                data[bit as usize / 8] ^= 1 << (bit % 8);
                put(&mut file.stored, offset, &data);
            }
            Some(Fault::Elsewhere(to)) => put(&mut file.stored, to, data),
            Some(Fault::Old) => {
                let before = file.stored[offset as usize..][..data.len()].to_vec();
                file.old.entry(offset).or_insert(before);
                put(&mut file.stored, offset, data);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Errno> {
        self.syncs += 1;
        self.synced = self.faulty;
        if self.broken { Err(Errno::EIO) } else { Ok(()) }
    }

    /// Returns what is stored, less at the end of the file.
    fn read(&mut self, inode: u64, offset: u64, len: usize) -> Option<Vec<u8>> {
        if self.synced {
            self.end_round(inode);
        }
        let file = self.files.get(&inode)?;
        let end = offset + len as u64;
        if file.unreadable.iter().any(|block| *block < end && block + self.block > offset) {
            return None;
        }
        let stored = &file.stored;
        let from = stored.len().min(offset as usize);
        Some(stored[from..stored.len().min(from + len)].to_vec())
    }

    fn end_round(&mut self, inode: u64) {
        (self.faulty, self.synced) = (false, false);
        let Some(file) = self.files.get_mut(&inode) else { return };
        for (offset, before) in file.old.drain() {
            put(&mut file.stored, offset, &before);
        }
        let size = self.block.max(1) as usize;
        let blocks = file.written.chunks(size).zip(file.stored.chunks(size));
        let wrong = blocks.enumerate().filter(|(_, (written, stored))| written != stored);
        self.damage.push(wrong.map(|(index, _)| (index * size) as u64).collect());
        self.faults = self.rounds.pop_front().unwrap_or_default();
    }

    fn attributes(&self, inode: u64) -> Option<FileAttr> {
        let (kind, perm, size) = match inode {
            ROOT => (FileType::Directory, 0o755, 0),
            _ => (FileType::RegularFile, 0o644, self.files.get(&inode)?.stored.len() as u64),
        };
        Some(attributes(inode, kind, perm, size))
    }
}

/// Returns the attributes of a file or folder of root.
pub fn attributes(inode: u64, kind: FileType, perm: u16, size: u64) -> FileAttr {
    let then = SystemTime::UNIX_EPOCH;
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size.div_ceil(512),
        atime: then,
        mtime: then,
        ctime: then,
        crtime: then,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// Stores `data` at `offset`, and zeros before it where there is nothing yet.
fn put(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let end = offset as usize + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset as usize..end].copy_from_slice(data);
}

const ROOT: u64 = 1;
const FOREVER: Duration = Duration::from_secs(3600);

struct Faulty {
    disk: Arc<Mutex<Disk>>,
}

impl Faulty {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        locked(&self.disk)
    }
}

impl Filesystem for Faulty {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = self.disk();
        match disk.names.get(name).and_then(|inode| disk.attributes(*inode)) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.disk().attributes(inode.0) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.disk();
        if let (Some(size), Some(file)) = (size, disk.files.get_mut(&inode.0)) {
            file.written.resize(size as usize, 0);
            file.stored.resize(size as usize, 0);
        }
        match disk.attributes(inode.0) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let mut disk = self.disk();
        let inode = ROOT + 1 + disk.last_inode;
        disk.last_inode += 1;
        disk.files.insert(inode, Stored::default());
        disk.names.insert(name.into(), inode);
        match disk.attributes(inode) {
            Some(attributes) => reply.created(
                &FOREVER,
                &attributes,
                Generation(0),
                FileHandle(0),
                FopenFlags::empty(),
            ),
            None => reply.error(Errno::EIO),
        }
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        // An open file stays usable without its name.
        match self.disk().names.remove(name) {
            Some(_) => reply.ok(),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: INodeNo,
        to: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut disk = self.disk();
        match disk.names.remove(name) {
            Some(inode) => {
                disk.names.insert(to.into(), inode);
                reply.ok();
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.disk().read(inode.0, offset, size as usize) {
            Some(bytes) => reply.data(&bytes),
            None => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.disk().write(inode.0, offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(errno) => reply.error(errno),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.disk().sync() {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        _: i32,
        reply: ReplyEmpty,
    ) {
        let mut disk = self.disk();
        if let Some(file) = disk.files.get_mut(&inode.0) {
            let end = file.written.len().max((offset + length) as usize);
            file.written.resize(end, 0);
            file.stored.resize(end, 0);
        }
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let disk = self.disk();
        let names = disk.names.iter().zip(1u64..).skip(offset as usize);
        for ((name, inode), next) in names {
            if reply.add(INodeNo(*inode), next, FileType::RegularFile, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 20;
        reply.statfs(BLOCKS, BLOCKS / 2, BLOCKS / 2, 1000, 500, 4096, 255, 4096);
    }
}

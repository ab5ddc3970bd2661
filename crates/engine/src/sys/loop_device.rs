//! Asks a loop device which file it is made of (loop(4)).
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::sys::stat::makedev;

use super::block;

/// LOOP_GET_STATUS64 of <linux/loop.h>.
const LOOP_GET_STATUS64: u64 = 0x4c05;
/// LO_FLAGS_DIRECT_IO.
const DIRECT: u32 = 16;

/// The file of a loop device. By device and inode, not by its name: the name may have been given to
/// another file since, or belong to another mount namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopFile {
    /// As st_dev, st_ino and st_rdev of stat(2).
    pub device: u64,
    pub inode: u64,
    /// The block device that the file is; 0 for a regular file.
    pub block_device: u64,
    /// Where the device begins in the file, and how long it may be at most; 0 = to its end.
    pub offset: u64,
    pub size_limit: u64,
    /// Whether it bypasses the page cache of the file.
    pub direct: bool,
}

/// struct loop_info64 of <linux/loop.h>.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    block_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: [u32; 2],
    flags: u32,
    names: [[u8; 64]; 2],
    key: [u8; 32],
    init: [u64; 2],
}

/// Returns the file of the loop device with this kernel name and number (st_rdev). The kernel asks
/// the file system of the file, and one that a program or a server serves may not answer.
///
/// # Errors
/// The errno of open(2): EACCES without rights; ENXIO where it has no file; `NotFound` if its node
/// in /dev is another device.
pub fn file_of(name: &str, number: u64) -> io::Result<LoopFile> {
    let path = Path::new("/dev").join(name);
    let is_it = |meta: fs::Metadata| meta.file_type().is_block_device() && meta.rdev() == number;
    // Opening another kind of device may do anything.
    if !is_it(fs::symlink_metadata(&path)?) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let device = File::options().read(true).custom_flags(flags).open(&path)?;
    if !is_it(device.metadata()?) {
        return Err(io::ErrorKind::NotFound.into());
    }
    ask(&device)
}

/// Opens the file of the loop device with this kernel name for reading. Waits for the program or
/// server that serves it, if one does.
///
/// # Errors
/// As [`file_of`]; `NotFound` where its name leads to another file.
pub fn open_file(name: &str) -> io::Result<File> {
    let not_found = || io::Error::from(io::ErrorKind::NotFound);
    let dir = Path::new("/sys/block").join(name);
    let path = block::backing_file(&dir).ok_or_else(not_found)?;
    let (major, minor) = block::number_of(&dir).ok_or_else(not_found)?;
    let is = file_of(name, makedev(major, minor))?;
    let meta = fs::metadata(&path)?;
    let is_it =
        |meta: &fs::Metadata| meta.is_file() && (meta.dev(), meta.ino()) == (is.device, is.inode);
    // Opening another kind of file may do anything.
    if !is_it(&meta) {
        return Err(not_found());
    }
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(&path)?;
    if is_it(&file.metadata()?) { Ok(file) } else { Err(not_found()) }
}

fn ask(device: &File) -> io::Result<LoopFile> {
    let mut info = std::mem::MaybeUninit::<LoopInfo>::zeroed();
    // SAFETY: the kernel writes one struct loop_info64 there, which `LoopInfo` has the size of.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: every field is an integer, for which any bit pattern is valid; it began as zeros.
    let info = unsafe { info.assume_init() };
    Ok(LoopFile {
        device: info.device,
        inode: info.inode,
        block_device: info.block_device,
        offset: info.offset,
        size_limit: info.size_limit,
        direct: info.flags & DIRECT != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loop_device_is_asked() {
        // The size that the kernel copies.
        assert_eq!(size_of::<LoopInfo>(), 232);
        for (name, number) in [("null", 259), ("no-such-device", 0), ("../etc/passwd", 0)] {
            assert!(file_of(name, number).is_err(), "{name}");
            assert!(open_file(name).is_err(), "{name}");
        }
        assert_eq!(ask(&tempfile::tempfile().unwrap()).unwrap_err().raw_os_error(), Some(25));
    }
}

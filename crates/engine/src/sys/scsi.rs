//! Asks SCSI disks about their write cache. The kernel presents SATA disks as SCSI disks too.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// From <scsi/sg.h>.
const SG_IO: u64 = 0x2285;
const SG_DXFER_FROM_DEV: i32 = -3;
/// Milliseconds until a silent disk is given up.
const TIMEOUT: u32 = 2000;

/// MODE SENSE(6), SPC-4 6.13: without block descriptors, of the page of the caching mode.
const MODE_SENSE: u8 = 0x1a;
const NO_DESCRIPTORS: u8 = 0x08;
const CACHING_PAGE: u8 = 0x08;
const HEADER: usize = 4;
/// SBC-3 6.4.5: the write cache is enabled.
const WCE: u8 = 0x04;

/// struct sg_io_hdr of <scsi/sg.h>.
#[repr(C)]
#[derive(Default)]
struct ScsiRequest {
    interface: i32,
    direction: i32,
    command_len: u8,
    sense_len: u8,
    segments: u16,
    data_len: u32,
    data: *mut u8,
    command: *mut u8,
    sense: *mut u8,
    timeout: u32,
    flags: u32,
    pack_id: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration: u32,
    info: u32,
}

/// The write cache that a SCSI disk reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    On,
    Off,
    /// Asking takes root, and a disk with that page.
    Unknown,
}

/// Asks the disk of this kernel name; `None` for other disks.
pub fn write_cache(name: &str) -> Option<WriteCache> {
    if !Path::new("/sys/block").join(name).join("device/scsi_disk").is_dir() {
        return None;
    }
    // Not to wait for a disk that is being started.
    let flags = libc::O_NONBLOCK;
    let disk = File::options().read(true).custom_flags(flags).open(Path::new("/dev").join(name));
    Some(match disk.and_then(|disk| has_write_cache(&disk)) {
        Ok(Some(true)) => WriteCache::On,
        Ok(Some(false)) => WriteCache::Off,
        _ => WriteCache::Unknown,
    })
}

/// Asks the open disk whether its write cache is enabled; `None` if its answer does not say so.
///
/// # Errors
/// The errno of ioctl(2): EPERM, ENOTTY for other disks ...
fn has_write_cache(disk: &File) -> io::Result<Option<bool>> {
    let mut answer = [0u8; 192];
    let mut sense = [0u8; 32];
    let mut command = [MODE_SENSE, NO_DESCRIPTORS, CACHING_PAGE, 0, answer.len() as u8, 0];
    let mut request = ScsiRequest {
        interface: i32::from(b'S'),
        direction: SG_DXFER_FROM_DEV,
        command_len: command.len() as u8,
        sense_len: sense.len() as u8,
        data_len: answer.len() as u32,
        data: answer.as_mut_ptr(),
        command: command.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout: TIMEOUT,
        ..ScsiRequest::default()
    };
    // SAFETY: the request and its three buffers live until the call returns, with their lengths in
    // it; the kernel writes no further.
    let done = unsafe { libc::ioctl(disk.as_raw_fd(), SG_IO as libc::Ioctl, &raw mut request) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    let answered = request.status == 0 && request.host_status == 0 && request.driver_status == 0;
    Ok(answered.then(|| write_cache_of(&answer)).flatten())
}

/// Reads the answer to MODE SENSE(6).
fn write_cache_of(answer: &[u8]) -> Option<bool> {
    let descriptors = usize::from(*answer.get(3)?);
    let page = answer.get(HEADER + descriptors..)?;
    let (code, len) = (page.first()? & 0x3f, *page.get(1)?);
    (code == CACHING_PAGE && len > 0).then(|| page.get(2).map(|flags| flags & WCE != 0)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_page_of_the_cache() {
        let on = [0x17, 0, 0, 0, 0x08, 0x12, 0x04, 0, 0];
        assert_eq!(write_cache_of(&on), Some(true));
        assert_eq!(write_cache_of(&[0x17, 0, 0, 0, 0x88, 0x12, 0x10]), Some(false));
        let described = [0x1f, 0, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 0x08, 0x12, 0x14];
        assert_eq!(write_cache_of(&described), Some(true));
        for other in [&[][..], &[0; 4], &[0; 192], &[0x17, 0, 0, 255, 8, 18, 4]] {
            assert_eq!(write_cache_of(other), None);
        }
    }

    #[test]
    fn other_files_are_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(has_write_cache(&file).is_err());
        assert_eq!(write_cache("no-such-disk"), None);
    }
}

//! Asks NVMe disks for their log pages.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)` of <linux/nvme_ioctl.h>.
const NVME_IOCTL_ADMIN_CMD: u64 = 0xc048_4e41;
/// NVM Express base specification, Get Log Page.
const GET_LOG_PAGE: u8 = 0x02;

/// struct nvme_admin_cmd. The timeout stays 0, the kernel's own: after a shorter one it would reset
/// the disk.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_len: u32,
    data_len: u32,
    words_10_to_15: [u32; 6],
    timeout: u32,
    result: u32,
}

/// Reads the start of a log page of an open disk into `answer`, whose length is a multiple of 4.
///
/// # Errors
/// The errno of ioctl(2): EPERM without CAP_SYS_ADMIN, ENOTTY for other files; or the status of the
/// disk, that has no such page.
pub fn read_log(disk: &File, page: u8, namespace: u32, answer: &mut [u8]) -> io::Result<()> {
    let last_word = (answer.len() / 4).saturating_sub(1) as u32;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace,
        address: answer.as_mut_ptr().expose_provenance() as u64,
        data_len: answer.len() as u32,
        // Its other half is 0: no page is read beyond 256 KiB.
        words_10_to_15: [u32::from(page) | last_word << 16, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    // SAFETY: the command and its buffer live until the call returns, with the length of the buffer
    // in the command; the kernel writes no further.
    let status = unsafe {
        libc::ioctl(disk.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as libc::Ioctl, &raw mut command)
    };
    match status {
        0 => Ok(()),
        ..0 => Err(io::Error::last_os_error()),
        _ => Err(io::Error::other(format!("NVMe status {status:#x}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_an_error() {
        // The number of the ioctl has the size of the structure.
        assert_eq!(size_of::<AdminCommand>() as u64, NVME_IOCTL_ADMIN_CMD >> 16 & 0x3fff);
        let mut answer = [7u8; 512];
        let error = read_log(&tempfile::tempfile().unwrap(), 2, 1, &mut answer).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(answer, [7; 512]);
    }
}

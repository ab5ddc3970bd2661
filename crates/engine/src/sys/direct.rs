//! The requirements of direct I/O on a file, as reported by the file system: `STATX_DIOALIGN`.
#![allow(unsafe_code)]

use crate::facts::{DirectAlign, DirectSupport};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// Linux 6.1.
const STATX_DIOALIGN: u32 = 0x2000;
/// Linux 6.14.
const STATX_DIO_READ_ALIGN: u32 = 0x2_0000;

/// Returns what statx(2) reports about direct I/O on `file`.
///
/// # Errors
/// The errno of statx(2); ENOSYS and EPERM (a sandbox) count as unknown.
pub fn direct_support(file: &File) -> io::Result<DirectSupport> {
    let mut stat = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: an empty path with AT_EMPTY_PATH means the descriptor; the kernel fills one struct
    // statx that outlives the call.
    let done = unsafe {
        let mask = STATX_DIOALIGN | STATX_DIO_READ_ALIGN;
        libc::syscall(
            libc::SYS_statx,
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            mask,
            stat.as_mut_ptr(),
        )
    };
    if done != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EPERM) => Ok(DirectSupport::Unknown),
            _ => Err(error),
        };
    }
    // SAFETY: a statx consists of integers, for which any bit pattern is valid, and all bytes were
    // zeroed before the call.
    let stat = unsafe { stat.assume_init() };
    Ok(judge(
        stat.stx_mask,
        stat.stx_dio_mem_align,
        stat.stx_dio_offset_align,
        stat.stx_dio_read_offset_align,
    ))
}

fn judge(mask: u32, mem: u32, offset: u32, read: u32) -> DirectSupport {
    if mask & STATX_DIOALIGN == 0 {
        return DirectSupport::Unknown;
    }
    if mem == 0 || offset == 0 {
        return DirectSupport::Refused;
    }
    let read_offset = (mask & STATX_DIO_READ_ALIGN != 0 && read != 0).then_some(read);
    DirectSupport::Known(DirectAlign { mem, offset, read_offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    #[test]
    fn masks_and_zeros() {
        assert_eq!(judge(0x7ff, 512, 512, 0), DirectSupport::Unknown);
        assert_eq!(judge(STATX_DIOALIGN, 0, 0, 0), DirectSupport::Refused);
        let known =
            |read_offset| DirectSupport::Known(DirectAlign { mem: 4, offset: 512, read_offset });
        assert_eq!(judge(STATX_DIOALIGN, 4, 512, 8), known(None));
        assert_eq!(judge(STATX_DIOALIGN | STATX_DIO_READ_ALIGN, 4, 512, 8), known(Some(8)));
        assert_eq!(judge(STATX_DIOALIGN | STATX_DIO_READ_ALIGN, 4, 512, 0), known(None));
    }

    #[test]
    fn real_files_answer() {
        if let Some(file) = testing::file_on_disk(0)
            && let DirectSupport::Known(align) = direct_support(&file).unwrap()
        {
            assert!(align.offset.is_power_of_two() && align.mem.is_power_of_two(), "{align:?}");
        }
        if let Some(file) = testing::file_in_memory() {
            assert!(!matches!(direct_support(&file).unwrap(), DirectSupport::Known(_)));
        }
    }
}

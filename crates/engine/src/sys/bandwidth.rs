//! A loop that only copies memory: the upper bound for system calls that copy from the page cache.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::ptr::copy_nonoverlapping;

use super::buffer::Buffer;

/// Copies all of `from` into `window`, piece by piece to the same place, like reads into one
/// buffer. Uses the CPU's string instruction if `string`, as kernels do on x86-64, else the C
/// library's memcpy.
pub fn copy(from: &Buffer, window: &Buffer, string: bool) {
    for at in (0..from.len()).step_by(window.len()) {
        let len = window.len().min(from.len() - at);
        // SAFETY: at + len <= from.len(), len <= window.len(), and the two are separate mappings.
        unsafe {
            if string {
                copy_string(from.address(at), window.ptr(), len)
            } else {
                copy_nonoverlapping(from.address(at), window.ptr(), len)
            }
        };
        black_box(window.ptr());
    }
}

/// # Safety
/// Same as [`copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the direction flag is clear by the calling convention; the caller guarantees that
    // both ranges are valid and do not overlap.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") len => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// Same as [`copy_nonoverlapping`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller guarantees that both ranges are valid and do not overlap.
    unsafe { copy_nonoverlapping(from, to, len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_ends_with_the_last_piece() {
        for string in [false, true] {
            let (from, window) =
                (Buffer::random(5 * 4096, 3).unwrap(), Buffer::new(2 * 4096).unwrap());
            copy(&from, &window, string);
            let all = from.to_vec(5 * 4096);
            // 8192 + 8192 + 4096: the second half still holds data of the previous piece.
            assert_eq!(window.to_vec(4096), all[16384..]);
            assert_eq!(window.to_vec(8192)[4096..], all[12288..16384]);
        }
    }
}

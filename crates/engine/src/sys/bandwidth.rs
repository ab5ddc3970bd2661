//! A loop that only copies memory: the upper bound of what a system call copies out of the page
//! cache.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::ptr::copy_nonoverlapping;

use super::buffer::Buffer;

/// Copies all of `from` into `window`, piece by piece to the same place, as reads into one buffer
/// do. With `string` by the CPU's string instruction, as kernels do on x86-64; else as the C
/// library does.
pub fn copy(from: &Buffer, window: &Buffer, string: bool) {
    for at in (0..from.len()).step_by(window.len()) {
        let len = window.len().min(from.len() - at);
        // SAFETY: at + len <= from.len(), len <= window.len(), and the two are separate mappings.
        unsafe {
            if string {
                copy_string(from.at(at), window.ptr(), len)
            } else {
                copy_nonoverlapping(from.at(at), window.ptr(), len)
            }
        };
        black_box(window.ptr());
    }
}

/// # Safety
/// As [`copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the direction flag is clear by the calling convention; the caller vouches for both
    // ranges.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") len => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// As [`copy_nonoverlapping`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller vouches for both ranges.
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
            let all = from.copied(5 * 4096);
            // 8192 + 8192 + 4096: the second half is left from the piece before.
            assert_eq!(window.copied(4096), all[16384..]);
            assert_eq!(window.copied(8192)[4096..], all[12288..16384]);
        }
    }
}

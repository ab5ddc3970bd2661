//! mmap without libc, for a signal handler: it does not change errno.
#![allow(unsafe_code)]

use std::arch::asm;

/// Replaces `[start, start + len)` by private zero pages, read-only or writable; returns false if
/// the kernel refuses.
///
/// # Safety
/// The range is page-aligned address space that the caller owns, and no references into it exist.
pub(super) unsafe fn zeros_over(start: usize, len: usize, writable: bool) -> bool {
    let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: MAP_FIXED replaces the range, which by the caller's contract is its own and has no
    // references.
    let result = unsafe { mmap(start, len, protection as usize, flags as usize) };
    result == start as isize
}

#[cfg(target_arch = "x86_64")]
unsafe fn mmap(start: usize, len: usize, protection: usize, flags: usize) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention: rcx and r11 are clobbered, memory outside the range
    // is not touched.
    unsafe {
        asm!(
            "syscall", inlateout("rax") libc::SYS_mmap as isize => result, in("rdi") start,
            in("rsi") len, in("rdx") protection,
            in("r10") flags, in("r8") -1isize, in("r9") 0usize, lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn mmap(start: usize, len: usize, protection: usize, flags: usize) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention: memory outside the range is not touched.
    unsafe {
        asm!(
            "svc 0", in("x8") libc::SYS_mmap, inlateout("x0") start => result, in("x1") len,
            in("x2") protection,
            in("x3") flags, in("x4") -1isize, in("x5") 0usize, options(nostack));
    }
    result
}

//! System calls without a wrapper, inlined into the calling loop.
//!
//! On x86-64 the same inlined loop costs 302 or 435 ns per 1-byte pread, depending on its
//! placement. Four dummy calls just before `syscall` (the "fill") refill the return predictor,
//! which always makes it 302 ns; through libc it is always the slow variant. The fill makes calls
//! without matching returns, so it is omitted if a user shadow stack is enabled.
#![allow(unsafe_code)]

use std::os::fd::RawFd;
use std::sync::OnceLock;

/// Returns whether lanes may use the fill: `pread::<true>`.
pub fn fill() -> bool {
    static FILL: OnceLock<bool> = OnceLock::new();
    *FILL.get_or_init(|| cfg!(target_arch = "x86_64") && !shadow_stack_on())
}

/// Runs `$body` with `FILL` set as this machine allows, so that the choice is made once rather than
/// per call.
#[macro_export]
macro_rules! with_fill {
    ($fill:ident => $body:expr) => {
        if $crate::sys::raw::fill() {
            const $fill: bool = true;
            $body
        } else {
            const $fill: bool = false;
            $body
        }
    };
}

/// # Safety
/// `number` and its arguments must form a system call that is sound.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn call<const FILL: bool>(
    number: libc::c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> isize {
    let result: isize;
    // SAFETY: `add rsp, 32` removes the four pushed return addresses again; without `nostack` the
    // compiler keeps nothing below rsp. The rest is the kernel's calling convention, by which the
    // instruction clobbers rcx and r11.
    unsafe {
        std::arch::asm!(
            ".if {fill}", ".rept 4", "call 2f", "int3", "2:", ".endr", "add rsp, 32", ".endif",
            "syscall",
            fill = const FILL as usize,
            inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b, in("rdx") c,
            in("r10") d,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// # Safety
/// `number` and its arguments must form a system call that is sound.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn call<const FILL: bool>(
    number: libc::c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> isize {
    let result: isize;
    // SAFETY: the kernel's calling convention on arm64: number in x8, result in x0, nothing else
    // clobbered.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c, in("x3") d,
            options(nostack),
        );
    }
    result
}

/// Makes a call like [`call`], with the six arguments that a system call can have.
/// # Safety
/// `number` and its arguments must form a system call that is sound.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn call6<const FILL: bool>(
    number: libc::c_long,
    [a, b, c, d, e, f]: [usize; 6],
) -> isize {
    let result: isize;
    // SAFETY: `add rsp, 32` removes the four pushed return addresses again; without `nostack` the
    // compiler keeps nothing below rsp. The rest is the kernel's calling convention, by which the
    // instruction clobbers rcx and r11.
    unsafe {
        std::arch::asm!(
            ".if {fill}", ".rept 4", "call 2f", "int3", "2:", ".endr", "add rsp, 32", ".endif",
            "syscall",
            fill = const FILL as usize,
            inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b, in("rdx") c,
            in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// Makes a call like [`call`], with the six arguments that a system call can have.
/// # Safety
/// `number` and its arguments must form a system call that is sound.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) unsafe fn call6<const FILL: bool>(
    number: libc::c_long,
    [a, b, c, d, e, f]: [usize; 6],
) -> isize {
    let result: isize;
    // SAFETY: the call is sound by the caller's contract; its number is in x8, its result in x0,
    // and nothing else is clobbered.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c, in("x3") d,
            in("x4") e, in("x5") f, options(nostack),
        );
    }
    result
}

/// Returns the bytes read at `offset`, or -errno.
/// # Safety
/// `to` must be writable for `len` bytes.
#[inline(always)]
pub unsafe fn pread<const FILL: bool>(fd: RawFd, to: *mut u8, len: usize, offset: u64) -> isize {
    // SAFETY: pread64 writes at most `len` bytes to `to`, which is writable by the caller's
    // contract.
    unsafe { call::<FILL>(libc::SYS_pread64, fd as usize, to as usize, len, offset as usize) }
}

/// Returns the bytes written at `offset`, or -errno.
/// # Safety
/// `from` must be readable for `len` bytes.
#[inline(always)]
pub unsafe fn pwrite<const FILL: bool>(
    fd: RawFd,
    from: *const u8,
    len: usize,
    offset: u64,
) -> isize {
    // SAFETY: pwrite64 reads at most `len` bytes from `from`, readable by the caller's contract.
    unsafe { call::<FILL>(libc::SYS_pwrite64, fd as usize, from as usize, len, offset as usize) }
}

/// Returns the bytes read at the file position, or -errno.
/// # Safety
/// `to` must be writable for `len` bytes.
#[inline(always)]
pub unsafe fn read<const FILL: bool>(fd: RawFd, to: *mut u8, len: usize) -> isize {
    // SAFETY: read writes at most `len` bytes to `to`, which is writable by the caller's contract.
    unsafe { call::<FILL>(libc::SYS_read, fd as usize, to as usize, len, 0) }
}

/// Returns the bytes written at the file position, or -errno.
/// # Safety
/// `from` must be readable for `len` bytes.
#[inline(always)]
pub unsafe fn write<const FILL: bool>(fd: RawFd, from: *const u8, len: usize) -> isize {
    // SAFETY: write reads at most `len` bytes from `from`, which is readable by the caller's
    // contract.
    unsafe { call::<FILL>(libc::SYS_write, fd as usize, from as usize, len, 0) }
}

/// Returns 0 once the data of the file is durable, and what is needed to read it; or -errno.
#[inline(always)]
pub fn fdatasync<const FILL: bool>(fd: RawFd) -> isize {
    // SAFETY: fdatasync takes no pointer.
    unsafe { call::<FILL>(libc::SYS_fdatasync, fd as usize, 0, 0, 0) }
}

/// Returns 0 once all of the file is durable, or -errno.
#[inline(always)]
pub fn fsync<const FILL: bool>(fd: RawFd) -> isize {
    // SAFETY: fsync takes no pointer.
    unsafe { call::<FILL>(libc::SYS_fsync, fd as usize, 0, 0, 0) }
}

/// Returns 0 once what was stored into these mapped pages is durable, or -errno.
/// # Safety
/// The range must be mapped, from the start of a page.
#[inline(always)]
pub unsafe fn msync<const FILL: bool>(from: *const u8, len: usize) -> isize {
    // SAFETY: msync changes no memory.
    unsafe { call::<FILL>(libc::SYS_msync, from as usize, len, libc::MS_SYNC as usize, 0) }
}

/// Returns the new file position, or -errno.
#[inline(always)]
pub fn seek<const FILL: bool>(fd: RawFd, offset: u64) -> isize {
    // SAFETY: lseek takes no pointer.
    unsafe {
        call::<FILL>(libc::SYS_lseek, fd as usize, offset as usize, libc::SEEK_SET as usize, 0)
    }
}

/// Returns whether the calling thread has a user shadow stack. Only possible on x86-64 since Linux
/// 6.6, with a program built for it.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
fn shadow_stack_on() -> bool {
    const ARCH_SHSTK_STATUS: libc::c_int = 0x5005;
    const ARCH_SHSTK_SHSTK: u64 = 1;
    let mut features = 0u64;
    // SAFETY: the call writes one u64, which outlives it; older kernels return EINVAL and write
    // nothing.
    let done = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &raw mut features) };
    done == 0 && features & ARCH_SHSTK_SHSTK != 0
}

/// Returns whether the calling thread has a user shadow stack: never, except on x86-64.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
fn shadow_stack_on() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    #[test]
    fn both_forms_do_what_libc_does() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let fd = file.as_raw_fd();
        let mut buffer = [0u8; 4];
        // SAFETY: the buffers are as long as the lengths passed.
        unsafe {
            assert_eq!(pread::<false>(fd, buffer.as_mut_ptr(), 4, 2), 4);
            assert_eq!(&buffer, b"2345");
            if fill() {
                assert_eq!(pread::<true>(fd, buffer.as_mut_ptr(), 4, 6), 4);
                assert_eq!(&buffer, b"6789");
                assert_eq!(seek::<true>(fd, 1), 1);
            }
            assert_eq!(seek::<false>(fd, 1), 1);
            assert_eq!(read::<false>(fd, buffer.as_mut_ptr(), 2), 2);
            assert_eq!(&buffer[..2], b"12");
            assert_eq!(write::<false>(fd, b"ab".as_ptr(), 2), 2);
            assert_eq!(pwrite::<false>(fd, b"z".as_ptr(), 1, 0), 1);
            assert_eq!(pread::<false>(fd, buffer.as_mut_ptr(), 4, 2), 4);
            assert_eq!(pread::<false>(-1, buffer.as_mut_ptr(), 4, 2), -(libc::EBADF as isize));
        }
        assert_eq!(&buffer, b"2ab5");
    }

    #[test]
    fn agrees_with_what_the_kernel_shows() {
        // Linux 6.6 and later report it per thread; no line means no.
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let shown = status.lines().find_map(|line| line.strip_prefix("x86_Thread_features:"));
        let listed =
            shown.is_some_and(|features| features.split_whitespace().any(|f| f == "shstk"));
        assert_eq!(shadow_stack_on(), listed);
    }
}

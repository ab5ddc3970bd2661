//! The same system calls in the barest possible loop, with which a harness is compared.
//!
//! Not inlined, so that each loop is a separate function; its calls are inlined. `PAD` bytes
//! precede a loop: its position alone accounts for up to 5 ns per call.

use iotui::sys::clock::monotonic_nanos;
use iotui::sys::raw;

/// Makes one pread per offset; returns nanoseconds per call.
#[inline(never)]
pub fn pread<const FILL: bool, const PAD: usize>(
    fd: i32,
    to: *mut u8,
    block: usize,
    offsets: impl ExactSizeIterator<Item = u64>,
) -> f64 {
    // SAFETY: callers hand in a buffer of `block` bytes.
    timed::<PAD>(offsets, block, |offset| unsafe { raw::pread::<FILL>(fd, to, block, offset) })
}

/// Makes one read per offset, without seeking.
#[inline(never)]
pub fn read<const FILL: bool, const PAD: usize>(
    fd: i32,
    to: *mut u8,
    block: usize,
    offsets: impl ExactSizeIterator<Item = u64>,
) -> f64 {
    raw::seek::<FILL>(fd, 0);
    // SAFETY: callers hand in a buffer of `block` bytes.
    timed::<PAD>(offsets, block, |_| unsafe { raw::read::<FILL>(fd, to, block) })
}

/// Makes one lseek and one read per offset.
#[inline(never)]
pub fn read_at<const FILL: bool, const PAD: usize>(
    fd: i32,
    to: *mut u8,
    block: usize,
    offsets: impl ExactSizeIterator<Item = u64>,
) -> f64 {
    timed::<PAD>(offsets, block, |offset| {
        raw::seek::<FILL>(fd, offset);
        // SAFETY: callers hand in a buffer of `block` bytes.
        unsafe { raw::read::<FILL>(fd, to, block) }
    })
}

/// Makes one pwrite and one fdatasync per offset.
#[inline(never)]
pub fn commit<const FILL: bool, const PAD: usize>(
    fd: i32,
    from: *const u8,
    block: usize,
    offsets: impl ExactSizeIterator<Item = u64>,
) -> f64 {
    timed::<PAD>(offsets, block, |offset| {
        // SAFETY: callers hand in a buffer of `block` bytes.
        let written = unsafe { raw::pwrite::<FILL>(fd, from, block, offset) };
        written + raw::fdatasync::<FILL>(fd)
    })
}

/// Makes one lseek per offset.
#[inline(never)]
pub fn seek<const FILL: bool, const PAD: usize>(
    fd: i32,
    offsets: impl ExactSizeIterator<Item = u64>,
) -> f64 {
    timed::<PAD>(offsets, 1, |offset| (raw::seek::<FILL>(fd, offset) == offset as isize).into())
}

/// Times the loop and sums what the calls return, which is the cheapest possible check.
#[inline(always)]
fn timed<const PAD: usize>(
    offsets: impl ExactSizeIterator<Item = u64>,
    block: usize,
    mut call: impl FnMut(u64) -> isize,
) -> f64 {
    let count = offsets.len() as u64;
    let start = monotonic_nanos();
    pad::<PAD>();
    let mut bytes = 0;
    for offset in offsets {
        bytes += call(offset);
    }
    let nanos = monotonic_nanos() - start;
    assert_eq!(bytes as u64, count * block as u64, "a bare call failed");
    nanos as f64 / count as f64
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn pad<const PAD: usize>() {
    // SAFETY: does nothing. (A nop has 1 byte on x86-64, 4 on arm64; there it only shifts further.)
    unsafe {
        std::arch::asm!(".rept {n}", "nop", ".endr", n = const PAD, options(nomem, nostack, preserves_flags))
    };
}

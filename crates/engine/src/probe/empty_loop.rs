//! An empty loop that the compiler keeps: its time is a result, and the overhead of every other
//! loop.
#![allow(unsafe_code)]

/// Runs `count` empty iterations.
#[inline(never)]
pub(super) fn run_empty_loop(count: u64) {
    for _ in 0..count {
        opaque_nop();
    }
}

/// Runs an empty `asm!` block, which the compiler cannot remove from a loop.
#[inline(always)]
pub(super) fn opaque_nop() {
    // SAFETY: the template is empty, so it keeps the promises of its options: no memory, stack or
    // flags are touched.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

//! Detects user shadow stacks: calls without a matching return, as on the hot path, would kill the
//! thread.
#![allow(unsafe_code)]

/// Returns whether the calling thread has a user shadow stack. Only possible on x86-64 since Linux
/// 6.6, with a program built for it.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
pub fn shadow_stack_on() -> bool {
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
pub fn shadow_stack_on() -> bool {
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_what_the_kernel_shows() {
        // Linux 6.6 and later report it per thread; no line means no.
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let shown = status.lines().find_map(|line| line.strip_prefix("x86_Thread_features:"));
        let listed =
            shown.is_some_and(|features| features.split_whitespace().any(|f| f == "shstk"));
        assert_eq!(super::shadow_stack_on(), listed);
    }
}

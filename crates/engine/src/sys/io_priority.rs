//! The I/O priority of this process (ionice).
#![allow(unsafe_code)]

/// A class of I/O priority, as far as it puts a process behind others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoPriority {
    /// Served when nobody else uses the disk.
    Idle,
    /// The usual class, with its level: 0 to 7, usually 4.
    BestEffort(u8),
    Other,
}

/// Returns the I/O priority that threads of this process start with.
pub fn io_priority() -> IoPriority {
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_SHIFT: u32 = 13;
    // SAFETY: ioprio_get reads no memory of this process.
    let found = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
    match found >> CLASS_SHIFT {
        3 => IoPriority::Idle,
        2 => IoPriority::BestEffort((found & 7) as u8),
        _ => IoPriority::Other,
    }
}

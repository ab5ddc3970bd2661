//! Survives SIGBUS when a file shrinks, or a device fails, under a mapping.
//!
//! One handler, installed once. After a fault inside a registered mapping it replaces the rest of
//! that mapping with zero pages and sets its flag; every other SIGBUS goes to the previous handler.
#![allow(unsafe_code)]

use std::arch::asm;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

use super::fd;

/// Maximum number of mappings registered at once.
pub const SLOTS: usize = 1024;

/// One registered mapping, on its own cache lines: workers poll the flag.
#[repr(align(64))]
struct GuardSlot {
    taken: AtomicBool,
    /// 0: not registered. Stored last when registering and first when unregistering.
    start: AtomicUsize,
    /// End of the last page of the mapping.
    end: AtomicUsize,
    writable: AtomicBool,
    /// Offset of the first fault from `start`, plus 1; 0: none.
    fault: AtomicUsize,
}

static TABLE: [GuardSlot; SLOTS] = [const {
    GuardSlot {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        writable: AtomicBool::new(false),
        fault: AtomicUsize::new(0),
    }
}; SLOTS];

/// The previous handler of SIGBUS.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Installs the handler once; later calls repeat the first result.
///
/// # Errors
/// The errno of sigaction(2).
pub fn install() -> io::Result<()> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    DONE.get_or_init(|| try_install().map_err(|e| e.raw_os_error().unwrap_or(libc::EINVAL)))
        .map_err(io::Error::from_raw_os_error)
}

fn try_install() -> io::Result<()> {
    PAGE.store(usize::try_from(fd::page_size()).unwrap_or(4096), Ordering::Relaxed);
    // SAFETY: a sigaction of zeros is a valid value (default action, no flags).
    let (mut previous, mut action): (libc::sigaction, libc::sigaction) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    action.sa_sigaction = on_sigbus as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the kernel writes the current action into a struct that outlives the call.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut previous) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Set before the handler can run.
    let _ = PREVIOUS.set(previous);
    // SAFETY: the handler only uses atomics and system calls, so it is async-signal-safe.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Keeps one mapping registered while it lives. Drop it after the workers have ended and before
/// munmap.
#[derive(Debug)]
pub struct Guard {
    slot: &'static GuardSlot,
}

impl std::fmt::Debug for GuardSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardSlot").field("fault", &self.first_fault()).finish_non_exhaustive()
    }
}

impl GuardSlot {
    fn first_fault(&self) -> Option<u64> {
        self.fault.load(Ordering::Relaxed).checked_sub(1).map(|n| n as u64)
    }
}

impl Guard {
    /// Registers the mapping of `len` bytes from `start`; `writable` if it was mapped with
    /// PROT_WRITE. Installs the handler if necessary.
    ///
    /// # Safety
    /// The range (with the rest of its last page) must be one mapping of a file, and stay so until
    /// the guard is dropped: after a fault its pages are replaced, whatever they are by then.
    ///
    /// # Errors
    /// `InvalidInput` for an empty or unaligned range; the errno of sigaction(2); `Other` if all
    /// [`SLOTS`] are taken.
    pub unsafe fn new(start: *const u8, len: usize, writable: bool) -> io::Result<Self> {
        install()?;
        let page = PAGE.load(Ordering::Relaxed);
        let guard = Self::vacant_for(writable)?;
        let slot = guard.slot;
        let start = start as usize;
        let end = start.checked_add(len).and_then(|end| end.checked_next_multiple_of(page));
        let end = end.filter(|_| len > 0 && start != 0 && start.is_multiple_of(page));
        let end = end.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "not the range of a mapping")
        })?;
        slot.end.store(end, Ordering::Release);
        slot.start.store(start, Ordering::Release);
        Ok(guard)
    }

    /// Creates a guard without a mapping, for a lane that repeatedly maps read-only:
    /// [`Guard::cover`] costs two stores.
    ///
    /// # Errors
    /// Same as [`Guard::new`].
    pub fn vacant() -> io::Result<Self> {
        install()?;
        Self::vacant_for(false)
    }

    fn vacant_for(writable: bool) -> io::Result<Self> {
        fn free(slot: &&GuardSlot) -> bool {
            slot.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        }
        let slot = TABLE
            .iter()
            .find(free)
            .ok_or_else(|| io::Error::other(format!("all {SLOTS} guarded mappings are in use")))?;
        slot.fault.store(0, Ordering::Relaxed);
        slot.writable.store(writable, Ordering::Relaxed);
        Ok(Self { slot })
    }

    /// Guards the `len` bytes from `start`, and the rest of their last page, from now on.
    ///
    /// # Safety
    /// Same as for [`Guard::new`], until [`Guard::uncover`]; `start` must be the address of a page
    /// and `len` not 0.
    #[inline(always)]
    pub unsafe fn cover(&self, start: *const u8, len: usize) {
        let end = (start as usize + len).next_multiple_of(PAGE.load(Ordering::Relaxed));
        self.slot.end.store(end, Ordering::Release);
        self.slot.start.store(start as usize, Ordering::Release);
    }

    /// Stops guarding; the flag is unchanged.
    #[inline(always)]
    pub fn uncover(&self) {
        self.slot.start.store(0, Ordering::Release);
    }

    /// Returns whether a fault was caught; the data has been zeros since. Costs one relaxed load.
    #[inline(always)]
    pub fn hit(&self) -> bool {
        self.slot.fault.load(Ordering::Relaxed) != 0
    }

    /// Returns the offset in bytes of the first access that faulted, relative to the mapping.
    pub fn first_fault(&self) -> Option<u64> {
        self.slot.first_fault()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.slot.start.store(0, Ordering::Relaxed);
        self.slot.end.store(0, Ordering::Release);
        self.slot.taken.store(false, Ordering::Release);
    }
}

/// Handles SIGBUS. The path that survives does no allocation, locking, libc call, thread-local
/// access or formatting.
extern "C" fn on_sigbus(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code != libc::BUS_ADRERR || !patch(address) {
        chain(signal, code, info, context);
    }
}

/// Replaces the rest of the registered mapping that contains `address` with zero pages; returns
/// false without such a mapping, or if the kernel refuses.
fn patch(address: usize) -> bool {
    for slot in &TABLE {
        let start = slot.start.load(Ordering::Acquire);
        if start == 0 || address < start {
            continue;
        }
        let end = slot.end.load(Ordering::Acquire);
        // The start is unchanged, so start and end belong together: nothing was registered in
        // between.
        if address >= end || slot.start.load(Ordering::Acquire) != start {
            continue;
        }
        let from = address & !(PAGE.load(Ordering::Relaxed) - 1);
        // To the end in one go: replacing single pages would raise a signal for each.
        // SAFETY: by the contract of Guard::new the whole range is the caller's mapping.
        if !unsafe { zeros_over(from, end - from, slot.writable.load(Ordering::Relaxed)) } {
            return false;
        }
        let _ = slot.fault.compare_exchange(
            0,
            address - start + 1,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        return true;
    }
    false
}

/// Passes the signal on, as if this handler were not installed.
fn chain(signal: c_int, code: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let previous = PREVIOUS.get();
    let handler = previous.map_or(libc::SIG_DFL, |p| p.sa_sigaction);
    let sent = code <= 0; // by a process, not by a fault
    if handler == libc::SIG_IGN && sent {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: sigaction(2) and raise(3) are async-signal-safe; zeros are the default action.
        unsafe {
            let default: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &raw const default, std::ptr::null_mut());
            // The fault is raised again on return.
            if sent {
                libc::raise(signal);
            }
        }
        return;
    }
    // SAFETY: `handler` was installed for this signal; its flags determine its signature.
    unsafe {
        if previous.is_some_and(|p| p.sa_flags & libc::SA_SIGINFO != 0) {
            std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(
                handler,
            )(signal, info, context);
        } else {
            std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
        }
    }
}

/// Replaces `[start, start + len)` by private zero pages, read-only or writable; returns false if
/// the kernel refuses.
///
/// # Safety
/// The range is page-aligned address space that the caller owns, and no references into it exist.
unsafe fn zeros_over(start: usize, len: usize, writable: bool) -> bool {
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

#[cfg(test)]
mod tests;

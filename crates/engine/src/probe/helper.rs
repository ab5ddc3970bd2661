//! A helper process or thread that a probe works with; it ends with the gauge.
#![allow(unsafe_code)]

use std::io;
use std::thread::JoinHandle;

use super::{ProbeContext, ProbeError};
use crate::sys::threads::Affinity;

/// Where the helper runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    /// On the measuring CPU.
    Same,
    /// On another CPU.
    Across,
}

impl Placement {
    pub const ALL: [(&'static str, Placement); 2] =
        [("same", Placement::Same), ("across", Placement::Across)];

    /// Checks that the helper can be placed there.
    pub fn check(self, context: &ProbeContext) -> Result<(), String> {
        if self == Placement::Across {
            context.check_other_cpu()?;
        }
        // Unpinned, the two run where the scheduler puts them, and the figure would belong to
        // neither placement.
        match Affinity::current().and_then(|own| own.apply()) {
            Err(error) if context.cpus.len() != 1 => {
                Err(format!("cannot pin to a CPU: sched_setaffinity: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the affinity of the helper; `None` if it inherits the caller's. It is tested here,
    /// so that nothing ever waits for a helper that could not be placed.
    fn affinity(self, context: &ProbeContext) -> Result<Option<Affinity>, ProbeError> {
        let Some(cpu) = context.other_cpu().filter(|_| self == Placement::Across) else {
            return Ok(None);
        };
        let (own, other) = (Affinity::current(), Affinity::only(cpu));
        let tried = other.apply();
        let back = own.and_then(|own| own.apply());
        tried.and(back).map_err(ProbeError::in_call("sched_setaffinity"))?;
        Ok(Some(other))
    }
}

/// A child process that runs part of this program; killed and reaped on drop.
pub(super) struct HelperProcess(libc::pid_t);

impl HelperProcess {
    /// Forks a child that runs `body`. The kernel kills it when the calling thread ends for any
    /// reason.
    ///
    /// # Safety
    /// After the fork of a multi-threaded process only async-signal-safe calls are sound: `body`
    /// must not allocate, lock or panic.
    pub unsafe fn fork(
        place: Placement,
        context: &ProbeContext,
        body: impl FnOnce(),
    ) -> Result<HelperProcess, ProbeError> {
        let affinity = place.affinity(context)?;
        let parent = std::process::id();
        // SAFETY: the child makes only async-signal-safe calls: prctl(2), getppid(2),
        // sched_setaffinity(2), the calls of `body` by the caller's contract, and _exit(2).
        match unsafe { libc::fork() } {
            -1 => Err(ProbeError::last_os_error("fork")),
            0 => {
                // SAFETY: prctl(2) and _exit(2) touch no memory; the child ends here and runs none
                // of the parent's code.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    // The parent may have ended before prctl(2) took effect.
                    let placed = std::os::unix::process::parent_id() == parent
                        && affinity.is_none_or(|affinity| affinity.apply().is_ok());
                    if placed {
                        body();
                    }
                    libc::_exit(if placed { 0 } else { 1 });
                }
            }
            child => Ok(HelperProcess(child)),
        }
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        // SAFETY: kill(2) touches no memory; the child was not reaped yet, so its id is not reused.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        let _ = wait_for_child(self.0);
    }
}

/// Waits for a child to exit and returns its status; interrupted waits are resumed.
pub(super) fn wait_for_child(child: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: waitpid(2) writes one status into `status`, which outlives the call.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A helper thread, joined on drop: anything it waits for must have ended before that.
pub(super) struct HelperThread(Option<JoinHandle<()>>);

impl HelperThread {
    /// Starts a thread that runs `body` at its placement.
    pub fn spawn(
        place: Placement,
        context: &ProbeContext,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<HelperThread, ProbeError> {
        let affinity = place.affinity(context)?;
        let run = move || {
            // `affinity` was tested just before.
            let _ = affinity.map(|affinity| affinity.apply());
            body();
        };
        let thread = std::thread::Builder::new().name("helper".into()).spawn(run);
        thread
            .map(|thread| HelperThread(Some(thread)))
            .map_err(ProbeError::in_call("starting a thread"))
    }
}

impl Drop for HelperThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

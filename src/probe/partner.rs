//! A second process or thread that a probe works with; gone when the gauge is.
#![allow(unsafe_code)]

use std::io;
use std::thread::JoinHandle;

use super::{ProbeError, Site};
use crate::plan::ProbeCell;
use crate::sys::threads::Affinity;

use super::known::text;

/// Where the partner runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On the CPU that measures.
    Same,
    /// On another one.
    Across,
}

impl Place {
    pub const ALL: [(&'static str, Place); 2] = [("same", Place::Same), ("across", Place::Across)];

    /// By the parameter `cpus`.
    pub fn of(cell: &ProbeCell) -> Option<Place> {
        let name = text(cell, "cpus")?;
        Place::ALL.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
    }

    /// Whether it can be had, for [`Probe::check`](super::Probe::check).
    pub fn check(self, site: &Site) -> Result<(), String> {
        if self == Place::Across && site.other_cpu().is_none() {
            return Err("this process may use one CPU only".into());
        }
        // Unbound, the two run where the scheduler likes, and the figure would be neither place's.
        match Affinity::current().and_then(|own| own.apply()) {
            Err(error) if site.cpus.len() != 1 => {
                Err(format!("nothing can be bound to a CPU here: sched_setaffinity: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// The CPU of the partner; `None`: that of the caller, which it inherits. It is tried here, so
    /// that a partner is never waited for that could not go there.
    fn affinity(self, site: &Site) -> Result<Option<Affinity>, ProbeError> {
        let Some(cpu) = site.other_cpu().filter(|_| self == Place::Across) else { return Ok(None) };
        let (own, other) = (Affinity::current(), Affinity::only(cpu));
        let tried = other.apply();
        let back = own.and_then(|own| own.apply());
        tried.and(back).map_err(ProbeError::of("sched_setaffinity"))?;
        Ok(Some(other))
    }
}

/// A child process that runs a piece of this program; killed and waited for when this is dropped.
pub(super) struct Process(libc::pid_t);

impl Process {
    /// Forks. The kernel kills the child when the calling thread ends, whatever ends it.
    ///
    /// # Safety
    /// After a fork of a process with threads only async-signal-safe calls are sound: `body` must
    /// not allocate, lock or panic.
    ///
    /// # Errors
    /// The errno of fork(2).
    pub unsafe fn fork(
        place: Place,
        site: &Site,
        body: impl FnOnce(),
    ) -> Result<Process, ProbeError> {
        let affinity = place.affinity(site)?;
        let parent = std::process::id();
        // SAFETY: the child makes async-signal-safe calls only: prctl(2), getppid(2),
        // sched_setaffinity(2), what `body` promises, _exit(2).
        match unsafe { libc::fork() } {
            -1 => Err(ProbeError::last("fork")),
            0 => {
                // SAFETY: prctl(2) and _exit(2) take numbers and touch no memory; the child ends
                // here and runs nothing of the parent's.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    // The parent may have ended before.
                    let placed = std::os::unix::process::parent_id() == parent
                        && affinity.is_none_or(|affinity| affinity.apply().is_ok());
                    if placed {
                        body();
                    }
                    libc::_exit(if placed { 0 } else { 1 });
                }
            }
            child => Ok(Process(child)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: the child is ours and not yet waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        let _ = wait(self.0);
    }
}

/// The status of a child that ended; interrupted waits go on.
pub(super) fn wait(child: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: waitpid(2) writes one status, into a variable that outlives the call.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A thread; what it waits on must be ended before this is dropped.
pub(super) struct Thread(Option<JoinHandle<()>>);

impl Thread {
    /// # Errors
    /// There can be no further thread.
    pub fn spawn(
        place: Place,
        site: &Site,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<Thread, ProbeError> {
        let affinity = place.affinity(site)?;
        let run = move || {
            // It was tried just before.
            let _ = affinity.map(|affinity| affinity.apply());
            body();
        };
        let thread = std::thread::Builder::new().name("partner".into()).spawn(run);
        thread.map(|thread| Thread(Some(thread))).map_err(ProbeError::of("starting a thread"))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

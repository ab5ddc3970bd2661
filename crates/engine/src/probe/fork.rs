//! `fork` and `thread`: creating a process or a thread, and waiting for it to end.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::{io, ptr};

use super::helper::wait_for_child;
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::fd::page_size;
use crate::sys::text;
use crate::units::show_bytes;

param_rows! {
    /// Expected nanoseconds.
    METHODS: ForkMethod;
    "fork" => Fork, (50e3, 600e3),
        "page tables of a few MiB copied, a task created, two switches, a fault for each written \
         page";
    "vfork" => Vfork, (15e3, 150e3), "a task created without memory of its own, and two switches";
    "spawn" => Spawn, (200e3, 2e6),
        "the same, a program mapped and its C library linked: some hundred page faults";
    "exec" => Exec, (250e3, 2.5e6), "like spawn, with page tables copied only to be discarded";
}

const PROGRAMS: [&CStr; 2] = [c"/bin/true", c"/usr/bin/true"];

fn program() -> Option<&'static CStr> {
    // SAFETY: access(2) only reads the path, which is static and nul-terminated.
    PROGRAMS.into_iter().find(|path| unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0)
}

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(source.row("way", METHODS)?))
}

impl KnownCell for &'static ParamRow<ForkMethod> {
    fn check(&self, _: &ProbeContext) -> Result<(), String> {
        match self.value {
            ForkMethod::Spawn | ForkMethod::Exec if program().is_none() => {
                Err("/bin/true is not installed".into())
            }
            _ => Ok(()),
        }
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.as_estimate()
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let (method, program) = (self.value, program().unwrap_or(PROGRAMS[0]));
        let stack = vec![0u128; if method == ForkMethod::Vfork { 4096 } else { 0 }];
        Ok(Box::new(Children { method, program, stack, context: context.clone() }))
    }
}

struct Children {
    method: ForkMethod,
    program: &'static CStr,
    /// Stack of a vfork child, which shares this memory.
    stack: Vec<u128>,
    context: ProbeContext,
}

extern "C" fn end_at_once(_: *mut c_void) -> c_int {
    // SAFETY: _exit(2) ends the child without touching memory.
    unsafe { libc::_exit(0) }
}

impl Children {
    /// Creates a child; returns its process id, or -1 with errno.
    fn create_child(&mut self) -> libc::pid_t {
        let arguments: [*mut c_char; 2] = [self.program.as_ptr().cast_mut(), ptr::null_mut()];
        let environment: [*mut c_char; 1] = [ptr::null_mut()];
        match self.method {
            // SAFETY: the child calls only _exit(2), which is async-signal-safe: other threads may
            // have held locks at the fork.
            ForkMethod::Fork => match unsafe { libc::fork() } {
                // SAFETY: _exit(2) touches no memory and runs no exit handlers.
                0 => unsafe { libc::_exit(0) },
                child => child,
            },
            ForkMethod::Vfork => {
                let top = self.stack.as_mut_ptr_range().end;
                // SAFETY: the child runs on its own stack and exits at once; this thread sleeps
                // until then.
                unsafe {
                    libc::clone(
                        end_at_once,
                        top.cast(),
                        libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                        ptr::null_mut(),
                    )
                }
            }
            ForkMethod::Spawn => {
                let (mut child, none) = (0, ptr::null());
                // SAFETY: the strings are nul-terminated, and both arrays end with a null pointer.
                let error = unsafe {
                    libc::posix_spawn(
                        &mut child,
                        self.program.as_ptr(),
                        none,
                        ptr::null(),
                        arguments.as_ptr(),
                        environment.as_ptr(),
                    )
                };
                if error == 0 { child } else { -1 }
            }
            // SAFETY: the child calls only execve(2) and _exit(2), which are async-signal-safe:
            // other threads may have held locks at the fork.
            ForkMethod::Exec => match unsafe { libc::fork() } {
                // SAFETY: the path is nul-terminated, both arrays end with a null pointer, and all
                // were created before the fork.
                0 => unsafe {
                    libc::execve(
                        self.program.as_ptr(),
                        arguments.as_ptr().cast(),
                        environment.as_ptr().cast(),
                    );
                    libc::_exit(127)
                },
                child => child,
            },
        }
    }
}

impl Gauge for Children {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (mut error, mut done) = (None, 0);
        let batch = BatchTime::of_block(count as f64, || {
            while done < count && error.is_none() && !self.context.is_stopping() {
                let child = self.create_child();
                error = match child {
                    -1 => Some(ProbeError::last_os_error("creating a process")),
                    child => match wait_for_child(child) {
                        Ok(0) => None,
                        Ok(status) => Some(ProbeError::Missing(format!(
                            "the child exited with status {status}"
                        ))),
                        Err(error) => Some(ProbeError::in_call("waitpid")(error)),
                    },
                };
                done += 1;
            }
        });
        self.context.check_stop()?;
        error.map_or(Ok(batch), Err)
    }

    fn evidence(&self) -> Vec<String> {
        let resident = text::read("/proc/self/statm")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        resident
            .map(|pages| {
                let bytes = show_bytes(pages * page_size());
                format!("the parent has {bytes} of resident memory")
            })
            .into_iter()
            .collect()
    }
}

pub(super) fn ask_thread(_: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(ThreadCreation))
}

struct ThreadCreation;

impl KnownCell for ThreadCreation {
    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        let reason =
            "a task created without memory of its own, a reused stack, and two switches".into();
        Some(Estimate { low: 8e3, high: 80e3, reason })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let context = context.clone();
        Ok(Box::new(move |count| {
            BatchTime::of_work(count as f64, || {
                (0..count).try_for_each(|_| create_and_join().and_then(|()| context.check_stop()))
            })
        }))
    }
}

extern "C" fn thread_body(_: *mut c_void) -> *mut c_void {
    ptr::null_mut()
}

fn create_and_join() -> Result<(), ProbeError> {
    // SAFETY: the thread gets no data, and is joined before its handle goes out of scope.
    let error = unsafe {
        let mut thread = std::mem::zeroed();
        match libc::pthread_create(&mut thread, ptr::null(), thread_body, ptr::null_mut()) {
            0 => libc::pthread_join(thread, ptr::null_mut()),
            error => error,
        }
    };
    if error == 0 {
        Ok(())
    } else {
        Err(ProbeError::in_call("pthread_create")(io::Error::from_raw_os_error(error)))
    }
}

//! `fork`: making a process and waiting for its end.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use super::known::{Known, has_only};
use super::partner::wait;
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::text;

pub(super) struct Fork;

static INFO: ProbeInfo = ProbeInfo {
    id: "fork",
    group: Group::Cpu,
    title: "process creation",
    about: "a process made and waited for: fork, vfork, posix_spawn of true, fork with exec of true",
    doc: "Makes a child that ends at once, and waits for it. fork copies the tables of the parent's memory, so it costs more the more memory \
          the parent has; vfork borrows the memory until the child ends, so it shows what a process costs without that. spawn and exec \
          also load a program, true(1), with its linker and C library: most of that is page faults. The wait is included, as the child \
          has to run, and with it two switches.",
    makes_files: false,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Fork,
    Vfork,
    Spawn,
    Exec,
}

/// Nanoseconds.
const WAYS: &[Known<Way>] = &[
    Known {
        name: "fork",
        what: Way::Fork,
        range: (50e3, 600e3),
        why: "tables of a few MiB copied, a task made, two switches, faults for each page that is written",
    },
    Known {
        name: "vfork",
        what: Way::Vfork,
        range: (15e3, 150e3),
        why: "a task made without its memory, and two switches",
    },
    Known {
        name: "spawn",
        what: Way::Spawn,
        range: (200e3, 2e6),
        why: "that, a program mapped, its C library linked: some hundred page faults",
    },
    Known {
        name: "exec",
        what: Way::Exec,
        range: (250e3, 2.5e6),
        why: "as spawn, and the tables copied only to be thrown away",
    },
];

const PROGRAMS: [&CStr; 2] = [c"/bin/true", c"/usr/bin/true"];

fn program() -> Option<&'static CStr> {
    // SAFETY: access(2) reads a path, which ends with a zero and is static.
    PROGRAMS.into_iter().find(|path| unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0)
}

fn way(cell: &ProbeCell) -> Option<&'static Known<Way>> {
    Known::of(WAYS, cell, "way").filter(|_| has_only(cell, &["way"]))
}

impl Probe for Fork {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        WAYS.iter().map(|way| ProbeCell::new(INFO.id, [("way", way.name.into())])).collect()
    }

    fn check(&self, cell: &ProbeCell, _: &Site) -> Result<(), String> {
        match way(cell).map(|way| way.what) {
            Some(Way::Spawn | Way::Exec) if program().is_none() => {
                Err("there is no /bin/true to run".into())
            }
            _ => Ok(()),
        }
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        way(cell)?.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let way = way(cell).ok_or_else(|| ProbeError::unknown(cell))?.what;
        let program = program().unwrap_or(PROGRAMS[0]);
        let stack = vec![0u128; if way == Way::Vfork { 4096 } else { 0 }];
        Ok(Box::new(Children { way, program, stack, site: site.clone() }))
    }
}

struct Children {
    way: Way,
    program: &'static CStr,
    /// Of the child that borrows this memory.
    stack: Vec<u128>,
    site: Site,
}

extern "C" fn end_at_once(_: *mut c_void) -> c_int {
    // SAFETY: ends the child and touches nothing.
    unsafe { libc::_exit(0) }
}

impl Children {
    /// The child's number, or -1 with errno.
    fn child(&mut self) -> libc::pid_t {
        let arguments: [*mut c_char; 2] = [self.program.as_ptr().cast_mut(), ptr::null_mut()];
        let environment: [*mut c_char; 1] = [ptr::null_mut()];
        match self.way {
            // SAFETY: the child may make async-signal-safe calls only, since other threads may have
            // held locks; it makes one, _exit(2).
            Way::Fork => match unsafe { libc::fork() } {
                // SAFETY: _exit(2) takes a number, touches no memory and runs nothing that was
                // registered for the exit.
                0 => unsafe { libc::_exit(0) },
                child => child,
            },
            Way::Vfork => {
                let top = self.stack.as_mut_ptr_range().end;
                // SAFETY: the child runs on a stack of its own and ends at once; this thread sleeps
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
            Way::Spawn => {
                let (mut child, none) = (0, ptr::null());
                // SAFETY: all texts end with a zero, both lists with a null.
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
            // SAFETY: the child may make async-signal-safe calls only, since other threads may have
            // held locks: execve(2) and _exit(2).
            Way::Exec => match unsafe { libc::fork() } {
                // SAFETY: the path ends with a zero, both lists end with a null, and all were made
                // before the fork.
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
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (mut error, mut done) = (None, 0);
        let took = Took::whole(count as f64, || {
            while done < count && error.is_none() && !self.site.stopping() {
                let child = self.child();
                error = match child {
                    -1 => Some(ProbeError::last("making a process")),
                    child => match wait(child) {
                        Ok(0) => None,
                        Ok(status) => Some(ProbeError::Missing(format!(
                            "the child ended with status {status}"
                        ))),
                        Err(error) => Some(ProbeError::of("waitpid")(error)),
                    },
                };
                done += 1;
            }
        });
        self.site.go_on()?;
        error.map_or(Ok(took), Err)
    }

    fn evidence(&self) -> Vec<String> {
        let resident = text::read("/proc/self/statm")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        // 4 KiB pages where the kernel does not say.
        let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)
            .ok()
            .flatten()
            .map_or(4096, |size| size as u64);
        resident
            .map(|pages| {
                format!("the parent has {} in memory", crate::units::show_bytes(pages * page))
            })
            .into_iter()
            .collect()
    }
}

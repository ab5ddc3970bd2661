//! The threads of this process: descriptor tables, CPUs, CPU time of helper threads, I/O priority.
#![allow(unsafe_code)]

use std::io;
use std::path::Path;

use nix::time::ClockId;
use nix::unistd::gettid;

use super::text;

/// Gives the calling thread its own descriptor table: system calls then skip the table's lock (30
/// to 40 ns less each).
///
/// Open everything that the thread needs afterwards: it does not see descriptors that other threads
/// open later, and descriptors that they close stay open here until the thread ends.
///
/// # Errors
/// ENOSYS (a sandbox), ENOMEM, EMFILE. Without its own table the thread is only slower: worth a
/// note, not a failure.
pub fn unshare_files() -> io::Result<()> {
    // A range without descriptors, so nothing is closed.
    let nowhere = libc::c_uint::MAX - 1;
    // SAFETY: close_range(2) takes no pointers, and the range holds no descriptor.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, nowhere, nowhere, libc::CLOSE_RANGE_UNSHARE)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the CPU time in nanoseconds of the kernel thread that polls a ring of the calling thread
/// (IORING_SETUP_SQPOLL).
///
/// `alone`: no other thread of this process has such a ring. `None` before Linux 5.12, when it was
/// not a thread of this process; before it has first run; and if it cannot be distinguished from
/// others, because in a container its name contains a pid of the host.
pub fn poller_nanos(alone: bool) -> Option<u64> {
    let mine = format!("iou-sqp-{}", gettid());
    let mut found = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let name = text::line(task.path().join("comm")).unwrap_or_default();
        if name == mine {
            return cpu_nanos(&task.path());
        }
        found.extend(name.starts_with("iou-sqp-").then(|| task.path()));
    }
    match &found[..] {
        [only] if alone => cpu_nanos(only),
        _ => None,
    }
}

/// Returns the CPU time in nanoseconds of another thread of this process; `None` if it has ended.
pub fn thread_nanos(tid: nix::unistd::Pid) -> Option<u64> {
    cpu_nanos(&Path::new("/proc/self/task").join(tid.to_string()))
}

/// Returns the CPU time of a thread of this process, by its folder under /proc/self/task.
fn cpu_nanos(task: &Path) -> Option<u64> {
    let tid: libc::clockid_t = task.file_name()?.to_str()?.parse().ok()?;
    // The CPU clock of a thread, encoded like pthread_getcpuclockid(3) does: 4 = of a thread, 2 =
    // precise.
    let time = ClockId::from_raw(!tid << 3 | 4 | 2).now().ok()?;
    u64::try_from(time.tv_sec())
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(u64::try_from(time.tv_nsec()).ok()?)
}

/// A set of CPUs in the format of sched_setaffinity(2), of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affinity {
    /// One bit per CPU.
    mask: Vec<u64>,
}

impl Affinity {
    /// Returns the current affinity of the calling thread, to [`apply`](Affinity::apply) it again
    /// later.
    ///
    /// # Errors
    /// The errno of sched_getaffinity(2).
    pub fn current() -> io::Result<Self> {
        let mut words = 16;
        loop {
            let mut mask = vec![0u64; words];
            // SAFETY: the kernel writes at most the given number of bytes into the mask.
            let got = unsafe {
                libc::syscall(libc::SYS_sched_getaffinity, 0, words * 8, mask.as_mut_ptr())
            };
            if got >= 0 {
                return Ok(Self { mask });
            }
            let error = io::Error::last_os_error();
            // EINVAL: the kernel has more CPUs than fit.
            if error.raw_os_error() != Some(libc::EINVAL) || words >= 4096 {
                return Err(error);
            }
            words *= 2;
        }
    }

    /// Returns the set of one CPU.
    pub fn only(cpu: usize) -> Self {
        Self::from_cpus(&[cpu])
    }

    /// Returns the set of these CPUs.
    pub fn from_cpus(cpus: &[usize]) -> Self {
        // For numbers beyond the limit of any kernel the mask stays empty, which the kernel
        // refuses.
        let most = cpus.iter().max().copied().unwrap_or(0);
        let mut mask = vec![0u64; (most / 64 + 1).min(4096)];
        for cpu in cpus {
            if let Some(word) = mask.get_mut(cpu / 64) {
                *word |= 1 << (cpu % 64);
            }
        }
        Self { mask }
    }

    /// Returns the numbers of its CPUs, ascending.
    pub fn cpus(&self) -> Vec<usize> {
        (0..self.mask.len() * 64).filter(|cpu| self.mask[cpu / 64] >> (cpu % 64) & 1 == 1).collect()
    }

    /// Returns the set of all CPUs. Applied, it leaves the CPUs of the machine and the control
    /// group, even if the process was bound to fewer.
    fn all() -> Self {
        Self { mask: vec![u64::MAX; 4096] }
    }

    /// Restricts the calling thread to this set.
    ///
    /// # Errors
    /// EINVAL if no CPU of the set exists, is online and is allowed here; EPERM.
    pub fn apply(&self) -> io::Result<()> {
        // SAFETY: the kernel reads the given number of bytes of the mask.
        let done = unsafe {
            libc::syscall(libc::SYS_sched_setaffinity, 0, self.mask.len() * 8, self.mask.as_ptr())
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Returns what `run` returns on a thread that is not bound to some of the CPUs, as a launcher may
/// have bound the process.
pub fn run_unbound<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let unbound = || {
            // If that is refused, it runs where it is bound.
            let _ = Affinity::all().apply();
            run()
        };
        match scope.spawn(unbound).join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Returns how many CPUs the calling thread may use.
pub fn usable_cpus() -> u32 {
    let all = Affinity::current().map_or(1, |of| of.cpus().len());
    u32::try_from(all).unwrap_or(u32::MAX).max(1)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{fd, testing};
    use std::os::fd::AsRawFd;

    #[test]
    fn an_unshared_table_is_private() {
        let worker = std::thread::spawn(|| {
            if let Err(error) = unshare_files() {
                return testing::skip(&format!("close_range: {error}"));
            }
            let file = tempfile::tempfile().unwrap();
            let mine =
                std::fs::read_link(format!("/proc/thread-self/fd/{}", file.as_raw_fd())).unwrap();
            let theirs = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
            assert_ne!(theirs.ok(), Some(mine));
            fd::reopen(&file).unwrap();
        });
        worker.join().unwrap();
    }

    #[test]
    fn a_thread_clock_counts_one_thread() {
        fn me() -> u64 {
            cpu_nanos(Path::new(&format!("/proc/self/task/{}", gettid()))).unwrap()
        }
        let before = me();
        let all = crate::sys::usage::Usage::process().unwrap();
        while me() == before {
            std::hint::spin_loop();
        }
        assert!(before <= all.user_nanos + all.system_nanos + 20_000_000);
        assert_eq!(cpu_nanos(Path::new("/proc/self/task/x")), None);
        assert_eq!(cpu_nanos(Path::new("/proc/self/task/4194304")), None);
        assert_eq!(poller_nanos(false), None, "this thread has no ring");
    }

    #[test]
    fn pinning_and_back() {
        std::thread::spawn(|| {
            let before = Affinity::current().unwrap();
            let cpus = before.cpus();
            assert!(!cpus.is_empty());
            let last = *cpus.last().unwrap();
            Affinity::only(last).apply().unwrap();
            assert_eq!(Affinity::current().unwrap().cpus(), [last]);
            before.apply().unwrap();
            assert_eq!(Affinity::current().unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn unbound_threads_see_all_cpus() {
        let all = usable_cpus();
        let bound = || {
            let first = Affinity::current().unwrap().cpus()[0];
            Affinity::only(first).apply().unwrap();
            let seen = (usable_cpus(), run_unbound(usable_cpus));
            (seen, usable_cpus())
        };
        let (seen, after) = std::thread::spawn(bound).join().unwrap();
        assert_eq!((seen.0, after), (1, 1));
        assert!(seen.1 >= all, "{seen:?} of {all}");
    }

    #[test]
    fn impossible_processors_are_refused() {
        for cpu in [100_000, 4096 * 64, usize::MAX] {
            assert_eq!(
                Affinity::only(cpu).apply().unwrap_err().raw_os_error(),
                Some(libc::EINVAL),
                "{cpu}"
            );
        }
        assert_eq!(Affinity::only(130).cpus(), [130]);
    }
}

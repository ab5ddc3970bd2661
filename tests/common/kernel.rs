//! Circumstances that only the kernel can make: a forbidden call, a full disk, a user without
//! rights, a failing device.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};

use super::skip;

/// The child's io_uring_setup returns EPERM, as under a container's filter.
pub fn forbid_uring(command: &mut Command) {
    forbid(command, libc::SYS_io_uring_setup);
}

/// This for one call, and leave to go on for all others.
fn filter(call: libc::c_long, answer: u32) -> [libc::sock_filter; 4] {
    [
        libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
        libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: call as u32 },
        libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: answer },
        libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
    ]
}

/// This system call of the child's never returns: it is handed to a supervisor, which is the child
/// itself and never answers.
pub fn hang(command: &mut Command, call: libc::c_long) {
    let filter = filter(call, libc::SECCOMP_RET_USER_NOTIF);
    let hang = move || {
        let program =
            libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: prctl and seccomp only read the program, which lives until they return; the
        // descriptor is new and ours.
        let set = unsafe {
            let (mode, flag) =
                (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            let listener = libc::syscall(libc::SYS_seccomp, mode, flag, &raw const program) as i32;
            listener >= 0 && libc::fcntl(listener, libc::F_SETFD, 0) == 0
        };
        if set { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it makes three system calls and nothing else.
    unsafe { command.pre_exec(hang) };
}

/// This system call of the child's returns EPERM.
pub fn forbid(command: &mut Command, call: libc::c_long) {
    refuse(command, call, libc::EPERM);
}

/// This system call of the child's returns an error.
pub fn refuse(command: &mut Command, call: libc::c_long, errno: i32) {
    let filter = filter(call, libc::SECCOMP_RET_ERRNO | errno as u32);
    let forbid = move || {
        let program =
            libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: prctl only reads the program, which lives until it returns.
        let set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
                    == 0
        };
        if set { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it makes two system calls and nothing else.
    unsafe { command.pre_exec(forbid) };
}

/// The child is held to permissions as an ordinary user is: root without the rights to pass over
/// them.
pub fn without_override(command: &mut Command) {
    const OVERRIDE: [i32; 3] = [1, 2, 3]; // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
    let drop = || {
        // SAFETY: PR_CAPBSET_DROP takes a number and no pointer.
        let dropped = OVERRIDE
            .iter()
            .all(|right| unsafe { libc::prctl(libc::PR_CAPBSET_DROP, *right, 0, 0, 0) } == 0);
        // An ordinary user has none, and may not drop any.
        if dropped || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec it makes system calls and nothing else.
    unsafe { command.pre_exec(drop) };
}

/// Files of the child cannot grow beyond so many bytes, as with `ulimit -f`: EFBIG, a disk that
/// fails while it is written.
pub fn limit_files(command: &mut Command, bytes: u64) {
    limit(command, libc::RLIMIT_FSIZE, bytes);
}

/// The child gets no more than so many bytes of address space.
pub fn limit_memory(command: &mut Command, bytes: u64) {
    limit(command, libc::RLIMIT_AS, bytes);
}

/// A limit of the child, as `ulimit` sets it.
pub fn limit(command: &mut Command, what: libc::__rlimit_resource_t, most: u64) {
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: setrlimit(2) reads one rlimit, which outlives the call.
        let set = unsafe { libc::setrlimit(what, &raw const limit) == 0 };
        if set { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it makes one system call and nothing else.
    unsafe { command.pre_exec(limit) };
}

/// Runs `test` on a thread with mounts of its own: a tmpfs of `size` at `at`, gone with the thread.
pub fn with_tmpfs(at: &Path, size: &str, test: impl FnOnce() + Send) {
    std::fs::create_dir_all(at).unwrap();
    let mounted = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount("", Path::new("/"), "", libc::MS_REC | libc::MS_PRIVATE, "")?;
        mount("none", at, "tmpfs", 0, &format!("size={size}"))
    };
    let on_thread = || match mounted() {
        Ok(()) => test(),
        Err(error) => skip(&format!("no tmpfs can be mounted here: {error}")),
    };
    std::thread::scope(|scope| {
        if let Err(panic) = scope.spawn(on_thread).join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Makes the file `at` a mount point, over which `from` lies; inside [`with_tmpfs`].
pub fn bind(from: &Path, at: &Path) -> bool {
    mount(&from.to_string_lossy(), at, "", libc::MS_BIND, "").is_ok()
}

/// Covers one more folder, inside [`with_tmpfs`].
pub fn tmpfs_over(at: &Path) -> bool {
    mount("none", at, "tmpfs", 0, "size=1m").is_ok()
}

/// Makes the file system mounted at `at` read-only, inside [`with_tmpfs`]. A child that another
/// test starts holds for a moment, until its exec, the files that are open for writing here.
pub fn remount_read_only(at: &Path) {
    let begin = Instant::now();
    while let Err(error) = mount("", at, "", libc::MS_REMOUNT | libc::MS_RDONLY, "") {
        assert!(
            error.raw_os_error() == Some(libc::EBUSY) && begin.elapsed() < Duration::from_secs(30),
            "{error}"
        );
        std::thread::yield_now();
    }
}

/// Makes it writable again.
pub fn remount_writable(at: &Path) {
    mount("", at, "", libc::MS_REMOUNT, "").unwrap();
}

fn mount(
    source: &str,
    at: &Path,
    kind: &str,
    flags: libc::c_ulong,
    options: &str,
) -> io::Result<()> {
    let text = |text: &[u8]| CString::new(text).unwrap();
    let (source, at) = (text(source.as_bytes()), text(at.as_os_str().as_bytes()));
    let (kind, options) = (text(kind.as_bytes()), text(options.as_bytes()));
    // SAFETY: mount(2) reads four strings, each of which ends with a zero and outlives the call.
    let done = unsafe {
        libc::mount(source.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A loop device over a file; taken away when dropped.
pub struct Loop {
    pub device: PathBuf,
}

impl Loop {
    /// None, and why, where it cannot be made.
    pub fn over(file: &Path) -> Option<Loop> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match made {
            Ok(made) if made.status.success() => {
                Some(Loop { device: String::from_utf8_lossy(&made.stdout).trim().into() })
            }
            Ok(made) => {
                skip(&format!("losetup: {}", String::from_utf8_lossy(&made.stderr).trim()));
                None
            }
            Err(_) => {
                super::without("losetup");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

/// Waits for what happens in a folder.
pub struct Watch {
    inotify: File,
}

impl Watch {
    /// New files in it, and what is written to its files.
    pub fn of(dir: &Path) -> Watch {
        let path = CString::new(dir.as_os_str().as_bytes()).unwrap();
        // SAFETY: inotify_init1 touches no memory; its descriptor is new and ours; the path lives
        // until the call returns.
        unsafe {
            let fd = libc::inotify_init1(libc::IN_CLOEXEC);
            let added =
                libc::inotify_add_watch(fd, path.as_ptr(), libc::IN_CREATE | libc::IN_MODIFY);
            assert!(fd >= 0 && added >= 0, "{}", io::Error::last_os_error());
            Watch { inotify: File::from_raw_fd(fd) }
        }
    }

    /// Waits until something happened, or the run ended: then `false`.
    pub fn one_or_end(&mut self, run: &super::child::Run) -> bool {
        let so = super::child::ready_or_ended(&self.inotify, run.pid(), Duration::from_secs(60));
        so && self.inotify.read(&mut [0; 32 + 256]).is_ok_and(|read| read > 0)
    }

    /// Waits until it is so; looks whenever something happened.
    pub fn until(&mut self, mut so: impl FnMut() -> bool) {
        while !so() {
            assert!(
                super::child::ready(&self.inotify, Duration::from_secs(60)),
                "nothing happens any more"
            );
            let _ = self.inotify.read(&mut [0; 4096]).unwrap();
        }
    }
}

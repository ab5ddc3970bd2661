//! Conditions that only the kernel can create: a forbidden call, a full disk, a user without
//! privileges, a failing device.

use super::{stderr_of, stdout_of};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};

use super::skip;

/// Makes io_uring_setup return EPERM in the child, as under a container's filter.
pub fn forbid_uring(command: &mut Command) {
    forbid(command, libc::SYS_io_uring_setup);
}

/// Builds a filter that returns `answer` for one call and allows all others.
fn filter(call: libc::c_long, answer: u32) -> [libc::sock_filter; 4] {
    [
        libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
        libc::sock_filter { code: 0x15, jt: 0, jf: 1, k: call as u32 },
        libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: answer },
        libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
    ]
}

/// Makes this system call hang in the child: it is passed to a supervisor, the child itself, which
/// never replies.
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
    // SAFETY: between fork and exec it only makes three system calls.
    unsafe { command.pre_exec(hang) };
}

/// Makes this system call return EPERM in the child.
pub fn forbid(command: &mut Command, call: libc::c_long) {
    refuse(command, call, libc::EPERM);
}

/// Makes this system call return an error in the child.
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
    // SAFETY: between fork and exec it only makes two system calls.
    unsafe { command.pre_exec(forbid) };
}

/// Restores the default action of the signals that end a run, which `nohup` or a shell's background
/// job may ignore in this process.
pub fn reset_signals(command: &mut Command) {
    fn reset() -> io::Result<()> {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            // SAFETY: SIG_DFL installs no handler, so no code runs on the signal.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    }
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(reset) };
}

/// Makes permissions apply to the child as to an ordinary user: drops root's capabilities to
/// override them.
pub fn without_override(command: &mut Command) {
    const OVERRIDE: [i32; 3] = [1, 2, 3]; // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
    fn drop() -> io::Result<()> {
        // SAFETY: PR_CAPBSET_DROP takes a number and no pointer.
        let dropped = OVERRIDE
            .iter()
            .all(|right| unsafe { libc::prctl(libc::PR_CAPBSET_DROP, *right, 0, 0, 0) } == 0);
        // An ordinary user has no such capabilities, and may not drop any.
        if dropped || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(drop) };
}

/// Limits the size of the child's files, as `ulimit -f` does: EFBIG, like a disk that fails during
/// a write.
pub fn limit_files(command: &mut Command, bytes: u64) {
    limit(command, libc::RLIMIT_FSIZE, bytes);
}

/// Limits the child's address space to this many bytes.
pub fn limit_memory(command: &mut Command, bytes: u64) {
    limit(command, libc::RLIMIT_AS, bytes);
}

/// Sets a resource limit of the child, as `ulimit` does.
pub fn limit(command: &mut Command, what: libc::__rlimit_resource_t, most: u64) {
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: setrlimit(2) reads one rlimit, which outlives the call.
        let set = unsafe { libc::setrlimit(what, &raw const limit) == 0 };
        if set { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it only makes one system call.
    unsafe { command.pre_exec(limit) };
}

/// Runs `test` on a thread with private mounts, gone with the thread: a tmpfs of `size` at `at`.
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

/// Bind-mounts `from` over the file `at`; inside [`with_tmpfs`].
pub fn bind(from: &Path, at: &Path) -> bool {
    mount(&from.to_string_lossy(), at, "", libc::MS_BIND, "").is_ok()
}

/// Makes a folder read-only with what is mounted in it, inside [`with_tmpfs`]; what it holds stays
/// in sight.
pub fn make_read_only(at: &Path) -> bool {
    let read_only = libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY;
    mount(&at.to_string_lossy(), at, "", libc::MS_BIND | libc::MS_REC, "").is_ok()
        && mount("", at, "", read_only, "").is_ok()
}

/// Makes the file system mounted at `at` read-only, inside [`with_tmpfs`]. A child that another
/// test starts briefly, until its exec, holds the files that are open for writing here.
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

/// Mounts a device, or what needs none, at a folder; inside [`with_tmpfs`].
pub fn mount_at(source: &Path, at: &Path, fs: &str, options: &str) -> io::Result<()> {
    mount(&source.to_string_lossy(), at, fs, 0, options)
}

/// Unmounts what is mounted there; inside [`with_tmpfs`].
pub fn unmount(at: &Path) {
    let at = CString::new(at.as_os_str().as_bytes()).unwrap();
    // SAFETY: umount2(2) reads a NUL-terminated string, which outlives the call.
    unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) };
}

fn mount(
    source: &str,
    at: &Path,
    kind: &str,
    flags: libc::c_ulong,
    options: &str,
) -> io::Result<()> {
    fn text(text: &[u8]) -> CString {
        CString::new(text).unwrap()
    }
    let (source, at) = (text(source.as_bytes()), text(at.as_os_str().as_bytes()));
    let (kind, options) = (text(kind.as_bytes()), text(options.as_bytes()));
    // SAFETY: mount(2) reads four NUL-terminated strings, which outlive the call.
    let done = unsafe {
        libc::mount(source.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A loop device over a file; detached on drop.
pub struct Loop {
    pub device: PathBuf,
}

impl Loop {
    /// Attaches a loop device; returns `None` and prints why if it cannot be created.
    pub fn over(file: &Path) -> Option<Loop> {
        Loop::with(&[], file)
    }

    /// Attaches one with further options of losetup(8).
    pub fn with(options: &[&str], file: &Path) -> Option<Loop> {
        let made =
            Command::new("losetup").args(["--find", "--show"]).args(options).arg(file).output();
        match made {
            Ok(made) if made.status.success() => {
                Some(Loop { device: stdout_of(&made).trim().into() })
            }
            Ok(made) => {
                skip(&format!("losetup: {}", stderr_of(&made).trim()));
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

/// A watch on a folder's events.
pub struct Watch {
    inotify: File,
}

impl Watch {
    /// Watches for new files in a folder and writes to its files.
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

    /// Waits for an event; `false` if the run ended first.
    pub fn one_or_end(&mut self, run: &super::child::Run) -> bool {
        let so = super::child::ready_or_ended(&self.inotify, run.pid(), Duration::from_secs(60));
        so && self.inotify.read(&mut [0; 32 + 256]).is_ok_and(|read| read > 0)
    }

    /// Waits until the condition holds; checks it after every event.
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

/// A control group of version 1 inside that of this process, removed on drop.
pub struct ControlGroup {
    pub path: PathBuf,
}

impl ControlGroup {
    /// Creates the group of a controller; `None` if impossible: it takes root and a hierarchy of
    /// version 1.
    pub fn make(controller: &str) -> Option<ControlGroup> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = groups.lines().find_map(|line| line.split_once(&format!(":{controller}:")))?.1;
        let parent = Path::new("/sys/fs/cgroup").join(controller);
        let name = format!("test-of-iotui-{}", std::process::id());
        let dir = parent.join(own.trim_start_matches('/')).join(name);
        fs::create_dir(&dir).ok()?;
        Some(ControlGroup { path: dir })
    }

    /// Writes one of its files.
    pub fn set(&self, file: &str, value: &str) -> bool {
        fs::write(self.path.join(file), value).is_ok()
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

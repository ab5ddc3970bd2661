//! The `+options` of backends, each with its equivalent in fio.

use crate::plan::{FioOption, Job, Opt, OptValue, Sync};

/// The most vectors of one call that the kernel takes (UIO_MAXIOV).
pub const MAX_PARTS: u64 = 1024;

/// Opens the file as ordinary programs do, for the backends that copy one block per call. Otherwise
/// files are opened with `O_NOATIME`, as fio does: measuring then does not change the access time.
pub const ATIME: Opt = Opt::flag(
    "atime",
    "opens without O_NOATIME, as most programs do: each read checks whether to update the \
            access time",
);

pub const SHARED: Opt = Opt::flag(
    "shared",
    "threads take the next 2 MiB (or block) when they are free, instead of a part of the \
            file each, so that a slow CPU does not delay the end",
);

pub const SEQUENTIAL: Opt = Opt::flag(
    "sequential",
    "advises the kernel of sequential access, so that it reads further ahead \
            (POSIX_FADV_SEQUENTIAL, or madvise)",
);

pub const RANDOM: Opt = Opt::flag(
    "random",
    "advises the kernel of random access, so that it reads nothing ahead \
            (POSIX_FADV_RANDOM, or madvise)",
);

pub const WILL_NEED: Opt = Opt::flag(
    "willneed",
    "starts reading the thread's whole part into the page cache (POSIX_FADV_WILLNEED, or \
            madvise), within the timed work",
);

/// The same advice in fio.
pub const ADVICE_IN_FIO: &[FioOption] = &[SEQUENTIAL_IN_FIO, RANDOM_IN_FIO];

pub const SEQUENTIAL_IN_FIO: FioOption =
    FioOption::new(SEQUENTIAL.name, "fadvise_hint", SEQUENTIAL.name);

pub const RANDOM_IN_FIO: FioOption = FioOption::new(RANDOM.name, "fadvise_hint", RANDOM.name);

/// Uses libc's wrapper; for `read`, `pread` and `seek`.
pub const LIBC: Opt = Opt::flag(
    "libc",
    "calls the C library's wrapper, as most programs do, instead of an inlined system call",
);

/// The equivalent in fio, which always calls through the C library.
pub const CALL_FIO_OPTIONS: &[FioOption] =
    &[FioOption::always(LIBC.name), SEQUENTIAL_IN_FIO, RANDOM_IN_FIO];

/// How stores into a mapping can be made durable; they wait for nothing by themselves.
pub const MAPPING_SYNCS: &[Sync] =
    &[Sync::None, Sync::End, Sync::Fdatasync, Sync::Fsync, Sync::Msync];

pub const MAPPING_OPTIONS: &[Opt] = &[SHARED, POPULATE, HUGE, SEQUENTIAL, RANDOM, WILL_NEED];

pub const POPULATE: Opt = Opt::flag(
    "populate",
    "fills the page tables before the first block (MADV_POPULATE_READ), within the timed \
            work; where the order jumps, for the thread's whole part",
);

pub const HUGE: Opt = Opt::flag("huge", "requests 2 MiB pages (MADV_HUGEPAGE)");

pub const SQPOLL: Opt = Opt::flag(
    "sqpoll",
    "a kernel thread takes submissions: system calls only wait for completions, or wake it \
            up after 50 ms; its CPU time is counted",
);

pub const IOPOLL: Opt = Opt::flag(
    "iopoll",
    "polls the device for completions instead of waiting for its interrupts \
            (IORING_SETUP_IOPOLL), with --direct; the device needs poll queues",
);

pub const SUBMIT: Opt = Opt {
    name: "submit",
    value: Some(OptValue::number(Job::MAX_DEPTH as u64)),
    about: "one call submits at most N operations; 2 for random direct ones if omitted, otherwise \
            all there are",
};

pub const COMPLETE: Opt = Opt {
    name: "complete",
    value: Some(OptValue::number(Job::MAX_DEPTH as u64)),
    about: "one call waits for at least N completions, or for all in flight if those are fewer; 1 \
            if omitted",
};

pub const NOP: Opt = Opt::flag(
    "nop",
    "operations that do nothing (IORING_OP_NOP) and move no data: the cost of the ring \
            itself",
);

/// `fixed` is only read: a run of iotui registers its buffers by itself.
pub const URING_FIO_OPTIONS: &[FioOption] = &[
    FioOption::new(SQPOLL.name, "sqthread_poll", "1"),
    FioOption::new(IOPOLL.name, "hipri", "1"),
    FioOption::number(SUBMIT.name, "iodepth_batch"),
    FioOption::number(COMPLETE.name, "iodepth_batch_complete_min"),
    FioOption::new("fixed", "fixedbufs", "1"),
    SEQUENTIAL_IN_FIO,
    RANDOM_IN_FIO,
];

pub const PARTS: Opt = Opt {
    name: "parts",
    value: Some(OptValue::number(MAX_PARTS)),
    about: "number of vectors, 1 to 1024",
};

pub const NO_WAIT: Opt =
    Opt::flag("nowait", "reads what is cached (RWF_NOWAIT), then the rest by pread");

pub const DONT_CACHE: Opt =
    Opt::flag("dontcache", "leaves nothing new in the page cache (RWF_DONTCACHE, Linux 6.14)");

pub const PREADV2_FIO_OPTIONS: &[FioOption] = &[
    FioOption::new("nowait", "nowait", "1"),
    FioOption::new("dontcache", "uncached", "1"),
    SEQUENTIAL_IN_FIO,
    RANDOM_IN_FIO,
];

pub const NON_TEMPORAL: Opt =
    Opt::flag("nt", "uses non-temporal stores, which bypass the caches (x86-64)");

pub const SOCKET: Opt =
    Opt::flag("socket", "sends to a Unix stream socket, whose other end the same thread reads");

pub const TOUCH: Opt =
    Opt::flag("touch", "reads one byte of every page of the block while it is mapped");

/// The engines of the peer fio; the first is the default.
pub const FIO_ENGINES: [Opt; 4] = [
    Opt::flag("psync", "engine psync: pread(2); the default"),
    Opt::flag("libaio", "engine libaio: io_submit(2), with --depth"),
    Opt::flag("io_uring", "engine io_uring, with --depth"),
    Opt::flag("mmap", "engine mmap: copies from a mapping"),
];

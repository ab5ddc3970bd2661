//! The entry of `uring` in the registry.

use crate::backend::{advice, shared};
use crate::plan::{DataPath, DefaultFor, Depth, Fio, FioEngine, FioOption, Info, Op, Opt};

const SQPOLL: Opt = Opt {
    name: "sqpoll",
    value: None,
    about: "a kernel thread takes submissions: system calls only wait for completions, or wake it \
            up after 50 ms; its CPU time is counted",
};

/// `fixed` is only read: a run of iotui registers its buffers by itself.
const FIO_OPTIONS: &[FioOption] = &[
    FioOption::new(SQPOLL.name, "sqthread_poll", "1"),
    FioOption::new("fixed", "fixedbufs", "1"),
    advice::FIO_SEQUENTIAL,
    advice::FIO_RANDOM,
];

/// In the words of fio.
const FIO: Fio = Fio::Engine(FioEngine::new("io_uring", None, FIO_OPTIONS));

pub(super) const INFO: Info = Info {
    id: "uring",
    title: "io_uring(7)",
    about: "queues operations in shared memory: one system call submits and collects many",
    doc: "All free slots are filled, one io_uring_enter submits them and waits for at \
          least one, and all completions are taken. The buffer and the file are registered \
          once. At depth 1 it makes one system call per block, as pread does; at a higher \
          depth one call serves many blocks, and a disk sees many requests at once (with \
          --direct). Random direct requests are submitted two at a time: the kernel would \
          hold more in one call back until it has seen all of them. Completions do not \
          interrupt the lane (IORING_SETUP_DEFER_TASKRUN, where the kernel supports it).",
    data_path: DataPath::CopiedByCall,
    ops: &[Op::Read, Op::Write],
    depth: Depth::UpTo(4096),
    direct: true,
    cached: true,
    mixes: true,
    appends: true,
    options: &[SQPOLL, shared::SHARED, advice::SEQUENTIAL, advice::RANDOM, advice::WILL_NEED],
    default_for: &[DefaultFor::Read, DefaultFor::Write, DefaultFor::Mix],
    kernel_switch: Some("kernel.io_uring_disabled"),
    fio: FIO,
    ..Info::COPIES_BY_CALL
};

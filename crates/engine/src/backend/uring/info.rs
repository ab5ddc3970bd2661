//! The entry of `uring` in the registry.

use crate::backend::{advice, shared};
use crate::plan::{DefaultFor, Depth, Fio, FioEngine, FioOption, Info, Opt, OptValue, Sync};

/// The most operations in flight.
const MAX_DEPTH: u32 = 4096;

pub(super) const SQPOLL: Opt = Opt::flag(
    "sqpoll",
    "a kernel thread takes submissions: system calls only wait for completions, or wake it \
            up after 50 ms; its CPU time is counted",
);
pub(super) const IOPOLL: Opt = Opt::flag(
    "iopoll",
    "polls the device for completions instead of waiting for its interrupts \
            (IORING_SETUP_IOPOLL), with --direct; the device needs poll queues",
);
pub(super) const SUBMIT: Opt = Opt {
    name: "submit",
    value: Some(OptValue::number(MAX_DEPTH as u64)),
    about: "one call submits at most N operations; 2 for random direct ones if omitted, otherwise \
            all there are",
};
pub(super) const COMPLETE: Opt = Opt {
    name: "complete",
    value: Some(OptValue::number(MAX_DEPTH as u64)),
    about: "one call waits for at least N completions, or for all in flight if those are fewer; 1 \
            if omitted",
};
pub(super) const NOP: Opt = Opt::flag(
    "nop",
    "operations that do nothing (IORING_OP_NOP) and move no data: the cost of the ring \
            itself",
);

/// `fixed` is only read: a run of iotui registers its buffers by itself.
const FIO_OPTIONS: &[FioOption] = &[
    FioOption::new(SQPOLL.name, "sqthread_poll", "1"),
    FioOption::new(IOPOLL.name, "hipri", "1"),
    FioOption::number(SUBMIT.name, "iodepth_batch"),
    FioOption::number(COMPLETE.name, "iodepth_batch_complete_min"),
    FioOption::new("fixed", "fixedbufs", "1"),
    advice::FIO_SEQUENTIAL,
    advice::FIO_RANDOM,
];

/// In the words of fio.
const FIO: Fio = Fio::Engine(FioEngine::new("io_uring", None, FIO_OPTIONS));

pub(super) const INFO: Info = Info { changed_by: &[(NOP.name, &NO_OPERATION)], ..ENTRY };

const ENTRY: Info = Info {
    id: "uring",
    title: "io_uring(7)",
    write_call: Some("io_uring(7) write"),
    about: "queues operations in shared memory: one system call submits and collects many",
    doc: "All free slots are filled, one io_uring_enter submits them and waits for at \
          least one, and all completions are taken. The buffer and the file are registered \
          once, and the ring itself from Linux 5.18 on. At depth 1 it makes one system call \
          per block, as pread does; at a higher depth one call serves many blocks, and a disk \
          sees many requests at once (with --direct). Random direct requests are submitted two \
          at a time: the kernel would hold more in one call back until it has seen all of them. \
          +submit=N and +complete=N set how many one call submits and waits for, above depth 1. \
          Completions do not interrupt the lane (IORING_SETUP_DEFER_TASKRUN, where the kernel \
          supports it). With +iopoll the lane polls the device instead of waiting. With +nop \
          nothing is read: operations per second are those of the ring itself.",
    common: true,
    depth: Depth::UpTo(MAX_DEPTH),
    mixes: true,
    syncs: Sync::OF_FLAGGED_WRITES,
    options: &[
        SQPOLL,
        IOPOLL,
        SUBMIT,
        COMPLETE,
        NOP,
        shared::SHARED,
        advice::SEQUENTIAL,
        advice::RANDOM,
        advice::WILL_NEED,
    ],
    default_for: &[DefaultFor::Read, DefaultFor::Write, DefaultFor::Mix],
    kernel_switch: Some("kernel.io_uring_disabled"),
    fio: FIO,
    ..Info::COPIES_BY_CALL
};

/// With `+nop`.
const NO_OPERATION: Info = Info {
    id: "uring+nop",
    title: "io_uring(7) no-op",
    about: "operations that do nothing: the cost of the ring itself",
    doc: ENTRY.doc,
    depth: ENTRY.depth,
    options: ENTRY.options,
    kernel_switch: ENTRY.kernel_switch,
    // One call serves many operations at a higher depth.
    relative_cost: 2.0,
    ..Info::MOVES_NOTHING
};

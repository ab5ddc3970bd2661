//! What iotui can measure with: one description of each backend, peer and probe. Help, lists,
//! checks, estimates, reports and fio's job files read it here; the engine has the code behind it.

mod backends;
mod identity;
mod options;
mod probes;

pub use backends::*;
pub use identity::{HUES, Identity, Shape, identity};
pub use options::*;
pub use probes::*;

use crate::plan::{Choice, DataPath, Info, Job, Op, ProbeInfo};

/// Every backend, in the order of lists.
pub static BACKENDS: &[&Info] = &[
    &NULL,
    &READ,
    &PREAD,
    &STDIO,
    &MMAP,
    &MMAP_COPY,
    &URING,
    &SEEK,
    &READV,
    &PREADV2,
    &SIMD_COPY,
    &AIO,
    &SENDFILE,
    &SPLICE,
    &COPY_RANGE,
    &TOKIO,
    &MAP_UNMAP,
    &GETPID,
];

/// Every external program.
pub static PEERS: &[&Info] = &[&DD, &FIO];

/// Every probe, in the order of lists: by group, cheapest first.
pub static PROBES: &[&ProbeInfo] = &[
    &CLOCK,
    &EMPTY_LOOP,
    &CALL,
    &SYSCALL,
    &FORK,
    &THREAD,
    &SWITCH_PROCESS,
    &SWITCH_THREAD,
    &SIGNAL,
    &PIPE,
    &LATENCY,
    &BANDWIDTH,
    &PAGE_FAULT,
    &MPROTECT,
    &TLB,
    &ROUND_TRIP,
    &NETWORK_BANDWIDTH,
    &CONNECT,
    &FILE_CACHE,
    &FILE_READ,
    &REMOTE_READ,
    &CONTENTION,
    &METADATA,
    &FSYNC,
];

/// Returns the descriptions of all backends, then of all peers.
pub fn infos() -> Vec<&'static Info> {
    BACKENDS.iter().chain(PEERS).copied().collect()
}

/// Returns the description of the backend or peer of a choice with its options; `None` where a
/// session names one that this version does not know.
pub fn info(choice: &Choice) -> Option<&'static Info> {
    let info = BACKENDS.iter().chain(PEERS).find(|info| info.id == choice.id);
    info.map(|info| info.of(choice))
}

/// Returns whether a job moves data, so that bytes per second are meaningful.
pub fn moves_data(job: &Job) -> bool {
    job.op != Op::Seek && info(&job.backend).is_none_or(Info::moves_bytes)
}

/// Returns whether a job touches a mapping page by page, and so counts the page faults of reading.
pub fn faults(job: &Job) -> bool {
    fn in_place(info: &Info) -> bool {
        info.data_path == DataPath::InPlace
    }
    info(&job.backend).is_some_and(in_place) && !job.backend.has("populate")
}

/// Returns whether a job consists of calls that move no data; the bare measuring loop makes no
/// call.
pub fn only_calls(job: &Job) -> bool {
    !moves_data(job) && !only_loops(job)
}

/// Returns whether a job measures the measuring loop itself.
pub fn only_loops(job: &Job) -> bool {
    info(&job.backend).is_some_and(|info| info.data_path == DataPath::LoopOnly)
}

//! The means of measurement: one description of each backend, peer and probe. Help, lists,
//! checks, estimates, reports and fio's job files read it here; the engine has the code behind it.

mod backends;
mod probes;

pub use backends::*;
pub use probes::*;

use crate::plan::{Choice, DataPath, Info, Job, Op, ProbeInfo};
pub use crate::plan::{HUES, Identity, Shape};

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

/// Returns the look of the backend or peer of that name.
pub fn identity(id: &str) -> Identity {
    let known = BACKENDS.iter().chain(PEERS).find(|info| info.id == id);
    known.map_or_else(|| Identity::of_unknown(id), |info| info.identity)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn looks_differ_without_colour() {
        let table: Vec<(&str, Identity)> =
            infos().iter().map(|info| (info.id, info.identity)).collect();
        let letters: HashSet<char> = table.iter().map(|(_, own)| own.letter).collect();
        assert_eq!(letters.len(), table.len());
        let shapes: Vec<Shape> =
            table.iter().map(|(_, own)| own.shape).filter(|s| *s != Shape::Letter).collect();
        assert_eq!(shapes.iter().collect::<HashSet<_>>().len(), shapes.len());
        for third in [|own: &Identity| own.third.0, |own: &Identity| own.third.1] {
            let all: HashSet<char> = table.iter().map(|(_, own)| third(own)).collect();
            assert_eq!(all.len(), table.len());
            assert!(all.iter().all(|c| !c.is_ascii_alphanumeric()));
        }
        assert!(table.iter().all(|(_, own)| own.hue < HUES && own.third.1.is_ascii()));
        // Plain frames, ticks, lines, bars and cursors are made of these.
        let drawn = ['+', '-', '|', '.', ':', '\'', '/', '\\', '=', '#', '!', '_', 'x', 'X'];
        for (id, own) in &table {
            assert!(!drawn.contains(&own.letter) && !drawn.contains(&own.third.1), "{id}");
        }
    }

    #[test]
    fn unknown_names_have_a_look() {
        let made = identity("hyperread");
        assert_eq!((made.shape, made.letter), (Shape::Letter, 'H'));
        assert_eq!(made, identity("hyperread"));
        assert!(made.hue < HUES);
        assert_eq!((identity("").letter, identity("9").letter), ('Y', 'Y'));
    }
}

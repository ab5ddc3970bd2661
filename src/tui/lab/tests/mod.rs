//! Lab as a person meets it: keys in, pictures and effects out. Its probes are of the tests' own, for those of iotui grow.

use crate::plan::{Group, ProbeInfo};

const fn info(id: &'static str, group: Group, title: &'static str) -> ProbeInfo {
    ProbeInfo {
        id,
        group,
        title,
        about: "one line about it",
        doc: "A paragraph: what it does and why, what is subtracted, and how the number is to be read beside the others.",
        makes_files: false,
    }
}

/// Probes of all groups.
pub const INFOS: &[&ProbeInfo] = &[
    &info("clock", Group::Cpu, "clock reading"),
    &info("loop", Group::Cpu, "empty loop"),
    &info("call", Group::Cpu, "procedure call"),
    &info("syscall", Group::Cpu, "system call"),
    &info("fork", Group::Cpu, "making a process"),
    &info("latency", Group::Memory, "memory latency"),
    &info("bandwidth", Group::Memory, "memory bandwidth"),
    &info("rtt", Group::Network, "round trip"),
    &info("connect", Group::Network, "connection"),
    &info("file-read", Group::Files, "reading a file"),
    &info("fsync", Group::Files, "flushing a file"),
];

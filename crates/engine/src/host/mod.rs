//! Collects the facts about this machine and a target: [`collect`] the [`Host`] that every session
//! stores, [`inspect`] what describes the file. The doctor of the core crate judges both.

mod cache;
mod commit_path;
mod conditions;
mod cpu;
mod cpu_info;
mod cycle;
mod entropy;
mod ground;
mod groups;
mod kernel;
mod machine;
mod memory;
mod network;
mod priority;
mod quota;
mod root;
mod shared;
mod target;
mod throttle;

use crate::facts::Host;
use crate::sys::threads;

pub use commit_path::commit_path;
pub use entropy::entropy;
pub use ground::{Below, FileBelow};
pub use quota::cpu_quota;
pub use root::Root;
pub use shared::SharedHost;
pub use target::{inspect, inspect_above, target_evidence, throttle_of};

/// Collects the facts about this machine from kernel files, within a few milliseconds.
/// Unreadable facts stay unknown.
pub fn collect() -> Host {
    let mut host = read(&Root::system());
    host.memory.limit = crate::sys::memory_limit::cgroup_limit();
    host
}

/// Collects the facts like [`collect`] and, where this user learns it from them alone,
/// asks all processes for what evicts cached files.
pub fn collect_for_doctor() -> Host {
    let mut host = collect();
    let search = || memory::search_kdamond(&Root::system());
    host.memory.kdamond = host.memory.kdamond.or_else(search);
    host
}

/// Collects the facts as [`collect`] does, with the CPUs that the machine has for all its
/// ranks: a launcher binds each of them to some.
pub fn collect_of_ranks() -> Host {
    let mut host = collect();
    host.cpu.allowed = threads::run_unbound(threads::usable_cpus);
    host
}

/// Reads the facts about the machine whose `proc`, `sys` and `etc` are in `root`.
pub fn read(root: &Root) -> Host {
    let info = cpu_info::Info::read(root);
    Host {
        name: root.line("/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: root.line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        os: machine::os(root),
        architecture: std::env::consts::ARCH.into(),
        virtualisation: machine::virtualisation(root, &info.flags()),
        container: machine::container(root),
        boot_id: root.line("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        cpu: cpu::read(root, &info),
        caches: cache::read(root),
        memory: memory::read(root),
        clock: kernel::clock_source(root),
        network: network::read(root),
        io_uring_disabled: root.number("/proc/sys/kernel/io_uring_disabled"),
        mitigations: kernel::mitigations(root),
        can_drop_caches: root.is_writable("/proc/sys/vm/drop_caches"),
        conditions: conditions::read(root),
    }
}

#[cfg(test)]
mod tests;

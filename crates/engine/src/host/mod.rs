//! Collects the facts about this machine and a target: [`collect`] the [`Host`] that every session
//! stores, [`inspect`] what describes the file. The doctor of the core crate judges both.

mod around;
mod cache;
mod commit_path;
mod conditions;
mod cpu;
mod drive;
mod entropy;
mod ground;
mod groups;
mod machine;
mod memory;
mod network;
mod root;
mod target;

use std::sync::{Arc, OnceLock};
use std::thread::Builder;

use crate::facts::Host;
use crate::sys::threads;

pub use around::{Places, State};
pub use commit_path::commit_path;
pub use drive::{DriveState, NO_WARNING, add_health};
pub use entropy::entropy;
pub use ground::{Below, FileBelow};
pub use groups::cpu_quota;
pub use root::Root;
pub use target::{inspect, inspect_above, target_evidence, throttle_of};

/// Collects the facts about this machine from kernel files, within a few milliseconds.
/// Unreadable facts stay unknown.
pub fn collect() -> Host {
    let mut host = read(&Root::system());
    host.memory.limit = crate::sys::memory::cgroup_limit();
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
    let info = cpu::CpuInfo::read(root);
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
        clock: machine::clock_source(root),
        network: network::read(root),
        io_uring_disabled: root.number("/proc/sys/kernel/io_uring_disabled"),
        mitigations: machine::mitigations(root),
        can_drop_caches: root.is_writable("/proc/sys/vm/drop_caches"),
        conditions: conditions::read(root),
    }
}

/// The facts about this machine, shared between threads.
#[derive(Debug, Clone, Default)]
pub struct SharedHost(Arc<OnceLock<Host>>);

impl SharedHost {
    /// Starts to collect the facts on a thread of their own.
    pub fn collect() -> SharedHost {
        let host = SharedHost::default();
        let shared = host.clone();
        // Without a thread, the first to ask for them collects them.
        let _ = Builder::new().name("host".into()).spawn(move || shared.get().name.len());
        host
    }

    /// Collects the facts now, as [`collect_of_ranks`] does.
    pub fn collect_of_ranks() -> SharedHost {
        let host = SharedHost::default();
        host.set(collect_of_ranks());
        host
    }

    /// Keeps `host`, if no facts have been collected yet.
    pub fn set(&self, host: Host) {
        let _ = self.0.set(host);
    }

    /// Returns the facts as soon as all are collected.
    pub fn get(&self) -> &Host {
        self.0.get_or_init(collect)
    }
}

#[cfg(test)]
mod tests;

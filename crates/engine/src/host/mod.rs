//! Facts about this machine and the target, and what would disturb a measurement.
//!
//! [`Host`] is saved in every session; [`TargetFacts`] describes the file; [`examine`] checks both,
//! and a plan, for disturbances.

mod cache;
mod commit_path;
mod conditions;
mod cpu;
mod cpu_info;
mod cycle;
mod doctor;
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

use serde::{Deserialize, Serialize};

use crate::record::{HostSummary, MachineEvidence};
use crate::sys::threads;

pub use cache::CacheLevel;
pub use conditions::Conditions;
pub use cpu::Cpu;
pub use doctor::{CHECKS, Check, Facts, Finding, Planned, examine};
pub use entropy::entropy;
pub use ground::{Below, FileBelow};
pub use kernel::{ClockSource, Mitigation, version};
pub use memory::Memory;
pub use network::NetworkCard;
pub use quota::cpu_quota;
pub use root::{Root, cpu_list};
pub use shared::SharedHost;
pub use target::{Resident, Stored, TargetFacts, TargetKind, method_name};

/// Facts about this machine. Sizes in bytes; an unknown text is empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    pub name: String,
    /// Kernel release: `6.18.44`.
    pub kernel: String,
    /// The distribution, from /etc/os-release.
    pub os: String,
    /// Architecture of iotui: `x86_64`, `aarch64`.
    pub architecture: String,
    /// The hypervisor; `None` on physical hardware.
    pub virtualisation: Option<String>,
    /// The container that this process seems to run in.
    pub container: Option<String>,
    /// Changes at every boot.
    pub boot_id: String,
    pub cpu: Cpu,
    pub caches: Vec<CacheLevel>,
    pub memory: Memory,
    pub clock: ClockSource,
    pub network: Vec<NetworkCard>,
    /// kernel.io_uring_disabled: 0 allowed, 1 restricted to a group, 2 disabled; `None`: a kernel
    /// before 6.6, which allows it.
    pub io_uring_disabled: Option<u32>,
    /// Vulnerabilities of this CPU and their mitigations.
    pub mitigations: Vec<Mitigation>,
    /// Whether this user may drop the machine's caches (`--cold meta`, `--cold all`).
    pub can_drop_caches: bool,
    /// The current conditions; everything above is a property of the machine.
    pub conditions: Conditions,
}

impl Host {
    /// Collects the facts about this machine from kernel files, within a few milliseconds.
    /// Unreadable facts stay unknown.
    pub fn collect() -> Host {
        let mut host = Host::read(&Root::system());
        host.memory.limit = crate::sys::memory_limit::cgroup_limit();
        host
    }

    /// Collects the facts like [`Host::collect`] and, where this user learns it from them alone,
    /// asks all processes for what evicts cached files.
    pub fn collect_for_doctor() -> Host {
        let mut host = Host::collect();
        let search = || memory::search_kdamond(&Root::system());
        host.memory.kdamond = host.memory.kdamond.or_else(search);
        host
    }

    /// Collects the facts as [`Host::collect`] does, with the CPUs that the machine has for all its
    /// ranks: a launcher binds each of them to some.
    pub fn collect_of_ranks() -> Host {
        let mut host = Host::collect();
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
            cpu: Cpu::read(root, &info),
            caches: cache::read(root),
            memory: Memory::read(root),
            clock: ClockSource::read(root),
            network: network::read(root),
            io_uring_disabled: root.number("/proc/sys/kernel/io_uring_disabled"),
            mitigations: kernel::mitigations(root),
            can_drop_caches: root.is_writable("/proc/sys/vm/drop_caches"),
            conditions: Conditions::read(root),
        }
    }

    /// Returns the bytes of the largest CPU cache; 0 if none is known.
    pub fn last_cache(&self) -> u64 {
        self.caches.iter().map(|cache| cache.size).max().unwrap_or(0)
    }

    /// Returns the summary that is shown above tables and sent to other machines.
    pub fn summary(&self) -> HostSummary {
        HostSummary {
            name: self.name.clone(),
            kernel: self.kernel.clone(),
            architecture: self.architecture.clone(),
            os: self.os.clone(),
            cpu: self.cpu.model.clone(),
            cpus: self.cpu.allowed.into(),
            memory: self.memory.usable(),
            virtualisation: self.virtualisation.clone(),
        }
    }

    /// Returns the facts that the verdicts of a run are based on.
    pub fn evidence(&self) -> MachineEvidence {
        MachineEvidence {
            governor: self.cpu.governor.clone(),
            on_battery: self.conditions.on_battery,
            memory: Some(self.memory.usable()).filter(|memory| *memory > 0),
            rank_cpus: None,
            ceilings: None,
            cpu_quota: self.cpu.quota,
            hypervisor: self.virtualisation.clone(),
        }
    }
}

#[cfg(test)]
mod tests;

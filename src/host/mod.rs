//! What this machine and this target are, and what would disturb a measurement.
//!
//! [`Host`] is kept in every session; [`TargetFacts`] describes the file; [`examine`] judges both,
//! and a plan, without touching anything.

mod cache;
mod conditions;
mod cpu;
mod cycle;
mod doctor;
mod entropy;
mod kernel;
mod machine;
mod memory;
mod network;
mod quota;
mod root;
mod target;
mod throttle;

use serde::{Deserialize, Serialize};

use crate::record::{HostSummary, MachineEvidence};

pub use cache::CacheLevel;
pub use conditions::Conditions;
pub use cpu::Cpu;
pub use doctor::{CHECKS, Check, Facts, Finding, Planned, examine};
pub use entropy::entropy;
pub use kernel::{ClockSource, Mitigation, version};
pub use memory::Memory;
pub use network::NetworkCard;
pub use root::{Root, cpu_list};
pub use target::{Resident, Stored, TargetFacts, TargetKind, method_name};

/// What this machine is. Sizes in bytes, unknown texts empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    pub name: String,
    /// Kernel release: `6.18.44`.
    pub kernel: String,
    /// The distribution, from /etc/os-release.
    pub os: String,
    /// Of the running kernel's programs: `x86_64`, `aarch64`.
    pub architecture: String,
    /// The hypervisor below; `None` on real hardware.
    pub virtualisation: Option<String>,
    /// What looks like a container around this process.
    pub container: Option<String>,
    /// Changes at every boot.
    pub boot_id: String,
    pub cpu: Cpu,
    pub caches: Vec<CacheLevel>,
    pub memory: Memory,
    pub clock: ClockSource,
    pub network: Vec<NetworkCard>,
    /// kernel.io_uring_disabled: 0 allowed, 1 for one group only, 2 off; `None`: a kernel before
    /// 6.6 that allows it.
    pub io_uring_disabled: Option<u32>,
    /// Weaknesses of this CPU and what is done about them.
    pub mitigations: Vec<Mitigation>,
    /// This user may empty the machine's caches (`--cold meta`, `--cold all`).
    pub can_drop_caches: bool,
    /// What goes on now; everything above is what the machine is.
    pub conditions: Conditions,
}

impl Host {
    /// This machine, in a few milliseconds: files of the kernel only, no program, no waiting. What
    /// cannot be read stays unknown.
    pub fn collect() -> Host {
        let mut host = Host::read(&Root::system());
        host.memory.limit = crate::sys::memory_limit::cgroup_limit();
        host
    }

    /// The machine whose `proc`, `sys` and `etc` lie in `root`.
    pub fn read(root: &Root) -> Host {
        let info = cpu::Info::read(root);
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
            can_drop_caches: root.writable("/proc/sys/vm/drop_caches"),
            conditions: Conditions::read(root),
        }
    }

    /// Bytes of the largest cache; 0 where none is known.
    pub fn last_cache(&self) -> u64 {
        self.caches.iter().map(|cache| cache.size).max().unwrap_or(0)
    }

    /// What of it stands above a table, and what another machine is told.
    pub fn summary(&self) -> HostSummary {
        HostSummary {
            name: self.name.clone(),
            kernel: self.kernel.clone(),
            architecture: self.architecture.clone(),
            os: self.os.clone(),
            cpu: self.cpu.model.clone(),
            cpus: self.cpu.allowed.into(),
            memory: self.memory.allowed(),
            virtualisation: self.virtualisation.clone(),
        }
    }

    /// What of it the verdicts of a run are judged by.
    pub fn evidence(&self) -> MachineEvidence {
        MachineEvidence {
            governor: self.cpu.governor.clone(),
            on_battery: self.conditions.on_battery,
            memory: Some(self.memory.allowed()).filter(|memory| *memory > 0),
            ceilings: None,
        }
    }
}

#[cfg(test)]
mod tests;

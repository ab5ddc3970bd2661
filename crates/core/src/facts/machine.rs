//! The machine: CPUs, memory, kernel, and its load now.

use serde::{Deserialize, Serialize};

use crate::record::{HostSummary, MachineEvidence};

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

/// The CPUs of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    pub model: String,
    pub vendor: String,
    /// Logical CPUs that are online.
    pub online: u32,
    /// Online CPUs that this process may run on (cpuset, affinity).
    pub allowed: u32,
    /// CPU time limit of the control group, in CPUs; `None`: no visible limit.
    pub quota: Option<f64>,
    /// Physical cores, as far as a virtual machine reports them.
    pub cores: u32,
    pub sockets: u32,
    /// Whether cores run more than one thread each.
    pub smt: Option<bool>,
    /// Current frequency of the first CPU, MHz.
    pub mhz: Option<f64>,
    /// Duration of one cycle in nanoseconds; a CPU that boosts or saves power deviates from it.
    pub cycle_nanos: Option<f64>,
    /// Source of the cycle time: `cpufreq maximum`, `cpuinfo MHz` ...
    pub cycle_source: String,
    /// cpufreq governor of the first CPU; `None`: the kernel does not control the frequency (as in
    /// most virtual machines).
    pub governor: Option<String>,
    /// Instruction sets that iotui has code for.
    pub simd: Vec<String>,
    /// Properties of the time-stamp counter: `constant_tsc`, `nonstop_tsc` ...
    pub tsc: Vec<String>,
}

/// One kind of CPU cache of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheLevel {
    /// 1 is closest to the core.
    pub level: u8,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Bytes of one such cache.
    pub size: u64,
    /// Associativity.
    pub ways: Option<u32>,
    /// Bytes of a cache line.
    pub line: Option<u32>,
    pub sets: Option<u32>,
    /// The CPUs that share the first such cache, as the kernel lists them: `0-3,8`.
    pub shared_with: String,
}

impl CacheLevel {
    /// Returns the usual name: `L1d`, `L1i`, `L2`.
    pub fn name(&self) -> String {
        let suffix = match self.kind.as_str() {
            "data" => "d",
            "instruction" => "i",
            _ => "",
        };
        format!("L{}{suffix}", self.level)
    }

    /// Returns the number of CPUs that share one such cache.
    pub fn sharers(&self) -> usize {
        cpu_list(&self.shared_with).len().max(1)
    }
}

/// Memory of the machine, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub total: u64,
    /// Memory available without swapping (MemAvailable) when read.
    pub available: u64,
    /// The limit of the memory control group, page cache included; `None`: no visible limit.
    pub limit: Option<u64>,
    /// Bytes of a page: the unit of the page cache.
    pub page_size: u64,
    /// Bytes of a huge page.
    pub huge_page: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`; `None`: a kernel without them.
    pub huge_pages: Option<String>,
    /// NUMA nodes that are online.
    pub nodes: u32,
    pub swap_total: u64,
    pub swap_free: u64,
    /// A running DAMON kernel thread (`kdamond.0`), which may evict idle cached files.
    pub kdamond: Option<String>,
    /// Whether this guest returns freed memory to its host, which makes the first touch of new
    /// memory slow.
    pub reports_free_pages: bool,
}

impl Memory {
    /// Returns the usable bytes: the control group's limit, at most the machine's size.
    pub fn usable(&self) -> u64 {
        self.limit.map_or(self.total, |limit| limit.min(self.total))
    }
}

/// One network interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkCard {
    pub name: String,
    /// Link speed in Mbit/s (10^6 bits); `None`: no link, or not reported.
    pub speed: Option<u32>,
    /// `full` or `half`.
    pub duplex: Option<String>,
    /// Maximum transmission unit, bytes.
    pub mtu: Option<u32>,
    /// `up`, `down`, `unknown` ... (RFC 2863).
    pub state: String,
    pub driver: Option<String>,
    /// True if there is no hardware device: loopback, bridge, tunnel, container pair.
    pub is_virtual: bool,
}

/// The current conditions; `None` = unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// Share of the last 10 s in which at least one task waited for I/O, 0 to 1
    /// (/proc/pressure/io).
    pub io_pressure: Option<f64>,
    /// Load average of the last minute.
    pub load: Option<f64>,
    /// Steal time as a share of all CPU time since boot, 0 to 1.
    pub steal: Option<f64>,
    /// Progress lines of software RAID arrays that are being rebuilt or checked, from /proc/mdstat.
    pub raid_busy: Vec<String>,
    /// Whether the machine runs on battery.
    pub on_battery: Option<bool>,
}

/// The clock that clock_gettime(2) reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSource {
    pub current: String,
    pub available: Vec<String>,
}

impl ClockSource {
    /// Returns true if the clock is read without entering the kernel or the hypervisor: about 20
    /// ns, others take 0.2 to 2 µs.
    pub fn is_fast(&self) -> bool {
        matches!(
            self.current.as_str(),
            "tsc"
                | "kvm-clock"
                | "arch_sys_counter"
                | "hyperv_clocksource_tsc_page"
                | "riscv_clocksource"
        )
    }
}

/// A vulnerability of this CPU and its mitigation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mitigation {
    /// The kernel's name: `spectre_v2`.
    pub name: String,
    /// `Mitigation: ...` or `Vulnerable ...`.
    pub state: String,
}

/// Vulnerabilities whose mitigation runs on every kernel entry or exit, or slows down indirect
/// calls.
const AT_SYSTEM_CALLS: &[&str] = &[
    "meltdown",
    "spectre_v2",
    "retbleed",
    "spec_rstack_overflow",
    "indirect_target_selection",
    "mds",
    "tsx_async_abort",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "tsa",
];

impl Mitigation {
    /// Returns true if the mitigation is active and slows down system calls.
    pub fn slows_calls(&self) -> bool {
        let is_active = self.state.starts_with("Mitigation") || self.state.contains("Safe RET");
        is_active && AT_SYSTEM_CALLS.contains(&self.name.as_str())
    }
}

/// Parses major and minor number of a kernel release: `6.18.44-cloud` is (6, 18).
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A list with a CPU number this large is invalid.
const MAX_CPUS: u32 = 65_536;

/// Parses a list of CPUs such as `0-3,8,10-11`; an invalid list is empty.
pub fn cpu_list(text: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (Ok(low), Ok(high)) = (low.trim().parse::<u32>(), high.trim().parse::<u32>()) else {
            return Vec::new();
        };
        if high >= MAX_CPUS || low > high {
            return Vec::new();
        }
        cpus.extend(low..=high);
    }
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// How fast the forms of this CPU go through memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct XorLoops {
    pub fastest: &'static str,
    /// Empty where there was no memory to compare them.
    pub speeds: &'static [XorSpeed],
    /// The turns scattered too much to tell whether prefetching pays: to be compared again.
    #[serde(skip)]
    pub is_doubtful: bool,
}

/// How fast a form goes through memory: the median of its turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct XorSpeed {
    pub name: &'static str,
    pub bytes_per_second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_kernel_releases() {
        assert_eq!(version("6.18.44"), Some((6, 18)));
        assert_eq!(version("5.10.0-21-amd64"), Some((5, 10)));
        assert_eq!(version("6.9-rc1"), Some((6, 9)));
        for odd in ["", "x", "6", "6.", ".", "99999999999.1"] {
            assert_eq!(version(odd), None, "{odd}");
        }
    }

    #[test]
    fn parses_lists_of_cpus() {
        assert_eq!(cpu_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(cpu_list("3,1,1"), [1, 3]);
        for text in ["", "x", "3-1", "0-4294967295", "1,,2", "-"] {
            assert!(cpu_list(text).is_empty(), "{text}");
        }
    }
}

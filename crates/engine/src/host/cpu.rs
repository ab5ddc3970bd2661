//! The CPUs: model, topology, and the duration of a cycle.

use std::collections::BTreeSet;

use super::groups;
use super::root::Root;
use crate::facts::{Cpu, clean, cpu_list};

/// (name in /proc/cpuinfo, name of the instruction set)
const SIMD: &[(&str, &str)] = &[
    ("avx512f", "avx512f"),
    ("avx2", "avx2"),
    ("sse2", "sse2"),
    ("asimd", "neon"),
    ("neon", "neon"),
];
const TSC: &[&str] = &["constant_tsc", "nonstop_tsc", "tsc_reliable", "tsc_known_freq"];
const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn read(root: &Root, info: &CpuInfo) -> Cpu {
    let online = online(root, info);
    let flags = info.flags();
    let (cores, sockets) = topology(root, &online);
    let count = u32::try_from(online.len()).unwrap_or(u32::MAX);
    let cores = if cores == 0 { count } else { cores };
    let (cycle_nanos, cycle_source) = read_cycle(root, info);
    Cpu {
        model: model(root, info),
        vendor: info
            .get("vendor_id")
            .or_else(|| info.get("CPU implementer").map(|code| implementer(&code)))
            .unwrap_or_default(),
        online: count,
        allowed: count_allowed(root).unwrap_or(count),
        quota: groups::cpus(root),
        cores,
        sockets: sockets.max(1),
        smt: root
            .number::<u8>(&format!("{CPUS}/smt/active"))
            .map(|n| n == 1)
            .or(Some(cores < count)),
        mhz: mhz(root, info),
        cycle_nanos,
        cycle_source: cycle_source.into(),
        governor: root.line(&format!("{CPUS}/cpu0/cpufreq/scaling_governor")),
        simd: names(SIMD.iter().filter(|(flag, _)| flags.contains(flag)).map(|(_, name)| *name)),
        tsc: names(TSC.iter().copied().filter(|flag| flags.contains(flag))),
    }
}

/// Collects the names without adjacent duplicates.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut list: Vec<String> = names.map(String::from).collect();
    list.dedup();
    list
}

fn online(root: &Root, info: &CpuInfo) -> Vec<u32> {
    let listed =
        root.line(&format!("{CPUS}/online")).map(|list| cpu_list(&list)).unwrap_or_default();
    if listed.is_empty() { (0..info.processors.max(1) as u32).collect() } else { listed }
}

fn count_allowed(root: &Root) -> Option<u32> {
    let status = root.text("/proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    u32::try_from(cpu_list(list).len()).ok().filter(|count| *count > 0)
}

/// Returns the numbers of cores and sockets; 0 if the kernel does not report them.
fn topology(root: &Root, online: &[u32]) -> (u32, u32) {
    let mut cores = BTreeSet::new();
    let mut sockets = BTreeSet::new();
    for cpu in online {
        let topology = |name: &str| root.line(&format!("{CPUS}/cpu{cpu}/topology/{name}"));
        cores.extend(topology("thread_siblings_list"));
        sockets.extend(topology("physical_package_id"));
    }
    (cores.len() as u32, sockets.len() as u32)
}

fn mhz(root: &Root, info: &CpuInfo) -> Option<f64> {
    let khz = root
        .number::<f64>(&format!("{CPUS}/cpu0/cpufreq/scaling_cur_freq"))
        .filter(|khz| khz.is_finite() && *khz > 0.0);
    khz.map(|khz| khz / 1000.0).or_else(|| info.number("cpu MHz"))
}

fn model(root: &Root, info: &CpuInfo) -> String {
    let arm = || {
        info.get("CPU part")
            .map(|code| part(&info.get("CPU implementer").unwrap_or_default(), &code))
    };
    info.get("model name")
        .or_else(arm)
        .or_else(|| root.line("/proc/device-tree/model"))
        .unwrap_or_default()
}

/// Returns the vendor for a MIDR implementer code (Arm Architecture Reference Manual, MIDR_EL1).
fn implementer(code: &str) -> String {
    match code {
        "0x41" => "ARM",
        "0x42" => "Broadcom",
        "0x43" => "Cavium",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x61" => "Apple",
        "0xc0" => "Ampere",
        other => other,
    }
    .to_string()
}

/// Returns the core name for a part number; an unknown part is named by its number.
fn part(by: &str, code: &str) -> String {
    let name = match (by, code) {
        ("0x41", "0xd03") => "Cortex-A53",
        ("0x41", "0xd05") => "Cortex-A55",
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd49") => "Neoverse-N2",
        ("0x41", "0xd4f") => "Neoverse-V2",
        ("0x41", "0xd84") => "Neoverse-V3",
        ("0x41", "0xd8e") => "Neoverse-N3",
        ("0xc0", "0xac3") => "Ampere-1",
        _ => return format!("{} part {code}", implementer(by)),
    };
    name.to_string()
}

/// The paragraph of the first CPU in /proc/cpuinfo, and the number of CPUs.
pub(super) struct CpuInfo {
    fields: Vec<(String, String)>,
    pub processors: usize,
}

impl CpuInfo {
    pub(super) fn read(root: &Root) -> CpuInfo {
        CpuInfo::parse(&root.text("/proc/cpuinfo").unwrap_or_default())
    }

    pub(super) fn parse(text: &str) -> CpuInfo {
        let processors = text.lines().filter(|line| line.starts_with("processor")).count();
        fn pair(line: &str) -> Option<(String, String)> {
            line.split_once(':')
                .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
        }
        let fields = text
            .trim_start()
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .filter_map(pair)
            .collect();
        CpuInfo { fields, processors }
    }

    fn raw(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(known, value)| known.eq_ignore_ascii_case(name) && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.raw(name).map(clean)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.raw(name)?.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
    }

    /// Returns the CPU flags: `flags` on x86, `Features` on Arm.
    pub(super) fn flags(&self) -> BTreeSet<&str> {
        self.raw("flags")
            .or_else(|| self.raw("features"))
            .unwrap_or_default()
            .split_ascii_whitespace()
            .collect()
    }
}

/// Plausible frequencies, 1 MHz to 20 GHz, in kHz.
const PLAUSIBLE_KHZ: std::ops::RangeInclusive<f64> = 1e3..=2e7;

/// Reads the duration of a cycle, and its source: from cpufreq's maximum (the speed of a busy CPU),
/// else from /proc/cpuinfo, the time-stamp counter or the device tree.
fn read_cycle(root: &Root, info: &CpuInfo) -> (Option<f64>, &'static str) {
    let first = "/sys/devices/system/cpu/cpu0";
    let sources = [
        (root.number::<f64>(&format!("{first}/cpufreq/cpuinfo_max_freq")), "cpufreq maximum"),
        (info.number("cpu MHz").map(|mhz| mhz * 1e3), "cpuinfo MHz"),
        (root.number::<f64>(&format!("{first}/tsc_freq_khz")), "time-stamp counter"),
        (tsc_khz(info), "time-stamp counter (bogomips / 2)"),
        (device_tree_khz(root), "device tree"),
    ];
    for (khz, source) in sources {
        if let Some(khz) = khz.filter(|khz| PLAUSIBLE_KHZ.contains(khz)) {
            return (Some(1e6 / khz), source);
        }
    }
    (None, "unknown")
}

/// Derives the frequency of the time-stamp counter from bogomips, which is twice its MHz on x86;
/// elsewhere bogomips counts something else.
fn tsc_khz(info: &CpuInfo) -> Option<f64> {
    if !info.flags().contains("tsc") {
        return None;
    }
    Some(info.number("bogomips")? * 500.0)
}

/// Reads `clock-frequency`, a big-endian word in Hz.
fn device_tree_khz(root: &Root) -> Option<f64> {
    let bytes = std::fs::read(root.path("/proc/device-tree/cpus/cpu@0/clock-frequency")).ok()?;
    let hertz = u32::from_be_bytes(bytes.try_into().ok()?);
    Some(f64::from(hertz) / 1e3)
}

#[cfg(test)]
mod tests;

//! The duration of one CPU cycle, from the best available source.

use super::cpu_info::Info;
use super::root::Root;

/// The duration of a cycle and its source.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Cycle {
    pub nanos: Option<f64>,
    pub source: String,
}

/// Plausible frequencies, 1 MHz to 20 GHz, in kHz.
const PLAUSIBLE_KHZ: std::ops::RangeInclusive<f64> = 1e3..=2e7;

/// Reads the cycle time from cpufreq's maximum (the speed of a busy CPU), else from /proc/cpuinfo,
/// the time-stamp counter or the device tree.
pub(super) fn read(root: &Root, info: &Info) -> Cycle {
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
            return Cycle { nanos: Some(1e6 / khz), source: source.into() };
        }
    }
    Cycle { nanos: None, source: "unknown".into() }
}

/// Derives the frequency of the time-stamp counter from bogomips, which is twice its MHz on x86;
/// elsewhere bogomips counts something else.
fn tsc_khz(info: &Info) -> Option<f64> {
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
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    fn cycle(files: &[(&str, &str)]) -> Cycle {
        let root = Tree::new(files);
        read(&root.root(), &Info::read(&root.root()))
    }

    #[test]
    fn the_best_source_wins() {
        let info = ("proc/cpuinfo", "flags : fpu tsc\ncpu MHz : 2000.0\nbogomips : 5000.0\n");
        let max = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n");
        assert_eq!(
            cycle(&[max, info]),
            Cycle { nanos: Some(0.25), source: "cpufreq maximum".into() }
        );
        assert_eq!(cycle(&[info]), Cycle { nanos: Some(0.5), source: "cpuinfo MHz".into() });
        let only = ("proc/cpuinfo", "flags : fpu tsc\nbogomips : 5000.0\n");
        assert_eq!(cycle(&[only]).nanos, Some(0.4));
        assert_eq!(
            cycle(&[("proc/cpuinfo", "bogomips : 50.00\nFeatures : fp asimd\n")]).nanos,
            None
        );
    }

    #[test]
    fn the_device_tree_is_binary() {
        let tree = Tree::new(&[]);
        tree.write("proc/device-tree/cpus/cpu@0/clock-frequency", &1_500_000_000u32.to_be_bytes());
        let cycle = read(&tree.root(), &Info::read(&tree.root()));
        assert!(cycle.nanos.is_some_and(|nanos| (nanos - 0.6667).abs() < 1e-3), "{cycle:?}");
    }

    #[test]
    fn invalid_values_are_unknown() {
        for text in ["0", "-1", "inf", "NaN", "1e300", "", "x"] {
            let file = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text);
            assert_eq!(cycle(&[file, ("proc/cpuinfo", "cpu MHz : 0\n")]).nanos, None, "{text}");
        }
    }
}

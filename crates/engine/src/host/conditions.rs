//! Current conditions that may disturb a measurement. They are not properties of the machine: they
//! differ from session to session.

use super::root::Root;
use crate::facts::{Conditions, clean};
use crate::sys::usage;

pub(super) fn read(root: &Root) -> Conditions {
    let load = root
        .line("/proc/loadavg")
        .and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Conditions {
        io_pressure: io_pressure(root),
        load: load.filter(|load: &f64| load.is_finite() && *load >= 0.0),
        steal: steal(&root.text("/proc/stat").unwrap_or_default()),
        raid_busy: parse_raid_progress(&root.text("/proc/mdstat").unwrap_or_default()),
        on_battery: on_battery(root),
    }
}

/// Returns the share of the last ten seconds in which tasks waited for I/O.
fn io_pressure(root: &Root) -> Option<f64> {
    let percent: f64 = usage::pressure(&root.text("/proc/pressure/io")?, "avg10=")?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Returns the share of steal time since the machine started.
fn steal(stat: &str) -> Option<f64> {
    let ticks = usage::cpu_ticks(stat);
    let all: f64 = ticks.iter().map(|n| *n as f64).sum();
    ticks.get(usage::STEAL).filter(|_| all > 0.0).map(|steal| *steal as f64 / all)
}

/// Extracts lines such as `      [>....]  resync =  4.3% (45/1000) finish=9.9min speed=1K/sec`,
/// without the bar.
fn parse_raid_progress(mdstat: &str) -> Vec<String> {
    const TASKS: [&str; 4] = ["resync =", "recovery =", "reshape =", "check ="];
    mdstat
        .lines()
        .filter(|line| TASKS.iter().any(|task| line.contains(task)))
        .map(|line| clean(line.split_once(']').map_or(line, |(_, rest)| rest)))
        .take(16)
        .collect()
}

fn on_battery(root: &Root) -> Option<bool> {
    const FOLDER: &str = "/sys/class/power_supply";
    let mut battery = None;
    for supply in root.names(FOLDER) {
        let line = |name: &str| root.line(&format!("{FOLDER}/{supply}/{name}")).unwrap_or_default();
        match line("type").as_str() {
            "Mains" | "USB" if line("online") == "1" => return Some(false),
            // The battery of a mouse or headset has the scope Device.
            "Battery" if line("scope") != "Device" => {
                battery = Some(battery.unwrap_or(false) || line("status") == "Discharging");
            }
            _ => {}
        }
    }
    battery
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn reads_captured_files() {
        let tree = Tree::new(&[
            (
                "proc/pressure/io",
                "some avg10=2.50 avg60=0.08 avg300=0.11 total=2846961\n\
                 full avg10=9.00 avg60=0 avg300=0 total=1\n",
            ),
            ("proc/loadavg", "1.21 0.75 0.38 3/102 15242\n"),
            ("proc/stat", "cpu  50 0 30 10 0 0 0 10 5 0\ncpu0 1 2 3\n"),
            (
                "proc/mdstat",
                concat!(
                    "md0 : active raid1 sdb1[1] sda1[0]\n      1000 blocks [2/2] [UU]\n",
                    "      [>....]  resync =  4.3% (45/1000) finish=9min\n"
                ),
            ),
            ("sys/class/power_supply/BAT0/type", "Battery\n"),
            ("sys/class/power_supply/BAT0/status", "Discharging\n"),
            ("sys/class/power_supply/AC/type", "Mains\n"),
            ("sys/class/power_supply/AC/online", "0\n"),
        ]);
        let now = read(&tree.root());
        assert_eq!(
            (now.io_pressure, now.load, now.steal, now.on_battery),
            (Some(0.025), Some(1.21), Some(0.1), Some(true))
        );
        assert_eq!(now.raid_busy, ["resync =  4.3% (45/1000) finish=9min"]);
        tree.write("sys/class/power_supply/AC/online", b"1\n");
        assert_eq!(read(&tree.root()).on_battery, Some(false));
    }

    #[test]
    fn ignores_the_battery_of_a_mouse() {
        let tree = Tree::new(&[
            ("sys/class/power_supply/mouse/type", "Battery"),
            ("sys/class/power_supply/mouse/scope", "Device"),
            ("sys/class/power_supply/mouse/status", "Discharging"),
        ]);
        assert_eq!(read(&tree.root()).on_battery, None);
    }

    #[test]
    fn invalid_values_are_unknown() {
        for text in [
            "",
            "some",
            "some avg10=x",
            "some avg10=-1",
            "some avg10=NaN",
            "cpu ",
            "cpu 1 2",
            "cpu  0 0 0 0 0 0 0 0",
            "\u{fffd}",
        ] {
            let tree = Tree::new(&[
                ("proc/pressure/io", text),
                ("proc/stat", text),
                ("proc/loadavg", text),
                ("proc/mdstat", text),
            ]);
            assert_eq!(read(&tree.root()), Conditions::default(), "{text}");
        }
    }
}

//! State that may change around a trial: limits of control groups, their bytes and waits, memory
//! that waits to be written, temperatures.

use std::collections::BTreeMap;

use super::drive::{Drive, DriveState};
use super::groups::Groups;
use super::root::Root;
use crate::facts::BlockDevice;
use crate::record::Dirty;
use crate::sys::fd;
use crate::text::clean_text;

/// Other control groups whose bytes are read, and how deep they are nested.
const MAX_GROUPS: usize = 64;
const MAX_DEPTH: usize = 3;
/// CPUs whose counters of throttling are read.
const MAX_CPUS: usize = 32;
/// The files with limits for disks; without a hierarchy in version 1.
const LIMITS: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// Where to read it, found once.
#[derive(Debug)]
pub struct Places {
    root: Root,
    /// `254:0`.
    devices: Vec<String>,
    /// Folder and name of each own control group of version 2, the innermost first.
    own: Vec<(String, String)>,
    /// The own control group of version 1.
    own_of_version_1: Option<(String, String)>,
    /// Name and file of each sensor.
    sensors: Vec<(String, String)>,
    throttles: Vec<String>,
    drives: Vec<Drive>,
}

/// The state at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// The limits for the target's devices, and their warnings, by their names: `io.max of
    /// /system.slice`.
    pub limits: BTreeMap<String, String>,
    pub dirty: Option<Dirty>,
    /// The name of the hottest sensor, and degrees Celsius.
    pub heat: Option<(String, i64)>,
    pub throttled: u64,
    /// Nanoseconds in which something in the own control group waited for I/O.
    pub stalled: Option<u64>,
    /// Bytes read and written on the target's devices by other control groups.
    pub groups: BTreeMap<String, [u64; 2]>,
    /// The NVMe disks of the target that may be asked.
    pub drives: BTreeMap<String, DriveState>,
}

impl Places {
    /// Finds what describes these devices and this process.
    pub fn find(root: Root, devices: &[BlockDevice]) -> Places {
        let numbered = devices.iter().filter(|of| (of.major, of.minor) != (0, 0));
        let devices_below = numbered.map(|of| format!("{}:{}", of.major, of.minor)).collect();
        let groups = Groups::of_process(&root);
        let base = |of: &[String]| of.iter().map(String::len).min().unwrap_or(0);
        let named = |all: Vec<String>| {
            // The last folder is the root of the mount.
            let start = base(&all);
            let name = |folder: &String| clean_text(&format!("/{}", &folder[start..]));
            all.iter().map(|folder| (folder.clone(), name(folder))).collect::<Vec<_>>()
        };
        let own = named(groups.folders(""));
        let own_of_version_1 = named(groups.folders("blkio")).into_iter().next();
        let sensors = devices.iter().flat_map(|of| find_sensors(&root, &of.name)).collect();
        let throttles = find_throttles(&root);
        let drives = devices.iter().filter_map(|of| Drive::open(&root, of)?.ok()).collect();
        Places { devices: devices_below, own, own_of_version_1, sensors, throttles, drives, root }
    }

    /// Reads the state of now.
    pub fn read(&self) -> State {
        let heat = self
            .sensors
            .iter()
            .filter_map(|(name, path)| Some((name.clone(), self.root.number::<i64>(path)? / 1000)));
        let counts = self.throttles.iter().filter_map(|path| self.root.number::<u64>(path));
        let drives = self.drives.iter().map(|drive| (clean_text(&drive.name), drive.read()));
        let drives: BTreeMap<_, _> = drives.collect();
        let mut limits = self.limits();
        limits.extend(drives.iter().filter_map(|(name, drive)| drive.warning(name)));
        let of_drive = |(name, drive): (&String, &DriveState)| {
            Some((name.clone(), drive.health.as_ref()?.celsius?))
        };
        let heat = heat.chain(drives.iter().filter_map(of_drive));
        State {
            limits,
            dirty: self.dirty(),
            heat: heat.max_by_key(|(_, celsius)| *celsius),
            throttled: counts.fold(0, u64::saturating_add),
            stalled: self.stalled(),
            groups: self.groups(),
            drives,
        }
    }

    /// Returns the rest of each line of a file that is about the target's devices.
    fn rows(&self, path: &str) -> Option<Vec<String>> {
        let text = self.root.text(path)?;
        let rows = text.lines().take(4096).filter_map(|line| {
            let (device, rest) = line.trim().split_once(' ')?;
            self.devices.iter().any(|of| of == device).then(|| clean_text(rest.trim()))
        });
        Some(rows.collect())
    }

    fn limits(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for (folder, name) in &self.own {
            let Some(rows) = self.rows(&format!("{folder}/io.max")) else { continue };
            let words = rows.iter().flat_map(|row| row.split_whitespace());
            let set: Vec<&str> = words.filter(|word| !word.ends_with("=max")).collect();
            let set = if set.is_empty() { "max".into() } else { set.join(" ") };
            found.insert(format!("io.max of {name}"), set);
        }
        if let Some((folder, name)) = &self.own_of_version_1 {
            for file in LIMITS {
                let Some(rows) = self.rows(&format!("{folder}/{file}")) else { continue };
                let set = if rows.is_empty() { "none".into() } else { rows.join(" ") };
                found.insert(format!("{file} of {name}"), set);
            }
        }
        found
    }

    /// Returns the memory that waits to be written, and how much holds writers back: the kernel
    /// lets them run up to half way between its background and its foreground threshold.
    fn dirty(&self) -> Option<Dirty> {
        let memory = self.root.text("/proc/meminfo")?;
        let counts = self.root.text("/proc/vmstat")?;
        let kib = |key: &str| number_of(&memory, key)?.checked_mul(1024);
        let pages = |key: &str| number_of(&counts, key)?.checked_mul(fd::page_size());
        let limit = pages("nr_dirty_threshold")?;
        let background = pages("nr_dirty_background_threshold")?.min(limit);
        Some(Dirty {
            bytes: kib("Dirty:")?.saturating_add(kib("Writeback:")?),
            limit: background + (limit - background) / 2,
        })
    }

    fn stalled(&self) -> Option<u64> {
        let (folder, _) = self.own.first()?;
        let text = self.root.text(&format!("{folder}/io.pressure"))?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let total = some.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
        total.parse::<u64>().ok()?.checked_mul(1000)
    }

    /// Returns the bytes of control groups that this process is not in.
    fn groups(&self) -> BTreeMap<String, [u64; 2]> {
        let Some((base, _)) = self.own.last() else { return BTreeMap::new() };
        let mut found = BTreeMap::new();
        let mut folders = vec![(base.trim_end_matches('/').to_string(), String::new(), 0)];
        let mut seen = 0;
        while let Some((folder, name, depth)) = folders.pop() {
            for child in self.root.names(&folder) {
                let (path, name) = (format!("{folder}/{child}"), format!("{name}/{child}"));
                let Some(text) = self.root.text(&format!("{path}/io.stat")) else { continue };
                seen += 1;
                if seen > MAX_GROUPS {
                    return found;
                }
                let is_own = self.own.iter().any(|(_, own)| *own == name);
                if !is_own && let Some(bytes) = self.bytes_in(&text) {
                    found.insert(clean_text(&name), bytes);
                }
                if depth + 1 < MAX_DEPTH {
                    folders.push((path, name, depth + 1));
                }
            }
        }
        found
    }

    /// Returns the bytes read and written on the target's devices: `8:0 rbytes=1 wbytes=2 ..`.
    fn bytes_in(&self, text: &str) -> Option<[u64; 2]> {
        let words = text.lines().find_map(|line| {
            let (device, rest) = line.split_once(' ')?;
            self.devices.iter().any(|of| of == device).then_some(rest)
        })?;
        let of = |key: &str| {
            words.split_whitespace().find_map(|word| word.strip_prefix(key)?.parse().ok())
        };
        Some([of("rbytes=").unwrap_or(0), of("wbytes=").unwrap_or(0)])
    }
}

/// Returns the number after a key at the start of a line.
fn number_of(text: &str, key: &str) -> Option<u64> {
    let mut words = text.lines().map(str::split_whitespace);
    words.find_map(|mut words| if words.next()? == key { words.next()?.parse().ok() } else { None })
}

/// Returns the sensors of a device, by its own driver, NVMe or drivetemp.
fn find_sensors(root: &Root, device: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["device", "device/hwmon", "device/device/hwmon"] {
        let folder = format!("/sys/block/{device}/{folder}");
        for name in root.names(&folder).iter().filter(|name| name.starts_with("hwmon")) {
            let inputs = root.names(&format!("{folder}/{name}"));
            let is_input = |file: &&String| file.starts_with("temp") && file.ends_with("_input");
            found.extend(
                inputs
                    .iter()
                    .filter(is_input)
                    .map(|file| (clean_text(device), format!("{folder}/{name}/{file}"))),
            );
        }
    }
    found
}

/// Returns the files that count how often CPUs were throttled for their heat.
fn find_throttles(root: &Root) -> Vec<String> {
    const CPUS: &str = "/sys/devices/system/cpu";
    let is_cpu = |name: &&String| {
        let number = name.strip_prefix("cpu");
        number.is_some_and(|of| !of.is_empty() && of.bytes().all(|c| c.is_ascii_digit()))
    };
    let names = root.names(CPUS);
    let cpus = names.iter().filter(is_cpu).take(MAX_CPUS);
    let files = cpus.map(|cpu| format!("{CPUS}/{cpu}/thermal_throttle/core_throttle_count"));
    files.filter(|path| root.exists(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    fn disk() -> BlockDevice {
        serde_json::from_value(serde_json::json!({
            "name": "nvme0n1", "kind": "disk", "major": 259, "minor": 0, "depth": 0
        }))
        .unwrap()
    }

    fn places(tree: &Tree) -> Places {
        Places::find(tree.root(), &[disk()])
    }

    #[test]
    fn limits_of_all_ancestors_are_read() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "0::/system.slice/db.service\n"),
            ("sys/fs/cgroup/system.slice/db.service/io.max", ""),
            (
                "sys/fs/cgroup/system.slice/io.max",
                "8:0 rbps=1 wbps=max riops=max wiops=max\n\
                 259:0 rbps=max wbps=33554432 riops=max wiops=7\n",
            ),
        ]);
        let of = |name: &str, set: &str| (name.to_string(), set.to_string());
        let expected = [
            of("io.max of /system.slice", "wbps=33554432 wiops=7"),
            of("io.max of /system.slice/db.service", "max"),
        ];
        assert_eq!(places(&tree).read().limits, BTreeMap::from(expected));
    }

    #[test]
    fn version_1_has_the_own_group() {
        const FILE: &str = "blkio.throttle.write_bps_device";
        let path = format!("sys/fs/cgroup/blkio/job/{FILE}");
        let tree = Tree::new(&[("proc/self/cgroup", "4:blkio:/job\n"), (&path, "259:0 500\n")]);
        let places = places(&tree);
        let set = |places: &Places| places.read().limits.get(&format!("{FILE} of /job")).cloned();
        assert_eq!(set(&places).as_deref(), Some("500"));
        tree.write(&path, b"");
        assert_eq!(set(&places).as_deref(), Some("none"));
    }

    #[test]
    fn other_groups_have_bytes() {
        let stat = |read, written| format!("259:0 rbytes={read} wbytes={written} rios=1 wios=1\n");
        let tree = Tree::new(&[
            ("proc/self/cgroup", "0::/user.slice/own\n"),
            ("sys/fs/cgroup/user.slice/own/io.stat", &stat(1, 1)),
            ("sys/fs/cgroup/user.slice/own/io.pressure", "some avg10=0.00 total=5\nfull total=1\n"),
            ("sys/fs/cgroup/user.slice/io.stat", &stat(3, 3)),
            ("sys/fs/cgroup/user.slice/other/io.stat", &stat(2, 2)),
            ("sys/fs/cgroup/docker/io.stat", &stat(7, 8)),
            ("sys/fs/cgroup/docker/ab12/io.stat", &stat(7, 8)),
            ("sys/fs/cgroup/idle/io.stat", "8:0 rbytes=9 wbytes=9\n"),
        ]);
        let state = places(&tree).read();
        let of = |name: &str, bytes| (name.to_string(), bytes);
        let expected =
            [of("/docker", [7, 8]), of("/docker/ab12", [7, 8]), of("/user.slice/other", [2, 2])];
        assert_eq!(state.groups, BTreeMap::from(expected));
        assert_eq!(state.stalled, Some(5000));
    }

    #[test]
    fn dirty_memory_and_heat_are_read() {
        const CORE: &str = "thermal_throttle/core_throttle_count";
        let tree = Tree::new(&[
            ("proc/meminfo", "MemTotal: 9 kB\nDirty:  2048 kB\nWriteback:  1024 kB\n"),
            (
                "proc/vmstat",
                "nr_dirty 7\nnr_dirty_threshold 300\nnr_dirty_background_threshold 100\n",
            ),
            ("sys/block/nvme0n1/device/hwmon3/temp1_input", "71850\n"),
            ("sys/block/nvme0n1/device/hwmon3/temp2_input", "40850\n"),
            ("sys/block/nvme0n1/device/hwmon3/temp1_max", "99850\n"),
            (&format!("sys/devices/system/cpu/cpu0/{CORE}"), "3\n"),
            (&format!("sys/devices/system/cpu/cpu1/{CORE}"), "4\n"),
            (&format!("sys/devices/system/cpu/cpufreq/{CORE}"), "4\n"),
        ]);
        let state = places(&tree).read();
        let limit = 200 * fd::page_size();
        assert_eq!(state.dirty, Some(Dirty { bytes: 3 << 20, limit }));
        assert_eq!((state.heat, state.throttled), (Some(("nvme0n1".into(), 71)), 7));
        let drive = Tree::new(&[("sys/block/nvme0n1/device/hwmon/hwmon0/temp1_input", "30000")]);
        assert_eq!(places(&drive).read().heat, Some(("nvme0n1".into(), 30)));
    }

    #[test]
    fn nothing_readable_is_unknown() {
        assert_eq!(places(&Tree::new(&[])).read(), State::default());
        let tree = Tree::new(&[
            ("proc/self/cgroup", "0::/../x\n"),
            ("proc/meminfo", "Dirty: -1 kB"),
            ("proc/vmstat", "nr_dirty_threshold\n"),
            ("sys/block/nvme0n1/device/hwmon3/temp1_input", "hot"),
        ]);
        assert_eq!(places(&tree).read(), State::default());
    }
}

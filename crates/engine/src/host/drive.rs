//! The counters of an NVMe disk: its SMART log and, for volumes of Amazon EC2, the time in which
//! demand was over a limit.

use std::fs::File;
use std::io;

use super::root::Root;
use crate::facts::{BlockDevice, DeviceKind, DriveHealth};
use crate::record::DriveCounter;
use crate::sys::nvme::read_log;

/// NVM Express base specification, SMART / Health Information: for the whole disk.
const SMART_PAGE: u8 = 0x02;
const WHOLE_DISK: u32 = u32::MAX;
/// Data is counted in thousands of 512 bytes.
const DATA_UNIT: u128 = 512_000;
const ZERO_CELSIUS: i64 = 273;
/// The bits of the critical warning.
const WARNINGS: [&str; 6] = [
    "few spare blocks",
    "temperature",
    "degraded reliability",
    "read-only",
    "failed backup of volatile memory",
    "unreliable persistent memory",
];

pub const NO_WARNING: &str = "none";

/// Detailed performance statistics of Amazon EC2: the page of volumes of EBS and of local disks.
const LIMITS_PAGE: u8 = 0xd0;
const EBS: (&str, u32) = ("Amazon Elastic Block Store", 0x3c23_b510);
const LOCAL: (&str, u32) = ("Amazon EC2 NVMe Instance Storage", 0xec2c_0d7e);
/// The counters of microseconds over a limit, from this place on; local disks have the last two.
const FIRST_LIMIT: usize = 56;
const LIMITS: [DriveCounter; 4] = [
    DriveCounter::VolumeIops,
    DriveCounter::VolumeThroughput,
    DriveCounter::InstanceIops,
    DriveCounter::InstanceThroughput,
];

/// An NVMe disk that can be asked.
#[derive(Debug)]
pub(super) struct Drive {
    pub name: String,
    file: File,
    namespace: u32,
    counts_limits: bool,
}

/// The counters at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriveState {
    pub health: Option<DriveHealth>,
    /// The nanoseconds over each limit.
    pub over: Vec<(DriveCounter, u64)>,
}

impl Drive {
    /// Opens a disk; `None` if it is not NVMe.
    pub fn open(root: &Root, device: &BlockDevice) -> Option<io::Result<Drive>> {
        let BlockDevice { name, model, .. } = device;
        if device.kind != DeviceKind::Disk || !name.starts_with("nvme") {
            return None;
        }
        let is = |of: (&str, u32)| model.as_ref().is_some_and(|model| model.starts_with(of.0));
        Some(File::open(root.path(&format!("/dev/{name}"))).map(|file| Drive {
            name: name.clone(),
            file,
            namespace: root.number(&format!("/sys/block/{name}/nsid")).unwrap_or(1),
            counts_limits: is(EBS) || is(LOCAL),
        }))
    }

    fn health(&self) -> io::Result<DriveHealth> {
        let mut page = [0; 512];
        read_log(&self.file, SMART_PAGE, WHOLE_DISK, &mut page).map(|()| health_of(&page))
    }

    pub fn read(&self) -> DriveState {
        let mut page = [0; 4096];
        let has_limits = self.counts_limits
            && read_log(&self.file, LIMITS_PAGE, self.namespace, &mut page).is_ok();
        DriveState {
            health: self.health().ok(),
            over: if has_limits { over_limits(&page) } else { Vec::new() },
        }
    }
}

impl DriveState {
    /// Returns the warnings that are set, `none` without any, with a name.
    pub fn warning(&self, name: &str) -> Option<(String, String)> {
        let set = self.health.as_ref()?.warnings.join(", ");
        let set = if set.is_empty() { NO_WARNING.into() } else { set };
        Some((format!("critical warning of {name}"), set))
    }
}

/// Adds the health that the NVMe disks among these report, or why it is unknown.
pub fn add_health(devices: &mut [BlockDevice]) {
    for device in devices {
        let Some(drive) = Drive::open(&Root::system(), device) else { continue };
        match drive.and_then(|drive| drive.health()) {
            Ok(health) => device.health = Some(health),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                device.health_error = Some("needs root (CAP_SYS_ADMIN)".into());
            }
            Err(error) => device.health_error = Some(error.to_string()),
        }
    }
}

/// Returns the number of `N` bytes, little-endian; 0 beyond the end.
fn number<const N: usize>(page: &[u8], at: usize) -> u128 {
    let bytes = page.get(at..at + N).unwrap_or_default();
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

fn clamped(number: u128) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// Reads a SMART log.
fn health_of(page: &[u8]) -> DriveHealth {
    let kelvin = number::<2>(page, 1) as i64;
    let sum = |at| clamped(number::<4>(page, at) + number::<4>(page, at + 4));
    let bits = number::<1>(page, 0);
    let is_set = |bit: &usize| bits >> bit & 1 == 1;
    DriveHealth {
        warnings: (0..WARNINGS.len()).filter(is_set).map(|bit| WARNINGS[bit].into()).collect(),
        celsius: (kelvin > 0).then_some(kelvin - ZERO_CELSIUS),
        spare: number::<1>(page, 3) as u8,
        used: number::<1>(page, 5) as u8,
        read: clamped(number::<16>(page, 32).saturating_mul(DATA_UNIT)),
        written: clamped(number::<16>(page, 48).saturating_mul(DATA_UNIT)),
        media_errors: clamped(number::<16>(page, 160)),
        warm_minutes: clamped(number::<4>(page, 192)),
        hot_minutes: clamped(number::<4>(page, 196)),
        // Two temperatures at which the host lets it slow down.
        throttled: sum(216),
        throttled_seconds: sum(224),
    }
}

/// Reads the statistics of a volume or disk of Amazon EC2; nothing from other pages.
fn over_limits(page: &[u8]) -> Vec<(DriveCounter, u64)> {
    let kind = number::<4>(page, 0) as u32;
    let known = match kind {
        _ if kind == EBS.1 => &LIMITS[..],
        _ if kind == LOCAL.1 => &LIMITS[2..],
        _ => &[],
    };
    let place = |of: &DriveCounter| FIRST_LIMIT + 8 * (*of as usize);
    let nanos = |of| clamped(number::<8>(page, place(of)) * 1000);
    known.iter().map(|of| (*of, nanos(of))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
        page[at..at + bytes.len()].copy_from_slice(bytes);
    }

    #[test]
    fn logs_have_what_tools_print() {
        // The start of a captured page (nvme-cli, issue 2759), without what follows.
        let mut page = [0; 512];
        put(&mut page, 0, &[0, 0x38, 0x01, 0x64, 0x0a, 0x01]);
        put(&mut page, 32, &[0x3a, 0xbc, 0x28, 0x08]);
        put(&mut page, 48, &[0xc4, 0xfc, 0x4c, 0x03]);
        let health = health_of(&page);
        assert_eq!((health.celsius, health.spare, health.used), (Some(39), 100, 1));
        assert_eq!((health.read, health.written), (136_887_354 * 512_000, 55_377_092 * 512_000));
        // All that is not 0 in the page of an emulated disk (QEMU 7.2).
        let mut emulated = [0; 512];
        put(&mut emulated, 1, &[0x43, 0x01]);
        for (at, byte) in [(32, 0x01), (48, 0x11), (64, 0x0b), (80, 0x14)] {
            put(&mut emulated, at, &[byte]);
        }
        let (celsius, read, written) = (Some(50), 512_000, 17 * 512_000);
        let expected = DriveHealth { celsius, read, written, ..DriveHealth::default() };
        assert_eq!(health_of(&emulated), expected);
        // Built from what smartctl printed of a disk that had been too hot.
        put(&mut page, 1, &(26u16 + 273).to_le_bytes());
        put(&mut page, 5, &[2]);
        put(&mut page, 32, &52_236_348u128.to_le_bytes());
        put(&mut page, 48, &29_947_983u128.to_le_bytes());
        put(&mut page, 192, &2u32.to_le_bytes());
        put(&mut page, 216, &8u32.to_le_bytes());
        put(&mut page, 224, &12u32.to_le_bytes());
        let expected = DriveHealth {
            celsius: Some(26),
            spare: 100,
            used: 2,
            read: 26_745_010_176_000,
            written: 15_333_367_296_000,
            warm_minutes: 2,
            throttled: 8,
            throttled_seconds: 12,
            ..DriveHealth::default()
        };
        assert_eq!(health_of(&page), expected);
    }

    #[test]
    fn each_field_has_its_place() {
        let mut page = [0; 512];
        put(&mut page, 0, &[0b0100_1001]);
        put(&mut page, 160, &7u128.to_le_bytes());
        for (at, value) in [(192, 1u32), (196, 2), (216, 3), (220, 4), (224, 50), (228, 60)] {
            put(&mut page, at, &value.to_le_bytes());
        }
        let health = health_of(&page);
        assert_eq!(health.warnings, ["few spare blocks", "read-only"]);
        assert_eq!((health.media_errors, health.celsius), (7, None));
        assert_eq!((health.warm_minutes, health.hot_minutes), (1, 2));
        assert_eq!((health.throttled, health.throttled_seconds), (7, 110));
        let full = health_of(&[0xff; 512]);
        assert_eq!((full.read, full.media_errors, full.warnings.len()), (u64::MAX, u64::MAX, 6));
        for len in 0..512 {
            health_of(&page[..len]);
            over_limits(&page[..len]);
        }
    }

    #[test]
    fn volumes_count_time_over_limits() {
        // nvme-cli, struct amzn_latency_log_page_base: microseconds.
        let mut page = [0; 4096];
        put(&mut page, 0, &0x3c23_b510_u32.to_le_bytes());
        for (at, value) in [(8, 900_000u64), (56, 31_000_000), (64, 8), (72, 9), (80, 500_000)] {
            put(&mut page, at, &value.to_le_bytes());
        }
        let volume = [
            (DriveCounter::VolumeIops, 31_000_000_000),
            (DriveCounter::VolumeThroughput, 8000),
            (DriveCounter::InstanceIops, 9000),
            (DriveCounter::InstanceThroughput, 500_000_000),
        ];
        assert_eq!(over_limits(&page), volume);
        put(&mut page, 0, &0xec2c_0d7e_u32.to_le_bytes());
        assert_eq!(over_limits(&page), volume[2..]);
        put(&mut page, 0, &[0]);
        assert_eq!(over_limits(&page), []);
    }

    #[test]
    fn other_files_have_no_state() {
        let disk = |name: &str, kind: &str| -> BlockDevice {
            serde_json::from_value(serde_json::json!({
                "name": name, "kind": kind, "major": 259, "minor": 0, "depth": 0,
                "model": "Amazon Elastic Block Store"
            }))
            .unwrap()
        };
        let tree = Tree::new(&[("dev/nvme0n1", "x"), ("sys/block/nvme0n1/nsid", "3\n")]);
        let open = |name, kind| Drive::open(&tree.root(), &disk(name, kind));
        let drive = open("nvme0n1", "disk").unwrap().unwrap();
        assert!(drive.counts_limits && drive.namespace == 3);
        assert_eq!(drive.read(), DriveState::default());
        assert!(open("nvme1n1", "disk").unwrap().is_err());
        assert!(open("nvme0n1p1", "partition").is_none() && open("sda", "disk").is_none());
    }
}

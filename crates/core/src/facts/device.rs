//! Block devices and how disks are attached.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The kind of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    Disk,
    Partition,
    /// Device mapper: LVM, encryption, multipath.
    Mapper,
    /// Software RAID.
    Raid,
    /// A file exposed as a device.
    Loop,
    /// zram, brd or null_blk.
    Memory,
    /// nbd, rbd, drbd.
    Network,
    /// Made up by a driver or a program: a ZFS volume, ublk.
    Virtual,
}

/// One block device. `None`: not reported by sysfs, or not applicable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name, e.g. `nvme0n1p2`.
    pub name: String,
    /// 0:0 for a path to a disk, which has no number.
    pub major: u64,
    pub minor: u64,
    /// 0 for the requested device, 1 for those right below it, ...
    pub depth: usize,
    pub kind: DeviceKind,
    /// Details: `raid1`, or the name and kind of a mapper device.
    pub detail: Option<String>,
    pub model: Option<String>,
    /// Bytes.
    pub size: Option<u64>,
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    pub read_ahead_kb: Option<u64>,
    /// Capacity of the request queue.
    pub nr_requests: Option<u64>,
    /// Smallest request, bytes.
    pub logical_block: Option<u64>,
    /// Smallest write without read-modify-write, bytes.
    pub physical_block: Option<u64>,
    /// Largest request in KiB; larger ones are split.
    pub max_sectors_kb: Option<u64>,
    /// `write back` (the device has a volatile cache) or `write through`.
    pub write_cache: Option<String>,
    /// Whether it can write through its cache, request by request (FUA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// What a SCSI or virtio disk itself says of its cache: `write back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_cache: Option<String>,
    /// Whether it counts flushes: it is a whole device with a queue of requests.
    #[serde(default)]
    pub counts_flushes: bool,
    /// Whether requests can be polled for: it has poll queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<bool>,
    pub link: Option<Link>,
    /// File of a loop device.
    pub backing_file: Option<PathBuf>,
}

/// The transport between disk and CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Pcie,
    Sata,
    Sas,
    Usb,
    Mmc,
    /// NVMe over fabrics, iSCSI: the disk is on another machine.
    Network,
    /// A virtual disk of the hypervisor: the link does not reveal the disk behind it.
    Virtio,
    Xen,
    Hyperv,
}

/// The link of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub transport: Transport,
    /// As usually written: `PCIe 4.0 x4`, `SATA 6.0 Gbps`, `USB 5000 Mbit/s`, `virtio`.
    pub text: String,
    /// Payload bytes per second after line coding, before protocol overhead (another 5 to 20 %).
    /// `None` if the speed is unknown.
    pub bytes_per_second: Option<u64>,
}

impl Link {
    pub fn new(
        transport: Transport,
        text: impl Into<String>,
        bytes_per_second: Option<u64>,
    ) -> Self {
        Self { transport, text: text.into(), bytes_per_second }
    }
}

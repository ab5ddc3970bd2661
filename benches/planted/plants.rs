//! The layers planted below the commits, whether commits are durable there, and the right verdicts.

use crate::disks::*;

/// Verdicts that are right, each with a part of the reason that it then has.
pub type Allowed = &'static [(&'static str, &'static str)];

#[derive(Clone, Copy)]
pub struct Plant {
    pub name: &'static str,
    pub disk: Disk,
    /// The script that mounts /m.
    setup: &'static str,
    /// The options of iotui there.
    pub line: &'static str,
    pub is_durable: bool,
    pub allowed: Allowed,
}

const COMMIT: &str = "-b pread -s 4k --size 1m --sync fdatasync --dir /m";
/// Replaces the model of the emulated disk with that of a real NVMe disk.
const RENAME: &str = "echo Samsung SSD 980 PRO 1TB >/name
mount -o bind /name /sys/block/$d/device/model
";

/// The host's treatment of a flush is not visible.
const VIRTUAL: Allowed = &[("unknown", "this machine is virtual (QEMU)")];
const EMULATED: Allowed = &[("unknown", "is a virtual disk (")];
const OBEYS: Allowed = &[("flushed", "times per commit"), ("unknown", "a flush takes less than")];
/// A disk that survives a power loss looks like one that ignores flushes.
const IGNORES: Allowed = &[("unknown", "either the cache survives a power loss, or the disk does")];
const THROUGH: Allowed = &[("no-cache", "is write through: "), ("unknown", "of other programs")];
const FUA: Allowed = &[("written-through", "(FUA)"), ("unknown", "a commit takes less than")];
const FUA_IGNORED: Allowed = &[("unknown", "a commit takes less than")];
const NOBARRIER: Allowed = &[("not-reached", "is mounted with nobarrier")];
const OVERRIDDEN: Allowed = &[("unknown", "the kernel was set to assume that it has no cache")];
const MEMORY: Allowed = &[("not-reached", "memory")];
const PASSES_NO_FLUSH: Allowed = &[("not-reached", "passes no flush on")];
const NO_FLUSHES: Allowed = &[("not-reached", "mounted with nobarrier, so that no commit")];
/// The page cache takes the writes that a flush would be held against.
const BELOW_FILE: Allowed = &[("unknown", "is a file, so that writes to it do not show")];
const DROPS: Allowed = &[("not-reached", "reached the disk"), ("not-reached", "flushed 0.00")];
const DROPS_BESIDE: Allowed = &[
    ("not-reached", "reached the disk"),
    ("not-reached", "times per commit"),
    ("unknown", "of other programs"),
    ("unknown", "a flush takes less than"),
];
const NO_FLUSHES_BESIDE: Allowed = &[
    ("not-reached", "nobarrier"),
    ("not-reached", "times per commit"),
    ("unknown", "of other programs"),
];
const VOLATILE: Allowed = &[("not-reached", "is mounted with volatile")];
/// The disk of an overlay is not searched for.
const OVERLAY: Allowed = &[("flushed", "times per commit"), NO_DISK];
const OVERLAY_IGNORED: Allowed = &[("unknown", "a flush takes less than"), NO_DISK];
const OVERLAY_NOBARRIER: Allowed =
    &[("not-reached", "nobarrier"), ("not-reached", "was flushed 0.00"), NO_DISK];
const OVERLAY_MEMORY: Allowed = &[("not-reached", "memory"), NO_DISK];
const NO_DISK: (&str, &str) = ("unknown", "the disk under overlay is not known");
/// Before Linux 6.5, fdatasync of a file whose metadata did not change flushes no disk.
const WITHOUT_JOURNAL: Allowed = &[
    ("not-reached", "was flushed 0.00 times per commit"),
    ("flushed", "times per commit"),
    ("unknown", "a flush takes less than"),
];
const WITHOUT_JOURNAL_IGNORED: Allowed =
    &[("not-reached", "was flushed 0.00 times per commit"), ("unknown", "a flush takes less than")];
const ELSEWHERE: Allowed = &[("unknown", "not visible here"), ("unknown", "is not known")];

const fn plant(name: &'static str, disk: Disk, allowed: Allowed) -> Plant {
    Plant { name, disk, setup: "plain", line: COMMIT, is_durable: !disk.ignores_flushes, allowed }
}

impl Plant {
    const fn setup(self, setup: &'static str) -> Plant {
        Plant { setup, ..self }
    }

    const fn line(self, line: &'static str) -> Plant {
        Plant { line, ..self }
    }

    const fn lost(self) -> Plant {
        Plant { is_durable: false, ..self }
    }

    /// Returns the script that plants it, of the functions in setup.sh.
    pub fn script(&self) -> String {
        let renames = self.disk.bus == Bus::Nvme
            && matches!(self.disk.looks, Looks::Physical | Looks::Firmware);
        format!("{}{}\n", if renames { RENAME } else { "" }, self.setup)
    }

    pub fn needs_mapper(&self) -> bool {
        self.setup.contains("mapped ")
    }
}

/// Disks: their treatment of a flush, and the evidence that they are emulated.
const DISKS: &[Plant] = &[
    plant("virtual nvme", NVME, VIRTUAL),
    plant("virtual nvme, ignores flushes", NVME.ignoring(), VIRTUAL),
    plant("virtual nvme, writes through", NVME.through(), VIRTUAL),
    plant("virtual virtio-blk", VIRTIO, VIRTUAL),
    plant("virtual virtio-blk, ignores flushes", VIRTIO.ignoring(), VIRTUAL),
    plant("virtual virtio-blk, writes through", VIRTIO.through(), VIRTUAL),
    plant("virtual ahci", AHCI, VIRTUAL),
    plant("virtual ahci, ignores flushes", AHCI.ignoring(), VIRTUAL),
    plant("virtual ahci, writes through", AHCI.through(), VIRTUAL),
    plant("virtual virtio-scsi", VIRTIO_SCSI, VIRTUAL),
    plant("virtual virtio-scsi, ignores flushes", VIRTIO_SCSI.ignoring(), VIRTUAL),
    plant("virtual virtio-scsi, writes through", VIRTIO_SCSI.through(), VIRTUAL),
    plant("nvme", NVME.physical(), OBEYS),
    plant("nvme, ignores flushes", NVME.physical().ignoring(), IGNORES),
    plant("nvme, writes through", NVME.physical().through(), OBEYS),
    plant("ahci", AHCI.physical(), OBEYS),
    plant("ahci, ignores flushes", AHCI.physical().ignoring(), IGNORES),
    plant("ahci, writes through", AHCI.physical().through(), THROUGH),
    // Such a disk is known by its own statement only.
    plant("ahci, says that it writes through", AHCI.physical().through().ignoring(), THROUGH),
    plant("scsi", SCSI.physical(), OBEYS),
    plant("scsi, ignores flushes", SCSI.physical().ignoring(), IGNORES),
    plant("scsi, writes through", SCSI.physical().through(), THROUGH),
    plant("usb", USB.physical(), OBEYS),
    plant("usb, ignores flushes", USB.physical().ignoring(), IGNORES),
    plant("usb, writes through", USB.physical().through(), THROUGH),
    plant("virtio-blk by its link", VIRTIO.looks(Looks::Hidden).ignoring(), EMULATED),
    plant("virtio-scsi by its link", VIRTIO_SCSI.looks(Looks::Hidden).ignoring(), EMULATED),
    plant("nvme by its name", NVME.looks(Looks::Hidden).ignoring(), EMULATED),
    plant("ahci by its name", AHCI.looks(Looks::Hidden).through().ignoring(), EMULATED),
    plant("sd card by its name", SD_CARD.looks(Looks::Hidden).ignoring(), EMULATED),
    plant("ahci by the firmware", AHCI.looks(Looks::Firmware).through().ignoring(), VIRTUAL),
    plant("scsi, slow", SCSI.physical().host("throttling.iops-write=500"), OBEYS),
    plant(
        "scsi, slow, ignores flushes",
        SCSI.physical().ignoring().host("throttling.iops-write=500"),
        IGNORES,
    ),
];

/// Other ways to commit to a disk.
const WAYS: &[Plant] = &[
    plant("fsync at the end of a file", AHCI.physical().ignoring(), IGNORES)
        .line("-b pread -s 4k --size 1m --sync fsync --writes append --dir /m"),
    plant("dsync", NVME.physical().ignoring(), IGNORES)
        .line("-b pread -s 4k --size 1m --sync dsync --dir /m"),
    plant("dsync by FUA", SCSI.physical().with_fua(), FUA)
        .line("-b pread -s 4k --size 1m --sync dsync --direct --dir /m"),
    plant("dsync, FUA ignored", SCSI.physical().with_fua().ignoring(), FUA_IGNORED)
        .line("-b pread -s 4k --size 1m --sync dsync --direct --dir /m"),
    plant("rwf-dsync, FUA ignored", NVME.physical().ignoring(), FUA_IGNORED)
        .line("-b preadv2 -s 4k --size 1m --sync rwf-dsync --direct --dir /m"),
    plant("eight writers", AHCI.physical(), OBEYS)
        .line("-b pread -s 4k --size 1m --sync fdatasync -t 8 --dir /m"),
    plant("eight writers, flushes ignored", NVME.physical().ignoring(), IGNORES)
        .line("-b pread -s 4k --size 1m --sync fdatasync -t 8 --dir /m"),
    plant("uring of depth 8, flushes ignored", SCSI.physical().ignoring(), IGNORES)
        .line("-b uring -s 4k --size 1m --sync fdatasync -q 8 --dir /m"),
    plant("64 writes a commit, flushes ignored", AHCI.physical().ignoring(), IGNORES)
        .line("-b pread -s 4k --size 1m --sync fdatasync --sync-every 64 --dir /m"),
    plant("msync, flushes ignored", SCSI.physical().ignoring(), IGNORES)
        .line("-b mmap -s 4k --size 1m --sync msync --dir /m"),
    plant("a new file, flushes ignored", AHCI.physical().ignoring(), IGNORES)
        .line("-b pread -s 4k --size 1m --sync fdatasync /m/new"),
];

/// File systems, and what keeps them from the disk.
const FILE_SYSTEMS: &[Plant] = &[
    plant("nobarrier", AHCI.physical(), NOBARRIER).setup("plain nobarrier").lost(),
    plant("nobarrier, virtual", VIRTIO, NOBARRIER).setup("plain nobarrier").lost(),
    plant("nobarrier, writes through", AHCI.physical().through(), THROUGH).setup("plain nobarrier"),
    plant("nobarrier, dsync by FUA", SCSI.physical().with_fua(), FUA)
        .setup("plain nobarrier")
        .line("-b pread -s 4k --size 1m --sync dsync --direct --dir /m"),
    plant("no journal, fsync", AHCI.physical(), OBEYS)
        .setup("mkfs.ext4 -q -F -O ^has_journal $D; plain")
        .line("-b pread -s 4k --size 1m --sync fsync --dir /m"),
    plant("no journal", AHCI.physical(), WITHOUT_JOURNAL)
        .setup("mkfs.ext4 -q -F -O ^has_journal $D; plain"),
    plant("no journal, flushes ignored", AHCI.physical().ignoring(), WITHOUT_JOURNAL_IGNORED)
        .setup("mkfs.ext4 -q -F -O ^has_journal $D; plain"),
    plant("tmpfs", NVME.physical(), MEMORY).setup("mount -t tmpfs none /m").lost(),
    plant("9p", NVME.physical().sharing(), ELSEWHERE)
        .setup("mount -t 9p -o trans=virtio,version=9p2000.L host /m"),
    plant("overlay", AHCI.physical(), OVERLAY).setup("under; overlay"),
    plant("overlay, flushes ignored", AHCI.physical().ignoring(), OVERLAY_IGNORED)
        .setup("under; overlay"),
    plant("overlay, volatile", AHCI.physical(), VOLATILE).setup("under; overlay ,volatile").lost(),
    plant("overlay on nobarrier", AHCI.physical(), OVERLAY_NOBARRIER)
        .setup("under nobarrier; overlay")
        .lost(),
    plant("overlay on tmpfs", AHCI.physical(), OVERLAY_MEMORY)
        .setup("mount -t tmpfs none /under; overlay")
        .lost(),
];

/// Devices above the disk, and the cache mode that the kernel assumes.
const DEVICES: &[Plant] = &[
    plant("a partition", AHCI.physical(), OBEYS).setup("divided; fresh $first /m"),
    plant("a partition, flushes ignored", NVME.physical().ignoring(), IGNORES)
        .setup("divided; fresh $first /m"),
    plant("a disk in memory", NVME.physical(), MEMORY).setup("fresh /dev/ram0 /m").lost(),
    plant("loop on tmpfs", NVME.physical(), MEMORY)
        .setup("mount -t tmpfs none /under; looped; fresh /dev/loop0 /m")
        .lost(),
    plant("loop", AHCI.physical(), BELOW_FILE).setup("under; looped; fresh /dev/loop0 /m"),
    plant("loop, flushes ignored", AHCI.physical().ignoring(), BELOW_FILE)
        .setup("under; looped; fresh /dev/loop0 /m"),
    plant("loop on nobarrier", AHCI.physical(), NO_FLUSHES)
        .setup("under nobarrier; looped; fresh /dev/loop0 /m")
        .lost(),
    plant("loop on nobarrier next to another program", AHCI.physical(), NO_FLUSHES_BESIDE)
        .setup(LOOP_BESIDE)
        .line("-b pread -s 4k --size 1m --sync fdatasync --sync-every 64 --dir /m")
        .lost(),
    plant("loop, write_cache overridden", AHCI.physical(), PASSES_NO_FLUSH)
        .setup("under; looped; override loop0; fresh /dev/loop0 /m")
        .lost(),
    plant("dm-linear", SCSI.physical(), OBEYS).setup("mapped $D linear $D 0; fresh $M /m"),
    plant("dm-linear, flushes ignored", SCSI.physical().ignoring(), IGNORES)
        .setup("mapped $D linear $D 0; fresh $M /m"),
    plant("dm-linear, write_cache overridden", SCSI.physical(), PASSES_NO_FLUSH)
        .setup("mapped $D linear $D 0; override dm-0; fresh $M /m")
        .lost(),
    plant("dm-crypt", NVME.physical(), OBEYS)
        .setup("mapped $D crypt aes-cbc-plain $KEY 0 $D 0; fresh $M /m"),
    plant("dm-crypt, flushes ignored", NVME.physical().ignoring(), IGNORES)
        .setup("mapped $D crypt aes-cbc-plain $KEY 0 $D 0; fresh $M /m"),
    plant("dm-flakey drops writes", AHCI.physical(), DROPS)
        .setup("mapped $D flakey $D 0 3600 0; fresh $M /m; dropping $D")
        .lost(),
    plant("dm-flakey next to another program", AHCI.physical(), DROPS_BESIDE)
        .setup(BESIDE)
        .line("-b pread -s 4k --size 1m --sync fdatasync --sync-every 64 --dir /m")
        .lost(),
    plant("dm-flakey next to a busy one", AHCI.physical(), DROPS_BESIDE)
        .setup(BESIDE)
        .line("-b pread -s 4k --size 1m --sync fdatasync --sync-every 256 --dir /m")
        .lost(),
    plant("dm-flakey next to it, flushes ignored", AHCI.physical().ignoring(), DROPS_BESIDE)
        .setup(BESIDE)
        .line("-b pread -s 4k --size 1m --sync fdatasync --sync-every 64 --dir /m"),
    plant("nvme, write_cache overridden", NVME.physical(), OVERRIDDEN)
        .setup("override $d; plain")
        .lost(),
    plant("ahci, write_cache overridden", AHCI.physical(), OVERRIDDEN)
        .setup("override $d; plain")
        .lost(),
    plant("usb, write_cache overridden", USB.physical(), OVERRIDDEN)
        .setup("override $d; plain")
        .lost(),
    plant("dm-linear on an overridden disk", SCSI.physical(), OVERRIDDEN)
        .setup("override $d; mapped $D linear $D 0; fresh $M /m")
        .lost(),
    plant("loop on an overridden disk", AHCI.physical(), OVERRIDDEN)
        .setup("override $d; under; looped; fresh /dev/loop0 /m")
        .lost(),
    // Only the disk itself still says that it has a cache.
    plant("scsi, cache_type overridden", SCSI.physical(), OVERRIDDEN)
        .setup("override_type; plain")
        .lost(),
];

/// Half of the disk drops writes, another program commits to the other half.
const BESIDE: &str = "divided
mapped $first flakey $first 0 3600 0
fresh $M /m
fresh $second /beside
dropping $first
neighbour /beside 1m";

/// The file of a loop device is in one half, another program commits to the other half.
const LOOP_BESIDE: &str = "divided
fresh $first /under
mount -o remount,nobarrier /under
looped
fresh /dev/loop0 /m
fresh $second /beside
neighbour /beside 4k";

/// Returns all in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Plant> {
    [DISKS, WAYS, FILE_SYSTEMS, DEVICES].into_iter().flatten()
}

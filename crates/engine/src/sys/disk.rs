//! The counters of a block device: /sys/dev/block/MAJ:MIN/stat, else /proc/diskstats.

use std::io;
use std::path::{Path, PathBuf};

use super::{block, text};

/// Sectors are 512 bytes in these files, whatever the sector size of the device.
const SECTOR: u64 = 512;

/// Counters of one block device or partition since boot (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Completed reads and writes.
    pub reads: u64,
    pub writes: u64,
    /// Bytes of completed reads and writes.
    pub read_bytes: u64,
    pub write_bytes: u64,
    /// Sum over all requests of the milliseconds that each was in flight.
    pub queue_ms: u64,
    /// Completed requests to empty the cache, and the milliseconds that they took together; `None`
    /// before Linux 5.5. 0 for partitions, and for devices without a request queue.
    pub flushes: Option<u64>,
    pub flush_ms: Option<u64>,
}

impl DiskStats {
    /// Reads the counters of one device.
    ///
    /// # Errors
    /// The errno of reading /proc/diskstats; `NotFound` if it does not list the device.
    pub fn read(major: u64, minor: u64) -> io::Result<Self> {
        if let Ok(line) = text::read(format!("/sys/dev/block/{major}:{minor}/stat"))
            && let Some(stats) = parse(line.split_ascii_whitespace())
        {
            return Ok(stats);
        }
        let table = text::read("/proc/diskstats")?;
        find(&table, major, minor).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("no block device {major}:{minor}"))
        })
    }
}

impl DiskStats {
    /// Reads the counters of a device by its kernel name; some have no number.
    ///
    /// # Errors
    /// The errno of reading its file in /sys; `InvalidData` if that has another form.
    pub fn read_named(name: &str) -> io::Result<Self> {
        let line = text::read(format!("/sys/block/{name}/stat"))?;
        parse(line.split_ascii_whitespace()).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

difference! {
    DiskStats: reads, writes, read_bytes, write_bytes, queue_ms;
    unsure: flushes, flush_ms
}

/// Returns the bytes that these devices (major, minor) read and wrote together; `None` where one
/// does not count them.
pub fn count_bytes(devices: &[(u64, u64)]) -> Option<(u64, u64)> {
    let dirs = devices.iter().map(|number| block::folder(Path::new("/sys"), *number));
    let dirs = dirs.collect::<Option<Vec<_>>>()?;
    // Paths to a disk count their traffic, and in newer kernels the disk does too.
    let paths: Vec<PathBuf> = dirs.iter().flat_map(|dir| block::below(dir)).collect();
    sum_bytes(dirs.into_iter().chain(paths))
}

/// Returns the bytes that all disks of this machine read and wrote, without devices that are made
/// of others or of memory; `None` where one does not count them.
pub fn count_all_bytes() -> Option<(u64, u64)> {
    const MADE: [&str; 5] = ["loop", "zram", "ram", "dm-", "md"];
    let disks = std::fs::read_dir("/sys/block").ok()?.flatten().filter(|entry| {
        let name = entry.file_name();
        !MADE.iter().any(|made| name.to_string_lossy().starts_with(made))
    });
    sum_bytes(disks.map(|entry| entry.path()))
}

fn sum_bytes(dirs: impl Iterator<Item = PathBuf>) -> Option<(u64, u64)> {
    dirs.map(|dir| {
        let stats = parse(text::line(dir.join("stat"))?.split_ascii_whitespace())?;
        let counts = text::line(dir.join("queue/iostats")).is_none_or(|on| on != "0");
        counts.then_some((stats.read_bytes, stats.write_bytes))
    })
    .try_fold((0u64, 0u64), |all, one| {
        let one = one?;
        Some((all.0.saturating_add(one.0), all.1.saturating_add(one.1)))
    })
}

fn since(now: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(earlier?))
}

/// Parses the 11 numbers that every kernel since 2.6 prints, and those about flushes, after four
/// about discards.
fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Option<DiskStats> {
    let mut n = [0u64; 11];
    let mut words = words;
    for slot in &mut n {
        *slot = words.next()?.parse().ok()?;
    }
    let [reads, _, read_sectors, _, writes, _, write_sectors, _, _, _, queue_ms] = n;
    let mut flush = words.skip(4).map(|word| word.parse().ok());
    let (flushes, flush_ms) = (flush.next().flatten(), flush.next().flatten());
    Some(DiskStats {
        reads,
        writes,
        read_bytes: read_sectors.saturating_mul(SECTOR),
        write_bytes: write_sectors.saturating_mul(SECTOR),
        queue_ms,
        flushes,
        flush_ms,
    })
}

fn find(table: &str, major: u64, minor: u64) -> Option<DiskStats> {
    table.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let here = (words.next()?.parse().ok(), words.next()?.parse().ok());
        words.next()?;
        if here == (Some(major), Some(minor)) { parse(words) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1167 71
 254       0 vda 7170 4018 3418922 10387 2713 19141 4965448 21780 3 4860 32558 3693 36 54856 385
   8       1 sda1 1 2 3
   8       2
x y z
";

    #[test]
    fn captured_table() {
        let want = DiskStats {
            reads: 7170,
            writes: 2713,
            read_bytes: 3418922 * 512,
            write_bytes: 4965448 * 512,
            queue_ms: 32558,
            flushes: None,
            flush_ms: None,
        };
        assert_eq!(find(TABLE, 254, 0), Some(want));
        let counted = |flushes, flush_ms| DiskStats {
            flushes: Some(flushes),
            flush_ms: Some(flush_ms),
            ..DiskStats::default()
        };
        assert_eq!(find(TABLE, 7, 0), Some(counted(0, 0)));
        assert_eq!(find(TABLE, 7, 1), Some(counted(1167, 71)));
        assert_eq!((counted(1167, 71) - counted(1000, 70)).flushes, Some(167));
        assert_eq!((counted(1167, 71) - want).flush_ms, None);
        assert_eq!(find(TABLE, 8, 1), None);
        assert_eq!(find(TABLE, 8, 2), None);
    }

    #[test]
    fn garbage_never_panics() {
        for text in
            ["", "a b c", "1 2", "1 2 3 4 5 6 7 8 9 10 -1", &format!("{} ", u64::MAX).repeat(11)]
        {
            let _ = parse(text.split_ascii_whitespace());
        }
        assert!(DiskStats::read(4095, 0xfffff).is_err());
    }
}

//! The size and state of memory, and the id of this boot.

use std::io;

use super::text;

/// The fields of /proc/meminfo, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub total: u64,
    /// What new programs can use without swapping, as estimated by the kernel.
    pub available: u64,
    /// Page cache in folios that can be mapped as one huge page (2 MiB on x86-64). `None` if the
    /// kernel does not report it.
    pub file_huge_pages: Option<u64>,
}

impl Memory {
    /// Reads the current values.
    ///
    /// # Errors
    /// The errno of reading /proc/meminfo; `InvalidData` for malformed text.
    pub fn now() -> io::Result<Self> {
        parse(&text::read("/proc/meminfo")?).ok_or_else(|| text::malformed("/proc/meminfo"))
    }
}

/// Returns a field of /proc/meminfo in bytes: `MemTotal:       49368168 kB`.
pub fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn parse(meminfo: &str) -> Option<Memory> {
    let bytes = |name| bytes_of(meminfo, name);
    Some(Memory {
        total: bytes("MemTotal")?,
        available: bytes("MemAvailable")?,
        file_huge_pages: bytes("FileHugePages"),
    })
}

/// Returns an id that changes with each boot, after which a warm cache or a device name is no
/// longer valid.
pub fn boot_id() -> Option<String> {
    text::line("/proc/sys/kernel/random/boot_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    900 kB\nDirty:  8 \
                    kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\nFileHugePages:  2048 kB\n";
        let want =
            Memory { total: 1_024_000, available: 900 << 10, file_huge_pages: Some(2 << 20) };
        assert_eq!(parse(text), Some(want));
        assert_eq!(parse(&text.replace("FileHuge", "X")).unwrap().file_huge_pages, None);
        for odd in
            ["", "MemTotal: x kB", "MemTotal 5", &text.replace("1000", "99999999999999999999")]
        {
            assert_eq!(parse(odd), None);
        }
    }

    #[test]
    fn this_machine() {
        let now = Memory::now().unwrap();
        assert!(now.total >= now.available && now.available > 0);
        assert!(boot_id().is_none_or(|id| id.len() >= 32));
    }
}

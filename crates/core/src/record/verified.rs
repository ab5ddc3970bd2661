//! The result of reading a written file back (`--verify`).

use serde::{Deserialize, Serialize};

use super::Medium;
use crate::plan::names;

/// The result of reading back and comparing what a trial wrote, after its timed window. Sizes in
/// bytes, times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Verified {
    /// Bytes that the trial wrote, each block once however often it was overwritten.
    pub written: u64,
    /// Bytes that were read back and compared: fewer where the budget or a signal ended it.
    pub bytes: u64,
    pub blocks: u64,
    /// Bytes of the file that were still in the page cache after it was dropped; `None` = unknown.
    pub left: Option<u64>,
    /// Whether the data was read with direct I/O, which bypasses the page cache.
    pub direct: bool,
    /// Bytes that this process read from devices during that.
    pub device_bytes: Option<u64>,
    /// The medium of the bytes; absent from JSON in older sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<Medium>,
    /// The page cache below that still held some of it when it was read back, or that could not be
    /// dropped or looked at: `the page cache of ~/img`; empty and absent from JSON if none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub through: String,
    /// How long it took to write everything back, drop the cache, read and compare.
    pub nanos: u64,
    /// About how long the stamps of the blocks took within the timed work, summed over threads; one
    /// block in 64 is timed.
    pub stamp_nanos: u64,
    pub bad: BadBlocks,
    /// The first bad blocks in the order of the file, at most [`Verified::MAX_FIRST`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<BadBlock>,
}

/// Blocks that do not hold what was written last, by what their first bad 512 bytes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BadBlocks {
    /// The previous data.
    pub older: u64,
    pub zeros: u64,
    /// Data of another offset.
    pub elsewhere: u64,
    /// The written data with other bytes in it, or data that iotui did not write.
    pub changed: u64,
    /// Nothing: the file ends before.
    pub missing: u64,
    /// Changed blocks that hold a part of the written data; absent from JSON at 0.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub torn: u64,
}

/// A block that does not hold what was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    /// Offset in the file of the first bad byte; of the first bad 512 bytes where they hold
    /// something else.
    pub offset: u64,
    /// The thread whose file it is, from 0; omitted from JSON where there is one file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<u32>,
    /// The rank that wrote the block; omitted from JSON where one process measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    #[serde(flatten)]
    pub found: Found,
    /// Bytes of the block that hold what was written; omitted from JSON if none.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub right: u64,
}

/// The data found instead of the written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "holds")]
pub enum Found {
    Older {
        written: Age,
    },
    Zeros,
    /// The data of the offset `of`, of the file of another thread if `of_file` names one.
    Elsewhere {
        of: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of_file: Option<u32>,
    },
    /// This many bytes of 512 differ.
    Changed {
        bytes: u32,
    },
    Missing,
}

/// When older data was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// When the file was created and filled.
    Filled,
    /// By an earlier trial.
    Trial,
    /// By an earlier pass of the trial.
    Pass,
}

names! {
    /// Where the data came from that was read back.
    "source of data" ReadFrom {
        /// The device delivered it, as the kernel counted.
        Device = "device",
        /// The file system delivered it, without the page cache. What a server or a program behind
        /// it has cached is unknown.
        Storage = "storage",
        /// Some of it may have come from a page cache of this machine.
        Cache = "cache",
        /// It is in the memory of this machine.
        Memory = "memory",
    }
}

impl Verified {
    pub const MAX_FIRST: usize = 16;

    /// Returns where the data came from.
    pub fn read_from(&self) -> ReadFrom {
        // The first device may deliver bytes that no disk has.
        let on_disk = self.medium.is_none_or(|medium| medium == Medium::Disk);
        match self.device_bytes {
            _ if self.medium == Some(Medium::Memory) => ReadFrom::Memory,
            _ if !self.through.is_empty() => ReadFrom::Cache,
            Some(bytes) if bytes >= self.bytes && on_disk => ReadFrom::Device,
            _ if self.left == Some(0) => ReadFrom::Storage,
            _ => ReadFrom::Cache,
        }
    }

    /// Returns how it was read back, to follow "was" or a comma.
    pub fn describe_reading(&self) -> String {
        self.read_from().describe(&self.through)
    }

    /// Returns whether all that was written has been compared.
    pub fn is_complete(&self) -> bool {
        self.bytes >= self.written
    }

    /// Counts a bad block.
    pub fn add(&mut self, bad: BadBlock) {
        let count = match bad.found {
            Found::Older { .. } => &mut self.bad.older,
            Found::Zeros => &mut self.bad.zeros,
            Found::Elsewhere { .. } => &mut self.bad.elsewhere,
            Found::Changed { .. } => &mut self.bad.changed,
            Found::Missing => &mut self.bad.missing,
        };
        *count += 1;
        self.bad.torn += u64::from(bad.right > 0);
        if self.first.len() < Self::MAX_FIRST {
            self.first.push(bad);
        }
    }

    /// Adds a later part of the trial, which wrote the same blocks again.
    pub fn join(&mut self, more: Verified) {
        let sums = [
            (&mut self.written, more.written),
            (&mut self.bytes, more.bytes),
            (&mut self.blocks, more.blocks),
            (&mut self.nanos, more.nanos),
            (&mut self.stamp_nanos, more.stamp_nanos),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        self.left = self.left.zip(more.left).map(|(a, b)| a.max(b));
        self.direct &= more.direct;
        if self.through.is_empty() {
            self.through = more.through;
        }
        self.device_bytes = self.device_bytes.zip(more.device_bytes).map(|(a, b)| a + b);
        self.bad.add(&more.bad);
        let room = Self::MAX_FIRST.saturating_sub(self.first.len());
        self.first.extend(more.first.into_iter().take(room));
    }
}

impl ReadFrom {
    /// Returns whether a device was asked for none of it, as far as is known.
    pub fn is_from_memory(self) -> bool {
        matches!(self, ReadFrom::Cache | ReadFrom::Memory)
    }

    /// Returns how the data was read back, to follow "was" or a comma; `through` is the page cache
    /// below, if there is one.
    pub fn describe(self, through: &str) -> String {
        match self {
            ReadFrom::Device => "read back from the device".into(),
            ReadFrom::Storage => {
                "read back after the page cache was dropped; what a server or program behind the \
                 file system has cached is unknown"
                    .into()
            }
            ReadFrom::Cache => {
                let cache = if through.is_empty() { "the page cache" } else { through };
                format!(
                    "read back through {cache}, which could not be dropped: whether a device has \
                     it is unknown"
                )
            }
            ReadFrom::Memory => "read back from memory: no device has it".into(),
        }
    }
}

fn place(offset: u64, file: Option<u32>) -> String {
    match file {
        Some(file) => format!("offset {offset} of the file of thread {}", file + 1),
        None => format!("offset {offset}"),
    }
}

impl Found {
    /// Returns its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Found::Older { .. } => "older",
            Found::Zeros => "zeros",
            Found::Elsewhere { .. } => "elsewhere",
            Found::Changed { .. } => "changed",
            Found::Missing => "missing",
        }
    }
}

impl BadBlock {
    /// Returns where it is: `offset 4096`, `offset 4096 of the file of thread 2`, `offset 4096,
    /// written by rank 3`.
    pub fn place(&self) -> String {
        let rank = self.rank.map_or(String::new(), |rank| format!(", written by rank {rank}"));
        place(self.offset, self.file) + &rank
    }

    /// Returns a block of which nothing is known to be as written.
    pub fn new(offset: u64, file: Option<u32>, found: Found) -> BadBlock {
        BadBlock { offset, file, rank: None, found, right: 0 }
    }

    /// Returns what is there in place of the written data: `zeros`.
    pub fn describe(&self) -> String {
        let found = self.describe_found();
        match self.right {
            0 => found,
            right => format!("{found}; {right} bytes of the block hold what was written"),
        }
    }

    fn describe_found(&self) -> String {
        match self.found {
            Found::Older { written: Age::Filled } => "what the file was filled with".into(),
            Found::Older { written: Age::Trial } => "what an earlier trial wrote".into(),
            Found::Older { written: Age::Pass } => "what an earlier pass wrote".into(),
            Found::Zeros => "zeros".into(),
            Found::Elsewhere { of, of_file } => {
                format!("what was written to {}", place(of, of_file))
            }
            Found::Changed { bytes: 1 } => "one changed byte".into(),
            Found::Changed { bytes } => format!("{bytes} changed bytes in 512"),
            Found::Missing => "nothing, as the file ends there".into(),
        }
    }
}

impl BadBlocks {
    pub fn total(&self) -> u64 {
        self.counts().iter().fold(0, |sum, (count, _)| sum.saturating_add(*count))
    }

    /// Returns each count with what these blocks hold.
    pub fn counts(&self) -> [(u64, &'static str); 5] {
        [
            (self.older, "older data"),
            (self.zeros, "zeros"),
            (self.elsewhere, "data of another offset"),
            (self.changed, "changed bytes"),
            (self.missing, "nothing, as the file ends before"),
        ]
    }

    /// Returns `3 hold older data, 1 zeros; 2 of them only in part`; empty if none is bad.
    pub fn describe(&self) -> String {
        let some = self.counts().into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
        match parts.split_first() {
            Some((first, rest)) => {
                let (count, what) = first.split_once(' ').unwrap_or((first, ""));
                let verb = if count == "1" { "holds" } else { "hold" };
                let rest: String = rest.iter().map(|part| format!(", {part}")).collect();
                let torn = match self.torn {
                    0 => String::new(),
                    torn => format!("; {torn} of them only in part (torn writes)"),
                };
                format!("{count} {verb} {what}{rest}{torn}")
            }
            None => String::new(),
        }
    }

    /// Adds the counts of another trial.
    pub fn add(&mut self, more: &BadBlocks) {
        let sums = [
            (&mut self.older, more.older),
            (&mut self.zeros, more.zeros),
            (&mut self.elsewhere, more.elsewhere),
            (&mut self.changed, more.changed),
            (&mut self.missing, more.missing),
            (&mut self.torn, more.torn),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_from_claims_only_evidence() {
        let read = |left, device_bytes| {
            Verified { bytes: 100, left, device_bytes, ..Verified::default() }.read_from()
        };
        assert_eq!(read(Some(0), Some(100)), ReadFrom::Device);
        assert_eq!(read(Some(0), Some(99)), ReadFrom::Storage);
        assert_eq!(read(Some(0), None), ReadFrom::Storage);
        // Direct reads of a file that stays cached.
        assert_eq!(read(Some(4096), Some(120)), ReadFrom::Device);
        assert_eq!(read(Some(4096), Some(0)), ReadFrom::Cache);
        assert_eq!(read(None, None), ReadFrom::Cache);
    }

    #[test]
    fn lower_caches_weaken_read_from() {
        let read = |medium, through: &str| Verified {
            bytes: 100,
            left: Some(0),
            device_bytes: Some(100),
            medium: Some(medium),
            through: through.into(),
            ..Verified::default()
        };
        let from = |medium, through| read(medium, through).read_from();
        assert_eq!(from(Medium::Disk, ""), ReadFrom::Device);
        assert_eq!(from(Medium::Disk, "the page cache of ~/img"), ReadFrom::Cache);
        assert_eq!(from(Medium::Memory, ""), ReadFrom::Memory);
        for medium in [Medium::Program, Medium::Server, Medium::Unknown] {
            assert_eq!(from(medium, ""), ReadFrom::Storage, "{medium:?}");
        }
        let mut all = read(Medium::Disk, "");
        all.join(read(Medium::Disk, "the page cache of ~/img"));
        assert!(all.describe_reading().starts_with("read back through the page cache of ~/img, "));
        assert!(all.read_from().is_from_memory() && !from(Medium::Program, "").is_from_memory());
    }

    #[test]
    fn torn_blocks_are_counted() {
        let torn = BadBlock {
            right: 2048,
            ..BadBlock::new(2048, None, Found::Older { written: Age::Trial })
        };
        let mut found = Verified::default();
        [torn, BadBlock::new(4096, None, Found::Zeros)].into_iter().for_each(|bad| found.add(bad));
        assert_eq!(
            found.bad.describe(),
            "1 holds older data, 1 zeros; 1 of them only in part (torn writes)"
        );
        assert_eq!(
            torn.describe(),
            "what an earlier trial wrote; 2048 bytes of the block hold what was written"
        );
        let text = serde_json::to_string(&torn).unwrap();
        assert_eq!(serde_json::from_str::<BadBlock>(&text).unwrap(), torn, "{text}");
    }

    #[test]
    fn first_bad_blocks_are_kept() {
        let part = |offset: u64, count: usize| {
            let mut part = Verified {
                written: 200,
                bytes: 100,
                blocks: 2,
                left: Some(0),
                direct: true,
                device_bytes: Some(7),
                ..Verified::default()
            };
            for at in 0..count as u64 {
                part.add(BadBlock::new(offset + at, None, Found::Zeros));
            }
            part
        };
        let mut all = part(0, 10);
        all.join(part(1000, 10));
        all.join(Verified { left: Some(5), device_bytes: None, ..part(2000, 1) });
        assert_eq!((all.bytes, all.blocks, all.bad.zeros, all.bad.total()), (300, 6, 21, 21));
        assert_eq!((all.left, all.device_bytes, all.direct), (Some(5), None, true));
        let offsets: Vec<u64> = all.first.iter().map(|bad| bad.offset).collect();
        assert_eq!(offsets, (0..10).chain(1000..1006).collect::<Vec<_>>());
        assert!(!all.is_complete());
    }

    #[test]
    fn bad_blocks_are_flat_json() {
        let text = |found| serde_json::to_string(&BadBlock::new(7, None, found)).unwrap();
        let older = text(Found::Older { written: Age::Filled });
        let bad = |older, zeros| BadBlocks { older, zeros, ..BadBlocks::default() }.describe();
        assert_eq!(
            (bad(3, 1), bad(1, 0)),
            ("3 hold older data, 1 zeros".into(), "1 holds older data".into())
        );
        assert_eq!(bad(0, 0), "");
        assert_eq!(older, r#"{"offset":7,"holds":"older","written":"filled"}"#);
        assert_eq!(text(Found::Zeros), r#"{"offset":7,"holds":"zeros"}"#);
        let elsewhere = text(Found::Elsewhere { of: 9, of_file: None });
        assert_eq!(elsewhere, r#"{"offset":7,"holds":"elsewhere","of":9}"#);
        let of_file = Found::Elsewhere { of: 9, of_file: Some(1) };
        let bad = BadBlock::new(7, Some(0), of_file);
        assert_eq!(bad.place(), "offset 7 of the file of thread 1");
        assert_eq!(bad.describe(), "what was written to offset 9 of the file of thread 2");
        let back: BadBlock = serde_json::from_str(&elsewhere).unwrap();
        assert_eq!(back.found, Found::Elsewhere { of: 9, of_file: None });
    }
}

//! What each level of cold buys: the time to open a file, to read its first bytes, and to read all
//! of it.

use serde::{Deserialize, Serialize};

/// What was dropped before a reading; each takes what the one before it takes too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dropped {
    /// Nothing: the file is in the page cache.
    Nothing,
    /// The pages of the file.
    Data,
    /// Also the directory entries and inodes, of all files: drop_caches 2.
    Meta,
    /// Also the pages of all files, and with them the blocks that inodes and directories are stored
    /// in: drop_caches 3.
    All,
}

impl Dropped {
    pub const ALL: &'static [Dropped] =
        &[Dropped::Nothing, Dropped::Data, Dropped::Meta, Dropped::All];

    pub fn name(self) -> &'static str {
        match self {
            Dropped::Nothing => "nothing",
            Dropped::Data => "data",
            Dropped::Meta => "meta",
            Dropped::All => "all",
        }
    }
}

/// One opening and reading of the file, nanoseconds each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub open: u64,
    /// The first read, of 4 KiB at the start; what the kernel reads ahead comes with it.
    pub first: u64,
    /// From the opening to the end of the last read.
    pub whole: u64,
}

/// The readings of one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    pub dropped: Dropped,
    pub readings: Vec<Reading>,
    /// Bytes of a whole reading.
    pub bytes: u64,
    /// Why there is no reading, or no further one.
    pub reason: Option<String>,
}

//! The effect of each cache-drop level on the time to open a file, to read its first bytes and to
//! read all of it.

use serde::{Deserialize, Serialize};

use crate::plan::names;

names! {
    /// What was dropped from the kernel's caches before a reading; each level includes the one
    /// before.
    "cache-drop level" DropLevel {
        /// Nothing: the file is in the page cache.
        Nothing = "nothing",
        /// The pages of the file: posix_fadvise.
        Data = "data",
        /// Also the directory entries and inodes of all files: drop_caches 2.
        Meta = "meta",
        /// Also the pages of all files, which include the blocks that store inodes and directories:
        /// drop_caches 3.
        All = "all",
    }
}

/// Times of opening and reading the file once, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub open: u64,
    /// The first read of 4 KiB at offset 0, including the readahead that it triggers.
    pub first: u64,
    /// From open to the end of the last read.
    pub whole: u64,
}

/// The readings at one cache-drop level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    pub dropped: DropLevel,
    pub readings: Vec<Reading>,
    /// Bytes that one reading of the whole file returns.
    pub bytes: u64,
    /// Why there are no readings, or no more of them.
    pub reason: Option<String>,
}

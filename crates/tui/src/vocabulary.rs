//! Signs that several screens draw, and the words of this program with their meaning, as the second
//! page of the help lists them.

use super::theme::Look;

/// A sign: for terminals that show Unicode, and for other terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign(&'static str, &'static str);

impl Sign {
    pub fn on(self, look: &Look) -> &'static str {
        look.glyph(self.0, self.1)
    }
}

/// Before a figure of too few trials.
pub const APPROXIMATE: Sign = Sign("≈", "~");
/// The marker of an estimate in the legend.
pub const ESTIMATE: Sign = Sign("┈", ":");
/// The lines of charts.
pub const SOLID: Sign = Sign("━━━", "---");
pub const DASHED: Sign = Sign("━ ━", "- -");
pub const DOTTED: Sign = Sign("┈┈┈", ":::");
/// A curve that is switched off.
pub const HIDDEN: Sign = Sign("·", ".");
/// No findings, no warnings.
pub const FINE: Sign = Sign("√", "*");

/// The words that screens use without explaining them.
pub static WORDS: &[(&str, &str)] = &[
    ("target", "the file or block device that is measured"),
    ("scratch file", "a target that iotui creates, fills with random data and removes"),
    ("backend", "a way to read or write: read, mmap, uring, ..."),
    ("cell", "one combination that is measured: backend, block size, cache state, ..."),
    ("trial", "one timed execution of a cell; 5 are needed for an interval"),
    ("round", "one visit of every cell, in random order; R adds rounds"),
    ("cold", "nothing of the file is in memory before a trial, so the device is read"),
    ("warm", "the file is in memory before a trial, so memory is read"),
    ("asis", "the page cache is left as the previous trial left it"),
    ("page cache", "memory in which the kernel keeps what was read or written"),
    ("direct", "around the page cache: the device serves each request"),
    ("median", "half of the trials are slower, half are faster: the figure that is shown"),
    ("interval", "the median of many more trials lies in it with 95 % confidence"),
    ("tied", "the intervals overlap: these trials do not tell which is faster"),
    ("no difference", "the interval of the ratio lies within 5 % of 1"),
    ("first look", "some cells have fewer than 5 trials: about right, not ranked"),
    ("refine", "add rounds to a session until its intervals are narrow"),
    ("from", "where the bytes came from: device, page cache, or holes of the file"),
    ("caches below", "memory under the file: the page cache of an image, or a program"),
    ("hole", "a part of a file that was never written: zeros, without a device"),
    ("ceiling", "what this machine can do at best, measured by a bare loop"),
    ("estimate", "a figure computed before the run, with its reasoning"),
    ("queue depth", "how many operations are in flight at once, per thread"),
    ("p50, p99", "half, or 99 of 100, of the operations took at most this long"),
    ("knee", "the smallest block size within 5 % of the fastest one"),
    ("calibration", "finding how many operations take the time of a trial"),
    ("budget", "the time that a run may take"),
    ("steal", "time in which the host of a virtual machine ran something else"),
    ("session", "the log of one run: a file, written as the run progresses"),
    ("reference", "a machine from a published report, to compare with"),
    ("probe", "a measurement of the operating system that is not file I/O"),
];

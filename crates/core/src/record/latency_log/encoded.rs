//! A log as a session keeps it: numbers of few bytes each, in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{LatencyLog, LogBuckets, LogCount, LogEntry};
use crate::stats::histogram::MAX_VALUE;

/// A piece of the log of a trial, as text; a line of a session.
///
/// `data` is base64. It has for each entry, as LEB128 numbers: the intervals skipped before it,
/// with `spans` the further ones that it covers, its operations, bytes, system calls, device
/// bytes + 1 (0 = unknown), operations held back, then the number of buckets of latency and for
/// each twice its count, plus 1 where buckets were skipped before it, whose number follows, and the
/// same for service times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedLog {
    /// Index into the plan's cells.
    pub cell: u32,
    pub round: u32,
    /// The length of an interval, nanoseconds.
    pub width: u64,
    /// One operation in `every` was timed.
    pub every: u32,
    /// The number of the first interval.
    pub from: u32,
    /// Entries say how many intervals they cover: the trial was written while it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spans: bool,
    pub data: String,
}

impl EncodedLog {
    /// The most text of a piece, bytes.
    pub const MAX_DATA: usize = 64 << 10;

    /// Returns whether a program may have written it: anyone can write a file.
    pub fn is_sound(&self) -> bool {
        (MIN_WIDTH..=MAX_WIDTH).contains(&self.width) && self.data.len() <= EncodedLog::MAX_DATA
    }

    /// Returns about how many bytes it takes in a file.
    pub fn size(&self) -> u64 {
        self.data.len() as u64 + LINE
    }
}

/// The least and the most width of an interval that is read, nanoseconds: 1 ms and a day.
const MIN_WIDTH: u64 = 1_000_000;
const MAX_WIDTH: u64 = 86_400_000_000_000;
/// The latest start of an interval that is read, nanoseconds: ten years after that of its trial.
const MAX_TIME: u64 = 10 * 365 * MAX_WIDTH;
/// Bytes of a line without its data.
const LINE: u64 = 170;
/// Bytes that become [`EncodedLog::MAX_DATA`] of text.
const MAX_RAW: usize = EncodedLog::MAX_DATA / 4 * 3;
/// The last bucket that a latency can have.
const LAST_BUCKET: usize = LogBuckets::of(MAX_VALUE);

impl LatencyLog {
    /// Returns the log as lines of the trial of a cell.
    pub fn encode(&self, cell: u32, round: u32) -> Vec<EncodedLog> {
        let spans = self.entries().iter().any(|entry| entry.further > 0);
        self.encode_as(spans, (cell, round))
    }

    fn encode_as(&self, spans: bool, (cell, round): (u32, u32)) -> Vec<EncodedLog> {
        let (width, every) = (self.width, self.every);
        let line = |from, raw: &[u8]| EncodedLog {
            cell,
            round,
            width,
            every,
            from,
            spans,
            data: STANDARD.encode(raw),
        };
        let (mut lines, mut raw, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut from, mut next) = (0, 0);
        for entry in self.entries() {
            if raw.is_empty() {
                (from, next) = (entry.index, entry.index);
            }
            bytes.clear();
            put_entry(&mut bytes, entry, entry.index - next, spans);
            if !raw.is_empty() && raw.len() + bytes.len() > MAX_RAW {
                lines.push(line(from, &raw));
                raw.clear();
                bytes.clear();
                from = entry.index;
                put_entry(&mut bytes, entry, 0, spans);
            }
            raw.extend_from_slice(&bytes);
            next = entry.last().saturating_add(1);
        }
        if !raw.is_empty() {
            lines.push(line(from, &raw));
        }
        lines
    }

    /// Returns the log of a trial from its lines, in their order; `None` without an entry. What is
    /// damaged or does not follow what was before it is left out.
    pub fn decode<'a>(lines: impl IntoIterator<Item = &'a EncodedLog>) -> Option<LatencyLog> {
        LatencyLog::decode_within(lines, LatencyLog::MAX_READ)
    }

    /// The same with at most this many entries: intervals become longer beyond that.
    pub fn decode_within<'a>(
        lines: impl IntoIterator<Item = &'a EncodedLog>,
        most: usize,
    ) -> Option<LatencyLog> {
        let mut log: Option<LatencyLog> = None;
        // Intervals that are read; the log itself may have wider ones.
        let (mut width, mut next) = (0, 0u64);
        for line in lines.into_iter().filter(|line| line.is_sound()) {
            let log = log.get_or_insert_with(|| {
                width = line.width;
                LatencyLog { width, every: line.every, entries: Vec::new() }
            });
            if line.width != width || u64::from(line.from) < next {
                continue;
            }
            let Ok(raw) = STANDARD.decode(&line.data) else { continue };
            let (mut raw, mut expected) = (&raw[..], line.from);
            let most = if line.spans { most } else { most.min(LatencyLog::MAX_ENTRIES) };
            while let Some(entry) = take_entry(&mut raw, expected, line.spans) {
                if u64::from(entry.last()) > MAX_TIME / width {
                    break;
                }
                expected = entry.last().saturating_add(1);
                next = expected.into();
                log.put(width, entry, 0, most);
            }
        }
        log.filter(|log| !log.is_empty())
    }
}

fn put_entry(to: &mut Vec<u8>, entry: &LogEntry, skipped: u32, spans: bool) {
    let device = entry.device.map_or(0, |bytes| bytes.saturating_add(1));
    let held = entry.held.into();
    put(to, skipped.into());
    if spans {
        put(to, entry.further.into());
    }
    for value in [entry.ops, entry.bytes, entry.syscalls, device, held] {
        put(to, value);
    }
    for counts in [&entry.latency, &entry.service] {
        put(to, counts.len() as u64);
        let mut next = 0;
        for (bucket, count) in counts {
            // Most buckets follow each other: their counts alone are there.
            let skipped = bucket.saturating_sub(next);
            put(to, u64::from(*count) << 1 | u64::from(skipped > 0));
            if skipped > 0 {
                put(to, skipped.into());
            }
            next = bucket.saturating_add(1);
        }
    }
}

/// Takes the next entry, the first one that may have the number `expected`; `None` where there is
/// none that iotui could have written.
fn take_entry(from: &mut &[u8], expected: u32, spans: bool) -> Option<LogEntry> {
    let index = expected.checked_add(take_small(from)?)?;
    let further = if spans { take_small(from)? } else { 0 };
    index.checked_add(further)?;
    let [ops, bytes, syscalls, device] = [take(from)?, take(from)?, take(from)?, take(from)?];
    let device = device.checked_sub(1);
    let held = take_small(from)?;
    let latency = take_counts(from)?;
    let service = take_counts(from)?;
    Some(LogEntry { index, further, ops, bytes, syscalls, device, held, latency, service })
}

fn take_counts(from: &mut &[u8]) -> Option<Vec<LogCount>> {
    let buckets = usize::try_from(take(from)?).ok()?;
    // Each takes a byte at least.
    if buckets > from.len() {
        return None;
    }
    let mut next = 0usize;
    let mut counts = Vec::with_capacity(buckets);
    for _ in 0..buckets {
        let value = take(from)?;
        let skipped = if value & 1 == 1 { take_small(from)? as usize } else { 0 };
        let bucket = next.checked_add(skipped)?;
        let count = u32::try_from(value >> 1).ok().filter(|count| *count > 0)?;
        if bucket > LAST_BUCKET {
            return None;
        }
        counts.push((bucket as u16, count));
        next = bucket + 1;
    }
    Some(counts)
}

/// Adds a number in as many groups of 7 bits as it needs, the lowest first.
fn put(to: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Takes a number; `None` where it does not end, or has more than 64 bits.
fn take(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take_small(from: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(from)?).ok()
}

/// How many bytes of logs a session keeps: in proportion to the time that was measured, so that
/// neither a day nor many short trials make it large.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogSpace {
    /// Nanoseconds.
    measured: u64,
    spent: u64,
}

impl LogSpace {
    /// Bytes for short runs.
    const BASE: u64 = 64 << 10;
    /// Bytes for each second up to these times, nanoseconds: 1.95 MiB in ten minutes, 19.5 MiB in a
    /// day, 48 MiB in a month.
    const RATES: [(u64, u64); 3] =
        [(600_000_000_000, 3300), (86_400_000_000_000, 215), (u64::MAX, 12)];

    /// Returns the bytes for all trials once `measured` nanoseconds are.
    fn total(measured: u64) -> u64 {
        let (mut from, mut bytes) = (0, u128::from(LogSpace::BASE));
        for (to, rate) in LogSpace::RATES {
            let nanos = measured.clamp(from, to) - from;
            bytes += u128::from(nanos) * u128::from(rate) / 1_000_000_000;
            from = to;
        }
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Counts the time of a trial, nanoseconds.
    pub fn count_trial(&mut self, nanos: u64) {
        self.measured = self.measured.saturating_add(nanos);
    }

    /// Counts a line that is kept.
    pub fn count_line(&mut self, line: &EncodedLog) {
        self.spent = self.spent.saturating_add(line.size());
    }

    /// Returns the lines to keep of the log of a trial that took `nanos`: wider intervals where all
    /// would be too much, and none where one interval would be.
    pub fn keep(&mut self, mut log: LatencyLog, trial: (u32, u32), nanos: u64) -> Vec<EncodedLog> {
        self.count_trial(nanos);
        let left = LogSpace::total(self.measured).saturating_sub(self.spent);
        loop {
            let lines = log.encode(trial.0, trial.1);
            if size_of_all(&lines) <= left {
                lines.iter().for_each(|line| self.count_line(line));
                return lines;
            }
            if log.entries().len() <= 1 || log.width > MAX_WIDTH / 2 {
                return Vec::new();
            }
            log.halve();
        }
    }

    /// Returns the lines to keep of a part of the log of a trial that is `planned` to take so long
    /// and has come to `at` nanoseconds. The `unusual` stretches, from and to in intervals, keep
    /// these as far as there is space now; the rest has its share of the space of the whole trial.
    /// None where all would still be too much.
    pub fn keep_part(
        &mut self,
        log: &LatencyLog,
        unusual: &[(u32, u32)],
        trial: (u32, u32),
        (at, planned): (u64, u64),
    ) -> Vec<EncodedLog> {
        let known = LogSpace::total(self.measured);
        let whole = LogSpace::total(self.measured.saturating_add(planned)) - known;
        let share = u128::from(whole) * u128::from(at.min(planned)) / u128::from(planned.max(1));
        let for_rest = known.saturating_add(share as u64).saturating_sub(self.spent);
        let now = LogSpace::total(self.measured.saturating_add(at)).saturating_sub(self.spent);
        let lines = |spans, unusual: &[_]| log.thinned(spans, unusual).encode_as(true, trial);
        let spans =
            |from: u32| (from.ilog2()..=LatencyLog::MAX_SPAN.ilog2()).map(|power| 1u32 << power);
        let mut rests = spans(LatencyLog::usual_span(at));
        // Earlier unusual stretches may have taken it.
        let rest = rests.find(|rest| size_of_all(&lines([*rest; 2], &[])) <= for_rest);
        let rest = rest.unwrap_or(LatencyLog::MAX_SPAN);
        let all = spans(1).map(|fine| lines([fine.min(rest), rest], unusual));
        let kept = all.into_iter().find(|lines| size_of_all(lines) <= now).unwrap_or_default();
        kept.iter().for_each(|line| self.count_line(line));
        kept
    }
}

fn size_of_all(lines: &[EncodedLog]) -> u64 {
    lines.iter().map(EncodedLog::size).sum()
}

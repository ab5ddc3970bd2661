//! Reads back what a trial wrote, after the timed window. `--verify` compares every byte, once the
//! file was written back and dropped from the page cache; appended data is compared by its XOR.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::coverage::{Coverage, trial_coverage};
use super::error::Failure;
use super::observe::Cached;
use super::target::OpenTarget;
use super::workers::{LaneResult, Spec};
use crate::backend::access_pattern::Share;
use crate::backend::{PIECE as STAMPED, Stamps, Target, Verifier, fold};
use crate::host::Below;
use crate::plan::{Job, Op, Pattern};
use crate::record::{BadBlock, Found, LayerKind, Medium, ReadBack, Verified, Xor};
use crate::sys::buffer::{Buffer, zeroed};
use crate::sys::clock::monotonic_nanos;
use crate::sys::content::FileData;
use crate::sys::process_io::ProcessIo;
use crate::sys::{cold, fd, loop_device};

/// Bytes that are read at once, or a block if that is larger.
const PIECE: u64 = 1 << 20;

/// The ground of the files that are verified.
#[derive(Debug, Default)]
pub(super) struct FileGround {
    /// `None` = not determined.
    pub medium: Option<Medium>,
    /// The page cache that may still hold their bytes, or empty.
    pub through: String,
}

/// Drops a target, which was written back, from the caches of the layers below, and returns what is
/// left. Fails with `Interrupted` if `stop` ends it.
pub(super) fn drop_below(target: &OpenTarget, stop: &dyn Fn() -> bool) -> io::Result<FileGround> {
    let below = &target.below;
    let medium = Some(below.ground.medium);
    if below.ground.medium == Medium::Memory {
        return Ok(FileGround { medium, ..FileGround::default() });
    }
    // Writing back above dirties the file below.
    let mut kept = None;
    for file in below.files.iter().filter(|file| !file.direct && !file.own) {
        let open = file.file.as_ref().ok();
        let dropped = open.map(|open| drop_part(open, &file.part, stop)).transpose()?;
        if dropped != Some(true) && kept.is_none() {
            kept = Some(file.name.as_str());
        }
    }
    // The run wrote through such a file just now: it answers as long as the run does.
    for name in hidden_files(below) {
        let dropped = loop_device::open_file(name)
            .and_then(|file| drop_part(&file, &(0..fd::size(&file)?), stop));
        match dropped {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Ok(true) => {}
            _ if kept.is_none() => kept = Some(name),
            _ => {}
        }
    }
    let through = kept.map_or(String::new(), |name| format!("the page cache of {name}"));
    Ok(FileGround { medium, through })
}

/// Writes a part of a file back and drops it; returns whether all of it is known to be gone.
fn drop_part(file: &File, part: &Range<u64>, stop: &dyn Fn() -> bool) -> io::Result<bool> {
    let end = part.end.min(fd::size(file)?);
    let part = part.start.min(end)..end;
    match file.sync_data().and_then(|()| cold::make_cold_within(file, part, stop)) {
        Ok(dropped) => Ok(dropped.is_cold()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        Err(_) => Ok(false),
    }
}

/// Returns the loop devices whose file is not open here.
fn hidden_files(below: &Below) -> impl Iterator<Item = &str> {
    let layers = below.ground.layers.iter().enumerate();
    let is_hidden = |at: &usize| {
        let file = below.files.iter().any(|file| file.layer == at + 1);
        below.ground.layers[*at].kind == LayerKind::Loop && !file
    };
    layers.filter(move |(at, _)| is_hidden(at)).map(|(_, layer)| layer.name.as_str())
}

/// Reads back the writes of `lanes` to `files`, which were `filled` before; `below` drops the
/// caches of the layers below. `None` if there is nothing to verify, or `stop` ends it before the
/// first read.
pub(super) fn verify(
    files: &[&File],
    filled: FileData,
    spec: &Spec,
    lanes: &[LaneResult],
    below: &dyn Fn() -> io::Result<FileGround>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Verified>, Failure> {
    if spec.target.stamps.is_none() || spec.job.op != Op::Write || stop() {
        return Ok(None);
    }
    let began = monotonic_nanos();
    let dropped = drop_files(files, spec.job.bytes_per_file(), stop);
    let (left, ground) = match dropped.and_then(|left| Ok((left, below()?))) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
        dropped => dropped.map_err(|error| failure("fdatasync(2) and fadvise(2)", &error))?,
    };
    let mut found = Verified {
        left,
        medium: ground.medium,
        through: ground.through,
        direct: true,
        stamp_nanos: lanes.iter().map(|lane| lane.tally.stamp_nanos).sum(),
        ..Verified::default()
    };
    let before = ProcessIo::process();
    let own = spec.job.has_own_files();
    let numbers = lanes.iter().map(|lane| lane.lane);
    let mut writers: Vec<(u32, Coverage)> = numbers.zip(trial_coverage(lanes, spec)).collect();
    writers.sort_by_key(|(lane, of)| (own.then_some(*lane), of.share.first));
    for (lane, coverage) in writers {
        let (job, target) = (spec.job_of_lane(), spec.target.of_lane(lane));
        let file = own.then_some(lane);
        let Some(verifier) = Verifier::new(&target, &job, file, filled) else { continue };
        let writes = LastWrites::new(&coverage).map_err(|e| failure("a list of blocks", &e))?;
        let reader = BlockReader::open(&target, &job, left != Some(0))
            .map_err(|error| failure("open(2)", &error))?;
        found.direct &= reader.direct;
        ShareCheck { verifier, reader, file, found: &mut found }.add(&writes, stop)?;
    }
    let read = before.ok().zip(ProcessIo::process().ok());
    Ok(Some(Verified {
        device_bytes: read.map(|(from, to)| to.read_bytes.saturating_sub(from.read_bytes)),
        nanos: monotonic_nanos() - began,
        ..found
    }))
}

pub(super) fn failure(what: &str, error: &io::Error) -> Failure {
    Failure::Cell(format!("{what}, to read the data back: {error}"))
}

/// Writes files back and drops them from the page cache; returns the sum of the first `bytes` of
/// each that stay cached, `None` if that cannot be measured.
fn drop_files(files: &[&File], bytes: u64, stop: &dyn Fn() -> bool) -> io::Result<Option<u64>> {
    let parts: Vec<_> = files.iter().map(|file| (*file, 0..bytes)).collect();
    let left = Cached::of_each(&parts, |file, part| {
        file.sync_data()?;
        Ok(cold::make_cold_within(file, part, stop)?.left)
    })?;
    Ok(left.map(|cached| cached.resident))
}

/// Which pass wrote each block of a share last.
struct LastWrites {
    share: Share,
    /// The pass of each block of the share, as stamps tell it, plus 1; 0: none.
    passes: Vec<u32>,
}

impl LastWrites {
    /// Finds out by going through the operations again, the last ones first.
    fn new(coverage: &Coverage) -> io::Result<LastWrites> {
        let share = coverage.share;
        let mut passes = Vec::new();
        let blocks = usize::try_from(share.blocks).unwrap_or(usize::MAX);
        passes.try_reserve_exact(blocks).map_err(|_| io::ErrorKind::OutOfMemory)?;
        passes.resize(blocks, 0);
        // Each pass writes the same blocks.
        let alike = share.reads == 0
            && coverage.unvisited.is_empty()
            && !share.pattern.is_drawn()
            && (share.pattern != Pattern::Random || share.quota >= share.blocks);
        let mut writes = LastWrites { share, passes };
        writes.add(coverage, coverage.passes, coverage.rest);
        for pass in (0..coverage.passes).rev() {
            let added = writes.add(coverage, pass, share.quota);
            if alike || added == 0 && writes.passes.iter().all(|pass| *pass > 0) {
                break;
            }
        }
        Ok(writes)
    }

    /// Adds the first `operations` of a pass where no later one wrote; returns how many.
    fn add(&mut self, coverage: &Coverage, pass: u64, operations: u64) -> u64 {
        let (share, order) = (self.share, self.share.order(pass));
        let unvisited: Vec<&Range<u64>> = coverage
            .unvisited
            .iter()
            .filter_map(|(of, indexes)| (*of == pass).then_some(indexes))
            .collect();
        let is_write = |index: &u64| {
            share.writes(pass, *index) && !unvisited.iter().any(|some| some.contains(index))
        };
        let mut added = 0;
        for index in (0..operations).filter(is_write) {
            let block = &mut self.passes[order.block(index) as usize];
            if *block == 0 {
                *block = (pass % Stamps::PASSES) as u32 + 1;
                added += 1;
            }
        }
        added
    }

    /// Returns the offset, the length and the pass of a block; `None` if it was not written.
    fn block(&self, index: usize) -> Option<(u64, u64, u64)> {
        let pass = self.passes.get(index)?.checked_sub(1)?;
        let offset = self.share.offset(index as u64);
        Some((offset, self.share.len_at(offset), pass.into()))
    }

    /// Returns the indexes of written blocks from `from` on that lie side by side, as many as are
    /// read at once.
    fn next_run(&self, from: usize) -> Option<Range<usize>> {
        let start = from + self.passes[from..].iter().position(|pass| *pass > 0)?;
        let side_by_side = if self.share.every == 1 { PIECE / self.share.block } else { 1 };
        let most = usize::try_from(side_by_side).unwrap_or(usize::MAX).max(1);
        let run = self.passes[start..].iter().take(most);
        Some(start..start + run.take_while(|pass| **pass > 0).count())
    }
}

/// The comparison of a share, and what has been found so far.
struct ShareCheck<'a> {
    verifier: Verifier,
    reader: BlockReader,
    /// The thread whose file it is.
    file: Option<u32>,
    found: &'a mut Verified,
}

impl ShareCheck<'_> {
    /// Compares the blocks of the share, until `stop` ends it.
    fn add(mut self, writes: &LastWrites, stop: &dyn Fn() -> bool) -> Result<(), Failure> {
        let mut stopped = false;
        let mut from = 0;
        while let Some(run) = writes.next_run(from) {
            from = run.end;
            let blocks = || run.clone().filter_map(|index| writes.block(index));
            self.found.written += blocks().map(|(_, len, _)| len).sum::<u64>();
            stopped |= stop();
            let Some((start, ..)) = blocks().next().filter(|_| !stopped) else { continue };
            let end = blocks().next_back().map_or(start, |(offset, len, _)| offset + len);
            let bytes = self.reader.read(start..end)?;
            for (offset, len, pass) in blocks() {
                let from = bytes.len().min((offset - start) as usize);
                let there = &bytes[from..bytes.len().min(from + len as usize)];
                let bad = compare(&mut self.verifier, self.file, (offset, len, pass), there);
                bad.into_iter().for_each(|bad| self.found.add(bad));
                self.found.blocks += 1;
                self.found.bytes += len;
            }
        }
        Ok(())
    }
}

/// Compares a block, or the part of it that the file has.
fn compare(
    verifier: &mut Verifier,
    file: Option<u32>,
    (offset, len, pass): (u64, u64, u64),
    there: &[u8],
) -> Option<BadBlock> {
    if there.len() as u64 == len {
        return verifier.compare(offset, pass, there);
    }
    let whole = &there[..there.len() / STAMPED * STAMPED];
    let end = BadBlock::new(offset + there.len() as u64, file, Found::Missing);
    Some(verifier.compare(offset, pass, whole).unwrap_or(end))
}

/// A separate file description, and a buffer.
struct BlockReader {
    file: File,
    buffer: Buffer,
    direct: bool,
    /// Alignment of offsets and lengths: 1 without direct I/O.
    align: u64,
}

impl BlockReader {
    /// Opens the file as the job did: where it was cached, that is how the next trial finds it. One
    /// that is still `cached` is read with direct I/O, if possible.
    fn open(target: &Target, job: &Job, cached: bool) -> io::Result<BlockReader> {
        let plain = Job { direct: false, ..Job::plain(job.backend.clone(), Op::Read) };
        let direct = Job { direct: true, ..plain.clone() };
        let wanted = (job.direct || cached) && target.direct_refused.is_none();
        let opened = wanted.then(|| target.open(&direct).ok()).flatten();
        let align = opened.as_ref().map_or(1, |_| u64::from(target.align(&direct)));
        let direct = opened.is_some();
        let file = match opened {
            Some(file) => file,
            None => target.open(&plain).map_err(|error| io::Error::other(error.to_string()))?,
        };
        let most = job.block.max(PIECE).saturating_add(2 * align);
        let buffer = Buffer::for_direct(usize::try_from(most).unwrap_or(usize::MAX))?;
        Ok(BlockReader { file, buffer, direct, align })
    }

    /// Reads a range, which fits into the buffer; less where the file ends.
    fn read(&mut self, range: Range<u64>) -> Result<&[u8], Failure> {
        let start = range.start / self.align * self.align;
        let from = (range.start - start) as usize;
        let wanted = (range.end - start) as usize;
        let len = wanted.next_multiple_of(self.align as usize);
        let bytes = &mut self.buffer.bytes_mut()[..len];
        let mut done = 0;
        while done < wanted {
            let at = start + done as u64;
            match self.file.read_at(&mut bytes[done..], at) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let call = format!("pread(2) of {} bytes at offset {at}", len - done);
                    return Err(failure(&call, &error));
                }
            }
            // With direct I/O only the end of the file is not aligned.
            if !(done as u64).is_multiple_of(self.align) {
                break;
            }
        }
        Ok(&bytes[from.min(done)..wanted.min(done)])
    }
}

/// Compares the first `len` bytes of a file with `block`, if it was written again and again, and
/// returns their XOR; `None` if `stop` ended it. Blocks that the file lacks differ.
pub(super) fn read_back(
    file: &File,
    block: Option<&[u8]>,
    len: u64,
    stop: &dyn Fn() -> bool,
) -> io::Result<Option<ReadBack>> {
    let block = block.unwrap_or_default();
    let there = len.min(file.metadata()?.len());
    // Several small blocks at once.
    let size = block.len().max(1);
    let mut piece = zeroed(size * (PIECE as usize / size).max(1))?;
    let missing = (len - there).div_ceil(size as u64);
    let (mut at, mut found) = (0, ReadBack { xor: Xor(0), other_blocks: missing });
    while at < there {
        if stop() {
            return Ok(None);
        }
        let step = piece.len().min(usize::try_from(there - at).unwrap_or(usize::MAX));
        let bytes = &mut piece[..step];
        file.read_exact_at(bytes, at)?;
        found.xor.0 ^= fold::at_offset(fold::bytes(bytes), at);
        let others = |chunk: &&[u8]| !block.is_empty() && *chunk != &block[..chunk.len()];
        found.other_blocks += bytes.chunks(size).filter(others).count() as u64;
        at += step as u64;
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests;

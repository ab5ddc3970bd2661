//! Picks the fastest method before the first round: of cells that do the same by different methods,
//! each is tried for a moment, and only the fastest is measured.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Run;
use crate::backend::meter::Timed;
use crate::catalog::faults;
use crate::engine::calibrate::choose_timing;
use crate::engine::cells::{Amount, Cell};
use crate::engine::error::Failure;
use crate::engine::prepare::{Scope, prepare};
use crate::engine::trial::{self, TrialStage, fixed_count};
use crate::engine::workers::cpus;
use crate::experiment::MIN_REPEATED_TIME;
use crate::plan::{Cache, Choice, Job, Plan};
use crate::record::{End, Event, Phase, Pick, PickConditions, SkippedMethod, Try};
use crate::stats::random::mix;
use crate::sys::cold::drop_part;

/// Time limit of a try; longer than it takes to start threads.
const TRY_LIMIT: Duration = Duration::from_millis(60);

/// Tries of each method where the file is cached, as many as an interval needs; the methods take
/// turns.
const TRIES_OF_CACHED: u64 = Plan::ROUNDS as u64;

/// Tries of each method where it is not: each reads another part of the file from the device.
const TRIES_OF_UNCACHED: u64 = 3;

/// Range of the part that each try of an uncached file has to itself, bytes: in a smaller one,
/// start-up would dominate.
const MIN_PART: u64 = 4 << 20;
const MAX_PART: u64 = 64 << 20;

/// Upper bound of the kernel's readahead, bytes.
const MAX_READAHEAD: u64 = 32 << 20;

/// Why direct I/O is not tried on a cached file.
const CACHED_FILE: &str = "the file is in memory; direct I/O would read the device";

/// The cells that do the same by different methods, and the state of their file.
struct MethodGroup {
    candidates: Vec<u32>,
    found: PickConditions,
    /// Whether to drop the pages that the tries brought into the page cache.
    restore: bool,
}

/// Returns the job without what distinguishes methods: equal jobs do the same.
fn without_method(job: &Job) -> Job {
    let backend = Choice::plain("");
    Job { backend, block: 1, threads: 1, depth: 1, direct: false, ..job.clone() }
}

impl Run<'_> {
    /// Keeps the fastest of the cells that do the same, and excludes the others.
    pub(super) fn pick(&mut self) -> Result<(), End> {
        let mut groups: Vec<(Job, Vec<u32>)> = Vec::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let job = without_method(&cell.job);
            match groups.iter_mut().find(|(known, _)| *known == job) {
                Some((_, candidates)) => candidates.push(index as u32),
                None => groups.push((job, vec![index as u32])),
            }
        }
        for (job, candidates) in groups {
            let pick = self.pick_fastest(&job, candidates.clone())?;
            for candidate in candidates {
                self.apply_pick(candidate, &pick);
            }
            // The failure of a try explains more than a method that was not tried.
            if let (None, Some(first)) = (
                pick.cell,
                pick.left_out.iter().find(|out| out.why != CACHED_FILE).or(pick.left_out.first()),
            ) {
                self.sink.event(Event::Failed { cell: first.cell, error: first.why.clone() });
            }
            self.sink.event(Event::Picked { pick: Arc::new(pick) });
        }
        Ok(())
    }

    /// Sets the amount of work of the picked cell, and whether one trial is enough; excludes any
    /// other cell.
    fn apply_pick(&mut self, candidate: u32, pick: &Pick) {
        let Some(cell) = self.cells.get_mut(candidate as usize).and_then(Option::as_mut) else {
            return;
        };
        if pick.cell != Some(candidate) {
            cell.out = true;
            return;
        }
        cell.once = pick.is_once(self.plan);
        let count = fixed_count(&cell.job).unwrap_or(cell.job.blocks());
        // Without a try, assume a tenth of a nanosecond per byte.
        let rate = pick.rate(candidate).unwrap_or(1e10).max(1.0);
        let per_op = cell.job.block as f64 * f64::from(cell.job.threads) * 1e9 / rate;
        let timed = if cell.job.blocks() == 0 { Timed::None } else { choose_timing(cell, per_op) };
        let nanos = (count as f64 * cell.job.block as f64 * 1e9 / rate) as u64;
        let once = cell.once || !self.plan.once_uncached;
        let parts = if once { 1 } else { passes_per_trial(nanos) };
        let nanos = nanos.saturating_mul(parts);
        cell.amount = Some(Amount { parts, timed, nanos, ..Amount::once(count) });
    }

    fn pick_fastest(&mut self, job: &Job, candidates: Vec<u32>) -> Result<Pick, End> {
        let found = |resident| PickConditions {
            span: job.span,
            resident,
            cpus: u32::try_from(cpus()).unwrap_or(u32::MAX),
        };
        // It serves all methods: a pause or a skip waits for the attempt of one.
        let ends = || self.control.check_end(self.pace).is_err();
        let scope = Scope { part: 0..job.bytes_per_file(), leads: true };
        let resident = match prepare(self.targets.of(job), job, &scope, None, &ends) {
            Ok(ready) => ready.cached.map(|cached| cached.resident),
            Err(Failure::Cell(why)) => {
                let out = candidates
                    .iter()
                    .map(|candidate| SkippedMethod { cell: *candidate, why: why.clone() })
                    .collect();
                let (cells, found) = (&self.plan.cells, found(None));
                return Ok(Pick::choose(cells, &[], found, Vec::new(), out, false, faults));
            }
            Err(Failure::Stopped | Failure::Abandoned) => {
                return Err(self.control.end_reason(self.pace));
            }
        };
        let found = found(resident);
        let restore = job.cache == Cache::Cold || found.is_cold();
        let (tries, left_out) =
            self.try_group(MethodGroup { candidates: candidates.clone(), found, restore })?;
        let tried: Vec<u32> = candidates
            .into_iter()
            .filter(|candidate| !left_out.iter().any(|out| out.cell == *candidate))
            .collect();
        let restored = restore && !found.is_cached();
        Ok(Pick::choose(&self.plan.cells, &tried, found, tries, left_out, restored, faults))
    }

    fn try_group(&mut self, group: MethodGroup) -> Result<(Vec<Try>, Vec<SkippedMethod>), End> {
        let mut tries = Vec::new();
        let mut left_out = Vec::new();
        let mut candidates = group.candidates.clone();
        if group.found.is_cached()
            && candidates.iter().any(|candidate| !self.plan.cells[*candidate as usize].direct)
        {
            let direct = |candidate: &u32| self.plan.cells[*candidate as usize].direct;
            left_out.extend(
                candidates
                    .iter()
                    .filter(|candidate| direct(candidate))
                    .map(|candidate| SkippedMethod { cell: *candidate, why: CACHED_FILE.into() }),
            );
            candidates.retain(|candidate| !direct(candidate));
        }
        // A single candidate is picked without a try.
        let unit = self.unit(&candidates);
        let turns = if candidates.len() < 2 {
            0
        } else {
            turns(&group.found, candidates.len() as u64, unit)
        };
        for turn in 0..turns {
            for place in 0..candidates.len() as u64 {
                // Each turn begins with another method.
                let candidate = candidates[((place + turn) % candidates.len() as u64) as usize];
                if left_out.iter().any(|out: &SkippedMethod| out.cell == candidate) {
                    continue;
                }
                let nth = TryPlace {
                    place: turn * candidates.len() as u64 + place,
                    of: turns * candidates.len() as u64,
                    unit,
                };
                match self.attempt(candidate, &group, nth)? {
                    Ok(tried) => tries.push(tried),
                    Err(why) => left_out.push(SkippedMethod { cell: candidate, why }),
                }
            }
        }
        Ok((tries, left_out))
    }

    /// Returns the unit of parts of a cold file, so that each method has a full block in one.
    fn unit(&self, candidates: &[u32]) -> u64 {
        unit(candidates.iter().map(|candidate| self.plan.cells[*candidate as usize].block))
    }

    /// Tries a method on its part of the file; again where a pause cut it.
    fn attempt(
        &mut self,
        candidate: u32,
        group: &MethodGroup,
        nth: TryPlace,
    ) -> Result<Result<Try, String>, End> {
        loop {
            self.pause(candidate as usize, 1);
            self.control.check_end(self.pace)?;
            let Some(cell) = self.take(candidate as usize) else {
                return Ok(Err("it was excluded from the run".into()));
            };
            let begin = Instant::now();
            let cut = self.cutter(candidate as usize);
            let done = self.try_once(&cell, candidate, group, nth, &|| cut.check());
            self.cells[candidate as usize] = Some(cell);
            if cut.paused() && !matches!(done, Err(Failure::Abandoned)) {
                self.pace.shift(begin.elapsed());
                continue;
            }
            return match done {
                Ok(tried) => Ok(Ok(tried)),
                Err(Failure::Cell(why)) => Ok(Err(why)),
                Err(Failure::Stopped) if self.control.take_skip(candidate as usize) => {
                    Ok(Err("it was skipped by the user".into()))
                }
                Err(Failure::Stopped | Failure::Abandoned) => {
                    Err(self.control.end_reason(self.pace))
                }
            };
        }
    }

    fn try_once(
        &mut self,
        cell: &Cell,
        candidate: u32,
        group: &MethodGroup,
        nth: TryPlace,
        cut: &dyn Fn() -> Option<crate::engine::control::Cut>,
    ) -> Result<Try, Failure> {
        self.sink.event(Event::Progress(self.pace.progress(Phase::Calibrate, Some(candidate), 1)));
        let part = part(&cell.job, &group.found, nth);
        let seed = mix(self.plan.seed ^ nth.place);
        let stage = TrialStage {
            limit: Some(TRY_LIMIT),
            part: Some((part.start, part.end)),
            is_prepared: true,
            ..TrialStage::new(self.targets.main(), self.origin, seed, cut)
        };
        let amount = Amount::once(part.end - part.start);
        let outcome = trial::run(&stage, cell, &amount, &mut |_, _| {});
        let offset = part.start * cell.job.block;
        if group.restore && !cell.job.direct {
            // Errors are ignored: a try that finds its part cached stands out, and a cold trial
            // drops it anyway.
            let _ = drop_part(
                &self.targets.main().file,
                offset,
                (part.end - part.start) * cell.job.block + MAX_READAHEAD,
            );
        }
        let trial = outcome?.trial;
        let (bytes, nanos) = (trial.bytes, trial.nanos);
        Ok(Try {
            cell: candidate,
            offset,
            bytes,
            nanos,
            device_bytes: trial.device_bytes,
            minor_faults: trial.minor_faults,
        })
    }
}

/// The index of a try, the number of tries, and the unit of their parts.
#[derive(Debug, Clone, Copy)]
struct TryPlace {
    place: u64,
    of: u64,
    unit: u64,
}

/// Returns the largest of these blocks; twice that where another one does not divide it, and so
/// begins within a part.
fn unit(blocks: impl Iterator<Item = u64> + Clone) -> u64 {
    let largest = blocks.clone().max().unwrap_or(1).max(1);
    if blocks.into_iter().all(|block| largest.is_multiple_of(block.max(1))) {
        largest
    } else {
        largest.saturating_mul(2)
    }
}

/// Most passes of a trial: a tiny file stays a short trial.
const MAX_PASSES: u64 = 64;

/// Returns how many passes of that many nanoseconds a trial needs, so that one interruption does
/// not dominate it.
fn passes_per_trial(nanos: u64) -> u64 {
    // A pass is often faster than its try was.
    let needed = MIN_REPEATED_TIME.as_nanos() as u64 * 3 / 2;
    if nanos >= needed { 1 } else { needed.div_ceil(nanos.max(1)).min(MAX_PASSES) }
}

/// Returns the number of tries of each method; fewer if an uncached file has fewer parts for each.
fn turns(found: &PickConditions, candidates: u64, unit: u64) -> u64 {
    if found.is_cached() {
        TRIES_OF_CACHED
    } else {
        (found.span / MIN_PART.next_multiple_of(unit) / candidates.max(1)).min(TRIES_OF_UNCACHED)
    }
}

/// Returns the blocks of a try: all of a cached file, else a part that no other try uses, whatever
/// its block size.
fn part(job: &Job, found: &PickConditions, nth: TryPlace) -> Range<u64> {
    if found.is_cached() {
        return 0..job.blocks();
    }
    let slot = job.span / nth.of.max(1) / nth.unit * nth.unit;
    let first = (nth.place * slot).div_ceil(job.block);
    let most = (MAX_PART / job.block).max(1);
    first..((nth.place + 1) * slot / job.block).clamp(first, first + most)
}

#[cfg(test)]
mod tests;

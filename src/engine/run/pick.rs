//! Before the first round of a plan whose cells are ways to do the same: each is tried for a
//! moment, and only the fastest stays in.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Halt, Run};
use crate::backend::meter::Timed;
use crate::backend::order::mix;
use crate::engine::calibrate::timed;
use crate::engine::cells::{Amount, Cell};
use crate::engine::error::Failure;
use crate::engine::prepare::prepare;
use crate::engine::trial::{self, Stage, fixed_count};
use crate::engine::way::faults;
use crate::engine::workers::cpus;
use crate::plan::{Cache, Choice, Job};
use crate::record::{Event, Phase, Pick, PickConditions, SkippedMethod, Try};
use crate::sys::cold::drop_part;

/// A try ends after so long: longer than any start of threads.
const MOMENT: Duration = Duration::from_millis(60);

/// Tries of each way, the ways in turn.
const TURNS: u64 = 3;

/// Of a file that is not cached each try has a part of its own, so large and no larger: below,
/// starting is what would be measured.
const LEAST: u64 = 4 << 20;
const LARGEST: u64 = 64 << 20;

/// As far as the kernel reads ahead of what was asked for, at most.
const AHEAD: u64 = 32 << 20;

/// Why a direct way is not tried on a file that is cached.
const PASSED: &str = "the file is in memory, and direct I/O would go to the device";

/// The ways to do one thing, and what is known of it.
struct Group {
    ways: Vec<u32>,
    found: PickConditions,
    /// What the tries bring into the page cache is dropped again.
    restore: bool,
}

/// Job without what makes it one way and not another.
fn same(job: &Job) -> Job {
    let backend = Choice::plain("");
    Job { backend, block: 1, threads: 1, depth: 1, direct: false, ..job.clone() }
}

impl Run<'_> {
    /// Leaves one cell in the run of all that do the same.
    pub(super) fn pick(&mut self) -> Result<(), Halt> {
        let mut groups: Vec<(Job, Vec<u32>)> = Vec::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let job = same(&cell.job);
            match groups.iter_mut().find(|(known, _)| *known == job) {
                Some((_, ways)) => ways.push(index as u32),
                None => groups.push((job, vec![index as u32])),
            }
        }
        for (job, ways) in groups {
            let pick = self.pick_of(&job, ways.clone())?;
            for way in ways {
                self.leave(way, &pick);
            }
            // A way that was tried and failed says more than one that was not tried.
            if let (None, Some(first)) = (
                pick.cell,
                pick.left_out.iter().find(|out| out.why != PASSED).or(pick.left_out.first()),
            ) {
                self.sink.event(Event::Failed { cell: first.cell, error: first.why.clone() });
            }
            self.sink.event(Event::Picked { pick: Arc::new(pick) });
        }
        Ok(())
    }

    /// The picked cell with its work; any other is out of the run.
    fn leave(&mut self, way: u32, pick: &Pick) {
        let Some(cell) = self.cells.get_mut(way as usize).and_then(Option::as_mut) else { return };
        if pick.cell != Some(way) {
            cell.out = true;
            return;
        }
        let count = fixed_count(&cell.job).unwrap_or(cell.job.blocks());
        // Without a try, as if a byte took a tenth of a nanosecond.
        let rate = pick.rate(way).unwrap_or(1e10).max(1.0);
        let per_op = cell.job.block as f64 * f64::from(cell.job.threads) * 1e9 / rate;
        let timed = if cell.job.blocks() == 0 { Timed::None } else { timed(cell, per_op) };
        let nanos = (count as f64 * cell.job.block as f64 * 1e9 / rate) as u64;
        cell.amount = Some(Amount { count, passes: 1, parts: 1, timed, nanos });
    }

    fn pick_of(&mut self, job: &Job, ways: Vec<u32>) -> Result<Pick, Halt> {
        let found = |resident| PickConditions {
            span: job.span,
            resident,
            cpus: u32::try_from(cpus()).unwrap_or(u32::MAX),
        };
        let cut = self.cutter();
        let resident = match prepare(&self.bench, job, &|| cut.ask().is_some()) {
            Ok(ready) => ready.cached.map(|cached| cached.resident),
            Err(Failure::Cell(why)) => {
                let out =
                    ways.iter().map(|way| SkippedMethod { cell: *way, why: why.clone() }).collect();
                return Ok(Pick::choose(
                    &self.plan.cells,
                    &[],
                    found(None),
                    Vec::new(),
                    out,
                    false,
                    faults,
                ));
            }
            Err(Failure::Stopped | Failure::Abandoned) => return Err(self.halt()),
        };
        let found = found(resident);
        let restore = job.cache == Cache::Cold || found.is_cold();
        let (tries, left_out) = self.tries(Group { ways: ways.clone(), found, restore })?;
        let tried: Vec<u32> =
            ways.into_iter().filter(|way| !left_out.iter().any(|out| out.cell == *way)).collect();
        let restored = restore && !found.is_cached();
        Ok(Pick::choose(&self.plan.cells, &tried, found, tries, left_out, restored, faults))
    }

    fn tries(&mut self, group: Group) -> Result<(Vec<Try>, Vec<SkippedMethod>), Halt> {
        let (mut tries, mut left_out) = (Vec::new(), Vec::new());
        let mut ways = group.ways.clone();
        if group.found.is_cached() && ways.iter().any(|way| !self.plan.cells[*way as usize].direct)
        {
            let direct = |way: &u32| self.plan.cells[*way as usize].direct;
            left_out.extend(
                ways.iter()
                    .filter(|way| direct(way))
                    .map(|way| SkippedMethod { cell: *way, why: PASSED.into() }),
            );
            ways.retain(|way| !direct(way));
        }
        // The only one there is needs no proof.
        let unit = self.unit(&ways);
        let turns = if ways.len() < 2 { 0 } else { turns(&group.found, ways.len() as u64, unit) };
        for turn in 0..turns {
            for place in 0..ways.len() as u64 {
                // Each turn begins with another one.
                let way = ways[((place + turn) % ways.len() as u64) as usize];
                if left_out.iter().any(|out: &SkippedMethod| out.cell == way) {
                    continue;
                }
                let nth = Nth {
                    place: turn * ways.len() as u64 + place,
                    of: turns * ways.len() as u64,
                    unit,
                };
                match self.attempt(way, &group, nth)? {
                    Ok(tried) => tries.push(tried),
                    Err(why) => left_out.push(SkippedMethod { cell: way, why }),
                }
            }
        }
        Ok((tries, left_out))
    }

    /// What a part of a cold file is a multiple of, so that each of these ways has a whole block in
    /// it.
    fn unit(&self, ways: &[u32]) -> u64 {
        unit(ways.iter().map(|way| self.plan.cells[*way as usize].block))
    }

    /// Tries a way on the `nth` part of so many; again where a pause cut it.
    fn attempt(&mut self, way: u32, group: &Group, nth: Nth) -> Result<Result<Try, String>, Halt> {
        loop {
            self.pause(way as usize, 1);
            self.halted()?;
            let Some(cell) = self.cells[way as usize].take() else {
                return Ok(Err("it is out of the run".into()));
            };
            let begin = Instant::now();
            let cut = self.cutter();
            let done = self.once(&cell, way, group, nth, &|| cut.ask());
            self.cells[way as usize] = Some(cell);
            if cut.paused() && !matches!(done, Err(Failure::Abandoned)) {
                self.pace.shift(begin.elapsed());
                continue;
            }
            return match done {
                Ok(tried) => Ok(Ok(tried)),
                Err(Failure::Cell(why)) => Ok(Err(why)),
                Err(Failure::Stopped) if self.control.take_skip() => {
                    Ok(Err("it was skipped during its try".into()))
                }
                Err(Failure::Stopped | Failure::Abandoned) => Err(self.halt()),
            };
        }
    }

    fn once(
        &mut self,
        cell: &Cell,
        way: u32,
        group: &Group,
        nth: Nth,
        cut: &dyn Fn() -> Option<crate::engine::control::Cut>,
    ) -> Result<Try, Failure> {
        self.sink.event(Event::Progress(self.pace.at(Phase::Calibrate, Some(way), 1)));
        let part = part(&cell.job, &group.found, nth);
        let seed = mix(self.plan.seed ^ nth.place);
        let stage = Stage {
            bench: &self.bench,
            origin: self.origin,
            seed,
            cut,
            limit: Some(MOMENT),
            part: Some(part.clone()),
        };
        let amount = Amount {
            count: part.end - part.start,
            passes: 1,
            parts: 1,
            timed: Timed::None,
            nanos: 0,
        };
        let took = trial::run(&stage, cell, &amount, &mut |_, _| {});
        let offset = part.start * cell.job.block;
        if group.restore && !cell.job.direct {
            // No matter if it fails: a try that finds its part cached stands out, and a cold trial
            // makes cold itself.
            let _ = drop_part(
                &self.bench.file,
                offset,
                (part.end - part.start) * cell.job.block + AHEAD,
            );
        }
        let trial = took?.trial;
        let (bytes, nanos) = (trial.bytes, trial.nanos);
        Ok(Try {
            cell: way,
            offset,
            bytes,
            nanos,
            device_bytes: trial.device_bytes,
            minor_faults: trial.minor_faults,
        })
    }
}

/// Which try it is of how many, and what their parts are multiples of.
#[derive(Debug, Clone, Copy)]
struct Nth {
    place: u64,
    of: u64,
    unit: u64,
}

/// The largest of these blocks; twice that where another one does not divide it, and so begins
/// within a part.
fn unit(blocks: impl Iterator<Item = u64> + Clone) -> u64 {
    let largest = blocks.clone().max().unwrap_or(1).max(1);
    if blocks.into_iter().all(|block| largest.is_multiple_of(block.max(1))) {
        largest
    } else {
        largest.saturating_mul(2)
    }
}

/// How often each of the ways is tried: a file that is cached as often as is wanted, one that is
/// not as often as it has parts.
fn turns(found: &PickConditions, ways: u64, unit: u64) -> u64 {
    if found.is_cached() {
        TURNS
    } else {
        (found.span / LEAST.next_multiple_of(unit) / ways.max(1)).min(TURNS)
    }
}

/// The blocks of a try: all of a file that is cached, else a part that no other try has, whatever
/// its block.
fn part(job: &Job, found: &PickConditions, nth: Nth) -> Range<u64> {
    if found.is_cached() {
        return 0..job.blocks();
    }
    let slot = job.span / nth.of.max(1) / nth.unit * nth.unit;
    let first = (nth.place * slot).div_ceil(job.block);
    let most = (LARGEST / job.block).max(1);
    first..((nth.place + 1) * slot / job.block).clamp(first, first + most)
}

#[cfg(test)]
mod tests;

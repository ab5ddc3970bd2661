//! `sweep`: every combination of the requested axes.

use std::collections::HashSet;
use std::time::Duration;

use super::error::{MAX_CELLS, PlanError};
use super::kind::{Experiment, PlanRequest};
use super::refusal::refusal;
use crate::plan::{
    Backends, Cache, Choice, CpuCache, DefaultFor, Info, Job, Moves, Op, Pattern, Plan, Range,
    Settings, Skipped, Sync, TrialTime, Writes, nearest,
};

pub struct Sweep;

impl Experiment for Sweep {
    fn id(&self) -> &'static str {
        "sweep"
    }

    fn about(&self) -> &'static str {
        "all combinations of backends, block sizes, cache states, threads, depths, counts and spans"
    }

    fn cells(
        &self,
        settings: &Settings,
        request: &PlanRequest,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        let axes = Axes::of(settings, request)?;
        let (mut cells, mut skipped, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        axes.each(|info, job| {
            let job = sensible(info, job);
            if !seen.insert(job.clone()) {
                return;
            }
            match refusal(info, &job, request) {
                None => cells.push(job),
                Some(reason) => skipped.push(Skipped { cell: job, reason }),
            }
        });
        Ok((cells, skipped))
    }
}

/// Returns the trial time where none is set: 0.3 s, or less so that calibration and one round fit
/// in the budget in addition to `starts`, the start-up time of peers.
pub(super) fn trial_time(cells: usize, budget: Duration, starts: Duration) -> TrialTime {
    // Calibration takes about 1.5 trials, preparation about a third of one.
    let fits = (budget.saturating_sub(starts)).as_secs_f64() / (cells as f64 * FIRST_ROUND);
    let time = Duration::from_millis((fits * 1000.0) as u64)
        .clamp(MIN_TRIAL_TIME, TrialTime::default().low);
    TrialTime::of(time)
}

/// Minimum of a trial time that is fitted to a budget.
pub const MIN_TRIAL_TIME: Duration = Duration::from_millis(1);

/// The time of one cell in the first round, in trial times: calibration, preparation and one trial.
pub const FIRST_ROUND: f64 = 3.3;

/// The values of every axis.
struct Axes {
    backends: Vec<(Choice, &'static Info)>,
    blocks: Vec<u64>,
    counts: Vec<Option<u64>>,
    threads: Vec<u64>,
    depths: Vec<u64>,
    caches: Vec<Cache>,
    spans: Vec<u64>,
    op: Op,
    pattern: Pattern,
    direct: bool,
    xor: bool,
    sync: Sync,
    mixes: Vec<Option<u8>>,
    cpu_caches: Vec<CpuCache>,
    writes: Vec<Writes>,
}

impl Axes {
    fn of(settings: &Settings, request: &PlanRequest) -> Result<Axes, PlanError> {
        let (direct, size) = (settings.direct.unwrap_or(false), request.target.size());
        let backends = backends(settings, request.infos)?;
        let op = settings
            .op
            .unwrap_or_else(|| usual_op(settings, backends.iter().map(|(_, info)| *info)));
        let values = |range: &Option<Range>, default: &[u64]| {
            range.as_ref().map_or(default.to_vec(), |r| r.values.clone())
        };
        let axes = Axes {
            backends,
            blocks: values(&settings.block_size, &DEFAULT_BLOCKS),
            counts: settings
                .count
                .as_ref()
                .map_or(vec![None], |r| r.values.iter().copied().map(Some).collect()),
            threads: values(&settings.threads, &[1]),
            depths: values(&settings.depth, &[1]),
            caches: settings.cache.clone().unwrap_or_else(|| default_caches(op, direct)),
            spans: spans(settings, request.allowed).unwrap_or_else(|| vec![size]),
            op,
            pattern: settings.pattern.unwrap_or(Pattern::Seq),
            direct,
            xor: settings.xor.unwrap_or(false),
            sync: settings.sync.unwrap_or(Sync::None),
            mixes: settings.mix.as_ref().map_or(vec![None], |r| {
                r.values.iter().map(|percent| Some((*percent).min(100) as u8)).collect()
            }),
            cpu_caches: settings.cpu_cache.clone().unwrap_or_else(|| vec![CpuCache::Keep]),
            writes: settings.writes.clone().unwrap_or_else(|| vec![Writes::Overwrite]),
        };
        axes.check(size)?;
        Ok(axes)
    }

    /// Checks what is wrong in any combination.
    fn check(&self, size: u64) -> Result<(), PlanError> {
        if size == 0 {
            return Err(PlanError::Empty);
        }
        if self.spans.contains(&0) {
            return Err(PlanError::NoSpan);
        }
        if self.blocks.contains(&0) {
            return Err(PlanError::NoBlock);
        }
        if self.op != Op::Write && self.sync != Sync::None {
            return Err(PlanError::SyncRead);
        }
        if self.op != Op::Write && self.writes != [Writes::Overwrite] {
            return Err(PlanError::AppendRead);
        }
        if self.op != Op::Write && self.mixes != [None] {
            return Err(PlanError::MixRead);
        }
        if self.direct && self.caches == [Cache::Warm] {
            return Err(PlanError::WarmDirect);
        }
        let lens = [
            self.backends.len(),
            self.blocks.len(),
            self.counts.len(),
            self.threads.len(),
            self.depths.len(),
        ];
        let more = [
            self.caches.len(),
            self.spans.len(),
            self.mixes.len(),
            self.cpu_caches.len(),
            self.writes.len(),
        ];
        let all =
            lens.into_iter().chain(more).fold(1u64, |all, len| all.saturating_mul(len as u64));
        if all > MAX_CELLS {
            return Err(PlanError::TooMany(all));
        }
        match self.blocks.iter().find(|b| **b > Job::MAX_BLOCK) {
            Some(block) => Err(PlanError::HugeBlock(*block)),
            None => Ok(()),
        }
    }

    /// Calls `take` for every combination; block sizes vary fastest, so that a table reads
    /// downwards as a curve.
    fn each(&self, mut take: impl FnMut(&'static Info, Job)) {
        for (cache, cpu_cache) in pairs(&self.caches, &self.cpu_caches) {
            let kinds = pairs(&self.mixes, &self.writes);
            for ((backend, info), (mix, writes)) in
                self.backends.iter().flat_map(|b| kinds.iter().map(move |kind| (b, *kind)))
            {
                for (threads, depth) in pairs(&self.threads, &self.depths) {
                    for (span, count) in pairs(&self.spans, &self.counts) {
                        for block in &self.blocks {
                            let job =
                                self.job(backend, cache, *block, (threads, depth), (span, count));
                            take(info, Job { mix, cpu_cache, writes, ..job });
                        }
                    }
                }
            }
        }
    }

    fn job(
        &self,
        backend: &Choice,
        cache: Cache,
        block: u64,
        (threads, depth): (u64, u64),
        (span, count): (u64, Option<u64>),
    ) -> Job {
        Job {
            backend: backend.clone(),
            op: self.op,
            pattern: self.pattern,
            block,
            count,
            span,
            threads: threads as u32,
            depth: depth as u32,
            cache,
            direct: self.direct,
            xor: self.xor,
            sync: self.sync,
            mix: None,
            cpu_cache: CpuCache::Keep,
            writes: Writes::Overwrite,
        }
    }
}

fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y))).collect()
}

/// Returns the requested spans, given as sizes or as shares of the `allowed` memory; `None`: the
/// whole file.
pub fn spans(settings: &Settings, allowed: u64) -> Option<Vec<u64>> {
    // A multiple of large pages, so that every usual block size divides it.
    const EVEN: u64 = 2 << 20;
    let share = |percent: &u64| {
        (u128::from(allowed) * u128::from(*percent) / 100).min(1 << 62) as u64 / EVEN * EVEN
    };
    let shares = || {
        settings
            .memory_share
            .as_ref()
            .map(|shares| shares.values.iter().map(share).filter(|span| *span > 0).collect())
    };
    settings.size.as_ref().map(|sizes| sizes.values.clone()).or_else(shares)
}

/// Default block sizes.
const DEFAULT_BLOCKS: [u64; 4] = [4096, 32 << 10, 256 << 10, 2 << 20];

/// The backends where none is named.
fn usual_backends(settings: &Settings, infos: &[&'static Info]) -> Vec<Choice> {
    let work = if settings.mix.is_some() {
        DefaultFor::Mix
    } else {
        settings.op.unwrap_or_else(|| usual_op(settings, [])).into()
    };
    let usual = infos.iter().filter(|info| info.default_for.contains(&work));
    usual.map(|info| Choice::plain(info.id)).collect()
}

fn usual_op(settings: &Settings, backends: impl IntoIterator<Item = &'static Info>) -> Op {
    if settings.mix.is_some() || settings.writes.is_some() {
        return Op::Write;
    }
    let mut backends = backends.into_iter().peekable();
    let only_seek = backends.peek().is_some() && backends.all(|info| info.ops == [Op::Seek]);
    if only_seek { Op::Seek } else { Op::Read }
}

/// Returns these settings completed by the defaults of a sweep, for a front end that shows its
/// choices.
pub fn usual(settings: &Settings, infos: &[&'static Info]) -> Settings {
    let mut all = settings.clone();
    let resolved = backends(settings, infos).unwrap_or_default();
    let op =
        *all.op.get_or_insert_with(|| usual_op(settings, resolved.iter().map(|(_, info)| *info)));
    let direct = *all.direct.get_or_insert(false);
    all.backend.get_or_insert_with(|| {
        Backends::These(resolved.into_iter().map(|(choice, _)| choice).collect())
    });
    all.block_size.get_or_insert_with(|| Range::list(&DEFAULT_BLOCKS));
    all.pattern.get_or_insert(Pattern::Seq);
    all.threads.get_or_insert_with(|| Range::list(&[1]));
    all.depth.get_or_insert_with(|| Range::list(&[1]));
    all.cache.get_or_insert_with(|| default_caches(op, direct));
    all.xor.get_or_insert(false);
    all.sync.get_or_insert(Sync::None);
    all.cpu_cache.get_or_insert_with(|| vec![CpuCache::Keep]);
    all.writes.get_or_insert_with(|| vec![Writes::Overwrite]);
    all
}

fn default_caches(op: Op, direct: bool) -> Vec<Cache> {
    if direct || op == Op::Write { vec![Cache::AsIs] } else { vec![Cache::Cold, Cache::Warm] }
}

fn backends(
    settings: &Settings,
    infos: &[&'static Info],
) -> Result<Vec<(Choice, &'static Info)>, PlanError> {
    let choices = match &settings.backend {
        Some(backends) => backends.choices(infos),
        None => usual_backends(settings, infos),
    };
    let mut resolved = Vec::new();
    for choice in choices {
        let info = infos
            .iter()
            .find(|i| i.id == choice.id)
            .ok_or_else(|| nearest("backend", &choice.id, infos.iter().map(|i| i.id)))?;
        choice.check(info)?;
        resolved.push((choice.known(info), *info));
    }
    Ok(resolved)
}

/// Returns the job with settings that have no effect on its backend set to neutral values, so that
/// it is one cell and not several.
pub(super) fn sensible(info: &Info, mut job: Job) -> Job {
    // Next to reads a seek shows the cost of a call; next to writes it was not requested.
    if job.op == Op::Read && info.ops == [Op::Seek] {
        job.op = Op::Seek;
    }
    if info.moves() == Moves::Nothing {
        // A backend that only maps and touches a file still depends on the cache.
        job.cache = if info.cached { job.cache } else { Cache::AsIs };
        job.direct = false;
        job.xor = false;
        job.sync = Sync::None;
        job.mix = None;
        job.cpu_cache = CpuCache::Keep;
        job.writes = Writes::Overwrite;
    }
    if job.appends() {
        // An empty file has no cache state.
        job.cache = Cache::AsIs;
    }
    job
}

/// The overhead of a peer around one trial, for loading, starting and ending: dd takes some
/// milliseconds, fio 0.3 to 0.5 s.
pub const PEER_START: Duration = Duration::from_millis(400);

/// Returns the start-up time of all peers in one round.
pub(super) fn starts(cells: &[Job]) -> Duration {
    let peers = cells.iter().filter(|cell| cell.backend.peer).count();
    PEER_START * u32::try_from(peers).unwrap_or(u32::MAX)
}

/// Returns the expected duration of a plan, for `--dry-run`.
pub fn estimate(plan: &Plan) -> Duration {
    let once = plan.trial_time.low.as_secs_f64() * 1.3 * plan.cells.len() as f64;
    let rounds = f64::from(plan.trials.unwrap_or(Plan::ROUNDS));
    // Each batch of a probe is prepared again, and the first one is calibrated.
    let probes = plan.trial_time.low.as_secs_f64() * 1.5 * plan.probes.len() as f64;
    let probing = probes * (f64::from(plan.probe_rounds()) + 1.5);
    let starts = starts(&plan.cells).as_secs_f64() * (rounds + 1.0);
    Duration::from_secs_f64(
        (once * (rounds + 1.5) + probing + starts).min(plan.budget.as_secs_f64()),
    )
}

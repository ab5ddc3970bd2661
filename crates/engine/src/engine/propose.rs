//! Turns the request of a front end into a plan: locates and inspects the target, checks what this
//! machine supports, and builds an experiment. Also inspects the targets of an existing plan.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::ceilings;
use super::error::EngineError;
use super::executor::Executor;
use super::locate::{
    PlaceError, absolute, is_target, locate_list, locate_target, scratch_dir, usable,
};
use super::probing;
use super::ranks::Started;
use super::target::OpenTarget;
use crate::backend::Target;
use crate::catalog::{self, infos};
use crate::experiment::{
    self, AvailableProbes, CALLS, PlanError, PlanRequest, Proposed, requested_probes, spans,
};
use crate::facts::{TargetFacts, TargetKind};
use crate::plan::{
    Axis, Cache, Choice, CpuList, Job, Neighbour, Op, Part, Plan, Preset, ProbeCell, ProbeInfo,
    Range, Resolved, Settings, TargetSpec, Variant, find_probes, target_name,
};
use crate::probe::{self, ProbeContext};
use crate::stats::random;
use crate::sys::cold;
use crate::sys::memory::free_memory;
use crate::sys::threads::Affinity;
use crate::units::show_bytes;

/// The request of a front end for a plan.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The named file or device; `None` = a scratch file.
    pub file: Option<&'a Path>,
    /// Further files, or without a file further folders of scratch files; measured in the same
    /// rounds.
    pub others: &'a [PathBuf],
    /// Read the files, and all files of folders among them, as one.
    pub as_one: bool,
    /// The folder of the scratch file; `None` = the first usable one.
    pub dir: Option<&'a Path>,
    /// The variants of the machine that every cell is measured in, in turn.
    pub variants: &'a [Variant],
    /// Keep the scratch file.
    pub keep: bool,
    pub presets: &'a [Preset],
    /// The settings given by the user; the presets fill the gaps.
    pub settings: &'a Settings,
    /// Check all backends and peers, even if the plan does not use them.
    pub survey: bool,
    /// `None` = this process alone.
    pub ranks: Option<Started>,
}

impl<'a> Proposal<'a> {
    /// Returns the request for these presets and settings on a scratch file, by one process.
    pub fn new(presets: &'a [Preset], settings: &'a Settings) -> Proposal<'a> {
        Proposal {
            file: None,
            others: &[],
            as_one: false,
            dir: None,
            variants: &[],
            keep: false,
            presets,
            settings,
            survey: false,
            ranks: None,
        }
    }
}

/// Why there is no plan, in one line that names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    #[error(
        "--dir and --keep apply to scratch files, but the file {} was named; drop one of the two",
        .0.display()
    )]
    NotScratch(PathBuf),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Target(#[from] EngineError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Cold(String),
    #[error("--cpus {cpus}: CPU {cpu} is not among {allowed}, which this process may use")]
    Cpu { cpus: CpuList, cpu: u32, allowed: CpuList },
    #[error("{} and {} are the same; name each once", .0.display(), .1.display())]
    Same(PathBuf, PathBuf),
    #[error("{0} targets were named; the limit is {max}", max = Plan::MAX_TARGETS)]
    TooMany(usize),
    #[error("{0} measures one file; name one of them")]
    OneFile(String),
    #[error("{0} reads no files, and --as-one only reads; leave out --as-one")]
    ListOfNone(String),
    #[error("ranks do not divide a list of files; leave out --as-one")]
    ListOfRanks,
    #[error("--neighbour: {0}")]
    Neighbour(Box<ProposeError>),
    #[error(
        "--neighbour: its options make {0} jobs, and it is one: give it one value of each; only \
         --rate may have several"
    )]
    Neighbours(usize),
    #[error("--neighbour: {0} is another program; name a backend of iotui")]
    NeighbourPeer(String),
    #[error(
        "--neighbour needs a folder for its file, and a device has none; name a file on the device"
    )]
    NeighbourOfDevice,
    #[error("--neighbour and --between both make the variants of a run; drop one of them")]
    NeighbourBetween,
    #[error(
        "--neighbour-share is a share of the neighbour's full speed; give a --neighbour without a \
         --rate"
    )]
    NeighbourShare,
}

/// Inspects the target and this machine, and makes a plan. Leaves no files behind.
pub fn propose(asked: &Proposal) -> Result<Proposed, ProposeError> {
    let Proposal { file, others, dir, variants, keep, presets, settings, survey, ranks, .. } =
        *asked;
    if let Some(file) = file
        && (dir.is_some() || keep)
    {
        return Err(ProposeError::NotScratch(file.into()));
    }
    let settings = &of_list(settings, asked.as_one);
    let resolved = Resolved::new(settings, presets);
    let op = resolved.parts.first().and_then(|part| part.settings.op).unwrap_or(Op::Read);
    let dropping = check_drop_caches(&resolved.whole);
    if let (Some(_), Err(why)) = (settings.cold, &dropping) {
        return Err(ProposeError::Cold(why.clone()));
    }
    resolved.whole.cpus.as_ref().map_or(Ok(()), check_cpus)?;
    let allowed = free_memory().unwrap_or(u64::MAX);
    let alone = asked.file.filter(|_| writes_by_itself(&resolved) && !asked.as_one);
    let beside = alone.and_then(folder_of_a_file);
    let (target, open_target) = place_first(asked, &resolved, beside.as_deref(), allowed)?;
    let others = match others {
        _ if asked.as_one => Vec::new(),
        [] => Vec::new(),
        _ if beside.is_some() || open_target.is_none() => {
            return Err(ProposeError::OneFile(names_of(presets)));
        }
        others => place_others(asked, others, &resolved, allowed)?,
    };
    let ranks = ranks.map(|of| of.ranks);
    let neighbours = propose_neighbours(asked, &resolved, &target, open_target.as_ref())?;
    let variants = if neighbours.is_empty() { variants } else { &neighbours };
    let here = PlanResources { target, open_target, others, variants, allowed, dropping, ranks };
    let plan = here.fitting_plan(&resolved)?;
    if plan.pick && (!plan.others.is_empty() || asked.as_one) {
        return Err(ProposeError::OneFile(names_of(presets)));
    }
    let common_span = describe_common_span(&plan, settings);
    let instead = beside.zip(asked.file).map(|(_, file)| instead(file, presets));
    let unavailable = match &here.open_target {
        Some(open_target) if survey => unavailable(&open_target.target, op),
        _ => Vec::new(),
    };
    Ok(Proposed {
        unavailable,
        facts: here.open_target.map(|open_target| open_target.facts).unwrap_or_default(),
        plan,
        instead,
        common_span,
    })
}

/// Returns the variants with and without a neighbour, if one is requested: its file is in the
/// folder of the target.
fn propose_neighbours(
    asked: &Proposal,
    resolved: &Resolved,
    target: &TargetSpec,
    open_target: Option<&OpenTarget>,
) -> Result<Vec<Variant>, ProposeError> {
    let Resolved { whole, .. } = resolved;
    let Some(options) = &whole.neighbour else {
        let share = whole.neighbour_share.as_ref();
        return share.map_or(Ok(Vec::new()), |_| Err(ProposeError::NeighbourShare));
    };
    if !asked.variants.is_empty() {
        return Err(ProposeError::NeighbourBetween);
    }
    if open_target.is_none() {
        return Err(PlanError::VariantsOfNone.into());
    }
    if open_target.is_some_and(|of| of.facts.kind == TargetKind::Device) {
        return Err(ProposeError::NeighbourOfDevice);
    }
    let sweep = [Preset {
        id: "neighbour".into(),
        experiment: "sweep".into(),
        // Of several backends the first that works here.
        first_backend: true,
        settings: Settings { cache: Some(vec![Cache::AsIs]), ..Settings::clone(options) },
        ..Preset::default()
    }];
    let none = Settings::default();
    let own = Proposal { dir: target.folder(), ..Proposal::new(&sweep, &none) };
    let plan = propose(&own).map_err(|error| ProposeError::Neighbour(Box::new(error)))?.plan;
    let unpaced: HashSet<Job> = plan.cells.iter().map(|job| Axis::Rate.without(job)).collect();
    if unpaced.len() > 1 {
        return Err(ProposeError::Neighbours(unpaced.len()));
    }
    if let Some(peer) = unpaced.iter().find(|job| job.backend.peer) {
        return Err(ProposeError::NeighbourPeer(peer.backend.to_string()));
    }
    let neighbour = |job: &Job, share| Neighbour {
        options: options.argv().join(" "),
        job: job.clone(),
        target: plan.target.clone(),
        share,
        compressible: plan.compressible,
        dedupe: plan.dedupe,
    };
    let mut neighbours: Vec<Neighbour> = match &whole.neighbour_share {
        Some(_) if options.rate.is_some() => return Err(ProposeError::NeighbourShare),
        Some(shares) => {
            let each = |share: &u64| Some((*share).min(100) as u8);
            let with = |share| plan.cells.iter().map(move |job| (job, each(share)));
            shares.values.iter().flat_map(with).map(|(job, at)| neighbour(job, at)).collect()
        }
        None => plan.cells.iter().map(|job| neighbour(job, None)).collect(),
    };
    // The answer is about the last one.
    neighbours.sort_by_key(|of| (of.share, of.job.rate));
    Ok(Variant::next_to(neighbours))
}

/// Checks whether the requested cache-drop level is available.
fn check_drop_caches(whole: &Settings) -> Result<(), String> {
    let cold = whole.cold.unwrap_or_default();
    if cold.is_data() {
        Ok(())
    } else {
        cold::check_drop_caches().map_err(|why| format!("--cold {cold} {why}"))
    }
}

/// Checks whether this process may use these CPUs; each thread checks it again.
fn check_cpus(cpus: &CpuList) -> Result<(), ProposeError> {
    let Ok(current) = Affinity::current() else { return Ok(()) };
    let allowed: Vec<u32> = current.cpus().into_iter().map(|cpu| cpu as u32).collect();
    let other = cpus.distinct().into_iter().find(|cpu| !allowed.contains(cpu));
    match other.zip(CpuList::from_cpus(allowed.into_iter())) {
        Some((cpu, allowed)) => Err(ProposeError::Cpu { cpus: cpus.clone(), cpu, allowed }),
        None => Ok(()),
    }
}

/// The resources that a plan may use on this machine.
struct PlanResources<'a> {
    target: TargetSpec,
    open_target: Option<OpenTarget>,
    others: Vec<(TargetSpec, OpenTarget)>,
    variants: &'a [Variant],
    /// Memory that this process may use, bytes.
    allowed: u64,
    dropping: Result<(), String>,
    ranks: Option<u32>,
}

impl PlanResources<'_> {
    /// Checks whether a job can run here; the error is the reason.
    fn check(&self, job: &Job) -> Result<(), String> {
        match (Executor::from_choice(&job.backend), self.target_of(job)) {
            _ if job.cache == Cache::Cold && self.dropping.is_err() => self.dropping.clone(),
            (Ok(executor), Some(open_target)) => executor.check(&open_target.target, job),
            (Ok(_), None) => Err("there is no file to measure".into()),
            (Err(unknown), _) => Err(unknown.to_string()),
        }
    }

    fn target_of(&self, job: &Job) -> Option<&OpenTarget> {
        match job.target_index().checked_sub(1) {
            Some(other) => self.others.get(other).map(|(_, open_target)| open_target),
            None => self.open_target.as_ref(),
        }
    }

    /// Returns the first target with the size of the smallest target, or of a rank's part if ranks
    /// share the file.
    fn common_target(&self) -> TargetSpec {
        let others = self.others.iter().map(|(spec, _)| spec.size());
        let size = others.fold(self.target.size(), u64::min);
        let shares = matches!(self.target, TargetSpec::File { .. });
        self.target.with_size(size / self.ranks.filter(|_| shares).unwrap_or(1).max(1) as u64)
    }

    /// Returns the plan, if all its files fit into what its only target's file system has free.
    fn fitting_plan(&self, resolved: &Resolved) -> Result<Plan, ProposeError> {
        let plan = self.plan(resolved)?;
        let space = self.open_target.as_ref().and_then(|of| of.facts.space);
        // Ranks of other machines use disks of their own.
        let alone = self.ranks.is_none() && self.others.is_empty();
        let (Some(dir), Some(space)) = (plan.target.folder(), space.filter(|_| alone)) else {
            return Ok(plan);
        };
        let neighbours = plan.variants.iter().filter_map(|variant| variant.neighbour.as_ref());
        let neighbour = neighbours.map(|of| of.target.size()).max().unwrap_or(0);
        let (need, free) = (plan.stored().saturating_add(neighbour), space.available);
        match need > usable(free) {
            true => {
                let dir = dir.into();
                Err(PlaceError::Full { dir, need, files: 1, free, by_quota: false }.into())
            }
            false => Ok(plan),
        }
    }

    fn plan(&self, resolved: &Resolved) -> Result<Plan, PlanError> {
        let Resolved { whole, presets, .. } = resolved;
        let site = OnceCell::new();
        let make_site =
            || probing::site(&self.target, whole.remote.as_ref()).with_sets(whole.sets.as_deref());
        let cells = |info: &'static ProbeInfo| list_cells(info, site.get_or_init(make_site));
        let plan = experiment::plan(&PlanRequest {
            resolved,
            target: self.common_target(),
            targets: 1 + self.others.len() as u8,
            variants: self.variants,
            infos: &infos(),
            check: &|job| self.check(job),
            // Half of the free memory: the page cache needs the rest.
            memory: self.allowed / 2,
            allowed: self.allowed,
            // Takes 5 ms, so only where the plan depends on it.
            call: if presets.iter().any(|preset| preset.experiment == CALLS) {
                ceilings::syscall_nanos()
            } else {
                0.0
            },
            cpus: super::workers::cpus() as u32,
            seed: seed(),
            ranks: self.ranks,
            probes: &AvailableProbes { infos: catalog::PROBES, cells: &cells },
        })?;
        let others = self.others.iter().map(|(spec, _)| spec.clone()).collect();
        Ok(Plan { target: self.target.clone(), others, ..plan })
    }
}

/// Returns the cells of a probe, and why one is unavailable here.
fn list_cells(
    info: &'static ProbeInfo,
    site: &ProbeContext,
) -> Vec<(ProbeCell, Result<(), String>)> {
    let Ok(probe) = probe::probe(info.id) else { return Vec::new() };
    probe.cells(site).into_iter().map(|cell| (cell.clone(), probe.check(&cell, site))).collect()
}

/// Returns the target of a plan with probes only: the named file, a folder where a probe creates
/// files, else nothing.
fn without_file(
    asked: &Proposal,
    resolved: &Resolved,
) -> Result<(TargetSpec, Option<OpenTarget>), ProposeError> {
    if asked.file.is_some() {
        let target = locate_target(asked.file, None, None, false, false, None)?;
        let open_target = OpenTarget::probe(&target)?;
        return Ok((target, Some(open_target)));
    }
    let words: Vec<String> = requested_probes(resolved).into_iter().cloned().collect();
    let infos = catalog::PROBES;
    let makes_files =
        find_probes(&words, infos).is_ok_and(|named| named.iter().any(|info| info.makes_files));
    let target = match scratch_dir(asked.dir) {
        Ok(dir) if makes_files => TargetSpec::Scratch { dir: absolute(&dir), size: 0, keep: false },
        // A named folder must exist; without one, the probes that need a folder report that.
        Err(error) if asked.dir.is_some() => return Err(error.into()),
        _ => TargetSpec::None,
    };
    Ok((target, None))
}

/// Returns whether the presets write in all of their parts without a request of the user.
fn writes_by_itself(resolved: &Resolved) -> bool {
    let Resolved { user, parts, .. } = resolved;
    user.op != Some(Op::Write)
        && user.mix.is_none()
        && user.writes.is_none()
        && !parts.is_empty()
        && parts.iter().all(writes)
}

/// Returns the folder of an existing regular file, if files can be created in it: it is on the same
/// disk.
fn folder_of_a_file(file: &Path) -> Option<PathBuf> {
    let whole = fs::canonicalize(file).ok()?;
    let dir =
        fs::metadata(&whole).ok()?.is_file().then(|| whole.parent().map(Path::to_path_buf))??;
    scratch_dir(Some(&dir)).is_ok().then_some(dir)
}

fn instead(file: &Path, presets: &[Preset]) -> String {
    format!(
        "{} writes, so it uses a scratch file next to {}, which stays untouched",
        names_of(presets),
        file.display()
    )
}

fn names_of(presets: &[Preset]) -> String {
    presets.iter().map(|preset| preset.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the settings of a list: files of threads are not written, as otherwise.
fn of_list(settings: &Settings, as_one: bool) -> Settings {
    let reads = as_one
        && settings.file_per.is_some()
        && settings.mix.is_none()
        && settings.writes.is_none();
    Settings { op: settings.op.or(reads.then_some(Op::Read)), ..settings.clone() }
}

/// Returns the first target; a scratch file in `folder` if there is one.
fn place_first(
    asked: &Proposal,
    resolved: &Resolved,
    folder: Option<&Path>,
    allowed: u64,
) -> Result<(TargetSpec, Option<OpenTarget>), ProposeError> {
    let target = match folder {
        _ if asked.as_one => place_list(asked, resolved)?,
        _ if !experiment::needs_file(asked.presets) => return without_file(asked, resolved),
        Some(dir) => {
            place_target(&Proposal { file: None, dir: Some(dir), ..*asked }, resolved, allowed)?
        }
        None => place_target(asked, resolved, allowed)?,
    };
    let open_target = OpenTarget::probe(&target)?;
    Ok((target, Some(open_target)))
}

/// Returns the files that are read as one.
fn place_list(asked: &Proposal, resolved: &Resolved) -> Result<TargetSpec, ProposeError> {
    if asked.ranks.is_some() {
        return Err(ProposeError::ListOfRanks);
    }
    if !experiment::needs_file(asked.presets) || resolved.parts.iter().all(writes) {
        return Err(ProposeError::ListOfNone(names_of(asked.presets)));
    }
    let paths = asked.file.into_iter().chain(asked.others.iter().map(PathBuf::as_path));
    Ok(locate_list(paths)?)
}

/// Returns the further targets, each another file.
fn place_others(
    asked: &Proposal,
    others: &[PathBuf],
    resolved: &Resolved,
    allowed: u64,
) -> Result<Vec<(TargetSpec, OpenTarget)>, ProposeError> {
    let count = 1 + others.len();
    if count > Plan::MAX_TARGETS {
        return Err(ProposeError::TooMany(count));
    }
    let mut placed: Vec<(TargetSpec, OpenTarget)> = Vec::new();
    for path in others {
        let one = match asked.file {
            Some(_) => Proposal { file: Some(path), ..*asked },
            None => Proposal { dir: Some(path), ..*asked },
        };
        let spec = place_target(&one, resolved, allowed)?;
        let is_same = |before: &Path| match asked.file {
            Some(_) => is_target(&spec, before),
            None => fs::canonicalize(before).ok() == fs::canonicalize(path).ok(),
        };
        let before = asked.file.or(asked.dir).into_iter();
        let mut before = before.chain(others.iter().map(PathBuf::as_path)).take(1 + placed.len());
        if let Some(same) = before.find(|before| is_same(before)) {
            return Err(ProposeError::Same(same.into(), path.clone()));
        }
        let open_target = OpenTarget::probe(&spec)?;
        placed.push((spec, open_target));
    }
    Ok(placed)
}

/// Describes the span if the targets differ in size and the user requested none.
fn describe_common_span(plan: &Plan, settings: &Settings) -> Option<String> {
    let smallest = plan.targets().map(TargetSpec::size).min()?;
    let differ = plan.targets().any(|target| target.size() != smallest);
    let requested = settings.size.is_some() || settings.memory_share.is_some();
    (differ && !requested).then(|| {
        let at = plan.targets().position(|target| target.size() == smallest).unwrap_or(0);
        format!(
            "the files differ in size: each is used up to the size of {}, {}",
            target_name(at as u8),
            show_bytes(smallest)
        )
    })
}

fn writes(part: &Part) -> bool {
    let part = &part.settings;
    part.op == Some(Op::Write) || (part.op.is_none() && part.writes.is_some()) || part.mix.is_some()
}

/// Returns the target for all parts: reads use an existing file, writes a new one. If the size that
/// a preset requests does not fit, the next smaller one is used.
fn place_target(
    asked: &Proposal,
    resolved: &Resolved,
    allowed: u64,
) -> Result<TargetSpec, PlaceError> {
    let Resolved { user, parts, .. } = resolved;
    let there = asked.file.is_some_and(|file| fs::metadata(file).is_ok());
    let write = if there { parts.iter().all(writes) } else { parts.iter().any(writes) };
    let mut sizes: Vec<u64> =
        parts.iter().filter_map(|part| spans(&part.settings, allowed)).flatten().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    if user.size.is_some() || user.memory_share.is_some() {
        // A size the user requested is not reduced.
        sizes.truncate(1);
    }
    if sizes.is_empty() && asked.file.is_some() && !there {
        sizes.extend(counted_size(parts));
    }
    let most = user.ranks.as_ref().and_then(|ranks| ranks.values.iter().max().copied());
    let files = asked.ranks.map(|of| of.at_most(most));
    let place =
        |size: Option<u64>| locate_target(asked.file, asked.dir, size, write, asked.keep, files);
    let mut first = None;
    for size in &sizes {
        match place(Some(*size)) {
            Err(full @ PlaceError::Full { .. }) => first = first.or(Some(full)),
            done => return done,
        }
    }
    first.map_or_else(|| place(None), Err)
}

/// Returns block size x count, the largest, where all parts have counts: a new file is as large as
/// what is written to it.
fn counted_size(parts: &[Part]) -> Option<u64> {
    let of = |part: &Part| {
        let most = |range: &Option<Range>| range.as_ref()?.values.iter().max().copied();
        let counts = part.settings.count.as_ref().filter(|of| !of.values.contains(&0));
        counts?;
        most(&part.settings.block_size)?.checked_mul(most(&part.settings.count)?)
    };
    parts.iter().map(of).collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Returns every backend and peer that cannot do a plain job of `op` on this target, and why.
pub fn unavailable(target: &Target, op: Op) -> Vec<(&'static str, String)> {
    let why = |executor: Executor| {
        let info = executor.info();
        // A seek-only backend is checked for seeks, whatever else is measured.
        let op = if info.ops == [Op::Seek] { Op::Seek } else { op };
        if !info.ops.contains(&op) {
            return Some((info.id, format!("{} cannot {op}", info.id)));
        }
        let job = Job::plain(Choice::plain(info.id).normalize(info), op);
        executor.check(target, &job).err().map(|why| (info.id, why))
    };
    Executor::all().filter_map(why).collect()
}

/// Returns a seed from the clock, below 2^53 so that every JSON reader preserves it.
fn seed() -> u64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    random::mix(nanos ^ u64::from(std::process::id())) >> 11
}

/// The present state of the targets of a plan.
#[derive(Debug)]
pub struct TargetInspection {
    /// Facts about each target, or about an empty file where the scratch file would be.
    pub facts: Vec<TargetFacts>,
    /// The cells that this kernel or target does not support, and why.
    pub refused: Vec<(Job, String)>,
}

/// Opens the targets of `plan` and checks every cell's backend or peer; leaves no files behind.
pub fn inspect_target(plan: &Plan) -> Result<TargetInspection, EngineError> {
    let open = plan.targets().map(OpenTarget::probe).collect::<Result<Vec<_>, _>>()?;
    let reason = |job: &Job| match Executor::from_choice(&job.backend) {
        Ok(executor) => match open.get(job.target_index()) {
            Some(open_target) => executor.check(&open_target.target, job).err(),
            None => Some("the plan has no such target".into()),
        },
        Err(unknown) => Some(unknown.to_string()),
    };
    let refused = plan.cells.iter().filter_map(|job| Some((job.clone(), reason(job)?))).collect();
    let facts = open.into_iter().map(|open_target| open_target.facts).collect();
    Ok(TargetInspection { refused, facts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::preset;

    fn asked<'a>(file: &'a Path, presets: &'a [Preset], settings: &'a Settings) -> Proposal<'a> {
        Proposal { file: Some(file), survey: true, ..Proposal::new(presets, settings) }
    }

    #[test]
    fn counts_give_new_files_their_size() {
        let folder = tempfile::tempdir_in(".").unwrap();
        let size = |presets: &[Preset], line: &str| {
            let settings = Settings::from_words(line);
            let new = folder.path().join("new.bin");
            propose(&asked(&new, presets, &settings)).unwrap().plan.target.size()
        };
        let basics = [preset("basics").unwrap()];
        assert_eq!(size(&basics, "count=2048"), 1 << 20);
        let quick = [preset("quick").unwrap()];
        let appended = "backend=pread op=write writes=append block-size=4k,8k count=9,16";
        assert_eq!(size(&quick, appended), 128 << 10);
        for line in ["size=2m count=16", "count=0 size=2m"] {
            assert_eq!(size(&basics, line), 2 << 20, "{line}");
        }
    }

    #[test]
    fn direct_is_an_axis() {
        let (file, ..) = crate::backend::testing::file(1 << 20, 1);
        let settings = Settings::from_words("backend=pread block-size=4k direct=yes,no");
        let quick = [preset("quick").unwrap()];
        let plan = propose(&asked(file.path(), &quick, &settings)).unwrap().plan;
        let all: Vec<(bool, Cache)> =
            plan.cells.iter().map(|job| (job.direct, job.cache)).collect();
        let buffered = [(false, Cache::Cold), (false, Cache::Warm)];
        // Where direct I/O does not work, it is skipped with the reason.
        let direct = plan.skipped.iter().map(|of| (of.cell.direct, of.cell.cache));
        let of = |is_direct: bool| {
            let mut own: Vec<_> =
                all.iter().copied().chain(direct.clone()).filter(|of| of.0 == is_direct).collect();
            own.sort_unstable();
            own
        };
        assert_eq!((of(false), of(true)), (buffered.to_vec(), vec![(true, Cache::Cold)]));
    }

    #[test]
    fn proposals_have_plan_facts_unavailable_backends() {
        let (file, data, _) = crate::backend::testing::file(100_000, 1);
        let (presets, settings) = ([preset("quick").unwrap()], Settings::default());
        let proposed = propose(&asked(file.path(), &presets, &settings)).unwrap();
        assert_eq!(proposed.facts.size, data.len() as u64);
        assert!(matches!(
            &proposed.plan.target,
            TargetSpec::File { size, .. } if *size == data.len() as u64
        ));
        let (_, _, target) = crate::backend::testing::file(4096, 1);
        let cannot: Vec<_> = unavailable(&target, Op::Write)
            .into_iter()
            .filter(|(_, why)| why.ends_with("cannot write"))
            .collect();
        let reads_only: Vec<_> =
            infos().into_iter().filter(|i| i.ops == [Op::Read]).map(|i| i.id).collect();
        assert_eq!(cannot.iter().map(|(id, _)| *id).collect::<Vec<_>>(), reads_only);
        assert!(
            proposed
                .unavailable
                .iter()
                .all(|(id, why)| *id != "pread" && *id != "seek" && !why.is_empty())
        );
    }

    #[test]
    fn writing_presets_use_neighbouring_scratch_file() {
        let (file, data, _) = crate::backend::testing::file(100_000, 1);
        let (presets, settings) = (
            [preset("mixed").unwrap()],
            Settings { size: Some(crate::plan::Range::list(&[1 << 20])), ..Settings::default() },
        );
        let proposed = propose(&asked(file.path(), &presets, &settings)).unwrap();
        let folder = std::fs::canonicalize(file.path()).unwrap().parent().unwrap().to_path_buf();
        assert!(
            matches!(
                &proposed.plan.target,
                TargetSpec::Scratch { dir, keep: false, .. } if *dir == folder
            ),
            "{:?}",
            proposed.plan.target
        );
        assert!(
            proposed
                .instead
                .is_some_and(|why| why.contains("mixed writes") && why.contains("stays untouched"))
        );
        assert_eq!(std::fs::read(file.path()).unwrap(), data);
        // Writing to an existing file is refused; a preset that also reads uses the file.
        let said = Settings { op: Some(Op::Write), ..Settings::default() };
        assert!(
            propose(&asked(file.path(), &presets, &said))
                .unwrap_err()
                .to_string()
                .contains("exists, and iotui writes only")
        );
        let read = propose(&asked(file.path(), &[preset("basics").unwrap()], &Settings::default()))
            .unwrap();
        assert!(read.instead.is_none() && matches!(read.plan.target, TargetSpec::File { .. }));
    }

    #[test]
    fn errors_name_the_remedy() {
        let (presets, settings) = ([preset("quick").unwrap()], Settings::default());
        let missing = asked("/no/such/file".as_ref(), &presets, &settings);
        assert!(propose(&missing).unwrap_err().to_string().contains("no such file"));
        let both = Proposal { keep: true, ..missing };
        assert!(propose(&both).unwrap_err().to_string().contains("drop one of the two"));
    }
}

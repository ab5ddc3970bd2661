//! From what a front end asks to a plan: the target found and looked at, what this machine can do,
//! an experiment.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::ceilings;
use super::error::EngineError;
use super::place::{PlaceError, absolute, place, scratch_dir};
use super::probing;
use super::target::Bench;
use super::way::{Way, infos};
use crate::backend::{self, Target};
use crate::experiment::{self, Asked, CALLS, Offered, PlanError, asked_probes, spans};
use crate::host::TargetFacts;
use crate::plan::{
    Cache, Choice, Job, Op, Part, Plan, Preset, ProbeCell, ProbeInfo, Resolved, Settings,
    TargetSpec, named_probes,
};
use crate::probe::{self, Probe, Site};
use crate::sys::allowance::free_memory;
use crate::sys::cold;

/// What a front end asks a plan for.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The file or device that was named; `None` = a scratch file.
    pub file: Option<&'a Path>,
    /// Where the scratch file goes; `None` = the first folder that is on a disk.
    pub dir: Option<&'a Path>,
    /// Keep the scratch file.
    pub keep: bool,
    pub presets: &'a [Preset],
    /// What was said; the presets fill the gaps.
    pub settings: &'a Settings,
}

/// A plan with what was found out on the way to it.
#[derive(Debug)]
pub struct Proposed {
    pub plan: Plan,
    /// Of the target, or of an empty file where iotui's own would be.
    pub facts: TargetFacts,
    /// Every backend and peer that cannot do a plain job of the asked operation here, and why.
    pub unavailable: Vec<(&'static str, String)>,
    /// What is measured in place of the file that was named, and why.
    pub instead: Option<String>,
}

/// Why there is no plan; each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    #[error("--dir and --keep are for scratch files, and {} was named: leave one of them out", .0.display())]
    NotScratch(PathBuf),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Target(#[from] EngineError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Cold(String),
}

/// Looks at the target and this machine, and plans. Writes nothing that stays.
pub fn propose(asked: &Proposal) -> Result<Proposed, ProposeError> {
    let Proposal { file, dir, keep, presets, settings } = *asked;
    if let Some(file) = file.filter(|_| dir.is_some() || keep) {
        return Err(ProposeError::NotScratch(file.into()));
    }
    let resolved = Resolved::new(settings, presets);
    let op = resolved.parts.first().and_then(|part| part.settings.op).unwrap_or(Op::Read);
    let dropping = may_drop_caches(&resolved.whole);
    if let (Some(_), Err(why)) = (settings.cold, &dropping) {
        return Err(ProposeError::Cold(why.clone()));
    }
    let allowed = free_memory().unwrap_or(u64::MAX);
    let beside = asked.file.filter(|_| writes_by_itself(&resolved)).and_then(folder_of_a_file);
    let (target, bench) = if experiment::needs_file(presets) {
        let target = match &beside {
            Some(dir) => {
                placed(&Proposal { file: None, dir: Some(dir), ..*asked }, &resolved, allowed)?
            }
            None => placed(asked, &resolved, allowed)?,
        };
        let bench = Bench::probe(&target)?;
        (target, Some(bench))
    } else {
        without_file(asked, &resolved)?
    };
    let here = Here { target, bench, allowed, dropping };
    let plan = here.plan(&resolved)?;
    let instead = beside.zip(asked.file).map(|(_, file)| instead(file, presets));
    let unavailable =
        here.bench.as_ref().map_or_else(Vec::new, |bench| unavailable(&bench.target, op));
    Ok(Proposed {
        unavailable,
        facts: here.bench.map(|bench| bench.facts).unwrap_or_default(),
        plan,
        instead,
    })
}

/// Whether the cold state that is asked for can be had.
fn may_drop_caches(whole: &Settings) -> Result<(), String> {
    let cold = whole.cold.unwrap_or_default();
    if cold.is_data() {
        Ok(())
    } else {
        cold::may_drop_caches().map_err(|why| format!("--cold {cold} {why}"))
    }
}

/// What a plan has to go by on this machine.
struct Here {
    target: TargetSpec,
    bench: Option<Bench>,
    /// Memory that this process may have, bytes.
    allowed: u64,
    dropping: Result<(), String>,
}

impl Here {
    /// Whether a job can be had, or why not.
    fn check(&self, job: &Job) -> Result<(), String> {
        match (Way::of(&job.backend), &self.bench) {
            _ if job.cache == Cache::Cold && self.dropping.is_err() => self.dropping.clone(),
            (Ok(way), Some(bench)) => way.check(&bench.target, job),
            (Ok(_), None) => Err("there is no file".into()),
            (Err(unknown), _) => Err(unknown.to_string()),
        }
    }

    fn plan(&self, resolved: &Resolved) -> Result<Plan, PlanError> {
        let Resolved { whole, presets, .. } = resolved;
        let site = OnceCell::new();
        let make_site =
            || probing::site(&self.target, whole.remote.as_ref()).choosing(whole.sets.as_deref());
        let cells = |info: &'static ProbeInfo| offered(info, site.get_or_init(make_site));
        experiment::plan(&Asked {
            resolved,
            target: self.target.clone(),
            infos: &infos(),
            check: &|job| self.check(job),
            // Half of what is free: the page cache needs the rest.
            memory: self.allowed / 2,
            allowed: self.allowed,
            // 5 ms, where a plan rests on it.
            call: if presets.iter().any(|preset| preset.experiment == CALLS) {
                ceilings::syscall()
            } else {
                0.0
            },
            cpus: super::workers::cpus() as u32,
            seed: seed(),
            probes: &Offered { infos: &probe::infos(), cells: &cells },
        })
    }
}

/// The cells of a probe, and why one cannot be had here.
fn offered(info: &'static ProbeInfo, site: &Site) -> Vec<(ProbeCell, Result<(), String>)> {
    let cells = |probe: &dyn Probe| {
        probe.cells(site).into_iter().map(|cell| (cell.clone(), probe.check(&cell, site))).collect()
    };
    probe::probe(info.id).map_or_else(|_| Vec::new(), cells)
}

/// Where only probes are asked for: the user's file where one was named, a folder where a probe
/// makes files, else nothing.
fn without_file(
    asked: &Proposal,
    resolved: &Resolved,
) -> Result<(TargetSpec, Option<Bench>), ProposeError> {
    if asked.file.is_some() {
        let target = place(asked.file, None, None, false, false)?;
        let bench = Bench::probe(&target)?;
        return Ok((target, Some(bench)));
    }
    let words: Vec<String> = asked_probes(resolved).into_iter().cloned().collect();
    let infos = probe::infos();
    let makes_files =
        named_probes(&words, &infos).is_ok_and(|named| named.iter().any(|info| info.makes_files));
    let target = match scratch_dir(asked.dir) {
        Ok(dir) if makes_files => TargetSpec::Scratch { dir: absolute(&dir), size: 0, keep: false },
        // A folder that was named must be one; without any, the probes that need one say so.
        Err(error) if asked.dir.is_some() => return Err(error.into()),
        _ => TargetSpec::None,
    };
    Ok((target, None))
}

/// Whether the presets write in all of their parts, and not because it was said so.
fn writes_by_itself(resolved: &Resolved) -> bool {
    let Resolved { said, parts, .. } = resolved;
    said.op != Some(Op::Write)
        && said.mix.is_none()
        && said.writes.is_none()
        && !parts.is_empty()
        && parts.iter().all(writes)
}

/// The folder of a regular file that is there, where it takes a file: that is on the same disk.
fn folder_of_a_file(file: &Path) -> Option<PathBuf> {
    let whole = fs::canonicalize(file).ok()?;
    let dir =
        fs::metadata(&whole).ok()?.is_file().then(|| whole.parent().map(Path::to_path_buf))??;
    scratch_dir(Some(&dir)).is_ok().then_some(dir)
}

fn instead(file: &Path, presets: &[Preset]) -> String {
    let names: Vec<&str> = presets.iter().map(|preset| preset.id.as_str()).collect();
    format!(
        "{} writes, so it measures a scratch file of its own beside {}, which it does not touch",
        names.join(", "),
        file.display()
    )
}

fn writes(part: &Part) -> bool {
    let part = &part.settings;
    part.op == Some(Op::Write) || (part.op.is_none() && part.writes.is_some()) || part.mix.is_some()
}

/// The target for all parts: a file that is there serves what reads, and one that is not what
/// writes. Where a file of iotui's finds no room in the size that a preset wants, it has the next
/// smaller one.
fn placed(asked: &Proposal, resolved: &Resolved, allowed: u64) -> Result<TargetSpec, PlaceError> {
    let Resolved { said, parts, .. } = resolved;
    let there = asked.file.is_some_and(|file| fs::metadata(file).is_ok());
    let write = if there { parts.iter().all(writes) } else { parts.iter().any(writes) };
    let mut sizes: Vec<u64> =
        parts.iter().filter_map(|part| spans(&part.settings, allowed)).flatten().collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    if said.size.is_some() || said.memory_share.is_some() {
        // Who says a size wants that size.
        sizes.truncate(1);
    }
    let place = |size: Option<u64>| place(asked.file, asked.dir, size, write, asked.keep);
    let mut first = None;
    for size in &sizes {
        match place(Some(*size)) {
            Err(PlaceError::Full { dir, need, free }) => {
                first = first.or(Some(PlaceError::Full { dir, need, free }))
            }
            done => return done,
        }
    }
    first.map_or_else(|| place(None), Err)
}

/// Every backend and peer that cannot do a plain job of `op` on this target, and why.
pub fn unavailable(target: &Target, op: Op) -> Vec<(&'static str, String)> {
    let why = |way: Way| {
        let info = way.info();
        // A backend that only seeks does so whatever else is read or written beside it.
        let op = if info.ops == [Op::Seek] { Op::Seek } else { op };
        if !info.ops.contains(&op) {
            return Some((info.id, format!("{} cannot {op}", info.id)));
        }
        let job = Job::plain(Choice::plain(info.id).known(info), op);
        way.check(target, &job).err().map(|why| (info.id, why))
    };
    Way::all().filter_map(why).collect()
}

/// From the clock, below 2^53 so that every JSON reader keeps it.
fn seed() -> u64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    backend::order::mix(nanos ^ u64::from(std::process::id())) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::preset;

    fn asked<'a>(file: &'a Path, presets: &'a [Preset], settings: &'a Settings) -> Proposal<'a> {
        Proposal { file: Some(file), dir: None, keep: false, presets, settings }
    }

    #[test]
    fn a_file_gives_its_plan_its_facts_and_who_cannot() {
        let (file, data, _) = crate::backend::testing::file(100_000, 1);
        let (presets, settings) = ([preset("quick").unwrap()], Settings::default());
        let proposed = propose(&asked(file.path(), &presets, &settings)).unwrap();
        assert_eq!(proposed.facts.size, data.len() as u64);
        assert!(
            matches!(&proposed.plan.target, TargetSpec::File { size, .. } if *size == data.len() as u64)
        );
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
    fn what_only_writes_has_a_file_of_its_own_beside_the_one_that_was_named() {
        let (file, data, _) = crate::backend::testing::file(100_000, 1);
        let (presets, settings) = (
            [preset("mixed").unwrap()],
            Settings { size: Some(crate::plan::Range::list(&[1 << 20])), ..Settings::default() },
        );
        let proposed = propose(&asked(file.path(), &presets, &settings)).unwrap();
        let folder = std::fs::canonicalize(file.path()).unwrap().parent().unwrap().to_path_buf();
        assert!(
            matches!(&proposed.plan.target, TargetSpec::Scratch { dir, keep: false, .. } if *dir == folder),
            "{:?}",
            proposed.plan.target
        );
        assert!(
            proposed
                .instead
                .is_some_and(|why| why.contains("mixed writes") && why.contains("does not touch"))
        );
        assert_eq!(std::fs::read(file.path()).unwrap(), data);
        // Who says that it is to be written is told that it is not; what reads too reads the file.
        let said = Settings { op: Some(Op::Write), ..Settings::default() };
        assert!(
            propose(&asked(file.path(), &presets, &said))
                .unwrap_err()
                .to_string()
                .contains("exists: iotui writes only")
        );
        let read = propose(&asked(file.path(), &[preset("basics").unwrap()], &Settings::default()))
            .unwrap();
        assert!(read.instead.is_none() && matches!(read.plan.target, TargetSpec::File { .. }));
    }

    #[test]
    fn errors_say_what_to_leave_out_or_change() {
        let (presets, settings) = ([preset("quick").unwrap()], Settings::default());
        let missing = asked("/no/such/file".as_ref(), &presets, &settings);
        assert!(propose(&missing).unwrap_err().to_string().contains("no such file"));
        let both = Proposal { keep: true, ..missing };
        assert!(propose(&both).unwrap_err().to_string().contains("leave one of them out"));
    }
}

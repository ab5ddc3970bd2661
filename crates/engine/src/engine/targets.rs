//! The open targets of a run: one, or several whose cells are measured in the same rounds.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use super::error::EngineError;
use super::target::OpenTarget;
use crate::host;
use crate::plan::{Job, Plan, TargetSpec};
use crate::record::{CommitPath, TargetEvidence, Throttle};
use crate::sys::buffer::Buffer;
use crate::sys::clock::monotonic_nanos;
use crate::sys::fd::HeldFile;
use crate::sys::scratch::Scratch;

/// The targets of a plan; at least one is open.
#[derive(Debug)]
pub(super) struct Targets {
    /// The first that is open.
    main: OpenTarget,
    main_index: usize,
    /// The others with their indexes, or why they are not open.
    others: Vec<(usize, Result<OpenTarget, String>)>,
}

/// The progress of filling the files of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    /// The index of the target that is being filled.
    pub target: usize,
    /// Bytes written to it.
    pub bytes: u64,
    /// Bytes written to all.
    pub all: u64,
}

impl Targets {
    /// Opens or creates the targets of `plan`. `progress` may end the filling of a target early;
    /// `stop` aborts it.
    pub fn open(
        plan: &Plan,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Filling) -> ControlFlow<()>,
    ) -> Result<Targets, EngineError> {
        let (mut main, mut others, mut first_error) = (None, Vec::new(), None);
        let mut before = 0;
        for (target, spec) in plan.targets().enumerate() {
            let mut written = 0;
            let opened = OpenTarget::open(plan, spec, stop, &mut |bytes| {
                written = bytes;
                progress(Filling { target, bytes, all: before + bytes })
            });
            before += written;
            match opened {
                Err(EngineError::Stopped) => return Err(EngineError::Stopped),
                Ok(open_target) if main.is_none() => main = Some((target, open_target)),
                Ok(open_target) => others.push((target, Ok(open_target))),
                Err(error) => {
                    others.push((target, Err(error.to_string())));
                    first_error.get_or_insert(error);
                }
            }
        }
        match main {
            Some((main_index, main)) => Ok(Targets { main, main_index, others }),
            None => Err(first_error.unwrap_or(EngineError::NoFile)),
        }
    }

    /// Returns the first target that is open.
    pub fn main(&self) -> &OpenTarget {
        &self.main
    }

    pub fn main_mut(&mut self) -> &mut OpenTarget {
        &mut self.main
    }

    /// Returns a target of the plan by its index, if it is open.
    pub fn nth_mut(&mut self, index: usize) -> Option<&mut OpenTarget> {
        if index == self.main_index {
            return Some(&mut self.main);
        }
        let found = self.others.iter_mut().find(|(other, _)| *other == index);
        found.and_then(|(_, found)| found.as_mut().ok())
    }

    /// Returns the bytes of each target of the plan; 0 if it is not open.
    pub fn sizes(&mut self, plan: &Plan) -> Vec<u64> {
        let size = |at| self.nth_mut(at).map_or(0, |open_target| open_target.facts.size);
        (0..plan.targets().count()).map(size).collect()
    }

    /// Returns the target of a job; the main one where that is not open.
    pub fn of(&self, job: &Job) -> &OpenTarget {
        let other = self.find(job).and_then(|found| found.as_ref().ok());
        other.unwrap_or(&self.main)
    }

    /// Returns why the target of a job is not open.
    pub fn error_of(&self, job: &Job) -> Option<&str> {
        self.find(job)?.as_ref().err().map(String::as_str)
    }

    fn find(&self, job: &Job) -> Option<&Result<OpenTarget, String>> {
        let index = job.target_index();
        self.others.iter().find(|(other, _)| *other == index).map(|(_, found)| found)
    }

    /// Returns the facts about each target of the plan; the default for a target that is not open.
    pub fn evidence(&self, plan: &Plan) -> Vec<TargetEvidence> {
        let span = plan.cells.iter().map(|cell| cell.span).max().unwrap_or(0);
        let evidence = |(open_target, spec): (Option<&OpenTarget>, &TargetSpec)| {
            open_target.map_or_else(TargetEvidence::default, |open_target| TargetEvidence {
                ours: spec.is_ours(),
                compressible: plan.stored_compressible().filter(|_| spec.is_ours()),
                dedupe: plan.dedupe.filter(|_| spec.is_ours()),
                device_counted: open_target.device_counted,
                first_visits: open_target.first_visits,
                commit_path: commit_path(plan, open_target, spec),
                ..host::target_evidence(&open_target.facts, span, open_target.extents.as_ref())
            })
        };
        self.all().into_iter().zip(plan.targets()).map(evidence).collect()
    }

    /// Returns each target of the plan, if it is open.
    fn all(&self) -> Vec<Option<&OpenTarget>> {
        let mut all: Vec<Option<&OpenTarget>> =
            self.others.iter().map(|(_, found)| found.as_ref().ok()).collect();
        all.insert(self.main_index.min(all.len()), Some(&self.main));
        all
    }

    /// Returns the present limits of control groups for each target of the plan.
    pub fn throttles(&self) -> Vec<Option<Throttle>> {
        self.all().into_iter().map(|found| host::throttle_of(&found?.facts)).collect()
    }

    /// Returns the targets that are open.
    pub fn iter(&self) -> impl Iterator<Item = &OpenTarget> {
        let others = self.others.iter().filter_map(|(_, found)| found.as_ref().ok());
        std::iter::once(&self.main).chain(others)
    }

    /// Collects the facts about each open target that the cells of the plan need.
    pub fn inspect(&mut self, plan: &Plan) {
        let others = self.others.iter_mut().filter_map(|(_, found)| found.as_mut().ok());
        for open_target in std::iter::once(&mut self.main).chain(others) {
            open_target.inspect(plan);
        }
    }
}

/// Returns the way of the commits of a plan; `None` if it makes none.
fn commit_path(plan: &Plan, open_target: &OpenTarget, spec: &TargetSpec) -> Option<CommitPath> {
    let folder = spec.folder().filter(|_| plan.cells.iter().any(Job::commits))?;
    let align = open_target.target.direct_align;
    let write = time_writes(folder, align);
    Some(CommitPath {
        fastest_write_nanos: write.map(|write| write.fastest),
        median_write_nanos: write.map(|write| write.median),
        ..host::commit_path(&open_target.facts)
    })
}

impl From<OpenTarget> for Targets {
    fn from(main: OpenTarget) -> Targets {
        Targets { main, main_index: 0, others: Vec::new() }
    }
}

const WRITES: u32 = 64;
/// No more writes are made after this time, but always one.
const ENOUGH: Duration = Duration::from_millis(200);
/// Bytes of a write, where the device does not need more.
const BLOCK: usize = 4096;

/// The fastest and the median time of direct writes of one block, each over the last and none
/// followed by a sync, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirectWriteTimes {
    fastest: u64,
    median: u64,
}

/// Times writes to the device under a folder; `None` if it has no direct I/O. A commit that returns
/// much sooner did not wait for the device, and a flush that takes no longer stored nothing.
fn time_writes(folder: &Path, align: Option<u32>) -> Option<DirectWriteTimes> {
    let mut times = measure_writes(folder, BLOCK.max(align.unwrap_or(0) as usize)).ok()?;
    times.sort_unstable();
    Some(DirectWriteTimes { fastest: *times.first()?, median: *times.get(times.len() / 2)? })
}

fn measure_writes(folder: &Path, block: usize) -> io::Result<Vec<u64>> {
    let scratch = Scratch::create(folder)?;
    let held = HeldFile::new(scratch.file().try_clone()?, scratch.name())?;
    let file = held.open(File::options().read(true).write(true), libc::O_DIRECT, true, true)?;
    let mut data = Buffer::for_direct(block)?.filled(1);
    let data = data.bytes_mut();
    file.write_all_at(data, 0)?;
    file.sync_all()?;
    let (begin, mut times) = (monotonic_nanos(), Vec::new());
    for _ in 0..WRITES {
        let start = monotonic_nanos();
        let written = file.write_at(data, 0)?;
        let end = monotonic_nanos();
        if written == data.len() {
            times.push(end - start);
        }
        if end - begin > ENOUGH.as_nanos() as u64 {
            break;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing::skip;

    #[test]
    fn device_writes_outlast_calls() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        match time_writes(folder.path(), Some(512)) {
            Some(of) => assert!(of.fastest > 100 && of.median >= of.fastest, "{of:?}"),
            None => skip("no direct I/O in the build folder"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(time_writes(&folder.path().join("missing"), None), None);
    }
}

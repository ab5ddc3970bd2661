//! The target of a run: the user's file, opened read-only, or a file that iotui creates, fills and
//! removes; and the files that it makes for some jobs next to the target.

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::below::{Layers, drop_files};
use super::error::EngineError;
use super::observe::measure_cached;
use crate::backend::{OwnFile, Stamps, Target};
use crate::facts::{BlockDevice, DirectSupport, TargetFacts, TargetKind};
use crate::host::{self, Below};
use crate::plan::{Cache, Cold, Job, ListedFile, Plan, TargetSpec, Writes};
use crate::record::{FirstVisits, Note};
use crate::stats::random::mix;
use crate::sys::buffer::zeroed;
use crate::sys::clock::monotonic_nanos;
use crate::sys::content::{Content, FileData};
use crate::sys::extents::Extents;
use crate::sys::fd::{FileId, HeldFile};
use crate::sys::fill::{FillError, Progress};
use crate::sys::names::{random, random_name};
use crate::sys::process_io::ProcessIo;
use crate::sys::scratch::{self, Scratch};
use crate::sys::unnamed_file::UnnamedFile;
use crate::sys::{cold, fd, fill, space};

/// An open target with the facts that its verdicts need.
#[derive(Debug)]
pub struct OpenTarget {
    /// The engine's own file description, for preparation and facts, never for timed I/O.
    pub file: Arc<File>,
    pub target: Target,
    pub facts: TargetFacts,
    pub extents: Option<Extents>,
    pub device: Option<(u64, u64)>,
    /// The layers below it when it was opened.
    pub below: Below,
    /// Whether a cold read was charged to this process; `None` = not tested.
    pub device_counted: Option<bool>,
    pub first_visits: Option<FirstVisits>,
    /// Which caches are dropped to make it cold.
    pub cold: Cold,
    /// The data of the files that iotui makes.
    pub data: FileData,
    made: MadeFiles,
    /// The files of single threads, where each has its own; `file` is the first.
    lane_files: Vec<LaneFile>,
    /// The files of a list that are read as one; `file` is the largest.
    listed: Vec<ListedTarget>,
    held: HeldFile,
    /// Removes the scratch file's name, if it has one, on drop.
    _scratch: Option<Scratch>,
}

/// A file of a list.
#[derive(Debug)]
struct ListedTarget {
    own: OwnFile,
    extents: Option<Extents>,
}

/// Creates an empty scratch file for the cells of a plan.
fn create_scratch(plan: &Plan, dir: &Path) -> Result<Scratch, EngineError> {
    let created = if plan.shift || plan.cells.iter().any(Job::shares_its_file) {
        Scratch::create_to_share(dir)
    } else if plan.cells.iter().any(Job::commits) {
        Scratch::create_to_commit(dir)
    } else {
        Scratch::create(dir)
    };
    created.map_err(|error| EngineError::Scratch { dir: dir.into(), error })
}

impl OpenTarget {
    /// Opens the target before the run: the user's file, or an empty unnamed file in the folder of
    /// the scratch file.
    pub fn probe(spec: &TargetSpec) -> Result<OpenTarget, EngineError> {
        match spec {
            TargetSpec::File { path, .. } => return OpenTarget::existing(path),
            TargetSpec::Files { dir, files, .. } => return OpenTarget::listed(dir, files),
            _ => {}
        }
        let dir = spec.folder().ok_or(EngineError::NoFile)?;
        let scratch = Scratch::create(dir)
            .map_err(|error| EngineError::Scratch { dir: dir.into(), error })?;
        let mut open_target = OpenTarget::scratch(scratch, dir)?;
        open_target.facts.size = spec.size();
        open_target.target.size = spec.size();
        Ok(open_target)
    }

    /// Opens or creates the target `spec` of `plan`. `progress` receives the bytes written so far;
    /// `stop` ends the filling.
    pub fn open(
        plan: &Plan,
        spec: &TargetSpec,
        stop: &dyn Fn() -> bool,
        progress: Progress,
    ) -> Result<OpenTarget, EngineError> {
        // A file that ranks share is filled by all of them, once all have opened it.
        let shared = plan.whole_of(spec);
        let fill = if plan.makes_every_file() || shared.is_some() { 0 } else { spec.size() };
        let content = content(plan);
        let data = FileData { seed: plan.seed, content: content.unwrap_or_default() };
        let mut open_target = OpenTarget::create(plan, spec, fill, data, stop, progress)?;
        open_target.data = data;
        if let Some(whole) = shared {
            open_target.file.set_len(whole).map_err(EngineError::Fill)?;
        }
        if plan.makes_every_file() || shared.is_some() {
            open_target.facts.size = shared.unwrap_or(spec.size());
            open_target.target.size = open_target.facts.size;
            open_target.extents = None;
        }
        if spec.is_ours()
            && let Some(dir) = spec.folder()
        {
            open_target.made = MadeFiles::create(plan, dir, data)?;
        }
        open_target.set_content(plan);
        Ok(open_target)
    }

    /// Returns the target for a file that another rank created or named; `ours`: to be written.
    pub fn of_other(plan: &Plan, file: File, path: &Path, ours: bool) -> io::Result<OpenTarget> {
        let mut open_target = OpenTarget::new(file, path.into(), path, TargetKind::File, None)?;
        open_target.target.writable = ours;
        open_target.data.content = content(plan).unwrap_or_default();
        open_target.data.seed = plan.seed;
        open_target.set_content(plan);
        Ok(open_target)
    }

    /// Sets what is written, and what a cold trial drops.
    fn set_content(&mut self, plan: &Plan) {
        self.cold = plan.cold;
        let (content, stamps) = (content(plan), stamps(plan));
        self.target.content = content;
        self.target.stamps = stamps;
        for made in self.made.each_mut() {
            made.target.content = content;
            made.target.stamps = stamps;
        }
    }

    /// Fills a part of a file that iotui created; the error is in words.
    pub fn fill_part(&self, part: Range<u64>, stop: &dyn Fn() -> bool) -> Result<(), String> {
        if !self.target.writable {
            return Err("iotui fills only files it created".into());
        }
        let whole = &mut |_| ControlFlow::Continue(());
        let size = part.end - part.start;
        fill::fill_part(&self.file, part, self.data, stop, whole)
            .map_err(|failed| fill_error(failed, size).to_string())
    }

    /// Finds the facts about its file again, once others have written to it.
    pub fn reload(&mut self) {
        let (path, kind) = (self.facts.path.clone(), self.facts.kind);
        self.facts = host::inspect(&self.file, Path::new(&path), kind);
        self.extents = self.below.extents(&self.file, self.facts.size).ok();
    }

    /// Collects the facts that the cells of the plan need. Nothing else may read the file at the
    /// same time.
    pub fn inspect(&mut self, plan: &Plan) {
        // A block that is to be read once is not read here.
        if plan.fresh.is_none() && plan.cells.iter().any(|cell| cell.cache == Cache::Cold) {
            self.check_device_counter();
        }
    }

    /// Opens its file for direct reads.
    ///
    /// # Errors
    /// The errno of open(2): EINVAL where the file system has no direct I/O.
    pub fn open_direct(&self) -> io::Result<File> {
        open_direct(&self.held)
    }

    /// Returns the file that a job works on.
    pub fn for_job(&self, job: &Job) -> &OpenTarget {
        self.made.for_job(job).unwrap_or(self)
    }

    fn create(
        plan: &Plan,
        spec: &TargetSpec,
        size: u64,
        data: FileData,
        stop: &dyn Fn() -> bool,
        progress: Progress,
    ) -> Result<OpenTarget, EngineError> {
        let mut fill = |file: &File| {
            (0..plan.fillings()).try_for_each(|time| {
                let before = size.saturating_mul(time);
                let mut progress = |bytes| progress(before.saturating_add(bytes));
                fill::fill_file(file, size, data, stop, &mut progress)
                    .map_err(|failed| fill_error(failed, size))
            })
        };
        match spec {
            TargetSpec::File { path, .. } => {
                let mut open_target = OpenTarget::existing(path)?;
                if plan.fresh.is_none() {
                    open_target.facts.entropy =
                        host::entropy(&open_target.file, open_target.facts.size, stop)
                            .ok()
                            .flatten();
                }
                Ok(open_target)
            }
            TargetSpec::Files { dir, files, .. } => OpenTarget::listed(dir, files),
            TargetSpec::Scratch { dir, keep: false, .. } => {
                let scratch = create_scratch(plan, dir)?;
                fill(scratch.file())?;
                OpenTarget::scratch(scratch, dir)
            }
            TargetSpec::Scratch { dir, keep: true, .. } => OpenTarget::new_file(
                &dir.join(format!("iotui-scratch-{}.bin", random_name())),
                &mut fill,
            ),
            TargetSpec::New { path, .. } => OpenTarget::new_file(path, &mut fill),
            TargetSpec::None => Err(EngineError::NoFile),
        }
    }

    fn existing(path: &Path) -> Result<OpenTarget, EngineError> {
        let file =
            fd::open_named(path).map_err(|error| EngineError::Open { path: path.into(), error })?;
        OpenTarget::new(file, path.into(), path, TargetKind::File, None)
            .map_err(|error| EngineError::Open { path: path.into(), error })
    }

    /// Opens the files of a list, which must be on one file system.
    fn listed(dir: &Path, files: &[ListedFile]) -> Result<OpenTarget, EngineError> {
        // Each lane opens them once more.
        raise_file_limit(2 * files.len() as u64 + OTHER_FILES);
        let mut opened = Vec::new();
        for ListedFile { path, size } in files {
            let (path, size) = (dir.join(path), *size);
            let failed = |error| EngineError::Open { path: path.clone(), error };
            let file = fd::open_regular_noatime(&path).map_err(failed)?;
            if fd::size(&file).map_err(failed)? != size {
                return Err(EngineError::Resized(path));
            }
            let held = HeldFile::new(file, Some(path.clone())).map_err(failed)?;
            opened.push(OwnFile { path, held, size });
        }
        let largest = opened.iter().max_by_key(|own| own.size).ok_or(EngineError::NoFile)?;
        let device = |own: &OwnFile| own.held.id().device();
        if let Some(other) = opened.iter().find(|own| device(own) != device(largest)) {
            let (a, b) = (largest.path.clone(), other.path.clone());
            return Err(EngineError::SeveralFileSystems(a, b));
        }
        let failed = |error| EngineError::Open { path: largest.path.clone(), error };
        let file = largest.held.file().try_clone().map_err(failed)?;
        let kind = TargetKind::File;
        let whole = OpenTarget::new(file, largest.path.clone(), dir, kind, None).map_err(failed)?;
        let with_extents = |own: OwnFile| ListedTarget {
            extents: whole.below.extents(own.held.file(), own.size).ok(),
            own,
        };
        let listed: Vec<ListedTarget> = opened.into_iter().map(with_extents).collect();
        let mut open_target = OpenTarget { listed, ..whole };
        open_target.sum_list();
        Ok(open_target)
    }

    /// Sums the facts over all files of the list.
    fn sum_list(&mut self) {
        let size = self.listed.iter().fold(0u64, |all, file| all.saturating_add(file.own.size));
        (self.facts.size, self.target.size) = (size, size);
        self.target.listed = self.listed.iter().map(|file| file.own.clone()).collect();
        let whole = 0..u64::MAX;
        let cached = measure_cached(&self.list_parts(&whole), true);
        if let (Some(resident), Some(cached)) = (&mut self.facts.resident, cached) {
            resident.share = cached.resident as f64 / size.max(1) as f64;
        }
        let extents: Option<Vec<&Extents>> =
            self.listed.iter().map(|file| file.extents.as_ref()).collect();
        if let (Some(stored), Some(extents)) = (&mut self.facts.stored, extents) {
            stored.hole_bytes = extents.iter().map(|of| of.hole_bytes()).sum();
            stored.extents = extents.iter().map(|of| of.count).sum();
        }
    }

    /// Returns the part of each file of the list in a part of the whole.
    fn list_parts(&self, whole: &Range<u64>) -> Vec<(&File, Range<u64>)> {
        let mut before = 0u64;
        let part = |listed: &'_ ListedTarget| {
            let (start, end) = (before, before.saturating_add(listed.own.size));
            before = end;
            whole.start.clamp(start, end) - start..whole.end.clamp(start, end) - start
        };
        let parts: Vec<Range<u64>> = self.listed.iter().map(part).collect();
        let files = self.listed.iter().map(|listed| &**listed.own.held.file());
        files.zip(parts).filter(|(_, part)| !part.is_empty()).collect()
    }

    fn scratch(scratch: Scratch, dir: &Path) -> Result<OpenTarget, EngineError> {
        let file = scratch.file().try_clone().map_err(EngineError::Fill)?;
        let path = scratch.path();
        OpenTarget::new(file, path, &dir.join("(scratch file)"), TargetKind::Scratch, Some(scratch))
            .map_err(EngineError::Fill)
    }

    /// Creates a named file that stays. It gets its name once it is full: a file that could not be
    /// filled never appears.
    fn new_file(
        path: &Path,
        fill: &mut dyn FnMut(&File) -> Result<(), EngineError>,
    ) -> Result<OpenTarget, EngineError> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => EngineError::Taken(path.into()),
            _ => EngineError::New { path: path.into(), error },
        };
        let made = UnnamedFile::create(path).map_err(refused)?;
        fill(made.file())?;
        let file = made.finish().map_err(refused)?;
        let mut open_target =
            OpenTarget::new(file, path.into(), path, TargetKind::File, None).map_err(refused)?;
        open_target.target.writable = true;
        Ok(open_target)
    }

    fn new(
        file: File,
        path: PathBuf,
        shown: &Path,
        kind: TargetKind,
        scratch: Option<Scratch>,
    ) -> io::Result<OpenTarget> {
        let below = Below::of(&file);
        let facts = host::inspect_above(&below, &file, shown, kind);
        let extents = below.extents(&file, facts.size).ok();
        let device = below.first_device();
        let name = if scratch.is_some() {
            scratch.as_ref().and_then(Scratch::name)
        } else {
            Some(path.clone())
        };
        let held = HeldFile::new(file, name)?;
        let target = Target {
            direct_refused: direct_refusal(&held),
            held: Some(held.clone()),
            writable: scratch.is_some(),
            direct_align: match facts.direct {
                Some(DirectSupport::Known(align)) => Some(align.offset.max(align.mem)),
                _ => facts.devices.first().and_then(logical_block),
            },
            ..Target::plain(path, facts.size)
        };
        let file = Arc::clone(held.file());
        Ok(OpenTarget {
            file,
            target,
            facts,
            extents,
            device,
            below,
            device_counted: None,
            first_visits: None,
            cold: Cold::Data,
            data: FileData { seed: 0, content: Content::default() },
            made: MadeFiles::default(),
            lane_files: Vec::new(),
            listed: Vec::new(),
            held,
            _scratch: scratch,
        })
    }

    /// Returns the layers below it during a trial, and notes about them, as [`Layers::of`].
    pub(super) fn layers(
        &self,
        job: &Job,
        span: Range<u64>,
        observed: bool,
    ) -> (Option<Layers<'_>>, Vec<Note>) {
        let parts = self.parts(job, &span).into_iter().map(|(_, part)| part);
        let used: Vec<_> = self.all_extents().into_iter().zip(parts).collect();
        Layers::of((&self.file, &self.below), &used, job, observed)
    }

    /// Returns why the target's name no longer leads to the measured file. Lanes keep using the
    /// open file, so its figures would be taken for the named file.
    pub fn replacement(&self) -> Option<String> {
        let why = |path: &Path, held: &HeldFile| match std::fs::metadata(path) {
            Ok(named) if FileId::from_metadata(&named) == held.id() => None,
            Ok(_) => {
                Some("the file was replaced by another during the measurement; run again".into())
            }
            // A path under /proc that no longer exists reveals nothing about the file.
            Err(_) if self._scratch.is_some() => None,
            Err(error) => Some(format!(
                "the file was renamed or removed during the measurement ({error}); run again"
            )),
        };
        let of_list = |listed: &ListedTarget| {
            let OwnFile { path, held, .. } = &listed.own;
            why(path, held).map(|why| format!("{}: {why}", path.display()))
        };
        match self.listed.is_empty() {
            true => why(&self.target.path, &self.held),
            false => self.listed.iter().find_map(of_list),
        }
    }

    /// Reads the first MiB cold and checks that it was charged to this process: if so, a count of 0
    /// device bytes is right.
    pub fn check_device_counter(&mut self) {
        const LEN: u64 = 1 << 20;
        let stored =
            self.extents.as_ref().is_some_and(|e| e.len >= LEN && e.hole_bytes_in(0..LEN) == 0);
        if !stored || !cold::make_cold(&self.file, LEN).is_ok_and(|c| c.is_cold()) {
            return;
        }
        // Bytes from the page cache of an image are charged to no process.
        drop_files(&self.below);
        let Ok(mut block) = zeroed(LEN as usize) else { return };
        let before = ProcessIo::process();
        let read = self.file.read_exact_at(&mut block, 0);
        if let (Ok(before), Ok(()), Ok(after)) = (before, read, ProcessIo::process()) {
            let charged = after.read_bytes.saturating_sub(before.read_bytes);
            // Fewer are read where they are stored compressed.
            let least = if self.facts.compresses.is_some() { 1 } else { LEN };
            self.device_counted = Some(charged >= least);
        }
    }
}

/// Returns the requested properties of written data, if any.
pub(super) fn content(plan: &Plan) -> Option<Content> {
    let asked = plan.compressible.is_some() || plan.dedupe.is_some();
    let percent = |asked: Option<u8>| asked.unwrap_or(0);
    asked.then(|| Content::new(percent(plan.compressible), percent(plan.dedupe)))
}

/// Returns the stamps that verify written data, if that is requested. Each run has other stamps, so
/// that data of an earlier run is not mistaken for its own.
fn stamps(plan: &Plan) -> Option<Stamps> {
    let nonce = || random().map_or_else(|_| monotonic_nanos(), u64::from_ne_bytes);
    plan.verify.then(|| Stamps::new(mix(plan.seed ^ nonce())))
}

fn logical_block(device: &BlockDevice) -> Option<u32> {
    device.logical_block.and_then(|b| u32::try_from(b).ok())
}

/// Descriptors that a process needs for anything else than a list of files.
const OTHER_FILES: u64 = 256;

/// Raises the limit of open files to `wanted`, as far as that is permitted: open(2) fails beyond.
fn raise_file_limit(wanted: u64) {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < wanted
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard);
    }
}

/// Returns why the kernel refuses O_DIRECT, if it does.
fn direct_refusal(held: &HeldFile) -> Option<String> {
    open_direct(held).err().map(|error| format!("open(2) with O_DIRECT failed: {error}"))
}

fn open_direct(held: &HeldFile) -> io::Result<File> {
    held.open(File::options().read(true), libc::O_DIRECT | libc::O_NONBLOCK, false, false)
}

/// Removes files that killed runs left in the folder where this run creates its own. Errors are
/// ignored: the run does not depend on it.
pub(super) fn remove_leftovers(spec: &TargetSpec) {
    if let Some(dir) = spec.folder() {
        let _ = scratch::sweep(dir);
    }
}

fn fill_error(failed: FillError, size: u64) -> EngineError {
    match failed.error.raw_os_error() {
        Some(libc::ENOSPC) => EngineError::Full(size),
        Some(libc::EDQUOT) => EngineError::Quota(size),
        _ if failed.error.kind() == io::ErrorKind::Interrupted => EngineError::Stopped,
        _ => EngineError::Fill(failed.into()),
    }
}

/// The files that are made for jobs; each kind is open only where the plan has such jobs.
#[derive(Debug, Default)]
struct MadeFiles {
    /// For the jobs that start fresh in one file.
    growing: Option<Box<OpenTarget>>,
    /// For the jobs whose threads have a file each.
    own: Option<Box<OpenTarget>>,
}

/// The file of one thread.
#[derive(Debug)]
struct LaneFile {
    file: Arc<File>,
    /// Bytes at the start of the file that iotui has filled; 0 once it started fresh.
    filled: AtomicU64,
    _scratch: Option<Scratch>,
}

impl MadeFiles {
    /// Makes the empty files that the jobs of a plan need. The target itself is the growing file
    /// where no other job needs it.
    fn create(plan: &Plan, dir: &Path, data: FileData) -> Result<MadeFiles, EngineError> {
        let scratch = || create_scratch(plan, dir);
        let grows = |job: &Job| job.starts_fresh() && !job.has_own_files();
        let mut files = MadeFiles::default();
        if !plan.makes_every_file() && plan.cells.iter().any(grows) {
            let growing = OpenTarget::scratch(scratch()?, dir)?;
            files.growing = Some(Box::new(OpenTarget { extents: None, ..growing }));
        }
        let most = plan.cells.iter().filter(|job| job.has_own_files()).map(|job| job.threads).max();
        if let Some(threads) = most {
            let mut own =
                OpenTarget { extents: None, data, ..OpenTarget::scratch(scratch()?, dir)? };
            let mut targets = Vec::new();
            for lane in 0..threads {
                let (file, target) = match lane {
                    0 => own.first_lane_file(),
                    _ => LaneFile::create(scratch()?).map_err(EngineError::Fill)?,
                };
                own.lane_files.push(file);
                targets.push(target);
            }
            own.target.own = targets.into();
            files.own = Some(Box::new(own));
        }
        Ok(files)
    }

    /// Returns the files that were made for a job, if any.
    fn for_job(&self, job: &Job) -> Option<&OpenTarget> {
        if job.has_own_files() {
            self.own.as_deref()
        } else if job.starts_fresh() {
            self.growing.as_deref()
        } else {
            None
        }
    }

    fn each_mut(&mut self) -> impl Iterator<Item = &mut OpenTarget> {
        [&mut self.growing, &mut self.own].into_iter().flatten().map(|target| &mut **target)
    }
}

impl LaneFile {
    fn create(scratch: Scratch) -> io::Result<(LaneFile, OwnFile)> {
        let held = HeldFile::new(scratch.file().try_clone()?, scratch.name())?;
        let own = OwnFile { path: scratch.path(), held, size: 0 };
        let file = Arc::clone(own.held.file());
        Ok((LaneFile { file, filled: AtomicU64::new(0), _scratch: Some(scratch) }, own))
    }
}

impl OpenTarget {
    /// Returns the target's own file as that of the first thread.
    fn first_lane_file(&self) -> (LaneFile, OwnFile) {
        let (held, path) = (self.held.clone(), self.target.path.clone());
        let file = Arc::clone(&self.file);
        (
            LaneFile { file, filled: AtomicU64::new(0), _scratch: None },
            OwnFile { path, held, size: 0 },
        )
    }

    /// Returns the files that a job works on, each with its part: that of `window`, which is of a
    /// whole list and else of each file.
    pub fn parts(&self, job: &Job, window: &Range<u64>) -> Vec<(&File, Range<u64>)> {
        if !self.listed.is_empty() {
            return self.list_parts(window);
        }
        self.files(job).into_iter().map(|file| (file, window.clone())).collect()
    }

    /// Returns the extents of each file, as far as they are known.
    pub fn all_extents(&self) -> Vec<Option<&Extents>> {
        if self.listed.is_empty() {
            return vec![self.extents.as_ref()];
        }
        self.listed.iter().map(|file| file.extents.as_ref()).collect()
    }

    /// Returns the files that a job works on: one, one per thread, or a whole list.
    pub fn files(&self, job: &Job) -> Vec<&File> {
        if !self.listed.is_empty() {
            self.list_parts(&(0..job.span)).into_iter().map(|(file, _)| file).collect()
        } else if job.has_own_files() {
            let lanes = self.lane_files.iter().take(job.threads as usize);
            lanes.map(|lane| &*lane.file).collect()
        } else {
            vec![&self.file]
        }
    }

    /// Brings the files of a job that makes its own into the shape that it writes: empty,
    /// allocated, or full.
    ///
    /// # Errors
    /// The errno of ftruncate(2), fallocate(2), pwrite(2) or fdatasync(2); `Interrupted` where
    /// `stop` ended the filling; or that iotui did not create the file.
    pub fn make_files(&self, job: &Job, stop: &dyn Fn() -> bool) -> io::Result<()> {
        if !job.makes_files() {
            return Ok(());
        }
        let bytes = job.bytes_per_file();
        match job.writes {
            Writes::Overwrite => {
                for lane in self.lane_files.iter().take(job.threads as usize) {
                    if lane.filled.load(Relaxed) != bytes {
                        self.fill_lane_file(lane, bytes, stop)?;
                    }
                }
                Ok(())
            }
            Writes::Append => self.empty_files(job),
            Writes::Preallocated => {
                self.empty_files(job)?;
                self.files(job).into_iter().try_for_each(|file| {
                    space::allocate(file, bytes)?;
                    // Else the first commit would write out the allocation too.
                    file.sync_all()
                })
            }
        }
    }

    fn empty_files(&self, job: &Job) -> io::Result<()> {
        self.lane_files.iter().for_each(|lane| lane.filled.store(0, Relaxed));
        self.files(job).into_iter().try_for_each(|file| self.truncate(file))
    }

    fn fill_lane_file(
        &self,
        lane: &LaneFile,
        bytes: u64,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        lane.filled.store(0, Relaxed);
        self.truncate(&lane.file)?;
        let whole = &mut |_| ControlFlow::Continue(());
        fill::fill_file(&lane.file, bytes, self.data, stop, whole)?;
        lane.filled.store(bytes, Relaxed);
        Ok(())
    }

    /// Truncates a file to 0 bytes; only files that iotui created.
    fn truncate(&self, file: &File) -> io::Result<()> {
        if !self.target.writable {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "iotui truncates only files it created",
            ));
        }
        // By the descriptor it was created with, whatever has its name now.
        file.set_len(0)
    }
}

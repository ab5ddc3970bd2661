//! The target of a run: the user's file opened read-only, or a file that iotui makes, fills and
//! removes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::EngineError;
use crate::backend::Target;
use crate::host::{self, TargetFacts, TargetKind};
use crate::plan::{Cold, Job, Plan, TargetSpec};
use crate::sys::block::BlockDevice;
use crate::sys::buffer::zeroed;
use crate::sys::direct::DirectSupport;
use crate::sys::extents::{Extents, extents};
use crate::sys::folder::unguessable;
use crate::sys::held::{Held, Id};
use crate::sys::made::Unnamed;
use crate::sys::process_io::ProcessIo;
use crate::sys::scratch::{self, Scratch};
use crate::sys::{cold, disk, fd, fill};

/// An open target with what its verdicts need.
#[derive(Debug)]
pub struct Bench {
    /// The engine's own description: for preparation and facts, never for timed I/O.
    pub file: Arc<File>,
    pub target: Target,
    pub facts: TargetFacts,
    pub extents: Option<Extents>,
    pub device: Option<(u64, u64)>,
    /// A cold read was charged to this process; `None` = not tried.
    pub device_counted: Option<bool>,
    /// What is dropped to make it cold.
    pub cold: Cold,
    /// A file for the cells that begin with an empty one, where others need theirs whole.
    growing: Option<Box<Bench>>,
    held: Held,
    /// Takes the name away that a scratch file may have.
    _scratch: Option<Scratch>,
}

impl Bench {
    /// What is known before the run: the user's file, or an empty unnamed file where iotui's own
    /// would be.
    pub fn probe(spec: &TargetSpec) -> Result<Bench, EngineError> {
        let dir = match spec {
            TargetSpec::File { path, .. } => return Bench::existing(path),
            TargetSpec::Scratch { dir, .. } => dir.clone(),
            TargetSpec::New { path, .. } => parent(path),
            TargetSpec::None => return Err(EngineError::NoFile),
        };
        let scratch = Scratch::create(&dir)
            .map_err(|error| EngineError::Scratch { dir: dir.clone(), error })?;
        let mut bench = Bench::scratch(scratch, &dir)?;
        bench.facts.size = spec.size();
        bench.target.size = spec.size();
        Ok(bench)
    }

    /// Opens or makes the target of `plan`. `progress` is told the bytes filled so far; `stop` ends
    /// the filling.
    pub fn open(
        plan: &Plan,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Bench, EngineError> {
        let spec = &plan.target;
        sweep(spec);
        let fill = if plan.only_appends() { 0 } else { spec.size() };
        let mut bench = Bench::made(spec, fill, plan.seed, stop, progress)?;
        if plan.only_appends() {
            (bench.facts.size, bench.target.size, bench.extents) = (spec.size(), spec.size(), None);
        } else if spec.is_ours() && plan.cells.iter().any(Job::appends) {
            let dir = match spec {
                TargetSpec::New { path, .. } => parent(path),
                TargetSpec::Scratch { dir, .. } => dir.clone(),
                TargetSpec::File { .. } | TargetSpec::None => return Err(EngineError::NoFile),
            };
            let scratch = Scratch::create(&dir)
                .map_err(|error| EngineError::Scratch { dir: dir.clone(), error })?;
            let own = Bench { extents: None, ..Bench::scratch(scratch, &dir)? };
            bench.growing = Some(Box::new(own));
        }
        Ok(bench)
    }

    /// The file that a job works on.
    pub fn of_job(&self, job: &Job) -> &Bench {
        self.growing.as_deref().filter(|_| job.appends()).unwrap_or(self)
    }

    /// Takes all bytes away, of a file that iotui made.
    ///
    /// # Errors
    /// The errno of ftruncate(2); that the file is not iotui's.
    pub fn empty(&self) -> io::Result<()> {
        if !self.target.writable {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "iotui empties only files that it made itself",
            ));
        }
        // By the descriptor that it was made with, whatever has its name now.
        self.file.set_len(0)
    }

    fn made(
        spec: &TargetSpec,
        size: u64,
        seed: u64,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Bench, EngineError> {
        match spec {
            TargetSpec::File { path, .. } => {
                let mut bench = Bench::existing(path)?;
                bench.facts.entropy =
                    host::entropy(&bench.file, bench.facts.size, stop).ok().flatten();
                Ok(bench)
            }
            TargetSpec::Scratch { dir, keep: false, .. } => {
                let scratch = Scratch::create(dir)
                    .map_err(|error| EngineError::Scratch { dir: dir.clone(), error })?;
                filled(scratch.file(), size, seed, stop, progress)?;
                Bench::scratch(scratch, dir)
            }
            TargetSpec::Scratch { dir, keep: true, .. } => Bench::new_file(
                &dir.join(format!("iotui-scratch-{}.bin", unguessable())),
                size,
                seed,
                stop,
                progress,
            ),
            TargetSpec::New { path, .. } => Bench::new_file(path, size, seed, stop, progress),
            TargetSpec::None => Err(EngineError::NoFile),
        }
    }

    fn existing(path: &Path) -> Result<Bench, EngineError> {
        let file =
            fd::open_named(path).map_err(|error| EngineError::Open { path: path.into(), error })?;
        Bench::of(file, path.into(), path, TargetKind::File, None)
            .map_err(|error| EngineError::Open { path: path.into(), error })
    }

    fn scratch(scratch: Scratch, dir: &Path) -> Result<Bench, EngineError> {
        let file = scratch.file().try_clone().map_err(EngineError::Fill)?;
        let path = scratch.path();
        Bench::of(file, path, &dir.join("(scratch file)"), TargetKind::Scratch, Some(scratch))
            .map_err(EngineError::Fill)
    }

    /// A named file that stays. It has its name once it is whole: one that could not be filled
    /// never had it.
    fn new_file(
        path: &Path,
        size: u64,
        seed: u64,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Bench, EngineError> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => EngineError::Taken(path.into()),
            _ => EngineError::New { path: path.into(), error },
        };
        let made = Unnamed::make(path).map_err(refused)?;
        filled(made.file(), size, seed, stop, progress)?;
        let file = made.finish().map_err(refused)?;
        let mut bench =
            Bench::of(file, path.into(), path, TargetKind::File, None).map_err(refused)?;
        bench.target.writable = true;
        Ok(bench)
    }

    fn of(
        file: File,
        path: PathBuf,
        shown: &Path,
        kind: TargetKind,
        scratch: Option<Scratch>,
    ) -> io::Result<Bench> {
        let facts = TargetFacts::inspect(&file, shown, kind);
        let extents = extents(&file, facts.size).ok();
        let device = disk::device_of(&file);
        let name = if scratch.is_some() {
            scratch.as_ref().and_then(Scratch::name)
        } else {
            Some(path.clone())
        };
        let held = Held::new(file, name)?;
        let target = Target {
            direct_refused: direct_refused(&held),
            held: Some(held.clone()),
            path,
            size: facts.size,
            writable: scratch.is_some(),
            direct_align: match facts.direct {
                Some(DirectSupport::Known(align)) => Some(align.offset.max(align.mem)),
                _ => facts.devices.first().and_then(logical_block),
            },
        };
        let file = Arc::clone(held.file());
        Ok(Bench {
            file,
            target,
            facts,
            extents,
            device,
            device_counted: None,
            cold: Cold::Data,
            growing: None,
            held,
            _scratch: scratch,
        })
    }

    /// Why what is measured is not what has the name: lanes go on with the file that was opened,
    /// and its figures would be taken for those of another.
    pub fn replaced(&self) -> Option<String> {
        match std::fs::metadata(&self.target.path) {
            Ok(named) if Id::of(&named) == self.held.id() => None,
            Ok(_) => {
                Some("another file was put in its place while it was measured: run again".into())
            }
            // A path under /proc that there is no more says nothing about the file.
            Err(_) if self._scratch.is_some() => None,
            Err(error) => {
                Some(format!("it lost its name while it was measured ({error}): run again"))
            }
        }
    }

    /// Reads the first MiB cold and looks whether it was charged to this process: then 0 device
    /// bytes mean none.
    pub fn try_counting(&mut self) {
        const LEN: u64 = 1 << 20;
        let stored =
            self.extents.as_ref().is_some_and(|e| e.len >= LEN && e.hole_bytes_in(0..LEN) == 0);
        if !stored || !cold::make_cold(&self.file, LEN).is_ok_and(|c| c.is_cold()) {
            return;
        }
        let Ok(mut block) = zeroed(LEN as usize) else { return };
        let before = ProcessIo::process();
        let read = self.file.read_exact_at(&mut block, 0);
        if let (Ok(before), Ok(()), Ok(after)) = (before, read, ProcessIo::process()) {
            self.device_counted = Some(after.read_bytes.saturating_sub(before.read_bytes) >= LEN);
        }
    }
}

fn logical_block(device: &BlockDevice) -> Option<u32> {
    device.logical_block.and_then(|b| u32::try_from(b).ok())
}

/// The kernel's own word: a file system that cannot do direct I/O refuses the flag.
fn direct_refused(held: &Held) -> Option<String> {
    let open =
        held.open(File::options().read(true), libc::O_DIRECT | libc::O_NONBLOCK, false, false);
    open.err().map(|error| format!("open with O_DIRECT: {error}"))
}

/// Removes what killed runs may have left where this one makes its files; no matter if it cannot be
/// looked for.
fn sweep(spec: &TargetSpec) {
    let _ = match spec {
        TargetSpec::Scratch { dir, .. } => scratch::sweep(dir),
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
            scratch::sweep(&parent(path))
        }
        TargetSpec::None => return,
    };
}

fn parent(path: &Path) -> PathBuf {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn filled(
    file: &File,
    size: u64,
    seed: u64,
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(u64),
) -> Result<(), EngineError> {
    fill::fill_random(file, size, seed, stop, progress).map_err(|failed| {
        match failed.error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => EngineError::Full(size),
            _ if failed.error.kind() == io::ErrorKind::Interrupted => EngineError::Stopped,
            _ => EngineError::Fill(failed.into()),
        }
    })
}

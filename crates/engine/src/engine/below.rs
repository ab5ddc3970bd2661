//! Watches the layers below a target: the bytes that its disks move or that arrive over the
//! network, and the page caches of its images.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

use crate::facts::ResidencyMethod;
use crate::host::{Below, FileBelow};
use crate::plan::{Cold, Job, Op};
use crate::record::{BelowCounts, CacheBelow, LayerKind, Medium, Note, OptU64};
use crate::sys::extents::Extents;
use crate::sys::residency::residency_by;
use crate::sys::{cold, disk, fd, network};

/// The layers below a target during a trial.
pub(super) struct Layers<'a> {
    below: Cow<'a, Below>,
    /// The parts of each file below that the trial uses, as far as is known.
    parts: Vec<Vec<Range<u64>>>,
    /// The bytes of each file below that stayed cached after it was dropped.
    left: Vec<Option<u64>>,
    /// The caches of all files of the machine were dropped.
    all_dropped: bool,
}

/// The counters and caches of the layers at one moment.
#[derive(Debug, Default)]
pub(super) struct LayersNow {
    /// Bytes that the disks read and wrote.
    disks: Option<(u64, u64)>,
    received: Option<u64>,
    caches: Vec<Option<Held>>,
}

/// The bytes of a file's parts in the page cache.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    resident: u64,
    evicted: u64,
    unwritten: u64,
}

impl<'a> Layers<'a> {
    /// Returns the layers that may have bytes of the target without reading them from a disk;
    /// `None` without such a layer. `used`: the part of each file, with its extents. An observed
    /// trial looks at them again, and a note says if they changed since the target was opened; not
    /// where the run itself changes the machine.
    pub fn of(
        (file, opened): (&File, &'a Below),
        used: &[(Option<&Extents>, Range<u64>)],
        job: &Job,
        observed: bool,
    ) -> (Option<Layers<'a>>, Vec<Note>) {
        if !is_watched(opened) {
            return (None, Vec::new());
        }
        let (mut below, mut notes) = (Cow::Borrowed(opened), Vec::new());
        if observed {
            let now = Below::of(file);
            if job.variant.is_none() {
                notes.extend(now.change_since(opened).map(Note::LayersChanged));
            }
            below = Cow::Owned(now);
        }
        let parts = find_parts(&below, used, job);
        (Some(Layers { below, parts, left: Vec::new(), all_dropped: false }), notes)
    }

    /// Writes the files below back and drops them from the page cache, from the top down, since
    /// writing back above dirties the file below. A file that cannot be dropped stays cached.
    ///
    /// # Errors
    /// `Interrupted` when `stop` ends it.
    pub fn drop_caches(&mut self, level: Cold, stop: &dyn Fn() -> bool) -> io::Result<()> {
        self.all_dropped = level == Cold::All;
        let mut left = Vec::new();
        for (file, parts) in self.below.files.iter().zip(&self.parts) {
            let open = file.file.as_ref().ok().filter(|_| !file.direct && !file.own);
            left.push(match open {
                Some(open) => drop_file(open, parts, stop)?,
                None => self.all_dropped.then_some(0),
            });
        }
        self.left = left;
        Ok(())
    }

    /// Reads the counters and caches. The counters move all the time, so they are read as close to
    /// the trial as possible: last before it, and first `after` it.
    pub fn now(&self, after: bool) -> LayersNow {
        let counted = after.then(|| self.count());
        let files = self.below.files.iter().zip(&self.parts);
        let caches = files.map(|(file, parts)| Held::of(file.file.as_ref().ok()?, parts));
        let caches = caches.collect();
        let (disks, received) = counted.unwrap_or_else(|| self.count());
        LayersNow { disks, received, caches }
    }

    fn count(&self) -> (Option<(u64, u64)>, Option<u64>) {
        let ground = &self.below.ground;
        match ground.medium {
            Medium::Disk => (self.below.disks().and_then(|disks| disk::count_bytes(&disks)), None),
            Medium::Program | Medium::Server => {
                let received = ground.layers.iter().any(|layer| is_fed_by_cards(&layer.name));
                (disk::count_all_bytes(), received.then(network::received_bytes).flatten())
            }
            Medium::Memory | Medium::Unknown => (None, None),
        }
    }

    /// Returns the change of the counters since `before`, just after a trial.
    pub fn counts_since(&self, job: &Job, before: &LayersNow) -> BelowCounts {
        let after = &self.now(true);
        let disks = after.disks.zip(before.disks);
        let moved = |of: fn((u64, u64)) -> u64| {
            OptU64::from(disks.map(|(now, then)| of(now).saturating_sub(of(then))))
        };
        let received = after.received.zip(before.received);
        let own = |at: &usize| !self.below.files[*at].own;
        let mut caches: Vec<CacheBelow> = (0..self.below.files.len())
            .filter(own)
            .map(|at| self.cache(job, at, (before, after)))
            .collect();
        if self.all_dropped {
            // Files of loop devices that are not open here.
            for layer in self.below.ground.layers_to_drop() {
                if layer.kind == LayerKind::Loop && caches.iter().all(|of| of.name != layer.name) {
                    let (name, left) = (layer.name.clone(), 0.into());
                    caches.push(CacheBelow { name, left, ..CacheBelow::default() });
                }
            }
        }
        BelowCounts {
            read_bytes: moved(|(read, _)| read),
            write_bytes: moved(|(_, written)| written),
            received_bytes: received.map(|(now, then)| now.saturating_sub(then)).into(),
            caches,
        }
    }

    fn cache(&self, job: &Job, at: usize, (before, after): (&LayersNow, &LayersNow)) -> CacheBelow {
        let file = &self.below.files[at];
        let held = |now: &LayersNow| now.caches.get(at).copied().flatten();
        let now = held(after);
        CacheBelow {
            name: file.name.clone(),
            direct: file.direct,
            bytes: self.parts[at].iter().map(|part| part.end - part.start).sum(),
            resident_before: held(before).map(|of| of.resident).into(),
            resident_after: now.map(|of| of.resident).into(),
            evicted: now.map(|of| of.evicted).into(),
            hole_bytes: None.into(),
            unwritten_bytes: now.filter(|_| job.op == Op::Write).map(|of| of.unwritten).into(),
            left: self.left.get(at).copied().flatten().into(),
        }
    }
}

impl Held {
    /// Asks cachestat(2): other methods leave out states, or read what they ask for.
    fn of(file: &File, parts: &[Range<u64>]) -> Option<Held> {
        let bytes = |pages: u64| pages.saturating_mul(fd::page_size());
        parts.iter().try_fold(Held::default(), |all, part| {
            let len = part.end - part.start;
            let found =
                residency_by(file, part.start, len, Some(ResidencyMethod::Cachestat)).ok()?;
            let unwritten = found.dirty?.saturating_add(found.writeback?);
            Some(Held {
                resident: all.resident.saturating_add(bytes(found.cached).min(len)),
                evicted: all.evicted.saturating_add(bytes(found.evicted?).min(len)),
                unwritten: all.unwritten.saturating_add(bytes(unwritten).min(len)),
            })
        })
    }
}

/// Finds the parts of each file below that hold the used parts of the target; all that may hold
/// them if that is unknown.
fn find_parts(
    below: &Below,
    used: &[(Option<&Extents>, Range<u64>)],
    job: &Job,
) -> Vec<Vec<Range<u64>>> {
    let size = |file: &FileBelow| {
        file.file.as_ref().ok().and_then(|file| fd::size(file).ok()).unwrap_or(0)
    };
    let clip = |part: Range<u64>, size: u64| part.start.min(size)..part.end.min(size);
    let whole = |file: &FileBelow| {
        let parts = used.iter().map(|(_, span)| file.part_of(span.clone()));
        let hull = parts.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
        vec![clip(hull.unwrap_or(0..0), size(file))]
    };
    let mut parts: Vec<Vec<Range<u64>>> = below.files.iter().map(whole).collect();
    // Written data may move to other places.
    let places_of = |(extents, span): &(Option<&Extents>, Range<u64>)| {
        extents.filter(|_| job.op == Op::Read && has_places(below))?.places_of(span)
    };
    let places: Option<Vec<_>> = used.iter().map(places_of).collect();
    let places = places.map(Vec::into_iter).map(|of| of.flatten().collect::<Vec<_>>());
    if let Some((places, (file, parts))) = places
        .zip(below.files.first().zip(parts.first_mut()))
        .filter(|(of, _)| of.len() <= MAX_PARTS)
    {
        let at = |n: u64| n.saturating_add(file.part.start);
        let all = places.iter().map(|place| clip(at(place.start)..at(place.end), size(file)));
        *parts = all.collect();
    }
    parts
}

/// Maximum number of parts of a file that are looked at one by one.
const MAX_PARTS: usize = 256;

/// Returns whether the first file below has the bytes of the target's device at the same places:
/// only partitions and loop devices are in between.
fn has_places(below: &Below) -> bool {
    const PLAIN: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "f2fs"];
    let first = below.files.first().map_or(0, |file| file.layer);
    let mut layers = below.ground.layers.iter().take(first);
    let is_plain = layers.next().is_some_and(|layer| PLAIN.contains(&layer.name.as_str()));
    is_plain && layers.all(|layer| matches!(layer.kind, LayerKind::Partition | LayerKind::Loop))
}

/// Drops the files below from the page cache; errors are ignored.
pub(super) fn drop_files(below: &Below) {
    let files = below.files.iter().filter(|file| !file.direct && !file.own);
    for (open, part) in files.filter_map(|file| Some((file.file.as_ref().ok()?, &file.part))) {
        let _ = drop_file(open, std::slice::from_ref(part), &|| false);
    }
}

/// Drops a file; returns the bytes of its parts that stay cached, `None` if that is unknown.
fn drop_file(
    file: &File,
    parts: &[Range<u64>],
    stop: &dyn Fn() -> bool,
) -> io::Result<Option<u64>> {
    let hull =
        parts.iter().cloned().reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
    match cold::make_cold_within(file, hull.unwrap_or(0..0), stop) {
        Ok(_) => Ok(Held::of(file, parts).map(|held| held.resident)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns whether a layer below may have bytes without reading them from a disk.
fn is_watched(below: &Below) -> bool {
    let is_image = |layer: &crate::record::Layer| layer.cached || layer.kind == LayerKind::Loop;
    match below.ground.medium {
        Medium::Memory => false,
        Medium::Program | Medium::Server => true,
        Medium::Disk | Medium::Unknown => below.ground.layers.iter().any(is_image),
    }
}

/// Returns whether network cards and disks count all bytes that a file system receives. They miss
/// shared folders of a host and memory of the file system (virtiofs, 9p, ublk).
fn is_fed_by_cards(fs: &str) -> bool {
    const NAMES: [&str; 9] =
        ["nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs", "fuse", "fuseblk"];
    // Folders of the host of a virtual machine.
    const SHARED: [&str; 5] = ["grpcfuse", "osxfs", "vmhgfs", "prl_fs", "vbox"];
    let program = fs.strip_prefix("fuse.");
    let is_shared = |program: &str| SHARED.iter().any(|shared| program.contains(shared));
    NAMES.contains(&fs) || program.is_some_and(|program| !is_shared(program))
}

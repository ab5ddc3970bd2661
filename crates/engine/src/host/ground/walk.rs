//! Goes down from a file, layer by layer.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use super::found::{Below, FileBelow, Leaf, judge};
use crate::facts::{DeviceKind, Transport, clean};
use crate::record::{Ground, Layer, LayerKind, Medium};
use crate::sys::block::{self};
use crate::sys::link::{self};
use crate::sys::loop_device::{self, LoopFile};
use crate::sys::mounts::{self, MountEntry};
use crate::sys::text::line;

/// Maximum number of layers, and of layers on top of each other.
const MAX_LAYERS: usize = 256;
const MAX_DEPTH: u32 = 192;

/// The sources of a walk; planted in tests.
pub(super) struct World {
    pub sys: PathBuf,
    pub mounts: Vec<MountEntry>,
    /// Asks a loop device, by kernel name and number, for its file.
    pub ask: fn(&str, u64) -> io::Result<LoopFile>,
    /// Finds the number (st_rdev) of the block device that a node in /dev is.
    pub node: fn(&World, &Path) -> Result<u64, String>,
    pub home: Option<PathBuf>,
}

/// The layer that the walk has come to.
#[derive(Debug, Clone)]
pub(super) struct WalkPlace {
    /// Depth among layers, and among devices.
    pub depth: u32,
    pub device_depth: usize,
    /// The bytes of the layer that hold the target, and whether byte n of the target is byte n of
    /// them.
    pub part: Range<u64>,
    pub fixed: bool,
    /// The owner of the last file on the way; `None` if that is the target.
    pub above: Option<Above>,
    /// The reason to doubt a disk below.
    pub doubt: Option<String>,
}

/// A device or file system made of a file: `loop0`.
#[derive(Debug, Clone)]
pub(super) struct Above {
    pub name: String,
    /// Whether it bypasses the page cache of its file.
    pub direct: bool,
}

/// A walk that is under way.
pub(super) struct Walk<'a> {
    pub world: &'a World,
    below: Below,
    /// The folders of the devices above, which no device can lie on.
    above: Vec<PathBuf>,
}

impl World {
    /// Returns the world of this process.
    pub fn here() -> World {
        World {
            sys: "/sys".into(),
            mounts: mounts::mount_table(),
            ask: loop_device::file_of,
            node: World::block_device,
            home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
        }
    }

    /// Returns the layers below an open file.
    pub fn below(&self, file: &File) -> Below {
        let mut walk = Walk::new(self);
        let place = WalkPlace::top();
        match file.metadata() {
            Ok(meta) if meta.file_type().is_block_device() => walk.number(meta.rdev(), place),
            Ok(meta) => {
                walk.below.mount = mounts::mount_among(file, || &self.mounts).ok();
                walk.file(file, &meta, place);
            }
            Err(error) => walk.end(&place, Medium::Unknown, "", error.to_string()),
        }
        walk.finish()
    }

    /// Returns the layers below the files of a mount.
    #[cfg(test)]
    pub fn below_mount(&self, entry: &MountEntry) -> Below {
        let mut walk = Walk::new(self);
        walk.file_system(entry, None, WalkPlace::top());
        walk.finish()
    }

    /// Returns the layers below a block device (major, minor).
    #[cfg(test)]
    pub fn below_device(&self, (major, minor): (u64, u64)) -> Below {
        let mut walk = Walk::new(self);
        walk.number(nix::sys::stat::makedev(major, minor), WalkPlace::top());
        walk.finish()
    }
}

impl WalkPlace {
    fn top() -> WalkPlace {
        WalkPlace {
            depth: 0,
            device_depth: 0,
            part: 0..u64::MAX,
            fixed: true,
            above: None,
            doubt: None,
        }
    }

    /// Returns the place right below.
    pub fn under(&self) -> WalkPlace {
        WalkPlace { depth: self.depth + 1, ..self.clone() }
    }

    /// Returns the place right below; any of its bytes may hold the target.
    pub fn anywhere(&self) -> WalkPlace {
        WalkPlace { part: 0..u64::MAX, fixed: false, ..self.under() }
    }
}

impl<'a> Walk<'a> {
    pub fn new(world: &'a World) -> Walk<'a> {
        Walk { world, below: Below::default(), above: Vec::new() }
    }

    pub fn finish(mut self) -> Below {
        let (medium, reason) = judge(&self.below.leaves);
        let layers = &mut self.below.ground.layers;
        // The pages of a file in memory are the file itself, not a cache; the pages of a file of an
        // overlay belong to the file below.
        for at in 1..layers.len() {
            let (file, fs) = (at - 1, &layers[at]);
            let has_none = matches!(fs.kind, LayerKind::Memory | LayerKind::Overlay)
                && fs.depth == layers[file].depth + 1;
            layers[file].cached &= !(has_none && layers[file].kind == LayerKind::Image);
        }
        self.below.ground = Ground { medium, reason, ..self.below.ground };
        self.below
    }

    /// Adds a layer; returns its index.
    pub fn layer(&mut self, place: &WalkPlace, kind: LayerKind, name: &str) -> usize {
        let name = clean(name);
        let layers = &mut self.below.ground.layers;
        layers.push(Layer { name, kind, depth: place.depth, ..Layer::default() });
        layers.len() - 1
    }

    /// Returns the index of the layer that is added next.
    pub fn next_layer(&self) -> usize {
        self.below.ground.layers.len()
    }

    pub fn layer_mut(&mut self, index: usize) -> &mut Layer {
        &mut self.below.ground.layers[index]
    }

    pub fn files(&self) -> &[FileBelow] {
        &self.below.files
    }

    /// Adds the file or device of a layer, at this place in the order.
    pub fn add_file(&mut self, at: usize, file: FileBelow) {
        self.below.ground.layers[file.layer].cached = !file.direct && !file.own;
        self.below.files.insert(at, file);
    }

    /// Ends a way.
    pub fn end(
        &mut self,
        place: &WalkPlace,
        medium: Medium,
        name: &str,
        reason: impl Into<String>,
    ) {
        self.end_at(place, medium, name, reason.into(), None);
    }

    fn end_at(
        &mut self,
        place: &WalkPlace,
        medium: Medium,
        name: &str,
        reason: String,
        number: Option<(u64, u64)>,
    ) {
        let (medium, reason) = match &place.doubt {
            Some(doubt) if medium == Medium::Disk => (Medium::Unknown, doubt.clone()),
            _ => (medium, reason),
        };
        let leaf = Leaf { medium, reason: clean(&reason), name: clean(name), number };
        if !self.below.leaves.contains(&leaf) {
            self.below.leaves.push(leaf);
        }
    }

    /// Returns whether there is room for more layers; if not, the way ends.
    pub fn has_room(&mut self, place: &WalkPlace) -> bool {
        let layers = self.below.ground.layers.len();
        let has_room = layers < MAX_LAYERS && place.depth < MAX_DEPTH;
        if !has_room {
            let reason = format!("there are more than {} layers", layers.min(MAX_LAYERS));
            self.end(place, Medium::Unknown, "", reason);
        }
        has_room
    }

    /// Continues with the block device of this number (st_rdev).
    pub fn number(&mut self, number: u64, place: WalkPlace) {
        let (major, minor) = (major(number), minor(number));
        match block::folder(&self.world.sys, (major, minor)) {
            Some(dir) => self.device(&dir, place),
            None => {
                let reason = format!("/sys does not describe the device {major}:{minor}");
                self.end_at(&place, Medium::Unknown, "", reason, Some((major, minor)));
            }
        }
    }

    /// Continues with the block device of this sysfs folder.
    pub fn device(&mut self, dir: &Path, place: WalkPlace) {
        if !self.has_room(&place) {
            return;
        }
        let name = block::named(dir).to_string();
        if self.above.iter().any(|above| above == dir) {
            return self.end(&place, Medium::Unknown, &name, format!("{name} lies on itself"));
        }
        if self.below.folders.iter().any(|(seen, _)| seen == dir) {
            // Another way led here, and went on.
            let (kind, ..) = describe(dir, &name);
            self.layer(&place, kind, &name);
            return;
        }
        let Some(number) = block::number_of(dir) else {
            let reason = format!("/sys does not describe {name}");
            return self.end(&place, Medium::Unknown, &name, reason);
        };
        self.below.folders.push((dir.into(), place.device_depth));
        self.above.push(dir.into());
        let size = block::size(dir).unwrap_or(u64::MAX);
        let part = clip(place.part.clone(), size);
        let under = WalkPlace { device_depth: place.device_depth + 1, part, ..place.under() };
        self.go_below(dir, &name, number, &place, under);
        self.above.pop();
    }

    fn go_below(
        &mut self,
        dir: &Path,
        name: &str,
        number: (u64, u64),
        place: &WalkPlace,
        under: WalkPlace,
    ) {
        let (kind, lowest) = describe(dir, name);
        let layer = self.layer(place, kind, name);
        let is_vdo = || line(dir.join("dm/uuid")).is_some_and(|uuid| uuid.starts_with("VDO-"));
        if name.starts_with("zram") || kind == LayerKind::Mapper && is_vdo() {
            self.layer_mut(layer).transform = "compresses".into();
        }
        if let Some((medium, reason)) = lowest {
            self.end_at(place, medium, name, reason, Some(number));
            return self.paths(dir, place);
        }
        match kind {
            LayerKind::Loop => self.loop_device(dir, name, number, under),
            LayerKind::Partition => {
                let start = block::sectors(dir, "start");
                let shift = |at: u64| at.saturating_add(start.unwrap_or(0));
                let part = shift(under.part.start)..shift(under.part.end);
                let fixed = under.fixed && start.is_some();
                self.all_below(dir, name, WalkPlace { part, fixed, ..under });
            }
            _ => {
                let device_depth = under.device_depth;
                self.all_below(dir, name, WalkPlace { device_depth, ..place.anywhere() });
            }
        }
    }

    fn all_below(&mut self, dir: &Path, name: &str, place: WalkPlace) {
        let below = block::below(dir);
        if below.is_empty() {
            let reason = format!("the kernel names no device below {name}");
            return self.end(&place, Medium::Unknown, name, reason);
        }
        below.iter().for_each(|dir| self.device(dir, place.clone()));
    }

    /// Adds the paths to an NVMe disk.
    fn paths(&mut self, dir: &Path, place: &WalkPlace) {
        if block::kind(dir) != DeviceKind::Disk {
            return;
        }
        for path in block::below(dir) {
            if !self.has_room(place) {
                return;
            }
            self.layer(&place.under(), LayerKind::Disk, block::named(&path));
            self.below.folders.push((path, place.device_depth + 1));
        }
    }

    /// Continues with the file system of a file.
    pub fn file(&mut self, file: &File, meta: &fs::Metadata, place: WalkPlace) {
        match mounts::entry_of(file, meta, &self.world.mounts) {
            Some(entry) => self.file_system(entry, Some(file), place),
            None if mounts::is_unnamed_memory(meta.dev()) => {
                self.layer(&place, LayerKind::Memory, "memfd");
                self.end(&place, Medium::Memory, "memfd", "memfd is memory");
            }
            None => self.end(&place, Medium::Unknown, "", "its mount is not visible here"),
        }
    }
}

/// Returns the part of a range before `end`; empty if it begins later.
pub fn clip(part: Range<u64>, end: u64) -> Range<u64> {
    part.start..part.end.min(end).max(part.start)
}

/// Returns the kind of a device; for a lowest device also its medium, and the reason for any other
/// than a disk.
fn describe(dir: &Path, name: &str) -> (LayerKind, Option<(Medium, String)>) {
    let is = |part: &str| dir.to_str().is_some_and(|path| path.contains(part));
    let is_mixed = || line(dir.join("backing_dev")).is_some_and(|file| file != "none");
    let (kind, medium, reason) = match block::kind(dir) {
        DeviceKind::Partition => return (LayerKind::Partition, None),
        DeviceKind::Mapper => return (LayerKind::Mapper, None),
        DeviceKind::Raid => return (LayerKind::Raid, None),
        DeviceKind::Loop => return (LayerKind::Loop, None),
        DeviceKind::Memory if name.starts_with("zram") && is_mixed() => {
            let reason = "NAME keeps a part in memory and a part on another device";
            (LayerKind::Memory, Medium::Unknown, reason)
        }
        DeviceKind::Memory if name.starts_with("zram") => {
            (LayerKind::Memory, Medium::Memory, "NAME is compressed memory")
        }
        DeviceKind::Memory => (LayerKind::Memory, Medium::Memory, "NAME is memory"),
        // The module scsi_debug reports these.
        DeviceKind::Disk if is("/pseudo_") => {
            (LayerKind::Memory, Medium::Memory, "NAME is memory (scsi_debug)")
        }
        DeviceKind::Disk if is("/tcm_loop") => {
            (LayerKind::Unknown, Medium::Unknown, "NAME is a target of this machine itself")
        }
        DeviceKind::Network if name.starts_with("rbd") => {
            (LayerKind::Server, Medium::Server, "NAME is on another machine")
        }
        DeviceKind::Network => {
            let reason = "NAME may be served by a program or by another machine";
            (LayerKind::Unknown, Medium::Unknown, reason)
        }
        // bcache has slaves, as what the device mapper makes.
        DeviceKind::Virtual if !block::below(dir).is_empty() => return (LayerKind::Mapper, None),
        DeviceKind::Virtual if name.starts_with("ublk") => {
            (LayerKind::Program, Medium::Program, "a program serves NAME")
        }
        DeviceKind::Virtual => {
            (LayerKind::Unknown, Medium::Unknown, "NAME does not say what it lies on")
        }
        DeviceKind::Disk => {
            match link::detect(dir).filter(|link| link.transport == Transport::Network) {
                Some(link) if link.text.ends_with(" loop") => {
                    (LayerKind::Unknown, Medium::Unknown, "NAME is a target of this machine itself")
                }
                Some(_) => (LayerKind::Disk, Medium::Server, "NAME is on another machine"),
                None => (LayerKind::Disk, Medium::Disk, ""),
            }
        }
    };
    (kind, Some((medium, reason.replace("NAME", name))))
}

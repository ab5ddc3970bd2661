//! The files below: images of loop devices and other files under devices and file systems.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use nix::sys::stat::{major, makedev, minor};

use super::found::FileBelow;
use super::walk::{Above, Walk, WalkPlace, World, clip};
use crate::record::{LayerKind, Medium};
use crate::sys::loop_device::LoopFile;
use crate::sys::{block, fd, mounts};

/// Maximum number of symbolic links that a path may have; as the kernel.
const MAX_LINKS: u32 = 40;

impl World {
    /// Returns the type of the file system that may not answer when this path is looked up, which
    /// has no symbolic links: one that a program or another machine serves.
    pub fn silent(&self, path: &Path) -> Option<&str> {
        let way = mounts::on_the_way(&self.mounts, path);
        // The root file system answers, or nothing here would run.
        let (last, rest) = way.split_last()?;
        let crossed = rest.iter().filter(|entry| entry.mount_point != Path::new("/"));
        let fs = crossed.chain([last]).map(|entry| entry.fs.as_str());
        fs.into_iter().find(|fs| mounts::is_network(fs) || mounts::is_fuse(fs) || *fs == "autofs")
    }

    /// Finds a file by its path, without opening it.
    ///
    /// # Errors
    /// Why it is not found, worded to follow the name of what is looked for.
    pub fn find(&self, path: &Path) -> Result<(File, fs::Metadata), String> {
        let path = self.resolve(path)?;
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let found = File::options().read(true).custom_flags(flags).open(path);
        let found = found.and_then(|file| file.metadata().map(|meta| (file, meta)));
        found.map_err(|error| unseen(&error))
    }

    /// Finds the number (st_rdev) of the block device that a node in /dev is.
    pub fn block_device(&self, path: &Path) -> Result<u64, String> {
        let (_, meta) = self.find(path)?;
        let is_device = meta.file_type().is_block_device();
        if is_device { Ok(meta.rdev()) } else { Err("is not a block device".into()) }
    }

    /// Follows the symbolic links of a path.
    fn resolve(&self, path: &Path) -> Result<PathBuf, String> {
        if !path.is_absolute() {
            return Err("is not visible here: its path is relative".into());
        }
        let (mut real, mut links) = (PathBuf::from("/"), 0);
        let mut rest: Vec<PathBuf> = parts(path);
        while let Some(part) = rest.pop() {
            if part == Path::new("..") {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            if let Some(fs) = self.silent(&next) {
                return Err(format!("is not looked at: {fs} may not answer"));
            }
            match fs::symlink_metadata(&next).map_err(|error| unseen(&error))? {
                meta if !meta.is_symlink() => real = next,
                _ if links == MAX_LINKS => return Err("has too many symbolic links".into()),
                _ => {
                    links += 1;
                    let to = fs::read_link(&next).map_err(|error| unseen(&error))?;
                    if to.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    rest.extend(parts(&to));
                }
            }
        }
        Ok(real)
    }

    /// Returns a path as it is shown.
    pub fn shown(&self, path: &Path) -> String {
        let home = self.home.as_deref().filter(|home| *home != Path::new("/"));
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// Returns the parts of a path, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    let names = parts.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| PathBuf::from(part.as_os_str())).collect()
}

fn unseen(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "is not visible here: it was removed, has no name, or is in another mount namespace"
                .into()
        }
        io::ErrorKind::PermissionDenied => "is in a folder that this user may not search".into(),
        _ => format!("is not visible here: {error}"),
    }
}

/// Opens a file for reading that was found: its type is known.
pub(super) fn open(found: &File) -> Result<Arc<File>, String> {
    let options = &mut OpenOptions::new();
    let opened = fd::open_noatime(&fd::own_path(found), options.read(true), libc::O_NONBLOCK);
    opened.map(Arc::new).map_err(|error| error.to_string())
}

impl Walk<'_> {
    /// Continues below a loop device; `place` is where its file lies.
    pub fn loop_device(&mut self, dir: &Path, name: &str, number: (u64, u64), place: WalkPlace) {
        let path = block::backing_file(dir);
        let unknown = |walk: &mut Self, why: String| {
            walk.end(&place, Medium::Unknown, name, format!("the file of {name} {why}"));
        };
        if let Some(fs) = path.as_deref().and_then(|path| self.world.silent(path)) {
            let why = format!("seems to be on {fs}, which may not answer: it is not looked at");
            return unknown(self, why);
        }
        let found = match (self.world.ask)(name, makedev(number.0, number.1)) {
            Ok(found) => found,
            Err(error) => {
                let why = match error.raw_os_error() {
                    Some(libc::ENXIO) => "is gone".into(),
                    Some(libc::EACCES | libc::EPERM) => {
                        "is not known: this user may not ask the device for it".into()
                    }
                    _ => format!("is not known: {error}"),
                };
                return unknown(self, why);
            }
        };
        let offset = found.offset;
        if offset > 0 {
            let device = self.next_layer() - 1;
            self.layer_mut(device).transform = format!("offset {offset}");
        }
        let end = match found.size_limit {
            0 => u64::MAX,
            limit => offset.saturating_add(limit),
        };
        let shift = |at: u64| at.saturating_add(offset);
        let part = clip(shift(place.part.start)..shift(place.part.end), end);
        let above = Some(Above { name: name.into(), direct: found.direct });
        let place = WalkPlace { part, above, ..place };
        if found.block_device != 0 {
            return self.block_image(path.as_deref(), found.block_device, place);
        }
        self.image(path.as_deref(), &found, place);
    }

    /// Continues with a file, given its device and inode.
    fn image(&mut self, path: Option<&Path>, is: &LoopFile, place: WalkPlace) {
        let found = path.ok_or_else(|| "has no name".to_string()).and_then(|path| {
            let (file, meta) = self.world.find(path)?;
            if meta.is_file() && (meta.dev(), meta.ino()) == (is.device, is.inode) {
                return Ok((path, file, meta));
            }
            Err("is not visible here: its name leads to another file".into())
        });
        match found {
            Ok((path, file, meta)) => self.file_below(path, &file, &meta, place),
            Err(why) => self.unseen_image(is.device, why, place),
        }
    }

    /// Continues with a file that was found.
    pub fn file_below(&mut self, path: &Path, file: &File, meta: &fs::Metadata, place: WalkPlace) {
        if !self.has_room(&place) {
            return;
        }
        let name = self.world.shown(path);
        let layer = self.layer(&place, LayerKind::Image, &name);
        let part = clip(place.part.clone(), meta.len());
        let below = FileBelow {
            name,
            layer,
            id: (meta.dev(), meta.ino()),
            file: open(file),
            part: part.clone(),
            fixed: place.fixed,
            direct: place.above.as_ref().is_some_and(|above| above.direct),
            own: place.above.is_none(),
        };
        self.add_file(self.files().len(), below);
        self.file(file, meta, WalkPlace { part, ..place.under() });
    }

    /// Continues with a file of unknown name, given the device that stores it.
    fn unseen_image(&mut self, device: u64, why: String, place: WalkPlace) {
        let name = place.above.as_ref().map(|above| above.name.clone()).unwrap_or_default();
        if mounts::is_unnamed_memory(device) {
            self.layer(&place, LayerKind::Memory, "memfd");
            let reason = format!("{name} is a file in memory (memfd)");
            return self.end(&place, Medium::Memory, "memfd", reason);
        }
        let why = format!("the file of {name} {why}");
        let device = (major(device), minor(device));
        let entry = self.world.mounts.iter().find(|entry| entry.device == device);
        match entry.filter(|entry| entry.fs != "overlay") {
            Some(entry) => {
                let doubt = place.doubt.clone().or(Some(why));
                self.file_system(entry, None, WalkPlace { doubt, ..place });
            }
            None => self.end(&place, Medium::Unknown, &name, why),
        }
    }

    /// Continues with a block device that backs a loop device.
    fn block_image(&mut self, path: Option<&Path>, number: u64, place: WalkPlace) {
        let Some(dir) = block::folder(&self.world.sys, (major(number), minor(number))) else {
            return self.number(number, place);
        };
        let name = block::named(&dir).to_string();
        let is_it = |(_, meta): &(File, fs::Metadata)| {
            meta.file_type().is_block_device() && meta.rdev() == number
        };
        let nodes = [path.map(PathBuf::from), Some(Path::new("/dev").join(&name))];
        let found =
            nodes.into_iter().flatten().find_map(|node| self.world.find(&node).ok().filter(is_it));
        let file = match found {
            Some((node, _)) => open(&node),
            None => Err("its node in /dev is not visible here".into()),
        };
        let (layer, at) = (self.next_layer(), self.files().len());
        let part = place.part.clone();
        let (fixed, direct) = (place.fixed, place.above.as_ref().is_some_and(|above| above.direct));
        self.device(&dir, place);
        if self.next_layer() > layer {
            let file =
                FileBelow { name, layer, id: (number, 0), file, part, fixed, direct, own: false };
            self.add_file(at, file);
        }
    }
}

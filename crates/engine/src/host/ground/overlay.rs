//! The folders of an overlay, and which of them serves a file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};

use super::found::FileBelow;
use super::walk::{Walk, WalkPlace};
use crate::record::{LayerKind, Medium};
use crate::sys::mounts::{self, MountEntry, unescape};

/// The folders of an overlay, from its mount options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Folders {
    upper: Option<PathBuf>,
    /// From the top down.
    lower: Vec<PathBuf>,
}

impl Folders {
    fn of(options: &[String]) -> Folders {
        let mut folders = Folders::default();
        for (name, value) in options.iter().filter_map(|option| option.split_once('=')) {
            let value = unescape(value);
            match name {
                "upperdir" => folders.upper = Some(path(&value)),
                "lowerdir" => folders.lower.extend(split(&value)),
                "lowerdir+" | "datadir+" => folders.lower.push(path(&value)),
                _ => {}
            }
        }
        folders
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.upper.iter().chain(&self.lower)
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.into()).into()
}

/// Splits `a:b::data` at colons, which have a backslash before them where they are part of a path.
fn split(value: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut part, mut bytes) = (Vec::new(), Vec::new(), value.iter().copied());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => part.extend(bytes.next()),
            b':' => found.push(std::mem::take(&mut part)),
            byte => part.push(byte),
        }
    }
    found.push(part);
    found.iter().filter(|part| !part.is_empty()).map(|part| path(part)).collect()
}

impl Walk<'_> {
    /// Continues with the file that serves this one of an overlay, or with all folders that may.
    pub fn overlay(&mut self, entry: &MountEntry, file: Option<&File>, place: WalkPlace) {
        let folders = Folders::of(&entry.options);
        let meta = file.and_then(|file| file.metadata().ok());
        let served = file.zip(meta.as_ref()).filter(|(_, meta)| meta.is_file());
        if let Some((path, found, real)) =
            served.and_then(|(file, _)| self.find_real(entry, &folders, file))
        {
            return self.file_below(&path, &found, &real, place);
        }
        // New files, and files open for writing, are in the upper folder.
        let is_upper = file.is_some_and(is_writable) || meta.is_some_and(|meta| meta.is_dir());
        let upper = folders.upper.iter().filter(|upper| is_upper && self.is_upper(entry, upper));
        let candidates: Vec<&PathBuf> = match upper.collect::<Vec<_>>() {
            upper if upper.is_empty() => folders.all().collect(),
            upper => upper,
        };
        let seen: Vec<_> = candidates.iter().map(|folder| self.world.find(folder)).collect();
        if let Some(why) = seen.iter().find_map(|found| found.as_ref().err()) {
            let reason = format!("a folder of the overlay {why}");
            return self.end(&place, Medium::Unknown, "overlay", reason);
        }
        for (folder, (found, meta)) in candidates.iter().zip(seen.into_iter().flatten()) {
            if !self.has_room(&place) {
                return;
            }
            let name = self.world.shown(folder);
            let layer = self.layer(&place, LayerKind::Image, &name);
            let below = FileBelow {
                name,
                layer,
                id: (meta.dev(), 0),
                file: Err("which file of the overlay serves it is not known".into()),
                part: 0..u64::MAX,
                fixed: false,
                direct: place.above.as_ref().is_some_and(|above| above.direct),
                own: place.above.is_none(),
            };
            self.add_file(self.files().len(), below);
            self.file(&found, &meta, place.under());
        }
    }

    /// Finds the file that serves this one: the kernel passes on its attributes.
    fn find_real(
        &self,
        entry: &MountEntry,
        folders: &Folders,
        file: &File,
    ) -> Option<(PathBuf, File, fs::Metadata)> {
        let path = mounts::path_of(file);
        let inside = path.strip_prefix(&entry.mount_point).ok()?;
        let inside = entry.root.strip_prefix("/").unwrap_or(&entry.root).join(inside);
        folders.all().find_map(|folder| {
            let path = folder.join(&inside);
            let (found, real) = self.world.find(&path).ok()?;
            let shown = file.metadata().ok()?;
            let is_it =
                real.is_file() && real.blocks() == shown.blocks() && stamp(&real) == stamp(&shown);
            is_it.then_some((path, found, real))
        })
    }

    /// Returns whether this folder is the upper one of the overlay, not another of the same name.
    fn is_upper(&self, entry: &MountEntry, upper: &Path) -> bool {
        let (Ok((_, shown)), Ok((_, real))) =
            (self.world.find(&entry.mount_point), self.world.find(upper))
        else {
            return false;
        };
        entry.root == Path::new("/") && real.is_dir() && stamp(&real) == stamp(&shown)
    }
}

/// Returns the attributes that an overlay copies from the file below: size, times of change, owner,
/// mode.
fn stamp(meta: &fs::Metadata) -> (u64, [i64; 4], [u32; 3]) {
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    (meta.len(), times, [meta.uid(), meta.gid(), meta.mode()])
}

fn is_writable(file: &File) -> bool {
    fcntl(file, FcntlArg::F_GETFL).is_ok_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlay_options_name_the_folders() {
        let of = |options: &str| {
            let options: Vec<String> = options.split(',').map(String::from).collect();
            let folders = Folders::of(&options);
            folders.all().map(|folder| folder.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of("rw,lowerdir=/a:/b,upperdir=/u,workdir=/w"), ["/u", "/a", "/b"]);
        assert_eq!(of(r"lowerdir=/a\040b\134:c::/data"), ["/a b:c", "/data"]);
        assert_eq!(of("lowerdir+=/a:b,lowerdir+=/c,datadir+=/d"), ["/a:b", "/c", "/d"]);
        assert_eq!(of("ro,lowerdir"), [""; 0]);
    }
}

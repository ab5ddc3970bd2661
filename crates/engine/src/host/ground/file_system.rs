//! The devices or files below a mounted file system.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::makedev;
use nix::sys::statvfs::fstatvfs;

use super::walk::{Above, Walk, WalkPlace};
use crate::facts::clean;
use crate::record::{LayerKind, Medium};
use crate::sys::block;
use crate::sys::mounts::{self, MountEntry};

impl Walk<'_> {
    /// Continues with the file system of this mount; the target lies in its file `file`.
    pub fn file_system(&mut self, entry: &MountEntry, file: Option<&File>, place: WalkPlace) {
        if !self.has_room(&place) {
            return;
        }
        let fs = entry.fs.as_str();
        let above = place.above.as_ref().map(|above| above.name.as_str());
        let of = |kind: LayerKind, medium: Medium, plain: String, file: &str| {
            (kind, medium, above.map_or(plain, |above| format!("{above} is a file {file} ({fs})")))
        };
        let ends = if mounts::is_memory(fs) {
            of(LayerKind::Memory, Medium::Memory, format!("{fs} is memory"), "in memory")
        } else if mounts::is_network(fs) {
            let plain = format!("another machine, or the host of this one, serves {fs}");
            of(LayerKind::Server, Medium::Server, plain, "on another machine")
        } else if mounts::is_fuse(fs) {
            let plain = format!("a program serves {fs}");
            of(LayerKind::Program, Medium::Program, plain, "that a program serves")
        } else {
            return self.local(entry, file, place);
        };
        let (kind, medium, reason) = ends;
        self.layer(&place, kind, fs);
        self.end(&place, medium, fs, reason);
    }

    fn local(&mut self, entry: &MountEntry, file: Option<&File>, place: WalkPlace) {
        let fs = entry.fs.as_str();
        let is_overlay = fs == "overlay";
        let kind = if is_overlay { LayerKind::Overlay } else { LayerKind::FileSystem };
        let index = self.layer(&place, kind, fs);
        let layer = self.layer_mut(index);
        layer.no_barrier =
            entry.options.iter().find(|option| is_without_barrier(fs, option)).map(|o| clean(o));
        if compression(fs, &entry.options).is_some() {
            layer.transform = "compresses".into();
        }
        if is_overlay {
            return self.overlay(entry, file, place.under());
        }
        let under = place.anywhere();
        if entry.device.0 != 0 {
            self.number(makedev(entry.device.0, entry.device.1), under.clone());
            // XFS keeps the data of some files on a separate device.
            let other = entry.options.iter().find_map(|option| option.strip_prefix("rtdev="));
            if let Some(other) = other {
                self.source(fs, other, under);
            }
            return;
        }
        match fs {
            "btrfs" => self.btrfs(entry, under),
            "bcachefs" => {
                entry.source.split(':').for_each(|device| self.source(fs, device, under.clone()))
            }
            "erofs" => self.erofs(entry, file, under),
            "zfs" => {
                let reason = "zfs does not say which disks it has, and has a cache of its own";
                self.end(&under, Medium::Unknown, fs, reason);
            }
            _ => {
                self.end(&under, Medium::Unknown, fs, format!("{fs} does not say what it lies on"))
            }
        }
    }

    /// Continues with a device of a file system, given the path of its node.
    fn source(&mut self, fs: &str, path: &str, place: WalkPlace) {
        match (self.world.node)(self.world, Path::new(path)) {
            Ok(number) => self.number(number, place),
            Err(why) => {
                self.end(&place, Medium::Unknown, fs, format!("a device of {fs} {why}"));
            }
        }
    }

    /// Continues with all devices of a btrfs, given the path of one.
    fn btrfs(&mut self, entry: &MountEntry, place: WalkPlace) {
        let one = (self.world.node)(self.world, Path::new(&entry.source)).map(|number| {
            let number = (nix::sys::stat::major(number), nix::sys::stat::minor(number));
            block::folder(&self.world.sys, number)
        });
        let members = match &one {
            Ok(Some(dir)) => block::btrfs_members(&self.world.sys, dir),
            _ => Vec::new(),
        };
        if members.is_empty() {
            let why = one.err().unwrap_or_else(|| "is not one of btrfs".into());
            return self.end(&place, Medium::Unknown, "btrfs", format!("a device of btrfs {why}"));
        }
        members.iter().for_each(|dir| self.device(dir, place.clone()));
    }

    /// Continues with the image that erofs was mounted from without a loop device.
    fn erofs(&mut self, entry: &MountEntry, file: Option<&File>, place: WalkPlace) {
        let path = PathBuf::from(&entry.source);
        let is_it = |image: &File| {
            let mounted = fstatvfs(file?).ok()?.filesystem_id();
            (erofs_id(image)? == mounted).then_some(())
        };
        let direct = entry.options.iter().any(|option| option == "directio");
        let above = Some(Above { name: "erofs".into(), direct });
        let place = WalkPlace { above, ..place };
        let found = self.world.find(&path).and_then(|(found, meta)| {
            let image = meta.is_file().then(|| super::image::open(&found).ok()).flatten();
            match image.as_deref().and_then(is_it) {
                Some(()) => Ok((found, meta)),
                None => Err("is not visible here: its name leads to another".into()),
            }
        });
        match found {
            Ok((image, meta)) => self.file_below(&path, &image, &meta, place),
            Err(why) => {
                self.end(&place, Medium::Unknown, "erofs", format!("the file of erofs {why}"));
            }
        }
    }
}

/// Returns the id that statfs(2) has for the file system in an image of erofs.
fn erofs_id(image: &File) -> Option<u64> {
    const MAGIC: [u8; 4] = 0xe0f5_e1e2u32.to_le_bytes();
    // struct erofs_super_block, at 1024: its uuid follows 48 other bytes.
    let mut block = [0; 64];
    image.read_exact_at(&mut block, 1024).ok()?;
    let half = |at: usize| block[at..at + 8].try_into().map(u64::from_le_bytes).ok();
    (block[..4] == MAGIC).then_some(())?;
    Some(half(48)? ^ half(56)?).filter(|id| *id != 0)
}

/// Returns whether a mount option keeps the file system from flushing the device's cache: ext4 and
/// btrfs `nobarrier`, ext4 `barrier=0`, f2fs `fsync_mode=nobarrier`, reiserfs `barrier=none`,
/// overlay `volatile`, in newer kernels `fsync=volatile`.
pub fn is_without_barrier(fs: &str, option: &str) -> bool {
    matches!(option, "nobarrier" | "barrier=0" | "barrier=none" | "fsync_mode=nobarrier")
        || fs == "overlay" && matches!(option, "volatile" | "fsync=volatile")
}

/// Returns why data may be stored compressed, according to file system and mount options.
pub fn compression(fs: &str, options: &[String]) -> Option<String> {
    const ALWAYS: &[&str] = &["zfs", "squashfs", "erofs", "cramfs", "fuse.squashfuse"];
    const OPTIONS: &[(&str, &str)] = &[
        ("btrfs", "compress"),
        ("bcachefs", "compression"),
        ("bcachefs", "background_compression"),
        ("f2fs", "compress_algorithm"),
        ("ubifs", "compr"),
    ];
    if ALWAYS.contains(&fs) {
        return Some(fs.to_string());
    }
    let option = options.iter().find(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let compresses = OPTIONS.iter().any(|(kind, start)| *kind == fs && name.starts_with(start));
        compresses && !matches!(value, "no" | "none")
    });
    option.map(|option| format!("{fs} {}", clean(option)))
}

//! The result of a walk: the layers, the files between them, and its ends.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::facts::BlockDevice;
use crate::record::{Ground, Medium};
use crate::sys::block;
use crate::sys::extents::{self, Extents};
use crate::sys::mounts::Mount;

/// Everything below a file or block device at one moment.
#[derive(Debug, Clone, Default)]
pub struct Below {
    pub ground: Ground,
    /// The mount that the file is on; `None` of a block device.
    pub mount: Option<Mount>,
    /// The files and devices below whose page cache may hold bytes of the target, from the upper
    /// down.
    pub files: Vec<FileBelow>,
    pub(super) leaves: Vec<Leaf>,
    /// The sysfs folders of the block devices on the way, each once, with their depth among
    /// devices.
    pub(super) folders: Vec<(PathBuf, usize)>,
}

/// A file or block device that lies below the target.
#[derive(Debug, Clone)]
pub struct FileBelow {
    /// The name of its layer.
    pub name: String,
    /// Its layer, as an index.
    pub layer: usize,
    /// Its device and inode (st_dev, st_ino; st_rdev and 0 for a block device).
    pub id: (u64, u64),
    /// Open for reading; else why it is not.
    pub file: Result<Arc<File>, String>,
    /// The bytes of the file that hold the target.
    pub part: Range<u64>,
    /// Whether byte n of the target is byte n of `part`.
    pub fixed: bool,
    /// Whether the layer above bypasses its page cache. It may still hold pages.
    pub direct: bool,
    /// Whether the target has no page cache except this one: a file below an overlay.
    pub own: bool,
}

/// An end of the way down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub medium: Medium,
    /// Empty for a disk.
    pub reason: String,
    /// The name that is shown: `vda`.
    pub name: String,
    /// The block device (major, minor), if it is one.
    pub number: Option<(u64, u64)>,
}

impl Below {
    /// Describes the block devices on the way, from the upper down.
    pub fn devices(&self) -> Vec<BlockDevice> {
        self.folders.iter().filter_map(|(dir, depth)| block::describe(dir, *depth)).collect()
    }

    /// Returns the upper block device (major, minor).
    pub fn first_device(&self) -> Option<(u64, u64)> {
        block::number_of(&self.folders.first()?.0)
    }

    /// Returns the disks (major, minor) below the target; `None` if bytes may come from elsewhere:
    /// if a part of the ground is unknown.
    pub fn disks(&self) -> Option<Vec<(u64, u64)>> {
        let is_seen = |leaf: &&Leaf| matches!(leaf.medium, Medium::Disk | Medium::Memory);
        let all = self.leaves.iter().all(|leaf| is_seen(&leaf));
        let disks = self.leaves.iter().filter(|leaf| leaf.medium == Medium::Disk);
        (all && !self.leaves.is_empty()).then(|| disks.filter_map(|leaf| leaf.number).collect())
    }

    /// Returns the lowest block devices (major, minor), whatever they are.
    pub fn lowest(&self) -> BTreeSet<(u64, u64)> {
        self.leaves.iter().filter_map(|leaf| leaf.number).collect()
    }

    /// Describes the difference to an earlier walk, if any: `~/img is another file now`.
    pub fn change_since(&self, earlier: &Below) -> Option<String> {
        let mut pairs = self.files.iter().zip(&earlier.files);
        if self.ground.layers != earlier.ground.layers || self.files.len() != earlier.files.len() {
            let names = |below: &Below| below.ground.stack();
            let (was, is) = (names(earlier), names(self));
            return Some(if was == is {
                "the layers below the target changed".into()
            } else {
                format!("the target lay on {was}, and now on {is}")
            });
        }
        if let Some((now, _)) = pairs.clone().find(|(now, was)| now.id != was.id) {
            return Some(format!("{} is another file now", now.name));
        }
        if let Some((now, _)) = pairs.clone().find(|(now, was)| now.direct != was.direct) {
            return Some(format!("direct I/O to {} was switched", now.name));
        }
        if let Some((now, _)) = pairs.find(|(now, was)| now.part != was.part) {
            return Some(format!("another part of {} is used now", now.name));
        }
        (self.leaves != earlier.leaves).then(|| "the devices below the target changed".into())
    }
}

impl FileBelow {
    /// Returns the bytes of the file that hold a span of the target.
    pub fn part_of(&self, span: Range<u64>) -> Range<u64> {
        if !self.fixed {
            return self.part.clone();
        }
        let at = |n: u64| self.part.start.saturating_add(n).min(self.part.end);
        at(span.start)..at(span.end)
    }
}

/// Returns the medium of all bytes, and the reason for any other than a disk.
pub(super) fn judge(leaves: &[Leaf]) -> (Medium, String) {
    let Some(first) = leaves.first() else {
        return (Medium::Unknown, "the kernel does not say what it lies on".into());
    };
    if let Some(unknown) = leaves.iter().find(|leaf| leaf.medium == Medium::Unknown) {
        return (Medium::Unknown, unknown.reason.clone());
    }
    let Some(other) = leaves.iter().find(|leaf| leaf.medium != first.medium) else {
        return (first.medium, first.reason.clone());
    };
    let part = |leaf: &Leaf| {
        let kind = match leaf.medium {
            Medium::Disk => "a disk",
            Medium::Memory => "memory",
            Medium::Program => "a program",
            Medium::Server => "another machine",
            Medium::Unknown => "unknown",
        };
        format!("partly {kind} ({})", leaf.name)
    };
    (Medium::Unknown, format!("{}, {}", part(first), part(other)))
}

impl Below {
    /// Returns the extents of the first `len` bytes of the open target. For a device they are found
    /// in its image, if each byte has its place there.
    ///
    /// # Errors
    /// As [`extents::extents`].
    pub fn extents(&self, target: &File, len: u64) -> io::Result<Extents> {
        let is_device =
            |file: &File| file.metadata().is_ok_and(|meta| meta.file_type().is_block_device());
        let mut images = self.files.iter().take_while(|below| below.fixed);
        let image = images.find_map(|below| {
            let file = below.file.as_ref().ok().filter(|file| !is_device(file))?;
            Some((file, below.part_of(0..len)))
        });
        match image.filter(|_| is_device(target)) {
            Some((file, part)) => Ok(extents::extents(file, part.end)?.of_part(part)),
            None => extents::extents(target, len),
        }
    }
}

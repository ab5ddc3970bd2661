//! The ground of a target: what keeps its bytes, and the layers between it and the file.

use serde::{Deserialize, Serialize};

use super::OptU64;

/// A place that keeps bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    Disk,
    /// The memory of this machine.
    Memory,
    /// A program of this machine that serves a file system or a device.
    Program,
    /// Another machine.
    Server,
    #[default]
    Unknown,
}

/// The layers below a target, from its file down to the medium.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ground {
    /// The medium of all bytes of the target; unknown where parts of it differ.
    pub medium: Medium,
    /// Why it is not a disk, or unknown: `loop0 is a file on tmpfs`; empty for a disk.
    pub reason: String,
    /// From the file system or device of the target down, depth first.
    pub layers: Vec<Layer>,
}

/// One layer below a target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer {
    /// As it is shown: `ext4`, `loop0`, `~/disk.img`, `zram0`, `overlay`.
    pub name: String,
    pub kind: LayerKind,
    /// 0 for the first, 1 for what is right below it, ...
    pub depth: u32,
    /// Whether the page cache of this machine keeps bytes of this layer. That of the target itself,
    /// at depth 0, is not meant.
    pub cached: bool,
    /// How it changes the bytes: `compresses`, `holes`, `offset 512`; empty where it does not.
    pub transform: String,
    /// The mount option with which a sync empties no cache below, or syncs nothing: `nobarrier`,
    /// `volatile`; absent from JSON if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_barrier: Option<String>,
}

/// The kind of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A file system on a device.
    FileSystem,
    /// An overlay of other folders.
    Overlay,
    /// A file that a device or a file system is made of.
    Image,
    Loop,
    Partition,
    /// Device mapper: LVM, encryption, multipath.
    Mapper,
    Raid,
    Disk,
    /// tmpfs, brd, and zram without a backing device.
    Memory,
    /// A file system or a device that a program serves.
    Program,
    /// A file system or a device of another machine.
    Server,
    #[default]
    Unknown,
}

/// Counts of the layers below a target during a trial, and what they held before it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BelowCounts {
    /// Bytes that the lowest disks read and wrote together, for all processes; absent where none
    /// is known.
    pub read_bytes: OptU64,
    pub write_bytes: OptU64,
    /// Bytes that this machine received from others, where a program or server serves the target.
    pub received_bytes: OptU64,
    /// The page cache of each backing file, from the upper down.
    pub caches: Vec<CacheBelow>,
}

/// The cached pages of a backing file, in the part that the span lies on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheBelow {
    /// The name of its layer.
    pub name: String,
    /// The layer above bypasses it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// Bytes that the part has.
    pub bytes: u64,
    /// Bytes of it in the cache before and after the trial; unknown where this user may not look.
    pub resident_before: OptU64,
    pub resident_after: OptU64,
    /// Bytes of it that were evicted, as far as the kernel remembers when the trial ends.
    pub evicted: OptU64,
    /// Bytes of it that were never written to the backing file.
    pub hole_bytes: OptU64,
    /// Dirty and under-writeback bytes of it when the trial ended.
    pub unwritten_bytes: OptU64,
    /// Bytes of it that stayed in the cache although it was dropped; absent unless it was.
    pub left: OptU64,
}

impl BelowCounts {
    /// Adds the counts of the next part of the same trial; unknown in one part is unknown in both.
    pub fn join(mut self, more: &BelowCounts) -> BelowCounts {
        self.read_bytes = add(self.read_bytes, more.read_bytes);
        self.write_bytes = add(self.write_bytes, more.write_bytes);
        self.received_bytes = add(self.received_bytes, more.received_bytes);
        // A layer that came or went between the parts leaves nothing to add.
        let same = self.caches.len() == more.caches.len()
            && self.caches.iter().zip(&more.caches).all(|(one, other)| one.name == other.name);
        if !same {
            self.caches.clear();
        }
        self.caches.iter_mut().zip(&more.caches).for_each(|(all, more)| all.add(more));
        self
    }
}

impl CacheBelow {
    fn add(&mut self, more: &CacheBelow) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.resident_before = add(self.resident_before, more.resident_before);
        self.resident_after = add(self.resident_after, more.resident_after);
        self.evicted = add(self.evicted, more.evicted);
        self.hole_bytes = add(self.hole_bytes, more.hole_bytes);
        self.unwritten_bytes = add(self.unwritten_bytes, more.unwritten_bytes);
        self.left = add(self.left, more.left);
    }
}

fn add(a: OptU64, b: OptU64) -> OptU64 {
    a.get().zip(b.get()).map(|(a, b)| a.saturating_add(b)).into()
}

impl Ground {
    /// Returns whether the bytes are on a disk, as far as this machine can see.
    pub fn is_disk(&self) -> bool {
        self.medium == Medium::Disk
    }

    /// Returns the layers whose page cache a cold trial drops: each with a page cache, and
    /// loop devices whose file is not visible.
    pub fn layers_to_drop(&self) -> impl Iterator<Item = &Layer> {
        let is_hidden = |at: usize, layer: &Layer| {
            let file = self.layers.get(at + 1).filter(|below| below.depth > layer.depth);
            let is_file = file.is_some_and(|file| !matches!(file.kind, LayerKind::FileSystem));
            layer.kind == LayerKind::Loop && !is_file
        };
        let layers = self.layers.iter().enumerate();
        layers.filter(move |(at, layer)| layer.cached || is_hidden(*at, layer)).map(|(_, of)| of)
    }

    /// Describes the layers: `ext4 on loop0 on ~/img (ext4) on vda1 on vda`.
    pub fn stack(&self) -> String {
        let (mut line, mut before) = (String::new(), None::<&Layer>);
        for layer in &self.layers {
            let of_image = before.is_some_and(|before| {
                before.kind == LayerKind::Image && layer.depth == before.depth + 1
            });
            match before {
                _ if of_image => line += &format!(" ({})", layer.name),
                Some(before) => {
                    line += if layer.depth > before.depth { " on " } else { " and " };
                    line += &layer.name;
                }
                None => line += &layer.name,
            }
            before = Some(layer);
        }
        line
    }

    /// Describes where a target lies: `ext4 on loop0 on ~/img (tmpfs); loop0 is a file in memory
    /// (tmpfs)`. Of an older session only the file system and what it is `on` are known: a server,
    /// or devices and the model of the last.
    pub fn describe(&self, fs: &str, on: &str) -> String {
        let place = match self.layers.as_slice() {
            [] | [_] => {
                let parts = [fs, on].into_iter().filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join(" on ")
            }
            _ => self.stack() + on.find(" (").map_or("", |at| &on[at..]),
        };
        [Some(place), self.remark()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Returns why it is not a disk: `tmpfs is memory`, `unknown: the file of loop0 is gone`;
    /// `None` if it is one, or was not looked for.
    pub fn remark(&self) -> Option<String> {
        match self.medium {
            Medium::Unknown if !self.reason.is_empty() => Some(format!("unknown: {}", self.reason)),
            Medium::Memory | Medium::Program | Medium::Server => Some(self.reason.clone()),
            Medium::Unknown | Medium::Disk => None,
        }
    }

    /// Leaves out the paths of files.
    pub fn hide_paths(&mut self) {
        let images = self.layers.iter_mut().filter(|layer| layer.kind == LayerKind::Image);
        images.for_each(|image| image.name = "image".into());
    }

    /// Returns whether it was looked for: not in older sessions.
    pub fn is_walked(&self) -> bool {
        *self != Ground::default()
    }

    /// Returns the layers below one of them, down to the ground.
    pub fn below(&self, layer: usize) -> &[Layer] {
        let (Some(top), rest) = (self.layers.get(layer), self.layers.get(layer + 1..)) else {
            return &[];
        };
        let rest = rest.unwrap_or_default();
        let end = rest.iter().position(|below| below.depth <= top.depth);
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Returns the layers below the target that have a page cache of their own.
    pub fn caches(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_counts_stay_unknown() {
        let cache = |name: &str, before: Option<u64>| CacheBelow {
            name: name.into(),
            bytes: 8,
            resident_before: before.into(),
            ..CacheBelow::default()
        };
        let counts = |read: u64, caches: Vec<CacheBelow>| BelowCounts {
            read_bytes: Some(read).into(),
            caches,
            ..BelowCounts::default()
        };
        let one = counts(3, vec![cache("img", Some(4))]);
        let both = one.clone().join(&counts(4, vec![cache("img", Some(1))]));
        assert_eq!((both.read_bytes.get(), both.write_bytes.get()), (Some(7), None));
        assert_eq!((both.caches[0].bytes, both.caches[0].resident_before.get()), (16, Some(5)));
        let lost = one.clone().join(&counts(4, vec![cache("img", None)]));
        assert_eq!(lost.caches[0].resident_before.get(), None);
        assert_eq!(one.join(&counts(4, vec![cache("other", Some(1))])).caches, []);
    }
}

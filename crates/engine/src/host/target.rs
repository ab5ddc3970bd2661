//! Facts about the target: its file system, the devices below, holes and residency.

use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::ground::{Below, compression};
use super::groups;
use super::root::Root;
use crate::facts::{
    BlockDevice, ExtentMethod, Resident, Space, Stored, TargetFacts, TargetKind, clean,
    method_name, version,
};
use crate::record::{Ground, Medium, TargetEvidence, Throttle};
use crate::sys::direct::direct_support;
use crate::sys::extents::Extents;
use crate::sys::mounts::{self, Mount};
use crate::sys::residency::residency;
use crate::sys::threads::io_priority;
use crate::sys::{fd, memory};

/// Inspects an open target. Writes its dirty pages back (FIEMAP_FLAG_SYNC) and, if cachestat(2)
/// is refused, reads up to 256 of its pages.
pub fn inspect(file: &File, path: &Path, kind: TargetKind) -> TargetFacts {
    inspect_above(&Below::of(file), file, path, kind)
}

/// Inspects an open target like [`inspect`], with known layers below.
pub fn inspect_above(below: &Below, file: &File, path: &Path, kind: TargetKind) -> TargetFacts {
    let mut facts =
        TargetFacts { path: clean(&path.to_string_lossy()), kind, ..TargetFacts::default() };
    let meta = file.metadata().ok();
    let is_device = meta.as_ref().is_some_and(|meta| meta.file_type().is_block_device());
    let is_file = meta.as_ref().is_some_and(|meta| meta.is_file());
    facts.devices = below.devices();
    facts.ground = below.ground.clone();
    if is_device {
        facts.kind = TargetKind::Device;
    }
    facts.size = match meta {
        Some(meta) if is_file => meta.len(),
        _ if is_device => fd::size(file)
            .ok()
            .or(facts.devices.first().and_then(|device| device.size))
            .unwrap_or(0),
        _ => 0,
    };
    if let Some(mount) = below.mount.clone() {
        add_mount(&mut facts, mount, mounts::space(file).ok());
    }
    facts.memory |= facts.ground.medium == Medium::Memory;
    if is_file || is_device {
        add_data(&mut facts, file, below);
    }
    facts.huge_page_cache = memory::Memory::now().ok().and_then(|memory| memory.file_huge_pages);
    facts
}

/// Adds facts about the mount.
fn add_mount(facts: &mut TargetFacts, mount: Mount, space: Option<Space>) {
    facts.memory = mount.is_memory();
    facts.network = mount.is_network();
    facts.fuse = mount.is_fuse();
    facts.compresses = compression(&mount.fs, &mount.options).or_else(|| {
        let is_vdo = |device: &BlockDevice| {
            device.detail.as_ref().is_some_and(|detail| detail.to_lowercase().contains("vdo"))
        };
        facts.devices.iter().any(is_vdo).then(|| "a VDO device".to_string())
    });
    facts.fs = clean(&mount.fs);
    facts.mount_point = mount.mount_point.map(|path| clean(&path.to_string_lossy()));
    facts.source = mount.source.as_deref().map(clean);
    facts.read_only = mount.read_only;
    facts.options = mount.options.iter().map(|option| clean(option)).collect();
    facts.space = space.filter(|space| space.total > 0);
}

/// Adds facts about the data: direct I/O, access time, residency, extents.
fn add_data(facts: &mut TargetFacts, file: &File, below: &Below) {
    facts.direct = direct_support(file).ok();
    let by_mount = facts.read_only || facts.options.iter().any(|option| option == "noatime");
    facts.noatime = fd::reopen(file)
        .and_then(|reopened| fd::is_noatime(&reopened))
        .ok()
        .map(|by_flag| by_flag || by_mount);
    match residency(file, 0, facts.size) {
        Ok(found) => facts.resident = Some(Resident { share: found.share(), method: found.method }),
        Err(error) => facts.resident_error = Some(error.to_string()),
    }
    if let Ok(found) = below.extents(file, facts.size) {
        if found.encoded && facts.compresses.is_none() {
            facts.compresses = Some("encoded extents".into());
        }
        facts.stored = Some(Stored {
            hole_bytes: found.hole_bytes(),
            extents: found.count,
            method: found.method,
        });
    }
}

/// Returns the facts that verdicts on the first `span` bytes are based on; `extents` if the
/// engine has read them.
pub fn target_evidence(
    facts: &TargetFacts,
    span: u64,
    extents: Option<&Extents>,
) -> TargetEvidence {
    let holes = match (extents, facts.stored) {
        (Some(extents), _) => {
            Some((extents.hole_bytes_in(0..span.min(extents.len)), extents.method))
        }
        (None, Some(stored)) if span >= facts.size => Some((stored.hole_bytes, stored.method)),
        _ => None,
    };
    // An assumption is not evidence.
    let holes = holes.filter(|(_, method)| *method != ExtentMethod::Assumed);
    // Other modules fill the fields of the evidence that the target does not know.
    #[allow(clippy::needless_update)]
    TargetEvidence {
        fs: facts.fs.clone(),
        device: facts.device_line(),
        memory: facts.memory,
        remote: facts.network || facts.fuse,
        compresses: facts.compresses.clone(),
        entropy: facts.entropy,
        ground: Some(facts.ground.clone()).filter(Ground::is_walked),
        hole_bytes: holes.map(|(bytes, _)| bytes),
        hole_method: holes.map(|(_, method)| method_name(method).to_string()).unwrap_or_default(),
        direct: facts.direct_is_real(),
        noatime: facts.noatime,
        read_ahead: facts.read_ahead(),
        queue: facts.queue(),
        fs_used: facts.used_share().filter(|_| !facts.read_only),
        link: facts.link(),
        throttle: throttle_of(facts),
        yields: groups::yields(&Root::system(), &facts.devices, io_priority()),
        walks_folios: walks_folios(
            &facts.fs,
            &facts.options,
            &Root::system().line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        ),
        ..TargetEvidence::default()
    }
}

/// Returns the limits of control groups for the devices below.
pub fn throttle_of(facts: &TargetFacts) -> Option<Throttle> {
    let numbers: Vec<(u64, u64)> =
        facts.devices.iter().map(|device| (device.major, device.minor)).collect();
    groups::limits(&Root::system(), &numbers)
}

/// Returns the file system and kernel if small writes scan large folios. ext4 has large folios for
/// regular files since Linux 6.16, unless it journals data. Its buffered writes visit every buffer
/// head of the folio ("ext4: avoid tail walks for cached large-folio writes", linux-ext4, June
/// 2026: 4.7 us for 1 KiB on 6.18, 0.6 us on 6.12). XFS and btrfs keep bitmaps instead.
fn walks_folios(fs: &str, options: &[String], release: &str) -> Option<String> {
    let journals = options.iter().any(|option| option == "data=journal");
    let (major, minor) = version(release)?;
    (fs == "ext4" && !journals && (major, minor) >= (6, 16))
        .then(|| format!("ext4 on Linux {major}.{minor}"))
}

#[cfg(test)]
mod tests;

//! For each rule about what lies below the target, a cell that triggers it and one that nearly
//! does.

use super::cells::{Example, example};
use crate::plan::Cache;
use crate::record::Severity::{Misleading, Note, Wrong};
use crate::record::verdict::testing::*;
use crate::record::{BelowCounts, CacheBelow, FirstVisits, Ground, Layer, LayerKind, Medium};

fn layer(name: &str, kind: LayerKind, depth: u32, cached: bool) -> Layer {
    Layer { name: name.into(), kind, depth, cached, ..Layer::default() }
}

/// Puts a cell on a loop device, whose image lies on a disk.
fn on_loop(mut case: Case, buffered: bool) -> Case {
    case.target.ground = Some(Ground {
        medium: Medium::Disk,
        layers: vec![
            layer("ext4", LayerKind::FileSystem, 0, false),
            layer("loop0", LayerKind::Loop, 1, false),
            layer("~/img", LayerKind::Image, 2, buffered),
            layer("ext4", LayerKind::FileSystem, 3, false),
            layer("vda", LayerKind::Disk, 4, false),
        ],
        ..Ground::default()
    });
    below(&mut case, SPAN, 0);
    case
}

pub fn cold_on_loop() -> Case {
    on_loop(cold(), true)
}

pub fn direct_on_loop() -> Case {
    on_loop(direct(), true)
}

pub fn direct_on_direct_loop() -> Case {
    on_loop(direct(), false)
}

/// Gives every trial these bytes from the disks, and this many in the cache of the image before it.
pub fn below(case: &mut Case, read: u64, cached: u64) {
    let ground = case.target.ground.as_ref().unwrap();
    let cache = CacheBelow {
        name: "~/img".into(),
        direct: ground.caches().next().is_none(),
        bytes: SPAN,
        resident_before: cached.into(),
        resident_after: SPAN.into(),
        evicted: 0.into(),
        left: 0.into(),
        ..CacheBelow::default()
    };
    let counts =
        BelowCounts { read_bytes: read.into(), caches: vec![cache], ..BelowCounts::default() };
    case.each(|t| t.evidence.below = Some(Box::new(counts.clone())));
}

/// Changes the cache of the image in every trial.
pub fn image(case: &mut Case, change: impl Fn(&mut CacheBelow)) {
    case.each(|t| change(&mut t.evidence.below.as_mut().unwrap().caches[0]));
}

/// A cell on a file system that a program serves.
pub fn served(mut case: Case) -> Case {
    case.target.remote = true;
    case.target.ground = Some(Ground {
        medium: Medium::Program,
        reason: "a program serves fuse.bindfs".into(),
        layers: vec![layer("fuse.bindfs", LayerKind::Program, 0, false)],
    });
    outside(&mut case, SPAN, 0);
    case.each(|t| t.device_bytes = Some(0));
    case
}

/// Gives every trial these bytes from all disks and from other machines.
fn outside(case: &mut Case, read: u64, received: u64) {
    let counts = BelowCounts {
        read_bytes: read.into(),
        received_bytes: received.into(),
        ..BelowCounts::default()
    };
    case.each(|t| t.evidence.below = Some(Box::new(counts.clone())));
}

pub fn cold_served() -> Case {
    served(cold())
}

fn on_zram() -> Case {
    let mut case = direct();
    (case.target.memory, case.target.device) = (true, "zram0".into());
    case.target.ground = Some(Ground {
        medium: Medium::Memory,
        reason: "zram0 is compressed memory".into(),
        layers: vec![
            layer("ext4", LayerKind::FileSystem, 0, false),
            layer("zram0", LayerKind::Memory, 1, false),
        ],
    });
    case
}

/// First and second reads of 512 blocks, of which these differ.
fn visits(slower: u32, faster: u32) -> FirstVisits {
    FirstVisits { pairs: 512, slower, faster, first_nanos: 27, again_nanos: 10 }
}

pub static BELOW: &[Example] = &[
    example(
        "first-visit",
        Misleading,
        cold,
        |c| c.target.first_visits = Some(visits(50, 6)),
        |c| c.target.first_visits = Some(visits(9, 6)),
    ),
    // Nothing is read again.
    example(
        "first-visit",
        Misleading,
        cold,
        |c| c.target.first_visits = Some(visits(50, 6)),
        |c| {
            c.target.first_visits = Some(visits(50, 6));
            c.each(|t| t.evidence.visited = Some((0, SPAN)));
        },
    ),
    // On a busy disk only the cache of the image shows it.
    example("below-cache", Wrong, direct_on_loop, |c| below(c, SPAN * 2, SPAN), |_| {}),
    example(
        "below-cache",
        Wrong,
        cold_on_loop,
        |c| below(c, SPAN * 2, SPAN / 2),
        |c| below(c, SPAN - MIB, 0),
    ),
    // Pages that were evicted during the trial were read again.
    example(
        "below-cache",
        Wrong,
        direct_on_loop,
        |c| below(c, SPAN * 2, SPAN / 2),
        |c| {
            below(c, SPAN * 2, SPAN / 2);
            image(c, |of| of.resident_after = (SPAN / 2).into());
        },
    ),
    // The disk of a loop device that is direct reads all there is.
    example(
        "below-cache",
        Wrong,
        direct_on_direct_loop,
        |c| below(c, 0, SPAN),
        |c| below(c, SPAN, SPAN),
    ),
    // Nobody may look into the cache, and the disk is quiet.
    example(
        "below-cache",
        Wrong,
        direct_on_loop,
        |c| {
            below(c, 0, 0);
            image(c, |of| of.resident_before = None.into());
        },
        |c| {
            below(c, SPAN * 2, 0);
            image(c, |of| of.resident_before = None.into());
        },
    ),
    example(
        "below-cache",
        Note,
        || on_loop(asis(), true),
        |c| below(c, 0, SPAN),
        |c| below(c, SPAN / 2, 0),
    ),
    example(
        "below-cache",
        Wrong,
        cold_served,
        |c| outside(c, SPAN / 4, 0),
        |c| outside(c, SPAN / 2, SPAN / 2),
    ),
    // The data that a program reads may be packed.
    example(
        "below-cache",
        Wrong,
        cold_served,
        |c| {
            c.target.entropy = Some(4.0);
            outside(c, 0, 0)
        },
        |c| {
            c.target.entropy = Some(4.0);
            outside(c, SPAN / 3, 0)
        },
    ),
    example(
        "memory",
        Wrong,
        on_zram,
        |_| {},
        |c| (c.target.memory, c.target.ground) = (false, None),
    ),
    example(
        "not-cold",
        Wrong,
        cold_on_loop,
        |c| image(c, |of| of.left = SPAN.into()),
        |c| image(c, |of| of.left = MIB.into()),
    ),
    example(
        "not-cold",
        Wrong,
        cold_on_loop,
        |c| image(c, |of| of.left = None.into()),
        |c| c.job.cache = Cache::AsIs,
    ),
    // The file of a loop device that is not visible.
    example(
        "not-cold",
        Wrong,
        cold_on_loop,
        |c| {
            c.target.ground.as_mut().unwrap().layers.remove(2);
        },
        |c| {
            c.target.ground.as_mut().unwrap().layers.remove(2);
            image(c, |of| of.name = "loop0".into());
        },
    ),
    example(
        "holes",
        Wrong,
        cold_on_loop,
        |c| image(c, |of| of.hole_bytes = SPAN.into()),
        |c| image(c, |of| of.hole_bytes = 0.into()),
    ),
];

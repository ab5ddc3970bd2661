use crate::record::verdict::rules::tests::below::*;
use crate::record::verdict::testing::*;
use crate::record::verdict::{judge, source};
use crate::record::{LayerKind, Medium, Source};

/// Returns the shares: device, below, hole, unknown, page cache.
fn shares(case: &Case) -> [f64; 5] {
    let Source { device, page_cache, hole, unknown, below } =
        source::origin(&case.evidence()).source.unwrap();
    [device, below, hole, unknown, page_cache].map(|share| (share * 1000.0).round() / 1000.0)
}

const ALL: [f64; 5] = [1.0, 0.0, 0.0, 0.0, 0.0];
const BELOW: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];
const UNKNOWN: [f64; 5] = [0.0, 0.0, 0.0, 1.0, 0.0];

#[test]
fn image_caches_bound_disk_bytes() {
    let mut case = direct_on_loop();
    assert_eq!(shares(&case), ALL);
    below(&mut case, 9 * SPAN, SPAN / 4);
    assert_eq!(shares(&case), [0.75, 0.25, 0.0, 0.0, 0.0]);
    below(&mut case, 0, SPAN);
    assert_eq!(shares(&case), BELOW);
    let reason = judge(&case.evidence()).source_reason;
    assert!(reason.contains("from the page cache of ~/img"), "{reason}");
}

#[test]
fn image_caches_serve_second_passes() {
    let mut case = direct_on_loop();
    case.passes(4);
    case.each(|t| t.device_bytes = Some(4 * SPAN));
    below(&mut case, 9 * SPAN, 0);
    assert_eq!(shares(&case), [0.25, 0.75, 0.0, 0.0, 0.0]);
    // Where the kernel evicted pages in between, they were read again.
    image(&mut case, |of| of.resident_after = (SPAN / 2).into());
    assert_eq!(shares(&case)[1], 0.0);
}

#[test]
fn evicted_pages_leave_bytes_unknown() {
    let mut case = direct_on_loop();
    below(&mut case, 9 * SPAN, SPAN / 4);
    image(&mut case, |of| of.evicted = MIB.into());
    assert_eq!(shares(&case), [0.75, 0.25, 0.0, 0.0, 0.0]);
    case.each(|t| (t.bytes, t.device_bytes) = (SPAN / 8, Some(SPAN / 8)));
    case.each(|t| t.evidence.unique_bytes = SPAN / 8);
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn invisible_caches_leave_bytes_unknown() {
    let mut case = direct_on_loop();
    image(&mut case, |of| of.resident_before = None.into());
    assert_eq!(shares(&case), UNKNOWN);
    case.each(|t| t.evidence.below = None);
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn quiet_disks_did_not_read() {
    let mut case = direct_on_direct_loop();
    below(&mut case, SPAN / 2, 0);
    assert_eq!(shares(&case), [0.5, 0.0, 0.0, 0.5, 0.0]);
    // A file system that compresses below reads fewer.
    case.target.ground.as_mut().unwrap().layers[3].transform = "compresses".into();
    assert_eq!(shares(&case), ALL);
}

#[test]
fn parallel_images_bound_nothing() {
    let mut case = direct_on_loop();
    below(&mut case, 9 * SPAN, SPAN);
    let ground = case.target.ground.as_mut().unwrap();
    let mut other = ground.layers[1..3].to_vec();
    other.iter_mut().for_each(|layer| layer.name += "b");
    ground.layers.splice(1..1, other);
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn holes_of_an_image_are_holes() {
    let mut case = cold_on_loop();
    image(&mut case, |of| of.hole_bytes = (SPAN / 2).into());
    assert_eq!(shares(&case), [0.5, 0.0, 0.5, 0.0, 0.0]);
}

#[test]
fn an_unknown_ground_is_no_device() {
    let mut case = direct_on_loop();
    let ground = case.target.ground.as_mut().unwrap();
    (ground.medium, ground.reason) = (Medium::Unknown, "the file of loop0 was removed".into());
    assert_eq!(shares(&case), UNKNOWN);
    let reason = judge(&case.evidence()).source_reason;
    assert!(reason.ends_with("unknown: the file of loop0 was removed"), "{reason}");
}

#[test]
fn unknown_ground_hides_direct_writes() {
    let mut case = direct_write();
    case.target.ground = direct_on_loop().target.ground;
    assert_eq!(shares(&case)[0], 1.0);
    let ground = case.target.ground.as_mut().unwrap();
    (ground.medium, ground.reason) = (Medium::Unknown, "the file of loop0 was removed".into());
    assert_eq!(shares(&case), UNKNOWN);
    let reason = judge(&case.evidence()).source_reason;
    assert!(reason.ends_with("unknown: the file of loop0 was removed"), "{reason}");
}

#[test]
fn programs_serve_from_memory() {
    let mut case = cold_served();
    assert_eq!(shares(&case), UNKNOWN);
    case.each(|t| t.evidence.below.as_mut().unwrap().read_bytes = (SPAN / 4).into());
    assert_eq!(shares(&case), [0.0, 0.75, 0.0, 0.25, 0.0]);
    // Nothing is known about a transport without counters.
    case.each(|t| t.evidence.below.as_mut().unwrap().received_bytes = None.into());
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn page_cache_serves_programs_files() {
    let mut case = served(warm());
    assert_eq!(shares(&case), [0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(case.warnings(), []);
    // Opening it emptied the cache.
    case.each(|t| t.resident_before = Some(0));
    assert_eq!(shares(&case), UNKNOWN);
    assert!(case.warnings().iter().any(|warning| warning.id == "not-warm"));
}

#[test]
fn older_sessions_keep_their_device() {
    let mut case = direct();
    assert_eq!((case.target.ground.clone(), shares(&case)), (None, ALL));
    case.target.ground = direct_on_loop().target.ground;
    case.target.ground.as_mut().unwrap().layers.retain(|l| l.kind == LayerKind::Disk);
    assert_eq!(shares(&case), ALL, "without an image nothing has to be counted");
}

#[test]
fn direct_loops_count_per_trial() {
    let mut case = direct_on_loop();
    below(&mut case, SPAN, SPAN);
    image(&mut case, |of| of.direct = true);
    assert_eq!(shares(&case), ALL);
    image(&mut case, |of| of.direct = false);
    case.target.ground = direct_on_direct_loop().target.ground;
    assert_eq!(shares(&case), BELOW);
}

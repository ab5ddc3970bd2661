use crate::record::verdict::rules::examples_below::*;
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
fn the_cache_of_an_image_bounds_what_came_from_the_disk() {
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
fn a_second_pass_is_served_by_the_cache_of_the_image() {
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
fn evicted_pages_leave_open_what_was_read_twice() {
    let mut case = direct_on_loop();
    below(&mut case, 9 * SPAN, SPAN / 4);
    image(&mut case, |of| of.evicted = MIB.into());
    assert_eq!(shares(&case), [0.75, 0.25, 0.0, 0.0, 0.0]);
    case.each(|t| (t.bytes, t.device_bytes) = (SPAN / 8, Some(SPAN / 8)));
    case.each(|t| t.evidence.unique_bytes = SPAN / 8);
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn a_cache_that_nobody_can_look_at_leaves_the_device_unknown() {
    let mut case = direct_on_loop();
    image(&mut case, |of| of.resident_before = None.into());
    assert_eq!(shares(&case), UNKNOWN);
    case.each(|t| t.evidence.below = None);
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn disks_that_read_less_than_a_direct_loop_returned_did_not_have_the_rest() {
    let mut case = direct_on_direct_loop();
    below(&mut case, SPAN / 2, 0);
    assert_eq!(shares(&case), [0.5, 0.0, 0.0, 0.5, 0.0]);
    // A file system that compresses below reads fewer.
    case.target.ground.as_mut().unwrap().layers[3].transform = "compresses".into();
    assert_eq!(shares(&case), ALL);
}

#[test]
fn images_next_to_each_other_bound_nothing() {
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
fn direct_writes_to_an_unknown_ground_reach_no_known_device() {
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
fn what_a_program_had_without_reading_it_is_below() {
    let mut case = cold_served();
    assert_eq!(shares(&case), UNKNOWN);
    case.each(|t| t.evidence.below.as_mut().unwrap().read_bytes = (SPAN / 4).into());
    assert_eq!(shares(&case), [0.0, 0.75, 0.0, 0.25, 0.0]);
    // Of a transport that is not counted nothing is known.
    case.each(|t| t.evidence.below.as_mut().unwrap().received_bytes = None.into());
    assert_eq!(shares(&case), UNKNOWN);
}

#[test]
fn a_warm_file_of_a_program_is_served_by_the_page_cache() {
    let mut case = served(warm());
    assert_eq!(shares(&case), [0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(case.warnings(), []);
    // Opening it emptied the cache.
    case.each(|t| t.resident_before = Some(0));
    assert_eq!(shares(&case), UNKNOWN);
    assert!(case.warnings().iter().any(|warning| warning.id == "not-warm"));
}

#[test]
fn older_sessions_have_no_ground_and_keep_their_device() {
    let mut case = direct();
    assert_eq!((case.target.ground.clone(), shares(&case)), (None, ALL));
    case.target.ground = direct_on_loop().target.ground;
    case.target.ground.as_mut().unwrap().layers.retain(|l| l.kind == LayerKind::Disk);
    assert_eq!(shares(&case), ALL, "without an image nothing has to be counted");
}

#[test]
fn a_switch_to_direct_between_trials_counts_in_each() {
    let mut case = direct_on_loop();
    below(&mut case, SPAN, SPAN);
    image(&mut case, |of| of.direct = true);
    assert_eq!(shares(&case), ALL);
    image(&mut case, |of| of.direct = false);
    case.target.ground = direct_on_direct_loop().target.ground;
    assert_eq!(shares(&case), BELOW);
}

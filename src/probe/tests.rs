//! Every probe in a short form: what it says of itself, that each of its cells can be measured, and that what must cost
//! more does.

use std::collections::HashSet;

use super::testing::{cell, least, site};
use super::*;

#[test]
fn every_probe_says_what_it_is_and_no_id_is_twice() {
    let mut seen = HashSet::new();
    for info in infos() {
        assert!(seen.insert(info.id), "{}", info.id);
        assert!(!info.title.is_empty() && info.doc.len() > 100 && info.about.len() < 120, "{}", info.id);
        assert!(!info.doc.contains("  "), "{}", info.id);
    }
    let groups: Vec<_> = infos().iter().map(|info| info.group).collect();
    assert!(groups.is_sorted(), "group by group: {groups:?}");
    assert!(probe("cal").err().unwrap().to_string().contains("did you mean call"));
}

#[test]
fn no_two_cells_are_equal_and_each_has_an_estimate_with_its_reason() {
    let mut site = site();
    site.host.cpu.cycle_nanos = Some(0.4);
    for probe in PROBES {
        let cells = probe.cells(&site);
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        for cell in cells {
            assert_eq!(cell.probe, probe.info().id);
            if let Some(estimate) = probe.estimate(&cell, &site) {
                let sound = estimate.low > 0.0 && estimate.low <= estimate.high && estimate.high.is_finite();
                assert!(sound && !estimate.reason.is_empty(), "{}: {estimate:?}", cell.label());
            }
        }
    }
}

#[test]
fn a_cell_of_another_iotui_is_refused_in_words() {
    for probe in PROBES {
        let strange = cell(probe.info().id, &[("color", "blue".into())]);
        let refused = probe.open(&strange, &site()).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|why| why.contains("blue")), "{}", probe.info().id);
        assert_eq!(probe.estimate(&strange, &site()).filter(|_| probe.info().id != "loop"), None);
    }
}

#[test]
fn what_must_cost_more_does() {
    let turn = least(&cell("loop", &[]), 200_000);
    let call = least(&cell("call", &[("arguments", 0.into())]), 100_000);
    let syscall = |path: &str| least(&cell("syscall", &[("call", "getpid".into()), ("path", path.into())]), 5_000);
    let open = least(&cell("syscall", &[("call", "open-close".into()), ("path", "inline".into())]), 500);
    let coarse = least(&cell("clock", &[("source", "coarse".into())]), 5_000);
    assert!(turn > 0.0 && turn < 100.0, "{turn}");
    assert!(call < syscall("inline") && call < syscall("libc"), "{call}");
    assert!(syscall("inline") < open && coarse < open, "{open}");
}

#[test]
fn a_clock_shows_steps_of_its_resolution() {
    let step = |source: &str| least(&cell("clock", &[("source", source.into()), ("part", "resolution".into())]), 3);
    let coarse = step("coarse");
    assert!((500_000.0..=20_000_000.0).contains(&coarse), "{coarse}");
    assert!(step("monotonic") < coarse / 10.0);
}

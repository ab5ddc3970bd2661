use super::*;
use crate::analysis::compare::{Versus, compare};
use crate::plan::Plan;
use crate::session::references;
use crate::session::testing::{self, job};

/// Five trials of each cell, in MiB per second.
fn run(cells: Vec<(Job, u64)>) -> Session {
    let plan =
        Plan { cells: cells.iter().map(|(job, _)| job.clone()).collect(), ..testing::plan(0) };
    let host = crate::facts::Host { name: "vm".into(), ..Default::default() };
    let mut session =
        Session::new(String::new(), String::new(), "2026-11-21T09:30:11Z".into(), host, plan);
    for (cell, (job, speed)) in cells.iter().enumerate() {
        for (round, part) in (1..).zip([1000, 990, 1010, 995, 1004]) {
            let bytes = speed * part * (1 << 20) / 1000;
            let trial = crate::record::Trial {
                ops: bytes / job.block,
                ..testing::trial(cell as u32, round, bytes)
            };
            session.trials.push(trial.into());
        }
    }
    session
}

fn versus(a: &Session, b: &Session) -> Versus {
    compare(&[a.clone(), b.clone()]).unwrap().others.remove(0)
}

fn macbook() -> Session {
    references().iter().find(|reference| reference.id == "macbook-2017").unwrap().session().clone()
}

#[test]
fn a_run_is_compared_with_reports() {
    // The report has 327 MiB/s.
    let mine = run(vec![(Job { xor: true, ..job("read", 512, Cache::Cold) }, 1635)]);
    let found = versus(&macbook(), &mine);
    assert!(
        found.text.starts_with("B (vm) reads cold blocks with read of 512 B 5.00x [4.9"),
        "{}",
        found.text
    );
    assert!(
        found.text.contains("as fast as the 2017 MacBook Pro.")
            && found.text.ends_with("the intervals come from B's trials only."),
        "{}",
        found.text
    );
    assert_eq!((found.cells.len(), found.cells[0].outcome), (1, Outcome::Faster));
    let about: Vec<&str> = found
        .differences
        .iter()
        .filter(|d| d.about == "settings")
        .map(|d| d.what.as_str())
        .collect();
    assert!(about == ["trial time", "XOR"], "{about:?}");
    // Facts are matched by name, whatever either side lacks.
    let host = crate::facts::Host { kernel: "6.18".into(), ..mine.host.clone() };
    let known = versus(&macbook(), &Session { host, ..mine.clone() }).differences;
    let fact = |what: &str| known.iter().find(|one| one.what == what);
    let system = fact("system");
    assert!(system.is_some_and(|fact| fact.base.contains("macOS")), "{system:?}");
    let path = fact("path").unwrap();
    assert_eq!((path.base.as_str(), path.other.as_str()), ("ubuntu.iso", "/data/file"));
    // Swapping the sessions inverts the ratio, but the text stays the same.
    let turned = versus(&mine, &macbook());
    assert_eq!(turned.cells[0].outcome, Outcome::Slower);
    assert!(
        turned.text.starts_with("A (vm) reads cold blocks with read of 512 B 5.00x [4.9"),
        "{}",
        turned.text
    );
    assert!((turned.cells[0].ratio.unwrap().ratio - 0.2).abs() < 1e-9);
}

#[test]
fn unstated_caches_match_warm_cells() {
    let ryzen = references().iter().find(|of| of.id == "ryzen-5900hs").unwrap().session();
    let cells = |cache| (0..28).map(move |n| (job("read", 1 << n, cache), 100 + n)).collect();
    let found = versus(ryzen, &run(cells(Cache::Warm)));
    assert_eq!(
        (found.cells.len(), found.alone.iter().filter(|of| of.only_in == "B").count()),
        (28, 0)
    );
    let settings = found.differences.iter().filter(|of| of.about == "settings");
    let said: Vec<_> =
        settings.map(|of| (of.what.as_str(), of.base.as_str(), of.other.as_str())).collect();
    assert!(said.contains(&("cache", "not stated", "warm")), "{said:?}");
    assert!(said.contains(&("XOR", "several", "no")), "{said:?}");
    let turned = versus(&run(cells(Cache::Warm)), ryzen);
    let cache = turned.differences.iter().find(|of| of.what == "cache").unwrap();
    assert_eq!((cache.base.as_str(), cache.other.as_str()), ("warm", "not stated"));
    // Cold is another state than what a report leaves open, and an equal state comes first.
    assert!(versus(ryzen, &run(cells(Cache::Cold))).cells.is_empty());
    let both = [Cache::Warm, Cache::AsIs].map(|cache| (job("read", 4096, cache), 100)).to_vec();
    let found = versus(ryzen, &run(both));
    assert_eq!(
        (found.cells.len(), found.alone.iter().filter(|of| of.only_in == "B").count()),
        (1, 1)
    );
    assert!(found.differences.iter().all(|of| of.what != "cache"));
}

#[test]
fn calibrated_runs_match_the_largest_count() {
    let calls = |cache| Job { op: Op::Read, ..job("read", 1, cache) };
    let seeks = Job { op: Op::Seek, ..job("seek", 1, Cache::AsIs) };
    let found = versus(&run(vec![(calls(Cache::Warm), 4), (seeks, 8)]), &macbook());
    assert_eq!(found.cells.len(), 2, "{:?}", found.text);
    let seek = found.cells.iter().find(|pair| pair.cell.op == Op::Seek).unwrap();
    assert!((seek.other.unwrap().summary.median - 2_796_035.5).abs() < 1.0, "{seek:?}");
    // The report also has block 1 in whole MiB/s, which is rougher than its calls per second.
    let read = found.cells.iter().find(|pair| pair.cell.op == Op::Read).unwrap();
    assert!((read.other.unwrap().summary.median - 1_406_086.0).abs() < 1.0);
    let exact =
        versus(&run(vec![(Job { count: Some(4_194_304), ..calls(Cache::Warm) }, 4)]), &macbook());
    assert!((exact.cells[0].other.unwrap().summary.median - 1_408_446.0).abs() < 1.0);
}

#[test]
fn nothing_in_common_is_said() {
    let found = versus(&run(vec![(job("mmap", 4096, Cache::Warm), 4)]), &macbook());
    assert!(found.cells.is_empty() && found.text.contains("nothing to compare"), "{}", found.text);
}

use std::collections::HashSet;

use super::model::about;
use super::*;
use crate::analysis;
use crate::analysis::Metric;
use crate::plan::{
    Cache, Choice, CpuCache, Job, Layout, Op, Opened, Pattern, ProbeCell, Rate, Sync, Writes,
};
use crate::record::{Estimate, ProbeFindings, ProbeTrial, Unit as Value};
use crate::report::Spread;
use crate::report::testing;
use crate::session::{Session, reference};

fn drawn(session: &Session) -> Vec<FigureGroup> {
    groups(session, &analysis::results(session), &analysis::probes(session), &Look::default())
}

fn points(figure: &Figure) -> usize {
    figure.panels.iter().flat_map(|panel| &panel.curves).map(|curve| curve.points.len()).sum()
}

fn measured(cells: Vec<Job>) -> Session {
    let mut session = testing::session(cells);
    for cell in 0..session.plan.cells.len() {
        testing::measure(&mut session, cell, 1, testing::Like::new(300.0 + cell as f64, 1.0, None));
    }
    session
}

#[test]
fn bare_calls_do_not_hide_throughput() {
    let session = reference("macbook-2017").unwrap().session().clone();
    let all = drawn(&session);
    let first = &all[0].figures[0];
    assert_eq!(
        (first.of, first.title.as_str(), first.scale.unit),
        (FigureOf::Cells(Metric::Throughput), "Throughput by block size", "MiB/s")
    );
    assert_eq!(points(first), 38, "19 blocks, cold and warm");
    // Calls per second by count: reads and lseek in one figure, with their means.
    let calls = all
        .iter()
        .flat_map(|group| &group.figures)
        .find(|figure| figure.of == FigureOf::Cells(Metric::Operations) && !figure.again)
        .unwrap();
    assert_eq!(
        (calls.title.as_str(), calls.means, calls.scale.log),
        ("Operations per second by number of operations", true, false)
    );
    assert!(points(calls) >= 18, "{}", points(calls));
}

#[test]
fn many_curves_are_split_into_panels() {
    let mut cells = Vec::new();
    for backend in ["read", "stdio", "pread", "mmap-copy", "simd-copy", "mmap"] {
        for span in [8u64 << 20, 100 << 20, 2 << 30] {
            for cache in [Cache::Cold, Cache::Warm] {
                for cpu_cache in [CpuCache::Keep, CpuCache::Flush] {
                    cells.extend([64u64, 4096, 65536].map(|block| Job {
                        span,
                        cpu_cache,
                        ..testing::job(backend, block, cache)
                    }));
                }
            }
        }
    }
    let count = cells.len();
    let all = drawn(&measured(cells));
    let figure = &all[0].figures[0];
    let titles: Vec<&str> = figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles.len(), 6, "{titles:?}");
    assert!(
        titles.contains(&"CPU caches flushed, 8 MiB of the file")
            && titles.contains(&"2 GiB of the file"),
        "{titles:?}"
    );
    assert_eq!((points(figure), all.len()), (count, 1));
    assert!(figure.panels.iter().all(|panel| panel.curves.len() == 12));
    // A backend has the same name and colour in all figures.
    let names: Vec<&str> = all[0].keys.iter().map(|key| key.name.as_str()).collect();
    assert!(
        names.len() == 12 && names.contains(&"mmap-copy cold") && names.contains(&"stdio warm"),
        "{names:?}"
    );
    assert_eq!(all[0].keys.iter().filter(|key| key.line == LineStyle::Dashed).count(), 6);
}

#[test]
fn different_curves_have_different_signs() {
    let plain = Job { op: Op::Write, ..testing::job("pread", 4096, Cache::Warm) };
    let shared = Job { ranks: Some(2), layout: Layout::Segmented, ..plain.clone() };
    // A new field of a job belongs below.
    let Job {
        backend: _,
        op: _,
        pattern: _,
        block: _,
        count: _,
        span: _,
        threads: _,
        depth: _,
        cache: _,
        direct: _,
        xor: _,
        sync: _,
        sync_every: _,
        mix: _,
        cpu_cache: _,
        writes: _,
        file_per: _,
        opened: _,
        target: _,
        variant: _,
        ranks: _,
        layout: _,
        rate: _,
        arrival: _,
        think: _,
    } = plain.clone();
    for (one, other) in [
        (plain.clone(), Job { backend: Choice::plain("uring"), ..plain.clone() }),
        (plain.clone(), Job { op: Op::Read, ..plain.clone() }),
        (plain.clone(), Job { pattern: Pattern::Random, ..plain.clone() }),
        (plain.clone(), Job { span: 1 << 20, ..plain.clone() }),
        (plain.clone(), Job { threads: 3, ..plain.clone() }),
        (plain.clone(), Job { depth: 8, ..plain.clone() }),
        (plain.clone(), Job { rate: Some(Rate::Bytes(9)), think: 9, ..plain.clone() }),
        (plain.clone(), Job { cache: Cache::Cold, ..plain.clone() }),
        (plain.clone(), Job { direct: true, ..plain.clone() }),
        (plain.clone(), Job { sync: Sync::Fsync, ..plain.clone() }),
        (plain.clone(), Job { mix: Some(70), ..plain.clone() }),
        (plain.clone(), Job { writes: Writes::Append, ..plain.clone() }),
        (plain.clone(), Job { opened: Opened::Timed, ..plain.clone() }),
        (plain.clone(), Job { target: Some(1), ..plain.clone() }),
        (plain.clone(), Job { ranks: Some(2), ..plain.clone() }),
        (shared.clone(), Job { ranks: Some(4), ..shared.clone() }),
        (shared.clone(), Job { layout: Layout::Strided, ..shared.clone() }),
        (shared.clone(), Job { layout: Layout::PerRank, ..shared }),
    ] {
        assert_signs_differ(&one, &other);
    }
}

/// Draws two curves along the block size.
fn assert_signs_differ(one: &Job, other: &Job) {
    let cells = [one, other]
        .into_iter()
        .flat_map(|job| [4096, 65_536, 1 << 20].map(|block| Job { block, ..job.clone() }));
    let all = drawn(&measured(cells.collect()));
    let keys: Vec<&LegendKey> = all.iter().flat_map(|group| &group.keys).collect();
    assert!(keys.len() == 2 && keys[0].name != keys[1].name, "{other:?}: {keys:?}");
    let sign = |key: &LegendKey| (key.hue, key.mark, key.line);
    assert_ne!(sign(keys[0]), sign(keys[1]), "{keys:?}");
}

#[test]
fn draws_any_number_of_curves() {
    for ways in [1, 9, 17, 40] {
        let spans = (0..ways).map(|n| (n + 1) << 20);
        let cells: Vec<Job> = spans
            .flat_map(|span| {
                [4096, 8192, 16384].map(|block| Job {
                    span,
                    count: Some(span),
                    ..testing::job("read", block, Cache::Warm)
                })
            })
            .collect();
        let count = cells.len();
        let all = drawn(&measured(cells));
        let shown: usize = all.iter().map(|group| group.figures.first().map_or(0, points)).sum();
        assert_eq!(shown, count, "{ways}");
    }
}

#[test]
fn uneven_thread_counts_are_evenly_spaced() {
    fn threads(own: &[u32]) -> Vec<Job> {
        own.iter()
            .map(|n| Job { threads: *n, ..testing::job("pread", 2 << 20, Cache::Warm) })
            .collect::<Vec<_>>()
    }
    let across = |own: &[u32]| drawn(&measured(threads(own)))[0].figures[0].across.log;
    assert_eq!((across(&[1, 2, 5, 10, 15, 30]), across(&[1, 2, 4, 8, 64])), (false, true));
    let all = drawn(&measured(vec![
        testing::job("read", 4096, Cache::Warm),
        Job { op: Op::Seek, ..testing::job("seek", 1, Cache::AsIs) },
    ]));
    let bars: Vec<&str> = all
        .iter()
        .filter_map(|group| group.bars.as_ref())
        .map(|bars| bars.title.as_str())
        .collect();
    assert_eq!(bars, ["Throughput", "Operations per second"]);
}

#[test]
fn probes_have_curves_and_bars() {
    let mut session = testing::lab();
    let sizes = (12..20).map(|n| 1u64 << n);
    for (at, bytes) in sizes.enumerate() {
        let mut plan = session.plan.clone();
        plan.probes
            .push(ProbeCell::new("latency", [("bytes", bytes.into()), ("stride", 64.into())]));
        session.plan = plan;
        let cell = session.plan.probes.len() as u32 - 1;
        let estimate = Some(Estimate { low: 1.0, high: 2.0, reason: "L1".into() });
        session.probe_findings.push(ProbeFindings { estimate, ..ProbeFindings::default() });
        for round in 1..=3 {
            session.probe_trials.push(ProbeTrial {
                cell,
                round,
                value: 1.5 + at as f64,
                unit: Value::Nanos,
                cycles: None,
                short: false,
            });
        }
    }
    let all = drawn(&session);
    let latency = all.iter().find(|group| group.title == "Memory latency by size").unwrap();
    let curve = &latency.figures[0].panels[0].curves[0];
    assert!(
        curve.points.len() == 8
            && curve.points.iter().all(|point| point.expected == Some((1.0, 2.0)))
    );
    let bars: usize =
        all.iter().filter_map(|group| group.bars.as_ref()).map(|bars| bars.rows.len()).sum();
    let probes = analysis::probes(&session)
        .iter()
        .filter(|probe| probe.value.is_some() && probe.error.is_none())
        .count();
    assert_eq!(bars + 8, probes);
}

/// Cells of the latency of memory at eight sizes, by stride; `None`: in random order.
fn with_latency(session: &mut Session, strides: &[Option<u64>]) {
    for stride in strides {
        for bytes in (12..20).map(|n| 1u64 << n) {
            let mut plan = session.plan.clone();
            let params = [("bytes", Some(bytes)), ("stride", *stride)];
            plan.probes.push(ProbeCell::new(
                "latency",
                params.into_iter().filter_map(|(name, value)| Some((name, value?.into()))),
            ));
            session.plan = plan;
            let cell = session.plan.probes.len() as u32 - 1;
            let estimate = Some(Estimate { low: 1.0, high: 2.0, reason: "L1".into() });
            session.probe_findings.push(ProbeFindings { estimate, ..ProbeFindings::default() });
            session.probe_trials.push(ProbeTrial {
                cell,
                round: 1,
                value: 1.5,
                unit: Value::Nanos,
                cycles: None,
                short: false,
            });
        }
    }
}

fn latency(session: &Session) -> FigureGroup {
    drawn(session).into_iter().find(|group| group.title == "Memory latency by size").unwrap()
}

#[test]
fn overlapping_bands_hide_no_curve() {
    let mut session = testing::lab();
    with_latency(&mut session, &[None]);
    let alone = latency(&session);
    // The chart also shows the figures of a report for the same sizes.
    assert_eq!(
        alone.keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(),
        ["this run", "reported: xeon-os"]
    );
    let strides: Vec<Option<u64>> =
        std::iter::once(None).chain((4..11).map(|n| Some(1 << n))).collect();
    let mut session = testing::lab();
    with_latency(&mut session, &strides);
    let all = latency(&session);
    let names: Vec<&str> = all.keys.iter().map(|key| key.name.as_str()).collect();
    assert!(names.len() >= 8 && names[..2] == ["random order", "stride 16"], "{names:?}");
    fn haze(group: &FigureGroup) -> f64 {
        group.figures[0].panels[0].haze()
    }
    assert!(haze(&alone) > haze(&all) && haze(&all) * 8.0 < 0.3, "{} {}", haze(&alone), haze(&all));
}

#[test]
fn captions_describe_only_drawn_parts() {
    let span = |low, high| FigurePoint {
        at: 1.0,
        span: (low, 2.0, high),
        expected: None,
        wrong: false,
        of: 0,
    };
    let expected = |point: FigurePoint| FigurePoint { expected: Some((1.0, 3.0)), ..point };
    fn caption(points: &[FigurePoint]) -> &str {
        about(points.iter())
    }
    assert_eq!(caption(&[span(2.0, 2.0)]), "median");
    assert_eq!(caption(&[span(2.0, 2.0), span(1.9, 2.1)]), "median and 95 % interval");
    assert_eq!(caption(&[expected(span(2.0, 2.0))]), "median; shaded: the expected range");
    assert_eq!(
        caption(&[expected(span(1.9, 2.1))]),
        "median and 95 % interval; shaded: the expected range"
    );
}

#[test]
fn counts_of_an_axis_share_prefixes() {
    fn labels(counts: &[u64]) -> Vec<String> {
        let cells = counts
            .iter()
            .map(|count| Job { count: Some(*count), ..testing::job("read", 1, Cache::Warm) })
            .collect();
        let all = drawn(&measured(cells));
        let across = &all[0].figures[0].across;
        counts.iter().map(|count| (across.show)(*count as f64)).collect::<Vec<_>>()
    }
    assert_eq!(labels(&[1 << 10, 1 << 20, 8 << 20]), ["1,024", "1 Mi", "8 Mi"]);
    let mixed = labels(&[1 << 20, 10_000_000]);
    assert!(mixed.iter().all(|label| !label.contains('i')), "{mixed:?}");
}

#[test]
fn single_figures_are_dots_on_logarithms() {
    fn page(look: &Look) -> String {
        let mut svg = Vec::new();
        (crate::report::find_format("svg").unwrap().write)(&testing::lab(), look, &mut svg)
            .unwrap();
        String::from_utf8(svg).unwrap()
    }
    // A bar is a polygon in the colour of the first curve.
    fn bars(text: &str) -> usize {
        text.lines()
            .filter(|line| line.starts_with("<polygon") && line.contains("fill-opacity=\"0.85\""))
            .count()
    }
    let [linear, log] =
        [Spread::Linear, Spread::Log].map(|scale| page(&Look { scale, ..Look::default() }));
    assert!(bars(&linear) > 0, "{linear}");
    assert_eq!(bars(&log), 0, "{log}");
}

/// The mark stands for the backend, its fill for the page cache.
#[test]
fn bars_have_their_backends_sign() {
    let mut cells: Vec<Job> =
        ["uring", "aio", "uring"].map(|name| testing::job(name, 4096, Cache::Cold)).into();
    (cells[0].block, cells[2].depth) = (1 << 20, 32);
    let session = measured(cells);
    let all = drawn(&session);
    let group = all.iter().find(|group| group.bars.is_some()).unwrap();
    let (bars, keys) = (group.bars.as_ref().unwrap(), &group.keys);
    assert_eq!(bars.rows.len(), 3);
    for row in &bars.rows {
        let backend = &session.plan.cells[row.point.of].backend.id;
        let (key, own) = (&keys[row.key], crate::catalog::identity(backend));
        assert_eq!((key.name.as_str(), key.hue), (backend.as_str(), own.hue));
    }
    let marks: HashSet<usize> = keys.iter().map(|key| key.mark.shape).collect();
    assert_eq!((keys.len(), marks.len()), (2, 2));
    for format in ["html", "svg"] {
        let mut page = Vec::new();
        let format = crate::report::find_format(format).unwrap();
        (format.write)(&session, &Look::default(), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(keys.iter().all(|key| page.contains(key.color())), "{page}");
    }
}

#[test]
fn backends_keep_their_look() {
    use crate::analysis::Sign;
    use crate::catalog::{BACKENDS, identity};
    use crate::plan::Cache;
    let key = |id: &str, cache| {
        let sign = Sign { identity: identity(id), cache, extra: 0 };
        LegendKey::of_sign(String::new(), sign, LineStyle::Solid)
    };
    let looks: HashSet<(usize, usize)> = BACKENDS
        .iter()
        .map(|backend| key(backend.id, Cache::Cold))
        .map(|key| (key.hue, key.mark.shape))
        .collect();
    assert_eq!(looks.len(), BACKENDS.len());
    let fills = Cache::ALL.iter().map(|cache| key("read", *cache).mark.fill);
    assert_eq!(fills.collect::<Vec<_>>(), [MarkFill::Full, MarkFill::Hollow, MarkFill::Pale]);
}

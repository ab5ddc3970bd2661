mod board;
mod commits;
mod load;
mod pictures;

use std::time::Duration;

use super::*;
use crate::analysis::answer::testing::{at, busy, cell};
use crate::analysis::{LatencyOf, answer_with, list_skipped, results};
use crate::plan::{Cache, Job, Op, Pattern, Rate, Sync};
use crate::record::{End, Source};
use crate::session::testing::{self as sessions, job};

/// The glance of results that no session has.
fn of(cells: &[CellResult]) -> Glance {
    let mut session = sessions::session(0);
    session.plan.cells = cells.iter().map(|result| result.cell.clone()).collect();
    glance(&session, cells, &[], &crate::analysis::answer(cells))
}

fn titles(glance: &Glance) -> Vec<String> {
    glance.columns.iter().map(GlanceColumn::title).collect()
}

#[test]
fn cold_and_warm_are_two_columns() {
    let mut cells = Vec::new();
    for (backend, cold, warm) in [("read", 1.0, 8.0), ("mmap", 1.5, 12.0)] {
        for (block, factor) in [(4096, 0.5), (65536, 1.0), (1 << 20, 1.001)] {
            cells.push(at(backend, block, Cache::Warm, warm * factor));
            cells.push(at(backend, block, Cache::Cold, cold * factor));
        }
    }
    let glance = of(&cells);
    assert_eq!(titles(&glance), ["read from the device, cold", "read from memory, warm"]);
    let names: Vec<&str> = glance.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["read", "mmap"]);
    let memory = &glance.columns[1];
    let best = memory.best_bar().unwrap();
    assert_eq!((memory.best, best.at.as_str()), (1, "1 MiB"));
    assert_eq!(best.figure.describe_interval(), "±<1 %");
    assert_eq!(
        glance.facts,
        [
            "from the device: 1.50 GiB/s with mmap, 1.5x as fast as read",
            "from memory: 12.0 GiB/s with mmap, 1.5x as fast as read",
            "warm is 8.0x as fast as cold",
            "from memory: 64 KiB is enough for mmap, larger blocks gain less than 5 %",
            "from the device: 64 KiB is enough for mmap, larger blocks gain less than 5 %",
            "at 4 KiB, warm: mmap is 1.5x [1.5-1.5] as fast as read (1.5x fewer system calls)",
        ]
    );
    let text = "every byte accounted for (cold: device, warm: page cache)";
    assert_eq!(glance.origin, Statement { grade: Grade::Good, text: text.into() });
    assert_eq!(glance.trust.text, "7 trials of each, every interval within ±1 %");
    assert_eq!(glance.trust.grade, Grade::Good);
}

/// Returns the trust in a run of two cells with these trials, of at most 50 s.
fn trust_of(trials: [[u64; 5]; 2], end: End) -> Statement {
    let mut session = sessions::session(2);
    (session.plan.settle, session.plan.trials) = (Some(0.1), None);
    (session.plan.budget, session.seconds) = (Duration::from_secs(50), Some(24.0));
    session.end = Some(end);
    for (cell, rates) in (0..).zip(trials) {
        let trial = |(round, rate)| sessions::trial(cell, round, rate).into();
        session.trials.extend((1..).zip(rates.map(|rate| rate << 20)).map(trial));
    }
    let results = results(&session);
    glance(&session, &results, &[], &crate::analysis::answer(&results)).trust
}

#[test]
fn reports_say_when_answers_settled() {
    let apart = [[100, 101, 99, 100, 102], [50, 51, 49, 50, 52]];
    let trust = trust_of(apart, End::Goal);
    let text = "5 trials, every interval within ±2 %; settled after 24 s of at most 50 s";
    assert_eq!((trust.grade, trust.text.as_str()), (Grade::Good, text));
    assert!(!trust_of(apart, End::Interrupted).text.contains("settled"));
    let near = [[100, 150, 60, 120, 80], [90, 140, 70, 110, 60]];
    let trust = trust_of(near, End::Budget);
    let text = "5 trials, intervals up to ±50 %; not settled within 50 s: 2 cells can still \
                change an answer";
    assert_eq!((trust.grade, trust.text.as_str()), (Grade::Unfinished, text));
}

#[test]
fn origin_is_claimed_if_proven() {
    let mut cells = [at("read", 4096, Cache::Cold, 1.0), at("read", 4096, Cache::Warm, 8.0)];
    let said = |cells: &[CellResult]| {
        let origin = of(cells).origin;
        (origin.grade, origin.text)
    };
    let source = cells[0].source.as_mut().unwrap();
    (source.device, source.page_cache) = (0.6, 0.4);
    let text = "of the cold bytes, 40 % came from page cache";
    assert_eq!(said(&cells), (Grade::Misleading, text.into()));
    let source = cells[0].source.as_mut().unwrap();
    (source.page_cache, source.unknown) = (0.0, 0.4);
    let text =
        "not every byte accounted for (cold: device 60 %, unknown 40 %; warm: page cache 100 %)";
    assert_eq!(said(&cells), (Grade::Unfinished, text.into()));
    cells[0].source = None;
    let text = "not every byte accounted for (cold: unknown 100 %; warm: page cache 100 %)";
    assert_eq!(said(&cells), (Grade::Unfinished, text.into()));
    cells[1].source = None;
    let text = "where the bytes came from is not known";
    assert_eq!(said(&cells), (Grade::Unfinished, text.into()));
}

#[test]
fn unknown_sources_are_not_accounted() {
    let mut cells = [at("read", 4096, Cache::Warm, 4.0), at("mmap", 4096, Cache::Warm, 4.0)];
    cells[1].source = None;
    let text = "not every byte accounted for (warm: page cache 50 %, unknown 50 %)";
    assert_eq!(of(&cells).origin.text, text);
    let mut written = cell(Job { op: Op::Write, ..job("write", 4096, Cache::AsIs) }, 4.0, 0.005, 7);
    written.source =
        Some(Source { device: 0.0, page_cache: 0.0, hole: 0.0, unknown: 1.0, below: 0.0 });
    let origin = of(&[at("read", 4096, Cache::Warm, 4.0), written]).origin;
    let text = "not every byte accounted for (warm: page cache 100 %; written to memory: unknown \
                100 %)";
    assert_eq!((origin.grade, origin.text.as_str()), (Grade::Unfinished, text));
}

#[test]
fn columns_name_their_source() {
    for (direct, device, grade) in [
        (false, 0.0, Grade::Good),
        (false, 1.0, Grade::Misleading),
        (true, 1.0, Grade::Good),
        (true, 0.0, Grade::Misleading),
    ] {
        let mut one = at("read", 4096, Cache::Warm, 1.0);
        one.cell.direct = direct;
        one.source =
            Some(Source { device, page_cache: 1.0 - device, hole: 0.0, unknown: 0.0, below: 0.0 });
        assert_eq!(of(&[one]).origin.grade, grade, "direct: {direct}, device: {device}");
    }
}

#[test]
fn few_trials_rank_nothing() {
    let cells: Vec<CellResult> = [("read", 8.0), ("mmap", 12.0)]
        .map(|(backend, gib)| cell(job(backend, 4096, Cache::Warm), gib, 0.01, 2))
        .into();
    let glance = of(&cells);
    assert_eq!(glance.facts, ["from memory: 12 GiB/s with mmap so far, not yet certain"]);
    assert_eq!(glance.trust.text, "first look: 2 trials of each, 5 give an interval");
    assert_eq!(glance.trust.grade, Grade::Unfinished);
    assert_eq!(glance.columns[0].best_bar().unwrap().figure.describe_interval(), "2 trials");
}

#[test]
fn enough_blocks_need_enough_trials() {
    let curve = |gib: [f64; 3], spread: f64, trials: u32| {
        let cells: Vec<CellResult> = [4096, 65536, 1 << 20]
            .into_iter()
            .zip(gib)
            .map(|(block, gib)| cell(job("read", block, Cache::Warm), gib, spread, trials))
            .collect();
        of(&cells).facts
    };
    let (flat, rising) = ([4.0, 8.0, 8.01], [2.0, 4.0, 8.0]);
    let enough = "from memory: 64 KiB is enough for read, larger blocks gain less than 5 %";
    assert_eq!(curve(flat, 0.005, 7), [enough]);
    assert_eq!(
        curve(rising, 0.005, 7),
        ["from memory: read was still getting faster at 1 MiB, the largest tried"]
    );
    let facts = [curve(flat, 0.005, 2), curve(rising, 0.005, 2), curve(flat, 0.3, 7)].concat();
    assert!(!facts.iter().any(|fact| fact.starts_with("from memory: ")), "{facts:?}");
}

#[test]
fn equal_backends_are_called_equal() {
    let even: Vec<CellResult> =
        ["read", "pread", "mmap", "uring"].map(|id| at(id, 4096, Cache::Warm, 8.0)).into();
    assert_eq!(
        of(&even).facts,
        ["from memory: 8.00 GiB/s; read, pread and 2 more are equally fast"]
    );
    assert!(of(&even).columns[0].bars.iter().flatten().all(|bar| bar.no_difference));
    let wide: Vec<CellResult> = [("read", 8.0), ("mmap", 9.0)]
        .map(|(id, gib)| cell(job(id, 4096, Cache::Warm), gib, 0.3, 7))
        .into();
    assert_eq!(
        of(&wide).facts,
        ["from memory: 8.0 to 9.0 GiB/s; no difference shows between mmap and read"]
    );
    assert_eq!(of(&wide).trust.grade, Grade::Unfinished);
}

fn wrong() -> crate::record::Warning {
    crate::record::Warning {
        id: "holes".into(),
        severity: crate::record::Severity::Wrong,
        message: "the file has holes.".into(),
        evidence: String::new(),
        remedy: "".into(),
    }
}

#[test]
fn wrong_rows_never_tie() {
    let mut cells: Vec<CellResult> =
        ["read", "mmap"].map(|id| at(id, 4096, Cache::Warm, 8.0)).into();
    cells[1].warnings = vec![wrong()];
    let even: Vec<bool> =
        of(&cells).columns[0].bars.iter().flatten().map(|bar| bar.no_difference).collect();
    assert_eq!(even, [true, false]);
}

/// Warns of the number of trials, as a run does.
fn unfinished(mut result: CellResult) -> CellResult {
    result.warnings = vec![crate::record::Warning {
        id: "few".into(),
        severity: crate::record::Severity::Misleading,
        ..wrong()
    }];
    result
}

#[test]
fn few_trials_do_not_lead() {
    let first = unfinished(cell(job("mmap", 4096, Cache::Warm), 12.0, 0.01, 1));
    let glance = of(&[first, at("read", 4096, Cache::Warm, 8.0)]);
    assert_eq!(glance.rows[glance.columns[0].best].name, "read");
}

#[test]
fn rows_ahead_in_every_trial_lead() {
    let few = |gib| unfinished(cell(job("mmap", 4096, Cache::Warm), gib, 0.01, 4));
    let uring = || cell(job("uring", 4096, Cache::Warm), 8.8, 0.2, 5);
    let glance = of(&[few(18.9), uring()]);
    let top = glance.columns[0].best_bar().unwrap();
    assert_eq!((glance.rows[glance.columns[0].best].name.as_str(), top.figure.trials), ("mmap", 4));
    assert_eq!(glance.facts, ["from memory: 19 GiB/s with mmap so far, not yet certain"]);
    // Within what the other may be it does not.
    let glance = of(&[few(9.5), uring()]);
    assert_eq!(glance.rows[glance.columns[0].best].name, "uring");
}

#[test]
fn busy_cpus_are_named() {
    let small = |busy: fn(CellResult) -> CellResult| {
        let cells = [(64, 0.1), (512, 0.7)];
        of(&cells.map(|(block, gib)| busy(at("read", block, Cache::Cold, gib)))).facts
    };
    let said = "from the device: the CPU takes the time, not the device";
    assert!(small(busy).contains(&said.into()), "{:?}", small(busy));
    assert!(!small(|cell| cell).contains(&said.into()));
}

#[test]
fn equal_sizes_are_a_range() {
    let cells = [(4096, 1.0), (65536, 2.0), (1 << 20, 2.05)];
    let cells = cells.map(|(block, gib)| cell(job("read", block, Cache::Warm), gib, 0.1, 7));
    let size = "block size that is enough for read, warm: 64 KiB, from here on all are within 10 % \
                of the fastest";
    let said =
        "from memory: 2.00 to 2.05 GiB/s with read, 64 KiB and 1 MiB, warm; no difference shows";
    assert_eq!(of(&cells).headline, [size, said]);
}

#[test]
fn larger_blocks_may_be_slower() {
    let cells = [(4096, 1.0), (65536, 2.0), (1 << 20, 1.9), (8 << 20, 0.5)];
    let cells = cells.map(|(block, gib)| cell(job("read", block, Cache::Cold), gib, 0.1, 7));
    let board = of(&cells).board.unwrap();
    assert_eq!((board.number.as_str(), board.unit.as_str()), ("64", "KiB"));
    assert!(board.beside[0].ends_with("larger ones are no better"), "{:?}", board.beside);
}

#[test]
fn wrong_results_are_never_best() {
    let mut cells = [at("read", 4096, Cache::Warm, 8.0), at("mmap", 4096, Cache::Warm, 80.0)];
    cells[1].warnings = vec![wrong()];
    let glance = of(&cells);
    assert_eq!(glance.columns[0].best, 0);
    assert_eq!(glance.trust.grade, Grade::Wrong);
    assert!(glance.trust.text.starts_with("1 of 2 figures is wrong: "), "{:?}", glance.trust);
}

#[test]
fn columns_fit_writes_and_calls() {
    let write = |sync| Job { op: Op::Write, sync, ..job("write", 4096, Cache::AsIs) };
    let cells = [
        cell(write(Sync::None), 5.0, 0.005, 7),
        cell(Job { direct: true, ..write(Sync::None) }, 1.0, 0.005, 7),
        at("read", 4096, Cache::Warm, 8.0),
    ];
    let titles = titles(&of(&cells));
    assert_eq!(titles, ["read from memory, warm", "written to the device", "written to memory"]);
    let threads = |count| Job { threads: count, ..job("read", 4096, Cache::Warm) };
    let cells = [1, 2, 4].map(|count| cell(threads(count), 4.0 * f64::from(count), 0.005, 7));
    let glance = of(&cells);
    assert_eq!(glance.rows.len(), 1, "threads are the axis of the curve");
    assert_eq!(glance.columns[0].best_bar().unwrap().at, "4 KiB, 4 threads");
    let on = |target| Job { target: Some(target), ..job("read", 4096, Cache::Warm) };
    let cells = [0, 1].map(|target| cell(on(target), 4.0, 0.005, 7));
    let names: Vec<String> = of(&cells).rows.into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["read on A", "read on B"]);
}

/// The eight rows of two backends.
fn rows() -> Vec<CellResult> {
    let mut cells = Vec::new();
    for op in [Op::Read, Op::Write] {
        for (pattern, block, depth, threads, gib) in [
            (Pattern::Seq, 1 << 20, 8, 1, 2.0),
            (Pattern::Seq, 128 << 10, 32, 1, 1.8),
            (Pattern::Random, 4096, 32, 16, 0.3),
            (Pattern::Random, 4096, 1, 1, 0.02),
        ] {
            for (backend, factor) in [("uring", 1.0), ("aio", 0.8)] {
                let plain = job(backend, block, Cache::AsIs);
                let own = Job { op, pattern, depth, threads, direct: true, ..plain };
                cells.push(cell(own, gib * factor, 0.005, 7));
            }
        }
    }
    cells
}

#[test]
fn benchmark_rows_pair_reads_and_writes() {
    let glance = of(&rows());
    let board = glance.table().unwrap();
    assert_eq!(board.rows, ["SEQ1M   Q8T1", "SEQ128K Q32T1", "RND4K   Q32T16", "RND4K   Q1T1"]);
    let titles: Vec<&str> = board.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!((titles, board.large, board.cells().count()), (vec!["read", "write"], true, 8));
    assert!(board.cells().all(|cell| cell.details.last().unwrap() == "uring"));
    assert_eq!(board.columns[0].cells[2].as_ref().unwrap().details[0], "78.6 k IOPS");
    let facts = [
        "one at a time, a read takes 191 µs and a write 191 µs on average; at most 78.6 k random \
         reads/s and 78.6 k random writes/s",
        "uring is faster in 8 of 8",
    ];
    assert_eq!(glance.facts, facts);
    // The mean agrees with the operations per second; the median may be that of a few stalls less.
    let mut skewed = rows();
    let single = |r: &&mut CellResult| r.cell.op == Op::Write && r.cell.depth == 1;
    for result in skewed.iter_mut().filter(single) {
        result.latency = Some(LatencyOf {
            mean: 191e3,
            p50: Some(57e3),
            p90: None,
            p99: None,
            p999: None,
            max: 1e9,
            every: 1,
            unit: "ns",
        });
    }
    assert!(
        of(&skewed).facts[0].contains("and a write 191 µs (half of them up to 57.0 µs) on average"),
        "{:?}",
        of(&skewed).facts
    );
    let mut faulty = rows();
    for result in faulty
        .iter_mut()
        .filter(|result| result.cell.backend.id == "uring" || result.cell.op == Op::Write)
    {
        result.warnings = vec![wrong()];
    }
    let glance = of(&faulty);
    let [read, write] = &glance.table().unwrap().columns[..] else { panic!("two columns") };
    assert_eq!(read.cells[2].as_ref().unwrap().details.last().unwrap(), "aio");
    assert!(write.cells[2].as_ref().is_some_and(|write| write.figure.wrong));
    let fact = "one at a time, a read takes 238 µs on average; at most 62.9 k random reads/s";
    assert_eq!(glance.headline, ["reads 1.72 GB/s in sequence"]);
    assert_eq!(glance.facts, [fact], "wrong figures are in no sentence");
    let mut other = rows();
    other.push(at("read", 4096, Cache::Warm, 8.0));
    assert!(of(&other).table().is_none(), "something else was measured too");
    let reads: Vec<CellResult> = rows().into_iter().filter(|r| r.cell.op == Op::Read).collect();
    assert!(of(&reads).table().unwrap().columns[1].cells.iter().all(Option::is_none));
}

#[test]
fn skipped_cells_do_not_end_curves() {
    let mut session = sessions::session(0);
    session.plan.cells =
        [4096u64, 65536, 1 << 20, 8 << 20].map(|block| job("read", block, Cache::Warm)).into();
    session.verdicts = vec![None; 4];
    session.errors = vec![None; 4];
    let (blocks, rates) = ([4096u64, 65536, 1 << 20], [1u64 << 29, 1 << 30, 3 << 30]);
    for (index, _) in blocks.iter().enumerate() {
        for round in 1..=7 {
            let bytes = rates[index] + u64::from(round) * 1000;
            session.trials.push(sessions::trial(index as u32, round, bytes).into());
        }
    }
    session.end = Some(crate::record::End::Budget);
    assert_eq!(list_skipped(&session).len(), 1);
    let results = results(&session);
    let text = answer_with(&session, &results, &[]).text;
    assert!(
        text.contains("was still getting faster at 1 MiB, the largest measured (8 MiB was not)"),
        "{text}"
    );
}

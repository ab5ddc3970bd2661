//! The picture of each question.

use super::*;
use crate::analysis::{Holds, answer};
use crate::experiment::CALLS;
use crate::record::Paced;
use crate::stats::Summary;
use crate::units::{Rates, column};

fn random(backend: &str, block: u64, cache: Cache, micros: f64) -> CellResult {
    let job = Job { pattern: Pattern::Random, ..job(backend, block, cache) };
    // The operations of the fixture are 4 KiB each, whatever the block.
    cell(job, 4096e6 / micros / crate::analysis::answer::testing::GIB, 0.005, 7)
}

pub fn rows(board: &Board) -> Vec<(&str, Vec<String>)> {
    let texts: Vec<Vec<String>> =
        board.columns.iter().map(|column| column.texts(Rates::default()).1).collect();
    let of_row = |at: usize| texts.iter().map(|of| of[at].trim().to_string()).collect();
    board.rows.iter().enumerate().map(|(at, name)| (name.as_str(), of_row(at))).collect()
}

#[test]
fn random_reads_show_their_time() {
    let mut cells = Vec::new();
    for (block, cold, warm) in [(512, 71.0, 0.3), (4096, 80.0, 0.4), (65536, 210.0, 6.0)] {
        cells.push(random("pread", block, Cache::Cold, cold));
        cells.push(random("pread", block, Cache::Warm, warm));
        cells.push(random("mmap", block, Cache::Cold, 8000.0));
    }
    cells[3].latency = Some(LatencyOf {
        mean: 80e3,
        p50: Some(63e3),
        p90: None,
        p99: Some(206e3),
        p999: None,
        max: 1e6,
        every: 1,
        unit: "ns",
    });
    let glance = of(&cells);
    let board = glance.table().unwrap();
    assert_eq!(board.title, "one random read of 4 KiB, cold, takes on average");
    assert_eq!((board.number.as_str(), board.unit.as_str(), board.lead), ("80.0", "µs", Some(1)));
    let half = "half of them up to 63.0 µs";
    assert_eq!(board.beside, [half, "1 in 100 over 206 µs", "from memory 400 ns (200x as fast)"]);
    let titles: Vec<&str> = board.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["cold", "warm"]);
    let times = |texts: [&str; 2]| texts.map(String::from).to_vec();
    assert_eq!(
        rows(board),
        [
            ("512 B", times(["71.0", "0.30"])),
            ("4 KiB", times(["80.0", "0.40"])),
            ("64 KiB", times(["210", "6.00"]))
        ]
    );
    assert_eq!(
        glance.facts,
        [
            "at 4 KiB, cold: pread is the fastest",
            "at 4 KiB, cold: mmap takes 8.00 ms, 100x as long",
            "with pread, from 512 B to 64 KiB warm is 35x to 237x as fast as cold"
        ]
    );
    assert!(
        glance.headline[0]
            .starts_with("one random read of 4 KiB, cold, takes on average 80.0 µs ±")
    );
    assert!(glance.trust.text.starts_with("7 trials of each"), "{}", glance.trust.text);
}

/// Returns a cell that was asked for a rate and reached another, operations per second.
fn paced(backend: &str, asked: u64, reached: f64, micros: f64) -> CellResult {
    let job = Job { rate: Some(Rate::Operations(asked)), ..job(backend, 4096, Cache::Cold) };
    let mut result = cell(job, reached * 4096.0 / crate::analysis::answer::testing::GIB, 0.0, 7);
    result.latency = Some(LatencyOf {
        mean: micros * 1e3,
        p50: Some(micros * 1e3),
        p90: None,
        p99: Some(micros * 3e3),
        p999: Some(micros * 5e3),
        max: micros * 9e3,
        every: 1,
        unit: "ns",
    });
    result
}

#[test]
fn rates_show_which_are_kept() {
    let cells = [
        paced("pread", 1000, 1000.0, 80.0),
        paced("pread", 2000, 1999.0, 90.0),
        paced("pread", 4000, 3100.0, 5000.0),
    ];
    let glance = of(&cells);
    let board = glance.table().unwrap();
    assert_eq!(board.title, "pread at 4 KiB, cold keeps");
    assert_eq!((board.number.as_str(), board.unit.as_str(), board.lead), ("2", "k/s", Some(1)));
    let waits = ["half of the operations take up to 90.0 µs", "1 in 100 over 270 µs"];
    assert_eq!(board.beside, [waits[0], waits[1], "of 4k/s only 3.10 k/s"]);
    let titles: Vec<&str> = board.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["reached", "p50", "p99", "p99.9"]);
    assert_eq!(rows(board)[2].0, "4k/s");
    let answer = answer::answer(&cells);
    assert_eq!((answer.best, answer.knees.len()), (None, 0), "a rate is no speed");
    assert_eq!(
        answer.text,
        "pread at 4 KiB, cold keeps 2k/s: half of the operations take up to 90.0 µs, 1 in 100 \
         over 270 µs; of 4k/s it reaches 3.10 k/s."
    );
}

#[test]
fn idle_machines_wake_up_slowly() {
    let woken = |asked: u64, micros: f64, late: u64| {
        let mut cell = paced("pread", asked, asked as f64, micros);
        for trial in &mut cell.trials {
            let trial = std::sync::Arc::make_mut(trial);
            let paced = Paced { intended: 10, start_lag: 10 * late, ..Paced::default() };
            trial.evidence.paced = Some(Box::new(paced));
        }
        cell
    };
    let glance = of(&[woken(300, 63.0, 31_000), woken(6000, 32.0, 700)]);
    let board = glance.table().unwrap();
    assert_eq!(
        board.facts,
        ["at 300/s half of the operations take up to 63.0 µs (waking the CPU takes 31.0 µs \
          on average), at 6k/s 32.0 µs: between rare operations CPU and device sleep"]
    );
    assert_eq!(board.beside.len(), 3, "700 ns of 32 µs are not worth a word: {:?}", board.beside);
    let slow = of(&[woken(300, 63.0, 31_000)]);
    let beside = &slow.table().unwrap().beside;
    assert_eq!(beside[2], "31.0 µs of the mean of 63.0 µs is waking up");
}

#[test]
fn no_rate_may_be_kept() {
    let cells = [paced("pread", 4000, 3100.0, 5000.0), paced("mmap", 4000, 4000.0, 70.0)];
    let glance = of(&cells);
    let board = glance.table().unwrap();
    assert_eq!((board.title.as_str(), board.number.as_str()), ("mmap at 4 KiB, cold keeps", "4"));
    assert_eq!(board.facts, ["pread at 4 KiB, cold: of 4k/s it reaches 3.10 k/s"]);
    let glance = of(&cells[..1]);
    assert_eq!(glance.table().unwrap().number, "none");
    // A cell without a trial has no figure.
    let open = CellResult { operations: None, throughput: None, ..cells[0].clone() };
    let glance = of(&[open]);
    assert_eq!(glance.table().map(|board| board.rows.len()), None, "there is no figure");
}

#[test]
fn depth_is_enough_from_its_knee() {
    let rates = [(1, 0.1), (4, 0.3), (16, 0.6), (64, 0.601)];
    let depth = |(depth, gib)| {
        let job = Job { pattern: Pattern::Random, depth, ..job("uring", 4096, Cache::AsIs) };
        cell(job, gib, 0.005, 7)
    };
    let glance = of(&rates.map(depth));
    let board = glance.table().unwrap();
    assert_eq!(
        (board.title.as_str(), board.lead),
        ("random reads of 4 KiB at queue depth 16 reach", Some(2))
    );
    assert_eq!(glance.facts, ["from queue depth 16 on no more operations, only longer waiting"]);
    assert!(board.columns[0].is_rate() && board.columns.len() == 1, "no latency, no column");
}

#[test]
fn calls_are_compared_with_a_read() {
    let mut session = sessions::session(0);
    session.plan.experiment = CALLS.into();
    let cells = [
        cell(job("read", 1, Cache::Warm), 8.0, 0.005, 7),
        cell(Job { op: Op::Seek, ..job("seek", 1, Cache::AsIs) }, 16.0, 0.005, 7),
    ];
    session.plan.cells = cells.iter().map(|result| result.cell.clone()).collect();
    let glance = glance(&session, &cells, &[], &crate::analysis::answer(&cells));
    let board = glance.table().unwrap();
    assert_eq!(board.title, "a call of read of 1 B takes");
    assert_eq!((board.number.as_str(), board.unit.as_str()), ("477", "ns"));
    assert_eq!(glance.facts, ["seek is 2.0x as fast as read, moving no data"]);
}

#[test]
fn sure_block_size_is_the_figure() {
    let curve = |factor: f64| {
        [(4096, 0.5), (65536, 1.0), (1 << 20, 1.001)]
            .map(|(block, gib)| at("read", block, Cache::Cold, gib * factor))
    };
    let glance_of = |cells: &[CellResult]| of(cells).board;
    let board = glance_of(&curve(1.0)).unwrap();
    assert_eq!((board.number.as_str(), board.unit.as_str()), ("64", "KiB"));
    assert!(board.rows.is_empty() && of(&curve(1.0)).table().is_none(), "above the usual picture");
    let wide = curve(1.0).map(|of| cell(of.cell, 1.0, 0.6, 7));
    let board = glance_of(&wide).unwrap();
    assert_eq!((board.number.as_str(), board.outcome), ("?", Some(Holds::CannotTell)));
    assert!(board.beside[0].ends_with("too wide to tell"), "{:?}", board.beside);
}

#[test]
fn scatter_leaves_a_near_size() {
    let number = |rates: [f64; 4]| {
        let cells = [(4096, 0), (16384, 1), (65536, 2), (1 << 20, 3)]
            .map(|(block, at)| cell(job("read", block, Cache::Cold), rates[at], 0.12, 7));
        let board = of(&cells).board.unwrap();
        (format!("{} {}", board.number, board.unit), board.beside[0].clone())
    };
    let all = "from here on all are within 10 % of the fastest";
    assert_eq!(number([2.0, 2.1, 1.95, 2.05]), ("4 KiB".into(), all.into()));
    assert_eq!(number([1.2, 1.85, 2.1, 2.0]), ("64 KiB".into(), all.into()));
    let last = "the largest tried; larger blocks may gain more";
    assert_eq!(number([0.5, 0.9, 1.2, 1.5]), ("1 MiB".into(), last.into()));
}

#[test]
fn wrong_results_have_no_board() {
    let mut cells = [random("pread", 4096, Cache::Cold, 80.0)];
    assert!(of(&cells).board.is_some());
    cells[0].warnings = vec![wrong()];
    let glance = of(&cells);
    assert_eq!((glance.board, glance.headline.len()), (None, 0));
    assert!(glance.facts[0].starts_with("no valid result"), "{:?}", glance.facts);
}

#[test]
fn different_work_shares_no_row() {
    let depth = |depth, op| {
        let job = Job { pattern: Pattern::Random, depth, op, ..job("uring", 4096, Cache::AsIs) };
        cell(job, 0.1, 0.005, 7)
    };
    let reads = [1, 4, 16].map(|of| depth(of, Op::Read));
    assert!(of(&reads).table().is_some());
    let writes = [1, 4, 16].map(|of| depth(of, Op::Write));
    assert_eq!(of(&[reads, writes].concat()).board, None, "reads and writes are two answers");
}

#[test]
fn the_large_figure_may_be_widest() {
    let figure = |low: f64| GlanceFigure {
        summary: Summary {
            low: Some(low),
            high: Some(100.0),
            ..Summary::from_values(&[100.0]).unwrap()
        },
        trials: 5,
        reported: false,
        wrong: false,
        misleading: false,
    };
    let cells = vec![Some(BoardCell::new(None, figure(99.0)))];
    let columns = vec![BoardColumn::new("speed", column::RATE, cells)];
    let table = Board { columns, ..Board::default() };
    assert_eq!(table.widest(), Some(0.01));
    let board = Board { figure: Some(figure(55.0)), ..table };
    assert_eq!(board.widest(), Some(0.45));
}

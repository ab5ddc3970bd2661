//! The pictures of questions that no axis answers.

use super::board::rows;
use super::*;
use crate::experiment::MEASURE;
use crate::plan::{Choice, CpuCache, Writes};
use crate::record::{DropLevel, Event, Level, Reading};
use crate::units::Rates;

/// The glance of results that no session has, after this change of the session.
fn changed(cells: &[CellResult], change: impl Fn(&mut crate::session::Session)) -> Glance {
    let mut session = sessions::session(0);
    session.plan.cells = cells.iter().map(|result| result.cell.clone()).collect();
    change(&mut session);
    let answer = answer_with(&session, cells, &[]);
    glance(&session, cells, &[], &answer)
}

fn column(board: &Board, title: &str) -> Vec<String> {
    let column = board.columns.iter().find(|column| column.title == title).unwrap();
    column.texts(Rates::default()).1.iter().map(|text| text.trim().to_string()).collect()
}

#[test]
fn picked_methods_gain_over_the_simplest() {
    let mut session = sessions::session(0);
    sessions::picked().iter().for_each(|event: &Event| session.apply(event));
    let results = results(&session);
    let answer = answer_with(&session, &results, &[]);
    let glance = glance(&session, &results, &[], &answer);
    let board = glance.table().unwrap();
    assert_eq!(board.title, "the XOR of 1 GiB takes");
    assert_eq!((board.number.as_str(), board.unit.as_str(), board.lead), ("50", "ms", Some(0)));
    let names = ["the whole file", "pread 2 MiB 2 threads (picked)", "mmap+shared 2 MiB 2 threads"];
    assert_eq!(board.rows, names);
    assert_eq!(column(board, "gain")[1], "1.00", "the picked one has no options: it is simplest");
    assert!(board.beside[0].ends_with("of what 2 threads can read from memory"));
    assert_eq!(glance.facts.len(), 1);
    assert!(glance.trust.text.contains("look: 1 trial, "), "of the whole file: {:?}", glance.trust);
}

#[test]
fn counts_stand_by_block_size() {
    let cells = [at("read", 4096, Cache::Warm, 1.0), at("read", 1 << 20, Cache::Warm, 2.0)];
    let glance = changed(&cells, |session| session.plan.experiment = MEASURE.into());
    let board = glance.table().unwrap();
    assert_eq!(board.title, "reads of 4 KiB that take 1.00 s");
    assert_eq!((board.number.as_str(), board.unit.as_str(), board.lead), ("261", "k", Some(0)));
    assert_eq!(column(board, "count"), ["260833", "521666"], "every digit, to be typed");
    assert_eq!(column(board, "time"), ["1.00", "1.00"]);
    assert!(glance.trust.text.starts_with("7 trials of each"), "{:?}", glance.trust);
}

#[test]
fn states_of_caches_have_rows() {
    let of = |cache, cpu_cache, gib| {
        [(4096, 0.5), (1 << 20, 1.0)].map(|(block, factor)| {
            cell(Job { cpu_cache, ..job("read", block, cache) }, gib * factor, 0.005, 7)
        })
    };
    let cells = [
        of(Cache::Cold, CpuCache::Keep, 1.0),
        of(Cache::Cold, CpuCache::Flush, 1.0),
        of(Cache::Warm, CpuCache::Keep, 8.0),
        of(Cache::Warm, CpuCache::Flush, 4.0),
    ]
    .concat();
    let reading = Reading { open: 2000, first: 90_000, whole: 1_000_000 };
    let level = |dropped| Level { dropped, readings: vec![reading; 3], bytes: 1, reason: None };
    let glance = changed(&cells, |session| {
        session.levels = [DropLevel::Nothing, DropLevel::Data, DropLevel::All].map(level).into();
    });
    let board = glance.table().unwrap();
    assert_eq!(board.title, "reads of 1 MiB, warm relative to cold");
    assert_eq!((board.number.as_str(), board.unit.as_str()), ("8.00", "x"));
    let names = ["warm", "warm, CPU flushed", "cold", "cold, CPU flushed", "cold, nothing left"];
    assert_eq!(board.rows, names);
    assert_eq!(column(board, "first"), ["90.0", "-", "90.0", "-", "90.0"]);
    assert_eq!(column(board, "1 MiB"), ["8.00", "4.00", "1.00", "1.00", "-"]);
    assert!(glance.headline[0].contains("relative to cold 8.00x ±"), "{:?}", glance.headline);
}

#[test]
fn ways_are_compared_in_each_state() {
    let of = |way: &str, gib: f64| {
        [(64, 0.1), (4096, 1.0)].map(|(block, factor)| {
            [CpuCache::Keep, CpuCache::Flush].map(|cpu_cache| {
                let by = if cpu_cache == CpuCache::Keep { 1.0 } else { 0.5 };
                cell(Job { cpu_cache, ..job(way, block, Cache::Warm) }, gib * factor * by, 0.005, 7)
            })
        })
    };
    let cells: Vec<CellResult> =
        [of("read", 4.0), of("stdio", 8.0)].concat().into_iter().flatten().collect();
    let glance = of_cells(&cells);
    let board = glance.table().unwrap();
    assert_eq!(board.title, "stdio relative to read at 64 B, warm");
    assert_eq!((board.number.as_str(), board.lead), ("2.00", Some(1)));
    let texts = |texts: [&str; 3]| texts.map(String::from).to_vec();
    let expected =
        [("read", texts(["0.40", "4.00", "2.00"])), ("stdio", texts(["0.80", "8.00", "4.00"]))];
    assert_eq!(rows(board), expected);
}

fn of_cells(cells: &[CellResult]) -> Glance {
    changed(cells, |_| ())
}

#[test]
fn reading_and_creating_are_two_rows() {
    let write = Job { op: Op::Write, writes: Writes::Append, ..job("read", 512, Cache::AsIs) };
    let cells = [at("read", 512, Cache::AsIs, 1.0), cell(write, 0.5, 0.005, 7)];
    let glance = of_cells(&cells);
    let board = glance.table().unwrap();
    assert_eq!((board.title.as_str(), board.unit.as_str()), ("reads of 512 B reach", "k/s"));
    assert_eq!(board.rows, ["read", "create"]);
    assert_eq!(column(board, "rate"), ["1.00", "0.50"]);
    assert!(of_cells(&cells[..1]).table().is_none(), "one operation is no comparison");
}

#[test]
fn programs_agree_or_not() {
    let peer = |gib: f64, spread: f64| {
        let mut all = Vec::new();
        for (block, cache) in [(512, Cache::Warm), (1 << 20, Cache::Warm), (1 << 20, Cache::Cold)] {
            all.push(cell(job("pread", block, cache), 1.0, spread, 7));
            let dd = Job {
                backend: Choice { peer: true, ..Choice::plain("dd") },
                ..job("pread", block, cache)
            };
            all.push(cell(dd, gib, spread, 7));
        }
        of_cells(&all).board.unwrap()
    };
    let board = peer(1.02, 0.005);
    assert_eq!(
        (board.title.as_str(), board.number.as_str()),
        ("does dd agree with pread at 1 MiB, cold?", "YES")
    );
    assert_eq!(board.beside, ["dd agrees within 10 %"]);
    let titles: Vec<&str> = board.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["1 MiB cold", "1 MiB warm", "512 B warm"]);
    let board = peer(1.5, 0.005);
    assert_eq!((board.number.as_str(), &*board.beside[0]), ("NO", "dd is 1.5x as fast"));
    assert_eq!(peer(1.05, 0.4).number, "?");
}

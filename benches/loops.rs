//! `mmap --xor` of a cached file in large folios next to bare loops in C that map it whole: by one
//! and by two threads, as the whole program measures it. Each round takes every loop twice, in
//! turn. Skipped where no C compiler is installed.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::file::{Pieces, Temporary};
use common::table::{Table, verdict};
use iotui::stats::median;
use serde_json::Value;

const IOTUI: &str = env!("CARGO_BIN_EXE_iotui");
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/loops/loops.c");
const SPAN: u64 = 1 << 30;
const ROUNDS: usize = 9;
const SHARE: f64 = 0.97;
/// Writes of the file until nearly all of it is in folios of 2 MiB.
const ATTEMPTS: usize = 20;

/// The loops: bits at once, plain or prefetching the next page.
const LOOPS: [&str; 5] = ["128", "256", "256-prefetch", "512", "512-prefetch"];
/// A loop that is measured twice: its share of the best shows how much the best of five owes to
/// chance.
const AGAIN: &str = "256";
/// What iotui does with as many threads; several share the file.
const THREADS: [(u32, &str); 2] = [(1, "mmap"), (2, "mmap+shared")];

fn main() {
    let loops = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loops");
    if let Err(why) = compile(&loops) {
        println!("loops: skipped: {why}");
        return;
    }
    let _ = std::fs::remove_dir_all(cache());
    let file = Temporary::new("loops", SPAN, Pieces::Large);
    // Where memory is fragmented, large writes make small folios too.
    for _ in 0..ATTEMPTS {
        if file.mapped_huge() > 0.99 {
            break;
        }
        file.write(Pieces::Large);
    }
    println!(
        "\nloops: XOR of a warm file of 1 GiB, {:.0} % mapped by 2 MiB pages, first pass over a \
         mapping; medians of {ROUNDS} rounds of twice 5 \
         passes each, GB/s",
        100.0 * file.mapped_huge()
    );
    let mut heads = vec!["threads"];
    heads.extend(LOOPS);
    let again = format!("{AGAIN} again");
    heads.extend([again.as_str(), "of the best", "iotui", "of the best", "target", ""]);
    let mut table = Table::new(&heads);
    for (threads, backend) in THREADS {
        table.add(compare(&file, &loops, threads, backend));
    }
    table.print();
    let _ = std::fs::remove_dir_all(cache());
}

/// Returns the folder where iotui keeps its choice of a loop.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("loops-cache")
}

/// Compiles the loops for this CPU.
fn compile(to: &PathBuf) -> Result<(), String> {
    let done = Command::new("cc")
        .args(["-O3", "-march=native", "-pthread", "-o"])
        .arg(to)
        .arg(SOURCE)
        .output()
        .map_err(|error| format!("cc: {error}"))?;
    let told = String::from_utf8_lossy(&done.stderr);
    let first = told.lines().next().unwrap_or_default();
    if done.status.success() { Ok(()) } else { Err(format!("cc: {first}")) }
}

/// Returns the row of a number of threads: five loops, one of them again, iotui.
fn compare(file: &Temporary, loops: &Path, threads: u32, backend: &str) -> Vec<String> {
    let mut rates = vec![Vec::new(); LOOPS.len() + 2];
    for round in 0..ROUNDS {
        let mut sums = Vec::new();
        let mut nanos = vec![0.0; rates.len()];
        // Each round begins with another one, and goes back the way it came: what drifts in a
        // round affects all alike.
        let there = (0..rates.len()).map(|place| (place + round) % rates.len());
        for which in there.clone().chain(there.rev()) {
            file.warm(Pieces::Large);
            let (taken, sum) = match (LOOPS.get(which), which == LOOPS.len()) {
                (Some(form), _) => by_loop(file, loops, form, threads),
                (None, true) => by_loop(file, loops, AGAIN, threads),
                (None, false) => by_iotui(file, backend, threads),
            };
            nanos[which] += taken / 2.0;
            sums.push(sum);
        }
        rates.iter_mut().zip(nanos).for_each(|(rates, nanos)| rates.push(SPAN as f64 / nanos));
        assert!(sums.iter().all(|sum| *sum == sums[0]), "the XORs differ: {sums:?}");
    }
    let medians: Vec<f64> = rates.iter().filter_map(|rates| median(rates)).collect();
    let (loops, others) = medians.split_at(LOOPS.len());
    let best = loops.iter().copied().fold(0.0, f64::max);
    let mut row = vec![threads.to_string()];
    row.extend(loops.iter().map(|rate| format!("{rate:.2}")));
    row.extend(
        others.iter().flat_map(|rate| [format!("{rate:.2}"), format!("{:.3}", rate / best)]),
    );
    let share = medians[LOOPS.len() + 1] / best;
    row.extend([format!(">= {SHARE}"), verdict(share >= SHARE)]);
    row
}

/// Returns the nanoseconds of a pass by a loop in C, the median of five, and its XOR.
fn by_loop(file: &Temporary, loops: &Path, form: &str, threads: u32) -> (f64, String) {
    let done = Command::new(loops)
        .arg(&file.path)
        .args([form, &threads.to_string()])
        .output()
        .expect("run the loops");
    assert!(done.status.success(), "{form}: {}", String::from_utf8_lossy(&done.stderr));
    let told = String::from_utf8_lossy(&done.stdout);
    let mut words = told.split_whitespace();
    let nanos = words.next().and_then(|word| word.parse().ok()).expect("nanoseconds");
    (nanos, words.next().expect("an XOR").into())
}

/// Returns the nanoseconds of iotui's passes after the first, as the loops give theirs: the median;
/// and their XOR.
fn by_iotui(file: &Temporary, backend: &str, threads: u32) -> (f64, String) {
    let threads = threads.to_string();
    let done = Command::new(IOTUI)
        .args(["--batch", "--quiet", "--no-save", "--format", "json", "--xor", "-n", "0"])
        .args(["-s", "2m", "-c", "asis", "--trials", "6", "-b", backend, "-t", &threads])
        .args(["--ceilings", "never"])
        .arg(&file.path)
        // The loop that it chose for this run of the bench, not an earlier one.
        .env("XDG_CACHE_HOME", cache())
        .output()
        .expect("run iotui");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let result: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let trials = &result["results"][0]["trials"].as_array().expect("trials")[1..];
    let nanos = |trial: &Value| {
        assert_eq!((&trial["bytes"], &trial["passes"]), (&SPAN.into(), &1.into()), "{trial}");
        trial["nanos"].as_f64().expect("nanoseconds")
    };
    let all: Vec<f64> = trials.iter().map(nanos).collect();
    let xor = trials[0]["xor"].as_str().expect("an XOR").into();
    (median(&all).expect("trials"), xor)
}

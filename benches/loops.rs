//! `mmap --xor` of a cached file in large folios next to bare loops in C that map it whole: by one
//! and by two threads, as the whole program measures it. Skipped where no C compiler is installed.
//!
//! The speed of memory changes within seconds on a shared machine: the loops take passes in turn,
//! and each round goes from the loops to iotui and back, so that all see the same. One thread does
//! so on one CPU and then on another, as their speeds differ for minutes there.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::file::{Pieces, Temporary};
use common::table::{Table, verdict};
use iotui::stats::median;
use iotui::sys::threads::Affinity;
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
/// Threads, and the backend of iotui for this many; several share the file.
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
         mapping; medians of {ROUNDS} rounds of twice 5 passes each, GB/s; of the best by the \
         median of the rounds",
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
    let stderr = String::from_utf8_lossy(&done.stderr);
    let first = stderr.lines().next().unwrap_or_default();
    if done.status.success() { Ok(()) } else { Err(format!("cc: {first}")) }
}

/// Returns the row of a number of threads: five loops, one of them again, iotui.
fn compare(file: &Temporary, loops: &Path, threads: u32, backend: &str) -> Vec<String> {
    let allowed = Affinity::current().expect("CPUs");
    let cpus = allowed.cpus();
    let mut rounds: Vec<Vec<f64>> = Vec::new();
    for round in 0..ROUNDS {
        let turn = |half: usize, is_iotui: bool| {
            let cpu = cpus[half % cpus.len()];
            let set = if threads == 1 { Affinity::only(cpu) } else { allowed.clone() };
            set.apply().expect("a CPU that is allowed");
            file.warm(Pieces::Large);
            let passes = match is_iotui {
                true => by_iotui(file, backend, threads),
                false => by_loops(file, loops, threads),
            };
            (is_iotui, passes)
        };
        // Every other round begins with iotui.
        let first = round % 2 == 1;
        let runs = [turn(0, first), turn(0, !first), turn(1, !first), turn(1, first)];
        allowed.apply().expect("the CPUs of before");
        let of = |is_iotui| {
            let of: Vec<&Passes> =
                runs.iter().filter(|run| run.0 == is_iotui).map(|run| &run.1).collect();
            let both = of[0].iter().zip(of[1]);
            both.map(|((a, _), (b, _))| 2.0 * SPAN as f64 / (a + b)).collect::<Vec<f64>>()
        };
        rounds.push([of(false), of(true)].concat());
        let mut sums = runs.iter().flat_map(|(_, passes)| passes).map(|(_, sum)| sum);
        let first = sums.next().expect("passes");
        assert!(sums.all(|sum| sum == first), "the XORs differ: {runs:?}");
    }
    row(threads, &rounds)
}

/// Returns the row of these rates of each round, GB/s: the loops, one of them again, and iotui.
fn row(threads: u32, rounds: &[Vec<f64>]) -> Vec<String> {
    let typical = |rate: &dyn Fn(&Vec<f64>) -> f64| {
        median(&rounds.iter().map(rate).collect::<Vec<f64>>()).expect("rounds")
    };
    let rate = |at: usize| typical(&|round| round[at]);
    let (again, own) = (LOOPS.len(), LOOPS.len() + 1);
    let best = (0..LOOPS.len()).max_by(|a, b| rate(*a).total_cmp(&rate(*b))).expect("loops");
    let share = |at: usize| typical(&|round| round[at] / round[best]);
    let mut row = vec![threads.to_string()];
    row.extend((0..LOOPS.len()).map(|at| format!("{:.2}", rate(at))));
    for at in [again, own] {
        row.extend([format!("{:.2}", rate(at)), format!("{:.3}", share(at))]);
    }
    row.extend([format!(">= {SHARE}"), verdict(share(own) >= SHARE)]);
    row
}

/// The nanoseconds of a pass, the median of five, and its XOR; of each loop, or of iotui.
type Passes = Vec<(f64, String)>;

/// Measures the loops in C, and one of them again.
fn by_loops(file: &Temporary, loops: &Path, threads: u32) -> Passes {
    let done = Command::new(loops)
        .arg(&file.path)
        .arg(threads.to_string())
        .args(LOOPS)
        .arg(AGAIN)
        .output()
        .expect("run the loops");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let stdout = String::from_utf8_lossy(&done.stdout);
    let pass = |line: &str| {
        let (nanos, sum) = line.split_once(' ').expect("nanoseconds and an XOR");
        (nanos.parse().expect("nanoseconds"), sum.into())
    };
    stdout.lines().map(pass).collect()
}

/// Measures iotui by its passes after the first, as the loops do.
fn by_iotui(file: &Temporary, backend: &str, threads: u32) -> Passes {
    let threads = threads.to_string();
    let done = Command::new(IOTUI)
        .args(["--batch", "--quiet", "--no-save", "--format", "json", "--xor", "-n", "0"])
        .args(["-s", "2m", "-c", "asis", "--trials", "6", "-b", backend, "-t", &threads])
        .args(["--ceilings", "never"])
        .arg(&file.path)
        // Each run chooses its loop, as nothing is kept there.
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
    vec![(median(&all).expect("trials"), xor)]
}

//! How exactly rates are kept, next to `fio --rate_iops` in turns on the same file, what that takes
//! of a CPU, and what the pace adds to an operation that it never holds up.

mod common;

use std::process::{Command, Stdio};

use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::rounds::{NANOS, Pairs, Sample, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::backend::meter::Timed;
use iotui::backend::pace::RateSpec;
use iotui::plan::{Arrival, Rate};
use serde_json::Value;

const SPAN: u64 = 64 << 20;
const BLOCK: u64 = 4096;
const OPS: u64 = 2048;
const ROUNDS: usize = 12;
const SAMPLES: usize = 30;
/// The most nanoseconds that a pace adds to an operation.
const COST: f64 = 20.0;
/// The largest error of a rate.
const ERROR: f64 = 0.001;
const RATES: [u64; 7] = [10, 100, 1000, 10_000, 50_000, 100_000, 200_000];
/// The seconds of a trial; ten operations at least.
const SECONDS: f64 = 2.0;
const TURNS: usize = 3;

fn main() {
    let Some(pairs) = gather(ROUNDS, |_| on_worker(round)) else { return };
    report(&pairs);
    on_worker(keep_rates);
}

/// Compares lanes at a rate that is always late with chained ones at full speed.
fn round() {
    let file = Temporary::new("rate", SPAN, Pieces::Large);
    let (mut yardsticks, mut variants) = (Vec::<Sample>::new(), Vec::new());
    for backend in ["null", "pread"] {
        let job = job(backend, &file.target(), 1);
        let mut chained = Open::new(&file.target(), &job);
        yardsticks.push(Box::new(move || chained.run(OPS, Timed::Chained)));
        for arrival in Arrival::ALL.iter().copied() {
            let mut lane = Open::new(&file.target(), &job);
            variants.push(Variant {
                name: format!("{backend}, {arrival}"),
                yardstick: yardsticks.len() - 1,
                sample: Box::new(move || lane.run_late(OPS, arrival)),
            });
        }
    }
    interleave(yardsticks, variants, SAMPLES);
}

fn report(pairs: &Pairs) {
    println!(
        "\nrate: ns per 1-byte operation that is always late, over chained ones at full speed; {} pairs of each in {ROUNDS} processes",
        pairs.count()
    );
    let mut table = Table::new(&NANOS);
    for backend in ["null", "pread"] {
        for arrival in Arrival::ALL {
            table.add(pairs.nanos_row(&format!("{backend}, {arrival}"), Some(COST)));
        }
    }
    table.print();
}

/// Prints the rates that iotui and fio reach, and the CPU time of iotui's lane.
fn keep_rates() {
    let file = Temporary::new("rate", SPAN, Pieces::Large);
    println!(
        "\nrate: reached by asked, medians of {TURNS} turns of {SECONDS} s; {BLOCK}-byte reads of a cached file; late: the mean start; woken late: the median wake"
    );
    let heads =
        ["", "null", "pread", "CPU", "spun", "late", "woken late", "fio", "fio CPU", "target", ""];
    let mut table = Table::new(&heads);
    for arrival in Arrival::ALL.iter().copied() {
        for rate in RATES {
            table.add(row(&file, rate, arrival));
        }
    }
    table.print();
}

fn row(file: &Temporary, rate: u64, arrival: Arrival) -> Vec<String> {
    let nanos = (SECONDS.max(10.0 / rate as f64) * 1e9) as u64;
    let mut columns: [Vec<f64>; 8] = Default::default();
    for turn in 0..TURNS as u64 {
        let spec =
            RateSpec { per_second: rate as f64, arrival, nanos, by_work: false, seed: turn + 1 };
        for (backend, column) in [("null", 0), ("pread", 1)] {
            let kept = Open::new(&file.target(), &job(backend, &file.target(), BLOCK)).run_at(spec);
            columns[column].push(kept.operations / kept.seconds / rate as f64);
            if column == 1 {
                let micros = |nanos: u64| nanos as f64 / 1e3;
                columns[2].push(kept.cpu);
                columns[3].push(kept.spun);
                columns[4].push(micros(kept.late));
                columns[5].push(kept.woken.map_or(f64::NAN, micros));
            }
        }
        if let Some((reached, cpu)) = fio(file, rate, arrival, nanos) {
            columns[6].push(reached / rate as f64);
            columns[7].push(cpu);
        }
    }
    let [null, pread, cpu, spun, late, woken, fio, fio_cpu] = columns.map(median);
    let worst = (null - 1.0).abs().max((pread - 1.0).abs());
    vec![
        format!("{}, {arrival}", Rate::Operations(rate)),
        format!("{null:.5}"),
        format!("{pread:.5}"),
        format!("{:.1} %", cpu * 100.0),
        format!("{:.1} %", spun * 100.0),
        format!("{late:.1} us"),
        format!("{woken:.1} us"),
        format!("{fio:.5}"),
        format!("{:.1} %", fio_cpu * 100.0),
        format!("within {ERROR}"),
        verdict(worst <= ERROR),
    ]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the operations per second that fio reaches with a rate, and its share of a CPU; `None`
/// if it is not installed.
fn fio(file: &Temporary, rate: u64, arrival: Arrival, nanos: u64) -> Option<(f64, f64)> {
    let process = if arrival == Arrival::Steady { "linear" } else { "poisson" };
    let ran = Command::new("fio")
        .args(["--name=rate", "--rw=read", "--ioengine=psync", "--invalidate=0", "--thread"])
        .args(["--time_based", "--output-format=json", "--norandommap"])
        .arg(format!("--filename={}", file.path.display()))
        .arg(format!("--size={SPAN}"))
        .arg(format!("--bs={BLOCK}"))
        .arg(format!("--rate_iops={rate}"))
        .arg(format!("--rate_process={process}"))
        .arg(format!("--runtime={}ms", nanos / 1_000_000))
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let json: Value = serde_json::from_slice(&ran.stdout).ok()?;
    let job = &json["jobs"][0];
    let cpu = job["usr_cpu"].as_f64()? + job["sys_cpu"].as_f64()?;
    Some((job["read"]["iops"].as_f64()?, cpu / 100.0))
}

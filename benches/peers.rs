//! iotui against fio in the same run: operations per second of `pread` against its psync and of
//! `uring` against its io_uring, cell by cell, in turns on the same file, as `iotui --batch -b
//! pread,fio` measures them.

mod common;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use common::table::{Table, verdict};
use serde_json::Value;

/// Rounds of every cell.
const TRIALS: &str = "11";

/// A run of both programs, the axis in which its cells differ, and the target for each value.
struct Match {
    own: &'static str,
    peer: &'static str,
    line: &'static str,
    axis: &'static str,
    wanted: &'static [(u64, f64)],
}

const MATCHES: [Match; 2] = [
    Match {
        own: "pread",
        peer: "fio+psync",
        line: "-s 512,4k,128k,1m -c warm --size 256m",
        axis: "block",
        // Equal, within the difference between two runs of one program.
        wanted: &[(512, 1.7), (4096, 1.7), (128 << 10, 0.97), (1 << 20, 0.97)],
    },
    Match {
        own: "uring",
        peer: "fio+io_uring",
        line: "-s 4k --direct --pattern random -q 1,32,128 --size 1g",
        axis: "depth",
        wanted: &[(1, 0.97), (32, 0.97), (128, 0.97)],
    },
];

fn main() {
    if !Command::new("fio")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        println!("peers: left out, fio is not installed (apt-get install fio)");
        return;
    }
    println!(
        "\npeers: operations per second, medians of {TRIALS} trials in turns on one file; paired: of the trials of one round"
    );
    let mut table = Table::new(&[
        "",
        "fio",
        "iotui",
        "ratio",
        "paired: least",
        "median",
        "most",
        "CPU time",
        "target",
        "",
    ]);
    for of in &MATCHES {
        match measured(of) {
            Some(cells) => of
                .wanted
                .iter()
                .for_each(|(value, target)| table.add(row(of, &cells, *value, *target))),
            None => println!("peers: {} against {}: not available here", of.own, of.peer),
        }
    }
    table.print();
}

/// Operations per second of each trial in the order of rounds, and CPU time of an operation, by
/// method and value of the axis.
type Cells = BTreeMap<(String, u64), Vec<(f64, f64)>>;

fn measured(of: &Match) -> Option<Cells> {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotui"));
    command
        .args(
            "--batch --quiet --no-save --format json --ceilings never --budget 30m --dir"
                .split_whitespace(),
        )
        .arg(home.path());
    command
        .args(["-b", &format!("{},{}", of.own, of.peer), "--trials", TRIALS])
        .args(of.line.split_whitespace());
    let output =
        command.env("HOME", home.path()).stderr(Stdio::inherit()).output().expect("run iotui");
    let document: Value = serde_json::from_slice(&output.stdout).ok()?;
    let mut cells = Cells::new();
    for result in document["results"].as_array()? {
        let cell = &result["cell"];
        let way = cell["backend"].as_str().or(cell["peer"].as_str())?;
        let number = |trial: &Value, key: &str| trial[key].as_f64();
        let rate = |trial: &Value| {
            let (ops, cpu) = (
                number(trial, "ops")?,
                number(trial, "user_nanos")? + number(trial, "system_nanos")?,
            );
            Some((ops * 1e9 / number(trial, "nanos")?, cpu / ops))
        };
        let rates: Option<Vec<(f64, f64)>> =
            result["trials"].as_array()?.iter().map(rate).collect();
        cells.insert((way.into(), cell[of.axis].as_u64()?), rates?);
    }
    Some(cells)
}

type Lists = (Vec<f64>, Vec<f64>);

fn row(of: &Match, cells: &Cells, value: u64, target: f64) -> Vec<String> {
    let rates = |way: &str| cells.get(&(way.to_string(), value)).cloned().unwrap_or_default();
    let ((own, own_cpu), (peer, peer_cpu)): (Lists, Lists) =
        (rates(of.own).into_iter().unzip(), rates(of.peer).into_iter().unzip());
    let pairs: Vec<f64> = own.iter().zip(&peer).map(|(own, peer)| own / peer).collect();
    let at = |all: &[f64], q: f64| {
        let mut all = all.to_vec();
        all.sort_by(f64::total_cmp);
        all.get(((all.len().max(1) - 1) as f64 * q) as usize).copied().unwrap_or(f64::NAN)
    };
    let ratio = at(&own, 0.5) / at(&peer, 0.5);
    let mut row = vec![format!("{} against {}, {} {value}", of.own, of.peer, of.axis)];
    row.extend([at(&peer, 0.5), at(&own, 0.5)].map(|rate| format!("{rate:.0}")));
    row.extend(
        [ratio, at(&pairs, 0.0), at(&pairs, 0.5), at(&pairs, 1.0)]
            .map(|ratio| format!("{ratio:.3}")),
    );
    // The figure that a busy machine disturbs least.
    row.push(format!("{:.3}", at(&peer_cpu, 0.5) / at(&own_cpu, 0.5)));
    row.extend([format!(">= {target}"), verdict(ratio >= target)]);
    row
}

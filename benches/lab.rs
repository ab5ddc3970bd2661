//! The probes of the lab next to independent programs: a bare loop in C and `perf bench`, in turn,
//! pinned to the same CPU. Skips programs that are not installed.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::table::{Table, verdict};
use iotui::stats::median;
use iotui::sys::threads::Affinity;
use serde_json::Value;

const IOTUI: &str = env!("CARGO_BIN_EXE_iotui");
const ROUNDS: usize = 5;
/// Tolerance of a figure.
const CLOSE: f64 = 0.2;

/// The measured operation: iotui's probe and its parameters, the name that the loop in C prints,
/// and the arguments of `perf bench` that measure the same.
struct Case {
    name: &'static str,
    probe: &'static str,
    params: &'static [(&'static str, &'static str)],
    bare: &'static str,
    perf: Option<&'static str>,
}

const CASES: [Case; 8] = [
    Case {
        name: "getpid, libc",
        probe: "syscall",
        params: &[("call", "getpid"), ("path", "libc")],
        bare: "getpid",
        perf: None,
    },
    Case {
        name: "getppid, libc",
        probe: "syscall",
        params: &[("call", "getppid"), ("path", "libc")],
        bare: "getppid",
        perf: Some("syscall basic -l 1000000"),
    },
    Case {
        name: "round trip by pipes, same CPU",
        probe: "switch-process",
        params: &[("by", "pipe"), ("cpus", "same")],
        bare: "pipe",
        perf: Some("sched pipe -l 50000"),
    },
    Case {
        name: "load, 8 KiB",
        probe: "latency",
        params: &[("bytes", "8192")],
        bare: "8192",
        perf: None,
    },
    Case {
        name: "load, 256 KiB",
        probe: "latency",
        params: &[("bytes", "262144")],
        bare: "262144",
        perf: None,
    },
    Case {
        name: "load, 2 MiB",
        probe: "latency",
        params: &[("bytes", "2097152")],
        bare: "2097152",
        perf: None,
    },
    // Our share of the last-level cache varies by the second where others use it.
    Case {
        name: "load, 8 MiB",
        probe: "latency",
        params: &[("bytes", "8388608")],
        bare: "8388608",
        perf: None,
    },
    Case {
        name: "load, 256 MiB",
        probe: "latency",
        params: &[("bytes", "268435456")],
        bare: "268435456",
        perf: None,
    },
];

fn main() {
    let cpu = Affinity::current().ok().and_then(|set| set.cpus().last().copied()).unwrap_or(0);
    let bare = compiled();
    if bare.is_none() {
        println!("no C compiler here: the bare loops are skipped");
    }
    let (mut own, mut loops, mut perf) = (
        vec![Vec::new(); CASES.len()],
        vec![Vec::new(); CASES.len()],
        vec![Vec::new(); CASES.len()],
    );
    for _ in 0..ROUNDS {
        let (results, printed) =
            (lab(), bare.as_deref().and_then(|path| pinned(cpu, path.to_str()?, &[])));
        for (at, case) in CASES.iter().enumerate() {
            own[at].extend(results.as_ref().and_then(|results| figure(results, case)));
            loops[at].extend(printed.as_deref().and_then(|text| named(text, case.bare)));
            perf[at].extend(case.perf.and_then(|arguments| perf_bench(cpu, arguments)));
        }
    }
    if let Some(bare) = bare {
        let _ = std::fs::remove_file(bare);
    }
    println!(
        "\nlab: nanoseconds, medians of {ROUNDS} rounds in turn on CPU {cpu}; a round trip is two switches with their calls"
    );
    let mut table = Table::new(&["", "iotui", "C", "perf bench", "to C", "to perf", "within 20 %"]);
    for (at, case) in CASES.iter().enumerate() {
        let [own, loops, perf] = [&own, &loops, &perf].map(|all| median(&all[at]));
        let ratios = [loops, perf].map(|other| own.zip(other).map(|(own, other)| own / other));
        let show = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let near = ratios.iter().flatten().all(|ratio| (1.0 - CLOSE..=1.0 + CLOSE).contains(ratio));
        let held = if ratios.iter().flatten().count() > 0 { verdict(near) } else { "-".into() };
        table.add(vec![
            case.name.into(),
            show(own),
            show(loops),
            show(perf),
            show(ratios[0]),
            show(ratios[1]),
            held,
        ]);
    }
    table.print();
}

fn lab() -> Option<Value> {
    let home = tempfile::tempdir().ok()?;
    let arguments = [
        "--batch",
        "--quiet",
        "--no-save",
        "--probe",
        "syscall,switch-process,latency",
        "--format",
        "json",
    ];
    let done = Command::new(IOTUI).args(arguments).env("HOME", home.path()).output().ok()?;
    serde_json::from_slice(&done.stdout).ok()
}

/// Returns the median of a case; of a switch the round trip, because the others cannot subtract the
/// calls.
fn figure(results: &Value, case: &Case) -> Option<f64> {
    let is = |cell: &Value| {
        cell["probe"] == case.probe
            && cell.as_object().is_some_and(|cell| cell.len() == case.params.len() + 1)
            && case
                .params
                .iter()
                .all(|(name, value)| cell[*name].to_string().trim_matches('"') == *value)
    };
    let result = results["results"].as_array()?.iter().find(|result| is(&result["cell"]))?;
    let median = result["value"]["median"].as_f64()?;
    if case.probe != "switch-process" {
        return Some(median);
    }
    let taken = result["evidence"].as_array()?.iter().find_map(|line| {
        line.as_str()?.strip_prefix("taken out: ")?.split(' ').next()?.parse::<f64>().ok()
    })?;
    Some(2.0 * (median + taken))
}

/// Compiles the loops in C; `None` without a compiler.
fn compiled() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/lab/bare.c");
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bare-{}", std::process::id()));
    let done = Command::new("cc").args(["-O2", "-o"]).arg(&made).arg(source).status().ok()?;
    done.success().then_some(made)
}

fn pinned(cpu: usize, program: &str, arguments: &[&str]) -> Option<String> {
    let done = Command::new("taskset")
        .args(["-c", &cpu.to_string(), program])
        .args(arguments)
        .output()
        .ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

fn named(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Returns the nanoseconds of one operation.
fn perf_bench(cpu: usize, arguments: &str) -> Option<f64> {
    let words: Vec<&str> = ["bench"].into_iter().chain(arguments.split(' ')).collect();
    let text = pinned(cpu, "perf", &words)?;
    text.lines()
        .find_map(|line| line.trim().strip_suffix(" usecs/op")?.trim().parse::<f64>().ok())
        .map(|micros| micros * 1e3)
}

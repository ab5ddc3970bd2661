//! Compares commits of iotui with two programs that makers of databases recommend: fio with the
//! writes of etcd, 2300 bytes appended and fdatasync after each, and pg_test_fsync of PostgreSQL,
//! 8 KiB in one place. Each round runs all of them once, in random order, each with a new file in
//! the folder IOTUI_BENCH_DIR, else in the target folder. IOTUI_ROUNDS sets the number of rounds.

mod common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use common::table::{Table, verdict};
use iotui::stats::random::mix;
use serde_json::Value;

const ROUNDS: usize = 9;
/// As etcd's log, in its makers' words about fio.
const BLOCK: u64 = 2300;
/// Appended commits of one run: at most, and as many as a p99 needs.
const COMMITS: [u64; 2] = [10_000, 1_200];
/// Commits before the first round, which show how long one takes.
const FIRST: u64 = 1_000;
/// The time for all appended commits, in µs.
const ROOM: f64 = 400e6;
/// Seconds of a run of 8 KiB in one place.
const SECONDS: u32 = 2;

/// A program and how it commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Program {
    /// iotui, appending to a named file, as fio's is.
    Append,
    /// iotui, appending to its scratch file, which has no name.
    Scratch,
    Fio,
    /// The same once more: its ratio to the other is the noise of the machine.
    FioAgain,
    /// iotui, writing 8 KiB in one place, as pg_test_fsync does.
    InPlace,
    Postgres,
    PostgresAgain,
}

use Program::*;

/// The figures of one run in µs, NaN where the program has none.
struct Figures {
    write_median: f64,
    sync_median: f64,
    sync_p99: f64,
    /// Elapsed time per commit.
    mean: f64,
    /// The share of the time in which the thread was ready and waited for a CPU.
    waited: f64,
}

impl Figures {
    const NONE: Figures = Figures {
        write_median: f64::NAN,
        sync_median: f64::NAN,
        sync_p99: f64::NAN,
        mean: f64::NAN,
        waited: f64::NAN,
    };
}

/// The largest such share on an idle machine.
const IDLE: f64 = 0.02;

/// Two programs to compare, and how far the ratio may be from 1.
struct Row {
    name: &'static str,
    base: Program,
    own: Program,
    of: fn(&Figures) -> f64,
    within: Option<f64>,
}

const fn row(
    name: &'static str,
    [own, base]: [Program; 2],
    of: fn(&Figures) -> f64,
    within: Option<f64>,
) -> Row {
    Row { name, base, own, of, within }
}

/// The median and p99 are of the sync alone, which is nearly all of a commit: fio has no
/// latency of both. It rounds to buckets of 0.8 to 1.6 %.
const ROWS: [Row; 10] = [
    row("iotui by fio: sync, median", [Append, Fio], |f| f.sync_median, Some(0.05)),
    row("iotui by fio: sync, p99", [Append, Fio], |f| f.sync_p99, Some(0.10)),
    row("iotui by fio: write, median", [Append, Fio], |f| f.write_median, None),
    row("scratch file by fio: sync, median", [Scratch, Fio], |f| f.sync_median, None),
    row("scratch file by fio: sync, p99", [Scratch, Fio], |f| f.sync_p99, None),
    row("fio by itself: sync, median", [FioAgain, Fio], |f| f.sync_median, None),
    row("fio by itself: sync, p99", [FioAgain, Fio], |f| f.sync_p99, None),
    row("fio by itself: write, median", [FioAgain, Fio], |f| f.write_median, None),
    row("iotui by pg_test_fsync: mean", [InPlace, Postgres], |f| f.mean, Some(0.05)),
    row("pg_test_fsync by itself: mean", [PostgresAgain, Postgres], |f| f.mean, None),
];

type Runs = BTreeMap<Program, Vec<Figures>>;

fn main() {
    let rounds = rounds();
    let (fio, postgres) = (is_installed("fio"), postgres());
    let mut programs = Vec::new();
    if fio {
        programs.extend([Append, Scratch, Fio, FioAgain]);
    } else {
        println!("databases: fio left out, it is not installed (apt-get install fio)");
    }
    if postgres.is_some() {
        programs.extend([InPlace, Postgres, PostgresAgain]);
    } else {
        println!(
            "databases: pg_test_fsync left out, it is not installed (apt-get install postgresql)"
        );
    }
    if programs.is_empty() {
        return;
    }
    let home = std::env::var_os("IOTUI_BENCH_DIR")
        .map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from);
    let home = tempfile::tempdir_in(home).expect("a folder for the files");
    let mut bench = Bench::new(home.path(), postgres.unwrap_or_default());
    if fio {
        bench.choose_commits(rounds);
    }
    let runs = bench.measure(&mut programs, rounds);
    report(&runs, rounds, bench.commits);
}

fn rounds() -> usize {
    let Ok(text) = std::env::var("IOTUI_ROUNDS") else { return ROUNDS };
    let rounds = text.parse().ok().filter(|rounds| *rounds > 0);
    rounds.unwrap_or_else(|| panic!("IOTUI_ROUNDS is {text:?}, not a number of rounds"))
}

fn is_installed(program: impl AsRef<std::ffi::OsStr>) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Finds pg_test_fsync, which Debian does not have on PATH.
fn postgres() -> Option<PathBuf> {
    const NAME: &str = "pg_test_fsync";
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let installed = versions.map(|version| version.path().join("bin").join(NAME));
    std::iter::once(NAME.into()).chain(installed).find(|path| is_installed(path))
}

/// State that all runs share.
struct Bench {
    /// The home of iotui, so that settings of the user have no effect.
    home: PathBuf,
    /// Where the files are; empty between runs.
    files: PathBuf,
    postgres: PathBuf,
    /// Appended commits of one run.
    commits: u64,
}

impl Bench {
    fn new(folder: &Path, postgres: PathBuf) -> Bench {
        let [home, files] = ["home", "files"].map(|name| {
            let path = folder.join(name);
            fs::create_dir(&path).expect("a folder for the files");
            path
        });
        Bench { home, files, postgres, commits: FIRST }
    }

    /// Sets the number of appended commits, fewer where they are slow.
    fn choose_commits(&mut self, rounds: usize) {
        let mean = self.run(Append).mean;
        let [most, least] = COMMITS;
        // Four programs append in each round.
        self.commits = ((ROOM / mean / (4 * rounds) as f64) as u64).clamp(least, most);
        if self.commits < most {
            let commits = self.commits;
            println!("databases: a commit takes {mean:.0} µs, so a run has {commits}, not {most}");
        }
    }

    fn measure(&self, programs: &mut [Program], rounds: usize) -> Runs {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut seed = since.as_nanos() as u64;
        let mut runs = Runs::new();
        for round in 1..=rounds {
            for left in (1..programs.len()).rev() {
                seed = mix(seed);
                programs.swap(left, (seed % (left as u64 + 1)) as usize);
            }
            eprintln!("round {round} of {rounds}: {programs:?}");
            for program in programs.iter() {
                runs.entry(*program).or_default().push(self.run(*program));
            }
        }
        runs
    }

    fn run(&self, program: Program) -> Figures {
        self.clear();
        let (append, in_place) = (
            format!(
                "--writes append -s {BLOCK} --count {} --size {}",
                self.commits,
                self.commits * BLOCK
            ),
            format!("--writes overwrite -s 8k --size 8k --trial-time {SECONDS}s"),
        );
        let figures = match program {
            Append => self.iotui(&append, Some("commits"), Some(self.commits)),
            Scratch => self.iotui(&append, None, Some(self.commits)),
            InPlace => self.iotui(&in_place, Some("commits"), None),
            Fio => self.fio("commits"),
            FioAgain => self.fio("again"),
            Postgres | PostgresAgain => self.pg_test_fsync(),
        };
        self.clear();
        figures.unwrap_or_else(|problem| panic!("{program:?}: {problem}"))
    }

    /// Removes the files of the last run, for good: the journal would else do it with the first
    /// commits of the next.
    fn clear(&self) {
        for entry in fs::read_dir(&self.files).expect("a folder of files").flatten() {
            fs::remove_file(entry.path()).expect("remove the file of a run");
        }
        let folder = File::open(&self.files).expect("a folder of files");
        folder.sync_all().expect("sync the folder of files");
    }

    fn iotui(&self, line: &str, file: Option<&str>, count: Option<u64>) -> Result<Figures, String> {
        const LINE: &str = "--batch --quiet --no-save --format json --ceilings never --budget 30m \
                            --trials 1 --op write -b pread --sync fdatasync";
        let mut command = Command::new(env!("CARGO_BIN_EXE_iotui"));
        command.args(LINE.split_whitespace()).args(line.split_whitespace());
        match file {
            Some(name) => command.arg(self.files.join(name)),
            None => command.arg("--dir").arg(&self.files),
        };
        let result = &json(command.env("HOME", &self.home))?["results"][0];
        let (commits, trial) = (&result["commits"], &result["trials"][0]);
        let done = commits["count"].as_u64();
        if done.is_none() || count.is_some() && done != count {
            return Err(format!("{done:?} commits, not {count:?}"));
        }
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let micros = |nanos: &Value| number(nanos) / 1e3;
        Ok(Figures {
            write_median: micros(&commits["write"]["p50"]),
            sync_median: micros(&commits["sync"]["p50"]),
            sync_p99: micros(&commits["sync"]["p99"]),
            mean: 1e6 / number(&commits["per_second"]),
            waited: number(&trial["evidence"]["queued_nanos"]) / number(&trial["nanos"]),
        })
    }

    fn fio(&self, name: &str) -> Result<Figures, String> {
        const LINE: &str = "--rw=write --ioengine=sync --fdatasync=1 --fallocate=none \
                            --output-format=json";
        let mut command = Command::new("fio");
        command.args(LINE.split_whitespace()).args([
            format!("--name={name}"),
            format!("--directory={}", self.files.display()),
            format!("--bs={BLOCK}"),
            format!("--size={}", self.commits * BLOCK),
        ]);
        let job = &json(&mut command)?["jobs"][0];
        let (write, sync) = (&job["write"], &job["sync"]["lat_ns"]);
        // It does not sync after the last write.
        let syncs = sync["N"].as_u64();
        if syncs.is_none_or(|syncs| syncs + 1 < self.commits) {
            return Err(format!("{syncs:?} syncs, not {}", self.commits));
        }
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let micros = |of: &Value, key: &str| number(&of["percentile"][key]) / 1e3;
        Ok(Figures {
            write_median: micros(&write["clat_ns"], "50.000000"),
            sync_median: micros(sync, "50.000000"),
            sync_p99: micros(sync, "99.000000"),
            mean: 1e6 / number(&write["iops"]),
            ..Figures::NONE
        })
    }

    /// Runs pg_test_fsync until it has printed the figure of fdatasync: each further method takes
    /// as long.
    fn pg_test_fsync(&self) -> Result<Figures, String> {
        let mut command = Command::new(&self.postgres);
        command.args(["-s", &SECONDS.to_string(), "-f"]).arg(self.files.join("commits"));
        command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("it does not start: {error}"))?;
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let rate = lines.map_while(Result::ok).find_map(|line| printed_rate(&line));
        let (_, ended) = (child.kill(), child.wait());
        ended.map_err(|error| format!("it does not end: {error}"))?;
        let mean = 1e6 / rate.ok_or("no line with the operations per second of fdatasync")?;
        Ok(Figures { mean, ..Figures::NONE })
    }
}

/// Returns the rate in the line of pg_test_fsync `fdatasync  8170.739 ops/sec  122 usecs/op`.
fn printed_rate(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    let (method, rate, unit) = (words.next()?, words.next()?, words.next()?);
    (method == "fdatasync" && unit == "ops/sec").then(|| rate.parse().ok())?
}

/// Runs a program that prints one JSON document.
fn json(command: &mut Command) -> Result<Value, String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("it does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {text}", output.status));
    }
    // fio puts its warnings in front.
    let from = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[from..]).map_err(|error| format!("{error} in {text:?}"))
}

fn report(runs: &Runs, rounds: usize, commits: u64) {
    println!(
        "\ndatabases: µs, medians of the runs; paired: of the runs of one round, {rounds} in all"
    );
    if runs.contains_key(&Fio) {
        let all = commits * rounds as u64;
        println!(
            "databases: {commits} commits of {BLOCK} bytes appended in each run, {all} in all"
        );
    }
    let mut table = Table::new(&[
        "",
        "baseline",
        "measured",
        "ratio",
        "paired: lower quartile",
        "median",
        "upper quartile",
        "target",
        "",
    ]);
    for row in &ROWS {
        if let (Some(own), Some(base)) = (runs.get(&row.own), runs.get(&row.base)) {
            table.add(cells(row, own, base));
        }
    }
    table.print();
    let waited: Vec<f64> = runs.values().flatten().map(|run| run.waited).collect();
    let busy = waited.iter().filter(|share| **share > IDLE).count();
    if busy > 0 {
        let most = waited.iter().copied().fold(0.0, f64::max);
        println!(
            "databases: others kept the CPUs busy: iotui waited for one for more than {:.0} % of \
             the time in {busy} runs, at most {:.0} %; run this on an idle machine",
            IDLE * 100.0,
            most * 100.0
        );
    }
}

/// Builds a row of the table: met if both the medians and the pairs keep to the target.
fn cells(row: &Row, own: &[Figures], base: &[Figures]) -> Vec<String> {
    let [own, base] = [own, base].map(|of| of.iter().map(row.of).collect::<Vec<f64>>());
    let pairs: Vec<f64> = own.iter().zip(&base).map(|(own, base)| own / base).collect();
    let (own, base) = (quantile(&own, 0.5), quantile(&base, 0.5));
    let (ratio, paired) = (own / base, quantile(&pairs, 0.5));
    let mut cells = vec![row.name.to_string()];
    cells.extend([base, own].map(|micros| format!("{micros:.2}")));
    cells.extend(
        [ratio, quantile(&pairs, 0.25), paired, quantile(&pairs, 0.75)]
            .map(|ratio| format!("{ratio:.3}")),
    );
    let Some(within) = row.within else {
        cells.extend([String::new(), "for reference".into()]);
        return cells;
    };
    let met = [ratio, paired].iter().all(|ratio| (ratio - 1.0).abs() <= within);
    cells.extend([format!("1 ± {within:.2}"), verdict(met)]);
    cells
}

/// Returns a quantile, interpolated between the two nearest values.
fn quantile(all: &[f64], q: f64) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    let at = q * (all.len().max(1) - 1) as f64;
    let value = |at: f64| all.get(at as usize).copied().unwrap_or(f64::NAN);
    value(at.floor()) + (value(at.ceil()) - value(at.floor())) * at.fract()
}

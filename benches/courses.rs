//! Compares what iotui says with planted courses over time: a stall at a rate, token buckets that
//! run empty, limits that are lowered, and runs without a change; a search for a rate with a sweep
//! of all rates; and a job alone, next to a watch of its disk, and next to a loop with its reads.
//!
//! The disk is a file system of this process. `IOTUI_PROGRAM` is measured with instead of this
//! build; `cargo bench --bench courses -- buckets` runs only that part. `throttled`, `live` and a
//! half of `watched` read the disk of the current folder; `live` takes twenty minutes, and
//! resamples what it saw.

mod common;
#[path = "../tests/common/mod.rs"]
mod program;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::file::{Pieces, Temporary};
use common::table::{Table, verdict};
use iotui::stats::paired::from_pairs;
use iotui::stats::random::mix;
use iotui::stats::segments;
use iotui::sys::buffer::Aligned;
use iotui::units::parse_per_second;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use program::Home;
use program::slow_first::SlowFirst;
use serde_json::Value;

/// Planted buckets and limits, live runs, and series made of what these saw.
const BUCKETS: usize = 50;
const LIMITS: usize = 20;
const LIVE: usize = 20;
const SERIES: usize = 100;
/// Searches, each with its sweep.
const SEARCHES: usize = 2;
/// Jobs with and without a watch, their time, and the block that they read by.
const PAIRS: usize = 20;
const JOB: Duration = Duration::from_secs(5);
const JOB_BLOCK: usize = 128 << 10;
/// The largest relative error of a percentile behind a stall, and of a level or size.
const PERCENTILE: f64 = 0.02;
const LEVEL: f64 = 0.05;
/// One interval of the log.
const INTERVAL: f64 = 0.1;
const MIB: f64 = 1048576.0;
/// Nothing but the trial reads blocks of this many bytes.
const BLOCK: u64 = 60 << 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only checks whether it starts.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let parts: [(&str, fn()); 6] = [
        ("stall", stall),
        ("buckets", buckets),
        ("throttled", throttled),
        ("live", live),
        ("search", search),
        ("watched", watched),
    ];
    let is_named = |part: &str| arguments.iter().any(|argument| argument == part);
    let all = !parts.iter().any(|(name, _)| is_named(name));
    parts.iter().filter(|(name, _)| all || is_named(name)).for_each(|(_, run)| run());
}

fn command(home: &Home, line: &str) -> Command {
    let mut command = Command::new(common::measured_program());
    home.bring_in(&mut command);
    command.args(line.split_whitespace());
    command
}

/// Runs the program; `None`, with its message, if it fails. A result may be wrong, as no disk is
/// read.
fn run(home: &Home, line: &str) -> Option<String> {
    let output = command(home, line).output().expect("iotui runs");
    if !matches!(output.status.code(), Some(0 | 1)) {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("left out, {}: {}", output.status, why.trim());
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn report(home: &Home, line: &str) -> Option<Value> {
    serde_json::from_str(&run(home, line)?).ok()
}

fn relative(found: f64, planted: f64) -> f64 {
    (found - planted).abs() / planted
}

/// Plants a stall of a second in a minute of 1,000 reads per second. A read that was to start `t`
/// seconds after the stall began waits for its end, and for the ones before it: `1 - t * (1 - s)`
/// seconds, where 1,000 reads take `s` seconds, as the disk sees them until one comes late.
fn stall() {
    let home = Home::new();
    // The reads behind the stall, and the time from its end to the last of them.
    let backlog = Arc::new(Mutex::new((0_u32, 0.0)));
    let seen = Arc::clone(&backlog);
    let (mut first, mut end) = (None, None);
    let Some(disk) = SlowFirst::paced(move |now, bytes| {
        let is_rate = bytes.end - bytes.start == 4096;
        let first = *first.get_or_insert(now);
        let until = first + Duration::from_secs(31);
        let stalls = is_rate && now >= first + Duration::from_secs(30) && now < until;
        if let Some(end) = end.filter(|_| is_rate) {
            let mut seen = seen.lock().unwrap();
            // All that waited for the end of the stall.
            if seen.0 < 1000 {
                *seen = (seen.0 + 1, now.saturating_duration_since(end).as_secs_f64());
            }
        }
        if stalls {
            end = Some(until);
        }
        if stalls { until } else { now }
    }) else {
        return;
    };
    let line = format!(
        "--batch --no-save -b pread -s 4k --pattern random --direct --rate 1k --trial-time 60s \
         --trials 1 --budget 3m --ceilings never --format json {}",
        disk.file().display()
    );
    let Some(document) = report(&home, &line) else { return };
    let result = &document["results"][0];
    let of = |times: &str, key: &str| result[times][key].as_f64().unwrap_or(f64::NAN) / 1e9;
    let (reads, seconds) = *backlog.lock().unwrap();
    let busy = 1000.0 * seconds / f64::from(reads.max(1));
    let mut table = Table::new(&["a stall of 1 s at 1,000/s", "planted s", "found s", ""]);
    for (key, beyond) in [("p99", 0.6), ("p999", 0.06)] {
        let (planted, found) = (1.0 - beyond * (1.0 - busy), of("latency", key));
        let met = relative(found, planted) <= PERCENTILE;
        let (planted, seen) = (format!("{planted:.4}"), format!("{found:.4}"));
        table.add(vec![format!("{key} of responses"), planted, seen, verdict(met)]);
        let service = of("service", key);
        let met = service < found / 100.0;
        table.add(vec![
            format!("{key} of services"),
            String::new(),
            format!("{service:.6}"),
            verdict(met),
        ]);
    }
    table.print();
}

/// A planted bucket: when it was empty, and the bytes until then.
#[derive(Default, Clone, Copy)]
struct Emptied {
    seconds: f64,
    bytes: f64,
}

/// Mounts a disk whose reads take as long as this fast rate allows, while tokens are left, else as
/// the refill allows. A read of the first block fills the bucket, unless it is empty.
fn bucket(fast: f64, refill: f64, tokens: f64) -> Option<(SlowFirst, Arc<Mutex<Emptied>>)> {
    let emptied = Arc::<Mutex<Emptied>>::default();
    let seen = Arc::clone(&emptied);
    let (mut left, mut last, mut began, mut bytes) = (tokens, None::<Instant>, None, 0.0);
    let disk = SlowFirst::paced(move |now, range| {
        // Other reads inspect the file.
        if range.end - range.start != BLOCK {
            return now;
        }
        let len = BLOCK as f64;
        if range.start == 0 && left > 0.0 {
            (left, last, began, bytes) = (tokens, None, Some(now), 0.0);
        }
        let rate = if left > 0.0 { fast } else { refill };
        let due = last.unwrap_or(now) + Duration::from_secs_f64(len / rate);
        let was_full = left > 0.0;
        left = if was_full { left - len * (1.0 - refill / fast) } else { 0.0 };
        bytes += len;
        if was_full && left <= 0.0 {
            let seconds = began.map_or(0.0, |began: Instant| (due - began).as_secs_f64());
            *seen.lock().unwrap() = Emptied { seconds, bytes };
        }
        last = Some(due);
        due
    })?;
    Some((disk, emptied))
}

/// Draws a number between two, the `n`-th of a seed.
fn draw(seed: u64, n: u64, low: f64, high: f64) -> f64 {
    low + (high - low) * (mix(seed * 8 + n) >> 11) as f64 / (1u64 << 53) as f64
}

/// The courses that were found, and their errors: of the first level, of its time in intervals, of
/// its bytes, and of the next level.
#[derive(Default)]
struct Found {
    found: usize,
    right: usize,
    worst: [f64; 4],
}

impl Found {
    /// Compares an answer with what was planted: level, seconds, which are known to `known`
    /// intervals, bytes, next level.
    fn add(&mut self, text: &str, planted: [f64; 4], known: f64, cause: &str) {
        let Some(found) = parse(text) else {
            println!("courses: no change found: {text}");
            return;
        };
        self.found += 1;
        let mut errors: [f64; 4] = std::array::from_fn(|of| relative(found[of], planted[of]));
        errors[1] = (found[1] - planted[1]).abs() / INTERVAL;
        let is_right = text.contains(cause)
            && errors[1] <= 1.0 + known
            && [0, 2, 3].iter().all(|of| errors[*of] <= LEVEL);
        self.right += usize::from(is_right);
        if !is_right {
            println!("courses: {errors:.3?} of {planted:.2?}: {text}");
        }
        for (worst, error) in self.worst.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
    }

    fn print(&self, planted: &str, count: usize) {
        let [level, time, bytes, next] = self.worst;
        println!(
            "\ncourses: {} of {count} planted {planted} found, {} right: largest errors: first \
             level {:.1} %, its bytes {:.1} %, next level {:.1} %, time {time:.2} intervals, {}",
            self.found,
            self.right,
            level * 100.0,
            bytes * 100.0,
            next * 100.0,
            verdict(self.right == count)
        );
    }
}

fn buckets() {
    let home = Home::new();
    let mut all = Found::default();
    for seed in 0..BUCKETS as u64 {
        let draw = |n, low, high| draw(seed, n, low, high);
        let fast = draw(1, 8.0, 12.0) * MIB;
        let refill = fast * draw(2, 0.15, 0.7);
        let seconds = draw(3, 3.0, 5.0);
        let Some((disk, emptied)) = bucket(fast, refill, (fast - refill) * seconds) else { return };
        // A bucket is named after five whole seconds without tokens.
        let line = format!(
            "--batch --no-save -b pread -s 60k --direct --until steady --budget 20s --ceilings \
             never --format json {}",
            disk.file().display()
        );
        let Some(document) = report(&home, &line) else { continue };
        let text = document["answer"]["text"].as_str().unwrap_or_default();
        let Emptied { seconds, bytes } = *emptied.lock().unwrap();
        all.add(text, [fast, seconds, bytes, refill], 0.0, "a token bucket fits");
    }
    all.print("token buckets", BUCKETS);
}

/// The limit of a control group on reads of a device, removed on drop.
struct ReadLimit {
    group: PathBuf,
    device: String,
}

impl ReadLimit {
    /// Creates the group; `None` where the first version of the controller is missing.
    fn new(path: &Path) -> Option<ReadLimit> {
        let group = PathBuf::from(format!("/sys/fs/cgroup/blkio/iotui-{}", std::process::id()));
        let device = std::fs::metadata(path).ok()?.dev();
        let device = format!("{}:{}", nix::libc::major(device), nix::libc::minor(device));
        std::fs::create_dir(&group).ok()?;
        let limit = ReadLimit { group, device };
        limit.set(1e9)?;
        Some(limit)
    }

    /// Limits reads to this many bytes per second.
    fn set(&self, rate: f64) -> Option<()> {
        let file = self.group.join("blkio.throttle.read_bps_device");
        std::fs::write(file, format!("{} {rate:.0}", self.device)).ok()
    }
}

impl Drop for ReadLimit {
    fn drop(&mut self) {
        // The kernel takes a moment to see that the last process has ended.
        while let Err(error) = std::fs::remove_dir(&self.group) {
            if error.raw_os_error() != Some(nix::libc::EBUSY) {
                eprintln!("cannot remove {}: {error}", self.group.display());
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Lowers the limit on reads of the disk of this folder while a trial runs.
fn throttled() {
    let home = Home::new();
    let file = Temporary::new("throttled", 256 << 20, Pieces::Large);
    let Some(limit) = ReadLimit::new(&file.path) else {
        println!("courses: no control group with limits on devices");
        return;
    };
    let mut all = Found::default();
    for seed in 0..LIMITS as u64 {
        let fast = draw(seed, 1, 60.0, 120.0) * MIB;
        let next = fast * draw(seed, 2, 0.2, 0.7);
        let seconds = Duration::from_secs_f64(draw(seed, 3, 3.0, 6.0));
        let lowered = || -> Option<(String, f64)> {
            limit.set(fast)?;
            let line = format!(
                "--batch --no-save -b pread -s 64k --pattern random --direct --until steady \
                 --budget 20s --ceilings never --format jsonl {}",
                file.path.display()
            );
            let mut command = command(&home, &line);
            let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
            std::fs::write(limit.group.join("cgroup.procs"), run.id().to_string()).ok()?;
            let lines = BufReader::new(run.stdout.take()?).lines().map_while(Result::ok);
            let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
            // The first waits for the second.
            let second = lines.by_ref().filter(|line| line["kind"] == "interval").nth(1)?;
            let began = Instant::now() - Duration::from_nanos(second["at"].as_u64()?);
            std::thread::sleep((began + seconds).saturating_duration_since(Instant::now()));
            limit.set(next)?;
            let lowered = began.elapsed().as_secs_f64();
            let end = lines.find(|line| line["kind"] == "end")?;
            run.wait().ok()?;
            Some((end["answer"]["text"].as_str()?.into(), lowered))
        };
        let Some((text, seconds)) = lowered() else { continue };
        // The line of an interval arrives within some milliseconds.
        all.add(&text, [fast, seconds, fast * seconds, next], 0.1, "blkio.throttle");
    }
    all.print("limits of a control group", LIMITS);
}

/// Parses `29.4 MiB/s for 4.31 s (126 MiB), then 10.1 MiB/s`: bytes per second, seconds, bytes,
/// bytes per second.
fn parse(text: &str) -> Option<[f64; 4]> {
    let (before, after) = text.split_once(", then ")?;
    let words: Vec<&str> = before.split_whitespace().rev().take(7).collect();
    let amount = |number: &str, unit: &str| {
        let factor = match unit.trim_matches(|c: char| !c.is_alphabetic()).get(..3)? {
            "KiB" => 1024.0,
            "MiB" => MIB,
            "GiB" => MIB * 1024.0,
            _ => return None,
        };
        Some(number.trim_matches('(').parse::<f64>().ok()? * factor)
    };
    let [bytes_unit, bytes, _, time, _, level_unit, level] = words[..] else { return None };
    let mut next = after.split_whitespace();
    let next = amount(next.next()?, next.next()?)?;
    Some([amount(level, level_unit)?, time.parse().ok()?, amount(bytes, bytes_unit)?, next])
}

/// Reads the disk of this folder for a minute, several times, and counts the changes that are found
/// in it, and in series of pieces of what was seen.
fn live() {
    let home = Home::new();
    let mut changed = 0;
    let mut noise: Vec<Vec<f64>> = Vec::new();
    for _ in 0..LIVE {
        let line = "--batch --no-save -b pread -s 64k --pattern random --direct --size 256m \
                    --trials 1 --trial-time 60s --budget 3m --ceilings never --format fio-bw";
        let Some(log) = run(&home, line) else { continue };
        let rate = |line: &str| line.split(',').nth(1)?.trim().parse::<f64>().ok();
        let series: Vec<f64> = log.lines().filter_map(rate).collect();
        changed += usize::from(segments(&series).len() > 1);
        noise.push(series);
    }
    let pieces: Vec<&[f64]> = noise.iter().flat_map(|series| series.chunks_exact(10)).collect();
    if pieces.is_empty() {
        return;
    }
    let resampled = |seed: u64| {
        let piece = |n: u64| pieces[(mix(seed * 100 + n) % pieces.len() as u64) as usize];
        (0..60).flat_map(piece).copied().collect::<Vec<f64>>()
    };
    let false_alarms =
        (0..SERIES as u64).filter(|seed| segments(&resampled(*seed)).len() > 1).count();
    let mut table = Table::new(&["without a planted change", "series", "with a change", ""]);
    for (name, series, found) in
        [("live", noise.len(), changed), ("resampled", SERIES, false_alarms)]
    {
        let met = verdict(found <= 1);
        table.add(vec![name.into(), series.to_string(), found.to_string(), met]);
    }
    table.print();
}

/// Searches the highest rate at which p99 stays below 5 ms, on a disk that reads one block each
/// half millisecond, and measures all rates in steps of 2.5 % with as many trials.
fn search() {
    let home = Home::new();
    let mut last = None::<Instant>;
    let Some(disk) = SlowFirst::paced(move |now, _| {
        let due = last.unwrap_or(now).max(now) + Duration::from_micros(500);
        last = Some(due);
        due
    }) else {
        return;
    };
    let mut table =
        Table::new(&["p99 < 5 ms", "searched /s", "swept /s", "search s", "sweep s", ""]);
    for _ in 0..SEARCHES {
        let line = format!(
            "--batch --no-save -b pread -s 4k --pattern random --direct --arrival poisson \
             --ceilings never --trial-time 600ms --budget 30m --format json {}",
            disk.file().display()
        );
        let timed = |line: &str| {
            let begin = Instant::now();
            let document = report(&home, line)?;
            Some((document, begin.elapsed().as_secs_f64()))
        };
        let Some((found, short)) = timed(&format!("{line} --latency-target p99<5ms")) else {
            return;
        };
        let text = found["answer"]["text"].as_str().unwrap_or_default();
        let found = text.split_once(" up to ").and_then(|(_, rest)| rest.split([',', ':']).next());
        let Some(found) = found.and_then(|rate| parse_per_second(rate).ok()) else {
            println!("courses: no rate found: {text}");
            return;
        };
        let found = found as f64;
        let rates: Vec<String> = (0..)
            .map(|step| 400.0 * 1.025_f64.powi(step))
            .take_while(|rate| *rate < 2500.0)
            .map(|rate| format!("{rate:.0}"))
            .collect();
        let Some((swept, long)) = timed(&format!("{line} --trials 5 --rate {}", rates.join(",")))
        else {
            return;
        };
        let swept = border(&swept);
        let met = relative(found, swept) <= LEVEL && short <= long / 5.0;
        let mut row = vec![String::new()];
        row.extend([found, swept].iter().map(|rate| format!("{rate:.0}")));
        row.extend([short, long].iter().map(|seconds| format!("{seconds:.1}")));
        row.push(verdict(met));
        eprintln!("courses: {row:?}");
        table.add(row);
    }
    table.print();
}

/// Returns the highest rate below the border that the fewest results of a sweep contradict: each
/// scatters, and the first of many to fail would be too low.
fn border(document: &Value) -> f64 {
    let rate_and_holds = |result: &Value| {
        let rate = result["cell"]["rate"]["operations"].as_f64()?;
        Some((rate, result["latency"]["p99"].as_f64()? < 5e6))
    };
    let mut rates: Vec<(f64, bool)> =
        document["results"].as_array().into_iter().flatten().filter_map(rate_and_holds).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let contradictions = |border: &usize| {
        let (below, above) = rates.split_at(*border);
        below.iter().filter(|(_, holds)| !holds).count()
            + above.iter().filter(|(_, holds)| *holds).count()
    };
    let border = (1..=rates.len()).min_by_key(contradictions);
    border.map_or(f64::NAN, |border| rates[border - 1].0)
}

/// Reads a disk with and without a watch of it, in turns, and prints the ratio of the rates.
fn watched() {
    let home = Home::new();
    let mut last = None::<Instant>;
    let limited = SlowFirst::paced(move |now, bytes| {
        let seconds = (bytes.end - bytes.start) as f64 / (20.0 * MIB);
        let due = last.unwrap_or(now).max(now) + Duration::from_secs_f64(seconds);
        last = Some(due);
        due
    });
    let real = Temporary::new("watched", 256 << 20, Pieces::Large);
    let files = limited.as_ref().map(|disk| (true, "a disk limited to 20 MiB/s", disk.file()));
    let mut table = Table::new(&["a job on", "next to", "pairs", "ratio", "95 %", ""]);
    for (limits, name, path) in files.into_iter().chain([(false, "this disk", real.path.clone())]) {
        // Alone, next to a watch, and next to a loop that makes the reads of the last watch.
        let (mut rates, mut reads) = (Vec::new(), 0.0);
        for round in 0..PAIRS as u64 {
            let mut turns = [0, 1, 2];
            turns.sort_by_key(|turn| mix(round * 3 + turn));
            let mut of_round = [None; 3];
            for turn in turns {
                of_round[turn as usize] = match turn {
                    0 => Some(read(&path)),
                    1 => read_while_watched(&home, &path).map(|(rate, made)| {
                        reads = made;
                        rate
                    }),
                    _ if reads > 0.0 => Some(read_next_to_reads(&path, reads)),
                    _ => None,
                };
            }
            rates.push(of_round);
        }
        for (other, next_to) in [(1, "a watch"), (2, "a bare loop with its reads")] {
            let pairs: Vec<(f64, f64)> =
                rates.iter().filter_map(|of| of[0].zip(of[other])).collect();
            let Some(ratio) = from_pairs(&pairs) else { continue };
            let Some((low, high)) = ratio.interval() else { continue };
            let met = low >= 0.95 && high <= 1.05;
            table.add(vec![
                name.into(),
                next_to.into(),
                pairs.len().to_string(),
                format!("{:.3}", ratio.ratio),
                format!("{low:.3} to {high:.3}"),
                if limits && other == 1 { verdict(met) } else { String::new() },
            ]);
        }
    }
    table.print();
}

/// Reads the file as a job does, for [`JOB`], and returns bytes per second.
fn read(path: &Path) -> f64 {
    let file = File::options()
        .read(true)
        .custom_flags(nix::libc::O_DIRECT)
        .open(path)
        .expect("a file to read");
    let mut piece = Aligned::filled(JOB_BLOCK, 0).expect("memory");
    let len = file.metadata().expect("a file").len();
    let (begin, mut bytes) = (Instant::now(), 0);
    while begin.elapsed() < JOB {
        let done = file.read_at(&mut piece, bytes % len).expect("the job reads");
        bytes += done as u64;
    }
    bytes as f64 / begin.elapsed().as_secs_f64()
}

/// Reads the file while a loop reads single blocks of it at random, as often per second.
fn read_next_to_reads(path: &Path, per_second: f64) -> f64 {
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options().read(true).custom_flags(nix::libc::O_DIRECT).open(path);
            let file = file.expect("a file to read");
            let mut piece = Aligned::filled(4096, 0).expect("memory");
            let blocks = file.metadata().expect("a file").len() / 4096;
            let begin = Instant::now();
            for read in 0.. {
                let due = begin + Duration::from_secs_f64(read as f64 / per_second);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                if ends.load(Relaxed) {
                    break;
                }
                file.read_at(&mut piece, mix(read) % blocks * 4096).expect("the loop reads");
            }
        });
        let rate = read(path);
        ends.store(true, Relaxed);
        rate
    })
}

/// Reads the file while a watch of it runs; returns bytes per second, and the reads per second of
/// the watch.
fn read_while_watched(home: &Home, path: &Path) -> Option<(f64, f64)> {
    let line = format!("--batch --no-save --watch 1h --format jsonl {}", path.display());
    let mut watch =
        command(home, &line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut lines = BufReader::new(watch.stdout.take()?).lines().map_while(Result::ok);
    let mut intervals = lines.by_ref().filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let first = intervals.find(|line| line["kind"] == "interval")?;
    let made = first["ops"].as_f64()? * 1e9 / first["nanos"].as_f64()?;
    // The pipe of the watch must not fill.
    let reader = std::thread::spawn(move || lines.for_each(drop));
    let rate = read(path);
    // A shell may have this process ignore SIGINT.
    kill(Pid::from_raw(watch.id() as i32), Signal::SIGTERM).ok()?;
    watch.wait().ok()?;
    reader.join().ok()?;
    Some((rate, made))
}

//! The cost of listing ten thousand sessions and of opening one of a hundred thousand trials: the
//! real program from start to end, next to a bare read of the same bytes, and its peak memory.

mod common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::rounds::{Beside, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::sys::clock::monotonic_nanos;

const IOTUI: &str = env!("CARGO_BIN_EXE_iotui");
const SAMPLES: usize = 9;
const SESSIONS: usize = 10_000;
const TRIALS: usize = 100_000;
const MEMORY: f64 = 64.0;
/// The home with the sessions, the command, the bare read to compare with, and the limit in
/// milliseconds.
const RUNS: [(&str, &str, usize, f64); 7] = [
    ("many", "sessions list", 0, 300.0),
    ("many", "sessions list --format json", 0, 300.0),
    ("many", "sessions show 00042", 0, 500.0),
    ("large", "sessions show large", 1, 500.0),
    ("large", "sessions show large --format json", 1, 500.0),
    ("judged", "sessions show large", 2, 500.0),
    ("judged", "sessions show large --format json", 2, 500.0),
];
/// The run whose lines make up the sessions: 24 cells, with everything that a real one has.
const REAL: &str = "--batch --quiet --size 16m --trial-time 2ms --trials 6 --budget 60s -s 4k,32k,256k,2m -b read,pread,mmap -c cold,warm";

fn main() {
    let data = Data::new();
    if let Some(pairs) = gather(1, |_| measure(&Data::made())) {
        println!(
            "\nsessions: milliseconds from start to end, next to the bare reading of the same bytes; {} pairs of each",
            pairs.count()
        );
        println!(
            "many: {SESSIONS} sessions; large: one of {TRIALS} trials, {} MiB;",
            data.size("large") >> 20
        );
        println!(
            "judged: the same with a verdict after every other trial, {} MiB",
            data.size("judged") >> 20
        );
        let mut table = Table::new(&[
            "",
            "bare",
            "iotui: least",
            "median",
            "target",
            "",
            "peak MiB",
            "target",
            "",
        ]);
        for (home, line, _, most) in RUNS {
            let name = format!("{home}: {line}");
            let (bare, median) =
                (pairs.low(&name).bare, pairs.paired(&name, |pair: Beside| pair.own));
            let peak = peak(&mut data.iotui(home, line));
            let mut row = vec![
                name.clone(),
                format!("{bare:.1}"),
                format!("{:.1}", pairs.min(&name).own),
                format!("{median:.1}"),
            ];
            row.extend([format!("<= {most}"), verdict(median <= most)]);
            row.extend([format!("{peak:.1}"), format!("<= {MEMORY}"), verdict(peak <= MEMORY)]);
            table.add(row);
        }
        table.print();
        data.remove();
    }
}

fn measure(data: &Data) {
    let yardsticks: Vec<common::rounds::Sample> = vec![
        Box::new(|| timed(|| both_ends(&data.sessions("many")))),
        Box::new(|| timed(|| whole(&data.sessions("large")))),
        Box::new(|| timed(|| whole(&data.sessions("judged")))),
    ];
    let variant = |(home, line, yardstick, _): (&'static str, &'static str, usize, f64)| {
        let sample = move || timed(|| ran(&mut data.iotui(home, line)));
        Variant { name: format!("{home}: {line}"), yardstick, sample: Box::new(sample) }
    };
    interleave(yardsticks, RUNS.into_iter().map(variant).collect(), SAMPLES);
}

/// Homes with sessions, on the disk of the target folder.
struct Data(PathBuf);

impl Data {
    /// Returns the folder in which a round finds the data created before it.
    fn made() -> Data {
        Data(Path::new(env!("CARGO_TARGET_TMPDIR")).join("sessions-bench"))
    }

    fn new() -> Data {
        let data = Data::made();
        // A round runs this program too.
        if std::env::var_os(common::rounds::ROUND).is_none() {
            data.remove();
            data.make();
        }
        data
    }

    fn remove(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }

    fn sessions(&self, home: &str) -> PathBuf {
        self.0.join(home).join("iotui/sessions")
    }

    fn size(&self, home: &str) -> u64 {
        fs::metadata(self.sessions(home).join("large.jsonl")).map_or(0, |meta| meta.len())
    }

    fn iotui(&self, home: &str, line: &str) -> Command {
        let mut command = Command::new(IOTUI);
        command.args(line.split(' ')).env("XDG_DATA_HOME", self.0.join(home)).env("HOME", &self.0);
        command
    }

    fn make(&self) {
        for home in ["many", "large", "judged"] {
            fs::create_dir_all(self.sessions(home)).expect("make a folder");
        }
        fs::create_dir_all(self.0.join("real")).expect("make a folder");
        ran(self.iotui("real", REAL).current_dir(&self.0));
        let made = fs::read_dir(self.sessions("real"))
            .expect("a session was kept")
            .next()
            .expect("a session")
            .expect("its entry");
        let text = fs::read_to_string(made.path()).expect("read the session");
        let lines = Lines::of(&text);
        let short = lines.short();
        for n in 0..SESSIONS {
            let id = format!("{n:05}-scratch");
            let mut file = File::create(self.sessions("many").join(format!("{id}.jsonl")))
                .expect("make a session");
            let first = lines.first.replacen("\"name\":\"\"", &format!("\"name\":\"run {n}\""), 1);
            file.write_all((seal(&first, 1) + &short).as_bytes()).expect("write a session");
        }
        lines.write(&self.sessions("large").join("large.jsonl"), None);
        lines.write(&self.sessions("judged").join("large.jsonl"), Some(2));
    }
}

/// The lines of a real session by their kinds.
struct Lines<'a> {
    first: &'a str,
    grounds: &'a str,
    trials: Vec<String>,
    verdicts: Vec<&'a str>,
    end: &'a str,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        let of = |kind: &str| -> Vec<&str> {
            text.lines().filter(|line| line.contains(&format!("{{\"kind\":\"{kind}\""))).collect()
        };
        // The usual length: a trial of 0.3 s has three samples.
        let sample =
            r#"{"at":100000000,"nanos":100000000,"bytes":268435456,"ops":65536,"syscalls":65536}"#;
        let samples = format!("\"samples\":[{sample},{sample},{sample}]}}");
        let with_samples = |line: &str| {
            line[..line.rfind("\"samples\":").expect("a trial has samples")].to_string() + &samples
        };
        // The last one of each cell.
        let verdicts: BTreeMap<&str, &str> = of("verdict")
            .into_iter()
            .map(|line| (line.split(',').nth(1).unwrap_or(""), line))
            .collect();
        Lines {
            first: text.lines().next().expect("a first line"),
            grounds: of("grounds")[0],
            trials: of("trial").into_iter().map(with_samples).collect(),
            verdicts: verdicts.into_values().collect(),
            end: of("end")[0],
        }
    }

    /// Returns the lines after the first of a short session: 30 KiB, so that ten thousand fit
    /// easily.
    fn short(&self) -> String {
        let trials = self.trials.iter().take(10).map(String::as_str);
        let all = std::iter::once(self.grounds)
            .chain(trials)
            .chain(self.verdicts.iter().copied().take(4))
            .chain([self.end]);
        all.zip(2..).map(|(line, number)| seal(line, number)).collect()
    }

    /// Writes a session of many trials, with a verdict after each `every` of them, and all at the
    /// end.
    fn write(&self, path: &Path, every: Option<usize>) {
        let mut file = BufWriter::new(File::create(path).expect("make a session"));
        let mut numbers = 1..;
        let mut put = |line: &str| {
            let number = numbers.next().expect("another number");
            file.write_all(seal(line, number).as_bytes()).expect("write a session");
        };
        put(self.first);
        put(self.grounds);
        for n in 0..TRIALS {
            put(&self.trials[n % self.trials.len()]);
            if every.is_some_and(|every| n % every == 0) {
                put(self.verdicts[n % self.verdicts.len()]);
            }
        }
        // These cover all trials; otherwise loading would judge again.
        self.verdicts.iter().for_each(|line| {
            put(&line.replacen("\"trials\":", &format!("\"trials\":{TRIALS},\"then\":"), 1))
        });
        put(self.end);
    }
}

/// Returns a line with the seal of its place, in place of the one it had: the number of the line
/// and a checksum.
fn seal(line: &str, number: u64) -> String {
    let open = line.rfind(",\"line\":").filter(|at| line[*at..].contains("\"crc\":"));
    let open = &line[..open.unwrap_or(line.len() - 1)];
    let numbered = format!("{open},\"line\":{number}");
    let crc = crc32fast::hash(numbered.as_bytes());
    format!("{numbered},\"crc\":\"{crc:08x}\"}}\n")
}

/// Reads the minimum that a list needs: the start and the end of every file.
fn both_ends(dir: &Path) {
    let mut buffer = [0; 1024];
    for entry in fs::read_dir(dir).expect("read the folder").flatten() {
        let file = File::open(entry.path()).expect("open a session");
        let length = file.metadata().expect("its length").len();
        file.read_at(&mut buffer, 0).expect("read a session");
        file.read_at(&mut buffer, length.saturating_sub(1024)).expect("read a session");
    }
}

/// Reads the minimum that opening needs: every byte.
fn whole(dir: &Path) {
    let mut file = File::open(dir.join("large.jsonl")).expect("open the session");
    let mut buffer = vec![0; 256 << 10];
    while file.read(&mut buffer).expect("read the session") > 0 {}
}

fn timed(what: impl FnOnce()) -> f64 {
    let start = monotonic_nanos();
    what();
    (monotonic_nanos() - start) as f64 / 1e6
}

fn ran(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status()
        .expect("start the program");
    assert!(status.success(), "{command:?}: {status}");
}

/// Returns the peak resident memory, MiB, as the kernel reports it at the end.
#[expect(clippy::zombie_processes, reason = "wait4 reaps it, and returns its peak")]
fn peak(command: &mut Command) -> f64 {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the program");
    let mut status = 0;
    // SAFETY: zeros are an empty rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours and not waited for elsewhere; both pointers are to local values.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert!(
        ended > 0 && std::process::ExitStatus::from_raw(status).success(),
        "{command:?} failed"
    );
    usage.ru_maxrss as f64 / 1024.0
}

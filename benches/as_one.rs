//! Reads 64 files as one, next to one file of the same bytes, `cat`, `dd` of each file, and a bare
//! loop in C, in turns: warm, and cold.
//!
//! `IOTUI_PROGRAM` is measured with instead of this build.

mod common;
#[path = "../tests/common/mod.rs"]
mod program;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use common::table::{Table, verdict};
use iotui::stats::median;
use iotui::stats::paired::from_pairs;
use iotui::stats::random::mix;
use iotui::sys::cold;
use iotui::units::show_rate;
use program::Home;

const FILES: usize = 64;
const EACH: u64 = 8 << 20;
const ROUNDS: u64 = 15;
/// The most that a list may differ from one file.
const WITHIN: f64 = 0.02;

/// Reads each file that is named, 1 MiB at a time.
const LOOP: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **names) {
    char *block = aligned_alloc(4096, 1 << 20);
    for (int at = 1; at < count; at++) {
        int file = open(names[at], O_RDONLY);
        if (file < 0) return 1;
        for (off_t from = 0, got; (got = pread(file, block, 1 << 20, from)) > 0; from += got);
        close(file);
    }
    return 0;
}
"#;

/// Returns bytes per second.
type Way<'a> = Box<dyn Fn() -> Option<f64> + 'a>;

fn main() {
    let home = Home::new();
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("list-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let list: Vec<PathBuf> = (0..FILES).map(|at| folder.join(format!("{at:02}.bin"))).collect();
    let one = folder.with_extension("one");
    for (at, path) in list.iter().enumerate() {
        fill(path, EACH, at as u64);
    }
    fill(&one, EACH * FILES as u64, 99);
    let bare = compile(&folder);
    let mut table = Table::new(&["1 MiB blocks, 1 thread", "rate", "of one file", "95 %", ""]);
    for cache in ["warm", "cold"] {
        for backend in ["pread", "uring", "mmap"] {
            compare(&home, &mut table, (backend, cache), (&one, &folder, &list), bare.as_deref());
        }
    }
    table.print();
    let _ = std::fs::remove_dir_all(&folder);
    let _ = std::fs::remove_file(&one);
}

fn fill(path: &Path, bytes: u64, seed: u64) {
    let mut data = vec![0; bytes as usize];
    iotui::stats::random::fill(seed, 0, &mut data);
    std::fs::write(path, data).expect("a file");
}

fn compile(folder: &Path) -> Option<PathBuf> {
    let (source, program) = (folder.with_extension("c"), folder.with_extension("loop"));
    std::fs::write(&source, LOOP).ok()?;
    let built = Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(&source).status();
    let _ = std::fs::remove_file(source);
    built.is_ok_and(|status| status.success()).then_some(program)
}

/// Compares all ways with one file read by iotui, in turns.
fn compare(
    home: &Home,
    table: &mut Table,
    (backend, cache): (&str, &str),
    (one, folder, list): (&Path, &Path, &[PathBuf]),
    bare: Option<&Path>,
) {
    let iotui = |what: String| {
        let line = format!(
            "--batch --no-save -b {backend} -s 1m -c {cache} -n 0 --trials 1 --ceilings never \
             --format json {what}"
        );
        let mut command = Command::new(common::measured_program());
        home.bring_in(command.args(line.split_whitespace()));
        let output = command.stderr(Stdio::null()).output().ok()?;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        report["results"][0]["throughput"]["median"].as_f64()
    };
    let other = |program: &str, args: &dyn Fn(&mut Command)| {
        if cache == "cold" {
            list.iter().for_each(|path| drop_pages(path));
        }
        let mut command = Command::new(program);
        args(&mut command);
        let begin = Instant::now();
        let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        let seconds = begin.elapsed().as_secs_f64();
        ended.success().then_some((EACH * FILES as u64) as f64 / seconds)
    };
    let named = |command: &mut Command| {
        command.args(list);
    };
    let dd = "for file; do dd if=\"$file\" of=/dev/null bs=1M status=none || exit 1; done";
    let ways: Vec<(&str, Way)> = vec![
        ("one file", Box::new(|| iotui(one.display().to_string()))),
        ("--as-one", Box::new(|| iotui(format!("--as-one {}", folder.display())))),
        (
            "--as-one, opened timed",
            Box::new(|| iotui(format!("--as-one --opened timed {}", folder.display()))),
        ),
        ("bare loop in C", Box::new(|| other(bare?.to_str()?, &named))),
        ("cat", Box::new(|| other("cat", &named))),
        (
            "dd of each",
            Box::new(|| {
                other("sh", &|command| {
                    command.args(["-c", dd, "sh"]).args(list);
                })
            }),
        ),
    ];
    // Other programs read as pread does.
    let count = if backend == "pread" { ways.len() } else { 3 };
    let mut rates: Vec<Vec<Option<f64>>> = vec![Vec::new(); count];
    for round in 0..ROUNDS {
        let mut turns: Vec<usize> = (0..count).collect();
        turns.sort_by_key(|turn| mix(round * 64 + *turn as u64));
        for turn in turns {
            rates[turn].push(ways[turn].1());
        }
    }
    for (at, (name, _)) in ways.iter().enumerate().take(count) {
        let known: Vec<f64> = rates[at].iter().flatten().copied().collect();
        let Some(rate) = median(&known) else { continue };
        let pairs = rates[at].iter().zip(&rates[0]).filter_map(|(own, one)| own.zip(*one));
        let ratio = from_pairs(&pairs.collect::<Vec<_>>());
        let interval = ratio.as_ref().and_then(|ratio| ratio.interval());
        let met = ratio.as_ref().is_some_and(|ratio| (ratio.ratio - 1.0).abs() <= WITHIN);
        table.add(vec![
            format!("{backend} {cache}, {name}"),
            show_rate(rate),
            ratio.map_or(String::new(), |ratio| format!("{:.3}", ratio.ratio)),
            interval.map_or(String::new(), |(low, high)| format!("{low:.3} to {high:.3}")),
            if at == 1 { verdict(met) } else { String::new() },
        ]);
    }
}

fn drop_pages(path: &Path) {
    let file = File::open(path).expect("a file of the list");
    let len = file.metadata().expect("its size").len();
    let _ = cold::make_cold(&file, len);
}

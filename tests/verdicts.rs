//! Where the bytes came from: files and conditions that mislead other tools must be detected.

use crate::common::stderr_of;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::child::Run;
use crate::common::kernel::ControlGroup;
use crate::common::{self, Home, QUICK, data, skip, warning, warnings, with_page_cache};
use serde_json::Value;

const LEN: usize = 4 << 20;

/// The fields of a trial (docs/formats.md).
const FIELDS: [&str; 17] = [
    "bytes",
    "ops",
    "syscalls",
    "nanos",
    "passes",
    "xor",
    "user_nanos",
    "system_nanos",
    "device_bytes",
    "hole_bytes",
    "resident_before",
    "resident_after",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "short",
];

/// Returns the results of a run on `data.bin`, after checking what holds for every result.
fn results(home: &Home, line: &str) -> Vec<Value> {
    let document = home.json(&format!("--batch --no-save {QUICK} {line}"));
    let results = document["results"].as_array().unwrap().clone();
    assert!(!results.is_empty(), "{line}");
    results.iter().for_each(assert_sound);
    results
}

fn assert_sound(result: &Value) {
    let cell = &result["cell"];
    assert!(result["error"].is_null(), "{cell}: {}", result["error"]);
    let number = |value: &Value| {
        value.as_f64().unwrap_or_else(|| panic!("no number: {value} in {result:#}"))
    };
    for trial in result["trials"].as_array().unwrap() {
        let keys = trial.as_object().unwrap();
        assert!(FIELDS.iter().all(|field| keys.contains_key(*field)), "{cell}: {:?}", keys.keys());
        assert!(
            number(&trial["bytes"]) <= number(&trial["ops"]) * number(&cell["block"]),
            "{cell}: {trial}"
        );
        assert!(number(&trial["nanos"]) > 0.0 && number(&trial["ops"]) > 0.0, "{cell}: {trial}");
    }
    if let Some(source) = result["source"].as_object() {
        let sum: f64 = source.values().map(number).sum();
        assert!((sum - 1.0).abs() < 1e-6, "the sources of {cell} add up to {sum}: {source:?}");
        assert!(source.values().all(|part| (0.0..=1.0).contains(&number(part))), "{source:?}");
        assert!(!result["source_reason"].as_str().unwrap_or_default().is_empty());
    }
    for warning in result["warnings"].as_array().unwrap() {
        for key in ["id", "severity", "message", "evidence", "remedy"] {
            assert!(
                warning[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key} of {warning}"
            );
        }
    }
}

fn source(result: &Value, part: &str) -> f64 {
    result["source"][part].as_f64().unwrap_or_else(|| panic!("no source in {result:#}"))
}

/// Drops the cached pages of a file that has been written back.
fn drop_cached(file: &File) {
    file.sync_all().unwrap();
    // SAFETY: posix_fadvise(2) takes numbers and touches no memory of the caller's.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Returns whether a cold read of this file is charged to the thread that reads it.
fn device_counted(path: &Path) -> bool {
    fn charged() -> Option<u64> {
        let io = fs::read_to_string("/proc/thread-self/io").ok()?;
        io.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.parse::<u64>().ok()
    }
    let mut file = File::open(path).unwrap();
    drop_cached(&file);
    let before = charged();
    let read = file.read_to_end(&mut Vec::new()).unwrap() as u64;
    let counted = before.zip(charged()).is_some_and(|(before, after)| after - before >= read);
    if !counted {
        skip("device bytes are not charged to processes on this file system");
    }
    counted
}

#[test]
fn cold_reads_device_warm_reads_cache() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = home.file("data.bin", LEN);
    let counted = device_counted(&file);
    let mut asked = vec!["-b all -s 64k,1m -c cold,warm -t 1,2".to_string()];
    // Some kernels evict idle pages, and a busy machine gives them time for it: then the result
    // must report it, and is measured again.
    for _ in 0..5 {
        let found: Vec<Value> = asked
            .iter()
            .flat_map(|line| results(&home, &format!("data.bin --count 0 {line}")))
            .collect();
        asked = found
            .iter()
            .filter(|result| !comes_from_where_it_should(result, counted))
            .map(|result| line_of(&result["cell"]))
            .collect();
        if asked.is_empty() {
            return;
        }
    }
    panic!("warm cells that never came from the cache: {asked:?}");
}

fn line_of(cell: &Value) -> String {
    format!(
        "-b {} -s {} -c warm -t {}",
        cell["backend"].as_str().unwrap(),
        cell["block"],
        cell["threads"]
    )
}

/// Returns false if a warm cell was disturbed, which the result must report.
fn comes_from_where_it_should(result: &Value, counted: bool) -> bool {
    let (cell, trial) = (&result["cell"], &result["trials"][0]);
    if trial["bytes"] == 0 || cell["backend"] == "null" {
        return true;
    }
    let cold = cell["cache"] == "cold";
    assert_eq!(
        (trial["bytes"].as_u64(), trial["hole_bytes"].as_u64()),
        (Some(LEN as u64), Some(0)),
        "{cell}"
    );
    assert!(!warnings(result).contains(&"not-cold"), "{cell}: {}", result["warnings"]);
    if let Some(before) = trial["resident_before"].as_u64() {
        let wanted = if cold { 0..=LEN as u64 / 100 } else { LEN as u64 / 100 * 99..=LEN as u64 };
        assert!(wanted.contains(&before), "{cell}: {before} of {LEN} were resident");
    }
    if cold {
        assert!(!counted || source(result, "device") >= 0.98, "{cell}: {}", result["source"]);
        return true;
    }
    // The file system's metadata blocks, which another program may evict, are some 0.1 % of so
    // small a file: above that, a warning must report it.
    let device = trial["device_bytes"].as_u64().unwrap_or(0);
    assert!(
        device <= LEN as u64 / 1000 || warnings(result).contains(&"not-warm"),
        "{cell}: {trial}"
    );
    device < 64 << 10 && (!counted || source(result, "page_cache") >= 0.98)
}

/// A pass over a cold file by `hot:20/80` visits 37 % of its blocks: 1 - e^-4 of a fifth, and 1 -
/// e^-0.25 of the others. The rest are visited again.
#[test]
fn drawn_blocks_come_from_both() {
    let home = Home::new();
    if !home.on_disk() || !device_counted(&home.file("data.bin", LEN)) {
        return;
    }
    let line = "data.bin -b pread -s 4k -c cold --count 0 --pattern hot:20/80";
    let result = &results(&home, line)[0];
    let trials = result["trials"].as_array().unwrap();
    let sum = |key: &str| trials.iter().map(|trial| trial[key].as_f64().unwrap()).sum::<f64>();
    assert_eq!(sum("bytes"), (LEN * trials.len()) as f64);
    let (cached, fetched) = (source(result, "page_cache"), sum("device_bytes") / sum("bytes"));
    assert!((cached - (1.0 - fetched).max(0.0)).abs() < 0.02, "{cached}, {fetched} fetched");
    assert!(fetched > 0.37 - 0.05, "{fetched} fetched");
    assert!(trials.iter().all(|trial| trial["xor"].is_null() && trial["passes"] == 0));
    let found = warnings(result);
    assert!(!["wrapped", "not-cold"].iter().any(|id| found.contains(id)), "{found:?}");
    if cached > 0.03 {
        assert_eq!(warning(result, "from-cache")["severity"], "note");
    }
}

#[test]
fn dirty_file_becomes_cold() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let counted = device_counted(&home.file("data.bin", LEN));
    let mut dirty = fs::OpenOptions::new().write(true).open(home.path("data.bin")).unwrap();
    dirty.write_all(&data::random(LEN, 9)).unwrap();
    let result = &results(&home, "data.bin -b pread -s 256k -c cold --count 0 --xor")[0];
    assert!(!warnings(result).contains(&"not-cold"), "{}", result["warnings"]);
    // The read returned the data written last.
    assert_eq!(result["trials"][0]["xor"], data::xor(&data::random(LEN, 9)));
    if counted {
        assert!(source(result, "device") >= 0.98, "{}", result["source"]);
    }
}

/// Returns whether the file system reports holes, and the whole file is one.
fn is_all_hole(file: &File) -> bool {
    // SAFETY: lseek touches no memory.
    let data = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_DATA) };
    data == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO)
}

/// Asserts that every cell of a run on a file without stored data reports that.
fn assert_all_holes(home: &Home, line: &str) {
    for result in results(home, line) {
        assert_eq!(source(&result, "hole"), 1.0, "{line}: {} {}", result["cell"], result["source"]);
        assert_eq!(result["trials"][0]["hole_bytes"], result["trials"][0]["bytes"], "{line}");
        let holes = warning(&result, "holes");
        let wanted = if result["cell"]["cache"] == "warm" { "misleading" } else { "wrong" };
        assert_eq!(holes["severity"], wanted, "{line}: {holes}");
    }
}

#[test]
fn a_sparse_file_is_holes() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = File::create(home.path("data.bin")).unwrap();
    file.set_len(LEN as u64).unwrap();
    if !is_all_hole(&file) {
        return skip("no holes on this file system");
    }
    assert_all_holes(&home, "data.bin -b read,mmap,uring -s 4k,1m -c cold,warm");
    assert_all_holes(&home, "data.bin -b pread -s 4k -c asis --pattern random -t 2");
    home.cmd(&format!("--batch data.bin -b read -s 64k -c cold --strict --no-save {QUICK}"))
        .assert()
        .code(4);
}

#[test]
fn half_a_file_is_half_holes() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = File::create(home.path("data.bin")).unwrap();
    file.set_len(LEN as u64).unwrap();
    if !is_all_hole(&file) {
        return skip("no holes on this file system");
    }
    (&file).write_all(&data::random(LEN / 2, 3)).unwrap();
    file.sync_all().unwrap();
    for result in
        results(&home, "data.bin -b pread,mmap -s 64k -c cold --count 0 -t 2 --pattern random")
    {
        assert_eq!(source(&result, "hole"), 0.5, "{}", result["source"]);
        assert_eq!(warning(&result, "holes")["severity"], "wrong");
    }
    // The part in use is stored in full.
    let size = LEN / 2;
    let result =
        &results(&home, &format!("data.bin -b pread -s 64k -c cold --count 0 --size {size}"))[0];
    assert_eq!(source(result, "hole"), 0.0, "{}", result["source"]);
    assert!(!warnings(result).contains(&"holes"), "{}", result["warnings"]);
}

#[test]
fn preallocated_file_counts_as_holes() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(home.path("data.bin"))
        .unwrap();
    // SAFETY: fallocate touches no memory. Not posix_fallocate, which may write zeros.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, LEN as libc::off_t) } != 0
        || !is_all_hole(&file)
    {
        return skip("no unwritten extents on this file system");
    }
    assert_all_holes(&home, "data.bin -b read,mmap -s 64k -c cold,warm --count 0");
    // SAFETY: a private mapping of a file that does not change while it is mapped.
    let map = unsafe { memmap2::Mmap::map(&file).unwrap() };
    assert!(map.iter().all(|byte| *byte == 0));
    assert_all_holes(&home, "data.bin -b read,mmap -s 64k -c asis --count 0");
    drop(map);
    assert_all_holes(&home, "data.bin -b pread -s 64k -c asis,cold --count 0");
}

#[test]
fn tmpfs_is_memory() {
    let home = Home::new();
    let Ok(mut file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return skip("no /dev/shm");
    };
    file.write_all(&data::random(LEN, 1)).unwrap();
    let path = file.path().display();
    for result in results(&home, &format!("{path} -b read,mmap,uring -s 64k -c cold,warm")) {
        if !result["source_reason"].as_str().unwrap().contains("is memory") {
            return skip("/dev/shm is not tmpfs");
        }
        assert_eq!(source(&result, "page_cache"), 1.0);
        let severity = if result["cell"]["cache"] == "cold" { "wrong" } else { "misleading" };
        assert_eq!(warning(&result, "memory")["severity"], severity);
    }
    // Kernels that allow direct I/O there serve it from memory.
    let line = format!("--batch {path} -b pread -s 64k --direct --no-save {QUICK} --format json");
    let output = common::output(&mut home.std(&line));
    match output.status.code() {
        Some(0) => {
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(warning(&document["results"][0], "not-direct")["severity"], "wrong");
        }
        code => {
            assert_eq!((code, output.stdout.is_empty()), (Some(2), true), "{}", stderr_of(&output))
        }
    }
}

/// Not a test: a process that maps a file, touches it, reports that, and ends when its stdin
/// closes.
#[test]
fn hold_a_mapping() {
    let Some(path) = std::env::var_os("TEST_MAPS") else { return };
    // SAFETY: the file does not change while it is mapped.
    let map = unsafe { memmap2::Mmap::map(&File::open(path).unwrap()).unwrap() };
    println!("\nholding {}", map.iter().map(|b| u64::from(*b)).sum::<u64>());
    let _ = std::io::stdin().read(&mut [0]);
    drop(map);
}

#[test]
fn mapped_file_stays_warm() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = home.file("data.bin", LEN);
    let mut holder = Command::new(std::env::current_exe().unwrap());
    holder.args(["--exact", "verdicts::hold_a_mapping", "--nocapture"]).env("TEST_MAPS", &file);
    let (mut holder, keep) = Run::start_with_stdin(holder.stderr(Stdio::null()));
    holder.until("holding");
    let pid = holder.pid().to_string();
    for result in results(&home, "data.bin -b read,mmap -s 64k -c cold --count 0") {
        let not_cold = warning(&result, "not-cold");
        assert_eq!(not_cold["severity"], "wrong");
        assert!(
            not_cold["message"].as_str().unwrap().contains("another process maps it"),
            "{not_cold}"
        );
        assert!(not_cold["evidence"].as_str().unwrap().contains(&pid), "process {pid}: {not_cold}");
        assert!(source(&result, "page_cache") > 0.9, "{}", result["source"]);
    }
    drop(keep);
    holder.end(std::time::Duration::from_secs(60)).expect("the holder ends");
    let result = &results(&home, "data.bin -b read -s 64k -c cold --count 0")[0];
    assert!(!warnings(result).contains(&"not-cold"), "{}", result["warnings"]);
}

#[test]
fn unsynced_write_is_warned() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    for result in
        results(&home, "--op write --size 8m -b read,pread,mmap-copy,uring -s 64k --count 0")
    {
        let warning = warning(&result, "not-on-device");
        assert_eq!(warning["severity"], "note", "{warning}");
        assert!(warning["remedy"].as_str().unwrap().contains("--sync"), "{warning}");
    }
    // Synced data is on the device; counters may be missing, but no data is known to be left in
    // memory.
    for result in results(&home, "--op write --size 8m -b pread,uring -s 64k --count 0 --sync end")
    {
        assert!(!warnings(&result).contains(&"not-on-device"), "{}", result["warnings"]);
    }
    assert!(home.names().is_empty());
}

#[test]
fn excess_populate_is_warned() {
    let home = Home::new();
    home.file("data.bin", LEN);
    for (line, is_warned) in
        [("--pattern random -n 9", true), ("--pattern random -n 0", false), ("-n 9", false)]
    {
        let command = format!(
            "--batch data.bin -b mmap+populate,mmap -s 64k -c warm --no-save {QUICK} {line} --format json"
        );
        let ran = common::output(&mut home.std(&command));
        let document: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        for result in document["results"].as_array().unwrap() {
            let populated = result["cell"]["backend"] == "mmap+populate";
            assert_eq!(
                warnings(result).contains(&"populated-more"),
                is_warned && populated,
                "{line}: {}",
                result["warnings"]
            );
        }
    }
}

#[test]
fn asis_cell_reports_memory() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    home.file("data.bin", LEN);
    with_page_cache(&home.home(), || {
        // The run that calibrates the count has read the file into the cache.
        let result = &results(&home, "data.bin -b pread -s 64k -c asis --count 0")[0];
        assert!(source(result, "page_cache") > 0.9, "{}", result["source"]);
        assert!(warning(result, "from-cache")["message"].as_str().unwrap().contains("page cache"));
    });
}

#[test]
fn changed_cpu_quota_is_noted() {
    let (home, group) = (Home::new(), ControlGroup::make("cpu"));
    // Microseconds of CPU time per 100 ms.
    let limit =
        |group: &ControlGroup, quota: u32| group.set("cpu.cfs_quota_us", &quota.to_string());
    let Some(group) = group.filter(|group| limit(group, 400_000)) else {
        return skip("no control group of CPUs can be made here");
    };
    home.file("data.bin", 1 << 20);
    let mut command = home.std(
        "--batch data.bin -b pread -s 4k -c asis --trials 100000 --trial-time 1ms --budget 10m \
         --no-save --format jsonl",
    );
    let mut run = Run::start(command.stderr(Stdio::piped()));
    assert!(group.set("cgroup.procs", &run.pid().to_string()));
    for quota in [400_000, 300_000] {
        assert!(limit(&group, quota));
        (0..4).for_each(|_| drop(run.until("\"trial\"")));
    }
    run.signal(nix::sys::signal::Signal::SIGINT);
    run.rest();
    run.end(std::time::Duration::from_secs(60)).expect("it ends after a signal");
    let notes = run.stderr();
    assert!(notes.contains("then a quota of 3.00 CPUs"), "{notes}");
}

//! The counted system calls match the trace of strace.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use super::*;
use crate::plan::{Moves, Sync};
use crate::sys::testing as child;

const NAME: &str = "engine::tests::strace::counted_calls_match_strace";
const TRACED: &str = "read,write,pread64,pwrite64,preadv,pwritev,preadv2,pwritev2,lseek,\
                      io_uring_enter,madvise,fadvise64,fdatasync,fsync,msync,getpid,\
                      mmap,munmap,splice,sendfile,copy_file_range,io_submit,io_getevents";

#[test]
fn counted_calls_match_strace() {
    if child::is_child("strace") {
        return jobs();
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    let traced = Command::new("strace")
        .args(["-f", "-y", "-s", "0", "-e", &format!("trace={TRACED}"), "-o"])
        .arg(log.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
        .env("IOTUI_CHILD", "strace")
        .output();
    let Ok(output) = traced else { return child::without("strace") };
    let log = std::fs::read_to_string(log.path()).unwrap();
    if !log.contains("lseek(-1") {
        return child::skip(&format!(
            "strace cannot trace here: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    assert!(output.status.success(), "{output:?}");
    let seen = seen(&log);
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut compared = 0;
    for line in output_text.lines().filter_map(|l| l.split_once("counted ").map(|(_, rest)| rest)) {
        let (index, rest) = line.split_once(' ').unwrap();
        let (calls, label) = rest.split_once(' ').unwrap();
        let (index, calls): (u64, u64) = (index.parse().unwrap(), calls.parse().unwrap());
        assert_eq!(calls, seen.get(&index).copied().unwrap_or(0), "{label}");
        compared += 1;
    }
    assert!(compared > 40, "{output_text}");
}

/// Runs in the child: every backend once in each order, announced to strace by an invalid seek.
fn jobs() {
    let (_file, _, target) = testing::file(span(4097) as usize + 99, 11);
    let mut index = 0u64;
    for choice in choices() {
        let ops = info(&choice)
            .ops
            .iter()
            .filter(|op| info(&choice).moves() == Moves::Data || **op != Op::Write);
        for (op, depth, pattern) in ops.flat_map(|op| {
            depths(&choice).into_iter().flat_map(move |d| PATTERNS.map(|p| (*op, d, p)))
        }) {
            let modes = [
                (511, Sync::None),
                (4097, Sync::End),
                (4097, Sync::Fdatasync),
                (4096, Sync::Msync),
                (4096, Sync::RwfDsync),
            ];
            // Reads have no sync mode: one block size is enough.
            let modes = if op == Op::Write { &modes[..] } else { &modes[..1] };
            for &(block, sync) in modes {
                let job = Job { sync, ..job(&choice, op, pattern, block, 2, depth) };
                if !supported(&target, &job) {
                    continue;
                }
                index += 2;
                let mark = |index| assert!(crate::sys::raw::seek::<false>(-1, index) < 0);
                let ran = run_with(&spec(job.clone(), &target, 2), &mut || mark(index), &|| false)
                    .unwrap();
                mark(index + 1);
                println!("counted {index} {} {op} {}", sums(&ran).syscalls, job.label());
            }
        }
    }
}

/// Returns the calls of the lanes by announcement.
fn seen(log: &str) -> HashMap<u64, u64> {
    let mut seen = HashMap::new();
    let mut now = None;
    let mut maps = Maps::default();
    // stdio's own readings of the count, by thread: the calls after the second one close the
    // stream.
    let mut takings: HashMap<&str, u32> = HashMap::new();
    for line in log.lines() {
        let Some((pid, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(mark) = call.strip_prefix("lseek(-1, ") {
            let index: u64 = mark.split(',').next().unwrap().parse().unwrap();
            now = index.is_multiple_of(2).then_some(index);
            takings.clear();
            maps = Maps::default();
            continue;
        }
        let ours = call
            .split_once('(')
            .is_some_and(|(name, _)| TRACED.split(',').any(|traced| traced == name));
        let mapping =
            ["mmap(", "munmap(", "<... mmap resumed"].iter().any(|name| call.starts_with(name));
        if mapping && !maps.ours(pid, call) {
            continue;
        }
        let advice = call.starts_with("madvise")
            && !["POPULATE", "WILLNEED"].iter().any(|timed| call.contains(timed));
        // The search for the polling thread, the reading of scheduler delays, and what glibc asks
        // before it shrinks the memory of a thread come before and after the window.
        let look =
            ["/comm>", "/schedstat>", "/overcommit_memory>"].iter().any(|of| call.contains(of));
        let Some(index) = now.filter(|_| ours && !advice && !look) else { continue };
        if call.contains("/io>") {
            *takings.entry(pid).or_default() += 1;
        } else if takings.get(pid) != Some(&2) || call.starts_with("fdatasync") {
            *seen.entry(index).or_default() += 1;
        }
    }
    seen
}

/// Blocks mapped and unmapped within a window; any other mapping is a thread's memory, or belongs
/// to the end of a lane.
#[derive(Default)]
struct Maps<'a> {
    /// Threads whose mmap of a file was unfinished when another thread made a call.
    waiting: HashSet<&'a str>,
    addresses: HashSet<&'a str>,
}

impl<'a> Maps<'a> {
    /// Returns whether this line begins a call that maps a block, or that unmaps one.
    fn ours(&mut self, pid: &'a str, call: &'a str) -> bool {
        if let Some(rest) = call.strip_prefix("munmap(") {
            return self.addresses.remove(rest.split(',').next().unwrap_or_default());
        }
        let begins = call.starts_with("mmap(") && call.contains("MAP_SHARED");
        if begins && call.contains("<unfinished") {
            self.waiting.insert(pid);
        } else if begins || (call.starts_with("<... mmap resumed") && self.waiting.remove(pid)) {
            self.addresses.extend(call.rsplit_once(" = ").map(|(_, address)| address.trim()));
        }
        begins
    }
}

//! `--verify` on a disk that loses, misplaces, changes and forgets what is written.

use crate::common::stderr_of;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::fuse::{Fault, FaultyDisk, Round};
use crate::common::{Home, warning};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 256;

/// How a run writes its blocks.
const RUNS: [&str; 4] = [
    "-b pread",
    "-b pread --direct -t 2",
    "-b uring -q 8 --pattern random",
    "-b preadv2 --sync dsync --pattern reverse",
];

/// Draws numbers that look random, and faults.
struct Draw {
    state: u64,
    /// The blocks of the last round: what is wrong there may still be in its place.
    before: BTreeSet<u64>,
}

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        const FACTOR: u64 = 6_364_136_223_846_793_005;
        self.state = self.state.wrapping_mul(FACTOR).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % limit
    }

    /// Draws `each` faults of every kind, in blocks of their own.
    fn round(&mut self, each: usize) -> Round {
        let before = std::mem::take(&mut self.before);
        let mut round = Round::new();
        for _ in 0..each {
            let mut free = || loop {
                let block = self.below(BLOCKS) * BLOCK;
                if !before.contains(&block) && self.before.insert(block) {
                    return block;
                }
            };
            let blocks = [free(), free(), free(), free()];
            let to = free();
            let bit = self.below(BLOCK * 8) as u32;
            let faults = [Fault::Flip(bit), Fault::Lost, Fault::Elsewhere(to), Fault::Old];
            round.extend(blocks.into_iter().zip(faults));
        }
        round
    }
}

/// Numbers of planted and found faults of one kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Found {
    planted: u64,
    found: u64,
    /// Number with the right offset and kind.
    right: u64,
}

/// Flipped bits, lost writes, writes to the wrong block, old versions.
type Table = [Found; 4];

/// Returns the offset to report for a fault, and the expected finding.
fn expected(block: u64, fault: Fault) -> (u64, &'static str) {
    match fault {
        Fault::Flip(bit) => (block + u64::from(bit) / 8, "changed"),
        _ => (block, "older"),
    }
}

/// Adds what a trial found of a round to the table.
fn add(table: &mut Table, round: &Round, damage: &[u64], verified: &Value, label: &str) {
    let first = verified["first"].as_array().unwrap();
    let found: Vec<(u64, &str)> = first
        .iter()
        .map(|bad| (bad["offset"].as_u64().unwrap(), bad["holds"].as_str().unwrap()))
        .collect();
    // Exactly the damaged blocks are found.
    let blocks: Vec<u64> = found.iter().map(|(offset, _)| offset / BLOCK * BLOCK).collect();
    assert_eq!(blocks, damage, "{label}");
    let counts = verified["bad"].as_object().unwrap().values();
    let bad: u64 = counts.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(bad, damage.len() as u64, "{label}");
    for (block, fault) in round {
        let row = match fault {
            Fault::Flip(_) => 0,
            Fault::Lost => 1,
            Fault::Elsewhere(_) => 2,
            Fault::Old => 3,
            other => panic!("{other:?} is an error of a call"),
        };
        table[row].planted += 1;
        table[row].found += u64::from(blocks.contains(block));
        table[row].right += u64::from(found.contains(&expected(*block, *fault)));
        if let Fault::Elsewhere(to) = fault
            && damage.contains(to)
        {
            let there = first.iter().find(|bad| bad["offset"] == *to).unwrap();
            assert_eq!((&there["holds"], &there["of"]), (&"elsewhere".into(), &(*block).into()));
        }
    }
}

/// Plants `each` faults of every kind in each of `rounds` trials, and returns what was found.
fn plant(disk: &FaultyDisk, home: &Home, options: &str, rounds: usize, draw: &mut Draw) -> Table {
    let planned: Vec<Round> = (0..rounds).map(|_| draw.round(3)).collect();
    disk.plan(BLOCK, planned.clone());
    let size = BLOCKS * BLOCK;
    let line = format!(
        "--batch --op write --verify {options} -s {BLOCK} -n 0 --size {size} --trials {rounds} \
         --budget 10m --format json --no-save --dir"
    );
    let mut command = home.std(&line);
    let output = command.arg(disk.path()).output().unwrap();
    let printed = stderr_of(&output);
    // Wrong data is a failure.
    assert_eq!(output.status.code(), Some(1), "{options}: {printed}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &json["results"][0];
    let wrong = warning(result, "not-read-back");
    assert_eq!(wrong["severity"], "wrong");
    let verified = &result["verified"];
    assert_eq!((&verified["complete"], &verified["read_from"]), (&true.into(), &"storage".into()));
    assert_eq!(verified["first"]["round"], 1);
    let (trials, damage) = (result["trials"].as_array().unwrap(), disk.damage());
    assert_eq!((trials.len(), damage.len()), (rounds, rounds), "{options}: {printed}");
    let mut table = Table::default();
    for (index, trial) in trials.iter().enumerate() {
        let label = format!("{options}, round {}", index + 1);
        let found = &trial["evidence"]["verified"];
        add(&mut table, &planned[index], &damage[index], found, &label);
    }
    table
}

#[test]
fn planted_faults_are_found() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let home = Home::new();
    let mut draw = Draw { state: 1, before: BTreeSet::new() };
    let mut all = Table::default();
    for options in RUNS {
        let table = plant(&disk, &home, options, 21, &mut draw);
        for (sum, row) in all.iter_mut().zip(table) {
            sum.planted += row.planted;
            sum.found += row.found;
            sum.right += row.right;
        }
    }
    println!("{:<16} {:>8} {:>8} {:>8}", "fault", "planted", "found", "offset");
    for (name, Found { planted, found, right }) in
        ["flipped bit", "lost write", "wrong block", "old version"].iter().zip(all)
    {
        println!("{name:<16} {planted:>8} {found:>8} {right:>8}");
        assert_eq!((found, right), (planted, planted), "{name}");
    }
    assert!(all.iter().map(|row| row.planted).sum::<u64>() >= 1000);
    assert!(disk.syncs() > 0);
}

#[test]
fn failed_call_is_named() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let home = Home::new();
    for (fault, wanted) in [
        (
            Fault::Refused(libc::ENOSPC),
            ["pwrite(2) of 4096 bytes at offset 40960", "No space left"],
        ),
        (Fault::Refused(libc::EIO), ["pwrite(2) of 4096 bytes at offset 40960", "error"]),
        (Fault::Unreadable, ["pread(2) of ", "to read the data back: Input/output error"]),
        (Fault::Unsynced, ["fdatasync", "Input/output error"]),
    ] {
        disk.plan(BLOCK, [Round::from([(10 * BLOCK, fault)])]);
        let line = format!(
            "--batch --op write --verify -b pread -s {BLOCK} -n 0 --size 1m --trials 1 --budget \
             10m --format json --no-save --dir {}",
            disk.path().display()
        );
        let output = home.std(&line).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{fault:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = json["results"][0]["error"].as_str().unwrap();
        assert!(wanted.iter().all(|wanted| error.contains(wanted)), "{fault:?}: {error}");
    }
}

#[test]
fn a_sound_disk_passes_every_method() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let home = Home::new();
    for options in
        RUNS.into_iter().chain(["-b mmap,mmap-copy --sync msync", "--writes append -b pread"])
    {
        disk.plan(BLOCK, []);
        let line = format!(
            "--batch --op write --verify {options} -s {BLOCK} -n 0 --size 1m --trials 2 --budget \
             10m --format json --no-save --dir {}",
            disk.path().display()
        );
        let json: Value = serde_json::from_str(&home.stdout(&line)).unwrap();
        for result in json["results"].as_array().unwrap() {
            let verified = &result["verified"];
            assert_eq!((&verified["blocks"], &verified["first"]), (&512.into(), &Value::Null));
        }
    }
}

#[test]
fn changed_append_is_found() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let home = Home::new();
    let line = format!(
        "--batch --op write --writes append --xor --direct -b pread -s {BLOCK} -n 0 --size 1m \
         --trials 1 --budget 10m --format json --no-save --dir {}",
        disk.path().display()
    );
    for fault in [Fault::Flip(3), Fault::Unreadable] {
        disk.plan(BLOCK, [Round::from([(10 * BLOCK, fault)])]);
        let output = home.std(&line).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{fault:?}: {output:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let result = &json["results"][0];
        match fault {
            Fault::Flip(_) => assert_eq!(warning(result, "not-read-back")["severity"], "wrong"),
            _ => assert_eq!(
                result["error"],
                "pread(2), to read the data back: Input/output error (os error 5)"
            ),
        }
    }
}

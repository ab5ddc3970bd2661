//! The cost of a thousand ranks to the first: time and memory to plan, gather and merge what they
//! measured.
//!
//! The other ranks are simulated: each reports what the first has measured.

mod common;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::table::{Table, verdict};
use iotui::engine::{Control, Link, Proposal, Started, propose, run_together};
use iotui::plan::{Plan, Settings, preset};
use iotui::record::{Event, MachineEvidence, Trial};

const RANKS: u32 = 1000;
const CELLS: usize = 100;
const TRIALS: u32 = 5;
const MOST_SECONDS: f64 = 1.0;
const MOST_MIB: f64 = 256.0;
const ALL: &str = "backend=pread block-size=4k..400k+4k cache=warm size=1m trial-time=1ms budget=10m \
                   ceilings=never";

/// The first of this many ranks; the others answer as it does.
struct Echo {
    /// The work of rank 0 between a report and the next order.
    merging: Cell<Duration>,
    /// When it has received the reports, until it sends the next order.
    received: Cell<Option<Instant>>,
    /// How often they came.
    gathered: Cell<u32>,
    /// Bytes of the largest gathering.
    largest: Cell<usize>,
}

impl Link for Echo {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        RANKS
    }

    fn node(&self) -> String {
        "node".into()
    }

    fn broadcast(&self, message: Vec<u8>) -> Vec<u8> {
        if let Some(since) = self.received.take() {
            self.merging.set(self.merging.get() + since.elapsed());
        }
        message
    }

    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        // A rank that is ready says so in one byte.
        let reports = message.len() > 1;
        self.largest.set(self.largest.get().max(message.len() * RANKS as usize));
        let all = vec![message; RANKS as usize];
        self.gathered.set(self.gathered.get() + u32::from(reports));
        self.received.set(reports.then(Instant::now));
        all
    }

    fn send(&self, _: u32, _: u64) {}

    fn receive(&self, _: u32) -> u64 {
        0
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

fn main() {
    let dir = tempfile::tempdir_in(".").expect("a folder here");
    let begin = Instant::now();
    let plan = Arc::new(plan(dir.path()));
    let planning = begin.elapsed();
    assert_eq!(plan.cells.len(), CELLS);
    let link = Echo {
        merging: Cell::default(),
        received: Cell::default(),
        gathered: Cell::default(),
        largest: Cell::default(),
    };
    let mut trials: Vec<Arc<Trial>> = Vec::new();
    let before = peak_mib();
    let control = Control::new(&NEVER);
    let mut sink = |event: Event| {
        if let Event::Trial { trial, .. } = event {
            trials.push(trial);
        }
    };
    run_together(&plan, &link, MachineEvidence::default, &control, &mut sink).expect("a run");
    let peak = peak_mib();
    assert_eq!(trials.len(), CELLS * TRIALS as usize);
    assert!(trials.iter().all(|trial| trial.ranks.len() == RANKS as usize));
    // Steps of calibrations are gathered too, and alike.
    let each = link.merging.get().as_secs_f64() / f64::from(link.gathered.get());
    let seconds = planning.as_secs_f64() + each * CELLS as f64;
    println!(
        "\nranks: {RANKS} simulated ranks, {CELLS} cells, {TRIALS} trials of each, gathered {} times; at most {:.1} MiB at once",
        link.gathered.get(),
        link.largest.get() as f64 / f64::from(1 << 20)
    );
    let mut table = Table::new(&["", "", "target", ""]);
    table.add(vec![
        "seconds to plan, and to gather, merge and judge a round of all cells".into(),
        format!("{seconds:.2}"),
        format!("<= {MOST_SECONDS}"),
        verdict(seconds <= MOST_SECONDS),
    ]);
    table.add(vec![
        format!("peak MiB of rank 0 with all trials kept ({before:.0} before)"),
        format!("{peak:.0}"),
        format!("<= {MOST_MIB}"),
        verdict(peak <= MOST_MIB),
    ]);
    table.print();
}

fn plan(dir: &Path) -> Plan {
    let mut settings = Settings::default();
    let trials = format!("trials={TRIALS}");
    for (name, text) in
        ALL.split_whitespace().chain([trials.as_str()]).filter_map(|word| word.split_once('='))
    {
        settings.set(name, text).expect("a setting");
    }
    let presets = [preset("quick").expect("a preset")];
    let ranks = Some(Started { ranks: RANKS, here: 1 });
    let asked = Proposal { dir: Some(dir), ranks, ..Proposal::new(&presets, &settings) };
    propose(&asked).expect("a plan").plan
}

/// Returns the peak resident memory of this process, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

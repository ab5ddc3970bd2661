//! Whether a verdict is ever false.
//!
//! Stacks: makes each stack of `planted/stacks.txt` on this machine, of what a file can lie on, has
//! iotui measure it by each operation, and compares what it says with what is so. They need root
//! and the tools of the file systems; one that cannot be made is left out. Sound ones are measured
//! until 200 runs of them are done (`IOTUI_SOUND_RUNS`). `IOTUI_PROGRAM` is measured with instead
//! of this build.
//!
//! Commits: boots an emulated machine for each plant, a disk or a layer above it that keeps commits
//! or loses them, and compares what iotui says of it in there with what is right.
//!
//! The machines need QEMU, busybox, cpio and mkfs.ext4, and a kernel with its modules
//! (`IOTUI_KERNEL`, or the newest of this system); some plants need dmsetup. QEMU executes their
//! instructions itself (`IOTUI_ACCEL=kvm`: the CPU does). `cargo bench --bench planted -- nvme`
//! makes only the stacks and plants with this in their name.

#[path = "planted/boot.rs"]
mod boot;
mod common;
#[path = "planted/disks.rs"]
mod disks;
#[allow(dead_code, reason = "the tests plan faults")]
#[path = "../tests/common/fuse.rs"]
mod fuse;
#[path = "planted/guest.rs"]
mod guest;
#[path = "planted/helper.rs"]
mod helper;
#[path = "planted/matrix.rs"]
mod matrix;
#[path = "planted/plants.rs"]
mod plants;
#[path = "planted/stacks.rs"]
mod stacks;

use std::path::{Path, PathBuf};

use boot::{Found, Machines};
use common::table::{Table, verdict};
use guest::{Guest, Kernel};
use iotui_engine::sys::testing::skip;
use plants::Plant;

/// Characters of a reason in the table.
const REASON_WIDTH: usize = 124;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if helper::run(&arguments) {
        return;
    }
    // `cargo test --benches` only checks whether it starts.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let names: Vec<&str> =
        names.into_iter().filter(|argument| !argument.starts_with('-')).collect();
    matrix::run(&home.path().join("stacks"), &names);
    commit_in_machines(home.path(), &names);
}

/// Boots the plants and prints what was found.
fn commit_in_machines(home: &Path, names: &[&str]) {
    let chosen = |plant: &&Plant| names.iter().all(|name| plant.name.contains(name));
    if !plants::all().any(|plant| chosen(&plant)) {
        return;
    }
    let Some(tools) = Tools::find() else { return };
    let version = tools.kernel.version();
    let has_mapper = tools.mapper.is_some();
    let machines = tools.machines(home);
    println!("\nplanted: what iotui says of commits in an emulated machine with Linux {version}");
    let mut table = Table::new(&["", "right", "found", "", "reason"]);
    let (mut tally, mut missed) = (Tally::default(), Vec::new());
    for plant in plants::all().filter(chosen) {
        if plant.needs_mapper() && !has_mapper {
            println!("planted: {}: left out, dmsetup is not installed", plant.name);
            continue;
        }
        let found = machines.boot(plant);
        let is_right = found.as_ref().is_ok_and(|found| is_right(plant, found));
        tally.add(plant, &found, is_right);
        let (reach, reason) = match &found {
            Ok(found) => (found.reach.as_str(), found.reason.as_str()),
            Err(error) => ("none", error.as_str()),
        };
        // A bench that is stopped halfway has printed its first rows.
        eprintln!("{}: {reach}, {}", plant.name, verdict(is_right));
        table.add(vec![
            plant.name.into(),
            right(plant),
            reach.into(),
            verdict(is_right),
            cut(reason),
        ]);
        if !is_right {
            missed.push((plant, found.map_or_else(|error| error, |found| found.all)));
        }
    }
    table.print();
    for (plant, found) in missed {
        println!("\nmissed: {}: {found}", plant.name);
    }
    println!("\n{}", tally.line());
}

/// The parts of the emulated machines.
struct Tools {
    kernel: Kernel,
    busybox: PathBuf,
    mkfs: PathBuf,
    mapper: Option<PathBuf>,
}

impl Tools {
    /// Returns `None` if one is missing, and says which.
    fn find() -> Option<Tools> {
        let needed = |name: &str, package: &str| {
            let found = program(name);
            if found.is_none() {
                println!("planted: left out, {name} is not installed (apt-get install {package})");
            }
            found
        };
        needed("qemu-system-x86_64", "qemu-system-x86")?;
        needed("cpio", "cpio")?;
        let kernel = Kernel::find();
        if kernel.is_none() {
            println!(
                "planted: left out, no kernel with modules can be read (apt-get install \
                 linux-image-amd64, or IOTUI_KERNEL=/boot/vmlinuz-...)"
            );
        }
        Some(Tools {
            kernel: kernel?,
            busybox: needed("busybox", "busybox-static")?,
            mkfs: needed("mkfs.ext4", "e2fsprogs")?,
            mapper: program("dmsetup"),
        })
    }

    fn machines(self, home: &Path) -> Machines {
        let own = PathBuf::from(env!("CARGO_BIN_EXE_iotui"));
        let programs = [own, self.busybox, self.mkfs.clone()].into_iter().chain(self.mapper);
        let programs: Vec<PathBuf> = programs.collect();
        let guest = Guest::build(home.join("root"), &self.kernel, &programs);
        Machines::new(home, self.kernel, guest, self.mkfs)
    }
}

/// Finds a program; not every PATH has the administrator's.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns whether verdict and reason are right.
fn is_right(plant: &Plant, found: &Found) -> bool {
    let is_this =
        |(reach, part): &(&str, &str)| *reach == found.reach && found.reason.contains(part);
    plant.allowed.iter().any(is_this)
}

fn right(plant: &Plant) -> String {
    let mut reaches: Vec<&str> = plant.allowed.iter().map(|(reach, _)| *reach).collect();
    reaches.dedup();
    reaches.join(" or ")
}

fn cut(reason: &str) -> String {
    match reason.char_indices().nth(REASON_WIDTH) {
        Some((end, _)) => format!("{}...", &reason[..end]),
        None => reason.into(),
    }
}

/// The number of right verdicts, and the faults of the others.
#[derive(Default)]
struct Tally {
    named: usize,
    unknown: usize,
    /// Disks that say that they have no cache, and lie: iotui says no more than that they say it.
    at_their_word: usize,
    falsely_durable: usize,
    falsely_kept_back: usize,
    wrong_reason: usize,
    without: usize,
}

impl Tally {
    fn add(&mut self, plant: &Plant, found: &Result<Found, String>, is_right: bool) {
        let reach = found.as_ref().map(|found| found.reach.as_str());
        let is_durable = matches!(reach, Ok("flushed" | "written-through" | "no-cache"));
        let is_false = is_durable && !plant.is_durable;
        let count = match reach {
            Err(_) => &mut self.without,
            Ok(_) if is_right && is_false => &mut self.at_their_word,
            Ok("unknown") if is_right => &mut self.unknown,
            Ok(_) if is_right => &mut self.named,
            Ok(_) if is_false => &mut self.falsely_durable,
            Ok("not-reached") if plant.is_durable => &mut self.falsely_kept_back,
            Ok(_) => &mut self.wrong_reason,
        };
        *count += 1;
    }

    fn line(&self) -> String {
        format!(
            "named {}, unknown {}, no cache by a false word {}; falsely durable {} \
             (target 0), falsely kept back {} (target 0), wrong reason {} (target 0), without a \
             verdict {}",
            self.named,
            self.unknown,
            self.at_their_word,
            self.falsely_durable,
            self.falsely_kept_back,
            self.wrong_reason,
            self.without
        )
    }
}

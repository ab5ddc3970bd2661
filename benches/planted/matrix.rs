//! The stacks of this machine: makes and measures each, and prints the matrix.

use std::fs;
use std::path::Path;

use crate::common::table::{Table, verdict};
use crate::stacks::{self, Fault, Found, Stack};

/// Runs of sound stacks in which nothing may be called wrong.
const SOUND_RUNS: usize = 200;

/// Makes the stacks with these names, measures them, and prints the verdicts.
pub fn run(folder: &Path, names: &[&str]) {
    let all = stacks::all();
    let chosen: Vec<&Stack> =
        all.iter().filter(|stack| names.iter().all(|name| stack.name.contains(name))).collect();
    if chosen.is_empty() {
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        println!("planted: stacks that need root are left out");
    }
    let program = crate::common::measured_program();
    let helper = std::env::current_exe().expect("this program");
    let mut found = Vec::new();
    let mut made = 0;
    for stack in &chosen {
        match measure(stack, folder, &program, &helper) {
            Some(more) => {
                made += 1;
                found.extend(more);
            }
            None => continue,
        }
    }
    let rows = found.len();
    let sound: Vec<&Stack> =
        chosen.iter().copied().filter(|stack| stack.is_sound() && !needs_more(stack)).collect();
    let wanted = std::env::var("IOTUI_SOUND_RUNS").ok().and_then(|text| text.parse().ok());
    let wanted = if names.is_empty() { wanted.unwrap_or(SOUND_RUNS) } else { 0 };
    let is_of_sound = |found: &&Found| sound.iter().any(|stack| stack.name == found.stack);
    while found.iter().filter(is_of_sound).count() < wanted {
        let before = found.len();
        for stack in &sound {
            found.extend(measure(stack, folder, &program, &helper).unwrap_or_default());
        }
        if found.len() == before {
            break;
        }
    }
    print(&found[..rows], made);
    let sound: Vec<&Found> = found.iter().filter(is_of_sound).collect();
    println!(
        "{} runs of sound stacks: {} called wrong (target 0)",
        sound.len(),
        sound.iter().filter(|found| found.faults.contains(&Fault::CalledWrong)).count()
    );
}

fn needs_more(stack: &Stack) -> bool {
    stack.needs_root() && !nix::unistd::geteuid().is_root()
}

/// Makes and measures one; says why it could not be made.
fn measure(stack: &Stack, folder: &Path, program: &Path, helper: &Path) -> Option<Vec<Found>> {
    if needs_more(stack) {
        return None;
    }
    fs::create_dir_all(folder).expect("a folder");
    match stack.measure(folder, program, helper) {
        Ok(found) => {
            for one in &found {
                let faults: Vec<&str> = one.faults.iter().map(|fault| fault.name()).collect();
                // A bench that is stopped halfway has printed its first rows.
                eprintln!("{}, {}: {} {}", one.stack, one.operation, one.said, faults.join(", "));
            }
            Some(found)
        }
        Err(why) => {
            println!("planted: {}: left out, {why}", stack.name);
            None
        }
    }
}

fn print(found: &[Found], made: usize) {
    println!("\nplanted: what iotui says of stacks below a file");
    let mut table = Table::new(&["", "", "right", "", "said"]);
    for one in found {
        let faults: Vec<&str> = one.faults.iter().map(|fault| fault.name()).collect();
        let so = if faults.is_empty() { verdict(true) } else { faults.join(", ") };
        table.add(vec![
            one.stack.into(),
            one.operation.into(),
            one.right.into(),
            so,
            one.said.chars().take(150).collect(),
        ]);
    }
    table.print();
    let count = |fault| found.iter().filter(|one| one.faults.contains(&fault)).count();
    let counts: Vec<String> =
        Fault::ALL.iter().map(|fault| format!("{} {}", fault.name(), count(*fault))).collect();
    println!("\n{made} stacks, {} cases: {} (target 0 each)", found.len(), counts.join(", "));
}

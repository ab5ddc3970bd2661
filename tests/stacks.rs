//! The stacks of `benches/planted/stacks.txt` that need no root: no verdict about them is false.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Home, skip};

#[allow(dead_code, reason = "the bench prints the rest")]
#[path = "../benches/planted/stacks.rs"]
mod table;

#[test]
fn captured_stacks_give_true_layers() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let own = Command::new("unshare").args(["-mUr", "true"]).output();
    if !own.is_ok_and(|own| own.status.success()) {
        return skip("unshare(1) may not make a name space of mounts");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_iotui"));
    let mut made = 0;
    let mut wrong = Vec::new();
    for (at, stack) in table::all().iter().enumerate().filter(|(_, stack)| !stack.needs_root()) {
        let folder = home.path(&format!("stack-{at}"));
        fs::create_dir_all(&folder).unwrap();
        match stack.measure(&folder, program, Path::new("false")) {
            Ok(found) => {
                made += 1;
                wrong.extend(found.into_iter().filter(|found| !found.faults.is_empty()));
            }
            Err(why) => skip(&format!("{}: {why}", stack.name)),
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{} leaves something", stack.name);
    }
    assert!(made >= 8, "{made} stacks");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! Helpers shared by the whole-program tests: a separate home on a real disk, and the binary run in
//! it.
#![allow(dead_code, unused_imports, reason = "a bench uses a part of it")]

pub mod browser;
pub mod child;
pub mod data;
pub mod fuse;
pub mod hostile;
pub mod kernel;
pub mod pages;
pub mod pty;
pub mod slow_first;
pub mod source;

pub use child::output;
pub use iotui_engine::sys::testing::{names, skip, with_page_cache, without};

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, Output};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The shortest run that measures something.
pub const QUICK: &str = "--trials 1 --trial-time 1ms --budget 10m";

/// Time limit of a run; one that hangs is killed and fails.
const PATIENCE: Duration = Duration::from_secs(300);

const SCHEMA: &str = include_str!("../../assets/schema/iotui-1.schema.json");

/// Asserts that the document conforms to the schema.
pub fn assert_valid(document: &Value) {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// An empty HOME and a working folder, on a disk if there is one; both are removed on drop.
pub struct Home {
    dir: TempDir,
}

impl Home {
    pub fn new() -> Home {
        Home::beneath(&disk())
    }

    /// Creates them in that folder.
    pub fn beneath(folder: &Path) -> Home {
        let dir = tempfile::Builder::new().prefix("iotui-home-").tempdir_in(folder).unwrap();
        for name in ["home", "data", "work"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Home { dir }
    }

    /// Returns whether it is on a disk; prints a message if not.
    pub fn on_disk(&self) -> bool {
        let disk = is_disk(self.dir.path());
        if !disk {
            skip("no writable folder on a disk");
        }
        disk
    }

    /// Returns HOME itself.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Returns a path in the folder where the binary runs.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    pub fn sessions_dir(&self) -> PathBuf {
        self.dir.path().join("data/iotui/sessions")
    }

    /// Builds an iotui command with these arguments, for tests that watch it run.
    pub fn std(&self, line: &str) -> StdCommand {
        let mut command = StdCommand::new(env!("CARGO_BIN_EXE_iotui"));
        command.args(line.split_whitespace());
        self.bring_in(&mut command);
        command
    }

    /// Has a command run in here.
    pub fn bring_in(&self, command: &mut StdCommand) {
        command
            .current_dir(self.path(""))
            .env_clear()
            .env("HOME", self.home())
            .env("XDG_DATA_HOME", self.dir.path().join("data"))
            .env("LANG", "C.UTF-8")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    }

    /// Builds an iotui command with these arguments, for tests that check its results.
    pub fn cmd(&self, line: &str) -> Command {
        let mut command = Command::from_std(self.std(line));
        command.timeout(PATIENCE);
        command
    }

    /// Returns the stdout of a successful run.
    pub fn stdout(&self, line: &str) -> String {
        let output = self.cmd(line).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("stdout is text")
    }

    /// Returns the JSON of a successful run; adds `--format json`.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.stdout(&format!("{line} --format json")))
            .expect("stdout is JSON")
    }

    /// Returns the lines of a run; adds `--format jsonl`.
    pub fn jsonl(&self, line: &str) -> Vec<Value> {
        let text = self.stdout(&format!("{line} --format jsonl"));
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    /// Creates a file of random bytes in the folder where the binary runs, and syncs it.
    pub fn file(&self, name: &str, len: usize) -> PathBuf {
        let path = self.path(name);
        data::write(&path, &data::random(len, len as u64));
        path
    }

    /// Lists the names in the folder where the binary runs, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        names(&self.path(""))
    }

    /// Lists the saved session files.
    pub fn sessions(&self) -> Vec<PathBuf> {
        names(&self.sessions_dir()).iter().map(|name| self.sessions_dir().join(name)).collect()
    }
}

/// Returns the first of these folders that is on a disk, or cargo's if none is.
fn disk() -> PathBuf {
    let places =
        [PathBuf::from(env!("CARGO_TARGET_TMPDIR")), std::env::temp_dir(), "/var/tmp".into()];
    places.iter().find(|place| is_disk(place)).unwrap_or(&places[0]).clone()
}

fn is_disk(dir: &Path) -> bool {
    let mount = |file| iotui::sys::mounts::mount_of(&file);
    tempfile::tempfile_in(dir).is_ok_and(|file| {
        mount(file).is_ok_and(|m| !m.is_memory() && !m.is_network() && !m.is_fuse())
    })
}

/// Returns `value[key]` of every item.
pub fn each<'a>(items: &'a Value, key: &str) -> Vec<&'a Value> {
    items
        .as_array()
        .unwrap_or_else(|| panic!("no array: {items}"))
        .iter()
        .map(|item| &item[key])
        .collect()
}

/// Returns the ids of the warnings of a result.
pub fn warnings(result: &Value) -> Vec<&str> {
    each(&result["warnings"], "id").into_iter().filter_map(Value::as_str).collect()
}

/// Returns the warning with that id.
pub fn warning<'a>(result: &'a Value, id: &str) -> &'a Value {
    let found = result["warnings"].as_array().unwrap().iter().find(|w| w["id"] == id);
    found.unwrap_or_else(|| panic!("no warning {id} among {:?}", warnings(result)))
}

/// Returns the standard error of a finished program.
pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the standard output of a finished program.
pub fn stdout_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns whether a program can be run here.
pub fn has(program: impl AsRef<OsStr>) -> bool {
    let quiet = || std::process::Stdio::null();
    StdCommand::new(program)
        .arg("--version")
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .status()
        .is_ok()
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

//! The ceilings of this machine, measured in the first runs after a boot and saved in the user's
//! cache folder.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backend::fold;
use crate::engine::measure_ceilings;
use crate::record::Ceilings;
use crate::sys::atomic_file;
use crate::sys::fd::open_regular;
use crate::sys::memory::boot_id;
use crate::sys::scratch::sweep;
use crate::userdata::{Home, create_private_folder};

const FILE: &str = "ceilings.json";

/// The saved ceilings, and the conditions under which they are valid: another boot may be another
/// machine, and fewer CPUs or another iotui run other loops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedCeilings {
    boot: String,
    version: String,
    cpus: usize,
    /// Runs that measured them.
    runs: u32,
    ceilings: Ceilings,
    /// The fastest loop for XORs; empty if the machine was too busy to compare them.
    #[serde(default)]
    xor_loop: String,
    /// The speed of each loop, bytes per second.
    #[serde(default)]
    xor_loops: Vec<(String, f64)>,
}

/// Runs that measure the ceilings: other programs slow down a bare loop, so the best run counts.
const MAX_RUNS: u32 = 3;

/// Returns the best ceilings of the first three runs after this boot. Measures them in up to half a
/// second if this is one of these runs.
pub fn measure_or_load(last_cache: u64) -> Ceilings {
    let measured = || measure_ceilings(last_cache);
    match (Home::Cache.folder(), boot_id()) {
        (Some(folder), Some(boot)) => measure_or_load_in(&folder, boot, measured),
        _ => measured(),
    }
}

/// Returns the ceilings that earlier runs of this boot saved; measures nothing.
pub fn saved_ceilings() -> Option<Ceilings> {
    saved().map(|saved| saved.ceilings)
}

/// Passes on which loop for XORs an earlier run of this boot found to be the fastest, so that this
/// one need not compare them on a stream from memory.
pub fn choose_saved_xor_loop() {
    if let Some(saved) = saved() {
        fold::set_known(&saved.xor_loop, &saved.xor_loops);
    }
}

fn saved() -> Option<SavedCeilings> {
    let (folder, boot) = Home::Cache.folder().zip(boot_id())?;
    read(&folder.join(FILE), &boot)
}

/// Maximum size of the file, bytes; a longer one is not ours.
const MAX_BYTES: u64 = 64 << 10;

fn read(path: &Path, boot: &str) -> Option<SavedCeilings> {
    let mut text = String::new();
    open_regular(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let kept = serde_json::from_str::<SavedCeilings>(&text).ok()?;
    let same = (kept.boot.as_str(), kept.version.as_str(), kept.cpus)
        == (boot, env!("CARGO_PKG_VERSION"), cpus());
    (same && is_valid(&kept)).then_some(kept)
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn measure_or_load_in(folder: &Path, boot: String, measure: impl FnOnce() -> Ceilings) -> Ceilings {
    let path = folder.join(FILE);
    let known = read(&path, &boot);
    let (runs, before, xor_loop) =
        known.map_or_else(Default::default, |kept| (kept.runs, kept.ceilings, kept.xor_loop));
    if runs >= MAX_RUNS && !xor_loop.is_empty() {
        return before;
    }
    let ceilings = if runs < MAX_RUNS { measure().merge_best(&before) } else { before };
    let loops = fold::compare();
    let speeds = loops.speeds.iter().map(|speed| (speed.name.into(), speed.bytes_per_second));
    let saved = SavedCeilings {
        boot,
        version: env!("CARGO_PKG_VERSION").into(),
        cpus: cpus(),
        runs: (runs + 1).min(MAX_RUNS),
        ceilings,
        xor_loop: if loops.is_doubtful { xor_loop } else { loops.fastest.into() },
        xor_loops: speeds.collect(),
    };
    // If this fails, the next run measures again.
    let _ = save(folder, &path, &saved);
    ceilings
}

/// Checks the figures, as a damaged file may contain anything.
fn is_valid(saved: &SavedCeilings) -> bool {
    let speeds = saved.xor_loops.iter().map(|(_, speed)| *speed);
    let mut figures = saved.ceilings.figures().map(|(_, value)| value).chain(speeds);
    // Wide bounds for nanoseconds and bytes per second: no machine is beyond them.
    figures.all(|value| (1e-3..1e18).contains(&value))
}

fn save(folder: &Path, path: &Path, saved: &SavedCeilings) -> std::io::Result<()> {
    create_private_folder(folder)?;
    // Files that a killed process left.
    let _ = sweep(folder);
    atomic_file::replace(path, &serde_json::to_vec(saved)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_boot_has_three_measurements() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("iotui");
        let mut measured = Vec::new();
        for boot in ["a", "a", "a", "a", "b", "a"] {
            measure_or_load_in(&folder, boot.into(), || {
                measured.push(boot);
                Ceilings { copy: Some(1.0), ..Ceilings::default() }
            });
        }
        assert_eq!(measured, ["a", "a", "a", "b", "a"]);
        let known = |boot| read(&folder.join(FILE), boot).and_then(|kept| kept.ceilings.copy);
        assert_eq!((known("a"), known("b")), (Some(1.0), None));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let kept = read(&folder.join(FILE), "a").unwrap();
        assert!(kept.xor_loop.is_empty() || kept.xor_loops.iter().any(|of| of.0 == kept.xor_loop));
    }

    #[test]
    fn best_run_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let run = |copy, nanos| {
            let measured =
                Ceilings { copy: Some(copy), syscall_nanos: Some(nanos), ..Ceilings::default() };
            let kept = measure_or_load_in(home.path(), "a".into(), || measured);
            (kept.copy, kept.syscall_nanos)
        };
        assert_eq!(run(1.0, 100.0), (Some(1.0), Some(100.0)));
        assert_eq!(run(3.0, 120.0), (Some(3.0), Some(100.0)));
        assert_eq!(run(2.0, 90.0), (Some(3.0), Some(90.0)));
        assert_eq!(run(9.0, 9.0), (Some(3.0), Some(90.0)));
    }

    #[test]
    fn damaged_ceilings_are_measured_again() {
        let home = tempfile::tempdir().unwrap();
        fn one() -> Ceilings {
            Ceilings { read: Some(1.0), ..Ceilings::default() }
        }
        let slow = r#"{"boot":"a","version":"x","cpus":1,"ceilings":{"read":-1}}"#;
        for text in ["", "{", "[]", slow] {
            fs::write(home.path().join(FILE), text).unwrap();
            assert_eq!(measure_or_load_in(home.path(), "a".into(), one), one());
        }
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(measure_or_load_in(&file, "a".into(), one), one());
    }

    #[test]
    fn foreign_ceilings_file_never_blocks() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        let pipe = || nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let endless = || std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        for make in [&pipe as &dyn Fn(), &endless] {
            make();
            let found = measure_or_load_in(home.path(), "a".into(), || Ceilings {
                copy: Some(2.0),
                ..Ceilings::default()
            });
            assert_eq!(found.copy, Some(2.0));
            // The directory entry is replaced, and the target of a link stays.
            assert_eq!(read(&path, "a").map(|kept| kept.runs), Some(1));
            fs::remove_file(&path).unwrap();
        }
    }
}

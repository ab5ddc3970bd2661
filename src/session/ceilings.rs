//! The ceilings of this machine, measured once per boot and kept in the user's cache folder.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::home::Home;
use super::store;
use crate::engine::measure_ceilings;
use crate::record::Ceilings;
use crate::sys::memory::boot_id;

const FILE: &str = "ceilings.json";

/// What the figures hold for: another boot may be another machine, and fewer CPUs or another iotui other loops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    boot: String,
    version: String,
    cpus: usize,
    ceilings: Ceilings,
}

/// The ceilings as this boot's first run found them, or measured now: up to half a second.
pub fn of_this_boot(last_cache: u64) -> Ceilings {
    let measured = || measure_ceilings(last_cache);
    match (Home::Cache.folder(), boot_id()) {
        (Some(folder), Some(boot)) => kept_in(&folder, boot, measured),
        _ => measured(),
    }
}

fn kept_in(folder: &Path, boot: String, measure: impl FnOnce() -> Ceilings) -> Ceilings {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
    let now = |ceilings| Kept { boot, version: env!("CARGO_PKG_VERSION").into(), cpus, ceilings };
    let path = folder.join(FILE);
    let kept = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    let wanted = now(kept.as_ref().map(|kept| kept.ceilings).unwrap_or_default());
    if kept.as_ref() == Some(&wanted) && sound(&wanted.ceilings) {
        return wanted.ceilings;
    }
    let measured = Kept { ceilings: measure(), ..wanted };
    // Worth nothing if it fails: the next run measures again.
    let _ = keep(folder, &path, &measured);
    measured.ceilings
}

/// A damaged file may say anything.
fn sound(ceilings: &Ceilings) -> bool {
    ceilings.named().all(|(_, value)| value.is_finite() && value > 0.0)
}

fn keep(folder: &Path, path: &Path, kept: &Kept) -> std::io::Result<()> {
    store::folder_of_ours(folder)?;
    let beside = folder.join(format!(".{FILE}-{}.tmp", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| file.write_all(&serde_json::to_vec(kept)?));
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| drop(fs::remove_file(&beside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_is_measured_once_and_another_one_anew() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("iotui");
        let times = std::cell::Cell::new(0);
        let ask = |boot: &str| {
            kept_in(&folder, boot.into(), || {
                times.set(times.get() + 1);
                Ceilings { copy: Some(f64::from(times.get())), ..Ceilings::default() }
            })
            .copy
        };
        assert_eq!([ask("a"), ask("a"), ask("b"), ask("b"), ask("a")], [Some(1.0), Some(1.0), Some(2.0), Some(2.0), Some(3.0)]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_file_and_a_folder_that_cannot_be_are_measured_over() {
        let home = tempfile::tempdir().unwrap();
        let one = || Ceilings { read: Some(1.0), ..Ceilings::default() };
        for text in ["", "{", "[]", r#"{"boot":"a","version":"x","cpus":1,"ceilings":{"read":-1}}"#] {
            fs::write(home.path().join(FILE), text).unwrap();
            assert_eq!(kept_in(home.path(), "a".into(), one), one());
        }
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(kept_in(&file, "a".into(), one), one());
    }
}

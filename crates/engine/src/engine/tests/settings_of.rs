//! The way back from plans to the settings that make them.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::catalog::infos;
use crate::engine::{Proposal, propose};
use crate::experiment::settings_of;
use crate::plan::{Job, PRESETS, Plan, Preset, Settings, preset};

/// Plans a preset on a file, or on a scratch file in the folder; `None` without cells.
fn planned(preset: &Preset, settings: &Settings, file: Option<&Path>, dir: &Path) -> Option<Plan> {
    let proposal = Proposal {
        file,
        dir: Some(dir).filter(|_| file.is_none()),
        ..Proposal::new(std::slice::from_ref(preset), settings)
    };
    propose(&proposal).ok().map(|proposed| proposed.plan).filter(|plan| !plan.cells.is_empty())
}

/// Returns what was requested.
fn cells(plan: &Plan) -> HashSet<Job> {
    plan.cells.iter().chain(plan.skipped.iter().map(|skipped| &skipped.cell)).cloned().collect()
}

/// Returns what was requested, with the number of each span, the smallest first, in place of its
/// bytes: of a share of the free memory they are not the same twice.
fn cells_of_shares(plan: &Plan) -> HashSet<Job> {
    let cells = cells(plan);
    let spans: BTreeSet<u64> = cells.iter().map(|job| job.span).collect();
    let number = |job: &Job| spans.iter().position(|span| *span == job.span).unwrap() as u64;
    cells.iter().map(|job| Job { span: number(job), ..job.clone() }).collect()
}

const LINES: [&str; 16] = [
    "",
    "block-size=4k,1m cache=warm",
    "backend=read,seek",
    "threads=1,2 pattern=random trials=3",
    "size=64k,1m budget=9s trial-time=20ms",
    "op=write sync=fsync size=1m",
    "op=write sync=fdatasync,dsync sync-every=1,4 size=1m",
    "until=3 rated=2g",
    "until=answer budget=9s",
    "until=steady budget=9s",
    "backend=pread,uring depth=1,8 direct=true",
    "mix=70 size=1m",
    "op=write verify=true compressible=50 size=1m",
    "rate=1k,2k",
    "think=1ms",
    "block-size=4k latency-target=p99<5ms",
];

#[test]
fn plans_keep_their_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bin");
    std::fs::write(&file, vec![7; 9 << 20]).unwrap();
    for (id, _) in PRESETS {
        let preset = preset(id).unwrap();
        for line in LINES {
            let given = Settings::from_words(line);
            let Some(plan) = planned(&preset, &given, Some(&file), folder.path()) else { continue };
            // An experiment that picks a method determines its cells again.
            if plan.pick {
                continue;
            }
            let found = settings_of(&plan, &preset, &infos());
            for name in ["backend", "block-size", "cache", "depth", "mix", "op", "threads"] {
                assert_eq!(found.text(name), given.text(name), "{name} of {id} {line:?}");
            }
        }
    }
}

#[test]
fn older_plans_recover_their_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bin");
    std::fs::write(&file, vec![7; 9 << 20]).unwrap();
    let mut made = 0;
    for (id, _) in PRESETS {
        let preset = preset(id).unwrap();
        for (line, file) in LINES.iter().flat_map(|line| [(line, Some(&*file)), (line, None)]) {
            let Some(before) = planned(&preset, &Settings::from_words(line), file, folder.path())
            else {
                continue;
            };
            // An experiment that picks a method determines its cells again.
            if before.pick && !line.is_empty() {
                continue;
            }
            let before = Plan { settings: None, ..before };
            let found = settings_of(&before, &preset, &infos());
            let context = format!("{id} {line:?} became {:?}", found.argv());
            let has_shares = preset.parts().iter().any(|part| part.memory_share.is_some());
            let after = match planned(&preset, &found, file, folder.path()) {
                Some(after) => after,
                // A share shrinks to fit the disk, a number of bytes does not.
                None if has_shares => continue,
                None => panic!("no plan: {context}"),
            };
            let of = if has_shares { cells_of_shares } else { cells };
            let (had, has) = (of(&before), of(&after));
            let other = had.symmetric_difference(&has).map(|job| job.label());
            let other: Vec<String> = other.take(3).collect();
            assert!(other.is_empty(), "{context}: {other:?}");
            let once = |plan: &Plan| {
                (
                    (plan.trials, plan.until, plan.steady, plan.settle),
                    plan.budget,
                    plan.rated,
                    plan.ceilings,
                    plan.fitted,
                    plan.latency_target.clone(),
                )
            };
            assert_eq!(once(&after), once(&before), "{context}");
            // A scratch file has the size that it had, a share of the memory as many bytes.
            let sized = before.target.is_ours() || has_shares;
            assert!(!line.is_empty() || sized || found == Settings::default(), "{context}");
            made += 1;
        }
    }
    assert!(made > 100, "{made} plans");
}

#[test]
fn unexpressible_cells_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bin");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let quick = preset("quick").unwrap();
    let mut before =
        planned(&quick, &Settings::from_words("backend=read,mmap"), Some(&file), folder.path())
            .unwrap();
    // A diagonal, as a preset of somebody else may have it.
    before.cells.retain(|job| (job.backend.id == "read") == (job.block == 4096));
    let found = settings_of(&before, &quick, &infos());
    let after = planned(&quick, &found, Some(&file), folder.path()).unwrap();
    assert!(cells(&before).is_subset(&cells(&after)), "{:?}", found.argv());
}

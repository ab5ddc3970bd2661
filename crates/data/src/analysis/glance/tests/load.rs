use std::sync::Arc;

use super::*;
use crate::plan::{ListedFile, TargetSpec};

const MIB: u64 = 1 << 20;

/// Returns a result whose trials read from the disk in requests of this size.
fn loaded(backend: &str, cache: Cache, gib: f64, request: u64) -> CellResult {
    let mut result = at(backend, MIB, cache, gib);
    for trial in &mut result.trials {
        let trial = Arc::make_mut(trial);
        let bytes = if cache == Cache::Cold { trial.bytes } else { 0 };
        trial.evidence.disk_read_bytes = Some(bytes);
        trial.evidence.disk_requests = Some(bytes / request).into();
    }
    result
}

/// Returns the glance of results of a list of 4 files of 1 GiB.
fn glance_of(mut cells: Vec<CellResult>) -> Glance {
    let file = |n: u64| ListedFile { path: format!("{n}.bin").into(), size: 1 << 30 };
    let mut session = sessions::session(0);
    session.plan.target = TargetSpec::Files {
        dir: "/models".into(),
        files: (0..4).map(file).collect(),
        size: 4 << 30,
    };
    cells.iter_mut().for_each(|result| result.cell.span = 4 << 30);
    session.plan.cells = cells.iter().map(|result| result.cell.clone()).collect();
    glance(&session, &cells, &[], &crate::analysis::answer(&cells))
}

#[test]
fn loads_are_compared_with_a_mapping() {
    let board = glance_of(vec![
        loaded("mmap", Cache::Cold, 1.0, 64 << 10),
        loaded("mmap", Cache::Warm, 8.0, 64 << 10),
        loaded("pread", Cache::Cold, 2.0, MIB),
        loaded("pread", Cache::Warm, 6.0, MIB),
    ])
    .board
    .unwrap();
    assert_eq!(board.title, "loading 4 files (4 GiB) with a cold cache takes at best");
    assert_eq!((board.number.as_str(), board.unit.as_str()), ("2.00", "s"));
    assert_eq!(board.beside, ["2.00 GiB/s by pread at 1 MiB"]);
    assert_eq!(
        board.facts,
        [
            "it is 2.0x as fast as mmap (1.00 GiB/s): 4.09 k requests of 1 MiB in place of 65.5 k \
             requests of 64 KiB",
            "the second load comes from the page cache at 8.00 GiB/s: 4.0x as fast",
        ]
    );
}

#[test]
fn only_cold_loads_have_a_time() {
    let warm = glance_of(vec![loaded("pread", Cache::Warm, 6.0, MIB)]);
    assert!(warm.board.is_none_or(|board| !board.title.starts_with("loading")));
    // One file is measured as ever.
    let cold = [loaded("pread", Cache::Cold, 1.0, MIB)];
    assert!(of(&cold).board.is_none_or(|board| !board.title.starts_with("loading")));
}

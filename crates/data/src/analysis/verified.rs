//! Results of reading blocks back (`--verify`).

use std::sync::Arc;

use crate::analysis::cell_result::{CellResult, FirstBad, VerifiedOf};
use crate::record::{BadBlocks, Trial, Verified};
use crate::units::show_bytes;

/// Sums up the trials of a cell; `None` if nothing was read back.
pub fn verified(trials: &[Arc<Trial>]) -> Option<VerifiedOf> {
    let mut all: Vec<(u32, u64, &Verified)> = Vec::new();
    for trial in trials {
        if let Some(verified) = trial.evidence.verified.as_deref() {
            all.push((trial.round, trial.evidence.lane_nanos, verified));
        }
    }
    let sum = |get: fn(&Verified) -> u64| {
        all.iter().fold(0u64, |sum, (.., of)| sum.saturating_add(get(of)))
    };
    let mut bad = BadBlocks::default();
    all.iter().for_each(|(.., of)| bad.add(&of.bad));
    let nanos: Vec<f64> = all.iter().map(|(.., of)| of.nanos as f64).collect();
    let ran: f64 = all.iter().map(|(_, nanos, _)| *nanos as f64).sum();
    let first = all.iter().find_map(|(round, _, of)| {
        of.first.first().map(|block| FirstBad { round: *round, block: *block })
    });
    let read_from = all.iter().map(|(.., of)| of.read_from()).max()?;
    let through = all.iter().find(|(.., of)| of.read_from() == read_from);
    Some(VerifiedOf {
        trials: all.len() as u64,
        blocks: sum(|of| of.blocks),
        bytes: sum(|of| of.bytes),
        complete: all.iter().all(|(.., of)| of.is_complete()),
        read_from,
        through: through.map_or(String::new(), |(.., of)| of.through.clone()),
        bad,
        first,
        nanos: crate::stats::median(&nanos)?,
        stamp_share: if ran > 0.0 { sum(|of| of.stamp_nanos) as f64 / ran } else { 0.0 },
    })
}

impl VerifiedOf {
    /// Returns whether a block does not hold what was written.
    pub fn is_bad(&self) -> bool {
        self.bad.total() > 0
    }

    /// Returns how it was read back, to follow "was" or a comma.
    pub fn describe_reading(&self) -> String {
        self.read_from.describe(&self.through)
    }

    /// Describes the outcome in a sentence: `all 25600 blocks (100 MiB) hold what was written`.
    pub fn describe(&self) -> String {
        let part = if self.complete { "" } else { "; the run ended before the rest was compared" };
        let (blocks, bytes) = (self.blocks, show_bytes(self.bytes));
        match self.first {
            None => format!("all {blocks} blocks ({bytes}) hold what was written{part}"),
            Some(FirstBad { round, block }) => format!(
                "of {blocks} blocks ({bytes}) {}: the first at {}, with {}, in trial \
                 {round}{part}",
                self.bad.describe(),
                block.place(),
                block.describe()
            ),
        }
    }
}

/// Returns the sentences of an answer about data that was read back; `None` where none was.
pub fn describe_verified(results: &[CellResult]) -> Option<String> {
    let all: Vec<&VerifiedOf> = results.iter().filter_map(|r| r.verified.as_ref()).collect();
    let from = all.iter().max_by_key(|of| of.read_from)?;
    let blocks: u64 = all.iter().map(|of| of.blocks).sum();
    let bad: Vec<&CellResult> =
        results.iter().filter(|r| r.verified.as_ref().is_some_and(VerifiedOf::is_bad)).collect();
    Some(match bad.as_slice() {
        [] => format!(
            "All {blocks} written blocks that were compared hold what was written, {}.",
            from.describe_reading()
        ),
        [first, ..] => format!(
            "Written data is wrong in {} of {} cells: in {}, {}.",
            bad.len(),
            all.len(),
            first.cell.label(),
            first.verified.as_ref().map_or(String::new(), |of| of.describe())
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::result;
    use crate::plan::{Cache, Job, Op};
    use crate::record::{BadBlock, Evidence, Found, ReadFrom};
    use crate::session::testing::job;

    fn cell(trials: &[(u64, Option<u64>)]) -> CellResult {
        let job = Job { op: Op::Write, ..job("pread", 4096, Cache::AsIs) };
        let trial = |(round, (bad, device)): (usize, &(u64, Option<u64>))| {
            let mut verified = Verified {
                written: 40_960,
                bytes: 40_960,
                blocks: 10,
                left: Some(0),
                device_bytes: *device,
                nanos: 7,
                stamp_nanos: 5,
                ..Verified::default()
            };
            (0..*bad).for_each(|at| verified.add(BadBlock::new(at * 4096, None, Found::Zeros)));
            let evidence = Evidence {
                verified: Some(Box::new(verified)),
                lane_nanos: 100,
                ..Evidence::default()
            };
            let round = round as u32 + 1;
            Trial { round, bytes: 40_960, ops: 10, nanos: 100, evidence, ..Trial::default() }.into()
        };
        result(&job, trials.iter().enumerate().map(trial).collect(), None, None)
    }

    #[test]
    fn the_least_certain_trial_decides() {
        let of = cell(&[(0, Some(40_960)), (2, Some(40_960)), (1, Some(0))]).verified.unwrap();
        assert_eq!((of.trials, of.blocks, of.bad.zeros, of.complete), (3, 30, 3, true));
        assert_eq!(of.read_from, ReadFrom::Storage);
        assert_eq!(of.first.map(|first| (first.round, first.block.offset)), Some((2, 0)));
        assert!((of.stamp_share - 0.05).abs() < 1e-9);
        assert_eq!(
            of.describe(),
            "of 30 blocks (120 KiB) 3 hold zeros: the first at offset 0, with zeros, in trial 2"
        );
        let read =
            result(&job("pread", 4096, Cache::AsIs), vec![Trial::default().into()], None, None);
        assert_eq!(
            (read.verified.clone(), describe_verified(std::slice::from_ref(&read))),
            (None, None)
        );
    }

    #[test]
    fn answers_name_data_read_back() {
        let good = cell(&[(0, Some(40_960))]);
        assert_eq!(
            describe_verified(&[good.clone(), good.clone()]).unwrap(),
            "All 20 written blocks that were compared hold what was written, read back from the \
             device."
        );
        let bad = describe_verified(&[good, cell(&[(1, None)])]).unwrap();
        assert!(bad.starts_with("Written data is wrong in 1 of 2 cells: in pwrite "), "{bad}");
    }
}

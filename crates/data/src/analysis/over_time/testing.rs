//! Sessions of one long trial.

use std::sync::Arc;

use crate::analysis::CellResult;
use crate::analysis::answer::testing::cell;
use crate::plan::{Cache, Job, Op};
use crate::record::{LatencyLog, LogEntry, Rounds};
use crate::session::Session;
use crate::session::testing::job;
use crate::stats::Summary;

/// Returns a session whose only trial looked for a steady state over rounds of a tenth of it,
/// and moved these MiB in each tenth of a second.
pub fn long_session(mib: &[u64]) -> (Session, Vec<CellResult>) {
    let (mut session, mut results) = session(mib, Op::Write);
    session.plan.steady = true;
    let in_rounds = |mib: &[u64]| mib.iter().sum::<u64>() << 20;
    let each = (mib.len() / 10).max(1);
    let bytes: Vec<u64> = mib.chunks_exact(each).map(in_rounds).collect();
    let (nanos, ops) = (each as u64 * LatencyLog::WIDTH, vec![50; bytes.len()]);
    let times = vec![nanos; bytes.len()];
    let rounds = Rounds { planned: nanos, nanos: times, bytes, ops };
    let lasting = Summary::from_values(&rounds.last_throughputs()).unwrap();
    results[0].throughput.as_mut().unwrap().summary = lasting;
    let trial = Arc::make_mut(&mut results[0].trials[0]);
    trial.evidence.rounds = Some(Box::new(rounds));
    (session, results)
}

/// Returns a session whose only trial moved these MiB in each tenth of a second.
pub fn session(mib: &[u64], op: Op) -> (Session, Vec<CellResult>) {
    let mut log = LatencyLog::new(1);
    for (index, mib) in (0..).zip(mib) {
        log.add(LogEntry { index, ops: *mib, bytes: mib << 20, ..LogEntry::default() });
    }
    let job = Job { op, ..job("pread", 1 << 20, Cache::AsIs) };
    let mut result = cell(job.clone(), 1.0, 0.0, 1);
    let trial = Arc::make_mut(&mut result.trials[0]);
    trial.nanos = mib.len() as u64 * LatencyLog::WIDTH;
    trial.bytes = mib.iter().sum::<u64>() << 20;
    let mut session = crate::session::testing::session(1);
    session.latencies = log.encode(trial.cell, trial.round).into_iter().map(Into::into).collect();
    session.trials = result.trials.clone();
    (session, vec![result])
}

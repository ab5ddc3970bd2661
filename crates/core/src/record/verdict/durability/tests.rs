mod planted;
mod planted_layers;

use self::planted::PLANTED;
use super::*;
use crate::plan::Sync;
use crate::record::verdict::testing::{Case, committed};

fn found(case: &Case) -> Durability {
    durability(&case.evidence()).unwrap()
}

#[test]
fn planted_faults_are_found() {
    for (name, plant, reach, reason) in PLANTED.iter().chain(planted_layers::PLANTED) {
        let mut case = committed();
        plant(&mut case);
        let found = found(&case);
        assert_eq!(found.reach, *reach, "{name}: {}", found.reason);
        assert!(found.reason.contains(reason), "{name}: {}", found.reason);
        let warned = case.warnings().iter().any(|warning| warning.id == "not-durable");
        assert_eq!(warned, *reach == Reach::NotReached && !case.target.memory, "{name}");
    }
}

#[test]
fn figures_are_per_commit_or_byte() {
    let Durability { flushes, flush_nanos, amplification, .. } = found(&committed());
    assert_eq!((flushes, flush_nanos), (Some(1.0), Some(300_000.0)));
    assert!((amplification.unwrap() - 1.1).abs() < 1e-6);
}

#[test]
fn only_commits_are_judged() {
    let mut case = committed();
    case.job.sync = Sync::End;
    assert_eq!(durability(&case.evidence()), None);
    let mut case = committed();
    case.target.commit_path = None;
    assert_eq!(durability(&case.evidence()), None);
    let mut case = committed();
    case.commits = None;
    assert_eq!(durability(&case.evidence()), None);
}

#[test]
fn names_are_those_of_files() {
    for reach in Reach::ALL {
        let text = serde_json::to_string(&reach).unwrap();
        assert_eq!(text, format!("\"{}\"", reach.name()));
    }
}

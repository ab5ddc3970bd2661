//! Shared helpers of the doctor's tests.

use super::{CHECKS, Facts, Planned};
use crate::facts::{Host, TargetFacts};
use crate::plan::{Cache, Choice, Info, Job, Op, Plan, TargetSpec};
use crate::record::Finding;

pub fn facts_of<'a>(
    host: &'a Host,
    target: Option<&'a TargetFacts>,
    plan: Option<&'a Plan>,
) -> Facts<'a> {
    Facts { host, target, plan: plan.map(planned) }
}

/// The backends used by the tests of checks.
static INFOS: [&Info; 1] = [&Info {
    id: "uring",
    kernel_switch: Some("kernel.io_uring_disabled"),
    ..Info::COPIES_BY_CALL
}];

pub fn planned(plan: &Plan) -> Planned<'_> {
    Planned { plan, infos: &INFOS }
}

/// Runs the check with this id.
pub fn check(
    id: &str,
    host: &Host,
    target: Option<&TargetFacts>,
    plan: Option<&Plan>,
) -> Option<Finding> {
    let check =
        CHECKS.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no check {id}"));
    let finding = (check.check)(&facts_of(host, target, plan));
    if let Some(finding) = &finding {
        assert!(
            ![&finding.message, &finding.evidence, &finding.remedy.text]
                .iter()
                .any(|text| text.is_empty() || text.contains('\n')),
            "{finding:?}"
        );
    }
    finding
}

/// Returns a plan with one cell that reads 1 GiB cold in 4 KiB blocks; `words` modify it: a
/// backend, `cold|warm|asis`, `direct`, `write`, `read`.
pub fn plan(words: &[&str]) -> Plan {
    let mut job = Job {
        count: None,
        span: 1 << 30,
        cache: Cache::Cold,
        ..Job::plain(Choice::parse("read").unwrap(), Op::Read)
    };
    for word in words {
        match *word {
            "direct" => (job.direct, job.cache) = (true, Cache::AsIs),
            word if word.parse::<Cache>().is_ok() => job.cache = word.parse().unwrap(),
            word if word.parse::<Op>().is_ok() => job.op = word.parse().unwrap(),
            word => job.backend = Choice::parse(word).unwrap(),
        }
    }
    Plan {
        cells: vec![job],
        seed: 1,
        ..Plan::plain("sweep", TargetSpec::File { path: "f".into(), size: 1 << 30 })
    }
}

//! Speed ratios of the same cells on several targets that one run measured in the same rounds.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::ratio::{Finding, times_as_fast};
use crate::analysis::CellResult;
use crate::plan::{Cache, Job, Op, target_name};
use crate::stats::Ratio;

/// The cells of one kind on a target, compared with the same cells on the first target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetRatio {
    /// The letter of the target.
    pub target: String,
    /// The letter of the target it is compared with.
    pub base: String,
    pub op: Op,
    pub cache: Cache,
    /// The number of cells that both have.
    pub cells: usize,
    /// The geometric mean of the ratios of their medians, with its 95 % interval.
    #[serde(flatten)]
    pub ratio: Ratio,
}

/// Compares each further target with the first, for each operation and cache state.
pub fn compare_targets(results: &[CellResult]) -> Vec<TargetRatio> {
    let sound = || results.iter().filter(|result| result.is_sound());
    let first: HashMap<&Job, &CellResult> = sound()
        .filter(|result| result.cell.target == Some(0))
        .map(|result| (&result.cell, result))
        .collect();
    let mut groups: BTreeMap<(u8, Op, Cache), Vec<Ratio>> = BTreeMap::new();
    for result in sound() {
        let Some(target) = result.cell.target.filter(|target| *target > 0) else { continue };
        let base = first.get(&Job { target: Some(0), ..result.cell.clone() });
        let ratio = base.and_then(|base| result.ratio_to(base));
        groups.entry((target, result.cell.op, result.cell.cache)).or_default().extend(ratio);
    }
    let compare = |((target, op, cache), ratios): (_, Vec<Ratio>)| {
        let (target, base) = (target_name(target), target_name(0));
        let ratio = Ratio::mean(&ratios).filter(|_| !ratios.is_empty())?;
        Some(TargetRatio { target, base, op, cache, cells: ratios.len(), ratio })
    };
    groups.into_iter().filter_map(compare).collect()
}

/// Returns `B reads cold blocks 1.31x [1.27-1.35] as fast as A; no difference between C and A in
/// cold or warm reads.`
pub fn describe_targets(ratios: &[TargetRatio]) -> Option<String> {
    let found = |finding| {
        let of_it = |found: &&TargetRatio| Finding::of(&found.ratio) == finding;
        ratios.iter().filter(of_it).collect::<Vec<_>>()
    };
    let mut clauses: Vec<String> = found(Finding::Differs).into_iter().map(describe).collect();
    let alike = describe_pairs(&found(Finding::Alike));
    clauses.extend(alike.map(|pairs| format!("no difference {pairs}")));
    let open = describe_pairs(&found(Finding::Open));
    clauses.extend(open.map(|pairs| format!("no difference shows {pairs}")));
    let mut text = format!("{}.", clauses.join("; "));
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    (!clauses.is_empty()).then_some(text)
}

/// Returns `between B and A in cold or warm reads, nor between C and A in cold reads`.
fn describe_pairs(ratios: &[&TargetRatio]) -> Option<String> {
    let of_targets = ratios.chunk_by(|one, next| one.target == next.target);
    let pairs: Vec<String> = of_targets
        .map(|of_one| {
            let TargetRatio { target, base, .. } = of_one[0];
            format!("between {target} and {base} in {}", join_deeds(of_one))
        })
        .collect();
    (!pairs.is_empty()).then(|| pairs.join(", nor "))
}

/// Returns `cold or warm reads`, or `warm reads or writes`.
fn join_deeds(ratios: &[&TargetRatio]) -> String {
    let of_ops = ratios.chunk_by(|one, next| one.op == next.op);
    let deeds: Vec<String> = of_ops
        .map(|of_one| {
            let states: Vec<&str> = of_one.iter().filter_map(|found| state(found.cache)).collect();
            let deeds = match of_one[0].op {
                Op::Read => "reads",
                Op::Write => "writes",
                Op::Seek => "seeks",
            };
            match states.is_empty() {
                true => deeds.to_string(),
                false => format!("{} {deeds}", states.join(" or ")),
            }
        })
        .collect();
    deeds.join(" or ")
}

fn state(cache: Cache) -> Option<&'static str> {
    match cache {
        Cache::Cold => Some("cold"),
        Cache::Warm => Some("warm"),
        Cache::AsIs => None,
    }
}

fn describe(found: &TargetRatio) -> String {
    let verbs = match found.op {
        Op::Read => ["reads ", "read "],
        Op::Write => ["writes ", "wrote "],
        Op::Seek => ["seeks in ", "sought in "],
    };
    let what = state(found.cache).map_or("blocks".into(), |state| format!("{state} blocks"));
    let verbs = verbs.map(|verb| format!("{verb}{what}"));
    let verbs = verbs.each_ref().map(String::as_str);
    times_as_fast((&found.target, &found.base), &found.ratio, verbs, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::testing::at;

    fn on(target: u8, cache: Cache, rate: f64) -> CellResult {
        let mut result = at("read", 4096, cache, rate);
        result.cell.target = Some(target);
        result
    }

    #[test]
    fn targets_are_compared_by_cache_state() {
        let results = [
            on(0, Cache::Cold, 1.0),
            on(1, Cache::Cold, 1.3),
            on(0, Cache::Warm, 5.0),
            on(1, Cache::Warm, 5.0),
            on(2, Cache::Warm, 2.5),
        ];
        let found = compare_targets(&results);
        let kinds: Vec<(&str, Cache)> =
            found.iter().map(|found| (found.target.as_str(), found.cache)).collect();
        assert_eq!(kinds, [("B", Cache::Cold), ("B", Cache::Warm), ("C", Cache::Warm)]);
        assert!((found[0].ratio.ratio - 1.3).abs() < 1e-9);
        let text = describe_targets(&found).unwrap();
        assert!(text.starts_with("B reads cold blocks 1.3x ["), "{text}");
        assert!(text.contains("] as fast as A; A reads warm blocks 2.0x ["), "{text}");
        assert!(
            text.ends_with("] as fast as C; no difference between B and A in warm reads."),
            "{text}"
        );
        let text = describe_targets(&found[1..2]).unwrap();
        assert_eq!(text, "No difference between B and A in warm reads.");
    }

    #[test]
    fn targets_without_difference_share_a_clause() {
        let pair = |target: &str, op, cache, ratio| TargetRatio {
            target: target.into(),
            base: "A".into(),
            op,
            cache,
            cells: 1,
            ratio,
        };
        let open = Ratio { ratio: 1.02, low: Some(0.8), high: Some(1.3) };
        let alike = Ratio { ratio: 1.0, low: Some(0.99), high: Some(1.01) };
        let found = [
            pair("B", Op::Read, Cache::Cold, open),
            pair("B", Op::Read, Cache::Warm, open),
            pair("B", Op::Write, Cache::AsIs, open),
            pair("C", Op::Read, Cache::Cold, open),
            pair("C", Op::Read, Cache::Warm, alike),
            pair("D", Op::Read, Cache::Warm, alike),
        ];
        assert_eq!(
            describe_targets(&found).unwrap(),
            "No difference between C and A in warm reads, nor between D and A in warm reads; no \
             difference shows between B and A in cold or warm reads or writes, nor between C and A \
             in cold reads."
        );
    }

    #[test]
    fn failed_cells_are_not_compared() {
        let mut failed = on(1, Cache::Warm, 5.0);
        failed.error = Some("the file ends here".into());
        assert_eq!(describe_targets(&compare_targets(&[on(0, Cache::Warm, 5.0), failed])), None);
    }

    #[test]
    fn one_target_is_compared_with_nothing() {
        assert_eq!(describe_targets(&compare_targets(&[at("read", 4096, Cache::Cold, 1.0)])), None);
    }
}

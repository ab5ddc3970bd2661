//! The variants of one run compared: their trials alternated, so what the machine does by itself
//! affects all alike.

use super::drift::{Steps, Widen};
use super::matching::{list_alone, pair_up};
use super::pair::MeasuredSides;
use super::{Comparison, LoneCell, Outcome, Pair, SCHEMA, Side, Versus, letter, pair, side, text};
use crate::analysis::{CellResult, results};
use crate::plan::{Job, Variant};
use crate::session::Session;
use crate::stats::paired;
use crate::text::clean_text;

const ALTERNATED: &str =
    "Their trials alternated, so what the machine does by itself affects both.";

/// Compares each further variant of a run with the first; `None` where it has no variants.
pub fn compare_variants(session: &Session) -> Option<Comparison> {
    let (base, others) = session.plan.variants.split_first()?;
    let results = results(session);
    let measured = results_in(base, &results);
    let versus = |(index, variant): (usize, &Variant)| {
        let letter = letter(index + 1);
        let (cells, alone) = match_cells(&measured, &results_in(variant, &results), &letter);
        let mut text = text::text(&letter, &cells, alone.len());
        if !cells.is_empty() {
            text = format!("{text} {ALTERNATED}");
        }
        Versus {
            side: side_of(session, variant, letter),
            text: clean_text(&text),
            differences: Vec::new(),
            cells,
            drift: None,
            beside: Vec::new(),
            alone,
            probes: Vec::new(),
            probes_alone: Vec::new(),
        }
    };
    Some(Comparison {
        schema: SCHEMA,
        base: side_of(session, base, letter(0)),
        others: others.iter().enumerate().map(versus).collect(),
    })
}

/// Returns the results of the cells of a variant, as if there were only this one.
pub fn results_in(variant: &Variant, results: &[CellResult]) -> Vec<CellResult> {
    let is_in = |result: &&CellResult| result.cell.variant.as_ref() == Some(&variant.name);
    let alone = |result: &CellResult| CellResult {
        cell: Job { variant: None, ..result.cell.clone() },
        ..result.clone()
    };
    results.iter().filter(is_in).map(alone).collect()
}

/// Compares two cells by the pairs of trials of the same rounds; by their medians where these are
/// too few.
fn pair_of_rounds(base: &CellResult, other: &CellResult) -> Pair {
    let mut pair = pair(base, other, MeasuredSides::Both, &Widen::none(), &Steps::default());
    if let Some(ratio) =
        paired::from_pairs(&other.pairs_with(base)).filter(|_| pair.ratio.is_some())
    {
        let (failed, wrong) = (pair.outcome == Outcome::Failed, pair.outcome == Outcome::Wrong);
        pair.ratio = Some(ratio);
        pair.outcome = Outcome::from_ratio(failed, wrong, pair.ratio, true);
    }
    pair
}

/// Describes the comparison of the variants, with names unless they equal the letters: `A is
/// none, B is mq. B against A: ...`
pub fn describe_variants(session: &Session) -> Option<String> {
    let comparison = compare_variants(session)?;
    let names: Vec<String> = (0..)
        .zip(&session.plan.variants)
        .map(|(index, variant)| (letter(index), variant.name.to_string()))
        .filter(|(letter, name)| !letter.eq_ignore_ascii_case(name))
        .map(|(letter, name)| format!("{letter} is {name}"))
        .collect();
    let names = (!names.is_empty()).then(|| format!("{}.", names.join(", ")));
    let texts = comparison.others.into_iter().map(|other| other.text);
    Some(names.into_iter().chain(texts).collect::<Vec<_>>().join(" "))
}

fn match_cells(
    base: &[CellResult],
    other: &[CellResult],
    letter: &str,
) -> (Vec<Pair>, Vec<LoneCell>) {
    let (pairs, alone) = pair_up([base, other], |result| result.cell.clone());
    let cells = pairs.into_iter().map(|(base, other)| pair_of_rounds(base, other)).collect();
    let alone = alone.map(|left| left.into_iter().map(|result| &result.cell).collect());
    (cells, list_alone(alone, letter, |_, _| None))
}

fn side_of(session: &Session, variant: &Variant, letter: String) -> Side {
    Side { variant: Some(variant.describe()), ..side(session, letter) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::judge_variants;
    use crate::session::testing;

    /// A session with a cell in two variants, with trials at these rates, MiB per second.
    fn session(rates: [&[u64]; 2]) -> Session {
        let mut session = testing::session(2);
        session.plan.variants =
            ["old:echo 1", "new:echo 2\u{7}"].map(|text| text.parse().unwrap()).to_vec();
        let first = session.plan.cells[0].clone();
        for (index, rates) in rates.into_iter().enumerate() {
            let name = session.plan.variants[index].name.clone();
            session.plan.cells[index] = Job { variant: Some(name), ..first.clone() };
            let trials = (1..).zip(rates);
            let trial =
                |(round, rate): (u32, &u64)| testing::trial(index as u32, round, rate << 20).into();
            session.trials.extend(trials.map(trial));
        }
        session
    }

    #[test]
    fn the_second_variant_meets_the_first() {
        let session = session([&[100, 101, 102, 103, 104], &[150, 151, 152, 153, 154]]);
        let comparison = compare_variants(&session).unwrap();
        assert_eq!(comparison.base.variant.as_deref(), Some("old: echo 1"));
        let versus = &comparison.others[0];
        let side = (versus.side.letter.as_str(), versus.side.variant.as_deref());
        assert_eq!(side, ("B", Some("new: echo 2")));
        assert_eq!((versus.cells.len(), versus.alone.len()), (1, 0));
        let pair = &versus.cells[0];
        assert_eq!((pair.outcome, pair.drift, &pair.cell.variant), (Outcome::Faster, None, &None));
        assert!(versus.text.starts_with("B against A: 1.49x ["), "{}", versus.text);
        assert!(versus.text.ends_with(ALTERNATED), "{}", versus.text);
        let text = describe_variants(&session).unwrap();
        assert!(text.starts_with("A is old, B is new. B against A: 1.49x ["), "{text}");
        let ruling = judge_variants(&session, versus, 0.05);
        assert_eq!((ruling.judged, ruling.slower.len(), ruling.is_open()), (1, 0, false));
        let sessions = [session];
        assert_eq!(compare_variants(&testing::session(2)), None);
        assert_eq!(crate::analysis::compare(&sessions).unwrap().others.len(), 0);
    }

    #[test]
    fn variants_named_like_letters_stay_unnamed() {
        let mut session = session([&[100, 101, 102, 103, 104], &[150, 151, 152, 153, 154]]);
        for (index, text) in ["A:true", "mq:true"].into_iter().enumerate() {
            session.plan.variants[index] = text.parse().unwrap();
            session.plan.cells[index].variant = Some(session.plan.variants[index].name.clone());
        }
        let said = describe_variants(&session).unwrap();
        assert!(said.starts_with("B is mq. B against A: "), "{said}");
        session.plan.variants[1] = "b:true".parse().unwrap();
        session.plan.cells[1].variant = Some(session.plan.variants[1].name.clone());
        let said = describe_variants(&session).unwrap();
        assert!(said.starts_with("B against A: "), "{said}");
    }

    #[test]
    fn drift_between_rounds_cancels() {
        let drifting = [100, 130, 90, 160, 120, 200, 80];
        let faster = drifting.map(|rate| rate * 11 / 10);
        let session = session([&drifting, &faster]);
        let pair = compare_variants(&session).unwrap().others[0].cells[0].clone();
        assert_eq!(pair.outcome, Outcome::Faster, "{:?}", pair.ratio);
        assert!((pair.ratio.unwrap().ratio - 1.1).abs() < 0.01);
    }

    #[test]
    fn slower_variants_fail_the_gate() {
        let slow = session([&[150, 151, 152, 153, 154], &[100, 101, 102, 103, 104]]);
        let versus = compare_variants(&slow).unwrap().others.remove(0);
        let ruling = judge_variants(&slow, &versus, 0.05);
        assert_eq!((ruling.slower.len(), ruling.is_open()), (1, false));
        let few = session([&[150, 151, 152, 153, 154], &[100, 101]]);
        let versus = compare_variants(&few).unwrap().others.remove(0);
        let text = judge_variants(&few, &versus, 0.05).text();
        assert!(
            text.contains("The gate did not pass: use a longer --budget or more --trials."),
            "{text}"
        );
    }
}

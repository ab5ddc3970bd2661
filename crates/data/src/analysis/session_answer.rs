//! The answer of a whole session: of its jobs, its picked methods and its probes.

use crate::analysis::answer::{Answer, answer_beside, answer_experiment, capitalize};
use crate::analysis::compare::describe_variants;
use crate::analysis::neighbours::describe_neighbours;
use crate::analysis::{
    CellResult, ProbeResult, list_skipped, network, outrun, over_time, picked, rated, remarks,
    stalls,
};
use crate::plan::Param;
use crate::record::Unit;
use crate::session::Session;
use crate::text::clean_text;
use crate::units::{counted, verb};

/// Returns the answer of a session: for its jobs, picked methods first; for probes, what they show
/// together, or which of them cost the least and the most.
pub fn answer_with(session: &Session, results: &[CellResult], probes: &[ProbeResult]) -> Answer {
    let mut answer = answer_beside(results, &list_skipped(session));
    if let Some(text) = answer_experiment(session, results, &answer) {
        answer.text = clean_text(&text);
    }
    answer.picked = picked::picked_methods(session, &results.iter().collect::<Vec<_>>());
    if !answer.picked.is_empty() {
        let said: Vec<&str> = answer.picked.iter().map(|picked| picked.text.as_str()).collect();
        answer.text = clean_text(&said.join(" "));
    }
    if let Some(said) = describe_neighbours(session, results) {
        answer.text = clean_text(&format!("{said}."));
    } else if let Some(said) = describe_variants(session) {
        answer.text = clean_text(&format!("{} {said}", answer.text));
    }
    if let Some(said) = rated::rated(session, results).filter(|_| !results.is_empty()) {
        answer.text = clean_text(&format!("{} {said}", answer.text));
    }
    if let Some(said) = outrun::describe_outrun(session, results) {
        answer.text = clean_text(&format!("{} {said}", answer.text));
    }
    answer.courses = over_time::describe_courses(session, results);
    answer.courses.extend(stalls::describe_stalls(session, results));
    for said in &answer.courses {
        answer.text = clean_text(&format!("{} {}.", answer.text, capitalize(said)));
    }
    answer.network = network(probes);
    if !probes.is_empty() {
        let own = (!results.is_empty()).then(|| std::mem::take(&mut answer.text));
        let remarks = remarks::remarks(probes, &session.host);
        let said: Vec<String> = remarks.into_iter().chain(answer.network.sentence()).collect();
        let sum = said.is_empty().then(|| sum(probes));
        let sentences = own.into_iter().chain(sum).chain(said);
        answer.text = clean_text(&sentences.collect::<Vec<_>>().join(" "));
    }
    answer
}

fn sum(probes: &[ProbeResult]) -> String {
    let measured = probes.iter().filter(|probe| probe.value.is_some()).count();
    let count = match measured {
        0 => "No probe was measured".into(),
        count => format!("{} {} measured", counted(count, "probe"), verb(count, "was", "were")),
    };
    // The step of a clock is not an operation.
    let is_step =
        |probe: &&ProbeResult| probe.cell.params.get("part") == Some(&Param::from("resolution"));
    let timed = probes.iter().filter(|probe| probe.unit == Some(Unit::Nanos) && !is_step(probe));
    let trusted = timed.filter(|probe| probe.is_sound());
    let mut times: Vec<(f64, &ProbeResult)> =
        trusted.filter_map(|probe| Some((probe.value?.summary.median, probe))).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let said = |(nanos, probe): &(f64, &ProbeResult)| {
        format!("{} ({})", probe.cell.label(), Unit::Nanos.show(*nanos))
    };
    match times.as_slice() {
        [least, .., most] => format!("{count}: from {} to {}.", said(least), said(most)),
        [one] => format!("{count}: {}.", said(one)),
        [] => format!("{count}."),
    }
}

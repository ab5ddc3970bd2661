//! The ranks of a cell: how long all were at work, and each machine and rank with its rate and the
//! source of its bytes.

use super::stack::{Scene, Section, section};
use crate::analysis::RanksOf;
use crate::record::Source;
use crate::text::clean_text;
use crate::theme::Role;
use crate::units::{counted, show_count, show_nanos, show_rank, show_rate, show_share};

/// Ranks that are listed, the slowest first; more are counted.
const MAX_LISTED: usize = 64;

/// Returns the sections; none where one process measured.
pub fn sections(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(ranks) = &s.result.ranks else { return Vec::new() };
    let moves = s.result.throughput.is_some();
    let rate = |of: f64| if moves { show_rate(of) } else { format!("{}/s", show_count(of)) };
    let mut text = vec![s.heading("Ranks")];
    let active = ranks.active.map_or("never".into(), rate);
    text.push(s.pair("all active", active));
    text.push(s.pair("sum of own", rate(ranks.own)));
    text.push(s.pair("first done", format!("after {}", show_nanos(ranks.first_done))));
    text.push(s.pair("last done", format!("after {}", show_nanos(ranks.last_done))));
    text.push(s.pair("tail", format!("{} of the time", show_share(ranks.tail))));
    text.push(s.pair("ends", describe_end(ranks)));
    if ranks.clock_error > 0 {
        text.push(s.pair("clocks", format!("\u{b1}{}", show_nanos(ranks.clock_error as f64))));
    }
    for node in ranks.nodes.iter().filter(|_| ranks.nodes.len() > 1) {
        let count = counted(node.ranks, "rank");
        let told = format!("{}, {count}{}", rate(node.rate), tell(node.source, node.cached_trials));
        text.extend(
            s.wrap(&format!("{}: {told}", clean_text(&node.node)), role(node.cached_trials)),
        );
    }
    let listed = ranks.slowest(MAX_LISTED);
    for rank in &listed {
        let node = if ranks.nodes.len() > 1 { clean_text(&rank.node) } else { String::new() };
        let told = format!("{}{}", rate(rank.rate), tell(rank.source, rank.cached_trials));
        let line = format!("{}: {told}", show_rank(rank.rank, &node));
        text.extend(s.wrap(&line, role(rank.cached_trials)));
    }
    let more = ranks.each.len() - listed.len();
    if more > 0 {
        text.extend(s.wrap(&format!("and {} that are faster", counted(more, "rank")), Role::Dim));
    }
    section(text)
}

fn describe_end(ranks: &RanksOf) -> String {
    if ranks.by_time { "for all at the same time" } else { "when each is done" }.into()
}

fn role(cached_trials: u32) -> Role {
    if cached_trials > 0 { Role::Wrong } else { Role::Text }
}

/// Returns `, 98 % from the device`, and whether the machine had data cached that it should not.
fn tell(source: Option<Source>, cached_trials: u32) -> String {
    let from = source.map_or(String::new(), |source| {
        let parts = [
            (source.device, "the device"),
            (source.page_cache, "the page cache"),
            (source.below, "caches below"),
            (source.hole, "holes"),
            (source.unknown, "an unknown source"),
        ];
        let most = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or(String::new(), |(part, name)| format!(", {} from {name}", show_share(part)))
    });
    match cached_trials {
        0 => from,
        trials => format!("{from}, cached before {}", counted(trials as usize, "trial")),
    }
}

//! The sections of a cell: figures, latencies, sources of its bytes, CPU time, ranks, warnings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::stack::{Scene, Section, section};
use crate::analysis::{CellResult, CommitsOf, LatencyOf, RanksOf, SummaryOf};
use crate::curves::Metric;
use crate::experiment::MEASURE;
use crate::keymap::{Action, key_of};
use crate::plot::{Bar, Bars, Histogram, Part};
use crate::record::{Preparation, Source, Stretch, Trial, Warning};
use crate::report::table::origin;
use crate::results::sheet;
use crate::screen::Screen;
use crate::stats::course::Kind;
use crate::stats::{Summary, median};
use crate::text::clean_text;
use crate::theme::Role;
use crate::units::{
    self, column, counted, show_bytes, show_count, show_nanos, show_rank, show_rate, show_share,
};
use crate::view::{findings, pane};
use crate::vocabulary::FINE;

pub fn error(s: Scene) -> Vec<Section<'static>> {
    let Some(error) = &s.result.error else { return Vec::new() };
    let mut all = vec![s.look.line(Role::Wrong, "This cell failed")];
    all.extend(s.wrap(error, Role::Text));
    section(all)
}

/// Builds a row per quantity: median with its interval, mean, spread and extremes.
pub fn figures(s: Scene) -> Vec<Section<'static>> {
    let rows: Vec<(&str, Metric, Option<SummaryOf>)> = vec![
        ("bytes", Metric::Throughput, s.result.throughput),
        ("operations", Metric::Operations, s.result.operations),
        ("system calls", Metric::SystemCalls, s.result.syscalls),
    ];
    let known: Vec<_> = rows
        .into_iter()
        .filter_map(|(name, metric, of)| Some((name, metric, of?.summary)))
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    // Narrow: without the extremes.
    let titles: &[&str] = match s.width {
        68.. => &["median", "low", "high", "mean", "stddev", "min", "max"],
        _ => &["median", "low", "high", "mean", "stddev"],
    };
    let head: String = titles.iter().map(|title| format!("{title:>7}")).collect();
    let mut all = vec![Line::from(vec![
        s.look.span(Role::Dim, format!("{:<13}", "")),
        s.look.span(Role::Dim, head),
    ])];
    all.extend(
        known
            .iter()
            .map(|(name, metric, summary)| summary_row(s, name, *metric, summary, titles.len())),
    );
    let trials = s.result.trials.len();
    let half = known.first().and_then(|(_, _, summary)| summary.half_width());
    let note = match half {
        Some(half) => {
            format!(
                "{}; low to high is the 95 % interval of the median, ±{} %",
                units::show_trials(trials),
                units::show_percent(half * 100.0)
            )
        }
        None if s.result.is_unfinished() => format!(
            "{}: an interval needs at least 5; {} adds rounds",
            s.result.describe_progress(),
            key_of(Action::Refine, Screen::Results)
        ),
        None => format!("{}: no interval", units::show_trials(trials)),
    };
    all.extend(s.wrap(&note, Role::Dim));
    all.extend(s.result.describe_skip().iter().flat_map(|skip| s.wrap(skip, Role::Dim)));
    all.extend(level_lines(s));
    section(all)
}

/// Lists the levels of a rate that changed over time, each with its trials.
fn level_lines(s: Scene) -> Vec<Line<'static>> {
    let Some(change) = &s.result.level_change else { return Vec::new() };
    let metric = if change.unit == "B/s" { Metric::Throughput } else { Metric::Operations };
    let line = |level: &Stretch| {
        let (factor, unit) = column::unit_for(level.summary.median, metric.units(s.look.unit));
        let times = format!(
            "{} to {}",
            units::show_nanos(level.began as f64),
            units::show_nanos(level.ended as f64)
        );
        s.pair(
            &level.name().replace(" to ", "-"),
            format!("{} {unit}, {times}", column::figure(level.summary.median / factor)),
        )
    };
    let what =
        if change.kind == Kind::Step { "The rate changed in a step:" } else { "The rate drifted:" };
    let head = s.look.line(Role::Misleading, what);
    std::iter::once(head).chain(change.levels.iter().map(line)).collect()
}

/// Lists the work of one trial: operations, bytes, time, and the XOR of the data if computed.
pub fn trial_work(s: Scene) -> Vec<Section<'static>> {
    let Some(work) = sheet::trial_work(s.result, s.data.view.session.plan.experiment == MEASURE)
    else {
        return Vec::new();
    };
    let block = units::show_bytes(s.result.cell.block);
    let mut all = vec![s.heading("One trial"), s.pair("count", work.operations().to_string())];
    if work.bytes > 0.0 {
        let sign = s.look.glyph("×", "x");
        all.push(s.pair(
            "size",
            format!(
                "{} ({} {sign} {block})",
                units::show_bytes(work.bytes as u64),
                work.operations()
            ),
        ));
    }
    all.push(s.pair("time", units::show_nanos(work.nanos)));
    if let Some(xor) = s.result.xor() {
        let same = s.data.same_xor.as_ref().is_some_and(|same| *same == xor);
        all.push(s.pair("XOR", if same { format!("{xor}, same in every cell") } else { xor }));
    }
    section(all)
}

/// Lists when written bytes reached the page cache and the device.
pub fn list_writes(s: Scene) -> Vec<Section<'static>> {
    let Some(written) = s.result.written else { return Vec::new() };
    fn time(of: Option<SummaryOf>, none: &str) -> String {
        of.map_or_else(|| none.to_string(), |of| units::show_nanos(of.summary.median))
    }
    let around = if s.result.cell.direct { "bypassed (direct I/O)" } else { "unknown" };
    let mut all = vec![s.heading("Written")];
    all.push(s.pair("page cache", time(written.page_cache, around)));
    all.push(s.pair("device", time(written.device, "not waited for")));
    all.push(s.pair(
        "still dirty",
        written.left.map_or_else(|| "unknown".into(), |left| units::show_bytes(left as u64)),
    ));
    section(all)
}

/// Describes the bottleneck.
pub fn limit(s: Scene) -> Vec<Section<'static>> {
    let Some(Some(limit)) = s.data.view.limits.get(s.index) else { return Vec::new() };
    let mut all = vec![s.heading("What limits it")];
    all.extend(s.wrap(&limit.text, Role::Text));
    section(all)
}

fn summary_row(
    s: Scene,
    name: &str,
    metric: Metric,
    summary: &Summary,
    count: usize,
) -> Line<'static> {
    let (factor, unit) = column::unit_for(summary.median, metric.units(s.look.unit));
    let figure = |value: Option<f64>| {
        format!("{:>7}", value.map_or("-".into(), |value| column::figure(value / factor)))
    };
    let rest = [
        summary.low,
        summary.high,
        Some(summary.mean),
        Some(summary.stddev),
        Some(summary.min),
        Some(summary.max),
    ];
    let rest: String = rest.into_iter().take(count - 1).map(figure).collect();
    Line::from(vec![
        s.look.span(Role::Dim, format!("{name:<13}")),
        s.look.span(Role::Number, figure(Some(summary.median))),
        s.look.span(Role::Text, rest),
        s.look.span(Role::Dim, format!(" {unit}")),
    ])
}

pub fn warnings(s: Scene) -> Vec<Section<'static>> {
    let mut all = vec![s.heading("Verdict")];
    if s.result.warnings.is_empty() {
        if s.result.trials.is_empty() {
            return Vec::new();
        }
        all.push(s.look.line(Role::Good, format!("{} no warnings", FINE.on(s.look))));
    } else {
        // Too few trials are not a fault, as in the row of the table.
        let (unfinished, found): (Vec<Warning>, Vec<Warning>) =
            s.result.warnings.iter().cloned().partition(Warning::is_unfinished);
        for warning in unfinished {
            all.extend(s.wrap(&format!("{}; {}", warning.message, warning.evidence), Role::Dim));
        }
        if !found.is_empty() {
            let mut found = findings::describe(s.look, &found, s.width);
            // No empty line after the last one.
            found.pop();
            all.extend(found);
        }
    }
    section(all)
}

/// Lists what happened around long trials.
pub fn around(s: Scene) -> Vec<Section<'static>> {
    let lines = s.result.around();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut all = vec![s.heading("Around it")];
    lines.iter().for_each(|line| all.extend(s.wrap(line, Role::Text)));
    section(all)
}

/// Lists the cost of a trial: the median of each figure over the trials.
pub fn processor(s: Scene) -> Vec<Section<'static>> {
    let trials = &s.result.trials;
    let middle = |of: &dyn Fn(&Trial) -> Option<f64>| {
        let values: Vec<f64> = trials.iter().filter_map(|trial| of(trial)).collect();
        median(&values)
    };
    let share = |nanos: u64, trial: &Trial| {
        (trial.nanos > 0).then(|| 100.0 * nanos as f64 / trial.nanos as f64)
    };
    let Some(user) = middle(&|t| share(t.user_nanos, t)) else { return Vec::new() };
    let system = middle(&|t| share(t.system_nanos, t)).unwrap_or(0.0);
    let mut all = vec![
        s.heading("Cost of a trial"),
        s.pair("CPU", format!("{user:.0} % user, {system:.0} % system, of one CPU")),
    ];
    if let Some((per_byte, ..)) = Metric::Cpu.value_of(s.result) {
        all.push(
            s.pair("per byte", format!("{} of CPU time", Metric::Cpu.show(per_byte, s.look.unit))),
        );
    }
    if let Some(calls) =
        middle(&|t| t.syscalls.get().filter(|_| t.ops > 0).map(|calls| calls as f64 / t.ops as f64))
    {
        all.push(s.pair("system calls", format!("{} per operation", column::figure(calls))));
    }
    let count = |of: fn(&Trial) -> u64| {
        middle(&|t| Some(of(t) as f64)).map_or("-".into(), units::show_count)
    };
    all.push(s.pair(
        "page faults",
        format!("{} minor, {} major", count(|t| t.minor_faults), count(|t| t.major_faults)),
    ));
    let switches = (count(|t| t.voluntary_switches), count(|t| t.involuntary_switches));
    all.push(s.pair("switches", format!("{} voluntary, {} involuntary", switches.0, switches.1)));
    if let Some(depth) = middle(&|t| t.evidence.achieved_depth).filter(|_| s.result.cell.depth > 1)
    {
        all.push(s.pair(
            "depth",
            format!("{} of {} in flight", column::figure(depth), s.result.cell.depth),
        ));
    }
    if let Some(nanos) =
        middle(&|t| Some(t.evidence.prepare_nanos as f64)).filter(|nanos| *nanos > 0.0)
    {
        let state = trials
            .last()
            .and_then(|t| t.evidence.preparation.as_ref())
            .map_or(String::new(), describe_preparation);
        all.push(s.pair("preparation", format!("{}{state}", units::show_nanos(nanos))));
    }
    section(all)
}

/// Describes the cache state that the preparation reached.
fn describe_preparation(preparation: &Preparation) -> String {
    match preparation {
        Preparation::Cold { left: 0, .. } => ", nothing left in the page cache".into(),
        Preparation::Cold { left, .. } => {
            format!(", {} left in the page cache", units::show_bytes(*left))
        }
        Preparation::Warm { resident } => {
            format!(", {} in the page cache", units::show_bytes(*resident))
        }
        Preparation::AsIs => String::new(),
    }
}

/// Returns nothing if no data was read back.
pub fn verified(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(verified) = &s.result.verified else { return Vec::new() };
    let (role, mark) =
        if verified.is_bad() { (Role::Wrong, "Data is wrong: ") } else { (Role::Text, "") };
    let mut text = vec![s.heading("Verified")];
    text.extend(s.wrap(&format!("{mark}{}", verified.describe()), role));
    text.extend(s.wrap(&verified.describe_reading(), Role::Dim));
    text.push(s.pair("reading back", format!("{} a trial, not timed", show_nanos(verified.nanos))));
    text.push(
        s.pair("stamps", format!("about {} of the timed work", show_share(verified.stamp_share))),
    );
    section(text)
}

/// Returns nothing for a cell without commits.
pub fn commits(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(CommitsOf { per_second, count, total, sync, .. }) = &s.result.commits else {
        return Vec::new();
    };
    let mut text = vec![s.heading("Commits, write and sync together")];
    text.extend(percentile_lines(s, total));
    if let Some(sync) = sync {
        text.extend(s.wrap("of these the sync:", Role::Dim));
        text.extend(percentile_lines(s, sync));
    }
    let made = counted(usize::try_from(*count).unwrap_or(usize::MAX), "commit");
    let rate = per_second.map_or(String::new(), |rate| format!(", {}/s", show_count(rate)));
    text.extend(s.wrap(&format!("{made}{rate}"), Role::Dim));
    if let Some(durability) = &s.result.durability {
        text.extend(s.wrap(&durability.sentence(), Role::Text));
    }
    vec![Section::Lines(text)]
}

pub fn source(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(source) = &s.result.source else { return Vec::new() };
    let parts = origin::source_shares(source);
    let draw = {
        let parts = parts.clone();
        move |area: Rect, buf: &mut Buffer| {
            let pieces = parts
                .iter()
                .map(|(word, share)| {
                    let role = Role::of_source(word);
                    let (style, texture) = (s.look.style(role), role.texture());
                    Part { value: *share, style, texture }
                })
                .collect();
            let bar = [Bar { parts: pieces, ..Bar::default() }];
            Bars::new(s.look, &bar).max(1.0).render(area, buf);
        }
    };
    let mut words = Vec::new();
    for (word, share) in &parts {
        let role = Role::of_source(word);
        let sign = s.look.texture(role.texture());
        words.push(s.look.span(role, format!("{sign} ")));
        words.push(s.look.span(Role::Text, format!("{word} ")));
        words.push(s.look.span(Role::Number, format!("{}   ", origin::percent(*share))));
    }
    let mut below = vec![Line::from(words)];
    if !s.result.source_reason.is_empty() {
        below.extend(s.wrap(&s.result.source_reason, Role::Dim));
    }
    let differs = |of: &f64| *of >= 0.005 && (of - 1.0).abs() >= 0.005;
    if let Some(amplification) = s.result.amplification.filter(differs) {
        let why = if amplification > 1.05 { " (readahead)" } else { "" };
        below.extend(s.wrap(
            &format!("the device transferred {amplification:.2} bytes per requested byte{why}"),
            Role::Dim,
        ));
    }
    if let Some(first) = first_visit(s.result) {
        below.extend(s.wrap(&first, Role::Dim));
    }
    vec![
        Section::Lines(vec![s.heading("Where the bytes came from")]),
        Section::Picture { height: 1, draw: Box::new(draw) },
        Section::Lines(below),
    ]
}

/// Describes what the cell read before its first trial, and how fast.
fn first_visit(result: &CellResult) -> Option<String> {
    let visit = result.trials.iter().find_map(|trial| trial.evidence.first.as_deref())?;
    let rate = visit.bytes as f64 * 1e9 / visit.nanos.max(1) as f64;
    (visit.bytes > 0)
        .then(|| format!("first visit: {} at {}", show_bytes(visit.bytes), show_rate(rate)))
}

/// Half width of a bucket relative to its value.
const BUCKET_SHARE: f64 = 1.0 / 256.0;

pub fn latency(s: Scene<'_>, height: u16) -> Vec<Section<'_>> {
    let Some(latency) = &s.result.latency else { return Vec::new() };
    let mut text = vec![s.heading("Latency per operation")];
    text.extend(percentile_lines(s, latency));
    let timed = s.data.latency(s.index).map_or(0, |latency| latency.count);
    let every = match latency.every {
        0 | 1 => String::new(),
        every => format!(", 1 in {every}"),
    };
    if timed > 0 {
        let count =
            if timed < 1_000_000 { timed.to_string() } else { units::show_count(timed as f64) };
        let bars = s.data.latency(s.index).is_some_and(|latency| latency.buckets.len() > 1);
        let bars = if bars { "; logarithmic bars" } else { "" };
        text.extend(s.wrap(&format!("{} timed{every}{bars}", noun(&count, timed)), Role::Dim));
    }
    let mut sections = vec![Section::Lines(text)];
    if s.data.latency(s.index).is_some_and(|latency| latency.buckets.len() > 1) {
        sections.push(Section::Picture {
            height,
            draw: Box::new(move |area, buf| histogram(s, area, buf)),
        });
    }
    sections
}

/// Returns the percentiles as lines of the page.
fn percentile_lines(s: Scene<'_>, latency: &LatencyOf) -> Vec<Line<'static>> {
    let all = latency.percentiles().into_iter().chain([("mean", Some(latency.mean))]);
    let known: Vec<(&str, String)> =
        all.filter_map(|(name, value)| Some((name, units::show_nanos(value?)))).collect();
    let mut text = Vec::new();
    let (mut line, mut used) = (Vec::new(), 0);
    for (name, value) in known {
        let width = pane::width(name) + pane::width(&value) + 4;
        if used + width > s.width + 3 {
            text.push(Line::from(std::mem::take(&mut line)));
            used = 0;
        }
        used += width;
        line.push(s.look.span(Role::Dim, format!("{name} ")));
        line.push(s.look.span(Role::Number, format!("{value}   ")));
    }
    text.push(Line::from(line));
    text
}

/// Returns `5000 operations`, `1 operation`, for a count and its text.
fn noun(text: &str, count: u64) -> String {
    format!(
        "{text} {}",
        units::verb(count.try_into().unwrap_or(usize::MAX), "operation", "operations")
    )
}

fn histogram(s: Scene, area: Rect, buf: &mut Buffer) {
    let (Some(latency), Some(of)) = (s.data.latency(s.index), &s.result.latency) else { return };
    let bin = |&(nanos, count): &(u64, u64)| {
        let (middle, half) = (nanos as f64, (nanos as f64 * BUCKET_SHARE).max(0.5));
        ((middle - half).max(0.5), middle + half, count)
    };
    let bins: Vec<(f64, f64, u64)> = latency.buckets.iter().map(bin).collect();
    let marks: Vec<(f64, &str)> = [(of.p50, "p50"), (of.p99, "p99"), (of.p999, "p99.9")]
        .into_iter()
        .filter_map(|(value, name)| Some((value?, name)))
        .collect();
    fn brief(nanos: f64) -> String {
        units::show_nanos(nanos).replace(".00", "").replace(".0 ", " ")
    }
    let style = s.look.series(s.hue());
    // Rare operations are interesting here.
    Histogram::new(s.look, &bins, &brief, style).marks(&marks).render(area, buf);
}

/// Maximum number of listed ranks, the slowest first; other ranks are only counted.
const MAX_LISTED: usize = 64;

/// Returns nothing if one process measured.
pub fn ranks(s: Scene<'_>) -> Vec<Section<'_>> {
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
        let origin = describe_origin(node.source, node.cached_trials);
        let line = format!("{}: {}, {count}{origin}", clean_text(&node.node), rate(node.rate));
        text.extend(s.wrap(&line, rank_role(node.cached_trials)));
    }
    let listed = ranks.slowest(MAX_LISTED);
    for rank in &listed {
        let node = if ranks.nodes.len() > 1 { clean_text(&rank.node) } else { String::new() };
        let origin = describe_origin(rank.source, rank.cached_trials);
        let line = format!("{}: {}{origin}", show_rank(rank.rank, &node), rate(rank.rate));
        text.extend(s.wrap(&line, rank_role(rank.cached_trials)));
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

fn rank_role(cached_trials: u32) -> Role {
    if cached_trials > 0 { Role::Wrong } else { Role::Text }
}

/// Returns `, 98 % from the device`, and the number of trials that began with cached data.
fn describe_origin(source: Option<Source>, cached_trials: u32) -> String {
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

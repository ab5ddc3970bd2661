//! The Now pane: current cell, state, progress, and the last trial.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::{LiveScene, figure, frame, stacked_bar};
use super::{latency, warnings};
use crate::live::rows::Picture;
use crate::live::run::Suspension;
use crate::live::run_view::{LastTrial, RunStep};
use crate::plan::Job;
use crate::record::{Phase, Severity, Source};
use crate::theme::{Look, Role};
use crate::units;
use crate::view::pane;

/// Columns of the row names.
const NAME_COLUMNS: u16 = 11;
/// Columns of two shares with their names.
const FIGURE_COLUMNS: u16 = 24;
/// Widest row that the eye can follow.
const MAX_ROW_COLUMNS: u16 = 2 * FIGURE_COLUMNS + NAME_COLUMNS + 1;

/// Draws the pane in `area`, with figures that have no pane: the first warning, and the latency of
/// the last trial.
pub fn draw(
    scene: &LiveScene,
    area: Rect,
    with_warning: bool,
    with_latency: bool,
    buf: &mut Buffer,
) {
    let state = scene.look.span(Role::Title, scene.describe_stop().unwrap_or_default());
    let inner = frame(scene.look, "Now", vec![state], area, buf);
    let mut rows = NowRows { scene, area: inner, row: 0 };
    rows.draw_cell(buf);
    rows.draw_state(buf);
    rows.draw_progress(buf);
    rows.draw_unsaved(buf);
    let found = &scene.view.warnings;
    // The warning of the running cell says more than one of others.
    let running = scene.view.cell().and_then(|cell| found.of_cell(cell).next());
    let running = running.filter(|own| own.severity > Severity::Note);
    if let Some(first) =
        running.or(found.iter().next()).filter(|_| with_warning && inner.height > 3)
    {
        let mut line =
            warnings::summarize(scene.look, first, usize::from(inner.width).saturating_sub(6));
        if found.len() > 1 {
            line.push_span(scene.look.span(Role::Dim, format!(" +{}", found.len() - 1)));
        }
        pane::line(line, inner.height - 1, inner, buf);
        rows.area.height -= 1;
    }
    if let Some(last) = &scene.view.last {
        rows.draw_last(last, with_latency, buf);
    }
    rows.draw_dropped(buf);
}

struct NowRows<'a> {
    scene: &'a LiveScene<'a>,
    area: Rect,
    row: u16,
}

impl NowRows<'_> {
    fn put(&mut self, parts: Vec<Span<'static>>, buf: &mut Buffer) {
        pane::line(Line::from(parts), self.row, self.area, buf);
        self.row += 1;
    }

    /// Draws the cell and the index of its trial.
    fn draw_cell(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let Some((cell, job)) = view.cell().and_then(|cell| Some((cell, view.job(cell)?))) else {
            let probe = view
                .progress
                .as_ref()
                .and_then(RunStep::from_progress)
                .and_then(|step| view.label(step));
            return self.put(
                vec![look.span(Role::Title, probe.unwrap_or_else(|| view.target.clone()))],
                buf,
            );
        };
        let round = view.progress.map_or(0, |progress| progress.round);
        let which = match view.plan.trials {
            Some(all) => format!("round {round} of {all}"),
            None => format!("round {round}"),
        };
        let room = usize::from(self.area.width).saturating_sub(which.len() + 1);
        let label = pane::fit(&job.label(), room.saturating_sub(2));
        let (style, _, mark) = self.scene.sign(cell);
        // Rows have the colours of the bars, not their marks.
        let marker = match view.picture {
            Picture::Curves => format!("{mark} "),
            _ => look.glyph("■ ", "# ").into(),
        };
        let marker = Span::styled(marker, style);
        let gap = " ".repeat((room + 1).saturating_sub(pane::width(&label) + 2));
        self.put(
            vec![
                marker,
                look.span(Role::Title, label),
                Span::raw(gap),
                look.span(Role::Dim, which),
            ],
            buf,
        );
    }

    /// Draws the phase, or the pending request.
    fn draw_state(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let more = look.glyph("…", "...");
        let run = self.scene.run.filter(|_| !self.scene.frozen);
        let (role, text) = match run {
            _ if view.outcome.is_some() => {
                (Role::Dim, view.describe_end().unwrap_or_default().into())
            }
            Some(run) if run.stopping => {
                (Role::Misleading, format!("stopping{more} results so far are kept"))
            }
            Some(run) if run.suspended != Suspension::No => {
                (Role::Misleading, format!("resuming{more}"))
            }
            Some(run) if run.pausing && run.is_paused() => {
                (Role::Misleading, "paused: space resumes".into())
            }
            Some(run) if run.pausing => {
                (Role::Misleading, format!("pausing{more} this step will be repeated"))
            }
            Some(run) if run.skipping.is_some() => (Role::Misleading, format!("skipping{more}")),
            _ => (Role::Dim, self.describe_phase()),
        };
        let room = usize::from(self.area.width);
        let counter = view.counter();
        let dot = look.glyph(" · ", " - ");
        let whole = [counter.describe_trial(), Some(counter.describe_cells())];
        let whole = whole.into_iter().flatten().collect::<Vec<_>>().join(dot);
        let forms = [whole, counter.describe_cells()];
        let count = forms
            .into_iter()
            .find(|count| pane::width(count) + pane::width(&text) + 2 <= room)
            .unwrap_or_default();
        let left = room.saturating_sub(pane::width(&count) + if count.is_empty() { 0 } else { 2 });
        let text = pane::fit(&text, left);
        let gap = " ".repeat(room.saturating_sub(pane::width(&text) + pane::width(&count)));
        self.put(vec![look.span(role, text), Span::raw(gap), look.span(Role::Dim, count)], buf);
    }

    fn describe_phase(&self) -> String {
        let view = self.scene.view;
        match view.phase() {
            None => "starting".into(),
            Some(Phase::Fill) if view.plan.target.is_ours() => {
                let data = view.plan.written_data().unwrap_or("random data".into());
                format!("filling {} with {data}", units::show_bytes(view.plan.target.size()))
            }
            Some(Phase::Fill) => "opening the file".into(),
            Some(Phase::Machine) => "measuring memory bandwidth and system call cost".into(),
            Some(Phase::Levels) => "measuring the effect of each cache-drop level".into(),
            Some(Phase::Switch) => "setting the next variant".into(),
            Some(Phase::Calibrate) => "calibrating the amount of work".into(),
            Some(Phase::Pause) => "paused".into(),
            Some(Phase::Trial) if view.plan.verify && view.quiet_seconds() > 0.5 => {
                "reading back what was written".into()
            }
            // A short trial has no sample that would distinguish the two.
            Some(Phase::Trial) if view.plan.verify && view.idle_seconds() > 1.5 => {
                "preparing, or reading back what was written".into()
            }
            Some(Phase::Trial) if view.idle_seconds() > 1.5 => "preparing the page cache".into(),
            Some(Phase::Trial) => "measuring".into(),
        }
    }

    fn draw_progress(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        if view.progress.is_none() {
            return self.put(Vec::new(), buf);
        }
        let counter = view.counter();
        let (share, percent) = (counter.share, counter.percent());
        let left = counter.describe_left().unwrap_or_else(|| {
            format!("ran {}", units::show_wait(Duration::from_secs_f64(view.now)))
        });
        let width = self.area.width.saturating_sub(8 + pane::width(&left) as u16);
        let mut parts = pane::progress_bar(look, share, width, look.style(Role::Focus));
        parts.push(look.span(Role::Number, format!(" {percent:>3}")));
        parts.push(look.span(Role::Dim, format!(" %  {left}")));
        self.put(parts, buf);
    }

    /// Draws why the session is not saved, in at most two rows.
    fn draw_unsaved(&mut self, buf: &mut Buffer) {
        let look = self.scene.look;
        let Some(why) = self.scene.unsaved else { return };
        let room = usize::from(self.area.width).saturating_sub(2);
        let mut parts = pane::wrap(&format!("NOT SAVED: {why}"), room);
        if parts.len() > 2 {
            parts = vec![parts[0].clone(), pane::fit(&parts[1..].join(" "), room)];
        }
        for (at, part) in parts.into_iter().enumerate() {
            let head = if at == 0 {
                warnings::severity_sign(look, Severity::Wrong)
            } else {
                Span::raw("  ")
            };
            self.put(vec![head, look.span(Role::Wrong, pane::fit(&part, room))], buf);
        }
    }

    /// Draws the figures of the last trial under the name of its cell.
    fn draw_last(&mut self, last: &LastTrial, with_latency: bool, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let rows = self.area.height.saturating_sub(self.row);
        if rows >= 5 {
            self.row += u16::from(rows >= 6);
            self.draw_last_head(last, buf);
        }
        let shares = last.source.map(|source| source_shares(&source)).unwrap_or_default();
        let from = last.source.map(|source| main_sources(&source)).unwrap_or_default();
        self.draw_shares("bytes from", &shares, &from, buf);
        let threads = view
            .job(last.cell)
            .map_or(1.0, |job| f64::from(job.threads))
            .max(last.user + last.system);
        let shares = [(last.system / threads, Role::Text), (last.user / threads, Role::Dim)];
        self.draw_shares("CPU", &shares, &[(last.system, "system"), (last.user, "user")], buf);
        if with_latency || last.commits.is_some() {
            self.draw_latency(last, buf);
        }
        let faults = vec![
            self.name("faults"),
            look.span(Role::Number, units::show_count(last.minor_faults as f64)),
            look.span(Role::Dim, " minor  "),
            look.span(Role::Number, units::show_count(last.major_faults as f64)),
            look.span(Role::Dim, " major"),
        ];
        self.put(faults, buf);
    }

    /// Draws the latency of the last trial; of one that commits also how often it did.
    fn draw_latency(&mut self, last: &LastTrial, buf: &mut Buffer) {
        let look = self.scene.look;
        let Some(latency) = &last.latency else { return };
        let mut parts = vec![self.name(if last.commits.is_some() { "commits" } else { "latency" })];
        if let Some(commits) = last.commits {
            parts.extend(figure(look, &format!("{}/s", units::show_count(commits)), true));
            parts.push(Span::raw("  "));
        }
        let taken: usize = parts.iter().map(Span::width).sum();
        let room = usize::from(self.area.width).saturating_sub(taken);
        parts.extend(latency::percentile_line(look, latency, room));
        self.put(parts, buf);
    }

    fn draw_last_head(&mut self, last: &LastTrial, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let label = view.job(last.cell).map(Job::label).unwrap_or_default();
        let rate = view.metric().show(last.rate, look.unit);
        let room = usize::from(self.area.width.min(MAX_ROW_COLUMNS))
            .saturating_sub(usize::from(NAME_COLUMNS) + pane::width(&rate) + 1);
        let label = pane::fit(&label, room);
        let gap = " ".repeat(room + 1 - pane::width(&label).min(room));
        let mut parts = vec![
            self.name("last trial"),
            Span::styled(label, look.series(view.hue(last.cell))),
            Span::raw(gap),
        ];
        parts.extend(figure(look, &rate, true));
        self.put(parts, buf);
    }

    fn name(&self, text: &str) -> Span<'static> {
        self.scene.look.span(Role::Dim, format!("{text:<0$}", usize::from(NAME_COLUMNS)))
    }

    /// Draws a name, a bar of shares and their figures.
    fn draw_shares(
        &mut self,
        name: &str,
        shares: &[(f64, Role)],
        named: &[(f64, &str)],
        buf: &mut Buffer,
    ) {
        let room = self.area.width.saturating_sub(NAME_COLUMNS);
        // A fixed width aligns the ends of the bars.
        let wide = Some(room.saturating_sub(FIGURE_COLUMNS + 1).min(FIGURE_COLUMNS))
            .filter(|wide| *wide >= 6);
        let mut line = vec![self.name(name)];
        if let Some(wide) = wide {
            line.extend(stacked_bar(self.scene.look, shares, wide));
            line.push(Span::raw(" "));
        }
        line.extend(figures(self.scene.look, named, room - wide.map_or(0, |wide| wide + 1)));
        self.put(line, buf);
    }

    fn draw_dropped(&mut self, buf: &mut Buffer) {
        let count = self.scene.view.dropped;
        if count > 0 {
            let text = format!("{count} samples not drawn: this terminal is slow");
            self.put(vec![self.scene.look.span(Role::Dim, text)], buf);
        }
    }
}

fn source_shares(source: &Source) -> Vec<(f64, Role)> {
    vec![
        (source.device, Role::Device),
        (source.page_cache + source.below, Role::PageCache),
        (source.hole, Role::Hole),
        (source.unknown, Role::Unknown),
    ]
}

/// Returns the two largest sources of bytes with a visible share.
fn main_sources(source: &Source) -> Vec<(f64, &'static str)> {
    let mut each = vec![
        (source.device, "device"),
        (source.page_cache, "page cache"),
        (source.below, "caches below"),
        (source.hole, "hole"),
        (source.unknown, "unknown"),
    ];
    each.sort_by(|a, b| b.0.total_cmp(&a.0));
    each.retain(|(share, _)| *share >= 0.005);
    each.truncate(2);
    each
}

/// Formats shares as `62 % system, 4 % user`: the first, and as many more as fit.
fn figures(look: &Look, named: &[(f64, &str)], room: u16) -> Vec<Span<'static>> {
    let mut spans: Vec<Span> = Vec::new();
    for (share, name) in named {
        let comma = if spans.is_empty() { "" } else { ", " };
        let (number, rest) = (format!("{:.0}", share * 100.0), format!(" % {name}"));
        let width =
            spans.iter().map(Span::width).sum::<usize>() + comma.len() + number.len() + rest.len();
        if !spans.is_empty() && width > usize::from(room) {
            break;
        }
        spans.extend([
            look.span(Role::Dim, comma),
            look.span(Role::Number, number),
            look.span(Role::Dim, rest),
        ]);
    }
    if spans.is_empty() {
        spans.push(look.span(Role::Dim, "unknown"));
    }
    spans
}

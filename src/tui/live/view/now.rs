//! What goes on now, how far it is, and what the last trial told.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::Scene;
use super::text::{bar, figure, frame, parts, span};
use super::{latency, warnings};
use crate::plan::Job;
use crate::record::{Phase, Severity, Source};
use crate::tui::live::layout::Places;
use crate::tui::live::run::Suspended;
use crate::tui::live::run_view::Last;
use crate::tui::live::step::Step;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;
use crate::units;

/// Columns of the names of rows.
const NAMES: u16 = 11;
/// Columns of two shares with their names.
const FIGURES: u16 = 24;
/// Columns over which the eye still finds the other end of a row.
const READABLE: u16 = 2 * FIGURES + NAMES + 1;

pub fn draw(scene: &Scene, places: Places, buf: &mut Buffer) {
    let word = if scene.frozen {
        "frozen"
    } else if scene.view.over.is_some() {
        "over"
    } else {
        ""
    };
    let inner =
        frame(scene.look, "Now", vec![span(scene.look, Role::Misleading, word)], places.now, buf);
    let mut rows = Rows { scene, area: inner, at: 0 };
    rows.cell(buf);
    rows.doing(buf);
    rows.progress(buf);
    rows.unsaved(buf);
    let found = &scene.view.warnings;
    // Without a pane of their own warnings keep the last row.
    let alone = places.warnings.is_none() && !found.is_empty();
    if let Some(first) = found.iter().next().filter(|_| alone && inner.height > 3) {
        let mut line =
            warnings::line(scene.look, first, usize::from(inner.width).saturating_sub(6));
        if found.len() > 1 {
            line.push_span(span(scene.look, Role::Dim, format!(" +{}", found.len() - 1)));
        }
        pane::line(line, inner.height - 1, inner, buf);
        rows.area.height -= 1;
    }
    if let Some(last) = &scene.view.last {
        rows.last(last, places.latency.is_none(), buf);
    }
    rows.dropped(buf);
}

struct Rows<'a> {
    scene: &'a Scene<'a>,
    area: Rect,
    at: u16,
}

impl Rows<'_> {
    fn put(&mut self, parts: Vec<Span<'static>>, buf: &mut Buffer) {
        pane::line(Line::from(parts), self.at, self.area, buf);
        self.at += 1;
    }

    /// The cell, and which trial of it.
    fn cell(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let Some((cell, job)) = view.cell().and_then(|cell| Some((cell, view.job(cell)?))) else {
            let probe = view.progress.as_ref().and_then(Step::of).and_then(|step| view.label(step));
            return self.put(
                vec![span(look, Role::Title, probe.unwrap_or_else(|| view.target.clone()))],
                buf,
            );
        };
        let round = view.progress.map_or(0, |progress| progress.round);
        let which = match view.plan.trials {
            Some(all) => format!("trial {round} of {all}"),
            None => format!("round {round}"),
        };
        let room = usize::from(self.area.width).saturating_sub(which.len() + 1);
        let label = pane::fit(&job.label(), room.saturating_sub(2));
        let marker = Span::styled(look.glyph("● ", "* "), look.series(view.hue(cell)));
        let gap = " ".repeat((room + 1).saturating_sub(pane::width(&label) + 2));
        self.put(
            vec![
                marker,
                span(look, Role::Title, label),
                Span::raw(gap),
                span(look, Role::Dim, which),
            ],
            buf,
        );
    }

    /// What goes on with it, or what was asked for.
    fn doing(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let more = look.glyph("…", "...");
        let run = self.scene.run.filter(|_| !self.scene.frozen);
        let (role, text) = match run {
            _ if view.over.is_some() => (Role::Dim, view.over.unwrap_or_default().into()),
            Some(run) if run.stopping => {
                (Role::Misleading, format!("stopping{more} what was measured is kept"))
            }
            Some(run) if run.suspended != Suspended::No => {
                (Role::Misleading, format!("going on{more}"))
            }
            Some(run) if run.pausing && run.paused() => {
                (Role::Misleading, "paused: space goes on".into())
            }
            Some(run) if run.pausing => {
                (Role::Misleading, format!("pausing{more} the step is repeated later"))
            }
            Some(run) if run.skipping.is_some() => (Role::Misleading, format!("skipping{more}")),
            _ => (Role::Dim, self.phase()),
        };
        self.put(vec![span(look, role, pane::fit(&text, usize::from(self.area.width)))], buf);
    }

    fn phase(&self) -> String {
        let view = self.scene.view;
        match view.phase() {
            None => "starting".into(),
            Some(Phase::Fill) if view.plan.target.is_ours() => {
                format!("filling {} with random data", units::show_bytes(view.plan.target.size()))
            }
            Some(Phase::Fill) => "opening the file".into(),
            Some(Phase::Machine) => "measuring this machine's memory and call costs".into(),
            Some(Phase::Levels) => "measuring what each cache-drop level changes".into(),
            Some(Phase::Calibrate) => "calibrating the amount of work".into(),
            Some(Phase::Pause) => "paused".into(),
            Some(Phase::Trial) if view.waits() > 1.5 => "preparing the page cache".into(),
            Some(Phase::Trial) => "measuring".into(),
        }
    }

    fn progress(&mut self, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let (Some((share, left)), Some(percent)) = (view.left(), view.percent()) else {
            return self.put(Vec::new(), buf);
        };
        let left = format!("{} left", units::show_wait(Duration::from_secs_f64(left)));
        let left = if view.over.is_some() {
            format!("ran {}", units::show_wait(Duration::from_secs_f64(view.now)))
        } else {
            left
        };
        let width = self.area.width.saturating_sub(8 + pane::width(&left) as u16);
        let mut parts = bar(look, share, width, look.style(Role::Focus));
        parts.push(span(look, Role::Number, format!(" {percent:>3}")));
        parts.push(span(look, Role::Dim, format!(" %  {left}")));
        self.put(parts, buf);
    }

    /// That the session is not in its file, in at most two rows: nothing else is as bad to miss.
    fn unsaved(&mut self, buf: &mut Buffer) {
        let look = self.scene.look;
        let Some(why) = self.scene.unsaved else { return };
        let room = usize::from(self.area.width).saturating_sub(2);
        let mut parts = pane::wrap(&format!("NOT SAVED: {why}"), room);
        if parts.len() > 2 {
            parts = vec![parts[0].clone(), pane::fit(&parts[1..].join(" "), room)];
        }
        for (at, part) in parts.into_iter().enumerate() {
            let head =
                if at == 0 { warnings::sign(look, Severity::Wrong) } else { Span::raw("  ") };
            self.put(vec![head, span(look, Role::Wrong, pane::fit(&part, room))], buf);
        }
    }

    /// What only a whole trial tells, under the name of its cell.
    fn last(&mut self, last: &Last, with_latency: bool, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let rows = self.area.height.saturating_sub(self.at);
        if rows >= 5 {
            self.at += u16::from(rows >= 6);
            self.head(last, buf);
        }
        let shares = last.source.map(|source| parts_of(&source)).unwrap_or_default();
        let from = last.source.map(|source| main_sources(&source)).unwrap_or_default();
        self.bar("bytes from", &shares, &from, buf);
        let threads = view
            .job(last.cell)
            .map_or(1.0, |job| f64::from(job.threads))
            .max(last.user + last.system);
        let shares = [(last.system / threads, Role::Misleading), (last.user / threads, Role::Good)];
        self.bar("CPU", &shares, &[(last.system, "system"), (last.user, "user")], buf);
        if with_latency && let Some(of) = &last.latency {
            let mut parts = vec![self.name("latency")];
            parts.extend(latency::line(
                look,
                of,
                usize::from(self.area.width.saturating_sub(NAMES)),
            ));
            self.put(parts, buf);
        }
        let faults = vec![
            self.name("faults"),
            span(look, Role::Number, units::show_count(last.minor_faults as f64)),
            span(look, Role::Dim, " minor  "),
            span(look, Role::Number, units::show_count(last.major_faults as f64)),
            span(look, Role::Dim, " major"),
        ];
        self.put(faults, buf);
    }

    fn head(&mut self, last: &Last, buf: &mut Buffer) {
        let (look, view) = (self.scene.look, self.scene.view);
        let label = view.job(last.cell).map(Job::label).unwrap_or_default();
        let rate = view.metric().show(last.rate, look.unit);
        let room = usize::from(self.area.width.min(READABLE))
            .saturating_sub(usize::from(NAMES) + pane::width(&rate) + 1);
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
        span(self.scene.look, Role::Dim, format!("{text:<0$}", usize::from(NAMES)))
    }

    /// A name, shares of a whole and their figures.
    fn bar(&mut self, name: &str, shares: &[(f64, Role)], named: &[(f64, &str)], buf: &mut Buffer) {
        let room = self.area.width.saturating_sub(NAMES);
        // Figures of one width, so that bars end below each other.
        let wide = Some(room.saturating_sub(FIGURES + 1).min(FIGURES)).filter(|wide| *wide >= 6);
        let mut line = vec![self.name(name)];
        if let Some(wide) = wide {
            line.extend(parts(self.scene.look, shares, wide));
            line.push(Span::raw(" "));
        }
        line.extend(figures(self.scene.look, named, room - wide.map_or(0, |wide| wide + 1)));
        self.put(line, buf);
    }

    fn dropped(&mut self, buf: &mut Buffer) {
        let count = self.scene.view.dropped;
        if count > 0 {
            let text = format!("{count} samples not drawn: this terminal is slow");
            self.put(vec![span(self.scene.look, Role::Dim, text)], buf);
        }
    }
}

fn parts_of(source: &Source) -> Vec<(f64, Role)> {
    vec![
        (source.device, Role::Note),
        (source.page_cache, Role::Good),
        (source.hole, Role::Misleading),
        (source.unknown, Role::Dim),
    ]
}

/// Where most of the bytes came from, and the next if it has a share.
fn main_sources(source: &Source) -> Vec<(f64, &'static str)> {
    let mut each = vec![
        (source.device, "device"),
        (source.page_cache, "page cache"),
        (source.hole, "hole"),
        (source.unknown, "unknown"),
    ];
    each.sort_by(|a, b| b.0.total_cmp(&a.0));
    each.retain(|(share, _)| *share >= 0.005);
    each.truncate(2);
    each
}

/// `62 % system, 4 % user` with bright numbers, as many of them as there is room for; the first one
/// always.
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
            span(look, Role::Dim, comma),
            span(look, Role::Number, number),
            span(look, Role::Dim, rest),
        ]);
    }
    if spans.is_empty() {
        spans.push(span(look, Role::Dim, "not known"));
    }
    spans
}

//! The backends pane: boxes to tick, greyed where they make no sense.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Hit, Shown};
use crate::plan::{Backends, Info};
use crate::tui::setup::objection;
use crate::tui::setup::state::Pane;
use crate::tui::theme::Role;
use crate::tui::view::pane;

fn first(shown: &Shown, height: u16) -> usize {
    pane::first_row(shown.setup.backend, shown.setup.infos.len(), usize::from(height))
}

pub fn hit(shown: &Shown, inner: Rect, row: usize) -> Option<Hit> {
    let at = first(shown, inner.height) + row;
    (at < shown.setup.infos.len()).then_some(Hit::Backend(at))
}

/// The name of a backend as chosen, with its options; `None` where it is not.
pub fn chosen(shown: &Shown, info: &Info) -> Option<String> {
    if shown.setup.by_sweep("backend").is_some() {
        let mut all = shown.setup.preset.sweeps.iter().filter_map(|sweep| sweep.backend.as_ref());
        let has = |own: &Backends| matches!(own, Backends::These(list) if list.iter().any(|choice| choice.id == info.id));
        return all.any(|own| *own == Backends::All || has(own)).then(|| info.id.into());
    }
    let choices = shown.counts.backend.as_ref()?.choices(&shown.setup.infos);
    let own: Vec<String> =
        choices.iter().filter(|choice| choice.id == info.id).map(ToString::to_string).collect();
    (!own.is_empty()).then(|| own.join(","))
}

pub fn draw(shown: &Shown, area: Rect, buf: &mut Buffer) {
    let infos = &shown.setup.infos;
    let count = infos.iter().filter(|info| chosen(shown, info).is_some()).count();
    let inner = shown.frame(
        Pane::Backends,
        "Backends",
        &if shown.setup.by_sweep("backend").is_some() {
            "by sweep".into()
        } else if area.width < 24 {
            count.to_string()
        } else {
            format!("{count} of {}", infos.len())
        },
        area,
        buf,
    );
    let first = first(shown, inner.height);
    let names = infos
        .iter()
        .map(|info| pane::width(&chosen(shown, info).unwrap_or_else(|| info.id.into())))
        .max()
        .unwrap_or(0);
    let names = names.min(usize::from(inner.width).saturating_sub(4));
    for (line, (at, info)) in
        infos.iter().enumerate().skip(first).take(usize::from(inner.height)).enumerate()
    {
        let text = row(shown, info, names, usize::from(inner.width));
        match at == shown.setup.backend && shown.focused(Pane::Backends) {
            true => shown.bar(text, line as u16, inner, buf),
            false => pane::line(text, line as u16, inner, buf),
        }
    }
    pane::scrollbar(shown.look, first, infos.len(), inner, buf);
    let below = infos.len() as u16 + 1;
    if let Some(info) = infos.get(shown.setup.backend).filter(|_| inner.height > below + 2) {
        let rest = Rect { y: inner.y + below, height: inner.height - below, ..inner };
        about(shown, info, rest, buf);
    }
}

fn row(shown: &Shown, info: &Info, names: usize, width: usize) -> Line<'static> {
    let why = objection::backend(info, &shown.given);
    let own = chosen(shown, info);
    let [on, off] = shown.checks();
    let (mark, mark_role) = if own.is_some() { (on, Role::Good) } else { (off, Role::Dim) };
    let role = match (&why, &own) {
        (Some(_), _) => Role::Off,
        (None, Some(_)) => Role::Number,
        (None, None) => Role::Text,
    };
    let name = pane::fit(&own.unwrap_or_else(|| info.id.into()), names);
    let gap = " ".repeat(names + 2 - pane::width(&name).min(names));
    let room = width.saturating_sub(names + 5);
    let beside = if room < 7 {
        String::new()
    } else {
        pane::fit(&why.clone().unwrap_or_else(|| info.title.into()), room)
    };
    let mark_role = if why.is_some() { Role::Off } else { mark_role };
    Line::from(vec![
        Span::styled(format!(" {mark} "), shown.style(mark_role)),
        Span::styled(name + &gap, shown.style(role)),
        Span::styled(beside, shown.style(if why.is_some() { Role::Off } else { Role::Dim })),
    ])
}

/// What the backend under the cursor is.
fn about(shown: &Shown, info: &Info, area: Rect, buf: &mut Buffer) {
    let rule = shown.look.glyph("╌", "-").repeat(usize::from(area.width));
    pane::line(Line::styled(rule, shown.style(Role::Border)), 0, area, buf);
    let columns = usize::from(area.width.saturating_sub(3));
    let mut lines = Vec::new();
    if let Some(why) = objection::backend(info, &shown.given) {
        lines.extend(pane::wrap(&why, columns).into_iter().map(|part| (part, Role::Misleading)));
    }
    lines.extend(pane::wrap(info.doc, columns).into_iter().map(|part| (part, Role::Dim)));
    for option in info.options {
        let value = option.value.map(|value| format!("={value}")).unwrap_or_default();
        let text = format!("+{}{value}  {}", option.name, option.about);
        lines.extend(pane::wrap(&text, columns).into_iter().map(|part| (part, Role::Text)));
    }
    for (row, (text, role)) in lines.into_iter().enumerate() {
        pane::line(Line::styled(format!("  {text}"), shown.style(role)), row as u16 + 1, area, buf);
    }
}

//! The backends pane: checkboxes, greyed where they conflict with other choices.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scene::SetupScene;
use crate::plan::{Backends, Info};
use crate::setup::state::SetupPane;
use crate::theme::Role;
use crate::view::list::List;
use crate::view::{Hits, Part, pane};

/// Returns the name of a selected backend with its options; `None` if it is not selected.
pub fn selected_name(scene: &SetupScene, info: &Info) -> Option<String> {
    if scene.setup.sweep_values("backend").is_some() {
        let mut by_sweep =
            scene.setup.preset.sweeps.iter().filter_map(|sweep| sweep.backend.as_ref());
        let includes = |backends: &Backends| match backends {
            Backends::These(list) => list.iter().any(|choice| choice.id == info.id),
            _ => false,
        };
        return by_sweep
            .any(|backends| *backends == Backends::All || includes(backends))
            .then(|| info.id.into());
    }
    let choices = scene.effective().backend.as_ref()?.choices(&scene.setup.infos);
    let names: Vec<String> =
        choices.iter().filter(|choice| choice.id == info.id).map(ToString::to_string).collect();
    (!names.is_empty()).then(|| names.join(","))
}

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let infos = &scene.setup.infos;
    let count = infos.iter().filter(|info| selected_name(scene, info).is_some()).count();
    let inner = scene.frame(
        SetupPane::Backends,
        "Backends",
        &if scene.setup.sweep_values("backend").is_some() {
            "per sweep".into()
        } else if area.width < 24 {
            count.to_string()
        } else {
            format!("{count} of {}", infos.len())
        },
        area,
        buf,
    );
    let (rows, cursor) = (scene.setup.backend_rows(), scene.setup.backend_cursor());
    let names = rows
        .shown
        .iter()
        .map(|info| pane::width(&selected_name(scene, info).unwrap_or_else(|| info.id.into())))
        .max()
        .unwrap_or(0);
    let names = names.min(usize::from(inner.width).saturating_sub(4));
    let line = |at: usize| match rows.get(at) {
        Some(info) => row_line(scene, info, names, usize::from(inner.width)),
        None => scene.fold_line(rows.hidden, if area.width < 24 { "" } else { "backends" }),
    };
    let selected = Some(cursor).filter(|_| scene.focused(SetupPane::Backends));
    let list = List::around(cursor, rows.len(), inner);
    hits.list(Part::Setup(SetupPane::Backends), list);
    scene.draw_list(list, selected, line, buf);
    let below = rows.len() as u16 + 1;
    if let Some(info) = scene.setup.current_backend().filter(|_| inner.height > below + 2) {
        let rest = Rect { y: inner.y + below, height: inner.height - below, ..inner };
        draw_about(scene, info, rest, buf);
    }
}

fn row_line(scene: &SetupScene, info: &Info, names: usize, width: usize) -> Line<'static> {
    let why = scene.constraints.object_to("backend", info.id);
    let selected = selected_name(scene, info);
    let [on, off] = scene.checks();
    let (mark, mark_role) = if selected.is_some() { (on, Role::Good) } else { (off, Role::Dim) };
    let role = match (&why, &selected) {
        (Some(_), _) => Role::Off,
        (None, Some(_)) => Role::Number,
        (None, None) => Role::Text,
    };
    let name = pane::fit(&selected.unwrap_or_else(|| info.id.into()), names);
    let room = width.saturating_sub(names + 5);
    let beside = if room < 7 {
        String::new()
    } else {
        let short = why.as_deref().map(|why| shorten(why, info.id));
        pane::fit(&short.unwrap_or_else(|| info.title.into()), room)
    };
    let mark_role = if why.is_some() { Role::Off } else { mark_role };
    Line::from(vec![
        scene.look.span(mark_role, format!(" {mark} ")),
        scene.look.span(role, pane::pad(&name, names + 2)),
        scene.look.span(if why.is_some() { Role::Off } else { Role::Dim }, beside),
    ])
}

/// Shortens the reason against a backend for the place next to its name: `no direct I/O`.
fn shorten(why: &str, id: &str) -> String {
    let first = why.split(';').next().unwrap_or(why);
    let own = first.strip_prefix(id).map_or(first, str::trim_start);
    own.replace("does not support", "no")
}

/// Draws the description of the backend under the cursor.
fn draw_about(scene: &SetupScene, info: &Info, area: Rect, buf: &mut Buffer) {
    let columns = usize::from(area.width.saturating_sub(3));
    let mut lines = Vec::new();
    let mut push = |role, text: &str| {
        lines.extend(pane::paragraph(scene.look, role, "  ", text, columns));
    };
    if let Some(why) = scene.constraints.object_to("backend", info.id) {
        push(Role::Misleading, &why);
    }
    push(Role::Dim, info.doc);
    // Options are for the few who look for them here.
    for option in info.options.iter().filter(|_| scene.focused(SetupPane::Backends)) {
        let value = option.value.map(|value| format!("={}", value.word)).unwrap_or_default();
        push(Role::Text, &format!("+{}{value}  {}", option.name, option.about));
    }
    scene.draw_notes(lines, area, buf);
}

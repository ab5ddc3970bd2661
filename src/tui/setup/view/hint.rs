//! The line below the panes: what is under the cursor, or why it makes no sense.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::Scene;
use super::target;
use crate::tui::setup::objection;
use crate::tui::setup::rows::{self, Kind, ROWS};
use crate::tui::setup::state::Pane;
use crate::tui::theme::Role;
use crate::tui::view::pane;

pub fn draw(scene: &Scene, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let (why, text) = match scene.setup.focus {
        Pane::Target => of_target(scene),
        Pane::Backends => of_backend(scene),
        Pane::What => of_row(scene),
        Pane::Blocks => of_blocks(scene),
        Pane::Plan => (
            None,
            "enter run · y copy the command · w save as preset · d all findings and remedies"
                .into(),
        ),
    };
    let room = usize::from(area.width.saturating_sub(4));
    let text = text.replace(" · ", scene.dot());
    let line = match why {
        Some(why) => {
            let sign = scene.look.glyph("▲", "!");
            Line::from(vec![
                Span::styled(format!(" {sign} "), scene.style(Role::Misleading)),
                Span::styled(pane::fit_words(&why, room), scene.style(Role::Misleading)),
            ])
        }
        None => Line::styled(
            format!(" {}", pane::fit_parts(&text, scene.dot(), room + 2)),
            scene.style(Role::Dim),
        ),
    };
    pane::line(line, 0, area, buf);
}

type Said = (Option<String>, String);

fn of_target(scene: &Scene) -> Said {
    let browser = &scene.setup.browser;
    let facts: Vec<String> = target::known(scene)
        .into_iter()
        .map(|(name, value)| match name {
            "stored" | "free" => format!("{value} {name}"),
            _ => value,
        })
        .collect();
    let keys = match browser.row() {
        Some(row) if browser.folder(row).is_some() => "enter open · space scratch file here",
        Some(_) => "enter choose",
        None => "esc all files",
    };
    let facts =
        if facts.is_empty() { String::new() } else { format!(" · {}", facts.join(" · ")) };
    (browser.objection(), format!("{keys}{facts}"))
}

fn of_backend(scene: &Scene) -> Said {
    match scene.setup.infos.get(scene.setup.backend) {
        Some(info) => {
            (objection::backend(info, &scene.given), format!("{}: {}", info.title, info.about))
        }
        None => (None, String::new()),
    }
}

fn of_row(scene: &Scene) -> Said {
    let Some(row) = ROWS.get(scene.setup.row) else { return (None, String::new()) };
    let why = match rows::kind(row) {
        Kind::Some(items) => items
            .get(scene.setup.mark)
            .and_then(|item| objection::value(row.name, item, &scene.given)),
        Kind::One(items) => objection::now(row.name, &scene.given).or_else(|| {
            // What is greyed is explained before it is tried.
            items.iter().find_map(|item| {
                objection::value(row.name, item, &scene.given)
                    .map(|why| format!("{}: {why}", rows::shown(item)))
            })
        }),
        Kind::Text => objection::now(row.name, &scene.given),
    };
    (why, row.help())
}

fn of_blocks(scene: &Scene) -> Said {
    let values = scene.counts.block_size.iter().flat_map(|range| &range.values);
    let why = values.rev().find_map(|value| objection::block(*value, &scene.given));
    let keys =
        "left/right move the marked end · space other end · up/down fewer or more sizes · i type";
    (why, keys.into())
}

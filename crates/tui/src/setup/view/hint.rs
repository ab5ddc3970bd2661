//! The line below the panes: help for the row under the cursor, or why it conflicts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scene::SetupScene;
use super::target;
use crate::setup::browser::BrowserRow;
use crate::setup::rows::{self, RowKind};
use crate::setup::state::SetupPane;
use crate::theme::Role;
use crate::view::pane;

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer) {
    let (why, text) = match scene.setup.focus {
        SetupPane::Target => target_hint(scene),
        SetupPane::Backends => backend_hint(scene),
        SetupPane::Workload => row_hint(scene),
        SetupPane::Blocks => blocks_hint(scene),
        SetupPane::Plan => (
            None,
            "enter run · y copy the command · b budget · w save as preset · d findings, remedies"
                .into(),
        ),
    };
    let room = usize::from(area.width.saturating_sub(4));
    let text = text.replace(" · ", scene.dot());
    // The last line says it already.
    let why = why.filter(|why| scene.ctx.told != Some(why.as_str()));
    let line = match why {
        Some(why) => Line::from(vec![
            scene.look.span(Role::Misleading, " ! "),
            scene.look.span(Role::Misleading, pane::fit_words(&why, room)),
        ]),
        None => scene
            .look
            .line(Role::Dim, format!(" {}", pane::fit_parts(&text, scene.dot(), room + 2))),
    };
    pane::line(line, 0, area, buf);
}

type Hint = (Option<String>, String);

fn target_hint(scene: &SetupScene) -> Hint {
    let browser = &scene.setup.browser;
    let facts: Vec<String> = target::facts_at_cursor(scene)
        .into_iter()
        .map(|(name, value)| match name {
            "free" => format!("{value} {name}"),
            // The rest of the value says what is not.
            "stored" => match value.split_once(", ") {
                Some((share, rest)) => format!("{share} {name}, {rest}"),
                None => format!("{value} {name}"),
            },
            _ => value,
        })
        .collect();
    let keys = match browser.row() {
        Some(row) if browser.folder(row).is_some() && scene.setup.picks => {
            "enter open · & its files as one"
        }
        Some(BrowserRow::Scratch) if scene.setup.picks => "pick a file · / filter",
        _ if scene.setup.picks => "enter measures it · / filter · esc back to the questions",
        Some(row) if browser.folder(row).is_some() => {
            "enter open · space scratch file here · m compare folders · & its files"
        }
        Some(BrowserRow::Scratch) => "enter choose",
        Some(_) => "enter choose · m/& several",
        None => "esc all files",
    };
    let facts =
        if facts.is_empty() { String::new() } else { format!(" · {}", facts.join(" · ")) };
    (browser.objection(), format!("{keys}{facts}"))
}

fn backend_hint(scene: &SetupScene) -> Hint {
    match scene.setup.current_backend() {
        Some(info) => (
            scene.constraints.object_to("backend", info.id),
            format!("{}: {}", info.title, info.about),
        ),
        None => (None, "enter shows or hides the backends that are rarely needed".into()),
    }
}

fn row_hint(scene: &SetupScene) -> Hint {
    let Some(row) = scene.setup.current_setting() else {
        return (None, "enter shows or hides the settings that are rarely changed".into());
    };
    let why = match rows::kind(row) {
        RowKind::SomeOf(items) => {
            items.get(scene.setup.mark).and_then(|item| scene.constraints.object_to(row.name, item))
        }
        RowKind::OneOf(items) => {
            scene.constraints.object_to_current(row.name).or_else(|| {
                // Explain greyed items before they are tried.
                items.iter().find_map(|item| {
                    scene
                        .constraints
                        .object_to(row.name, item)
                        .map(|why| format!("{}: {why}", rows::display_value(item)))
                })
            })
        }
        RowKind::Text => scene.constraints.object_to_current(row.name),
    };
    (why, row.help())
}

fn blocks_hint(scene: &SetupScene) -> Hint {
    let sizes =
        scene.setup.shown_blocks(scene.effective()).map_or(Vec::new(), |range| range.values);
    let why = sizes.iter().rev().find_map(|size| scene.constraints.object_to_block(*size));
    if scene.setup.has_table() {
        let keys = "space takes a row out, or puts it back · i block sizes of all rows";
        return (why, keys.into());
    }
    let keys = "left/right move the marked end · space other end · up/down fewer or more sizes · \
         i type";
    (why, keys.into())
}

//! The slider of block sizes, or the table of a preset whose sweeps have block sizes of their own.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scene::SetupScene;
use crate::plan::{Op, Settings};
use crate::setup::slider::{BandEnd, MAX_POWER, position};
use crate::setup::state::SetupPane;
use crate::spoken::describe_settings;
use crate::theme::Role;
use crate::units::{short_bytes, show_bytes};
use crate::view::list::List;
use crate::view::{Hits, Part, Target, pane};

/// Returns the first column and the width of the rail.
fn rail(inner: Rect) -> (u16, u16) {
    (inner.x + 1, inner.width.saturating_sub(2).max(2))
}

fn column(inner: Rect, power: f64) -> u16 {
    let (x, width) = rail(inner);
    x + (power / f64::from(MAX_POWER) * f64::from(width - 1)).round() as u16
}

/// Returns the power of two at a column.
fn power_at(inner: Rect, at: u16) -> u32 {
    let (x, width) = rail(inner);
    let along = f64::from(at.saturating_sub(x).min(width - 1)) / f64::from(width - 1);
    (along * f64::from(MAX_POWER)).round() as u32
}

/// Draws a line per sweep: `√ SEQ1M Q8 read`.
fn draw_table(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let setup = scene.setup;
    let sweeps = &setup.preset.sweeps;
    let out = setup.rows_out.len();
    let right = match out {
        0 => sweeps.len().to_string(),
        _ => format!("{} of {}", sweeps.len() - out, sweeps.len()),
    };
    let inner = scene.frame(SetupPane::Blocks, "Rows", &right, area, buf);
    let list = List::around(setup.sweep, sweeps.len(), inner);
    hits.list(Part::Setup(SetupPane::Blocks), list);
    let [on, off] = scene.checks();
    let line = |at: usize| {
        let (mark, role, text) = match setup.rows_out.contains(&at) {
            true => (off, Role::Dim, Role::Dim),
            false => (on, Role::Good, Role::Text),
        };
        let name = pane::fit(&name_sweep(&sweeps[at]), usize::from(inner.width).saturating_sub(4));
        Line::from(vec![scene.look.span(role, format!(" {mark} ")), scene.look.span(text, name)])
    };
    let selected = Some(setup.sweep).filter(|_| scene.focused(SetupPane::Blocks));
    scene.draw_list(list, selected, line, buf);
}

/// Settings that the short name of a sweep has.
const NAMED: [&str; 5] = ["op", "block-size", "pattern", "depth", "threads"];

/// Names a sweep as storage benchmarks do, `RND4K Q32T16 write`; another one by its settings.
fn name_sweep(sweep: &Settings) -> String {
    let sizes = sweep.block_size.as_ref().map(|range| &range.values[..]);
    let order = match sweep.text("pattern").as_deref() {
        None | Some("seq") => "SEQ",
        Some("random") => "RND",
        Some(_) => "",
    };
    let is_known = sweep.given_values().all(|(name, _)| NAMED.contains(&name));
    match sizes {
        Some([size]) if is_known && !order.is_empty() => {
            let number = |name: &str, letter: &str| match sweep.text(name) {
                Some(text) if text != "1" => format!("{letter}{text}"),
                _ => String::new(),
            };
            let load = match (number("depth", "Q"), number("threads", "T")) {
                (depth, threads) if depth.is_empty() => format!("Q1{threads}"),
                (depth, threads) => depth + &threads,
            };
            let op = sweep.text("op").unwrap_or_else(|| Op::Read.name().into());
            let size = short_bytes(*size).to_uppercase();
            format!("{:<8} {load:<7} {op}", format!("{order}{size}"))
        }
        _ => describe_settings(sweep),
    }
}

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if scene.setup.has_table() {
        return draw_table(scene, area, buf, hits);
    }
    let right = describe(&blocks(scene));
    let inner = scene.frame(SetupPane::Blocks, "Block size", &right, area, buf);
    for column in inner.columns() {
        hits.area(column, Target::BlockSize(power_at(inner, column.x)));
    }
    draw_rail(scene, inner, buf);
    if inner.height > 1 {
        draw_scale(scene, inner, buf);
    }
}

/// Returns the block sizes that are measured.
fn blocks(scene: &SetupScene) -> Vec<u64> {
    scene.setup.shown_blocks(scene.effective()).map(|range| range.values).unwrap_or_default()
}

/// Describes block sizes in words: `4 KiB to 2 MiB, 4 sizes`.
fn describe(values: &[u64]) -> String {
    let (least, most) = (values.iter().min(), values.iter().max());
    match (least, most) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}, {} sizes", show_bytes(*least), show_bytes(*most), values.len())
        }
        (Some(only), _) => show_bytes(*only),
        _ => String::new(),
    }
}

fn put(buf: &mut Buffer, x: u16, y: u16, text: &str, style: ratatui::style::Style) {
    buf.set_string(x, y, text, style);
}

fn draw_rail(scene: &SetupScene, inner: Rect, buf: &mut Buffer) {
    let (x, width) = rail(inner);
    let y = inner.y;
    let (thin, thick) = (scene.look.glyph("─", "-"), scene.look.glyph("━", "="));
    put(buf, x, y, &thin.repeat(usize::from(width)), scene.style(Role::Border));
    let Some(band) = scene.setup.band(scene.effective()) else { return };
    let (low, high) = (column(inner, position(band.low)), column(inner, position(band.high)));
    let focused = scene.focused(SetupPane::Blocks);
    let role = if focused { Role::Focus } else { Role::Text };
    for at in low..=high {
        put(buf, at, y, thick, scene.style(role));
    }
    for value in blocks(scene) {
        let bad = scene.constraints.object_to_block(value).is_some();
        let (mark, role) = if bad {
            (scene.look.glyph("○", "."), Role::Off)
        } else {
            (scene.look.glyph("●", "o"), Role::Number)
        };
        put(buf, column(inner, position(value)), y, mark, scene.style(role));
    }
    if focused {
        let at = if scene.setup.end == BandEnd::Low { low } else { high };
        put(buf, at, y, scene.look.glyph("■", "#"), scene.style(Role::Selected));
    }
}

/// Draws the names of sizes below the rail, bright within the band.
fn draw_scale(scene: &SetupScene, inner: Rect, buf: &mut Buffer) {
    let band = scene.setup.band(scene.effective());
    let every = if inner.width >= 150 {
        1
    } else if inner.width >= 100 {
        2
    } else {
        4
    };
    let mut free = inner.x;
    for power in (0..=MAX_POWER).filter(|power| power % every == 0 || *power == MAX_POWER) {
        let text = short_bytes(1 << power);
        let width = pane::width(&text) as u16;
        let middle = column(inner, power.into());
        let at = middle
            .saturating_sub(width / 2)
            .max(inner.x + 1)
            .min(inner.right().saturating_sub(width + 1));
        if at < free {
            continue;
        }
        let within = band.is_some_and(|band| (band.low..=band.high).contains(&(1 << power)));
        put(buf, at, inner.y + 1, &text, scene.style(if within { Role::Text } else { Role::Dim }));
        free = at + width + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_have_benchmark_names() {
        let peak = crate::plan::preset("peak").unwrap();
        let names: Vec<String> = peak.sweeps.iter().map(name_sweep).collect();
        assert_eq!(names[0], "SEQ1M    Q8      read");
        assert_eq!(names[6], "RND4K    Q32T16  write");
        assert_eq!(names[7], "RND4K    Q1      write");
    }

    #[test]
    fn sizes_are_described_in_words() {
        for (values, wanted) in [
            (&[4096, 32768, 262_144, 2 << 20][..], "4 KiB to 2 MiB, 4 sizes"),
            (&[4096], "4 KiB"),
            (&[], ""),
        ] {
            assert_eq!(describe(values), wanted);
        }
    }
}

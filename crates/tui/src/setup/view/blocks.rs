//! The slider of block sizes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::scene::SetupScene;
use crate::setup::slider::{BandEnd, MAX_POWER, position};
use crate::setup::state::SetupPane;
use crate::theme::Role;
use crate::units::{short_bytes, show_bytes};
use crate::view::{Hits, Target, pane};

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

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let by_sweep = scene.setup.sweep_values("block-size").is_some();
    let mut right = describe(&blocks(scene));
    if by_sweep {
        right += ", by sweep";
    }
    let inner = scene.frame(SetupPane::Blocks, "Block size", &right, area, buf);
    for column in inner.columns() {
        hits.area(column, Target::BlockSize(power_at(inner, column.x)));
    }
    draw_rail(scene, inner, buf);
    draw_scale(scene, inner, buf);
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
    let by_sweep = scene.setup.sweep_values("block-size").is_some();
    for at in (low..=high).filter(|_| !by_sweep) {
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

//! A terminal screen as SVG.

use std::fmt::Write;

/// Pixels of a cell.
const W: f64 = 8.4;
const H: f64 = 18.0;
const MARGIN: f64 = 12.0;
const PAPER: &str = "#16161e";
const INK: &str = "#c0caf5";

/// The 16 named colours, for programs that use them.
const NAMED: [&str; 16] = [
    "#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#a9b1d6",
    "#565f89", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#c0caf5",
];

pub fn picture(screen: &vt100::Screen, (columns, rows): (u16, u16)) -> String {
    let (width, height) =
        (f64::from(columns) * W + 2.0 * MARGIN, f64::from(rows) * H + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for row in 0..rows {
        let mut text: Option<Run> = None;
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column) else { continue };
            let (mut fg, mut bg) = (colour(cell.fgcolor(), INK), colour(cell.bgcolor(), ""));
            if cell.inverse() {
                (fg, bg) = (if bg.is_empty() { PAPER.into() } else { bg }, fg);
            }
            let (x, y) = (MARGIN + f64::from(column) * W, MARGIN + f64::from(row) * H);
            if !bg.is_empty() {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{H}\" fill=\"{bg}\"/>",
                    W + 0.2
                );
            }
            let letter = cell.contents().chars().next().unwrap_or(' ');
            if shape(&mut svg, letter, x, y, &fg) || letter == ' ' {
                close(&mut svg, text.take());
                continue;
            }
            let style = (fg, cell.bold(), cell.underline());
            match &mut text {
                Some(run) if run.style == style => run.text.push(letter),
                _ => {
                    close(&mut svg, text.take());
                    text = Some(Run { x, y, style, text: letter.into() });
                }
            }
        }
        close(&mut svg, text.take());
    }
    svg.push_str("</svg>\n");
    svg
}

struct Run {
    x: f64,
    y: f64,
    style: (String, bool, bool),
    text: String,
}

/// Writes letters of one style, with a fixed length so that every column stays in place.
fn close(svg: &mut String, run: Option<Run>) {
    let Some(Run { x, y, style: (fill, bold, underline), text }) = run else { return };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let weight = if bold { " font-weight=\"bold\"" } else { "" };
    let line = if underline { " text-decoration=\"underline\"" } else { "" };
    let length = text.chars().count() as f64 * W;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{fill}\"{weight}{line} textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\">{escaped}</text>",
        y + 13.5
    );
}

fn colour(colour: vt100::Color, default: &str) -> String {
    match colour {
        vt100::Color::Default => default.into(),
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        vt100::Color::Idx(n @ 0..=15) => NAMED[usize::from(n)].into(),
        vt100::Color::Idx(n @ 232..=255) => {
            let grey = 8 + (n - 232) * 10;
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
        vt100::Color::Idx(n) => {
            let level = |v: u8| if v == 0 { 0 } else { 55 + 40 * v };
            let n = n - 16;
            format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6 % 6), level(n % 6))
        }
    }
}

/// Draws a glyph that is a shape rather than a letter; false for letters.
fn shape(svg: &mut String, letter: char, x: f64, y: f64, fill: &str) -> bool {
    match letter {
        '\u{2800}'..='\u{28ff}' => braille(svg, letter as u32 - 0x2800, x, y, fill),
        '▁'..='█' => {
            let part = (letter as u32 - '▁' as u32 + 1) as f64 / 8.0;
            rect(svg, x, y + H * (1.0 - part), W, H * part, fill);
        }
        '▉'..='▏' => {
            rect(svg, x, y, W * (8 - (letter as u32 - '█' as u32)) as f64 / 8.0, H, fill)
        }
        '░' | '▒' | '▓' => {
            let alpha = [0.25, 0.5, 0.75][(letter as u32 - '░' as u32) as usize];
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{W}\" height=\"{H}\" fill=\"{fill}\" opacity=\"{alpha}\"/>"
            );
        }
        _ => return lines(svg, letter, x, y, fill),
    }
    true
}

fn rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, fill: &str) {
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>",
        width + 0.1,
        height + 0.1
    );
}

/// Draws eight dots, numbered down the left column, down the right, then along the lowest row.
fn braille(svg: &mut String, bits: u32, x: f64, y: f64, fill: &str) {
    const PLACES: [(f64, f64); 8] = [
        (0.0, 0.0),
        (0.0, 1.0),
        (0.0, 2.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 3.0),
        (1.0, 3.0),
    ];
    for (bit, (column, row)) in PLACES.iter().enumerate() {
        if bits >> bit & 1 == 1 {
            let (cx, cy) = (x + W * (0.25 + 0.5 * column), y + H * (0.125 + 0.25 * row));
            let _ =
                writeln!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"1.35\" fill=\"{fill}\"/>");
        }
    }
}

/// Draws box lines towards the sides that a glyph reaches: left, right, up, down.
fn lines(svg: &mut String, letter: char, x: f64, y: f64, stroke: &str) -> bool {
    let (left, right, up, down) = match letter {
        '─' | '━' | '┄' | '╌' => (true, true, false, false),
        '│' | '┃' | '┆' | '╎' => (false, false, true, true),
        '╭' | '┌' => (false, true, false, true),
        '╮' | '┐' => (true, false, false, true),
        '╰' | '└' => (false, true, true, false),
        '╯' | '┘' => (true, false, true, false),
        '├' | '┣' => (false, true, true, true),
        '┤' | '┫' => (true, false, true, true),
        '┬' => (true, true, false, true),
        '┴' => (true, true, true, false),
        '┼' => (true, true, true, true),
        '╷' => (false, false, false, true),
        '╵' => (false, false, true, false),
        '╴' => (true, false, false, false),
        '╶' => (false, true, false, false),
        _ => return false,
    };
    let (cx, cy) = (x + W / 2.0, y + H / 2.0);
    let heavy = matches!(letter, '━' | '┃' | '┣' | '┫');
    let dashed = if matches!(letter, '┄' | '╌' | '┆' | '╎') {
        " stroke-dasharray=\"2 2\""
    } else {
        ""
    };
    let mut path = String::new();
    for (on, tx, ty) in [(left, x, cy), (right, x + W, cy), (up, cx, y), (down, cx, y + H)] {
        if on {
            let _ = write!(path, "M{cx:.1} {cy:.1}L{tx:.1} {ty:.1}");
        }
    }
    let width = if heavy { 2.4 } else { 1.2 };
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" stroke=\"{stroke}\" stroke-width=\"{width}\" fill=\"none\"{dashed}/>"
    );
    true
}

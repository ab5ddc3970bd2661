//! Screens as SVG, one or a film. Blocks, lines and Braille dots are drawn as shapes, so that they
//! look the same with any font.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// Pixels of a cell: whole numbers keep the files small.
const W: u16 = 8;
const H: u16 = 16;
const MARGIN: u16 = 12;
/// The colours of a terminal, where the theme leaves them to it.
const PAPER: &str = "#1a1b26";
const INK: &str = "#c0caf5";
/// Columns of a piece: a pane changes while its neighbour does not.
const PIECE: u16 = 10;

/// The 16 named colours.
const NAMED: [&str; 16] = [
    "#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#a9b1d6",
    "#565f89", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#c0caf5",
];

/// Returns one screen.
pub fn picture(screen: &Buffer) -> String {
    let mut classes = Classes::default();
    let rows =
        (0..screen.area.height).map(|row| piece(&mut classes, screen, row, 0, screen.area.width));
    let rows: String = rows.collect();
    begin(screen, &classes.rules()) + &rows + "</svg>\n"
}

/// Returns screens one after the other, for ever; each with its time in milliseconds. What stays
/// the same from one to the next is there once. Where nothing moves, `poster` is shown.
pub fn film(frames: &[(Buffer, u32)], poster: usize) -> String {
    let screen = &frames[0].0;
    // When each begins, and the end of all.
    let mut starts = vec![0u32];
    for (_, millis) in frames {
        starts.push(starts[starts.len() - 1] + millis);
    }
    let mut classes = Classes::default();
    let mut shown: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for row in 0..screen.area.height {
        for from in (0..screen.area.width).step_by(usize::from(PIECE)) {
            let to = (from + PIECE).min(screen.area.width);
            let mut begin = 0;
            let mut now = piece(&mut classes, screen, row, from, to);
            for at in 1..=frames.len() {
                let next =
                    frames.get(at).map(|(screen, _)| piece(&mut classes, screen, row, from, to));
                if next.as_ref() != Some(&now) {
                    shown.entry((begin, at)).or_default().push_str(&now);
                    (begin, now) = (at, next.unwrap_or_default());
                }
            }
        }
    }
    shown.retain(|_, parts| !parts.is_empty());
    let rules = style(shown.keys().copied().collect(), &starts, poster) + &classes.rules();
    let mut svg = begin(screen, &rules);
    for ((from, to), parts) in &shown {
        let class = class(*from, *to, frames.len());
        let _ = writeln!(svg, "<g{class}>\n{parts}</g>");
    }
    svg + "</svg>\n"
}

fn class(from: usize, to: usize, all: usize) -> String {
    if (from, to) == (0, all) { String::new() } else { format!(" class=\"f{from}_{to}\"") }
}

/// Returns the rules that show each part in its frames.
fn style(parts: BTreeSet<(usize, usize)>, starts: &[u32], poster: usize) -> String {
    let (all, end) = (starts.len() - 1, starts[starts.len() - 1]);
    let percent = |frame: usize| f64::from(starts[frame]) * 100.0 / f64::from(end);
    let mut css = String::from("g[class]{visibility:hidden}");
    for (from, to) in parts.iter().filter(|part| **part != (0, all)) {
        if (*from..*to).contains(&poster) {
            let _ = write!(css, "g.f{from}_{to}{{visibility:visible}}");
        }
    }
    css.push_str("@media(prefers-reduced-motion:no-preference){");
    for (from, to) in parts.iter().filter(|part| **part != (0, all)) {
        let mut steps = String::new();
        if *from > 0 {
            steps.push_str("0%{visibility:hidden}");
        }
        let _ = write!(steps, "{:.3}%{{visibility:visible}}", percent(*from));
        if *to < all {
            let _ = write!(steps, "{:.3}%{{visibility:hidden}}", percent(*to));
        }
        let _ = write!(
            css,
            "@keyframes f{from}_{to}{{{steps}}}.f{from}_{to}{{animation:f{from}_{to} {end}ms step-end infinite}}"
        );
    }
    css + "}"
}

/// The ways in which something is painted, each with a short name.
#[derive(Default)]
struct Classes(Vec<String>);

impl Classes {
    fn name(&mut self, rule: &str) -> String {
        let at = self.0.iter().position(|own| own == rule).unwrap_or_else(|| {
            self.0.push(rule.into());
            self.0.len() - 1
        });
        format!("c{at}")
    }

    fn rules(&self) -> String {
        let rules = self.0.iter().enumerate().map(|(at, rule)| format!(".c{at}{{{rule}}}"));
        rules.collect()
    }
}

fn begin(screen: &Buffer, style: &str) -> String {
    let (width, height) = (screen.area.width * W + 2 * MARGIN, screen.area.height * H + 2 * MARGIN);
    let paper = screen.content.first().map_or(PAPER.into(), |cell| paint(cell.bg, PAPER));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" fill=\"none\" xml:space=\"preserve\" \
         font-family=\"ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace\" \
         font-size=\"13.3\">\n<style>{style}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"{paper}\"/>\n"
    )
}

/// A cell as it is painted.
#[derive(PartialEq, Eq, Clone)]
struct Ink {
    fg: String,
    bg: Option<String>,
    bold: bool,
    underlined: bool,
    dim: bool,
}

impl Ink {
    fn of(cell: &Cell) -> Ink {
        let is = |modifier| cell.modifier.contains(modifier);
        let (mut fg, mut bg) =
            (paint(cell.fg, INK), (cell.bg != Color::Reset).then(|| paint(cell.bg, PAPER)));
        if is(Modifier::REVERSED) {
            (fg, bg) = (bg.unwrap_or_else(|| PAPER.into()), Some(fg));
        }
        let bg = bg.filter(|bg| *bg != PAPER);
        Ink {
            fg,
            bg,
            bold: is(Modifier::BOLD),
            underlined: is(Modifier::UNDERLINED),
            dim: is(Modifier::DIM),
        }
    }
}

/// Shapes of one colour.
#[derive(Default)]
struct Shapes {
    areas: String,
    lines: String,
    heavy: String,
    dots: String,
}

/// Returns a part of a row.
fn piece(classes: &mut Classes, screen: &Buffer, row: u16, from: u16, to: u16) -> String {
    let mut svg = String::new();
    let y = MARGIN + row * H;
    let x_of = |column: u16| MARGIN + column * W;
    let inks: Vec<Ink> = (from..to).map(|column| Ink::of(&screen[(column, row)])).collect();
    grounds(classes, &mut svg, &inks, x_of(from), y);
    let mut shapes: BTreeMap<(String, bool), Shapes> = BTreeMap::new();
    let mut text: Option<(u16, Ink, String)> = None;
    for column in from..to {
        let letter = screen[(column, row)].symbol().chars().next().unwrap_or(' ');
        let ink = &inks[usize::from(column - from)];
        let own = shapes.entry((ink.fg.clone(), ink.dim)).or_default();
        if letter == ' ' || shape(own, letter, x_of(column), y) {
            letters(classes, &mut svg, text.take(), y);
            continue;
        }
        match &mut text {
            Some((_, style, letters)) if style == ink => letters.push(letter),
            _ => {
                letters(classes, &mut svg, text.take(), y);
                text = Some((x_of(column), ink.clone(), letter.into()));
            }
        }
    }
    letters(classes, &mut svg, text, y);
    for ((colour, dim), Shapes { areas, lines, heavy, dots }) in shapes {
        let dim = if dim { ";opacity:.6" } else { "" };
        for (path, paint) in [
            (areas, format!("fill:{colour}")),
            (lines, format!("stroke:{colour}")),
            (heavy, format!("stroke:{colour};stroke-width:2.4")),
            (dots, format!("stroke:{colour};stroke-width:2.6;stroke-linecap:round")),
        ] {
            if !path.is_empty() {
                let class = classes.name(&format!("{paint}{dim}"));
                let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
            }
        }
    }
    svg
}

fn grounds(classes: &mut Classes, svg: &mut String, inks: &[Ink], x: u16, y: u16) {
    let mut at = 0;
    for run in inks.chunk_by(|a, b| a.bg == b.bg) {
        let width = run.len() as u16;
        if let Some(bg) = &run[0].bg {
            let (class, x, width) = (classes.name(&format!("fill:{bg}")), x + at * W, width * W);
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{x} {y}h{width}v{H}h-{width}z\"/>");
        }
        at += width;
    }
}

/// Writes letters of one style, with a fixed length so that every column stays in place.
fn letters(classes: &mut Classes, svg: &mut String, run: Option<(u16, Ink, String)>, y: u16) {
    let Some((x, ink, text)) = run else { return };
    let length = text.chars().count() as u16 * W;
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let bold = if ink.bold { ";font-weight:bold" } else { "" };
    let line = if ink.underlined { ";text-decoration:underline" } else { "" };
    let dim = if ink.dim { ";opacity:.6" } else { "" };
    let class = classes.name(&format!("fill:{}{bold}{line}{dim}", ink.fg));
    let y = y + 12;
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" textLength=\"{length}\">{text}</text>"
    );
}

fn paint(colour: Color, default: &str) -> String {
    let named = |at: usize| NAMED[at].to_string();
    match colour {
        Color::Reset => default.into(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Indexed(n @ 0..=15) => named(usize::from(n)),
        Color::Indexed(n @ 232..) => {
            let grey = 8 + (n - 232) * 10;
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
        Color::Indexed(n) => {
            let level = |v: u8| if v == 0 { 0 } else { 55 + 40 * v };
            let n = n - 16;
            format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
    }
}

/// Adds a glyph that is a shape rather than a letter; false for letters.
fn shape(to: &mut Shapes, letter: char, x: u16, y: u16) -> bool {
    let mut area = |x: u16, y: u16, width: u16, height: u16| {
        let _ = write!(to.areas, "M{x} {y}h{width}v{height}h-{width}z");
    };
    match letter {
        '\u{2800}'..='\u{28ff}' => braille(&mut to.dots, letter as u32 - 0x2800, x, y),
        '▁'..='█' => {
            let height = (letter as u32 - '▁' as u32 + 1) as u16 * H / 8;
            area(x, y + H - height, W, height);
        }
        '▉'..='▏' => area(x, y, W * (8 - (letter as u32 - '█' as u32) as u16) / 8, H),
        '▀' => area(x, y, W, H / 2),
        '▐' => area(x + W / 2, y, W / 2, H),
        '▕' => area(x + W - 1, y, 1, H),
        '▖'..='▟' => {
            const QUADRANTS: [u8; 10] =
                [0b0100, 0b1000, 0b0001, 0b1101, 0b1001, 0b0111, 0b1011, 0b0010, 0b0110, 0b1110];
            let bits = QUADRANTS[(letter as u32 - '▖' as u32) as usize];
            for bit in (0..4).filter(|bit| bits >> bit & 1 == 1) {
                area(x + (bit & 1) * W / 2, y + (bit >> 1) * H / 2, W / 2, H / 2);
            }
        }
        '░' | '▒' | '▓' => {
            // Stripes that cover as much as a terminal does: a quarter, a half, three quarters.
            let height = (letter as u32 - '░' as u32) as u16 + 1;
            for row in (0..H).step_by(4) {
                area(x, y + row, W, height);
            }
        }
        _ => return lines(to, letter, x, y),
    }
    true
}

/// Draws eight dots, numbered down the left column, down the right, then along the lowest row.
fn braille(to: &mut String, bits: u32, x: u16, y: u16) {
    const PLACES: [(u16, u16); 8] =
        [(2, 2), (2, 6), (2, 10), (6, 2), (6, 6), (6, 10), (2, 14), (6, 14)];
    for (bit, (dx, dy)) in PLACES.iter().enumerate() {
        if bits >> bit & 1 == 1 {
            let _ = write!(to, "M{} {}h0", x + dx, y + dy);
        }
    }
}

/// Draws box lines towards the sides that a glyph reaches: left, right, up, down.
fn lines(to: &mut Shapes, letter: char, x: u16, y: u16) -> bool {
    let (left, right, up, down) = match letter {
        '─' | '━' | '┄' | '╌' | '┈' | '╍' | '┅' => (true, true, false, false),
        '│' | '┃' | '┆' | '╎' | '┊' => (false, false, true, true),
        '╭' | '┌' => (false, true, false, true),
        '╮' | '┐' => (true, false, false, true),
        '╰' | '└' => (false, true, true, false),
        '╯' | '┘' => (true, false, true, false),
        '├' | '┣' | '┝' => (false, true, true, true),
        '┤' | '┫' | '┥' => (true, false, true, true),
        '┬' => (true, true, false, true),
        '┴' => (true, true, true, false),
        '┼' | '┿' => (true, true, true, true),
        '╷' => (false, false, false, true),
        '╵' => (false, false, true, false),
        '╴' => (true, false, false, false),
        '╶' => (false, true, false, false),
        _ => return false,
    };
    let path = match letter {
        '━' | '┃' | '┣' | '┫' | '┅' | '╍' => &mut to.heavy,
        _ => &mut to.lines,
    };
    let (cx, cy) = (x + W / 2, y + H / 2);
    if matches!(letter, '┄' | '╌' | '┈' | '╍' | '┅') {
        let _ = write!(path, "M{x} {cy}h2m2 0h2");
        return true;
    }
    if matches!(letter, '┆' | '╎' | '┊') {
        let _ = write!(path, "M{cx} {y}v4m0 4v4");
        return true;
    }
    for (on, from, to) in [
        (left || right, (if left { x } else { cx }, cy), (if right { x + W } else { cx }, cy)),
        (up || down, (cx, if up { y } else { cy }), (cx, if down { y + H } else { cy })),
    ] {
        if on && from.1 == to.1 {
            let _ = write!(path, "M{} {}h{}", from.0, from.1, to.0 - from.0);
        } else if on {
            let _ = write!(path, "M{} {}v{}", from.0, from.1, to.1 - from.1);
        }
    }
    true
}

use std::collections::HashSet;

use super::file::{ANSI, Rgb, indexed};
use super::*;
use crate::catalog::{BACKENDS, identity};

/// Foreground, background and the sixteen colours of terminals, as published.
const PALETTES: [(&str, u32, u32, [u32; 16]); 10] = [
    (
        "xterm",
        0xe5e5e5,
        0x000000,
        [
            0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
            0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
        ],
    ),
    (
        "GNOME, Tango dark",
        0xd3d7cf,
        0x2e3436,
        [
            0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf,
            0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
        ],
    ),
    ("Solarized dark", 0x839496, 0x002b36, SOLARIZED),
    ("Solarized light", 0x657b83, 0xfdf6e3, SOLARIZED),
    (
        "VS Code dark",
        0xcccccc,
        0x1e1e1e,
        [
            0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
            0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xe5e5e5,
        ],
    ),
    (
        "Windows Campbell",
        0xcccccc,
        0x0c0c0c,
        [
            0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd, 0xcccccc,
            0x767676, 0xe74856, 0x16c60c, 0xf9f1a5, 0x3b78ff, 0xb4009e, 0x61d6d6, 0xf2f2f2,
        ],
    ),
    (
        "macOS Basic",
        0x000000,
        0xffffff,
        [
            0x000000, 0x990000, 0x00a600, 0x999900, 0x0000b2, 0xb200b2, 0x00a6b2, 0xbfbfbf,
            0x666666, 0xe50000, 0x00d900, 0xe5e500, 0x0000ff, 0xe500e5, 0x00e5e5, 0xe5e5e5,
        ],
    ),
    (
        "Linux console",
        0xaaaaaa,
        0x000000,
        [
            0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa,
            0x555555, 0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff,
        ],
    ),
    (
        "Nord",
        0xd8dee9,
        0x2e3440,
        [
            0x3b4252, 0xbf616a, 0xa3be8c, 0xebcb8b, 0x81a1c1, 0xb48ead, 0x88c0d0, 0xe5e9f0,
            0x4c566a, 0xbf616a, 0xa3be8c, 0xebcb8b, 0x81a1c1, 0xb48ead, 0x8fbcbb, 0xeceff4,
        ],
    ),
    (
        "Dracula",
        0xf8f8f2,
        0x282a36,
        [
            0x21222c, 0xff5555, 0x50fa7b, 0xf1fa8c, 0xbd93f9, 0xff79c6, 0x8be9fd, 0xf8f8f2,
            0x6272a4, 0xff6e6e, 0x69ff94, 0xffffa5, 0xd6acff, 0xff92df, 0xa4ffff, 0xffffff,
        ],
    ),
];

const SOLARIZED: [u32; 16] = [
    0x073642, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198, 0xeee8d5, 0x002b36,
    0xcb4b16, 0x586e75, 0x657b83, 0x839496, 0x6c71c4, 0x93a1a1, 0xfdf6e3,
];

const TEXTS: [Role; 11] = [
    Role::Text,
    Role::Number,
    Role::Title,
    Role::Dim,
    Role::Off,
    Role::Focus,
    Role::Key,
    Role::Good,
    Role::Note,
    Role::Misleading,
    Role::Wrong,
];
const MARKS: [Role; 7] = [
    Role::Border,
    Role::Rule,
    Role::Cursor,
    Role::Device,
    Role::PageCache,
    Role::Hole,
    Role::Unknown,
];

const SOURCES: [Role; 4] = [Role::Device, Role::PageCache, Role::Hole, Role::Unknown];

fn rgb(hex: u32) -> Rgb {
    ((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The colours of a terminal.
struct Terminal {
    name: &'static str,
    foreground: Rgb,
    background: Rgb,
    ansi: [Rgb; 16],
}

fn terminals() -> impl Iterator<Item = Terminal> {
    PALETTES.iter().map(|(name, foreground, background, ansi)| Terminal {
        name,
        foreground: rgb(*foreground),
        background: rgb(*background),
        ansi: ansi.map(rgb),
    })
}

/// Contrast that text needs (WCAG 2.1, level AA).
const TEXT_CONTRAST: f64 = 4.5;
/// Contrast that lines and marks need.
const MARK_CONTRAST: f64 = 3.0;
/// Least distance (CIE76) of colours in one picture. 2.3 is what can just be seen of two areas side
/// by side; marks of a few pixels need several times as much.
const APART: f64 = 20.0;
/// The same of colours that are as dark as they are light, of which there are fewer.
const SOFT_APART: f64 = 14.0;

fn linear(part: u8) -> f64 {
    let part = f64::from(part) / 255.0;
    if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

/// Returns the contrast of two colours, 1 to 21.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let luminance = |(r, g, b): Rgb| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the distance of two colours to the eye (CIE76, illuminant D65): 100 is from black to
/// white.
fn distance(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (lab(a), lab(b));
    (0..3).map(|at| (a[at] - b[at]).powi(2)).sum::<f64>().sqrt()
}

/// Returns a colour in the space CIELAB.
fn lab((r, g, b): Rgb) -> [f64; 3] {
    let (r, g, b) = (linear(r), linear(g), linear(b));
    let curved = |part: f64| {
        if part > 216.0 / 24389.0 { part.cbrt() } else { (24389.0 / 27.0 * part + 16.0) / 116.0 }
    };
    let x = curved((0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47);
    let y = curved(0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b);
    let z = curved((0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Returns the colour that a terminal shows.
fn seen(color: Color, terminal: &Terminal) -> Rgb {
    match color {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(index) => indexed(index),
        Color::Reset => terminal.foreground,
        _ => terminal.ansi[ANSI.iter().position(|(_, own)| *own == color).unwrap()],
    }
}

fn ground(look: &Look, terminal: &Terminal) -> Rgb {
    look.theme.background.map_or(terminal.background, |color| seen(color, terminal))
}

/// Returns each style that is too weak on the background it stands on.
fn weak(look: &Look, terminal: &Terminal) -> Vec<String> {
    let background = ground(look, terminal);
    let selected = look.style(Role::Selected);
    let mut weak = Vec::new();
    let mut check = |what: String, style: Style, on: Rgb, least: f64| {
        let own = contrast(seen(style.fg.unwrap_or(Color::Reset), terminal), on);
        if own < least {
            weak.push(format!("{what} {:?}: {own:.2}", style.fg));
        }
    };
    for role in TEXTS {
        check(format!("{role:?}"), look.style(role), background, TEXT_CONTRAST);
    }
    for role in MARKS {
        check(format!("{role:?}"), look.style(role), background, MARK_CONTRAST);
    }
    for hue in 0..HUES {
        check(format!("series {hue}"), look.series(hue), background, MARK_CONTRAST);
    }
    // A selected row is in one colour, on its background or reversed.
    if let Some(color) = selected.bg {
        let on = seen(color, terminal);
        check("selected".into(), selected, on, TEXT_CONTRAST);
        check("dim, selected".into(), look.style(Role::Dim), on, TEXT_CONTRAST);
        for hue in 0..HUES {
            check(format!("series {hue}, selected"), look.series(hue), on, MARK_CONTRAST);
        }
    }
    weak
}

fn look(id: &str, colours: Colours) -> Look {
    Look { theme: Themes::built_in().theme(id, colours), colours, ..Look::default() }
}

#[test]
fn every_painted_theme_can_be_read() {
    let mut weak_ones = Vec::new();
    let terminal = terminals().next().unwrap();
    for file in Themes::built_in().iter().filter(|file| file.id != DEFAULT) {
        for colours in [Colours::TwoFiftySix, Colours::True] {
            let look = look(&file.id, colours);
            assert!(look.theme.background.is_some(), "{} paints its background", file.id);
            let weak = weak(&look, &terminal).into_iter();
            weak_ones.extend(weak.map(|weak| format!("{} {colours:?}: {weak}", file.id)));
        }
    }
    assert!(weak_ones.is_empty(), "{weak_ones:#?}");
    assert_eq!(Themes::built_in().iter().len(), 5);
}

#[test]
fn default_theme_is_legible_everywhere() {
    for terminal in terminals() {
        let look = look(DEFAULT, Colours::TwoFiftySix);
        let usual = contrast(terminal.foreground, terminal.background);
        let least =
            |style: Style| contrast(seen(style.fg.unwrap(), &terminal), ground(&look, &terminal));
        for role in MARKS.into_iter().chain(TEXTS) {
            let own = least(look.style(role));
            assert!(own >= MARK_CONTRAST - 0.05, "{} {role:?} {own}", terminal.name);
        }
        for hue in 0..HUES {
            let own = least(look.series(hue));
            assert!(own >= MARK_CONTRAST - 0.05, "{} {hue} {own}", terminal.name);
        }
        for role in [Role::Text, Role::Number, Role::Title] {
            assert!(least(look.style(role)) >= usual - 1e-9, "{} {role:?}", terminal.name);
        }
    }
}

/// Returns every theme as terminals show it.
fn all_looks() -> Vec<(String, Look, Terminal)> {
    let mut all = Vec::new();
    for colours in [Colours::TwoFiftySix, Colours::True] {
        for file in Themes::built_in().iter().filter(|file| file.id != DEFAULT) {
            let name = format!("{} {colours:?}", file.id);
            all.push((name, look(&file.id, colours), terminals().next().unwrap()));
        }
        for terminal in terminals() {
            all.push((format!("{} {colours:?}", terminal.name), look(DEFAULT, colours), terminal));
        }
    }
    all
}

/// Roles that stand in one picture and differ by colour, next to the series. Text, hints, frames
/// and notes do not: everything is written in these greys, and no part of a figure is. Nor do
/// sixteen colours: there bars have textures.
const TOLD_APART: [Role; 8] = [
    Role::Focus,
    Role::Good,
    Role::Misleading,
    Role::Wrong,
    Role::Device,
    Role::PageCache,
    Role::Hole,
    Role::Unknown,
];

#[test]
fn colours_of_one_picture_differ() {
    let mut near = Vec::new();
    for (name, look, terminal) in all_looks() {
        let least = if look.theme.background.is_some() { APART } else { SOFT_APART };
        let roles = TOLD_APART.iter().map(|role| (format!("{role:?}"), look.style(*role)));
        let series = (0..HUES).map(|hue| (format!("series {hue}"), look.series(hue)));
        let all: Vec<(String, Rgb)> = roles
            .chain(series)
            .map(|(what, style)| (what, seen(style.fg.unwrap(), &terminal)))
            .collect();
        for (at, (one, color)) in all.iter().enumerate() {
            for (other, neighbour) in &all[at + 1..] {
                let apart = distance(*color, *neighbour);
                if apart < least {
                    near.push(format!("{name}: {one} and {other}: {apart:.1}"));
                }
            }
        }
    }
    assert!(near.is_empty(), "{near:#?}");
}

#[test]
fn textures_distinguish_bar_parts_without_colours() {
    for (colours, glyphs, wanted) in [
        (Colours::None, Glyphs::Unicode, 4),
        (Colours::Sixteen, Glyphs::Unicode, 4),
        (Colours::True, Glyphs::Ascii, 4),
        (Colours::TwoFiftySix, Glyphs::Unicode, 1),
    ] {
        let look = Look { colours, glyphs, ..Look::default() };
        let textures: HashSet<char> =
            SOURCES.iter().map(|role| look.texture(role.texture())).collect();
        assert_eq!(textures.len(), wanted, "{colours:?} {glyphs:?}");
    }
}

/// With sixteen colours a source may look like another role, but like no curve.
#[test]
fn sources_and_series_differ_in_colour() {
    let look = look(DEFAULT, Colours::Sixteen);
    let series: Vec<Style> = (0..HUES).map(|hue| look.series(hue)).collect();
    let colors: HashSet<Option<Color>> = SOURCES.iter().map(|role| look.style(*role).fg).collect();
    assert_eq!(colors.len(), SOURCES.len());
    for role in SOURCES {
        assert!(!series.contains(&look.style(role)), "{role:?}");
    }
}

#[test]
fn hints_are_never_stronger_than_text() {
    for (name, look, terminal) in all_looks() {
        let background = ground(&look, &terminal);
        let of = |role| contrast(seen(look.style(role).fg.unwrap(), &terminal), background);
        assert!(of(Role::Dim) <= of(Role::Text) + 1e-9, "{name}");
    }
}

#[test]
fn chosen_theme_stays_with_few_colours() {
    let look = look("night", Colours::Sixteen);
    assert_eq!(look.theme.id, "night");
    assert!(look.theme.background.is_none());
    for hue in 0..HUES {
        assert!(!matches!(look.series(hue).fg, Some(Color::Rgb(..) | Color::Indexed(_))));
    }
}

#[test]
fn painting_covers_what_has_no_colour() {
    let look = look("paper", Colours::True);
    let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 2, 1));
    buf[(1, 0)].set_style(Style::new().fg(Color::Red).bg(Color::Blue));
    look.paint(&mut buf);
    assert_eq!(buf[(0, 0)].bg, Color::Rgb(0xfa, 0xf8, 0xf2));
    assert_eq!(buf[(0, 0)].fg, Color::Rgb(0x1c, 0x1c, 0x1c));
    assert_eq!((buf[(1, 0)].fg, buf[(1, 0)].bg), (Color::Red, Color::Blue));
}

#[test]
fn colourless_keys_are_bold() {
    let look = Look { colours: Colours::None, ..Look::default() };
    for role in TEXTS.into_iter().chain(MARKS).chain([Role::Selected]) {
        let style = look.style(role);
        assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
    }
    assert!(look.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
    assert!(look.style(Role::Key).add_modifier.contains(Modifier::BOLD));
    assert!(look.style(Role::Dim).add_modifier.is_empty());
}

#[test]
fn selection_reverses_on_sixteen_colours() {
    let text = include_str!("../../../../assets/themes/terminal-16.toml");
    let own = ThemeFile::parse("mine", &format!("selected = \"#283457\"\n{text}")).unwrap();
    let bg = |colours| {
        let theme = own.resolve(colours).unwrap();
        let theme = Box::leak(Box::new(theme));
        Look { colours, theme, ..Look::default() }.style(Role::Selected).bg
    };
    assert_eq!(bg(Colours::Sixteen), None, "reversed");
    assert_eq!(bg(Colours::True), Some(Color::Rgb(0x28, 0x34, 0x57)));
}

#[test]
fn sources_have_one_colour_each() {
    let words = ["device", "cache", "hole", "unknown"];
    for (name, look, _) in all_looks() {
        let colors: HashSet<Option<Color>> =
            words.iter().map(|word| look.style(Role::of_source(word)).fg).collect();
        assert_eq!(colors.len(), words.len(), "{name}");
    }
}

#[test]
fn backend_markers_differ_per_cache_state() {
    let all = |look: &Look| -> Vec<char> {
        let signs = BACKENDS.iter().map(|backend| identity(backend.id));
        signs
            .flat_map(|identity| {
                Cache::ALL.iter().map(move |cache| Sign { identity, cache: *cache, extra: 0 })
            })
            .map(|sign| look.marker(sign))
            .collect()
    };
    for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
        let markers = all(&Look { glyphs, ..Look::default() });
        let different: HashSet<char> = markers.iter().copied().collect();
        assert_eq!(different.len(), markers.len(), "{glyphs:?}");
    }
}

#[test]
fn further_series_have_their_own_markers() {
    let look = Look::default();
    let of = |extra| {
        let identity = identity("read");
        look.marker(Sign { identity, cache: Cache::Cold, extra })
    };
    let markers: HashSet<char> = (0..22).map(of).collect();
    assert_eq!(markers.len(), 22, "{markers:?}");
}

#[test]
fn neighbours_differ_by_marker() {
    let look = Look::default();
    let markers: HashSet<char> = (0..8).map(|i| look.ordinal(i)).collect();
    assert_eq!(markers.len(), 8);
}

//! Charts as text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::report::Graph;
use crate::theme::{Glyphs, Look};

pub(super) fn ascii() -> Look {
    Look { glyphs: Glyphs::Ascii, ..Look::default() }
}

/// Returns what is drawn, as lines without the blanks at their ends.
pub(super) fn show(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(area, &mut buf);
    let line = |row: u16| {
        (0..width)
            .map(|column| buf[(column, row)].symbol())
            .collect::<String>()
            .trim_end()
            .to_string()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn number(value: f64) -> String {
    format!("{value:.0}")
}

pub(super) fn points(values: &[(f64, f64)]) -> Vec<Point> {
    values.iter().map(|(x, y)| Point::new(*x, *y)).collect()
}

/// Returns a chart of 0 to 10 over 0 to `top`.
pub(super) fn plain<'a>(look: &'a Look, series: &'a [Series<'a>], top: f64) -> Chart<'a> {
    let axis = Axis::new(Scale::Linear, &number);
    Chart::new(look, axis.between(0.0, 10.0), axis.between(0.0, top), series)
}

#[test]
fn a_line_from_corner_to_corner() {
    let look = Look::default();
    let line = points(&[(0.0, 0.0), (10.0, 10.0)]);
    let series = [Series::new(&look, 0, "", &line)];
    assert_eq!(
        show(20, 8, |area, buf| plain(&look, &series, 10.0).render(area, buf)),
        [
            r"10┤              ⣀⠔⠊",
            r"  │           ⢀⠤⠊",
            r"  │        ⢀⠤⠊⠁",
            r" 5┤     ⢀⡠⠒⠁",
            r"  │   ⡠⠒⠁",
            r" 0┤⡠⠔⠉",
            r"  └┬───────┬───────┬",
            r"   0       5      10",
        ]
        .join("\n")
    );
}

#[test]
fn block_sizes_on_a_logarithmic_axis() {
    let look = Look::default();
    let line = points(&[(4096.0, 1.0), (65536.0, 9.0), (1048576.0, 9.0)]);
    let series = [Series::new(&look, 0, "read", &line).draw(Draw::LineAndMarkers)];
    fn size(v: f64) -> String {
        crate::units::short_bytes(v as u64)
    }
    let chart = Chart::new(
        &look,
        Axis::new(Scale::Log2, &size).title("block"),
        Axis::new(Scale::Linear, &number),
        &series,
    );
    assert_eq!(
        show(32, 9, |area, buf| chart.names(true).render(area, buf)),
        [
            r"10┤              ●⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀●",
            r"  │           ⢀⠔⠊          read",
            r"  │        ⢀⡠⠊⠁",
            r" 5┤      ⡠⠔⠁",
            r"  │   ⢀⠔⠊",
            r"  │ ⡠⠒⠁",
            r" 0┤●",
            r"  └┬──────┬──────┬────── block ┬",
            r"  4k     16k    64k   256k    1m",
        ]
        .join("\n")
    );
}

#[test]
fn names_stand_at_curve_ends() {
    let look = Look::default();
    let (short, long) = (points(&[(0.0, 1.0), (4.0, 1.0)]), points(&[(0.0, 3.0), (10.0, 3.0)]));
    let series = [
        Series::new(&look, 0, "short", &short).draw(Draw::LineAndMarkers),
        Series::new(&look, 1, "long", &long).draw(Draw::LineAndMarkers),
    ];
    let chart = plain(&look, &series, 4.0).names(true);
    assert_eq!(
        show(32, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤                         long",
            r" │▲⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤▲",
            r" │",
            r"2┤",
            r" │●⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒● short",
            r"0┤",
            r" └┬─────┬─────┬────┬─────┬─────┬",
            r"  0     2     4    6     8    10",
        ]
        .join("\n")
    );
}

#[test]
fn ascii_cursor_differs_from_warning_sign() {
    let look = ascii();
    let line = points(&[(0.0, 1.0), (10.0, 3.0)]);
    let series = [Series::new(&look, 0, "", &line)];
    let chart = plain(&look, &series, 4.0).cursor(Some(5.0));
    let picture = show(32, 8, |area, buf| chart.render(area, buf));
    assert!(!picture.contains('!') && picture.matches('|').count() > 5, "{picture}");
}

#[test]
fn names_are_nearest_to_their_marker() {
    let look = Look::default();
    // In one place, then one row apart, two, three.
    for gap in [0.0, 1.0, 2.0, 3.0] {
        let (high, low) = (points(&[(10.0, 4.0 + gap)]), points(&[(10.0, 4.0)]));
        let series = [
            Series::new(&look, 0, "high", &high).draw(Draw::Points),
            Series::new(&look, 1, "low", &low).draw(Draw::Points),
        ];
        let chart = plain(&look, &series, 11.0).names(true);
        let picture = show(40, 13, |area, buf| chart.render(area, buf));
        let place = |what: &str| {
            picture.lines().enumerate().find_map(|(row, line)| {
                let at = line.find(what)?;
                Some((row, line[..at].chars().count(), what.chars().count()))
            })
        };
        let away = |name: &str, marker: &str| {
            let (row, start, wide) = place(name).unwrap_or_else(|| panic!("{gap}\n{picture}"));
            let (on, at, _) = place(marker).unwrap();
            start.saturating_sub(at).max(at.saturating_sub(start + wide - 1)) + 2 * row.abs_diff(on)
        };
        if gap > 0.0 {
            assert!(away("high", "●") < away("high", "▲"), "{gap}\n{picture}");
            assert!(away("low", "▲") < away("low", "●"), "{gap}\n{picture}");
        } else {
            assert!(place("high").is_some() && place("low").is_some(), "{picture}");
        }
    }
}

#[test]
fn dashed_lines_have_markers() {
    let look = Look::default();
    let line = points(&[(0.0, 1.0), (5.0, 1.0), (10.0, 1.0)]);
    let cold = Series::new(&look, 0, "cold", &line).draw(Draw::Dashed);
    let series: Vec<Series> = cold.with_markers().collect();
    let chart = plain(&look, &series, 4.0).names(true);
    assert_eq!(
        show(32, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │",
            r" │",
            r"2┤                         cold",
            r" │●⠂ ⠒⠂ ⠒⠂ ⠒⠂ ⠒⠂ ● ⠐⠒ ⠐⠒ ⠐⠒ ⠐⠒ ●",
            r"0┤",
            r" └┬─────┬─────┬────┬─────┬─────┬",
            r"  0     2     4    6     8    10",
        ]
        .join("\n")
    );
}

#[test]
fn gaps_interrupt_lines() {
    let look = Look::default();
    let gap = f64::NAN;
    let line = points(&[
        (0.0, 1.0),
        (3.0, 1.0),
        (4.0, gap),
        (5.0, 2.0),
        (6.0, gap),
        (7.0, 3.0),
        (10.0, 3.0),
    ]);
    let series = [Series::new(&look, 0, "", &line)];
    let chart = plain(&look, &series, 4.0);
    assert_eq!(
        show(20, 6, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │            ⠐⠒⠒⠒⠒⠒",
            r"2┤         ●",
            r" │⠤⠤⠤⠤⠤⠤",
            r"0┤",
            r" └0 ────── 5 ──── 10",
        ]
        .join("\n")
    );
}

#[test]
fn rules_and_cursor_stay_behind_curves() {
    let look = Look::default();
    let line = points(&[(0.0, 0.0), (10.0, 4.0)]);
    let series = [Series::new(&look, 0, "", &line)];
    let style = look.style(crate::theme::Role::Rule);
    let rules = [Rule { at: 3.0, label: "ceiling", style }, Rule { at: 99.0, label: "far", style }];
    let chart = plain(&look, &series, 4.0).rules(&rules).cursor(Some(7.5));
    assert_eq!(
        show(32, 9, |area, buf| chart.render(area, buf)),
        [
            r"4┤   far ↑              ┊   ⣀⠤⠒⠉",
            r" │┄┄ ceiling ┄┄┄┄┄┄┄┄┄┄⢀⡠⠔⠒⠉┄┄┄┄",
            r" │                 ⣀⡠⠔⠊⠁┊",
            r"2┤             ⣀⠤⠒⠉     ┊",
            r" │        ⢀⡠⠔⠊⠉         ┊",
            r" │    ⣀⠤⠔⠊⠁             ┊",
            r"0┤⣀⠤⠒⠉                  ┊",
            r" └┬─────┬─────┬────┬─────┬─────┬",
            r"  0     2     4    6     8    10",
        ]
        .join("\n")
    );
}

#[test]
fn distant_rules_do_not_flatten_curves() {
    let look = Look::default();
    let line = points(&[(0.0, 1.0), (5.0, 3.0), (10.0, 80.0)]);
    let expected = points(&[(0.0, 60.0), (10.0, 90.0)]);
    let series =
        [Series::new(&look, 0, "", &line), Series::new(&look, 1, "", &expected).draw(Draw::Dotted)];
    let rules = [Rule { at: 70.0, label: "ceiling", style: ratatui::style::Style::new() }];
    let axis = Axis::new(Scale::Linear, &number);
    let chart = Chart::new(&look, axis.between(0.0, 5.0), axis, &series).rules(&rules);
    assert_eq!(
        show(32, 9, |area, buf| chart.render(area, buf)),
        [
            r"4┤   ceiling ↑                 ⢀",
            r" │                            ⣀⣸",
            r" │                   ⢀⣀⡠⠤⠔⠒⠒⠉⠉",
            r"2┤          ⢀⣀⣀⠤⠤⠒⠒⠉⠉⠁",
            r" │  ⣀⣀⠤⠤⠔⠒⠊⠉⠁",
            r" │⠉⠉",
            r"0┤",
            r" └┬─────┬─────┬────┬─────┬─────┬",
            r"  0     1     2    3     4     5",
        ]
        .join("\n")
    );
}

#[test]
fn intervals_are_whiskers_or_a_band() {
    let look = Look::default();
    let few: Vec<Point> =
        [0.0, 5.0, 10.0].iter().map(|x| Point::new(*x, 2.0).within(1.0, 3.0)).collect();
    let series = [Series::new(&look, 0, "", &few).draw(Draw::LineAndMarkers)];
    let chart = plain(&look, &series, 4.0).bands(true);
    assert_eq!(
        show(20, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │╷        ╷       ╷",
            r" ││        │       │",
            r"2┤●⠉⠉⠉⠉⠉⠉⠉⠉●⠉⠉⠉⠉⠉⠉⠉●",
            r" │╵        ╵       ╵",
            r"0┤",
            r" └┬────────┬───────┬",
            r"  0        5      10",
        ]
        .join("\n")
    );
    let many: Vec<Point> =
        (0..=40).map(|i| Point::new(f64::from(i) / 4.0, 2.0).within(1.0, 3.0)).collect();
    let series = [Series::new(&look, 0, "", &many)];
    let chart = Chart { series: &series, ..chart };
    assert_eq!(
        show(20, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │ ⠄ ⠄ ⠄ ⠄ ⠄ ⠄ ⠄ ⠄ ⠄",
            r" │⠁⠄⠁⠄⠁⠄⠁⠄⠁⠄⠁⠄⠁⠄⠁⠄⠁⠄",
            r"2┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉",
            r" │⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠁ ⠁",
            r"0┤",
            r" └┬────────┬───────┬",
            r"  0        5      10",
        ]
        .join("\n")
    );
}

#[test]
fn lines_outside_are_cut_off() {
    let look = Look::default();
    let line = points(&[(-10.0, -4.0), (20.0, 8.0)]);
    let step = points(&[(-5.0, 1.0), (5.0, 30.0)]);
    let series =
        [Series::new(&look, 0, "", &line), Series::new(&look, 1, "", &step).draw(Draw::Step)];
    let chart = plain(&look, &series, 4.0);
    assert_eq!(
        show(20, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤         ⡇     ⣀⠔⠊",
            r" │         ⡇  ⣀⠔⠊",
            r" │         ⣇⠔⠊",
            r"2┤      ⡠⠔⠉⡇",
            r" │⠒⠒⠒⡲⠖⠛⠒⠒⠒⠃",
            r"0┤⡠⠔⠉",
            r" └┬────────┬───────┬",
            r"  0        5      10",
        ]
        .join("\n")
    );
}

#[test]
fn plain_characters_read_like_a_line() {
    let look = ascii();
    let line = points(&[(0.0, 0.0), (4.0, 0.5), (6.0, 3.5), (8.0, 3.0), (8.5, 0.0), (10.0, 1.0)]);
    let series = [Series::new(&look, 0, "", &line).draw(Draw::LineAndMarkers)];
    let rules = [Rule { at: 2.0, label: "mean", style: ratatui::style::Style::new() }];
    let chart = plain(&look, &series, 4.0).rules(&rules);
    assert_eq!(
        show(40, 10, |area, buf| chart.render(area, buf)),
        [
            r"4+",
            r" |                      o'---..",
            r" |                    //       'o",
            r" |                   /          |",
            r"2+=  mean = = = = = / = = = = = | = = =",
            r" |                //             |     o",
            r" |             ..o               |  .-'",
            r"0+o..-----'''''                  .-'",
            r" ++---+--+---+---+---+--+---+---+--+---+",
            r"  0   1  2   3   4   5  6   7   8  9  10",
        ]
        .join("\n")
    );
}

#[test]
fn time_axes_end_at_now() {
    let look = Look::default();
    let line: Vec<Point> = (0..=600)
        .map(|i| Point::new(f64::from(i) / 10.0 - 60.0, (f64::from(i) / 60.0).sin() + 2.0))
        .collect();
    let series = [Series::new(&look, 0, "", &line)];
    fn second(v: f64) -> String {
        format!("{v:.0} s")
    }
    let chart = Chart::new(
        &look,
        Axis::new(Scale::Linear, &second).time(),
        Axis::new(Scale::Linear, &number),
        &series,
    );
    assert_eq!(
        show(40, 8, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │   ⣀⠤⠤⠤⠤⣀                 ⢀⣠⠤⠤⠤⢄⡀",
            r" │⢀⠔⠊      ⠉⠢⢄            ⡠⠒⠁     ⠈⠑⠢⡀",
            r"2┤⠁           ⠑⠢⣀      ⣠⠔⠉           ⠈⠒⢄",
            r" │               ⠉⠒⠒⠒⠒⠉",
            r"0┤",
            r" └┬────────┬─────────┬────────┬────────┬",
            r"-60 s    -45 s     -30 s    -15 s    0 s",
        ]
        .join("\n")
    );
    // Too low for a row of labels: they stand in the axis.
    assert_eq!(
        show(40, 5, |area, buf| chart.render(area, buf)),
        [
            r"4┤",
            r" │⢀⡠⠔⠊⠉⠉⠉⠉⠑⠒⠤⣀            ⣀⠤⠒⠊⠉⠉⠉⠉⠒⠢⢄⡀",
            r" │⠁           ⠉⠒⠤⢄⣀⣀⣀⣀⡠⠔⠒⠉           ⠈⠑⠢",
            r"0┤",
            r" └-60 s ────────── -30 s ─────────── 0 s",
        ]
        .join("\n")
    );
    // Too small for any.
    assert_eq!(
        show(11, 2, |area, buf| chart.render(area, buf)),
        [r"⢀⠤⠤⡀   ⡠⠤⢄", r"⠁  ⠈⠒⠒⠉   ⠉",].join("\n")
    );
    assert_eq!(show(2, 9, |area, buf| chart.render(area, buf)).trim(), "");
}

#[test]
fn nothing_and_one_point_have_axes() {
    let look = Look::default();
    let none = points(&[(f64::NAN, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY)]);
    let (nothing, one) = ([Series::new(&look, 0, "", &none)], points(&[(3.0, 7.0)]));
    let axis = Axis::new(Scale::Linear, &number);
    let chart = Chart::new(&look, axis, axis, &nothing);
    assert_eq!(
        show(20, 7, |area, buf| chart.render(area, buf)),
        [r"1┤", r" │", r" │", r" │", r"0┤", r" └┬────────────────┬", r"  0                1",]
            .join("\n")
    );
    let one = [Series::new(&look, 0, "", &one)];
    assert_eq!(
        show(20, 7, |area, buf| Chart { series: &one, ..chart }.render(area, buf)),
        [
            r" │                 ●",
            r"5┤",
            r" │",
            r" │",
            r"0┤",
            r" └┬─────┬────┬─────┬",
            r"  0     1    2     3",
        ]
        .join("\n")
    );
}

#[test]
fn front_series_takes_shared_cells() {
    let look = Look::default();
    let line = points(&[(0.0, 2.0), (10.0, 2.0)]);
    let series = [
        Series { emphasis: true, ..Series::new(&look, 0, "", &line) },
        Series::new(&look, 1, "", &line),
    ];
    let area = Rect::new(0, 0, 20, 8);
    let mut buf = Buffer::empty(area);
    let chart = plain(&look, &series, 4.0);
    chart.render(area, &mut buf);
    let plot = chart.plot_area(area);
    let drawn: Vec<_> =
        plot.positions().filter(|p| buf[*p].symbol() != " ").map(|p| buf[p].fg).collect();
    assert_eq!(drawn, vec![look.series(0).fg.unwrap(); usize::from(plot.width)]);
}

#[test]
fn each_character_set_draws_lines() {
    let line = points(&[(0.0, 0.0), (10.0, 10.0)]);
    let draw = |graph| {
        let look = Look { graph, ..Look::default() };
        let series = [Series::new(&look, 0, "", &line)];
        show(20, 6, |area, buf| plain(&look, &series, 10.0).render(area, buf))
    };
    assert_eq!(
        draw(Graph::Blocks),
        [
            r"10┤              ▄▄▀",
            r"  │          ▗▄▀▀",
            r" 5┤      ▗▄▞▀▘",
            r"  │   ▄▄▀▘",
            r" 0┤▄▀▀",
            r"  └0 ───── 5 ──── 10",
        ]
        .join("\n")
    );
    let plain = draw(Graph::Ascii);
    let curve = plain.lines().take(5).flat_map(|line| line.chars().skip(3));
    assert!(plain.contains('\'') && curve.into_iter().all(|c| " -'./".contains(c)), "{plain}");
    // The same dots as with Braille: octants differ in the characters only.
    let blank = |picture: String| -> String {
        let code =
            |c: char| if c > '\u{27ff}' || "▂▘▝▖▗▚▞".contains(c) { '#' } else { c };
        picture.chars().map(code).collect()
    };
    assert_eq!(blank(draw(Graph::Octant)), blank(draw(Graph::Braille)));
}

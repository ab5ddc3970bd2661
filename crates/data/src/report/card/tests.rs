use super::*;
use crate::report::picture::scene::Shape;
use crate::report::{find_format, format_of_file, testing};

fn svg(session: &Session) -> String {
    let mut out = Vec::new();
    let named = format_of_file(find_format("card").unwrap(), "a.card.svg".as_ref());
    (named.write)(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn cards_are_pixels_unless_called_svg() {
    for (name, session) in testing::all() {
        let mut out = Vec::new();
        let format = format_of_file(find_format("card").unwrap(), "card.png".as_ref());
        (format.write)(&session, &Look::default(), &mut out).unwrap();
        assert!(out.starts_with(b"\x89PNG"), "{name}");
    }
    let card = svg(&testing::every());
    insta::assert_snapshot!("card", card.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn a_card_names_no_folder() {
    let card = svg(&testing::quick());
    for text in [
        ">ubuntu.iso</text>",
        "512 MiB",
        "Intel Xeon E5-2680 v4",
        "Linux 6.18.44",
        "2026-11-21 09:30 UTC",
        "iotui 0.1.0",
        "read from memory",
        "prefers-color-scheme:dark",
    ] {
        assert!(card.contains(text), "{text}\n{card}");
    }
    for private in ["/data", "images", "lab-7", "20261121-093011-ubuntu"] {
        assert!(!card.contains(private), "{private}\n{card}");
    }
}

#[test]
fn a_card_needs_nothing_from_elsewhere() {
    for (name, session) in testing::all() {
        let card = svg(&session);
        for outside in ["href", "url(", "<script", "<image", "@import"] {
            assert!(!card.contains(outside), "{name}: {outside}");
        }
    }
}

fn of(session: &Session, change: impl Fn(&mut analysis::CellResult)) -> Glance {
    let (mut results, probes) = (analysis::results(session), analysis::probes(session));
    results.iter_mut().for_each(change);
    let answer = analysis::answer_with(session, &results, &probes);
    analysis::glance(session, &results, &probes, &answer)
}

#[test]
fn wrong_figures_are_marked() {
    let glance = of(&testing::quick(), |result| {
        result.warnings = vec![crate::record::Warning {
            id: "holes".into(),
            severity: crate::record::Severity::Wrong,
            message: "the file has holes".into(),
            evidence: String::new(),
            remedy: "".into(),
        }];
    });
    let text = glance_text(&glance, &Look::default());
    let bars = glance.columns.iter().flat_map(|column| column.bars.iter().flatten()).count();
    // The heads, the bars, and the sentence about trust.
    assert!(text.matches("wrong").count() > glance.columns.len() + bars, "{text}");
    let mut card = Vec::new();
    svg::write_scene(&scene(&glance, &Look::default()), &mut card).unwrap();
    let card = String::from_utf8(card).unwrap();
    assert_eq!(card.matches(">wrong</text>").count(), glance.columns.len() + bars, "{card}");
}

#[test]
fn bars_have_their_backends_hue() {
    let glance = of(&testing::quick(), |_| {});
    let hues: Vec<usize> = glance.rows.iter().map(|row| row.hue).collect();
    let own = |name: &str| crate::catalog::identity(name.split(' ').next().unwrap()).hue;
    let expected: Vec<usize> = glance.rows.iter().map(|row| own(&row.name)).collect();
    assert_eq!(hues, expected);
}

#[test]
fn text_and_card_show_equal_figures() {
    let glance = of(&testing::quick(), |_| {});
    let text = glance_text(&glance, &Look::default());
    insta::assert_snapshot!("glance_text", text);
    let ascii = glance_text(&glance, &Look { ascii: true, ..Look::default() });
    assert!(ascii.is_ascii(), "{ascii}");
}

/// In the widest of the fonts that replace Inter.
#[test]
fn texts_of_a_card_never_touch() {
    let fast = of(&testing::quick(), |result| {
        let figures = result.throughput.iter_mut();
        figures.for_each(|figure| figure.summary.median = 11.0 * 1_073_741_824.0);
    });
    let all = testing::all().into_iter().map(|(_, session)| glance_of(&session));
    let mut values = 0;
    for glance in all.chain([fast]) {
        let scene = scene(&glance, &Look::default());
        let texts: Vec<(f64, f64, f64, f64, &str)> =
            scene.shapes.iter().filter_map(Shape::place).collect();
        for (at, (left, right, y, size, text)) in texts.iter().enumerate() {
            values += usize::from(*text == "11.0" && *size > 40.0);
            assert!(*left >= 0.0 && *right <= scene.width, "{text} from {left} to {right}");
            for (from, to, base, other, second) in &texts[at + 1..] {
                let meet =
                    base - other * 0.75 < y + size * 0.2 && y - size * 0.75 < base + other * 0.2;
                let apart = *left >= to + 2.0 || *from >= right + 2.0;
                assert!(!meet || apart, "{text} ({left} to {right}) and {second} ({from} to {to})");
            }
        }
    }
    assert!(values > 0, "the value that touched its unit");
}

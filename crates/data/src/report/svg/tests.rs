use super::*;
use crate::analysis;
use crate::plan::Cache;
use crate::record::{Ceilings, LatencyLog, LogEntry, Severity};
use crate::report::figure::COLORS;
use crate::report::find_format;
use crate::report::testing;

fn show(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Counts the marks that have a title.
fn marks(xml: &roxmltree::Document) -> usize {
    fn marked(node: &roxmltree::Node) -> bool {
        node.attribute("class").is_some_and(|class| class.split(' ').any(|c| c == "m"))
    }
    xml.descendants()
        .filter(|node| marked(node) && node.children().any(|child| child.has_tag_name("title")))
        .count()
}

#[test]
fn pictures_show_every_cell() {
    for (name, session) in testing::all() {
        let text = show(&session);
        let xml =
            roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        let jobs = analysis::results(&session)
            .iter()
            .filter(|r| r.error.is_none() && r.operations.is_some())
            .count();
        let probes = analysis::probes(&session)
            .iter()
            .filter(|probe| probe.value.is_some() && probe.error.is_none())
            .count();
        assert!(marks(&xml) >= jobs + probes, "{name}: {} of {jobs} and {probes}", marks(&xml));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
}

#[test]
fn a_picture_loads_nothing() {
    let text = show(&testing::every()).replace("http://www.w3.org/2000/svg", "");
    assert!(
        !text.contains("http")
            && !text.contains("href")
            && !text.contains("url(")
            && !text.contains("@import")
    );
}

#[test]
fn hostile_names_stay_text() {
    let mut session = testing::quick();
    session.name = "</text><script>&\u{1b}\u{ffff}\"".into();
    testing::warn(&mut session, 0, "odd", Severity::Wrong, ["<b>", "", ""]);
    let text = show(&session);
    let xml = roxmltree::Document::parse(&text).unwrap();
    assert!(
        xml.descendants()
            .any(|node| node.text().is_some_and(|t| t.starts_with("</text><script>&\\u{1b}\":"))),
        "{text}"
    );
    assert!(text.contains("struck through"));
}

/// Returns the contrast of two colours as defined by WCAG 2.
pub fn contrast(a: &str, b: &str) -> f64 {
    fn part(hex: &str) -> f64 {
        let value = f64::from(u8::from_str_radix(hex, 16).unwrap()) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    }
    let light = |c: &str| {
        0.2126 * part(&c[1..3]) + 0.7152 * part(&c[3..5]) + 0.0722 * part(&c[5..7]) + 0.05
    };
    light(a).max(light(b)) / light(a).min(light(b))
}

#[test]
fn colours_contrast_on_both_backgrounds() {
    let [light, dark] = [SCHEMES[0].2, SCHEMES[0].3];
    for color in COLORS {
        for background in [light, dark] {
            assert!(
                contrast(color, background) >= 3.0,
                "{color} on {background}: {}",
                contrast(color, background)
            );
        }
    }
    for (ink, _, on_light, on_dark) in
        SCHEMES.iter().filter(|scheme| matches!(scheme.0, Ink::Text | Ink::Soft))
    {
        assert!(contrast(on_light, light) >= 4.5 && contrast(on_dark, dark) >= 4.5, "{ink:?}");
    }
}

#[test]
fn estimates_are_dotted_and_explained() {
    assert!(!show(&testing::quick()).contains("estimate"));
    let text = show(&testing::bounded(testing::quick()));
    let xml = roxmltree::Document::parse(&text).unwrap();
    let dotted =
        || xml.descendants().filter(|node| node.attribute("stroke-dasharray") == Some("0.1 5"));
    assert!(dotted().count() >= 2, "{text}");
    assert!(
        text.contains("estimate: call and copy")
            && text.contains("Dotted: estimates from the cheapest system call, 100 ns"),
        "{text}"
    );
    assert!(text.contains("estimate: rated speed"), "an estimate requested by name is drawn");
    // A value far above the measured ones is not drawn.
    let far = Ceilings { copy: Some(1e15), syscall_nanos: Some(1e-3), ..Ceilings::default() };
    let mut session = testing::quick();
    session.grounds.get_or_insert_default().machine.ceilings = Some(far);
    assert!(!show(&session).contains("estimate: call and copy"));
}

#[test]
fn latencies_over_time_stay_small() {
    let blocks = (0..20).map(|at| testing::job("pread", 512 << at, Cache::Cold));
    let like = testing::Like::new(80_000.0, 1.0, None);
    let mut session = testing::measured(blocks.collect(), 1, like);
    let plain = show(&session).len();
    for trial in &mut session.trials {
        let trial = std::sync::Arc::make_mut(trial);
        trial.nanos *= 40;
        let mut log = LatencyLog::new(1);
        for index in 0..120 {
            // Every row of every column has some.
            let latency = (300..1000).step_by(2).map(|bucket| (bucket, index + 1)).collect();
            log.add(LogEntry { index, ops: 1, latency, ..LogEntry::default() });
        }
        let lines = log.encode(trial.cell, trial.round);
        session.latencies.extend(lines.into_iter().map(std::sync::Arc::new));
    }
    let text = show(&session);
    let maps = text.matches(">Latencies over time, ").count();
    assert_eq!(maps, 8);
    let each = (text.len() - plain) / maps;
    assert!(each < 140_000, "{each} bytes");
    assert!(text.contains("darker where more operations ended, up to"), "{text}");
    let mut page = Vec::new();
    (find_format("html").unwrap().write)(&session, &Look::default(), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(page.matches("aria-label=\"Latencies over time, ").count(), maps);
}

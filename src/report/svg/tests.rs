use super::super::sample;
use super::*;
use crate::record::{Ceilings, Severity};

fn show(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_picture_is_xml_with_a_point_per_measured_cell() {
    for (name, session) in sample::all() {
        let text = show(&session);
        let xml = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        let points = |shape: &str| xml.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", shape))).count();
        let measured = session::results(&session).iter().filter(|r| r.error.is_none()).count();
        assert!(points("circle") >= measured, "{name}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let mut session = sample::quick();
    session.name = "</text><script>&\u{1b}\u{ffff}\"".into();
    sample::warn(&mut session, 0, "odd", Severity::Wrong, ["<b>", "", ""]);
    let text = show(&session);
    let xml = roxmltree::Document::parse(&text).unwrap();
    assert!(xml.descendants().any(|node| node.text().is_some_and(|t| t.starts_with("</text><script>&\\u{1b}\":"))), "{text}");
    assert!(text.contains("hollow"));
}

/// The contrast of two colours as WCAG 2 has it.
pub fn contrast(a: &str, b: &str) -> f64 {
    let part = |hex: &str| {
        let value = f64::from(u8::from_str_radix(hex, 16).unwrap()) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let light = |c: &str| 0.2126 * part(&c[1..3]) + 0.7152 * part(&c[3..5]) + 0.0722 * part(&c[5..7]) + 0.05;
    light(a).max(light(b)) / light(a).min(light(b))
}

#[test]
fn curves_are_seen_on_both_backgrounds() {
    for color in curves::COLORS {
        for background in ["#ffffff", "#16191d"] {
            assert!(contrast(color, background) >= 3.0, "{color} on {background}: {}", contrast(color, background));
        }
    }
}

#[test]
fn estimates_are_dotted_and_say_what_they_are_made_from() {
    assert!(!show(&sample::quick()).contains("estimate"));
    let text = show(&sample::bounded(sample::quick()));
    let xml = roxmltree::Document::parse(&text).unwrap();
    let dotted = xml.descendants().filter(|node| node.attribute("stroke-dasharray") == Some("0 5"));
    // In the picture and in the legend.
    assert!(dotted.clone().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "polyline"))).count() >= 2, "{text}");
    assert!(text.contains("estimate: call and copy") && text.contains("Dotted: estimates from the cheapest system call, 100 ns"), "{text}");
    // Far above what was measured it has no place.
    let far = Ceilings { copy: Some(1e15), syscall_nanos: Some(1e-3), ..Ceilings::default() };
    let mut session = sample::quick();
    session.grounds.get_or_insert_default().machine.ceilings = Some(far);
    assert!(show(&session).contains("points=\"\" stroke=\"#808890\""));
}

#[test]
fn cells_of_one_block_are_drawn_over_the_count_the_size_or_the_share_of_reads() {
    use crate::plan::{Cache, Job, Op};
    type Change = fn(u64, Job) -> Job;
    let axes: [(Change, &str, [&str; 2]); 3] = [
        (|i, job| Job { count: Some(1024 << (2 * i)), ..job }, "by number of operations", [">1k<", ">64k<"]),
        (|i, job| Job { span: (i + 1) << 20, ..job }, "by size of the file", [">1 MiB<", ">4 MiB<"]),
        (|i, job| Job { mix: Some(30 * i as u8), op: Op::Write, ..job }, "by share of reads", [">0 %<", ">90 %<"]),
    ];
    for (change, title, ends) in axes {
        let mut session = sample::session((0..4).map(|i| change(i, sample::job("read", 1, Cache::Warm))).collect());
        for cell in 0..4 {
            sample::measure(&mut session, cell, 5, sample::Like { nanos_per_op: 3000.0, calls_per_op: 1.0, from: None });
        }
        let results = session::results(&session);
        let (_, curves) = super::curves(&results);
        assert_eq!(curves.len(), 1, "{title}");
        assert_eq!(curves[0].name, "read 1 B warm", "{title}");
        let mut out = Vec::new();
        super::write(&session, &Look::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(title) && ends.iter().all(|end| text.contains(end)), "{title}\n{text}");
        let line = text.lines().find(|line| line.starts_with("<polyline")).unwrap();
        let across: Vec<f64> = line.split(&['"', ' '][..]).filter_map(|pair| pair.split_once(',')?.0.parse().ok()).collect();
        assert!(across.len() == 4 && across.windows(2).all(|two| two[0] + 50.0 < two[1]), "{title}: {line}");
    }
}

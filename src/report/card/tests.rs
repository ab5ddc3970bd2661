use super::*;
use crate::report::sample;

fn svg(session: &Session) -> String {
    let mut out = Vec::new();
    (FORMAT.write)(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_card_has_what_was_measured_and_no_folder() {
    let card = svg(&sample::quick());
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
    for (name, session) in sample::all() {
        let card = svg(&session);
        for outside in ["href", "url(", "<script", "<image", "@import"] {
            assert!(!card.contains(outside), "{name}: {outside}");
        }
    }
}

#[test]
fn the_text_has_the_figures_of_the_card() {
    let session = sample::quick();
    let (results, probes) = (analysis::results(&session), analysis::probes(&session));
    let answer = analysis::answer_with(&session, &results, &probes);
    let glance = analysis::glance(&session, &results, &probes, &answer);
    let text = glance_text(&glance, &Look::default());
    insta::assert_snapshot!("glance_text", text);
    let ascii = glance_text(&glance, &Look { ascii: true, ..Look::default() });
    assert!(ascii.is_ascii(), "{ascii}");
}

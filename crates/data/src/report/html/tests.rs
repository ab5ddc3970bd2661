use base64::{Engine, engine::general_purpose::STANDARD};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;
use crate::plan::{Cache, Job, Op, Pattern, TargetSpec};
use crate::record::Severity;
use crate::report::svg::contrast;
use crate::report::testing;

fn show(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn all<'a, 'i>(page: &'a Document<'i>, name: &'a str, class: &'a str) -> Vec<Node<'a, 'i>> {
    let has = move |node: &Node| {
        node.attribute("class").unwrap_or_default().split(' ').any(|c| c == class)
            || class.is_empty()
    };
    page.descendants().filter(|node| node.tag_name().name() == name && has(node)).collect()
}

#[test]
fn peak_pages_begin_with_the_scoreboard() {
    let row = |block, pattern, depth, op| Job {
        op,
        pattern,
        depth,
        direct: true,
        ..testing::job("uring", block, Cache::AsIs)
    };
    let mut cells = Vec::new();
    for op in [Op::Read, Op::Write] {
        cells.push(row(1 << 20, Pattern::Seq, 8, op));
        cells.push(row(4096, Pattern::Random, 1, op));
    }
    let mut session = testing::measured(cells, 7, testing::Like::new(40_000.0, 1.0, None));
    (session.plan.presets, session.name) = (vec!["peak".into()], String::new());
    let text = show(&session);
    let page = parse(&text);
    let title = all(&page, "h1", "")[0].text().unwrap();
    assert!(title.starts_with("How fast is this disk? · ubuntu.iso, 512 MiB"), "{title}");
    let tiles: Vec<&str> = all(&page, "h3", "").iter().filter_map(|node| node.text()).collect();
    let board = ["read SEQ1M Q8T1", "read RND4K Q1T1", "write SEQ1M Q8T1", "write RND4K Q1T1"];
    assert_eq!(tiles[..4], board);
    let about = all(&page, "li", "tile")[1].descendants().filter_map(|node| node.text());
    let about: String = about.collect();
    assert!(about.contains("IOPS") && about.contains("uring") && about.contains('±'), "{about}");
    session.name = "mine".into();
    assert!(show(&session).contains("<title>mine · iotui</title>"));
}

fn sessions() -> Vec<(&'static str, Session)> {
    testing::all().into_iter().chain([("every", testing::every())]).collect()
}

/// Returns the rows of each table.
fn count_rows(results: &[analysis::CellResult], probes: usize) -> Vec<usize> {
    let count = |has: fn(&analysis::CellResult) -> bool| results.iter().filter(|r| has(r)).count();
    let (committed, written) = (count(|r| r.commits.is_some()), count(|r| r.written.is_some()));
    let verified = count(|r| r.verified.is_some());
    let all = [results.len(), probes, committed, written, verified];
    all.into_iter().filter(|rows| *rows > 0).collect()
}

/// Counts the marks at the ends of bars.
fn count_bars(page: &Document) -> usize {
    let bars = all(page, "figure", "bars");
    let marks = bars.iter().flat_map(|figure| figure.descendants());
    marks.filter(|node| node.attribute("class").unwrap_or("").starts_with("m ")).count()
}

#[test]
fn pages_show_every_result_twice() {
    for (name, session) in sessions() {
        let text = show(&session);
        let page = parse(&text);
        let results = analysis::results(&session);
        let rows: Vec<usize> = all(&page, "tbody", "")
            .iter()
            .map(|body| body.children().filter(Node::is_element).count())
            .collect();
        let wanted = count_rows(&results, analysis::probes(&session).len());
        assert_eq!(
            rows, wanted,
            "{name}: a table of jobs, of probes, of commits, of writes, of what was verified"
        );
        fn marked(node: &Node, class: &str) -> bool {
            node.attribute("class").unwrap_or("").split(' ').any(|own| own == class)
        }
        let charts = |id: &str| {
            let own =
                move |node: &Node| node.attribute("id").is_some_and(|own| own.starts_with(id));
            page.descendants().filter(own).collect::<Vec<_>>()
        };
        let dots = |id: &str| {
            charts(id)
                .iter()
                .flat_map(|chart| chart.descendants())
                .filter(|node| marked(node, "own"))
                .map(|area| area.descendants().filter(|node| marked(node, "m")).count())
                .sum::<usize>()
        };
        // On a curve or as a bar.
        let bars = count_bars(&page);
        let jobs = results.iter().filter(|r| r.operations.is_some() && r.error.is_none()).count();
        let probes = analysis::probes(&session)
            .iter()
            .filter(|probe| probe.value.is_some() && probe.error.is_none())
            .count();
        let drawn =
            dots("chart-throughput").max(dots("chart-operations")) + dots("chart-probe") + bars;
        assert!(drawn >= jobs + probes, "{name}: {drawn} of {jobs} and {probes}");
        let trials: usize =
            results.iter().filter(|r| r.error.is_none()).map(|r| r.trials.len()).sum();
        assert!([0, trials].contains(&dots("chart-time")), "{name}: {}", dots("chart-time"));
        let shown = text.split("<script").next().unwrap();
        assert!(!shown.contains("NaN") && !shown.contains("inf%"), "{name}");
        let ids: Vec<&str> = page.descendants().filter_map(|node| node.attribute("id")).collect();
        assert!(
            ids.iter().all(|id| ids.iter().filter(|other| other == &id).count() == 1),
            "{name}: an id stands twice in {ids:?}"
        );
        for link in all(&page, "a", "") {
            assert!(
                ids.contains(&link.attribute("href").unwrap().trim_start_matches('#')),
                "{name}: {link:?}"
            );
        }
    }
}

#[test]
fn a_page_holds_the_whole_document() {
    for (name, session) in sessions() {
        let text = show(&session);
        let page = parse(&text);
        let data =
            page.descendants().find(|node| node.attribute("id") == Some("iotui-data")).unwrap();
        let got: Value = serde_json::from_str(data.text().unwrap()).unwrap();
        assert_eq!(got, serde_json::to_value(analysis::document(&session)).unwrap(), "{name}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let mut session = testing::every();
    let evil = "</script></title><script>alert(1)</script><!--]]>&amp;\u{1b}\u{7f}\u{85}\u{202e}\u{2028}\u{ffff}\u{e0001}\"'";
    session.name = evil.into();
    session.notes.push(evil.into());
    session.plan.target = TargetSpec::File { path: format!("/data/{evil}").into(), size: 1 << 20 };
    session.errors[4] = Some(evil.into());
    session.plan.skipped[0].reason = evil.into();
    testing::warn(&mut session, 0, "odd", Severity::Wrong, [evil, evil, evil]);
    let text = show(&session);
    let page = parse(&text);
    assert_eq!(all(&page, "script", "").len(), 2);
    assert_eq!(text.matches("<script").count(), 2);
    assert_eq!(
        (
            text.matches("</script").count(),
            text.matches("<!--").count(),
            text.matches("alert(1)</").count()
        ),
        (2, 0, 0)
    );
    assert!(!text.contains(|c: char| c != '\n' && c.is_control()
        || matches!(c, '\u{202e}' | '\u{2028}' | '\u{ffff}' | '\u{e0001}')));
    let data = page.descendants().find(|node| node.attribute("id") == Some("iotui-data")).unwrap();
    let got: Value = serde_json::from_str(data.text().unwrap()).unwrap();
    assert_eq!(got["skipped"][0]["reason"], evil);
    assert!(
        all(&page, "h1", "")[0].text().unwrap().starts_with("</script></title><script>alert(1)")
    );
}

#[test]
fn the_policy_allows_nothing_else() {
    let text = show(&testing::every());
    let page = parse(&text);
    let hash = |tag: &str| {
        let between = text
            .rsplit_once(&format!("<{tag}>"))
            .unwrap()
            .1
            .split_once(&format!("</{tag}>"))
            .unwrap()
            .0;
        format!("sha256-{}", STANDARD.encode(Sha256::digest(between)))
    };
    assert_eq!((STYLE_HASH, SCRIPT_HASH), (hash("style").as_str(), hash("script").as_str()));
    let policy = all(&page, "meta", "")
        .into_iter()
        .find_map(|m| m.attribute("http-equiv").and(m.attribute("content")))
        .unwrap();
    let wanted = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, wanted);
    // XML namespaces are not addresses; the policy would reject a style on an element.
    let names = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
    let rest = names.iter().fold(text.clone(), |text, name| text.replace(name, ""));
    assert!(
        !rest.contains("//www")
            && !rest.contains("http:")
            && !rest.contains("https:")
            && !rest.contains("url(")
    );
    assert!(
        page.descendants()
            .all(|node| node.attribute("style").is_none() && node.attribute("src").is_none())
    );
}

/// Returns the value of a variable in the part of the style that starts with `from`.
fn color<'a>(from: &str, name: &str) -> &'a str {
    let part = STYLE.split_once(from).unwrap().1.split_once('}').unwrap().0;
    let light = STYLE.split_once('}').unwrap().0;
    let find = |part: &'a str| {
        part.lines().find_map(|line| line.trim().strip_prefix(&format!("--{name}: ")))
    };
    find(part).or_else(|| find(light)).unwrap().trim_end_matches(';')
}

#[test]
fn colours_contrast_in_both_schemes() {
    for scheme in [":root {", "(prefers-color-scheme: dark) {"] {
        for ground in ["back", "card"] {
            let ground = color(scheme, ground);
            for text in ["text", "quiet", "accent", "wrong", "misleading", "sound"] {
                let seen = contrast(color(scheme, text), ground);
                assert!(seen >= 4.5, "{scheme} {text} on {ground}: {seen}");
            }
        }
        for share in ["device", "cache", "hole", "unknown"] {
            assert!(
                contrast(color(scheme, share), color(scheme, "card")) >= 3.0,
                "{scheme} {share}"
            );
        }
        for curve in crate::report::figure::COLORS {
            assert!(contrast(curve, color(scheme, "card")) >= 3.0, "{scheme} {curve}");
        }
    }
}

#[test]
fn many_trials_are_thinned_out() {
    fn stride(i: u64) -> crate::plan::Pattern {
        crate::plan::Pattern::Stride(i + 2)
    }
    let cells = (0..60u64).map(|i| crate::plan::Job {
        pattern: stride(i),
        ..testing::job("read", 4096, crate::plan::Cache::Cold)
    });
    let session = testing::measured(cells.collect(), 80, testing::Like::new(3000.0, 1.0, None));
    let text = show(&session);
    let page = parse(&text);
    assert!(text.contains("1 in 2 is drawn"));
    // No two are on a curve: each has a bar, and none is skipped.
    assert_eq!(count_bars(&page), 60);
    assert!(
        text.contains(">read at 4 KiB, cold, stride:2</text>")
            && text.contains(">read at 4 KiB, cold, stride:61</text>"),
        "{text}"
    );
}

#[test]
fn estimates_are_series_of_their_own() {
    let text = show(&testing::bounded(testing::quick()));
    let page = parse(&text);
    let names: Vec<String> = all(&page, "li", "")
        .iter()
        .filter(|entry| entry.attribute("data-series").is_some())
        .map(|entry| entry.descendants().filter_map(|node| node.text()).collect())
        .collect();
    let (first, drawn) = (
        names.iter().position(|name| name.contains("estimate: ")).unwrap(),
        all(&page, "g", "series"),
    );
    assert!(names.len() >= first + 2, "call and copy, and reading in place: {names:?}");
    for (number, name) in names.iter().enumerate().skip(first) {
        let number = number.to_string();
        let own = drawn.iter().find(|g| g.attribute("data-series") == Some(&number)).unwrap();
        let dotted = |node: &Node| node.attribute("stroke-dasharray") == Some("0.1 5");
        assert!(own.children().any(|node| dotted(&node)), "a press on {name} switches it");
    }
    assert!(text.contains("Dotted: estimates from the cheapest system call, 100 ns"));
    assert!(!show(&testing::quick()).contains("estimate: "));
    for background in ["#ffffff", "#16191d"] {
        assert!(contrast("#808890", background) >= 3.0);
    }
}

#[test]
fn a_preset_says_what_was_done() {
    let text = show(&testing::measured_session());
    assert!(
        text.contains("<h2 id=\"done\">What was done</h2>")
            && text.contains("measure: How many blocks")
            && text.contains("Doubles the number"),
        "{text}"
    );
    assert!(!show(&testing::quick()).contains("What was done"));
}

#[test]
fn counts_a_failed_result_once() {
    let mut session = testing::every();
    let results = analysis::results(&session);
    let of = |result: &analysis::CellResult| {
        session.plan.cells.iter().position(|cell| *cell == result.cell).unwrap()
    };
    fn doubtful(result: &&analysis::CellResult) -> bool {
        result.warnings.iter().any(|warning| warning.severity > Severity::Note)
    }
    fn figure(session: &Session) -> String {
        let text = show(session);
        let rest = text.split("Results without a warning</h3><p class=\"figure\">").nth(1).unwrap();
        rest.split('<').next().unwrap().to_string()
    }
    let (at, before) = (
        of(results.iter().filter(|result| result.error.is_none()).find(doubtful).unwrap()),
        figure(&session),
    );
    session.errors[at] = Some("killed in its third round".into());
    assert_eq!(figure(&session), before);
}

#[test]
fn charts_have_both_scales() {
    let text = show(&testing::quick());
    let page = parse(&text);
    let chart =
        page.descendants().find(|node| node.attribute("id") == Some("chart-throughput")).unwrap();
    assert!(["linear", "logarithmic"].contains(&chart.attribute("data-scale").unwrap()));
    let marks = |class: &str| {
        let area = all(&page, "svg", class)[0];
        area.descendants()
            .filter(|node| node.attribute("class").unwrap_or("").starts_with("m "))
            .map(|node| node.attribute("points").or(node.attribute("cy")).unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let (own, other) = (marks("own"), marks("other"));
    assert!(!own.is_empty() && own.len() == other.len() && own != other);
    let scales = all(&page, "figure", "chart")
        .iter()
        .filter(|c| c.attribute("data-scale").is_some())
        .count();
    assert_eq!(all(&page, "p", "other").len(), scales);
}

#[test]
fn results_of_probes_count_as_results() {
    let text = show(&testing::lab());
    let rest = text.split("Results without a warning</h3><p class=\"figure\">").nth(1).unwrap();
    assert_eq!(rest.split('<').next(), Some("0 of 6"), "each of the six has few batches or failed");
}

//! The page in a browser: it loads without errors, shows read-outs, sorts, hides, fits, and makes
//! no request.

use std::path::PathBuf;

use crate::common::browser::Browser;
use crate::common::{Home, without};
use serde_json::{Value, json};

const EVIL: &str = "</script><script>window.broken = 1</script><img src=x onerror=window.broken=1>";

fn warning(id: &str, severity: &str) -> Value {
    json!({ "id": id, "severity": severity, "message": EVIL, "evidence": EVIL, "remedy": "" })
}

/// Writes the golden session with every kind of cell, and names that try to inject markup.
fn session(home: &Home) -> PathBuf {
    let golden = include_str!("golden/session-v1.jsonl");
    let mut lines: Vec<Value> =
        golden.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let head = &mut lines[0];
    head["name"] = EVIL.into();
    head["plan"]["target"] =
        json!({ "kind": "file", "path": format!("/data/{EVIL}/x.img"), "size": 1 << 30 });
    let cell = |of: usize, changes: &[(&str, Value)], head: &Value| {
        let mut cell = head["plan"]["cells"][of].clone();
        changes.iter().for_each(|(key, value)| cell[key] = value.clone());
        cell
    };
    let never = cell(0, &[("backend", "pread".into()), ("block", (1 << 20).into())], head);
    let seek = cell(
        0,
        &[
            ("backend", "seek".into()),
            ("op", "seek".into()),
            ("block", 1.into()),
            ("cache", "asis".into()),
        ],
        head,
    );
    let aio = cell(0, &[("backend", "aio".into())], head);
    head["plan"]["cells"].as_array_mut().unwrap().extend([never, seek]);
    head["plan"]["skipped"] = json!([{ "cell": aio, "reason": format!("aio: {EVIL}") }]);
    let mut seeks = Vec::new();
    for line in &mut lines {
        match (line["kind"].as_str(), line["cell"].as_u64()) {
            // The plan's order must differ from that of the figures.
            (Some("trial"), Some(2)) => {
                line["nanos"] = (line["nanos"].as_u64().unwrap() * 10).into()
            }
            (Some("trial"), Some(0)) => {
                let mut trial = line.clone();
                (trial["cell"], trial["bytes"], trial["evidence"]["lane_bytes"]) =
                    (6.into(), 0.into(), 0.into());
                seeks.push(trial);
            }
            (Some("verdict"), Some(0)) => {
                line["verdict"]["warnings"] =
                    json!([warning("holes", "wrong"), warning("odd", "note")])
            }
            (Some("verdict"), Some(1)) => {
                line["verdict"]["warnings"] = json!([warning("wide", "misleading")])
            }
            (Some("verdict"), Some(2)) => line["verdict"]["latency"] = Value::Null,
            _ => {}
        }
    }
    let end = lines.len() - 1;
    lines[end]["reason"] = "budget".into();
    lines.splice(end..end, seeks);
    let path = home.path("every.jsonl");
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())
        .unwrap();
    path
}

/// Opens the page of that session in a browser; `None` without a browser.
fn page(home: &Home) -> Option<(Browser, PathBuf)> {
    let Some(mut browser) = Browser::start() else {
        without("chromium");
        return None;
    };
    let (session, page) = (session(home), home.path("page.html"));
    home.cmd(&format!("sessions export {} --format html -o {}", session.display(), page.display()))
        .assert()
        .success();
    browser.window(1280, 900, "light");
    browser.open(&page);
    Some((browser, page))
}

fn texts(browser: &mut Browser, selector: &str) -> Vec<String> {
    let list = browser.eval(&format!(
        "[...document.querySelectorAll({})].map((node) => node.textContent)",
        json!(selector)
    ));
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_string()).collect()
}

#[test]
fn page_makes_no_requests() {
    let home = Home::new();
    let Some((mut browser, path)) = page(&home) else { return };
    for method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"] {
        assert!(browser.events_of(method).is_empty(), "{method}: {:?}", browser.events_of(method));
    }
    let requests = browser.events_of("Network.requestWillBeSent");
    let urls: Vec<&str> =
        requests.iter().map(|request| request["request"]["url"].as_str().unwrap()).collect();
    assert_eq!(urls, [format!("file://{}", path.display())]);
    // Names are shown as text, and the page's own script has run.
    assert_eq!(browser.eval("typeof window.broken"), "undefined");
    assert_eq!(browser.eval("document.querySelector('h1').textContent"), EVIL);
    assert_eq!(browser.eval("document.querySelectorAll('img, iframe, link, object').length"), 0);
    assert_eq!(browser.eval("document.querySelectorAll('thead button').length > 5"), true);
    // Injected code could still do nothing.
    fn refused(what: &str) -> String {
        format!(
            "new Promise((done) => {{ document.addEventListener('securitypolicyviolation', \
             (event) => done(event.effectiveDirective), {{ once: true }}); {what} }})"
        )
    }
    let added = "const node = document.createElement('script'); node.textContent = 'window.broken = 1'; document.body.append(node);";
    assert_eq!(browser.eval(&refused(added)), "script-src-elem");
    assert_eq!(browser.eval("typeof window.broken"), "undefined");
    assert_eq!(browser.eval(&refused("new Image().src = 'http://127.0.0.1:9/x';")), "img-src");
    assert_eq!(
        browser.eval(&refused("fetch('http://127.0.0.1:9/x').catch(() => {});")),
        "connect-src"
    );
}

/// Without scripts a browser sees the elements that an XML parser sees: no name opens or closes one
/// in either parser.
#[test]
fn page_is_whole_without_scripts() {
    let home = Home::new();
    let Some((mut browser, path)) = page(&home) else { return };
    browser.ask("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open(&path);
    let seen = browser.eval("[...document.querySelectorAll('*')].map((node) => node.localName)");
    let text = std::fs::read_to_string(&path).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let xml = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let wanted: Vec<&str> = xml
        .descendants()
        .filter(|node| node.is_element())
        .map(|node| node.tag_name().name())
        .collect();
    assert_eq!(seen, json!(wanted));
    assert_eq!(browser.eval("document.querySelectorAll('button').length"), 0);
    let visible = "[...document.querySelectorAll('.own .m')].filter((node) => node.getBoundingClientRect().width > 3).length";
    assert!(browser.eval(visible).as_u64().unwrap() > 20);
    assert_eq!(browser.eval("document.querySelectorAll('tbody tr').length"), 6);
    let data: Value = serde_json::from_str(
        browser.eval("document.getElementById('iotui-data').textContent").as_str().unwrap(),
    )
    .unwrap();
    assert_eq!(data, home.json(&format!("sessions export {}", home.path("every.jsonl").display())));
}

#[test]
fn header_click_sorts_the_table() {
    let home = Home::new();
    let Some((mut browser, _)) = page(&home) else { return };
    let column = texts(&mut browser, "thead th span")
        .iter()
        .position(|title| title == "throughput")
        .unwrap()
        + 1;
    let head = format!("thead th:nth-child({column})");
    let keys = |browser: &mut Browser| {
        let of = format!(
            "[...document.querySelectorAll('tbody td:nth-child({column})')].map((cell) => parseFloat(cell.dataset.key))"
        );
        browser.eval(&of).as_array().unwrap().iter().map(Value::as_f64).collect::<Vec<_>>()
    };
    let sort = |browser: &mut Browser| {
        browser.eval(&format!("document.querySelector({}).ariaSort", json!(head)))
    };
    let planned = keys(&mut browser);
    let mut known: Vec<f64> = planned.iter().flatten().copied().collect();
    assert!(known.len() == 4 && planned.len() == 6, "two of six have no throughput: {planned:?}");
    known.sort_by(f64::total_cmp);
    let last =
        |values: &[f64]| values.iter().map(|v| Some(*v)).chain([None, None]).collect::<Vec<_>>();
    let up = last(&known);
    known.reverse();
    let down = last(&known);
    assert!(planned != up && planned != down);
    assert_eq!(sort(&mut browser), "none");
    browser.click(&format!("{head} button"));
    assert_eq!((keys(&mut browser), sort(&mut browser)), (down, "descending".into()));
    // By keyboard, with the focus where the click left it.
    browser.key("Enter", 13, "\r");
    assert_eq!((keys(&mut browser), sort(&mut browser)), (up, "ascending".into()));
    browser.key("Enter", 13, "\r");
    assert_eq!((keys(&mut browser), sort(&mut browser)), (planned, "none".into()));
    // Words, and then sizes, which are not plain numbers.
    browser.click("thead th:first-child button");
    assert!(texts(&mut browser, "tbody td:first-child").is_sorted());
    let block =
        texts(&mut browser, "thead th span").iter().position(|title| title == "block").unwrap() + 1;
    browser.click(&format!("thead th:nth-child({block}) button"));
    let sizes = texts(&mut browser, &format!("tbody td:nth-child({block})"));
    assert_eq!(sizes, ["256 KiB", "256 KiB", "4 KiB", "4 KiB", "4 KiB", "1 B"]);
    assert_eq!(browser.eval("document.querySelectorAll('th[aria-sort=none]').length + 1 === document.querySelectorAll('th').length"), true);
}

#[test]
fn pointer_and_keys_read_points_out() {
    let home = Home::new();
    let Some((mut browser, _)) = page(&home) else { return };
    let chart = "#chart-throughput";
    fn shown(browser: &mut Browser) -> String {
        texts(browser, ".readout.shown p").join("; ")
    }
    assert_eq!(shown(&mut browser), "");
    let at = browser.middle(&format!("{chart} .own .m"));
    browser.point(at);
    let first = shown(&mut browser);
    assert!(
        first.starts_with("read 4 KiB cold; ")
            && first.contains("GiB/s (95 %:")
            && first.contains("from device 100 %"),
        "{first}"
    );
    assert_eq!(browser.eval("document.querySelectorAll('.cursor').length"), 1);
    browser.point((2.0, 2.0));
    assert_eq!(shown(&mut browser), "");
    // By keys: along the curve, to another one, away.
    browser.eval(&format!("document.querySelector('{chart} .plot').focus()"));
    assert_eq!(shown(&mut browser), first);
    browser.key("ArrowRight", 39, "");
    let second = shown(&mut browser);
    assert!(second.starts_with("read 256 KiB cold; "), "{second}");
    browser.key("ArrowDown", 40, "");
    assert!(shown(&mut browser).starts_with("read 256 KiB warm; "), "{}", shown(&mut browser));
    browser.key("Escape", 27, "");
    assert_eq!(shown(&mut browser), "");
}

#[test]
fn legend_toggles_series_in_all_charts() {
    let home = Home::new();
    let Some((mut browser, _)) = page(&home) else { return };
    let seen = |browser: &mut Browser| {
        let of = "[...document.querySelectorAll('.series')].filter((node) => getComputedStyle(node).display !== 'none').map((node) => +node.dataset.series)";
        browser
            .eval(of)
            .as_array()
            .unwrap()
            .iter()
            .map(|index| index.as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    fn pressed(browser: &mut Browser) -> Value {
        browser.eval("document.querySelector('.legend button').ariaPressed")
    }
    let all = seen(&mut browser);
    assert!(all.iter().filter(|index| **index == 0).count() > 2, "{all:?}");
    assert_eq!(pressed(&mut browser), "true");
    browser.click(".legend button");
    assert_eq!(
        seen(&mut browser),
        all.iter().copied().filter(|index| *index != 0).collect::<Vec<_>>()
    );
    assert_eq!(pressed(&mut browser), "false");
    // Hidden curves have no read-out.
    browser.eval("document.querySelector('#chart-throughput .plot').focus()");
    browser.key("ArrowRight", 39, "");
    assert!(texts(&mut browser, ".readout.shown p")[0].contains("warm"));
    browser.click(".legend button");
    assert_eq!((seen(&mut browser), pressed(&mut browser)), (all.clone(), "true".into()));
    browser.click(".legend .all:last-child button");
    // Bars have no legend entry, so nothing hides them.
    let entries = browser.eval("[...document.querySelectorAll('.legend [data-series]')].map((node) => +node.dataset.series)");
    assert!(
        seen(&mut browser)
            .iter()
            .all(|index| !entries.as_array().unwrap().contains(&(*index).into())),
        "{entries}"
    );
    browser.click(".legend .all button");
    assert_eq!(seen(&mut browser), all);
}

/// Lists, as sentences, the parts of the page that are placed where they cannot be read.
const MISPLACED: &str = "(() => {
  const found = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const node of document.querySelectorAll('main *')) {
    const box = node.getBoundingClientRect();
    const scrolls = node.closest('.scroll') || node.closest('svg') || node.closest('header + section h2');
    if (!scrolls && box.width > 0 && (box.left < -0.5 || box.right > wide + 0.5)) found.push(`${node.tagName} ${node.className} ends at ${box.right}`);
  }
  for (const plot of document.querySelectorAll('.plot')) {
    const labels = [...plot.querySelectorAll('text')].map((node) => [node.textContent, node.getBoundingClientRect(), node.closest('svg').getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    for (const [text, box, area] of labels) {
      if (box.left < area.left || box.right > area.right || box.bottom > area.bottom) found.push(`${text} is outside of its chart`);
    }
    labels.forEach(([text, a], index) => labels.slice(index + 1).forEach(([other, b]) => {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      if (!apart) found.push(`${text} covers ${other}`);
    }));
  }
  return found;
})()";

#[test]
fn page_fits_phone_and_desktop() {
    let home = Home::new();
    let Some((mut browser, _)) = page(&home) else { return };
    for (width, height) in [(375, 800), (1280, 900)] {
        for scheme in ["light", "dark"] {
            browser.window(width, height, scheme);
            assert_eq!(browser.eval(MISPLACED), json!([]), "{width} {scheme}");
            let ground = browser.eval("getComputedStyle(document.body).backgroundColor");
            assert_eq!(ground == "rgb(15, 18, 21)", scheme == "dark", "{ground}");
        }
        // The read-out of every point stays within the page.
        let out = "[...document.querySelectorAll('.plot')].flatMap((plot) => { plot.focus(); const found = []; \
                   for (let i = 0; i < 40; i += 1) { plot.dispatchEvent(new KeyboardEvent('keydown', { key: i % 8 === 7 ? 'ArrowDown' : 'ArrowRight' })); \
                   const box = plot.querySelector('.readout').getBoundingClientRect(); \
                   if (box.left < 0 || box.right > document.documentElement.clientWidth) found.push(plot.querySelector('.readout').textContent); } \
                   plot.blur(); return found; })";
        assert_eq!(browser.eval(out), json!([]), "{width}");
    }
}

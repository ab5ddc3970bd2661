//! The guided start as a user meets it.

use std::path::{Path, PathBuf};

use super::*;
use crate::experiment::Proposed;
use crate::facts::{Space, TargetFacts};
use crate::model::Model;
use crate::msg::{Effect, Msg, Query, Replayed};
use crate::plan::{Presets, Settings, TargetSpec};
use crate::popup::{Popup, Start};
use crate::record::{Severity, Warning};
use crate::remember::Remembered;
use crate::screen::Screen;
use crate::setup::tests::{listing, proposed};
use crate::testing::Stage;
use crate::theme::{Look, Role};

/// The screen at its very first start, with the plan of a scratch file.
fn stage() -> Stage {
    let presets = Presets::built_in();
    let quick = presets.get("quick").unwrap().clone();
    let setup = Setup::new(None, None, quick, Settings::default()).with_remembered(
        &Remembered::default(),
        Path::new("/data"),
        true,
    );
    let mut stage = Stage::new();
    stage.model = Model::new(Look::default(), presets.iter().cloned().collect(), setup);
    stage.model.popups.push(Popup::start(&[], ""));
    stage.effects = stage.model.setup.start();
    stage.tell(Msg::Listed(listing("/data")));
    answer(&mut stage);
    stage.take();
    stage
}

/// Answers the newest plan request; the scratch file has 10 GiB.
fn answer(stage: &mut Stage) {
    let mut proposed = proposed(&stage.model.setup);
    let space = Space { total: 20 << 30, free: 10 << 30, available: 10 << 30 };
    proposed.facts = TargetFacts { space: Some(space), ..TargetFacts::default() };
    let number = stage.model.setup.planning.number;
    let busy = Warning {
        id: "busy".into(),
        severity: Severity::Misleading,
        message: "other programs compete for the CPUs".into(),
        evidence: "load average of 3.00".into(),
        remedy: "wait".into(),
    };
    stage.tell(Msg::Proposed {
        number,
        result: Ok(Box::new(proposed)),
        findings: vec![busy],
        outlook: Box::default(),
    });
}

/// Answers the newest plan request with this plan.
fn tell(stage: &mut Stage, proposed: Proposed) {
    let number = stage.model.setup.planning.number;
    let result = Ok(Box::new(proposed));
    let (findings, outlook) = (Vec::new(), Box::default());
    stage.tell(Msg::Proposed { number, result, findings, outlook });
}

fn is_asking(stage: &Stage) -> bool {
    matches!(stage.model.popups.last(), Some(Popup::Start(_)))
}

#[test]
fn first_screen_asks_and_describes_writes() {
    let mut stage = stage();
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        stage.tell(Msg::Resize(columns, rows));
        let text = stage.picture(columns, rows);
        for wanted in [
            "What do you want to know?",
            "How fast is this disk?",
            "Show me an example",
            "writes 512 MiB to a file without a name in /data",
            "overwrites",
            "25 s",
            "leaves 9.5",
            "other programs compete for the CPUs",
            "e all settings",
        ] {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(wanted), "{columns}x{rows} {wanted}\n{text}");
        }
        assert!(!text.contains("Backends"), "{text}");
    }
    assert!(stage.keys("jjjjjjjjjj").picture(120, 40).contains("reads and writes no file"));
}

#[test]
fn one_key_answers_the_disk_question() {
    let mut stage = stage();
    stage.keys("<enter>");
    let effects = stage.take();
    let planned: Vec<_> = effects
        .iter()
        .filter_map(
            |e| if let Effect::Ask(Query::Propose(q)) = e { Some(&*q.preset.id) } else { None },
        )
        .collect();
    assert_eq!(planned, ["peak"]);
    answer(&mut stage);
    let effects = stage.take();
    assert!(effects.iter().any(|e| matches!(e, Effect::Start { .. })), "{effects:?}");
    assert_eq!(stage.model.screen, Screen::Live);
}

#[test]
fn file_question_runs_the_picked_file() {
    let mut stage = stage();
    stage.keys("j<enter>");
    answer(&mut stage);
    assert!(!is_asking(&stage) && stage.model.setup.picks);
    let text = stage.picture(80, 24);
    assert!(text.contains("How fast is this file read?") && text.contains("b.iso"), "{text}");
    assert!(!text.contains("Workload") && !text.contains("Plan"), "{text}");
    // Back to the questions, to the same one; nothing is chosen.
    stage.keys("<esc>");
    assert_eq!(stage.model.setup.preset.id, "quick");
    answer(&mut stage);
    let remembered = stage.take().into_iter().rev().find_map(|effect| match effect {
        Effect::Remember(remembered) => Some(remembered),
        _ => None,
    });
    assert_ne!(remembered.unwrap().preset.as_deref(), Some("file"));
    assert!(matches!(stage.model.popups.last(), Some(Popup::Start(Start { cursor: 1, .. }))));
    stage.keys("<enter>j<enter>");
    stage.take();
    answer(&mut stage);
    let effects = stage.take();
    assert!(effects.iter().any(|e| matches!(e, Effect::Start { .. })), "{effects:?}");
    assert_eq!(stage.model.setup.file, Some(PathBuf::from("/data/a.bin")));
}

#[test]
fn file_question_never_uses_scratch_files() {
    // The scratch file, by keys and as no path, and one in the folder under the cursor.
    for keys in ["", "g<enter>", "g<space>", "<space>", "i<ctrl-u><enter>", "/scratch<enter>"] {
        let mut stage = stage();
        stage.keys("j<enter>");
        answer(&mut stage);
        stage.keys(keys);
        answer(&mut stage);
        assert!(stage.model.setup.picks, "{keys}");
        let said = stage.model.toasts.iter().map(|toast| toast.text.as_str());
        let wanted: &[&str] = if keys.is_empty() { &[] } else { &["pick a file"] };
        assert_eq!(said.collect::<Vec<_>>(), wanted, "{keys}");
        let effects = stage.take();
        assert!(!effects.iter().any(|e| matches!(e, Effect::Start { .. })), "{keys}: {effects:?}");
    }
}

#[test]
fn file_list_starts_at_first_entry() {
    let mut stage = stage();
    stage.keys("j<enter>");
    let browser = &stage.model.setup.browser;
    assert_eq!(browser.row().and_then(|row| browser.path(row)), Some(Path::new("/data/sub")));
    // The folder that is read only then is there to be picked from, too.
    let mut stage = self::stage();
    let listed = std::mem::take(&mut stage.model.setup.browser.entries);
    assert!(!listed.is_empty());
    stage.model.setup.browser.build_rows();
    stage.keys("j<enter>");
    stage.model.setup.browser.loading = Some("/data".into());
    stage.tell(Msg::Listed(listing("/data")));
    let browser = &stage.model.setup.browser;
    assert_eq!(browser.row().and_then(|row| browser.path(row)), Some(Path::new("/data/sub")));
    assert!(!stage.keys("g").picture(80, 24).contains("enter measures it"));
}

#[test]
fn file_list_ignores_other_keys() {
    let mut stage = stage();
    stage.keys("j<enter>");
    answer(&mut stage);
    stage.take();
    for key in ["r", "0", "y", "b", "m", "w"] {
        stage.keys(key);
        assert!(stage.model.setup.picks && stage.model.popups.is_empty(), "{key}");
        assert!(stage.take().is_empty(), "{key}");
    }
    let footer = stage.picture(200, 30);
    let footer = footer.lines().last().unwrap();
    assert!(footer.contains("filter") && !footer.contains("run"), "{footer}");
    // A typed path is picked, too.
    stage.keys("i<ctrl-u>/data/b.iso<enter>");
    answer(&mut stage);
    assert!(!stage.model.setup.picks);
    let effects = stage.take();
    assert!(effects.iter().any(|e| matches!(e, Effect::Start { .. })), "{effects:?}");
    assert_eq!(stage.model.setup.file, Some(PathBuf::from("/data/b.iso")));
    // Another preset answers another question.
    let mut stage = self::stage();
    stage.keys("j<enter>pj<space>");
    assert!(!stage.model.setup.picks && stage.picture(120, 40).contains("Backends"));
}

#[test]
fn call_question_runs_on_lab() {
    let mut stage = stage();
    stage.keys("jjjjjjjjjj<enter>");
    assert_eq!(stage.model.screen, Screen::Lab);
    let effects = stage.take();
    assert!(
        effects
            .iter()
            .any(|e| matches!(e, Effect::Ask(Query::PlanLab(q)) if q.preset.id == "lab/calls")),
        "{effects:?}"
    );
}

#[test]
fn questions_move_like_every_list() {
    let mut stage = stage();
    let cursor = |stage: &Stage| match stage.model.popups.last() {
        Some(Popup::Start(Start { cursor, .. })) => *cursor,
        _ => panic!("no questions"),
    };
    let last = entries(&stage.model.presets, "").len() - 1;
    for (keys, wanted) in
        [("j", 1), ("G", last), ("k", last - 1), ("gh", 0), ("jjjjjjjjjjjjjjj", 16), ("k", 14)]
    {
        assert_eq!(cursor(stage.keys(keys)), wanted, "{keys}");
    }
}

#[test]
fn an_example_measures_nothing() {
    let mut stage = stage();
    stage.keys("/example<enter>");
    assert!(matches!(&stage.take()[..], [Effect::Ask(Query::Replay { of: Replayed::Demo, .. })]));
}

#[test]
fn other_keys_leave_the_questions() {
    let mut stage = stage();
    stage.keys("?");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Help(_))));
    stage.keys("<esc>");
    assert!(is_asking(&stage));
    stage.keys("e");
    assert!(stage.model.popups.is_empty() && stage.model.screen == Screen::Setup);
    assert!(stage.picture(120, 40).contains("Backends"));
    let mut stage = self::stage();
    stage.keys("4");
    assert!(stage.model.popups.is_empty() && stage.model.screen == Screen::Sessions);
    let mut stage = self::stage();
    assert!(matches!(&stage.keys("q").take()[..], [Effect::Quit(0)]));
}

#[test]
fn palette_and_help_end_the_questions() {
    for (keys, screen) in [
        (":host<enter>", Screen::Host),
        (":preset raw<enter>", Screen::Setup),
        (":reset<enter>", Screen::Setup),
        ("?<tab>/sessions<enter>", Screen::Sessions),
    ] {
        let mut stage = stage();
        stage.keys(keys);
        assert_eq!(stage.model.screen, screen, "{keys}");
        assert!(stage.model.popups.is_empty(), "{keys}: {:?}", stage.model.popups);
    }
    // Keys that do not change the screen leave the questions open.
    let mut stage = stage();
    stage.keys("?<esc>:<esc>");
    assert!(is_asking(&stage));
}

#[test]
fn a_scratch_file_elsewhere_is_told() {
    let mut stage = stage();
    let mut proposed = proposed(&stage.model.setup);
    proposed.plan.target =
        TargetSpec::Scratch { dir: "/var/tmp".into(), size: 1 << 20, keep: false };
    proposed.facts.fs = "xfs".into();
    stage.model.setup.request_plan();
    tell(&mut stage, proposed);
    let text =
        "/data is in memory, read-only or takes no file, so the scratch file goes to /var/tmp";
    assert!(stage.picture(120, 40).contains(text));
    stage.keys("e");
    let (picture, buffer) = (stage.picture(120, 40), stage.drawn(120, 40));
    assert!(picture.contains(text), "{picture}");
    for (name, value) in [("in ", "/var/tmp"), ("on ", "xfs")] {
        let shows = |line: &str| line.contains(&format!("  {name}")) && line.contains(value);
        assert!(picture.lines().any(shows), "{name} {value}: {picture}");
    }
    let row = picture.lines().position(|line| line.contains(text)).unwrap() as u16;
    let sign = (0..120).map(|x| &buffer[(x, row)]).find(|cell| cell.symbol() == "!").unwrap();
    assert_eq!(Some(sign.fg), stage.model.look.style(Role::Misleading).fg);
}

#[test]
fn shown_size_is_that_of_question() {
    let mut stage = stage();
    stage.model.setup.settings.set("size", "4g").unwrap();
    stage.model.setup.request_plan();
    let mut proposed = proposed(&stage.model.setup);
    proposed.plan.target = proposed.plan.target.with_size(4 << 30);
    tell(&mut stage, proposed);
    let text = stage.picture(120, 40);
    assert!(text.contains("writes 512 MiB or less to a file"), "{text}");
    // A preset of the user's may have a question and a size.
    stage.model.presets[0].settings.set("size", "1g,2g").unwrap();
    let text = stage.picture(120, 40);
    assert!(text.contains("writes 2 GiB to a file without a name, then"), "{text}");
}

#[test]
fn the_presets_begin_with_the_questions() {
    let mut stage = stage();
    stage.keys("ep");
    let text = stage.picture(120, 60);
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted}\n{text}"));
    assert!(at("How fast is this disk?") < at("What does a system call cost?"));
    assert!(at("What does a system call cost?") < at("larger-than-memory"));
}

#[test]
fn the_first_findings_are_findings() {
    let checks = || iotui_core::doctor::CHECKS.iter().map(|check| check.id);
    for id in FIRST_FINDINGS {
        assert!(checks().chain([OTHER_RUN]).any(|check| check == *id), "{id}");
    }
}

//! Checks before a run: a missing file, another run, a budget that is too short.

use std::time::Duration;

use super::*;
use crate::msg::{NewRun, Outlook, Query, Refusal};
use crate::plan::TrialTime;
use crate::record::{Ground, Layer, LayerKind, Medium, Severity, Warning};
use crate::testing;
use crate::theme::Role;
use iotui_core::doctor::OTHER_RUN;

/// Answers the newest question.
fn tell(
    model: &mut Model,
    result: Result<Proposed, Refusal>,
    findings: Vec<Warning>,
) -> Vec<Effect> {
    let number = model.setup.planning.number;
    let forecast = "about 1 trial of each; more".into();
    let (result, outlook) =
        (result.map(Box::new), Outlook { forecast, ..Outlook::default() }.into());
    send(model, Msg::Proposed { number, result, findings, outlook })
}

fn starts(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Start { .. }))
}

fn warning(id: &'static str, severity: Severity, message: &str) -> Warning {
    Warning {
        id: id.into(),
        severity,
        message: message.into(),
        evidence: "seen".into(),
        remedy: "wait".into(),
    }
}

#[test]
fn missing_files_are_reported_before_runs() {
    let mut model = model(Some("a.bin"));
    answer_plan(&mut model);
    model.setup.browser.recent = vec!["/data/a.bin".into(), "/data/x".into()];
    let effects = keys(&mut model, "r");
    assert!(
        matches!(&effects[..], [Effect::Ask(Query::Propose(_))]),
        "the plan is made again: {effects:?}"
    );
    let why = "/data/a.bin: no such file; choose another target";
    let missing = || Err(Refusal { is_missing: true, ..why.into() });
    let effects = tell(&mut model, missing(), Vec::new());
    assert!(!starts(&effects) && model.screen == Screen::Setup, "{effects:?}");
    assert!(picture(&model, 120, 40).contains(why));
    assert!(!model.setup.exists, "a new file may be written there");
    // It is forgotten, too.
    assert!(
        effects.contains(&Effect::Ask(Query::FindGone(vec!["/data/a.bin".into()]))),
        "{effects:?}"
    );
    send(&mut model, Msg::Gone(vec!["/data/a.bin".into()]));
    assert_eq!(model.setup.browser.recent, [PathBuf::from("/data/x")]);
    let effects = tell(&mut model, missing(), Vec::new());
    assert!(effects.is_empty(), "r was pressed once, and the file is known to be gone");
    // A list that still shows it is read again, once.
    let mut model = self::model(Some("a.bin"));
    model.setup.browser.loading = Some("/data".into());
    send(&mut model, Msg::Listed(super::listing("/data")));
    answer_plan(&mut model);
    keys(&mut model, "r");
    let effects = tell(&mut model, missing(), Vec::new());
    assert!(effects.contains(&Effect::Ask(Query::List("/data".into()))), "{effects:?}");
    keys(&mut model, "r");
    assert!(
        !tell(&mut model, missing(), Vec::new())
            .contains(&Effect::Ask(Query::List("/data".into())))
    );
}

#[test]
fn files_of_refused_plans_exist() {
    let mut model = model(Some("a.bin"));
    answer_plan(&mut model);
    assert!(model.setup.exists);
    model.setup.browser.recent = vec!["/data/a.bin".into()];
    model.setup.request_plan();
    let refused = Err("pread cannot seek".into());
    assert_eq!(tell(&mut model, refused, Vec::new()), [], "nothing is looked for");
    assert!(model.setup.exists);
    // It is still not written.
    show_setting(&mut model.setup, "op");
    assert!(picture(&model, 120, 40).contains("iotui writes only to files it creates"));
}

#[test]
fn another_run_on_the_disk_asks() {
    let mut model = model(Some("a.bin"));
    answer_plan(&mut model);
    let other = || {
        let message = "another iotui (process 17) measures on this disk now";
        vec![warning(OTHER_RUN, Severity::Misleading, message)]
    };
    keys(&mut model, "r");
    let plan = proposed(&model.setup);
    let effects = tell(&mut model, Ok(plan), other());
    assert!(!starts(&effects), "{effects:?}");
    for (columns, rows) in [(80, 24), (120, 40)] {
        let text = picture(&model, columns, rows);
        for part in ["process 17", "r waits until it ends", "R runs now"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    keys(&mut model, "<esc>");
    assert!(model.popups.is_empty() && model.screen == Screen::Setup);
    keys(&mut model, "r");
    let plan = proposed(&model.setup);
    tell(&mut model, Ok(plan), other());
    assert!(starts(&keys(&mut model, "R")) && model.screen == Screen::Live);
}

/// A plan made on another screen, while process 17 measures on its disk.
fn disturbed() -> Box<NewRun> {
    let other_run = Some("another iotui (process 17) measures on this disk now".into());
    Box::new(NewRun { other_run, ..crate::testing::plan().into() })
}

#[test]
fn every_start_asks_about_another_run() {
    for answer in [Msg::Again(Ok(disturbed())), Msg::Refined(Ok(disturbed()))] {
        let mut model = model(Some("a.bin"));
        keys(&mut model, "4");
        assert!(!starts(&send(&mut model, answer)) && model.screen == Screen::Sessions);
        assert!(picture(&model, 80, 24).contains("process 17"));
        assert!(starts(&keys(&mut model, "R")) && model.screen == Screen::Live);
    }
    let mut model = model(Some("a.bin"));
    keys(&mut model, "5r");
    let number = model.lab.number;
    let effects = send(&mut model, Msg::LabPlanned { number, result: Ok(disturbed()) });
    assert!(!starts(&effects) && picture(&model, 80, 24).contains("process 17"));
}

#[test]
fn waiting_runs_block_no_screen() {
    let mut model = model(Some("a.bin"));
    keys(&mut model, "4");
    send(&mut model, Msg::Again(Ok(disturbed())));
    keys(&mut model, "r");
    assert!(model.popups.is_empty() && model.ticks());
    keys(&mut model, "6");
    assert_eq!(model.screen, Screen::Host);
    assert!(picture(&model, 120, 40).contains("a run waits"));
    // Starting another run shows the waiting one.
    send(&mut model, Msg::Again(Ok(Box::new(crate::testing::plan().into()))));
    for (columns, rows) in [(80, 24), (120, 40)] {
        let text = picture(&model, columns, rows);
        assert!(text.contains("process 17") && text.contains("n gives it up"), "{text}");
    }
    keys(&mut model, "<esc>");
    assert!(model.held.is_some() && model.popups.is_empty(), "it still waits");
    assert!(starts(&send(&mut model, Msg::OtherRun(None))) && model.screen == Screen::Live);
    // A run that was given up does not begin.
    let mut model = self::model(Some("a.bin"));
    send(&mut model, Msg::Again(Ok(disturbed())));
    keys(&mut model, "r");
    send(&mut model, Msg::Again(Ok(disturbed())));
    keys(&mut model, "n");
    assert!(model.popups.is_empty() && !starts(&send(&mut model, Msg::OtherRun(None))));
}

#[test]
fn plans_forget_runs_that_ended() {
    let mut model = model(Some("a.bin"));
    model.setup.request_plan();
    let plan = proposed(&model.setup);
    let found = warning(OTHER_RUN, Severity::Misleading, "process 17 measures");
    tell(&mut model, Ok(plan), vec![found]);
    assert!(model.ticks());
    let now = model.now + Duration::from_secs(2);
    let looks = |effects: &[Effect]| {
        effects.iter().any(|e| matches!(e, Effect::Ask(Query::FindOtherRun(_))))
    };
    assert!(looks(&update(&mut model, now, Msg::Tick)));
    send(&mut model, Msg::OtherRun(Some("process 18 measures".into())));
    assert!(picture(&model, 120, 40).contains("process 18 measures"));
    send(&mut model, Msg::OtherRun(None));
    assert!(!picture(&model, 120, 40).contains("process 18 measures"));
    let later = model.now + Duration::from_secs(20);
    assert!(!looks(&update(&mut model, later, Msg::Tick)));
}

#[test]
fn runs_wait_for_another_to_end() {
    let mut model = model(Some("a.bin"));
    answer_plan(&mut model);
    keys(&mut model, "r");
    let plan = proposed(&model.setup);
    let found = warning(OTHER_RUN, Severity::Misleading, "another iotui measures");
    tell(&mut model, Ok(plan), vec![found]);
    let looks = |effects: &[Effect]| {
        effects.iter().any(|e| matches!(e, Effect::Ask(Query::FindOtherRun(_))))
    };
    assert!(looks(&keys(&mut model, "r")), "at once");
    assert!(model.ticks() && picture(&model, 80, 24).contains("begins when the other run has"));
    // It is looked for once a second.
    let wait = |model: &mut Model, millis| {
        let now = model.now + Duration::from_millis(millis);
        looks(&update(model, now, Msg::Tick))
    };
    assert!(!wait(&mut model, 500) && wait(&mut model, 600) && !wait(&mut model, 500));
    assert!(send(&mut model, Msg::OtherRun(Some("process 18 measures".into()))).is_empty());
    assert!(model.held.as_ref().is_some_and(|held| held.why.contains("process 18")));
    let effects = send(&mut model, Msg::OtherRun(None));
    assert!(
        matches!(&effects[..], [Effect::Ask(Query::Propose(_))]),
        "files may have changed: {effects:?}"
    );
    assert!(model.popups.is_empty());
    assert!(starts(&answer_plan(&mut model)) && model.screen == Screen::Live);
    // If Setup has changed in the meantime, the held plan runs.
    let mut model = self::model(Some("a.bin"));
    answer_plan(&mut model);
    keys(&mut model, "r");
    let plan = proposed(&model.setup);
    let found = warning(OTHER_RUN, Severity::Misleading, "another iotui measures");
    tell(&mut model, Ok(plan), vec![found]);
    keys(&mut model, "r");
    model.setup.request_plan();
    assert!(starts(&send(&mut model, Msg::OtherRun(None))) && model.screen == Screen::Live);
}

#[test]
fn short_budgets_name_their_key() {
    let mut model = model(Some("a.bin"));
    let proposed = proposed(&model.setup);
    let plan = Plan {
        cells: crate::testing::plan().cells,
        budget: Duration::from_secs(2),
        trial_time: TrialTime::from_duration(Duration::from_millis(300)),
        ..proposed.plan
    };
    tell(&mut model, Ok(Proposed { plan, ..proposed }), Vec::new());
    let text = picture(&model, 120, 40);
    assert!(text.contains(": b sets ") && text.contains('!'), "{text}");
    assert!(!text.contains(" leaves ") || text.contains(" probably leaves "), "{text}");
    assert!(text.contains("24 cells = 2 backends × 6 block sizes × 2 cache states"), "{text}");
    keys(&mut model, "b");
    assert!(command_of(&model).contains("--budget "), "{}", command_of(&model));
    // Without a need, it is typed.
    answer_plan(&mut model);
    keys(&mut model, "b");
    assert!(matches!(model.popups.last(), Some(Popup::Line(_))));
}

#[test]
fn plans_show_serious_findings_only() {
    let mut model = model(Some("a.bin"));
    let plan = proposed(&model.setup);
    let findings = vec![
        warning("busy", Severity::Misleading, "other programs compete for the CPUs"),
        warning("smt", Severity::Note, "two threads share each core"),
    ];
    tell(&mut model, Ok(plan), findings);
    let text = picture(&model, 120, 40);
    assert!(text.contains("other programs compete for the CPUs"), "{text}");
    assert!(!text.contains("two threads share each core"), "{text}");
    assert!(text.contains("d shows 1 note, and remedies"), "{text}");
}

#[test]
fn findings_come_before_the_estimate() {
    let mut model = model(Some("a.bin"));
    model.size = (80, 24);
    let plan = proposed(&model.setup);
    let holes = "100 % of the target was never written";
    let findings =
        vec![warning("smt", Severity::Note, "smt"), warning("holes", Severity::Wrong, holes)];
    let number = model.setup.planning.number;
    let forecast = "about 5 trials of each ".repeat(6);
    let outlook = Box::new(Outlook { forecast, ..Outlook::default() });
    let result = Ok(Box::new(plan));
    send(&mut model, Msg::Proposed { number, result, findings, outlook });
    let text = picture(&model, 80, 24);
    assert!(text.contains(holes), "{text}");
}

#[test]
fn stored_comes_first_with_holes() {
    let mut model = model(None);
    keys(&mut model, "g/a.b");
    let mut facts = testing::facts();
    let row =
        |model: &Model, of: &str| picture(model, 120, 40).lines().position(|l| l.contains(of));
    for holes in [0, facts.size] {
        facts.stored.as_mut().unwrap().hole_bytes = holes;
        let result = Ok(Box::new(facts.clone()));
        send(&mut model, Msg::Seen(Inspection { path: "/data/a.bin".into(), result }));
        let [stored, cached] = ["stored ", "cached "].map(|of| row(&model, of).unwrap());
        assert_eq!(holes > 0, stored < cached, "{}", picture(&model, 120, 40));
        let hint = picture(&model, 120, 40).contains("0 % stored, the rest is holes");
        assert_eq!(holes > 0, hint, "{}", picture(&model, 120, 40));
    }
}

#[test]
fn hints_judge_the_shown_block_sizes() {
    let mut model = model(None);
    model.setup.preset = built_in("peak").unwrap();
    model.setup.settings.set("size", "64k").unwrap();
    model.setup.focus_on(SetupPane::Blocks);
    let text = picture(&model, 120, 40);
    assert!(text.contains("SEQ1M    Q8      read"), "{text}");
    assert!(text.contains("a block of 1 MiB is larger than the measured span of 64 KiB"), "{text}");
}

#[test]
fn showing_a_setting_unfolds_no_others() {
    let mut model = model(None);
    for (name, pane) in [("block-size", SetupPane::Blocks), ("backend", SetupPane::Backends)] {
        show_setting(&mut model.setup, name);
        assert!(model.setup.focus == pane && !model.setup.all_settings, "{name}");
    }
    show_setting(&mut model.setup, "seed");
    assert!(model.setup.focus == SetupPane::Workload && model.setup.all_settings);
    assert_eq!(model.setup.current_setting().map(|row| row.name), Some("seed"));
}

#[test]
fn rare_backends_and_settings_are_folded() {
    let mut model = model(None);
    answer_plan(&mut model);
    let text = picture(&model, 120, 40);
    assert!(text.contains("more backends") && !text.contains("sendfile"), "{text}");
    assert!(text.contains("more settings") && !text.contains("Cold drops"), "{text}");
    keys(&mut model, "<tab>G<space><tab>G<space>");
    let text = picture(&model, 120, 60);
    assert!(text.contains("sendfile") && text.contains("Cold drops"), "{text}");
    // Chosen backends are shown.
    keys(&mut model, "<shift-tab>G<space>i<ctrl-u>sendfile<enter>");
    assert!(picture(&model, 120, 40).contains("sendfile"));
}

#[test]
fn cursors_stay_in_shorter_lists() {
    for (pane, what) in
        [(SetupPane::Backends, "fewer backends"), (SetupPane::Workload, "fewer settings")]
    {
        let mut model = model(None);
        answer_plan(&mut model);
        model.setup.focus_on(pane);
        let marked = |model: &Model| {
            let selected = model.look.style(Role::Selected).add_modifier;
            assert!(!selected.is_empty());
            let mut buf = Buffer::empty(Rect::new(0, 0, 120, 60));
            view::draw(model, &mut buf);
            let row = |y| {
                let cells = (0..120).map(|x| &buf[(x, y)]);
                let lit = cells.filter(|cell| cell.modifier.contains(selected));
                lit.map(|cell| cell.symbol().to_string()).collect::<String>()
            };
            (1..59).map(row).collect::<String>()
        };
        // Unfolded, to the end, and folded again.
        keys(&mut model, "G<enter>G");
        assert!(marked(&model).contains(what), "{}", marked(&model));
        keys(&mut model, "<enter>");
        let wanted = what.replace("fewer", "more");
        assert!(marked(&model).contains(&wanted), "{}", marked(&model));
        assert!(picture(&model, 120, 60).contains("enter shows or hides"));
    }
}

#[test]
fn unmeasurable_targets_show_the_reason() {
    let mut model = model(None);
    answer_plan(&mut model);
    keys(&mut model, "G");
    let text = picture(&model, 120, 40);
    assert!(text.contains("pipe is not a regular file"), "{text}");
    assert!(!text.contains("  on  "), "{text}");
    // The hint is silent where the message says it.
    keys(&mut model, "<enter>");
    let text = picture(&model, 120, 40);
    let below: Vec<&str> = text.lines().rev().take(2).collect();
    assert_eq!(below.concat().matches("pipe is not a regular file").count(), 1, "{text}");
    model.toasts = Default::default();
    // Names that begin alike keep their ends.
    let mut files = listing("/data");
    let long = |end: &str| FolderEntry {
        path: format!("/data/photos-of-the-last-summer-2024-tar.{end}").into(),
        name: format!("photos-of-the-last-summer-2024-tar.{end}"),
        kind: EntryKind::File,
        size: 4096,
        readable: true,
    };
    let mut listed: Vec<FolderEntry> = ["csv", "html", "json"].map(long).into();
    listed.push(FolderEntry {
        size: 0,
        name: "z-empty".into(),
        path: "/data/z-empty".into(),
        ..long("")
    });
    files.result = Ok(listed);
    model.setup.browser.loading = Some("/data".into());
    send(&mut model, Msg::Listed(files));
    for (columns, rows) in [(80, 24), (120, 40)] {
        let text = picture(&model, columns, rows);
        for name in ["tar.csv", "tar.html", "tar.json"] {
            assert!(text.contains(name), "{columns}x{rows} {name}\n{text}");
        }
    }
    keys(&mut model, "G");
    let text = picture(&model, 120, 40);
    assert!(text.contains("z-empty is empty") && !text.contains("  on  "), "{text}");
}

#[test]
fn plans_name_layers_that_cache() {
    for (cached, is_shown) in [(true, true), (false, false)] {
        let mut model = model(Some("a.bin"));
        model.size = (80, 24);
        let mut plan = proposed(&model.setup);
        let layer = |name: &str, kind, depth, cached| Layer {
            name: name.into(),
            kind,
            depth,
            cached,
            ..Layer::default()
        };
        plan.facts.ground = Ground {
            medium: Medium::Disk,
            reason: String::new(),
            layers: vec![
                layer("ext4", LayerKind::FileSystem, 0, false),
                layer("vda1", LayerKind::Partition, 1, cached),
                layer("vda", LayerKind::Disk, 2, false),
            ],
        };
        tell(&mut model, Ok(plan), Vec::new());
        let text = picture(&model, 80, 24);
        assert_eq!(text.contains("lies on ext4 on vda1 on vda"), is_shown, "{text}");
    }
}

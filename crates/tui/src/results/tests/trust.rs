//! Unfinished measurements and warnings: how they are shown, and what can be done about them.

use std::time::Duration;

use super::{results, stage_of};
use crate::analysis::{self, Aim};
use crate::export::What;
use crate::msg::{Effect, Msg, NewRun, Query};
use crate::plan::{Settings, TargetSpec};
use crate::popup::{Popup, WarningList};
use crate::record::Earlier;
use crate::record::{Event, Severity, Verdict, Warning};
use crate::results::state::TabKind;
use crate::screen::Screen;
use crate::session::Session;
use crate::session_view::SessionView;
use crate::setup::SetupPane;
use crate::testing::{self, Stage};
use crate::update;

fn warning(id: &'static str, message: &str, remedy: &str) -> Warning {
    Warning {
        id: id.into(),
        severity: Severity::Misleading,
        message: message.into(),
        evidence: "what was seen".into(),
        remedy: remedy.into(),
    }
}

/// The session of [`testing`] after two rounds: a first look that took 46 s.
fn first_look() -> Session {
    let mut session = testing::session();
    session.trials.retain(|trial| trial.round <= 2);
    session.errors.iter_mut().for_each(|error| *error = None);
    session.plan.cells.pop();
    session.verdicts.pop();
    session.errors.pop();
    session.seconds = Some(46.0);
    for (cell, verdict) in session.verdicts.iter_mut().enumerate() {
        let Some(own) = verdict.clone() else { continue };
        let mut own = (*own).clone();
        own.warnings = vec![warning(
            "few",
            "2 trials are too few for a confidence interval",
            "use {trials} 5 or more, or a longer {budget}",
        )];
        if cell % 6 == 2 {
            own.warnings.push(warning(
                "disturbed",
                "other processes moved 152 MiB on the same disk in all 2 trials",
                "stop other users of the disk and run again",
            ));
            own.warnings.push(warning(
                "short-trial",
                "trials of only 12 ms: one interruption by the scheduler changes the figure",
                "use a longer {trial-time}, a larger {count} or a larger {size}",
            ));
        }
        *verdict = Some(own.into());
    }
    session
}

fn stage() -> Stage {
    stage_of(SessionView::new(first_look(), Some("/s/x.jsonl".into())))
}

#[test]
fn unfinished_measurements_are_not_warnings() {
    let mut stage = stage();
    let picture = stage.picture(120, 40);
    assert!(picture.contains("first look: 2 trials of each"), "{picture}");
    assert!(picture.contains("refine: +69 s to 5 trials"), "{picture}");
    assert!(picture.contains("≈ ") && picture.contains("2 of 5 trials"), "{picture}");
    assert!(!picture.contains("best  "), "too few trials are ranked: {picture}");
    assert!(picture.contains("First look (2 trials): "), "{picture}");
    // At a glance it is shown once, with the key.
    let mut disturbed = first_look();
    for verdict in &mut disturbed.verdicts {
        let mut own = (**verdict.as_ref().unwrap()).clone();
        own.warnings.push(warning("disturbed", "others moved 152 MiB", "run again"));
        *verdict = Some(own.into());
    }
    let mut glance = stage_of(SessionView::new(disturbed, None));
    glance.model.results.kind = TabKind::Glance;
    for (columns, rows) in [(80, 24), (120, 40)] {
        glance.tell(Msg::Resize(columns, rows));
        let picture = glance.picture(columns, rows);
        assert_eq!(picture.matches("first look").count(), 1, "{picture}");
        assert!(picture.contains("figures are easily misread"), "{picture}");
    }
    // Only the cells that others disturbed have a sign.
    let plain = picture.lines().filter(|line| line.contains("2 of 5 trials"));
    assert!(plain.clone().count() > 0);
    stage.keys("v");
    let table = stage.picture(160, 45);
    assert!(table.contains("2 of 5 trials") && !table.contains(" few"), "{table}");
}

#[test]
fn few_trials_are_not_a_warning() {
    let mut stage = stage();
    stage.keys("vgg<enter>");
    let picture = stage.picture(120, 60);
    assert!(picture.contains("2 trials are too few for a confidence interval"), "{picture}");
    assert!(!picture.contains(" ! ") && !picture.contains("use Trials"), "{picture}");
}

#[test]
fn warning_kinds_have_plain_words() {
    let mut stage = stage();
    stage.keys("ggll");
    let picture = stage.picture(200, 60);
    assert!(picture.contains("others moved 152 MiB"), "{picture}");
    assert!(picture.contains("4: others moved 152 MiB"), "no group: {picture}");
    for (columns, rows) in [(80, 24), (100, 30)] {
        let picture = stage.picture(columns, rows);
        for line in picture.lines().filter(|line| line.contains("others")) {
            let whole = line.contains("trials of only 12 ms") || line.contains("152 MiB");
            assert!(whole || line.contains('…') || line.contains('+'), "{columns}: {line}");
        }
    }
}

#[test]
fn refine_offers_ways_to_go_on() {
    let mut stage = stage();
    stage.keys("R");
    let picture = stage.picture(80, 24);
    assert!(
        picture.contains("5 trials of each cell") && picture.contains("about 69 s"),
        "{picture}"
    );
    stage.take();
    stage.keys("<enter>");
    let effects = stage.take();
    let [Effect::Ask(Query::Refine(request))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(request.what, What::Kept(first_look().id));
    assert_eq!((request.settings.trials, request.settings.until), (Some(3), None));
    stage.keys("Rj<enter>");
    let effects = stage.take();
    let [Effect::Ask(Query::Refine(request))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(
        request.settings,
        Settings { until: Some(crate::plan::Until::Within(1000)), ..Settings::default() }
    );
    // The plan that comes back is run after the trials that are there.
    let earlier = Earlier { trials: first_look().trials, ..Earlier::default() };
    let name = Some("first".into());
    let run = NewRun { earlier: earlier.clone().into(), name, ..first_look().plan.into() };
    stage.tell(Msg::Refined(Ok(Box::new(run))));
    let started = stage.take().into_iter().find_map(|effect| match effect {
        Effect::Start { earlier, name, .. } => Some((earlier, name)),
        _ => None,
    });
    assert_eq!(started, Some((earlier.into(), Some("first".into()))));
    assert_eq!(stage.model.screen, Screen::Live);
    // No second run starts meanwhile.
    stage.keys("3R");
    assert!(stage.model.popups.is_empty());
    stage.tell(Msg::Refined(Err("the file was modified".into())));
    assert!(stage.picture(100, 30).contains("the file was modified"));
}

#[test]
fn unrefinable_sessions_state_the_reason() {
    let mut picked = first_look();
    picked.plan.pick = true;
    let mut stage = stage_of(SessionView::new(picked, None));
    stage.keys("R");
    assert!(stage.model.popups.is_empty());
    assert!(stage.picture(100, 30).contains("run it again instead"));
    // Without a file the session itself is continued.
    let mut stage = stage_of(SessionView::new(first_look(), None));
    stage.keys("R<enter>");
    let effects = stage.take();
    assert!(
        matches!(effects.last(), Some(Effect::Ask(Query::Refine(request))) if matches!(request.what, What::Shown(_))),
        "{effects:?}"
    );
}

#[test]
fn finished_sessions_can_be_refined() {
    let mut session = testing::session();
    session.seconds = Some(60.0);
    let mut stage = stage_of(SessionView::new(session, Some("/s/x.jsonl".into())));
    stage.keys("R");
    let Some(Popup::Refine(form)) = stage.model.popups.last() else { panic!("no form") };
    // The last cell failed and is not asked for again.
    assert_eq!(form.ways[0].aim, Aim::Double(5));
    assert!(form.ways[0].time.is_some_and(|time| time > Duration::from_secs(50)));
    assert!(stage.picture(80, 24).contains("10 rounds"));
}

#[test]
fn warning_kinds_offer_their_remedy() {
    let mut stage = stage();
    stage.keys("!");
    let picture = stage.picture(100, 30);
    assert!(picture.contains("4 cells") && picture.contains("others moved"), "{picture}");
    let groups = results(&stage).warnings();
    let place = |id: &str| groups.iter().position(|group| group.example.id == id).unwrap();
    let (short, few) = (place("short-trial"), place("few"));
    assert_eq!(few, groups.len() - 1, "that more is to come is no fault");
    stage.keys(&"j".repeat(short));
    let picture = stage.picture(100, 30);
    assert!(picture.contains("use a longer Trial time") && !picture.contains("--"), "{picture}");
    assert!(picture.contains("on Setup, with the plan of this session"), "{picture}");
    stage.take();
    stage.keys("<enter>");
    assert_eq!((stage.model.screen, stage.model.setup.focus), (Screen::Setup, SetupPane::Workload));
    assert_eq!(stage.model.setup.current_setting().map(|row| row.name), Some("trial-time"));
    // The question is about the plan and target of that session.
    let plan = &results(&stage).view().unwrap().session.plan;
    let TargetSpec::File { path, .. } = &plan.target else { panic!("{:?}", plan.target) };
    let asked = stage.effects.iter().rev().find_map(|effect| match effect {
        Effect::Ask(Query::Propose(question)) => Some(question),
        _ => None,
    });
    let asked = asked.expect("its plan is asked for");
    assert_eq!(asked.file.as_ref(), Some(path));
    assert_eq!(asked.settings.text("backend").as_deref(), Some("read,mmap"));
    assert_eq!(asked.settings.text("block-size").as_deref(), Some("4k,16k,64k,256k,1m,4m"));
    // Once taken, what is changed there stays.
    stage.keys("2").model.setup.settings.set("budget", "7s").unwrap();
    stage.keys("3!G<enter>");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Refine(_))));
}

#[test]
fn warnings_list_their_cells() {
    let mut stage = stage();
    stage.keys("!");
    let groups = results(&stage).warnings().to_vec();
    let cells = results(&stage).view().unwrap().session.plan.cells.clone();
    for (at, group) in groups.iter().enumerate() {
        let picture = stage.picture(100, 30);
        let named = analysis::name_cells(&cells, group.counted());
        assert!(group.is_everywhere() || picture.contains(&named[0]), "{named:?}\n{picture}");
        let keys = picture.lines().last().unwrap().to_string();
        assert_eq!(keys.contains("enter"), group.fix().is_some(), "{at}: {keys}");
        stage.keys("j");
    }
    assert!(groups.iter().any(|group| group.fix().is_none()));
    assert!(groups.iter().any(|group| !group.is_everywhere()));
    // The line above the answer counts the faulty cells.
    for group in groups.iter().filter(|group| !group.faulty.is_empty()) {
        assert_eq!(group.counted(), group.faulty);
    }
}

#[test]
fn cursor_stays_on_its_warning() {
    let mut stage = stage();
    update::run::start(&mut stage.model, testing::plan());
    stage.keys("2!");
    let tell = |stage: &mut Stage, cell, warnings| {
        let verdict = Verdict { warnings, ..Verdict::default() };
        stage.tell(Msg::Event(Event::Verdict { cell, verdict: verdict.into() }));
    };
    let cached = warning("not-cold", "12 MiB of the file stayed cached", "measure with {direct}");
    tell(&mut stage, 0, vec![cached.clone()]);
    let holes = Warning { severity: Severity::Wrong, ..warning("holes", "only holes", "") };
    tell(&mut stage, 1, vec![holes]);
    let groups = stage.model.warnings();
    let Some(Popup::Warnings(WarningList { cursor })) = stage.model.popups.last() else {
        panic!("closed")
    };
    assert_eq!((groups[0].example.id.as_ref(), *cursor), ("holes", 1));
    assert_eq!(groups[1].example, cached);
}

#[test]
fn live_and_sessions_refine_too() {
    let mut stage = stage();
    stage.model.live.session_id = first_look().id;
    stage.keys("2R");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Refine(_))), "after the run");
    stage.take();
    stage.keys("<enter>");
    assert!(
        matches!(stage.take().last(), Some(Effect::Ask(Query::Refine(_)))),
        "enter works on Live too"
    );
    // Another session on Results is not that of the run.
    stage.model.live.session_id = "of-the-run".into();
    stage.keys("2R");
    assert!(stage.model.popups.is_empty());
    stage.keys("4R");
    assert!(stage.model.popups.is_empty(), "nothing is loaded to be refined");
    // During a run: what it has so far.
    testing::begin(&mut stage.model);
    stage.keys("2!");
    assert!(stage.picture(100, 30).contains("no warnings"));
    let found = warning("not-cold", "12 MiB of the file stayed cached", "measure with {direct}");
    let verdict = Verdict { warnings: vec![found], ..Verdict::default() };
    stage.tell(Msg::Event(Event::Verdict { cell: 0, verdict: verdict.into() }));
    let picture = stage.picture(100, 30);
    assert!(picture.contains("not cold: 12 MiB stayed cached"), "{picture}");
    assert!(picture.contains("measure with Direct I/O"), "{picture}");
    stage.keys("<enter>");
    assert_eq!(stage.model.screen, Screen::Setup);
}

#[test]
fn pictures_of_a_first_look() {
    let mut stage = stage();
    insta::assert_snapshot!("first_look_120", stage.snapshot(120, 40));
    insta::assert_snapshot!("first_look_80", stage.snapshot(80, 24));
    stage.keys("!");
    insta::assert_snapshot!("warnings_80", stage.snapshot(80, 24));
}

/// Five trials each, but two for mmap, which is faster.
#[test]
fn unfinished_cells_prevent_a_best() {
    let session = testing::session();
    let is_open = |cell: u32| session.plan.cells[cell as usize].backend.id == "mmap";
    let open: Vec<bool> = (0..session.plan.cells.len() as u32).map(is_open).collect();
    let few = warning("few", "2 trials are too few for a confidence interval", "use {trials} 5");
    let of = |rounds: u32| {
        let mut session = session.clone();
        session.trials.retain(|trial| trial.round <= rounds || !open[trial.cell as usize]);
        for (verdict, _) in session.verdicts.iter_mut().zip(&open).filter(|(_, open)| **open) {
            let Some(own) = verdict.as_ref().filter(|_| rounds < 5) else { continue };
            *verdict = Some(Verdict { warnings: vec![few.clone()], ..(**own).clone() }.into());
        }
        // At the last size mmap failed.
        stage_of(SessionView::new(session, None)).keys("gll").picture(120, 40)
    };
    let has_best = |picture: &str| {
        picture.lines().any(|line| line.contains("best  ") && !line.contains("of best"))
    };
    assert!(has_best(&of(5)), "{}", of(5));
    assert!(!has_best(&of(2)), "{}", of(2));
}

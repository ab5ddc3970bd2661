//! Keys: select, run, steer and open.

use std::sync::Arc;

use super::{opened, plan, session, stage, trial};
use crate::lab::state::{Lab, LabPane};
use crate::msg::{Effect, Msg, Query};
use crate::plan::{Settings, preset};
use crate::popup::Popup;
use crate::record::{Event, Grounds, Phase, Progress};
use crate::screen::Screen;
use crate::testing::{self, Stage};
use crate::update;

fn question(stage: &mut Stage) -> crate::msg::Question {
    let question = stage.take().into_iter().find_map(|effect| {
        if let Effect::Ask(Query::PlanLab(question)) = effect { Some(*question) } else { None }
    });
    question.expect("a plan is requested")
}

fn toasts(stage: &Stage) -> String {
    stage.model.toasts.iter().map(|toast| toast.text.clone()).collect::<Vec<_>>().join("; ")
}

/// A started run of the tests' probes.
fn running() -> Stage {
    let mut stage = stage();
    stage.keys("r");
    let number = question(&mut stage).number;
    stage.tell(Msg::LabPlanned { number, result: Ok(Box::new(plan().into())) });
    stage.tell(Msg::Begun {
        path: Some("/s/x.jsonl".into()),
        id: "x".into(),
        name: String::new(),
        created: "2026-11-21T09:30:11Z".into(),
    });
    let grounds = Arc::new(Grounds::default());
    stage.tell(Msg::Event(Event::Plan { plan: Arc::new(plan()) }));
    stage.tell(Msg::Event(Event::Grounds { grounds }));
    stage
}

fn progress(stage: &mut Stage, probe: u32) {
    let progress = Progress {
        phase: Phase::Trial,
        cell: None,
        probe: Some(probe),
        round: 1,
        share: 0.25,
        left: 9_000_000_000,
    };
    stage.tell(Msg::Event(Event::Progress(progress)));
}

#[test]
fn toggling_probes_changes_the_bars() {
    let mut stage = stage();
    fn bars(stage: &Stage) -> usize {
        stage.model.lab.sheet.slots.len()
    }
    let all = bars(&stage);
    // The cursor is on the group cpu.
    stage.keys("<space>");
    assert!(!stage.model.lab.choice.is_on("clock") && stage.model.lab.choice.is_on("latency"));
    assert!(bars(&stage) < all);
    stage.keys("j<space>");
    assert!(stage.model.lab.choice.is_on("clock") && !stage.model.lab.choice.is_on("loop"));
    stage.keys("k<space>");
    assert_eq!(bars(&stage), all, "one of the group was off: all are on");
    stage.keys("r");
    assert_eq!(question(&mut stage).settings.probe, None, "the preset names all");
    stage.keys("j<space>r");
    let request = question(&mut stage);
    assert_eq!(request.preset.id, "lab");
    assert_eq!(
        request.settings.text("probe").unwrap(),
        "loop,call,syscall,fork,memory,network,files"
    );
    assert_eq!(
        stage.keys("y").take(),
        [Effect::Copy(
            "iotui --batch /data/ubuntu.iso -p lab \
             --probe loop,call,syscall,fork,memory,network,files"
                .into()
        )]
    );
    // Without a probe of files, no file is named.
    stage.keys("G<space>k<space>y");
    assert_eq!(
        stage.take(),
        [Effect::Copy("iotui --batch -p lab --probe loop,call,syscall,fork,memory,network".into())]
    );
}

#[test]
fn empty_selections_request_nothing() {
    let mut stage = stage();
    stage.model.lab.choice.select_only(std::iter::empty());
    stage.model.lab.arrange();
    stage.keys("ry");
    assert!(toasts(&stage).contains("no probe is selected: space selects"), "{}", toasts(&stage));
    assert!(
        !stage
            .take()
            .iter()
            .any(|effect| matches!(effect, Effect::Ask(Query::PlanLab(_)) | Effect::Copy(_)))
    );
}

#[test]
fn filters_search_descriptions() {
    let mut stage = stage();
    stage.keys("/memory");
    let items = stage.model.lab.sheet.items.len();
    assert_eq!(items, 3, "{:?}", stage.model.lab.sheet.items);
    assert!(
        stage
            .model
            .lab
            .sheet
            .slots
            .iter()
            .all(|slot| ["latency", "bandwidth"].contains(&slot.cell.probe.as_str()))
    );
    stage.keys("<enter>");
    assert!(!stage.model.lab.typing);
    stage.keys("q");
    assert_eq!(
        (stage.model.screen, stage.model.lab.filter.value()),
        (Screen::Lab, ""),
        "q takes the filter away first"
    );
}

#[test]
fn list_and_bars_move_together() {
    let mut stage = opened();
    assert_eq!(stage.model.lab.probe(), Some("rtt"), "the probe of the figure above the bars");
    stage.keys("gjjjj");
    assert_eq!(stage.model.lab.probe(), Some("syscall"));
    assert_eq!(stage.model.lab.current_slot().unwrap().cell.probe, "syscall");
    stage.keys("<tab>");
    assert_eq!(stage.model.lab.pane, LabPane::Bars);
    stage.keys("G");
    assert_eq!(stage.model.lab.probe(), Some("fsync"));
    stage.keys("<shift-tab>k");
    assert_eq!(stage.model.lab.probe(), Some("file-read"));
    stage.keys("<tab><tab>jjj");
    assert_eq!(stage.model.lab.pane, LabPane::About);
}

#[test]
fn runs_are_shown_and_steered() {
    let mut stage = running();
    assert_eq!(stage.model.screen, Screen::Lab);
    assert!(stage.take().iter().any(|effect| matches!(effect, Effect::Start { .. })));
    progress(&mut stage, 3);
    stage.tell(Msg::Event(Event::Probe { trial: trial(0, 1) }));
    assert!(stage.model.lab.data.results.is_empty(), "the picture waits for its time");
    stage.wait(std::time::Duration::from_millis(100));
    assert_eq!(stage.model.lab.data.results.len(), 1);
    let picture = stage.picture(120, 40);
    assert!(!picture.lines().next().unwrap().contains("scratch"), "{picture}");
    assert!(
        picture.contains("► syscall, call")
            && picture.contains("26 %  9 s left")
            && picture.contains("1 of 42 cells known · 9 s left")
            && picture.contains("─ 1 of 42 known ╮"),
        "{picture}"
    );
    stage.take();
    assert_eq!(stage.keys("<space>").take(), [Effect::Pause(true)]);
    assert_eq!(stage.keys("<space>").take(), [Effect::Pause(false)]);
    assert_eq!(stage.keys("s").take(), [Effect::Skip(3)]);
    assert_eq!(stage.keys("s").take(), [], "it is requested once");
    progress(&mut stage, 4);
    assert!(stage.keys("s").take().contains(&Effect::Skip(4)));
    assert_eq!(stage.keys("x").take(), [Effect::Stop]);
}

#[test]
fn finished_runs_stay_on_screen() {
    let mut stage = running();
    for cell in 0..4 {
        for round in 1..=5 {
            stage.tell(Msg::Event(Event::Probe { trial: trial(cell, round) }));
        }
    }
    stage.tell(Msg::Event(Event::End { reason: crate::record::End::Finished, seconds: None }));
    stage.tell(Msg::Over { error: None, unsaved: None });
    assert_eq!(stage.model.screen, Screen::Lab);
    assert_eq!(stage.model.lab.data.results.len(), 4);
    assert!(
        stage.model.farewell().lines.iter().any(|line| line.contains("4 probes were measured")),
        "{:?}",
        stage.model.farewell()
    );
    assert!(stage.take().iter().any(|effect| matches!(effect, Effect::Ask(Query::Lab { .. }))));
    let picture = stage.keys("3").picture(80, 24);
    assert!(picture.contains("A at a glance") && picture.contains("syscall, call"), "{picture}");
    // The end of a run does not switch away from another screen.
    let mut stage = running();
    stage.keys("6").tell(Msg::Over { error: None, unsaved: None });
    assert_eq!(stage.model.screen, Screen::Host);
}

#[test]
fn offers_are_for_the_named_host() {
    let mut stage = stage();
    let settings = Settings { remote: Some("lab-7:80".parse().unwrap()), ..Settings::default() };
    stage.model.lab.choose(crate::plan::preset("lab").unwrap(), settings);
    let effects = stage.keys("15").take();
    fn named(effect: &Effect) -> bool {
        match effect {
            Effect::Ask(Query::Lab { remote: Some(remote), .. }) => remote.host == "lab-7",
            _ => false,
        }
    }
    assert!(effects.iter().any(named), "{effects:?}");
}

#[test]
fn the_cursor_starts_at_the_selection() {
    let mut stage = stage();
    let mut choose = |probes: &str| {
        let mut settings = Settings::default();
        settings.set("probe", probes).unwrap();
        stage.model.lab.choose(crate::plan::preset("lab").unwrap(), settings);
        stage.model.lab.probe().map(String::from)
    };
    assert_eq!(choose("fsync").as_deref(), Some("fsync"));
    assert_eq!(choose("rtt,fsync").as_deref(), Some("rtt"));
    assert_eq!(choose("all"), None, "the whole first group");
}

#[test]
fn files_and_probes_run_separately() {
    let mut stage = stage();
    update::run::start(&mut stage.model, Arc::new(testing::plan()));
    stage.keys("5r");
    assert!(
        toasts(&stage).contains("a run of files is in progress: stop it first (x on Live)"),
        "{}",
        toasts(&stage)
    );
    assert!(
        !stage.take().iter().any(|effect| matches!(
            effect,
            Effect::Ask(Query::PlanLab(_)) | Effect::Ask(Query::Lab { .. })
        )),
        "nothing is looked up during a run"
    );
    let space = stage.keys("<space>").take();
    assert!(space.is_empty(), "a run of files is paused on Live: {space:?}");
    let mut stage = running();
    stage.take();
    update::run::start(&mut stage.model, Arc::new(testing::plan()));
    assert!(
        toasts(&stage).contains("a run of probes is in progress: stop it first (x on Lab)"),
        "{}",
        toasts(&stage)
    );
    stage.keys("q");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Question(_))));
}

#[test]
fn late_or_refused_plans_start_nothing() {
    let mut stage = stage();
    stage.keys("r");
    let number = question(&mut stage).number;
    stage.tell(Msg::LabPlanned { number: number + 1, result: Ok(Box::new(plan().into())) });
    assert!(!stage.model.running());
    stage.tell(Msg::LabPlanned { number, result: Err("rtt: no far end".into()) });
    assert!(!stage.model.running() && toasts(&stage).contains("no far end"));
    stage.tell(Msg::LabPlanned { number, result: Ok(Box::new(plan().into())) });
    assert!(!stage.model.running(), "it was answered");
}

#[test]
fn enter_opens_curves() {
    let mut stage = opened();
    stage.keys("<enter>");
    assert!(!stage.model.lab.open);
    stage.keys("/latency<enter>").model.lab.pane = LabPane::Bars;
    stage.keys("gjj<enter>");
    assert!(stage.model.lab.open);
    let curves = stage.model.lab.curves().unwrap();
    assert_eq!((curves.curves.len(), curves.axis.as_str(), curves.xs().len()), (2, "bytes", 15));
    fn labels(keys: &str, stage: &mut Stage) -> String {
        stage.keys(keys).model.lab.current_slot().unwrap().label.clone()
    }
    assert_eq!(labels("", &mut stage), "16 KiB, stride 64");
    assert_eq!(
        (labels("l", &mut stage), labels("j", &mut stage)),
        ("32 KiB, stride 64".into(), "32 KiB, stride 4096".into())
    );
    assert_eq!(stage.model.lab.pane, LabPane::Bars);
    stage.keys("<esc>");
    assert!(!stage.model.lab.open && stage.model.lab.filter.value() == "latency");
}

#[test]
fn presets_lead_to_their_screen() {
    let mut stage = Stage::new();
    fn at(stage: &Stage, id: &str) -> usize {
        stage.model.presets.iter().position(|preset| preset.id == id).unwrap()
    }
    for id in ["lab/cpu", "quick", "lab"] {
        let to = at(&stage, id);
        let from_end = stage.model.presets.len() - 1 - to;
        stage.keys(&format!("pG{}<enter>", "k".repeat(from_end)));
        let own = id.starts_with("lab");
        assert_eq!(stage.model.screen, if own { Screen::Lab } else { Screen::Setup }, "{id}");
        if own {
            assert_eq!(stage.model.lab.choice.preset.id, id);
            assert_eq!(stage.model.lab.choice.is_on("rtt"), id == "lab");
        } else {
            assert_eq!(stage.model.setup.preset.id, id);
        }
    }
}

#[test]
fn sessions_are_exported_named_and_marked() {
    let mut stage = stage();
    stage.keys("e");
    assert!(
        stage.model.popups.is_empty() && toasts(&stage).contains("nothing has been measured yet")
    );
    let mut stage = opened();
    stage.keys("e");
    assert!(matches!(stage.model.popups.last(), Some(Popup::Export(form)) if form.name == "mine"));
    stage.keys("<esc>wx<enter>");
    assert!(
        stage
            .take()
            .contains(&Effect::Ask(Query::Rename { id: session().id, name: "minex".into() }))
    );
    assert!(stage.model.lab.data.title.starts_with("mine, "), "only the stored name is shown");
    let text = "named minex".to_string();
    stage.tell(Msg::Renamed { id: session().id, name: "minex".into(), text });
    assert!(stage.model.lab.data.title.starts_with("minex, "), "{}", stage.model.lab.data.title);
    stage.keys("m");
    assert_eq!(stage.model.sessions.marks, [session().id]);
}

#[test]
fn typed_parameters_are_checked() {
    let mut stage = stage();
    stage.model.lab = Lab::new(preset("lab").unwrap());
    stage.keys("5i");
    assert!(toasts(&stage).contains("move the cursor to a probe"), "{}", toasts(&stage));
    let item = stage.model.lab.sheet.item_of("contention").unwrap();
    stage.model.lab.go_to_item(item);
    stage.keys("i");
    let picture = stage.picture(80, 24);
    assert!(
        picture.contains("Parameters of contention") && picture.contains("processes 1 to"),
        "{picture}"
    );
    stage.keys("processes=0<enter>");
    assert!(
        stage.picture(80, 24).contains("contention takes processes from 1 to"),
        "{}",
        stage.picture(80, 24)
    );
    stage.keys("<ctrl-u>procesess=2<enter>");
    assert!(stage.picture(80, 24).contains("you mean processes?"), "{}", stage.picture(80, 24));
    stage.take();
    stage.keys("<ctrl-u>processes=1..3+1<enter>");
    assert!(stage.model.popups.is_empty());
    let asked = stage.take().into_iter().find_map(|effect| {
        if let Effect::Ask(Query::Lab { sets, .. }) = effect { sets } else { None }
    });
    assert_eq!(
        asked.unwrap().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["contention.processes=1..3+1"]
    );
    stage.keys("r");
    assert!(
        question(&mut stage)
            .settings
            .argv()
            .join(" ")
            .ends_with("--set contention.processes=1..3+1")
    );
    // Values can be edited, and cleared.
    stage.keys("i");
    assert!(stage.picture(80, 24).contains("processes=1..3+1"));
    stage.keys("<ctrl-u><enter>r");
    assert_eq!(question(&mut stage).settings.sets, None);
}

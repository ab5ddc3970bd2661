//! Setup as a user meets it: keys in, effects and choices out.

mod pictures;
mod ready;
mod slider;

use std::path::{Path, PathBuf};

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::experiment::Proposed;
use crate::facts::TargetFacts;
use crate::keys::script;
use crate::model::Model;
use crate::msg::{Effect, Msg, Query};
use crate::plan::{
    Choice, Job, Op, PRESETS, Plan, Preset, Settings, TargetSpec, preset as built_in,
};
use crate::popup::{Popup, TextLine};
use crate::remember::Remembered;
use crate::screen::Screen;
use crate::theme::Look;
use crate::update::update;
use crate::view;

fn model(file: Option<&str>) -> Model {
    let presets: Vec<Preset> =
        PRESETS.iter().map(|(id, text)| Preset::parse(id, text).unwrap()).collect();
    let setup =
        Setup::new(file.map(PathBuf::from), None, built_in("quick").unwrap(), Settings::default());
    let setup = setup.with_remembered(&Remembered::default(), Path::new("/data"), false);
    let mut model = Model::new(Look::default(), presets, setup);
    let effects = model.setup.start();
    assert!(
        matches!(&effects[..], [Effect::Ask(Query::List(dir)), Effect::Ask(Query::Propose(_))] if dir == Path::new("/data"))
    );
    send(&mut model, Msg::Listed(listing("/data")));
    model
}

/// With these presets only.
fn model_of(ids: &[&str]) -> Model {
    let mut model = model(None);
    model.presets.retain(|preset| ids.contains(&preset.id.as_str()));
    model
}

pub fn listing(dir: &str) -> Listing {
    let entry = |name: &str, kind, size| FolderEntry {
        path: Path::new(dir).join(name),
        name: name.into(),
        kind,
        size,
        readable: true,
    };
    let entries = vec![
        entry("sub", EntryKind::Folder, 0),
        entry(".secret", EntryKind::File, 9),
        entry("a.bin", EntryKind::File, 1 << 20),
        entry("b.iso", EntryKind::File, 3 << 30),
        entry("pipe", EntryKind::Other, 0),
    ];
    Listing {
        dir: dir.into(),
        file_system: FileSystem { fs: "ext4".into(), space: None },
        result: Ok(entries),
    }
}

fn send(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let now = model.now;
    crate::testing::tell(model, now, msg)
}

fn keys(model: &mut Model, text: &str) -> Vec<Effect> {
    script(text).into_iter().flat_map(|key| send(model, Msg::Key(key))).collect()
}

/// Clicks on a column and a row.
fn click_at(model: &mut Model, (column, row): (u16, u16)) -> Vec<Effect> {
    let (kind, modifiers) = (MouseEventKind::Down(MouseButton::Left), KeyModifiers::NONE);
    send(model, Msg::Mouse(MouseEvent { kind, column, row, modifiers }))
}

/// Returns a plan of the settings.
pub fn proposed(setup: &Setup) -> Proposed {
    let target = match &setup.file {
        Some(path) if setup.settings.op == Some(Op::Write) => {
            TargetSpec::New { path: path.clone(), size: 1 << 20 }
        }
        Some(path) => TargetSpec::File { path: path.clone(), size: 1 << 20 },
        None => TargetSpec::Scratch { dir: ".".into(), size: 512 << 20, keep: false },
    };
    let cell = Job::plain(Choice::plain("pread"), setup.settings.op.unwrap_or(Op::Read));
    let plan = Plan {
        presets: vec![setup.preset.id.clone()],
        cells: vec![cell],
        trials: setup.settings.trials,
        seed: 1,
        ..Plan::plain("sweep", target)
    };
    Proposed {
        plan,
        facts: TargetFacts { fs: "ext4".into(), ..TargetFacts::default() },
        unavailable: vec![("uring", "EPERM".into())],
        instead: None,
        common_span: None,
    }
}

/// Answers the newest question with a plan of its settings.
fn answer_plan(model: &mut Model) -> Vec<Effect> {
    let number = model.setup.planning.number;
    let result = Ok(Box::new(proposed(&model.setup)));
    let (findings, outlook) = (Vec::new(), Box::default());
    send(model, Msg::Proposed { number, result, findings, outlook })
}

/// Returns whether the text field shows an error with `text`.
fn shows_error(model: &Model, text: &str) -> bool {
    match model.popups.last() {
        Some(Popup::Line(TextLine { error: Some(why), .. })) => why.contains(text),
        _ => false,
    }
}

fn command_of(model: &Model) -> String {
    model.setup.command()
}

fn picture(model: &Model, columns: u16, rows: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    view::draw(model, &mut buf);
    let line = |y| (0..columns).map(|x| buf[(x, y)].symbol().to_string()).collect::<String>();
    (0..rows).map(|y| line(y) + "\n").collect()
}

#[test]
fn keys_become_a_command_line() {
    for (script, wanted) in [
        ("", "iotui --batch"),
        ("jjj<enter>", "iotui --batch /data/a.bin"),
        ("/iso<enter>", "iotui --batch /data/b.iso"),
        ("/ISO<esc>k<space>", "iotui --batch /data/a.bin"),
        (".jjj<enter>", "iotui --batch /data/.secret"),
        ("jj<space>", "iotui --batch --dir /data/sub"),
        // Backends.
        ("<tab>j<space>", "iotui --batch -b read,uring"),
        ("<tab>j<space><space>", "iotui --batch"),
        ("<tab><space>j<enter>", "iotui --batch -b uring"),
        ("<tab>G<space>jjjjjj", "iotui --batch"),
        ("<tab>i<ctrl-u>stdio+buf=64k,null<enter>", "iotui --batch -b stdio+buf=64k,null"),
        // Workload.
        ("<tab><tab>l", "iotui --batch --op write"),
        ("<tab><tab><space><space>", "iotui --batch --op seek"),
        ("<tab><tab><space><space><space>", "iotui --batch"),
        ("<tab><tab>jl", "iotui --batch --pattern random"),
        ("<tab><tab>ji<ctrl-u>stride:4<enter>", "iotui --batch --pattern stride:4"),
        ("<tab><tab>jj<space>", "iotui --batch -c warm"),
        ("<tab><tab>jjll<space>", "iotui --batch -c cold,warm,asis"),
        ("<tab><tab>jjjll", "iotui --batch -t 4"),
        ("<tab><tab>jjjj<enter><ctrl-u>1..8<enter>", "iotui --batch -q 1..8"),
        ("<tab><tab>jjjjjl", "iotui --batch --direct"),
        ("<tab><tab>jjjjjlh", "iotui --batch"),
        ("<tab><tab>jjjjjj<space>", "iotui --batch --xor"),
        ("<tab><tab>G<space>Gkkkkkkkkkkkkkklll", "iotui --batch --trials 3"),
        ("<tab><tab>G<space>Gkkkkkkkkkkkkkklh", "iotui --batch"),
        ("<tab><tab>jjjjjjjh", "iotui --batch --budget 30s"),
        ("<tab><tab>G<space>Gkkkkkkkkkkkl", "iotui --batch --seed 0"),
        ("<tab><tab>G<space>Gkkkkkkkkkkki7<enter>", "iotui --batch --seed 7"),
        ("<tab><tab>G<space>Gkkkkkkkkkkll", "iotui --batch --ceilings always"),
        ("<tab><tab>G<space>Gkki3500MB/s<enter>", "iotui --batch --rated 3500000000/s"),
        ("<tab><tab>G<space>Gkietcd,iops>=10k<enter>", "iotui --batch --expect 'etcd,iops>=10k'"),
        // Block sizes.
        ("<tab><tab><tab>l", "iotui --batch -s 4k,32k,256k,2m,4m"),
        ("<tab><tab><tab>h", "iotui --batch -s 4k,32k,256k,1m"),
        ("<tab><tab><tab>hl", "iotui --batch"),
        ("<tab><tab><tab>jj", "iotui --batch -s 4k..2m"),
        ("<tab><tab><tab><space>hjj", "iotui --batch -s 2k..2m"),
        ("<tab><tab><tab>i<ctrl-u>512,4k,1m<enter>", "iotui --batch -s 512,4k,1m"),
        ("<tab><tab><tab>ljji<ctrl-u><enter>", "iotui --batch"),
        ("<tab><tab><tab>G", "iotui --batch -s '4k..128m*8'"),
        // Presets take the place of what was changed.
        ("<tab><tab>lpj<space>", "iotui --batch -p random"),
        ("<tab><tab>ljl0", "iotui --batch"),
        ("pjjjjjjjjjjjjjjjjjjjjjjjjj<enter>0", "iotui --batch"),
        (
            "pjjjjjjjjjjjjjjjjjjjjjjjjj<enter><tab><tab>jjl<space>",
            "iotui --batch -p raw -c cold,warm",
        ),
    ] {
        let mut model = model(None);
        answer_plan(&mut model);
        keys(&mut model, script);
        assert_eq!(command_of(&model), wanted, "{script}");
        assert!(model.popups.is_empty(), "{script}");
    }
}

#[test]
fn a_named_file_runs_with_r() {
    let mut model = model(Some("a.bin"));
    assert_eq!(model.setup.focus, SetupPane::Plan);
    assert!(keys(&mut model, "r").is_empty(), "the plan is not there yet");
    let effects = answer_plan(&mut model);
    assert!(
        effects.iter().any(|e| matches!(e, Effect::Start { .. })) && model.screen == Screen::Live
    );
    let kept = effects
        .iter()
        .find_map(|e| if let Effect::Remember(kept) = e { Some(kept.clone()) } else { None })
        .unwrap();
    assert_eq!(
        (kept.recent, kept.folder),
        (vec![PathBuf::from("/data/a.bin")], Some("/data".into()))
    );
}

#[test]
fn refused_choices_change_nothing() {
    for (script, reason, unwanted) in [
        ("jjj<enter><tab><tab>l", "writes only to files it creates", "write"),
        ("jjjjj<enter>", "is not a regular file", "pipe"),
        ("<tab>jj<space><space>", "unavailable: EPERM", "uring"),
        ("<tab>jj<space><tab>jjjjl", "is synchronous", "-q"),
        (
            "<tab><tab>jjjjjl<tab><tab><tab><tab>G<space>gjj<space>",
            "does not support direct I/O",
            "stdio",
        ),
        ("<tab><tab>jj<space>jjjl", "bypasses the page cache", "--direct"),
        ("<tab><tab>G<space>jl<space>", "Sync applies only to writes", "--sync"),
    ] {
        let mut model = model(None);
        answer_plan(&mut model);
        for key in crate::keys::script(script) {
            send(&mut model, Msg::Key(key));
            answer_plan(&mut model);
        }
        let toasts: Vec<&str> = model.toasts.iter().map(|t| t.text.as_str()).collect();
        assert!(toasts.iter().any(|text| text.contains(reason)), "{script}: {toasts:?}");
        assert!(!command_of(&model).contains(unwanted), "{script}: {}", command_of(&model));
    }
}

#[test]
fn writes_end_with_their_sync() {
    let mut model = model(None);
    answer_plan(&mut model);
    keys(&mut model, "<tab><tab>l");
    answer_plan(&mut model);
    keys(&mut model, "G<space>jl<space>h<space>");
    assert_eq!(command_of(&model), "iotui --batch --op write --sync end");
    keys(&mut model, "gh");
    assert_eq!(command_of(&model), "iotui --batch");
}

#[test]
fn few_plan_requests_are_in_flight() {
    let mut model = model(None);
    answer_plan(&mut model);
    let numbers: Vec<u64> = keys(&mut model, "<tab><tab>jjjllllll")
        .into_iter()
        .filter_map(|effect| {
            if let Effect::Ask(Query::Propose(question)) = effect {
                Some(question.number)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(numbers, [2, 3]);
    let answer = |model: &mut Model, number| {
        send(
            model,
            Msg::Proposed {
                number,
                result: Err("old".into()),
                findings: Vec::new(),
                outlook: Box::default(),
            },
        )
    };
    let next = answer(&mut model, 2);
    assert!(matches!(
        &next[..],
        [Effect::Ask(Query::Propose(question))] if question.number == 7
            && question.settings.text("threads").as_deref() == Some("64")
    ));
    assert!(answer(&mut model, 3).is_empty() && model.setup.is_waiting());
    answer_plan(&mut model);
    assert!(!model.setup.is_waiting());
    // Another target does not wait for what hangs.
    keys(&mut model, "hhh");
    let effects = keys(&mut model, "<shift-tab><shift-tab>jjj<enter>");
    assert!(effects.iter().any(
        |e| matches!(e, Effect::Ask(Query::Propose(q)) if q.file.as_deref() == Some(Path::new("/data/a.bin")))
    ));
}

#[test]
fn listing_a_folder_does_not_block() {
    let mut model = model(None);
    assert_eq!(keys(&mut model, "jjl"), [Effect::Ask(Query::List("/data/sub".into()))]);
    assert_eq!(keys(&mut model, "h"), [Effect::Ask(Query::List("/".into()))]);
    assert!(send(&mut model, Msg::Listed(listing("/data/sub"))).is_empty());
    assert_eq!(model.setup.browser.dir, Path::new("/data"));
    send(&mut model, Msg::Listed(listing("/")));
    assert_eq!(model.setup.browser.dir, Path::new("/"));
    // Facts only of the file under the cursor.
    let effects = keys(&mut model, "g/a.b");
    assert_eq!(effects, [Effect::Ask(Query::Look("/a.bin".into()))]);
    let seen = Inspection {
        path: "/a.bin".into(),
        result: Ok(Box::new(TargetFacts { size: 77, fs: "xfs".into(), ..TargetFacts::default() })),
    };
    send(&mut model, Msg::Seen(seen));
    assert!(picture(&model, 120, 40).contains("xfs"));
}

#[test]
fn the_cursor_starts_on_the_file() {
    let mut model = model(Some("b.iso"));
    assert_eq!(model.setup.browser.file(), Some(Path::new("/data/b.iso")));
    let effects = keys(&mut model, "21");
    assert!(effects.contains(&Effect::Ask(Query::List("/data".into()))));
}

#[test]
fn marked_files_share_a_run() {
    let mut model = model(Some("b.iso"));
    answer_plan(&mut model);
    // The cursor starts on the named file; the file above it joins, and leaves again.
    let effects = keys(&mut model, "<shift-tab><shift-tab><shift-tab><shift-tab>km");
    let Some(Effect::Ask(Query::Propose(question))) =
        effects.iter().find(|effect| matches!(effect, Effect::Ask(Query::Propose(_))))
    else {
        panic!("{effects:?}")
    };
    assert_eq!(question.others, [PathBuf::from("/data/a.bin")]);
    assert_eq!(command_of(&model), "iotui --batch b.iso /data/a.bin");
    keys(&mut model, "jm");
    assert_eq!(command_of(&model), "iotui --batch /data/a.bin");
    keys(&mut model, "m");
    assert_eq!(command_of(&model), "iotui --batch /data/a.bin /data/b.iso");
    // Choosing one is choosing it alone.
    keys(&mut model, "<space>");
    assert_eq!(command_of(&model), "iotui --batch /data/b.iso");
}

#[test]
fn listed_files_are_read_as_one() {
    let mut model = model(Some("b.iso"));
    answer_plan(&mut model);
    // The named file was chosen alone; a list begins with the first that is added.
    let effects = keys(&mut model, "<shift-tab><shift-tab><shift-tab><shift-tab>k&");
    let asked = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Query::Propose(question)) => Some(question),
        _ => None,
    });
    let asked = asked.unwrap_or_else(|| panic!("{effects:?}"));
    assert!(asked.as_one && asked.others.is_empty(), "{asked:?}");
    assert_eq!(command_of(&model), "iotui --batch --as-one /data/a.bin");
    keys(&mut model, "j&");
    assert_eq!(command_of(&model), "iotui --batch --as-one /data/a.bin /data/b.iso");
    // Marking compares again.
    keys(&mut model, "m");
    assert_eq!(command_of(&model), "iotui --batch /data/b.iso");
    keys(&mut model, "&&");
    assert_eq!(command_of(&model), "iotui --batch");
}

#[test]
fn presets_are_saved_and_taken() {
    let mut model = model(None);
    answer_plan(&mut model);
    keys(&mut model, "<tab><tab>jl");
    assert!(keys(&mut model, "wQuick!<enter>").is_empty());
    assert!(shows_error(&model, "lowercase letters"));
    let effects = keys(&mut model, "<ctrl-u>mine<enter>");
    let Some(Effect::Ask(Query::SavePreset { id, question })) = effects.first() else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (id.as_str(), question.settings.text("pattern").as_deref()),
        ("mine", Some("random"))
    );
    let mut saved = built_in("quick").unwrap();
    saved.id = "mine".into();
    saved.settings.set("pattern", "random").unwrap();
    send(&mut model, Msg::PresetSaved(Ok(Box::new(saved))));
    assert_eq!(command_of(&model), "iotui --batch -p mine");
    assert!(model.presets.iter().any(|preset| preset.id == "mine"));
}

#[test]
fn invalid_typed_values_stay_open() {
    let mut model = model(None);
    answer_plan(&mut model);
    keys(&mut model, "<tab>i<ctrl-u>reed<enter>");
    assert!(shows_error(&model, "did you mean read"));
    keys(&mut model, "<esc><tab><tab>i<ctrl-u>8m..1k<enter>");
    assert!(shows_error(&model, "backwards"));
    keys(&mut model, "<esc>");
    assert_eq!(command_of(&model), "iotui --batch");
}

#[test]
fn given_settings_are_not_remembered() {
    let settings = |line: &str| {
        let mut settings = Settings::default();
        line.split_whitespace().filter_map(|pair| pair.split_once('=')).for_each(|(name, text)| {
            settings.set(name, text).unwrap();
        });
        settings
    };
    let kept = Remembered { settings: settings("threads=2 trials=3"), ..Remembered::default() };
    let model = |given: &str| {
        let setup = Setup::new(None, None, built_in("quick").unwrap(), settings(given));
        let presets = ["raw", "quick"].map(|id| built_in(id).unwrap());
        let setup = setup.with_remembered(&kept, Path::new("/here"), false);
        Model::new(Look::default(), presets.to_vec(), setup)
    };
    let remembered = |model: &Model| {
        let Effect::Remember(kept) = model.setup.remember(&model.presets, &model.look) else {
            panic!()
        };
        (kept.preset, kept.settings.argv().join(" "))
    };
    let mut model = model("backend=mmap budget=6s");
    assert_eq!(remembered(&model), (None, "-t 2 --trials 3".into()));
    // Only changes made on the screen are remembered.
    keys(&mut model, "<tab><tab><tab><tab><tab><tab><tab>jl");
    assert_eq!(command_of(&model), "iotui --batch -b mmap --pattern random --budget 6s");
    assert_eq!(remembered(&model).1, "--pattern random -t 2 --trials 3");
    keys(&mut model, "0");
    assert_eq!((command_of(&model).as_str(), remembered(&model).1.as_str()), ("iotui --batch", ""));
    assert_eq!(model.setup.browser.dir, Path::new("/here"), "not the folder of the last time");
}

#[test]
fn choices_are_remembered() {
    let mut settings = Settings::default();
    settings.set("op", "write").unwrap();
    settings.set("verify", "true").unwrap();
    settings.set("trials", "3").unwrap();
    let kept = Remembered {
        preset: None,
        settings,
        recent: vec!["/x/old.iso".into()],
        folder: Some("/far".into()),
        log_y: true,
        theme: None,
    };
    let setup = |file: Option<&str>, fresh| {
        let setup = Setup::new(
            file.map(PathBuf::from),
            None,
            built_in("quick").unwrap(),
            Settings::default(),
        );
        setup.with_remembered(&kept, Path::new("/here"), fresh)
    };
    assert_eq!(setup(None, true).settings, kept.settings);
    assert_eq!(setup(None, false).settings, Settings::default());
    let named = setup(Some("/else/f"), true);
    assert_eq!(
        (named.settings.op, named.settings.trials, named.browser.dir.as_path()),
        (None, Some(3), Path::new("/else"))
    );
    // A listed preset is remembered by its name and the changes, another one by all its settings.
    let mut listed = model_of(&["measure"]);
    listed.setup.preset = built_in("measure").unwrap();
    listed.setup.settings.set("trials", "2").unwrap();
    let Effect::Remember(again) = listed.setup.remember(&listed.presets, &listed.look) else {
        panic!()
    };
    assert_eq!(
        (again.preset.as_deref(), again.settings.argv().join(" ")),
        (Some("measure"), "--trials 2".into())
    );
    listed.setup.preset.about += "changed";
    let Effect::Remember(again) = listed.setup.remember(&listed.presets, &listed.look) else {
        panic!()
    };
    assert_eq!(
        (again.preset, again.settings.text("trial-time").as_deref()),
        (None, Some("5s..15s"))
    );
    let model = Model::new(Look::default(), Vec::new(), setup(None, true));
    let Effect::Remember(again) = model.setup.remember(&model.presets, &model.look) else {
        panic!()
    };
    assert_eq!(
        (again.recent, again.log_y, again.settings.op),
        (kept.recent, true, Some(Op::Write))
    );
}

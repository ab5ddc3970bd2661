use std::path::PathBuf;

use super::*;
use crate::msg::{Effect, Msg, Query};
use crate::popup::Popup;
use crate::testing::{self, Stage};

/// On Results, with the form open.
fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    stage.take();
    // At a glance has another first format.
    stage.keys("be");
    stage
}

fn form(stage: &Stage) -> &Form {
    let Some(Popup::Export(form)) = stage.model.popups.last() else {
        panic!("{:?}", stage.model.popups)
    };
    form
}

fn open_form(stage: &mut Stage) -> Export {
    match stage.take().pop() {
        Some(Effect::Ask(Query::Export(export))) => *export,
        other => panic!("{other:?}"),
    }
}

fn toast(stage: &Stage) -> String {
    stage.model.toasts.iter().map(|toast| toast.text.clone()).collect()
}

#[test]
fn formats_give_names_their_extension() {
    let mut stage = stage();
    for (at, format) in FORMATS.iter().enumerate() {
        assert_eq!(form(&stage).cursor, at);
        assert_eq!(form(&stage).path.value(), format!("first.{}", format.extension));
        assert!(
            stage.picture(100, 30).contains(format.about.get(..30).unwrap_or(format.about)),
            "{}",
            stage.picture(100, 30)
        );
        stage.tell(Msg::Resize(140, 40));
        let picture = stage.picture(140, 40);
        assert!(picture.contains(format.about), "{}: {picture}", format.id);
        stage.tell(Msg::Resize(100, 30)).keys("<enter>");
        let export = open_form(&mut stage);
        assert_eq!((export.format, export.replace, export.anonymous), (format.id, false, false));
        stage.tell(Msg::Exported { number: export.number, result: Outcome::Failed("no".into()) });
        stage.keys("j");
    }
    stage.keys("g<tab><ctrl-u>mine.dat<tab><tab>j");
    assert_eq!(form(&stage).path.value(), "mine.dat", "what was typed stays");
}

#[test]
fn unnamed_session_files_use_its_id() {
    let mut stage = Stage::new();
    let mut shown = testing::shown();
    shown.session.name.clear();
    stage.tell(Msg::Opened(Ok(Box::new(shown)))).keys("be");
    assert_eq!(form(&stage).path.value(), "20261121-093011-ubuntu-iso.txt");
    let extensions: Vec<&str> = FORMATS.iter().map(|format| format.extension).collect();
    for one in &extensions {
        assert_eq!(extensions.iter().filter(|other| *other == one).count(), 1, "{one}");
    }
}

#[test]
fn only_a_focused_path_takes_letters() {
    let mut stage = stage();
    stage.keys("<tab><ctrl-u>q e.txt<tab>< ><enter>");
    let export = open_form(&mut stage);
    assert_eq!((export.path.as_str(), export.anonymous), ("q e.txt", true));
    assert!(matches!(export.what, What::Shown(session) if session.name == "first"));
    // Once is enough while it is written.
    assert_eq!(stage.keys("<enter>").take(), []);
    stage.keys("<tab>q");
    assert!(stage.model.popups.is_empty() && stage.model.leaving.is_none());
    let mut stage = self::stage();
    stage.keys("<tab><ctrl-u><enter>");
    assert_eq!(form(&stage).error.as_deref(), Some("write the name of a file"));
    assert_eq!(stage.take(), []);
    stage.tell(Msg::Paste("a.txt".into()));
    assert_eq!((form(&stage).path.value(), &form(&stage).error), ("a.txt", &None));
}

#[test]
fn what_became_of_it_is_said() {
    let mut stage = stage();
    stage.keys("<enter>");
    let number = open_form(&mut stage).number;
    stage
        .tell(Msg::Exported { number, result: Outcome::Failed("cannot write x: no space".into()) });
    assert_eq!(
        (form(&stage).error.as_deref(), form(&stage).writing),
        (Some("cannot write x: no space"), false)
    );
    assert!(toast(&stage).contains("not written: cannot write x"));
    stage.keys("<enter>");
    let number = open_form(&mut stage).number;
    stage.tell(Msg::Exported { number, result: Outcome::Written("/w/first.txt".into()) });
    assert!(stage.model.popups.is_empty() && toast(&stage).contains("wrote /w/first.txt"));
    // The end of an earlier export is reported too, and closes no other form.
    stage.keys("e").tell(Msg::Exported { number, result: Outcome::Written("/w/late".into()) });
    assert!(toast(&stage).contains("/w/late") && stage.model.popups.len() == 1);
}

#[test]
fn over_a_file_it_asks_first() {
    let over = || {
        Outcome::Exists(Box::new(ExportOver {
            path: PathBuf::from("/w/first.txt"),
            detail: "3 KiB are lost".into(),
        }))
    };
    let mut stage = stage();
    stage.keys("<enter>");
    let first = open_form(&mut stage);
    stage.tell(Msg::Exported { number: first.number, result: over() });
    assert!(
        stage.picture(80, 24).contains("Overwrite first.txt?")
            && stage.picture(80, 24).contains("3 KiB are lost")
    );
    assert_eq!(stage.keys("n").take(), []);
    assert!(!form(&stage).writing, "another name can be given");
    stage.keys("<enter>");
    let again = open_form(&mut stage);
    stage.tell(Msg::Exported { number: again.number, result: over() });
    stage.keys("y");
    let replacing = open_form(&mut stage);
    assert_eq!(replacing, Export { replace: true, ..again });
    stage.tell(Msg::Exported {
        number: replacing.number,
        result: Outcome::Written("/w/first.txt".into()),
    });
    assert!(stage.model.popups.is_empty());
    // Without the form there is nobody to ask.
    stage.tell(Msg::Exported { number: replacing.number, result: over() });
    assert!(stage.model.popups.is_empty() && toast(&stage).contains("already exists"));
}

#[test]
fn names_make_files_of_this_folder() {
    for (name, file) in [
        ("nightly 2", "nightly-2"),
        ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("a\u{1b}[31m/b", "a[31m-b"),
        ("///", "session"),
        ("", "session"),
        ("größe 大", "größe-大"),
    ] {
        assert_eq!(file_name(name), file);
    }
    assert!(file_name(&"x".repeat(500)).len() <= 60);
}

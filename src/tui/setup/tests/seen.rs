//! What is seen and clicked.

use std::path::Path;
use std::time::Duration;

use ratatui::layout::Position;

use super::*;
use crate::plan::Cache;
use crate::tui::update::requests::with_screens;

#[test]
fn clicks_focus_select_and_toggle() {
    let mut model = model(None);
    planned(&mut model);
    model.size = (100, 30);
    let body = view::areas(model.size).body;
    let find = |model: &Model, text: &str| {
        let picture = picture(model, 100, 30);
        let (y, line) = picture.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        Position::new(line[..line.find(text).unwrap()].chars().count() as u16, y as u16)
    };
    let at = find(&model, "a.bin");
    click_at(&mut model, body, at);
    click_at(&mut model, body, at);
    assert_eq!(model.setup.file.as_deref(), Some(Path::new("/data/a.bin")));
    let at = find(&model, "pread");
    click_at(&mut model, body, at);
    let at = find(&model, "warm");
    click_at(&mut model, body, at);
    assert_eq!(model.setup.settings.cache, Some(vec![Cache::Cold]));
    assert_eq!(line_of(&model), "iotui --batch /data/a.bin -b read,pread,mmap,uring -c cold");
    let at = find(&model, "128m");
    click_at(&mut model, body, Position::new(at.x + 3, at.y - 1));
    assert!(line_of(&model).contains("..128m"), "{}", line_of(&model));
    let at = find(&model, "$ iotui");
    assert!(
        matches!(&click_at(&mut model, body, at)[..], [Effect::Copy(text)] if text.starts_with("iotui --batch"))
    );
}

#[test]
fn pictures_hold_what_matters_at_every_size() {
    for (columns, rows) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let mut model = model(Some("/data/a.bin"));
        model.size = (columns, rows);
        planned(&mut model);
        let text = picture(&model, columns, rows);
        for wanted in [
            "Target",
            "Workload",
            "Block size",
            "Plan",
            "r run",
            "1 cell",
            "$ iotui --batch /data/a.bin",
        ] {
            assert!(text.contains(wanted), "{columns}x{rows} {wanted}\n{text}");
        }
        for pane in Pane::ALL {
            model.setup.focus = *pane;
            model.setup.browser.cursor = 3;
            picture(&model, columns, rows);
        }
    }
}

#[test]
fn a_late_plan_says_so_and_a_quick_one_does_not_flicker() {
    let mut model = model(None);
    planned(&mut model);
    keys(&mut model, "<tab><tab>jl");
    assert!(model.ticks() && !picture(&model, 80, 24).contains("planning"));
    update(&mut model, Duration::from_millis(300), Msg::Tick);
    assert!(picture(&model, 80, 24).contains("planning"));
    planned(&mut model);
    assert!(!picture(&model, 80, 24).contains("planning") && !model.ticks());
}

#[test]
fn the_plan_tells_what_is_expected_of_it() {
    let mut model = model(Some("/data/a.bin"));
    let expected = || "expected: 1.00 GiB/s by the 1.00 GiB/s that the vendor names".to_string();
    let number = model.setup.planning.number;
    let late = Msg::Proposed {
        number: number + 1,
        result: Err("late".into()),
        findings: Vec::new(),
        expected: expected(),
    };
    say(&mut model, late);
    planned(&mut model);
    assert!(!picture(&model, 120, 40).contains("expected"), "that of another question");
    model.setup.planning.expected = expected();
    assert!(
        picture(&model, 120, 40).contains("expected: 1.00 GiB/s by the 1.00 GiB/s"),
        "{}",
        picture(&model, 120, 40)
    );
}

#[test]
fn what_the_sweeps_of_a_preset_set_is_shown_as_theirs() {
    let mut model = model(Some("/data/a.bin"));
    take(&mut model, built_in("peak").unwrap());
    planned(&mut model);
    let seen = picture(&model, 200, 60);
    assert!(
        seen.contains("per sweep: read / write") && seen.contains("per sweep: 8 / 32 / -"),
        "{seen}"
    );
    assert!(
        seen.contains("per sweep: 1m / 128k / 4k")
            && seen.contains("8 sweeps: -s 1m --op read -q 8;"),
        "{seen}"
    );
    // Said over them it is said for all, and told.
    set(&mut model, "depth", "4").unwrap();
    planned(&mut model);
    let seen = picture(&model, 200, 60);
    assert!(
        seen.contains("depth 4 now applies to all 8 sweeps") && !seen.contains("per sweep: 8"),
        "{seen}"
    );
    assert!(line_of(&model).ends_with("-p peak -q 4"), "{}", line_of(&model));
    // A switch of the preset is taken back, and can be said again.
    set(&mut model, "direct", "no").unwrap();
    assert!(line_of(&model).ends_with("-q 4 --direct=no"), "{}", line_of(&model));
    take(&mut model, built_in("random").unwrap());
    planned(&mut model);
    assert!(picture(&model, 200, 60).contains("per sweep"));
}

fn take(model: &mut Model, preset: Preset) {
    with_screens(model, |screens, ctx| take_preset(screens.setup, ctx, preset));
}

fn set(model: &mut Model, name: &str, text: &str) -> Result<(), String> {
    let mut result = Ok(());
    with_screens(model, |screens, ctx| {
        result = set_text(screens.setup, ctx, name, text).map(drop);
        Vec::new()
    });
    result
}

fn click_at(model: &mut Model, body: Rect, at: Position) -> Vec<Effect> {
    with_screens(model, |screens, ctx| click(screens.setup, ctx, body, at))
}

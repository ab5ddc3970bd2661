//! Pictures and clicks.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::msg::Outlook;
use crate::plan::Cache;
use crate::theme::Glyphs;
use crate::update::screens::with_screens;

#[test]
fn clicks_focus_select_and_toggle() {
    let mut model = model(None);
    answer_plan(&mut model);
    model.size = (100, 30);
    fn find(model: &Model, text: &str) -> (u16, u16) {
        let picture = picture(model, 100, 30);
        let (y, line) = picture.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        (line[..line.find(text).unwrap()].chars().count() as u16, y as u16)
    }
    let at = find(&model, "a.bin");
    click_at(&mut model, at);
    click_at(&mut model, at);
    assert_eq!(model.setup.file.as_deref(), Some(Path::new("/data/a.bin")));
    let at = find(&model, "mmap");
    click_at(&mut model, at);
    let at = find(&model, "warm");
    click_at(&mut model, at);
    assert_eq!(model.setup.settings.cache, Some(vec![Cache::Cold]));
    assert_eq!(command_of(&model), "iotui --batch /data/a.bin -b read,uring -c cold");
    let at = find(&model, "128m");
    click_at(&mut model, (at.0 + 3, at.1 - 1));
    assert!(command_of(&model).contains("..128m"), "{}", command_of(&model));
    let at = find(&model, "$ iotui");
    assert!(matches!(
        &click_at(&mut model, at)[..],
        [Effect::Copy(text)] if text.starts_with("iotui --batch")
    ));
}

#[test]
fn chosen_items_are_marked_in_ascii() {
    let mut model = model(Some("/data/a.bin"));
    model.look.glyphs = Glyphs::Ascii;
    answer_plan(&mut model);
    let text = picture(&model, 120, 40);
    assert!(text.contains("*cold *warm") && text.contains("asis"), "{text}");
    assert!(!text.contains("xcold") && !text.contains(".asis"), "{text}");
}

#[test]
fn presets_have_words_not_numbers() {
    for (id, text) in PRESETS {
        let preset = Preset::parse(id, text).unwrap();
        let said = format!("{} {}", preset.about, preset.doc);
        assert!((1..9).all(|part| !said.contains(&format!("Part {part}"))), "{id}: {said}");
    }
}

#[test]
fn every_size_shows_the_essentials() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut model = model(Some("/data/a.bin"));
        model.size = (columns, rows);
        answer_plan(&mut model);
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
        for pane in SetupPane::ALL {
            model.setup.focus = *pane;
            model.setup.browser.cursor = 3;
            picture(&model, columns, rows);
        }
    }
}

#[test]
fn only_late_plans_are_announced() {
    let mut model = model(None);
    answer_plan(&mut model);
    keys(&mut model, "<tab><tab>jl");
    assert!(model.ticks() && !picture(&model, 80, 24).contains("planning"));
    update(&mut model, Duration::from_millis(300), Msg::Tick);
    assert!(picture(&model, 80, 24).contains("planning"));
    answer_plan(&mut model);
    assert!(!picture(&model, 80, 24).contains("planning") && !model.ticks());
}

#[test]
fn the_plan_shows_its_expected_result() {
    let mut model = model(Some("/data/a.bin"));
    fn expected() -> String {
        "expected: 1.00 GiB/s by the 1.00 GiB/s that the vendor names".to_string()
    }
    let number = model.setup.planning.number;
    let late = Msg::Proposed {
        number: number + 1,
        result: Err("late".into()),
        findings: Vec::new(),
        outlook: Outlook { expected: expected(), ..Outlook::default() }.into(),
    };
    send(&mut model, late);
    answer_plan(&mut model);
    assert!(!picture(&model, 120, 40).contains("expected"), "the answer to another request");
    model.setup.planning.outlook.expected = expected();
    assert!(
        picture(&model, 120, 40).contains("expected: 1.00 GiB/s by the 1.00 GiB/s"),
        "{}",
        picture(&model, 120, 40)
    );
}

#[test]
fn sweeps_show_their_settings() {
    let mut model = model(Some("/data/a.bin"));
    take(&mut model, built_in("peak").unwrap());
    answer_plan(&mut model);
    let seen = picture(&model, 200, 60);
    assert!(
        seen.contains("per sweep: read / write") && seen.contains("per sweep: 8 / 32 / -"),
        "{seen}"
    );
    assert!(
        seen.contains("√ SEQ1M    Q8      read") && seen.contains("√ RND4K    Q32T16  write"),
        "{seen}"
    );
    // An override applies to all sweeps, with a note.
    set(&mut model, "depth", "4").unwrap();
    answer_plan(&mut model);
    let seen = picture(&model, 200, 60);
    assert!(
        seen.contains("depth 4 now applies to all 8 sweeps") && !seen.contains("per sweep: 8"),
        "{seen}"
    );
    assert!(command_of(&model).ends_with("-p peak -q 4"), "{}", command_of(&model));
    // A switch of the preset can be turned off.
    set(&mut model, "direct", "no").unwrap();
    assert!(command_of(&model).ends_with("-q 4 --direct=no"), "{}", command_of(&model));
    take(&mut model, built_in("random").unwrap());
    answer_plan(&mut model);
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

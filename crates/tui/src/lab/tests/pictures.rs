//! Pictures of Lab.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::{opened, stage};
use crate::lab::state::LabPane;
use crate::msg::Msg;
use crate::session_view::SessionView;
use crate::testing::Stage;
use crate::theme::{Colours, Glyphs, Look};

fn latency() -> Stage {
    let mut stage = opened();
    let slot =
        stage.model.lab.sheet.slots.iter().position(|slot| slot.cell.probe == "latency").unwrap();
    stage.model.lab.pane = LabPane::Bars;
    stage.model.lab.go_to(slot + 3);
    stage.keys("<enter>");
    stage
}

#[test]
fn bars_at_every_size() {
    for (columns, rows) in [(160, 45), (120, 40), (80, 24)] {
        let mut stage = opened();
        stage.keys("gjjjj<tab>");
        insta::assert_snapshot!(format!("bars_{columns}x{rows}"), stage.snapshot(columns, rows));
    }
}

#[test]
fn estimates_are_shown_before_results() {
    insta::assert_snapshot!("before", stage().snapshot(80, 24));
    assert!(stage().picture(80, 24).contains("r takes up to 3 min"));
    let mut empty = Stage::new();
    assert!(empty.keys("5").picture(80, 24).contains("checking which probes are available"));
}

#[test]
fn visible_intervals_are_explained() {
    let stage = opened();
    // The intervals of the tests are narrower than a column.
    let narrow = stage.picture(120, 40);
    assert!(!narrow.contains('▒') && !narrow.contains("95 % interval"), "{narrow}");
    let mut shown = super::session();
    for trial in &mut shown.probe_trials {
        trial.value *= f64::from(1 + trial.round % 4).powi(3);
    }
    let mut stage = super::stage();
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(shown, None)))));
    assert!(stage.picture(120, 40).contains("▒ 95 % interval"), "{}", stage.picture(120, 40));
    stage.model.look.glyphs = Glyphs::Ascii;
    assert!(stage.picture(120, 40).contains("= 95 % interval"), "{}", stage.picture(120, 40));
}

#[test]
fn a_curve_by_size() {
    insta::assert_snapshot!("curve", latency().snapshot(120, 40));
}

#[test]
fn sessions_to_mark() {
    insta::assert_snapshot!("marks", opened().keys("c").snapshot(80, 24));
}

#[test]
fn plain_terminals_show_everything() {
    for mut stage in [opened(), latency()] {
        stage.model.look =
            Look { glyphs: Glyphs::Ascii, colours: Colours::None, ..Look::default() };
        let picture = stage.picture(120, 40);
        assert!(picture.is_ascii() && picture.contains(" ns"), "{picture}");
    }
}

fn click(stage: &mut Stage, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

/// Returns the position of a text on the screen.
fn find(stage: &Stage, text: &str) -> (u16, u16) {
    let picture = stage.picture(120, 40);
    let row = picture
        .lines()
        .position(|line| line.contains(text))
        .unwrap_or_else(|| panic!("{text} is not in\n{picture}"));
    let line = picture.lines().nth(row).unwrap();
    (line[..line.find(text).unwrap()].chars().count() as u16, row as u16)
}

#[test]
fn clicks_select_switch_and_open() {
    let mut stage = opened();
    stage.tell(Msg::Resize(120, 40));
    let (column, row) = find(&stage, "√ fork");
    click(&mut stage, column + 3, row);
    assert_eq!(
        (stage.model.lab.probe(), stage.model.lab.choice.is_on("fork")),
        (Some("fork"), true)
    );
    click(&mut stage, column, row);
    assert!(!stage.model.lab.choice.is_on("fork"));
    let (column, row) = find(&stage, "  arguments 2");
    let column = column + 2;
    click(&mut stage, column, row);
    assert_eq!((stage.model.lab.pane, stage.model.lab.probe()), (LabPane::Bars, Some("call")));
    // The list scrolls with its cursor.
    let (column, row) = (column, find(&stage, "  arguments 2").1);
    click(&mut stage, column, row);
    assert!(stage.model.lab.open, "a second click opens its curve");
    let (column, row) = find(&stage, "└");
    click(&mut stage, column + 2, row - 2);
    assert_eq!(stage.model.lab.current_slot().unwrap().label, "arguments 0");
    // The lines below the plot are not on its axis.
    let (column, row) = find(&stage, "at arguments 0");
    click(&mut stage, column + 20, row);
    assert_eq!(stage.model.lab.current_slot().unwrap().label, "arguments 0");
}

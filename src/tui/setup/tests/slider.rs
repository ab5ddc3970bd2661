//! The slider of block sizes under the pointer.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::*;
use crate::tui::setup::layout::places;
use crate::tui::setup::view::power_at;

/// Sends the pointer to a power of two on the slider.
fn point(model: &mut Model, kind: MouseEventKind, power: u32) {
    let body = view::areas(model.size).body;
    let inner = places(body, &model.setup).inner(Pane::Blocks).unwrap();
    let column = (inner.x..inner.right()).find(|x| power_at(inner, *x) == power).unwrap();
    let (row, modifiers) = (inner.y, KeyModifiers::NONE);
    send(model, Msg::Mouse(MouseEvent { kind, column, row, modifiers }));
}

fn press(model: &mut Model, power: u32) {
    point(model, MouseEventKind::Down(MouseButton::Left), power);
}

fn drag(model: &mut Model, power: u32) {
    point(model, MouseEventKind::Drag(MouseButton::Left), power);
}

fn release(model: &mut Model, power: u32) {
    point(model, MouseEventKind::Up(MouseButton::Left), power);
}

#[test]
fn both_ends_and_the_range_are_dragged() {
    let mut model = model(None);
    model.size = (100, 30);
    answer_plan(&mut model);
    press(&mut model, 21);
    drag(&mut model, 22);
    drag(&mut model, 23);
    release(&mut model, 23);
    assert_eq!(command_of(&model), "iotui --batch -s 4k,32k,256k,2m,8m");
    press(&mut model, 12);
    drag(&mut model, 9);
    release(&mut model, 9);
    assert_eq!(command_of(&model), "iotui --batch -s 512,4k,32k,256k,2m,8m");
    press(&mut model, 16);
    drag(&mut model, 17);
    release(&mut model, 17);
    assert_eq!(command_of(&model), "iotui --batch -s 1k,8k,64k,512k,4m,16m");
    // Past the end of the scale it stops, and comes back with the pointer.
    press(&mut model, 16);
    drag(&mut model, 27);
    assert!(command_of(&model).ends_with("128m"), "{}", command_of(&model));
    drag(&mut model, 16);
    release(&mut model, 16);
    assert_eq!(command_of(&model), "iotui --batch -s 1k,8k,64k,512k,4m,16m");
    // A click moves the nearest end, inside of the range too.
    press(&mut model, 13);
    release(&mut model, 13);
    assert_eq!(command_of(&model), "iotui --batch -s 8k,64k,512k,4m,16m");
    // Released, the pointer moves nothing.
    drag(&mut model, 2);
    assert_eq!(command_of(&model), "iotui --batch -s 8k,64k,512k,4m,16m");
}

#[test]
fn the_slider_shows_what_is_measured_in_words() {
    let mut model = model(None);
    answer_plan(&mut model);
    assert!(picture(&model, 120, 40).contains("4 KiB to 2 MiB, 4 sizes"));
    let text = picture(&model, 60, 16);
    assert!(text.contains("4 KiB to 2 MiB, 4 sizes") && text.contains("─64k─"), "{text}");
    // Those of a preset with sweeps, not those of the default.
    let at = model.presets.iter().position(|preset| preset.id == "peak").unwrap();
    let now = model.presets.iter().position(|preset| preset.id == "quick").unwrap();
    assert!(at < now);
    keys(&mut model, &format!("p{}<enter>", "k".repeat(now - at)));
    answer_plan(&mut model);
    let text = picture(&model, 120, 40);
    assert!(text.contains("4 KiB to 1 MiB, 3 sizes, by sweep"), "{text}");
    let slider = text.lines().skip_while(|line| !line.contains("Block size")).nth(1).unwrap();
    assert_eq!(slider.matches('●').count(), 3, "{slider}");
}

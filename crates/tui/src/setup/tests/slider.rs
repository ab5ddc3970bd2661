//! The slider of block sizes under the pointer.

use ratatui::layout::Position;

use super::*;
use crate::view::Target;

/// Clicks on a power of two on the slider.
fn click(model: &mut Model, power: u32) {
    crate::testing::draw(model);
    let area = Rect::new(0, 0, model.size.0, model.size.1);
    let is_power = |at: &Position| model.hits.target(*at) == Some(Target::BlockSize(power));
    let at = area.positions().find(is_power).unwrap();
    click_at(model, (at.x, at.y));
}

#[test]
fn a_click_moves_the_nearest_end() {
    let mut model = model(None);
    model.size = (100, 30);
    answer_plan(&mut model);
    for (power, wanted) in [
        (23, "4k,32k,256k,2m,8m"),
        (9, "512,4k,32k,256k,2m,8m"),
        (13, "8k,64k,512k,4m,8m"),
        (27, "8k,64k,512k,4m,32m,128m"),
    ] {
        click(&mut model, power);
        assert_eq!(command_of(&model), format!("iotui --batch -s {wanted}"));
    }
}

#[test]
fn the_slider_names_its_sizes() {
    let mut model = model(None);
    answer_plan(&mut model);
    assert!(picture(&model, 120, 40).contains("4 KiB to 2 MiB, 4 sizes"));
    let text = picture(&model, 80, 24);
    assert!(text.contains("4 KiB to 2 MiB, 4 sizes"), "{text}");
    // The sizes of a preset with sweeps, not of the default.
    let at = model.presets.iter().position(|preset| preset.id == "peak").unwrap();
    let now = model.presets.iter().position(|preset| preset.id == "quick").unwrap();
    assert!(at < now);
    keys(&mut model, &format!("p{}<space>", "k".repeat(now - at)));
    answer_plan(&mut model);
    let text = picture(&model, 120, 40);
    assert!(text.contains("RND4K    Q1      write") && !text.contains("128m"), "{text}");
    // A row is taken out and put back; the last one stays.
    model.setup.focus_on(SetupPane::Blocks);
    keys(&mut model, "j<space>");
    answer_plan(&mut model);
    assert_eq!(model.setup.question().preset.sweeps.len(), 7);
    let text = picture(&model, 120, 40);
    assert!(text.contains("· SEQ128K  Q32     read") && text.contains("7 of 8"), "{text}");
    assert!(text.contains("saves these rows") && keys(&mut model, "y").is_empty(), "{text}");
    keys(&mut model, "<space>g<space>j<space>j<space>j<space>j<space>j<space>j<space>j<space>");
    assert_eq!(model.setup.question().preset.sweeps.len(), 1);
}

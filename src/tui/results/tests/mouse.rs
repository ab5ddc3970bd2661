use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::{cell_under_cursor, opened, results, stage};
use crate::tui::curves::Metric;
use crate::tui::msg::Msg;
use crate::tui::testing::Stage;

fn click(stage: &mut Stage, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

/// Where a text is on the screen.
fn find(stage: &Stage, text: &str) -> (u16, u16) {
    let picture = stage.picture(100, 30);
    let place = picture.lines().enumerate().find_map(|(y, line)| {
        let at = line.find(text)?;
        Some((line[..at].chars().count() as u16, y as u16))
    });
    place.unwrap_or_else(|| panic!("no {text} in\n{picture}"))
}

#[test]
fn the_mouse_selects_switches_and_sorts() {
    let mut stage = stage();
    let (x, y) = find(&stage, "16 KiB");
    click(&mut stage, x + 3, y - 3);
    assert_eq!(cell_under_cursor(&stage), "mmap warm 16k");
    let (x, y) = find(&stage, "●  read cold");
    click(&mut stage, x + 5, y);
    assert_eq!(cell_under_cursor(&stage), "read cold 16k");
    click(&mut stage, x + 5, y);
    assert!(results(&stage).is_hidden(results(&stage).curve().unwrap()), "a second click switches");
    click(&mut stage, x, y);
    assert!(!results(&stage).is_hidden(results(&stage).curve().unwrap()));
    let (x, y) = find(&stage, "Operations");
    click(&mut stage, x, y);
    assert_eq!(results(&stage).data.as_ref().unwrap().metric, Metric::Operations);
    stage.keys("v");
    let (x, y) = find(&stage, "throughput");
    click(&mut stage, x, y);
    assert_eq!(results(&stage).table.sort.map(|(_, reversed)| reversed), Some(true));
    click(&mut stage, x, y + 1);
    assert_eq!(results(&stage).table.sort.map(|(_, reversed)| reversed), Some(false));
    click(&mut stage, x, y + 5);
    assert_eq!(results(&stage).table.cursor, 3);
    click(&mut stage, x, y + 5);
    assert_ne!(opened(&stage), "-");
}

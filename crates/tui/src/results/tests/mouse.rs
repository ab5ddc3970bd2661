use std::time::Duration;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::{cell_under_cursor, opened, results, stage};
use crate::curves::Metric;
use crate::msg::Msg;
use crate::results::state::Tab;
use crate::testing::Stage;

fn mouse(stage: &mut Stage, kind: MouseEventKind, column: u16, row: u16) {
    stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

fn click(stage: &mut Stage, column: u16, row: u16) {
    mouse(stage, MouseEventKind::Down(MouseButton::Left), column, row);
    mouse(stage, MouseEventKind::Up(MouseButton::Left), column, row);
    // No double click.
    stage.wait(Duration::from_secs(1));
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
fn clicks_select_switch_and_sort() {
    let mut stage = stage();
    let (x, y) = find(&stage, "16 KiB");
    click(&mut stage, x + 3, 3);
    assert_eq!(cell_under_cursor(&stage), "mmap warm 16k");
    click(&mut stage, x + 3, y - 3);
    assert_eq!(cell_under_cursor(&stage), "read cold 16k", "the curve that is there");
    stage.keys("j");
    let (x, y) = find(&stage, "●  read cold");
    click(&mut stage, x + 5, y);
    assert_eq!(cell_under_cursor(&stage), "read cold 16k");
    click(&mut stage, x + 5, y);
    assert!(results(&stage).is_hidden(results(&stage).curve().unwrap()), "a second click switches");
    click(&mut stage, x, y);
    assert!(!results(&stage).is_hidden(results(&stage).curve().unwrap()));
    let (x, y) = find(&stage, "ops");
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

/// The first and last tick of the axis of blocks.
fn ticks(stage: &Stage) -> (String, String) {
    let picture = stage.picture(100, 30);
    let row = picture.lines().find(|line| line.matches("iB").count() > 1 && !line.contains("/s"));
    let row = row.unwrap_or_else(|| panic!("{picture}"));
    let row = row.trim_matches(['│', ' ']);
    let names: Vec<&str> = row.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    (names[0].to_string(), names[names.len() - 1].to_string())
}

#[test]
fn the_pointer_reads_the_nearest_point() {
    let mut stage = stage();
    let (x, y) = find(&stage, "1 MiB");
    assert!(!stage.picture(100, 30).contains("GiB/s ±"), "no pointer, no read-out");
    for row in 2..y {
        mouse(&mut stage, MouseEventKind::Moved, x + 2, row);
        let picture = stage.picture(100, 30);
        if picture.contains("mmap warm  1 MiB  ") {
            let line = picture.lines().find(|line| line.contains("mmap warm  1 MiB  ")).unwrap();
            assert!(line.contains("GiB/s ±") && line.contains(", cache 100 %"), "{line}");
            // Outside the chart no cell is described.
            mouse(&mut stage, MouseEventKind::Moved, x, 29);
            assert!(!stage.picture(100, 30).contains("mmap warm  1 MiB  "));
            // Nor below a popup.
            mouse(&mut stage, MouseEventKind::Moved, x + 2, row);
            stage.keys("?");
            assert!(!stage.picture(100, 30).contains("mmap warm  1 MiB  "));
            return;
        }
    }
    panic!("no read-out at column {x}: {}", stage.picture(100, 30));
}

#[test]
fn the_wheel_zooms_at_the_pointer() {
    let mut stage = stage();
    let all = ticks(&stage);
    assert_eq!(all, ("4 KiB".to_string(), "4 MiB".to_string()));
    let (x, y) = find(&stage, "4 MiB");
    mouse(&mut stage, MouseEventKind::ScrollUp, x, y - 4);
    assert_eq!(ticks(&stage), ("256 KiB".into(), "4 MiB".into()), "at the pointer");
    stage.keys("{{{{");
    assert_eq!(ticks(&stage).0, "4 KiB");
    stage.keys("}}}}");
    assert_eq!(ticks(&stage).1, "4 MiB");
    mouse(&mut stage, MouseEventKind::ScrollDown, 50, 5);
    mouse(&mut stage, MouseEventKind::ScrollDown, 50, 5);
    assert_eq!(ticks(&stage), all);
    assert_eq!(results(&stage).chart.zoom, None, "all is shown");
    // Over the legend the wheel moves the cursor.
    let before = cell_under_cursor(&stage);
    let (x, y) = find(&stage, "●  read cold");
    mouse(&mut stage, MouseEventKind::ScrollUp, x, y);
    assert_ne!(cell_under_cursor(&stage), before);
    assert_eq!(ticks(&stage), all);
}

#[test]
fn only_drawn_tabs_are_clicked() {
    let mut stage = stage();
    let tabs = [find(&stage, "ops"), find(&stage, "table")];
    stage.keys("<enter>");
    let shown = (opened(&stage), results(&stage).tab());
    for (x, y) in tabs {
        click(&mut stage, x, y);
        assert_eq!((opened(&stage), results(&stage).tab()), shown);
    }
    // Without a session, no tabs are drawn.
    let mut empty = Stage::new();
    empty.keys("3").tell(Msg::Resize(100, 30));
    for (x, y) in tabs {
        click(&mut empty, x, y);
    }
    empty.tell(Msg::Opened(Ok(Box::new(crate::testing::shown()))));
    assert_eq!(results(&empty).tab(), Some(Tab::Glance));
}

#[test]
fn double_clicks_open_a_cell() {
    let mut stage = stage();
    let (x, y) = find(&stage, "64 KiB");
    let down = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut stage, down, x + 3, y - 3);
    assert_eq!(opened(&stage), "-");
    stage.wait(Duration::from_secs(1));
    mouse(&mut stage, down, x + 3, y - 3);
    assert_eq!(opened(&stage), "-", "two slow clicks");
    mouse(&mut stage, down, x + 3, y - 3);
    assert!(opened(&stage).contains("64 KiB"), "{}", opened(&stage));
}

//! The chart of the comparison, and the sessions above it.

use crossterm::event::{KeyModifiers, MouseEvent, MouseEventKind};

use super::{compare, stage, three};
use crate::msg::Msg;
use crate::session;
use crate::testing::Stage;

#[test]
fn mouse_reads_and_zooms_curves() {
    let mut stage = stage(&three());
    stage.tell(Msg::Resize(120, 40)).keys("v");
    let mouse = |stage: &mut Stage, kind, column, row| {
        let modifiers = KeyModifiers::NONE;
        stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers })).picture(120, 40)
    };
    let mut seen = Vec::new();
    for column in (0..70).step_by(3) {
        for row in (2..36).step_by(2) {
            let picture = mouse(&mut stage, MouseEventKind::Moved, column, row);
            seen.extend(["A mmap warm  1 MiB  ", "B mmap warm  1 MiB  "].map(|said| {
                let line = picture.lines().find(|line| line.contains(said));
                line.is_some_and(|line| line.contains("iB/s") && line.contains(", cache 100 %"))
            }));
        }
    }
    assert!(seen.contains(&true), "{}", stage.picture(120, 40));
    let offers_all = |stage: &Stage| {
        let picture = stage.picture(200, 40);
        picture.lines().last().unwrap_or_default().contains("0 all")
    };
    assert!(!offers_all(&stage));
    mouse(&mut stage, MouseEventKind::ScrollUp, 60, 10);
    assert!(offers_all(&stage));
    stage.keys("{{{{");
    assert_eq!(compare(&stage).overlay.zoom.unwrap().0, 0);
    stage.keys("}}}}");
    assert!(compare(&stage).overlay.zoom.unwrap().0 > 0);
    stage.keys("0");
    assert_eq!(compare(&stage).overlay.zoom, None);
    stage.keys("++--");
    assert_eq!(compare(&stage).overlay.zoom, None);
}

#[test]
fn undated_sessions_have_no_time() {
    let [before, ..] = three();
    let undated = session::reference("ryzen-5900hs").unwrap().session().clone();
    assert!(undated.created.is_empty());
    let picture = stage(&[before, undated]).picture(120, 40);
    let times: Vec<&str> = picture.lines().filter(|line| line.contains(" UTC")).collect();
    assert!(times.len() == 1 && times[0].contains(" A "), "{picture}");
}

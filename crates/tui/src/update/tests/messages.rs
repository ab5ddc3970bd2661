//! Tests of how messages look, and of messages about copies.

use ratatui::style::{Color, Modifier};

use crate::msg::{Copied, Effect, Msg};
use crate::testing::Stage;
use crate::theme::Role;

#[test]
fn copy_succeeds_only_when_confirmed() {
    let mut stage = Stage::new();
    let refused = Msg::Copied(Copied::Refused("x".into()));
    assert_eq!(stage.tell(refused).take(), [Effect::SendToTerminal("x".into())]);
    assert!(stage.model.toasts.iter().next().is_none());
    for (copied, role) in [
        (Copied::Sent("sent to the terminal".into()), Role::Note),
        (Copied::Known("copied".into()), Role::Good),
    ] {
        stage.model.toasts = Default::default();
        stage.tell(Msg::Copied(copied));
        assert_eq!(stage.model.toasts.iter().next().map(|toast| toast.role), Some(role));
    }
}

#[test]
fn messages_have_role_colours_without_background() {
    let mut stage = Stage::new();
    let now = stage.model.now;
    stage.model.toasts.note(now, "one");
    let (buffer, picture) = (stage.drawn(80, 24), stage.picture(80, 24));
    let last = picture.lines().last().unwrap();
    let at = last[..last.find("one").unwrap()].chars().count() as u16;
    let cell = &buffer[(at, 23)];
    let style = stage.model.look.style(Role::Note);
    assert_eq!((Some(cell.fg), cell.bg), (style.fg, Color::Reset));
    assert!(!cell.modifier.contains(Modifier::REVERSED));
}

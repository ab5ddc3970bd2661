//! What messages look like, and what is said of a copy.

use ratatui::style::{Color, Modifier};

use crate::msg::{Copied, Effect, Msg};
use crate::testing::Stage;
use crate::theme::Role;

#[test]
fn copied_is_said_as_good_only_where_it_is_known() {
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
fn a_message_has_the_colour_of_its_role_and_no_background() {
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

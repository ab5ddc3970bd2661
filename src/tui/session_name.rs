//! What a session is called, and when it was.

use crate::session::{Listed, Session};

/// What a session without a name is called: its id without the time, which stands beside it.
fn slug(id: &str) -> &str {
    match id.as_bytes() {
        bytes
            if bytes.len() > 16
                && bytes[15] == b'-'
                && bytes[..8].iter().all(u8::is_ascii_digit) =>
        {
            id.get(16..).unwrap_or(id)
        }
        _ => id,
    }
}

/// Its name, or what stands for one.
pub fn of_listed(listed: &Listed) -> &str {
    if listed.name.is_empty() { slug(&listed.id) } else { &listed.name }
}

/// As [`of_listed`], of a session that is loaded.
pub fn of_session(session: &Session) -> &str {
    if session.name.is_empty() { slug(&session.id) } else { &session.name }
}

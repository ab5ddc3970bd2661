//! What a session is called, and when it was.

use crate::session::{Listed, Session};

/// Returns the label of a session without a name: its id without the time, which is shown beside
/// it.
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

/// Returns its name or the label that replaces it.
pub fn of_listed(listed: &Listed) -> &str {
    if listed.name.is_empty() { slug(&listed.id) } else { &listed.name }
}

/// Returns the label as [`of_listed`] does, of a session that is loaded.
pub fn of_session(session: &Session) -> &str {
    if session.name.is_empty() { slug(&session.id) } else { &session.name }
}

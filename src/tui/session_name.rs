//! What a session is called.

use crate::session::{self, Listed, Session};

/// Returns the label of a session without a name and without a target: its id without the time,
/// which is shown beside it.
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

/// Returns its name or the label that replaces it; both find it on the command line.
pub fn of_listed(listed: &Listed) -> &str {
    let name = listed.name_or_label();
    if name.is_empty() { slug(&listed.id) } else { name }
}

/// Returns the name of a session, or else its id, which no other has.
pub fn unique<'a>(name: &'a str, id: &'a str) -> &'a str {
    if name.is_empty() { id } else { name }
}

/// Returns the label as [`of_listed`] does, of a session that is loaded.
pub fn of_session(session: &Session) -> String {
    if !session.name.is_empty() {
        return session.name.clone();
    }
    let label = match session.reference {
        Some(_) => String::new(),
        None => session::label(&session.plan),
    };
    if label.is_empty() { slug(&session.id).into() } else { label }
}

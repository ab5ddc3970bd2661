//! The session that `--plan` or `--baseline` names.

use crate::output::failure;
use crate::session;
use crate::session::Session;

/// Loads a session by its name, id or path.
///
/// # Errors
/// There is none, or it cannot be read.
pub(super) fn load_named(text: &str) -> anyhow::Result<Session> {
    let path = session::folder().and_then(|dir| session::find(&dir, text)).map_err(failure)?;
    session::load(&path).map_err(failure)
}

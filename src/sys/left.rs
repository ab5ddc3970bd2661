//! What killed runs left behind and this process removed, until somebody tells the user.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static REMOVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Remembers a path that was removed.
pub fn removed(path: &Path) {
    REMOVED.lock().unwrap_or_else(PoisonError::into_inner).push(path.into());
}

/// What was removed since this was last asked, as lines for the user.
pub fn tell() -> Vec<String> {
    let removed = std::mem::take(&mut *REMOVED.lock().unwrap_or_else(PoisonError::into_inner));
    removed
        .iter()
        .map(|path| format!("removed {}, left by an iotui that was killed", path.display()))
        .collect()
}

//! Files of killed runs that this process has removed and not yet reported to the user.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static REMOVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Records a removed path.
pub fn record(path: &Path) {
    REMOVED.lock().unwrap_or_else(PoisonError::into_inner).push(path.into());
}

/// Returns what was removed since the last call, as messages for the user.
pub fn take_notes() -> Vec<String> {
    let removed = std::mem::take(&mut *REMOVED.lock().unwrap_or_else(PoisonError::into_inner));
    removed
        .iter()
        .map(|path| format!("removed {}, left behind by a killed iotui", path.display()))
        .collect()
}

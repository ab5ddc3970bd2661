//! iotui's folders in the user's home (XDG base directories). They need not exist.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

/// A folder, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// `$XDG_DATA_HOME/iotui`: sessions.
    Data,
    /// `$XDG_CONFIG_HOME/iotui`: presets.
    Config,
    /// `$XDG_CACHE_HOME/iotui`: data that can be measured again.
    Cache,
    /// `$XDG_STATE_HOME/iotui`: state of the full-screen interface.
    State,
}

impl Home {
    /// Returns its path; `None` without a home, or with a relative one.
    pub fn folder(self) -> Option<PathBuf> {
        let xdg = Xdg::new().ok();
        let (path, variable) = match self {
            Home::Data => (xdg.map(|x| x.data_dir()), "XDG_DATA_HOME"),
            Home::Config => (xdg.map(|x| x.config_dir()), "XDG_CONFIG_HOME"),
            Home::Cache => (xdg.map(|x| x.cache_dir()), "XDG_CACHE_HOME"),
            Home::State => (xdg.and_then(|x| x.state_dir()), "XDG_STATE_HOME"),
        };
        // Without a home, etcetera ignores the variable that makes a home unnecessary.
        iotui_folder(path.or_else(|| std::env::var_os(variable).map(PathBuf::from)))
    }
}

/// Returns iotui's folder in `base`, if that is absolute.
fn iotui_folder(base: Option<PathBuf>) -> Option<PathBuf> {
    // An empty HOME results in a relative path.
    base.filter(|path| path.is_absolute()).map(|path| path.join("iotui"))
}

/// Creates a folder and its parents, accessible to the user only.
pub fn create_private_folder(dir: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_count() {
        assert_eq!(iotui_folder(Some("/data".into())), Some("/data/iotui".into()));
        for base in [None, Some(".local/share".into()), Some("".into())] {
            assert_eq!(iotui_folder(base), None);
        }
    }
}

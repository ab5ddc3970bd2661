//! iotui's own folders in the user's home (XDG base directories). None of them need exist.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

/// What is kept there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// `$XDG_DATA_HOME/iotui`: sessions.
    Data,
    /// `$XDG_CONFIG_HOME/iotui`: presets.
    Config,
    /// `$XDG_CACHE_HOME/iotui`: what can be found out again.
    Cache,
    /// `$XDG_STATE_HOME/iotui`: what the full screen remembers.
    State,
}

impl Home {
    /// Its path; `None` where there is no home, or one that is relative to wherever iotui was
    /// started.
    pub fn folder(self) -> Option<PathBuf> {
        let xdg = Xdg::new().ok();
        let (known, variable) = match self {
            Home::Data => (xdg.map(|x| x.data_dir()), "XDG_DATA_HOME"),
            Home::Config => (xdg.map(|x| x.config_dir()), "XDG_CONFIG_HOME"),
            Home::Cache => (xdg.map(|x| x.cache_dir()), "XDG_CACHE_HOME"),
            Home::State => (xdg.and_then(|x| x.state_dir()), "XDG_STATE_HOME"),
        };
        // Without a home the strategy does not look at the variable that makes one unnecessary.
        of_iotui(known.or_else(|| std::env::var_os(variable).map(PathBuf::from)))
    }
}

fn of_iotui(base: Option<PathBuf>) -> Option<PathBuf> {
    // An empty HOME gives a relative path.
    base.filter(|path| path.is_absolute()).map(|path| path.join("iotui"))
}

/// Makes a folder and those above it, readable by its user only.
pub fn folder_of_ours(dir: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_are_homes() {
        assert_eq!(of_iotui(Some("/data".into())), Some("/data/iotui".into()));
        for base in [None, Some(".local/share".into()), Some("".into())] {
            assert_eq!(of_iotui(base), None);
        }
    }
}

//! What the full screen remembers.
use crate::plan::Settings;
use std::path::PathBuf;
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    pub settings: Settings,
    pub recent: Vec<PathBuf>,
    pub theme: Option<String>,
    pub folder: Option<PathBuf>,
    pub log_y: bool,
}

impl Remembered {
    pub fn load() -> Remembered {
        Remembered::default()
    }
    pub fn save(&self) -> std::io::Result<()> {
        Ok(())
    }
}

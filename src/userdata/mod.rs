//! The user's folders, and the files in them other than sessions: presets, themes.

mod presets;
mod toml_files;

pub use iotui_files::{Home, create_private_folder};
pub use presets::{SavePresetError, presets_folder, save_preset};
pub use toml_files::{MAX_TOML_LEN, TomlFile, read_toml_files};

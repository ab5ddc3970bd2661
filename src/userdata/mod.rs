//! The user's folders, and the files in them other than sessions: presets, themes.

mod home;
mod presets;
mod toml_files;

pub use home::{Home, create_private_folder};
pub use presets::{SavePresetError, presets_folder, save_preset};
pub use toml_files::{MAX_TOML_LEN, TomlFile, read_toml_files};

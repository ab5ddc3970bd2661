//! The user's folders, and the files in them other than sessions: presets.

mod home;
mod presets;

pub use home::{Home, create_private_folder};
pub use presets::{SavePresetError, presets_folder, save_preset};

//! The user's own folders and the files in them that are no sessions: presets.

mod home;
mod presets;

pub use home::{Home, folder_of_ours};
pub use presets::{KeepError, keep_preset, presets_folder};

//! Finds the last run that may have left this machine in another variant (`--between`): it was
//! killed, or its last command failed.

use std::path::{Path, PathBuf};

use super::{head, list, reader};
use crate::plan::Variant;
use crate::text::clean_text;
use iotui_files::file_lock;

/// The newest sessions that are looked at: every start does that.
const MAX_LOOKED_AT: usize = 16;

/// A run that may have left its second variant set.
#[derive(Debug, PartialEq)]
pub struct Unrestored {
    pub id: String,
    pub variants: Vec<Variant>,
}

impl Unrestored {
    /// Returns what happened and how to set the first variant. iotui never runs the command: who
    /// wrote it is unknown, and so is what was done since.
    pub fn describe(&self) -> String {
        let name = |at: usize| self.variants.get(at).map_or("", |variant| variant.name.as_str());
        let command = self.variants.first().map_or("", |first| first.command.as_str());
        clean_text(&format!(
            "the run of session {0} may have left this machine in {1}. To set it back to {2}: \
             {command} (iotui sessions delete {0} ends this message)",
            self.id,
            name(1),
            name(0),
        ))
    }
}

/// Returns the newest such run of this machine in `dir`. A later run with the same variants that
/// ended has set the first one; a run that still goes on will.
pub fn find_unrestored(dir: &Path, machine: &str) -> Option<Unrestored> {
    let mut ended: Vec<PathBuf> = Vec::new();
    for (_, path) in list::newest_files(dir).into_iter().take(MAX_LOOKED_AT) {
        let Ok((file, length)) = reader::open(&path) else { continue };
        if list::tail(&file, length).is_some_and(|end| !end.unrestored) {
            ended.push(path);
            continue;
        }
        let Some(variants) = variants(&path, machine) else { continue };
        let is_same = |path: &PathBuf| self::variants(path, machine).as_ref() == Some(&variants);
        if !file_lock::is_locked(&file) && !ended.iter().any(is_same) {
            return Some(Unrestored { id: list::id_of(&path), variants });
        }
    }
    None
}

/// Returns the variants of a session of this machine, where it has any.
fn variants(path: &Path, machine: &str) -> Option<Vec<Variant>> {
    let mut lines = reader::read_lines(path).ok()?;
    let session = head::find(&mut lines, path).ok()?.session;
    let variants = Some(session.plan.variants);
    variants.filter(|all| Variant::are_set_by_commands(all) && session.host.name == machine)
}

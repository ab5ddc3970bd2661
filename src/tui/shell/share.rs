//! Sessions brought in, held against each other and written elsewhere; each on a thread of its own.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::look_up;
use crate::analysis;
use crate::analysis::SavedRuns;
use crate::report::{self, Look, anonymize};
use crate::runner;
use crate::session;
use crate::session::Session;
use crate::sys::atomic_file;
use crate::tui::compare::Compared;
use crate::tui::export::{Export, ExportOver, Outcome, What};
use crate::tui::msg::Msg;
use crate::units;

/// Takes in a session from a file.
pub fn import(text: &str) -> Msg {
    let taken = session::folder().and_then(|dir| session::import(&dir, &path_of(text)));
    match taken {
        Ok(imported) => {
            let name = match (imported.name.as_str(), imported.renamed) {
                ("", _) => String::new(),
                (name, true) => format!(", named {name}: its name is in use"),
                (name, false) => format!(", named {name}"),
            };
            Msg::Imported { text: format!("imported as {}{name}", imported.id), id: imported.id }
        }
        Err(error) => Msg::Failed(format!("not imported: {error}")),
    }
}

/// Sessions against the first of them.
pub fn compare(ids: &[String], look: &Look) -> Compared {
    let loaded: Vec<_> = ids.iter().map(|id| (id.clone(), look_up::open(id))).collect();
    let sessions: Vec<&Session> =
        loaded.iter().filter_map(|(_, shown)| Some(&shown.as_ref().ok()?.session)).collect();
    let kept = kept(&sessions);
    Compared::of(loaded, &kept, look)
}

/// What kept runs show of how much the machine differs by itself.
fn kept(sessions: &[&Session]) -> SavedRuns {
    session::folder().map(|dir| runner::saved_runs(&dir, sessions)).unwrap_or_default()
}

/// Writes an export; over a file that is there only where that was said.
pub fn export(export: &Export) -> Outcome {
    let path = path_of(&export.path);
    match write(export, &path) {
        Ok(()) => Outcome::Written(path),
        Err(Why::Exists) => Outcome::Exists(Box::new(ExportOver { detail: detail(&path), path })),
        Err(Why::Failed(why)) => Outcome::Failed(why),
    }
}

enum Why {
    Exists,
    Failed(String),
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Failed(why)
    }
}

fn write(export: &Export, path: &Path) -> Result<(), Why> {
    let look = export.look;
    let own = |session: Session| if export.anonymous { anonymize(&session) } else { session };
    let load = |id: &String| look_up::load(id).map(own);
    let session = match &export.what {
        What::Compared(ids) => {
            let format =
                report::find_comparison_format(export.format).map_err(|error| error.to_string())?;
            let whole: Vec<Session> =
                ids.iter().map(|id| look_up::load(id)).collect::<Result<_, _>>()?;
            let kept = kept(&whole.iter().collect::<Vec<_>>());
            let sessions: Vec<Session> = whole.into_iter().map(own).collect();
            let comparison = analysis::compare_with(&sessions, &kept)
                .ok_or_else(|| "there is nothing to compare".to_string())?;
            return put(path, export.replace, |to| (format.write)(&comparison, &look, to));
        }
        What::Shown(session) if export.anonymous => &anonymize(session),
        What::Shown(session) => session,
        What::Kept(id) => &load(id)?,
    };
    let format = report::find_format(export.format).map_err(|error| error.to_string())?;
    put(path, export.replace, |to| (format.write)(session, &look, to))
}

fn put(
    path: &Path,
    replace: bool,
    data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Why> {
    let done = if replace {
        atomic_file::to_file(path, data)
    } else {
        atomic_file::to_new_file(path, data)
    };
    done.map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            Why::Exists
        } else {
            Why::Failed(error.to_string())
        }
    })
}

/// What would be lost.
fn detail(path: &Path) -> String {
    let size = fs::metadata(path)
        .map_or(String::new(), |meta| format!(", {}", units::show_bytes(meta.len())));
    format!("{}{size}. Its contents will be lost.", crate::text::show_path(path))
}

/// A path as it was typed: `~/` is HOME, and what has no folder is in the current one.
fn path_of(text: &str) -> PathBuf {
    let path = match (text.strip_prefix("~/"), env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    };
    std::path::absolute(&path).unwrap_or(path)
}

#[cfg(test)]
mod tests;

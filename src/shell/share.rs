//! Imports, compares and exports sessions; each on its own thread.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::look_up;
use crate::analysis::{self, SavedRuns};
use crate::report::{self, Look, anonymize};
use crate::session::{self, Session};
use crate::sys::{atomic_file, output};
use crate::tui::compare::LoadedComparison;
use crate::tui::export::{Export, ExportOver, Outcome, What};
use crate::tui::msg::Msg;
use crate::{runner, units};

/// Imports a session from a file.
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

/// Compares sessions with the first one.
pub fn compare(ids: &[String], look: &Look) -> LoadedComparison {
    let loaded: Vec<_> = ids.iter().map(|id| (id.clone(), look_up::open(id))).collect();
    let sessions: Vec<&Session> =
        loaded.iter().filter_map(|(_, shown)| Some(&shown.as_ref().ok()?.session)).collect();
    let kept = load_saved_runs(&sessions);
    LoadedComparison::new(loaded, &kept, look)
}

/// Loads earlier runs, which show the variation of the machine itself.
fn load_saved_runs(sessions: &[&Session]) -> SavedRuns {
    session::folder().map(|dir| runner::saved_runs(&dir, sessions)).unwrap_or_default()
}

/// Writes an export; replaces an existing file only if requested.
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
        What::LoadedComparison(ids) => {
            let format =
                report::find_comparison_format(export.format).map_err(|error| error.to_string())?;
            let whole: Vec<Session> =
                ids.iter().map(|id| look_up::load(id)).collect::<Result<_, _>>()?;
            let kept = load_saved_runs(&whole.iter().collect::<Vec<_>>());
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
    let format = report::format_of_file(format, path);
    put(path, export.replace, |to| (format.write)(session, &look, to))
}

fn put(
    path: &Path,
    replace: bool,
    data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Why> {
    let done =
        if replace { output::to_file(path, data) } else { atomic_file::to_new_file(path, data) };
    done.map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            Why::Exists
        } else {
            Why::Failed(error.to_string())
        }
    })
}

/// Describes the file that would be replaced.
fn detail(path: &Path) -> String {
    let size = fs::metadata(path)
        .map_or(String::new(), |meta| format!(", {}", units::show_bytes(meta.len())));
    format!("{}{size}. Its contents will be lost.", crate::text::show_path(path))
}

/// Resolves a typed path: `~/` is HOME; a relative path starts in the current folder.
fn path_of(text: &str) -> PathBuf {
    let path = match (text.strip_prefix("~/"), env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    };
    std::path::absolute(&path).unwrap_or(path)
}

#[cfg(test)]
mod tests;

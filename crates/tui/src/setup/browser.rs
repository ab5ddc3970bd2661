//! State of the target pane: a folder, its entries, a filter, and facts about files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tui_input::Input;

use crate::facts::{Space, TargetFacts};
use crate::remember::MAX_RECENT;

/// The kind of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Folder,
    File,
    /// A block device; its size is known only after an inspection.
    Device,
    /// A pipe, socket or terminal.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    pub path: PathBuf,
    pub name: String,
    pub kind: EntryKind,
    pub size: u64,
    /// Whether this user may read it.
    pub readable: bool,
}

impl FolderEntry {
    /// Returns why the entry cannot be a target.
    pub fn objection(&self) -> Option<String> {
        match self.kind {
            _ if !self.readable => Some(format!("{}: permission denied", self.name)),
            EntryKind::Other => {
                Some(format!("{} is not a regular file or a block device", self.name))
            }
            EntryKind::File if self.size == 0 => {
                Some(format!("{} is empty: there is nothing to measure", self.name))
            }
            _ => None,
        }
    }
}

/// The file system of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSystem {
    pub fs: String,
    pub space: Option<Space>,
}

/// The contents of a folder.
#[derive(Debug)]
pub struct Listing {
    pub dir: PathBuf,
    pub file_system: FileSystem,
    pub result: Result<Vec<FolderEntry>, String>,
}

/// Facts about a file.
#[derive(Debug)]
pub struct Inspection {
    pub path: PathBuf,
    pub result: Result<Box<TargetFacts>, String>,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserRow {
    Scratch,
    Recent(usize),
    /// The folder that was open when iotui last ended.
    Last,
    Parent,
    Entry(usize),
}

/// Number of recent targets shown without a filter.
const MAX_UNFILTERED_RECENT: usize = 3;
/// Largest number of concurrent inspections, so that a file that hangs delays no other.
const MAX_INSPECTIONS: usize = 3;

#[derive(Debug, Default)]
pub struct Browser {
    /// The working directory, which relative paths start from.
    pub start: PathBuf,
    pub dir: PathBuf,
    /// The folder that is being read.
    pub loading: Option<PathBuf>,
    pub entries: Vec<FolderEntry>,
    pub file_system: FileSystem,
    pub error: Option<String>,
    pub filter: Option<Input>,
    /// Whether the filter has the focus.
    pub typing: bool,
    pub hidden: bool,
    pub cursor: usize,
    pub rows: Vec<BrowserRow>,
    pub recent: Vec<PathBuf>,
    pub last_folder: Option<PathBuf>,
    pub facts: HashMap<PathBuf, Result<Box<TargetFacts>, String>>,
    inspecting: Vec<PathBuf>,
}

impl Browser {
    pub fn new(dir: PathBuf) -> Browser {
        let mut browser = Browser { dir, ..Browser::default() };
        browser.build_rows();
        browser
    }

    /// Rebuilds the rows; the cursor stays on its row if that still exists.
    pub fn build_rows(&mut self) {
        let before = self.row();
        let needle = self.filter.as_ref().map(|f| f.value().to_lowercase()).unwrap_or_default();
        let filtered = !needle.is_empty();
        let matches = |name: &str| name.to_lowercase().contains(&needle);
        let mut rows = Vec::new();
        if matches("scratch file") {
            rows.push(BrowserRow::Scratch);
        }
        let max_recent = if filtered { MAX_RECENT } else { MAX_UNFILTERED_RECENT };
        let is_visible = |entry: &FolderEntry| {
            (self.hidden || !entry.name.starts_with('.')) && matches(&entry.name)
        };
        // A recent file that this folder lists is not shown twice.
        let is_listed = |path: &PathBuf| {
            self.entries.iter().any(|entry| entry.path == *path && is_visible(entry))
        };
        let recent = (0..self.recent.len()).filter(|at| {
            matches(&self.recent[*at].to_string_lossy()) && !is_listed(&self.recent[*at])
        });
        rows.extend(recent.take(max_recent).map(BrowserRow::Recent));
        if !filtered {
            rows.extend(
                self.last_folder
                    .as_ref()
                    .filter(|last| **last != self.dir)
                    .map(|_| BrowserRow::Last),
            );
            rows.extend(self.dir.parent().map(|_| BrowserRow::Parent));
        }
        rows.extend(
            (0..self.entries.len())
                .filter(|at| is_visible(&self.entries[*at]))
                .map(BrowserRow::Entry),
        );
        self.rows = rows;
        let position = before.and_then(|row| self.rows.iter().position(|other| *other == row));
        self.cursor = position.unwrap_or(self.cursor).min(self.rows.len().saturating_sub(1));
    }

    pub fn row(&self) -> Option<BrowserRow> {
        self.rows.get(self.cursor).copied()
    }

    /// Returns the path of a row; `None` for the scratch file.
    pub fn path(&self, row: BrowserRow) -> Option<&Path> {
        match row {
            BrowserRow::Scratch => None,
            BrowserRow::Recent(at) => self.recent.get(at).map(PathBuf::as_path),
            BrowserRow::Last => self.last_folder.as_deref(),
            BrowserRow::Parent => self.dir.parent(),
            BrowserRow::Entry(at) => self.entries.get(at).map(|entry| entry.path.as_path()),
        }
    }

    /// Returns the path of a row if it is a folder.
    pub fn folder(&self, row: BrowserRow) -> Option<&Path> {
        let is_folder = match row {
            BrowserRow::Last | BrowserRow::Parent => true,
            BrowserRow::Entry(at) => {
                self.entries.get(at).is_some_and(|entry| entry.kind == EntryKind::Folder)
            }
            BrowserRow::Scratch | BrowserRow::Recent(_) => false,
        };
        if is_folder { self.path(row) } else { None }
    }

    /// Returns the file under the cursor.
    pub fn file(&self) -> Option<&Path> {
        let row = self.row()?;
        if self.folder(row).is_some() { None } else { self.path(row) }
    }

    /// Returns why the row under the cursor cannot be a target.
    pub fn objection(&self) -> Option<String> {
        match self.row()? {
            BrowserRow::Entry(at) => self.entries.get(at)?.objection(),
            BrowserRow::Recent(at) => match self.facts.get(self.recent.get(at)?)? {
                Err(why) => Some(why.clone()),
                Ok(_) => None,
            },
            _ => None,
        }
    }

    /// Takes the contents of a folder; returns false if they are no longer awaited.
    pub fn accept_listing(&mut self, listing: Listing) -> bool {
        if self.loading.as_ref() != Some(&listing.dir) {
            return false;
        }
        self.loading = None;
        match listing.result {
            Ok(entries) => {
                let from = (listing.dir != self.dir).then(|| self.dir.clone());
                self.entries = entries;
                self.dir = listing.dir;
                self.file_system = listing.file_system;
                self.error = None;
                self.facts.clear();
                self.build_rows();
                self.place_cursor(from.as_deref());
            }
            Err(why) => self.error = Some(why),
        }
        true
    }

    /// Places the cursor after a change of folder: on the folder that was left, else on the first
    /// entry.
    fn place_cursor(&mut self, from: Option<&Path>) {
        let Some(from) = from else { return };
        let is_from =
            |row: &BrowserRow| matches!(row, BrowserRow::Entry(_)) && self.path(*row) == Some(from);
        fn is_start(row: &BrowserRow) -> bool {
            matches!(row, BrowserRow::Entry(_) | BrowserRow::Parent)
        }
        let at = self.rows.iter().position(is_from).or_else(|| {
            let entry = self.rows.iter().position(|row| matches!(row, BrowserRow::Entry(_)));
            entry.or_else(|| self.rows.iter().position(is_start))
        });
        self.cursor = at.unwrap_or(0);
    }

    pub fn accept_inspection(&mut self, inspection: Inspection) {
        self.inspecting.retain(|path| *path != inspection.path);
        self.facts.insert(inspection.path, inspection.result);
    }

    /// Returns the file to inspect next: the one under the cursor, if its facts are unknown.
    pub fn next_inspection(&mut self) -> Option<PathBuf> {
        let path = self.file()?.to_path_buf();
        let is_known = self.facts.contains_key(&path) || self.inspecting.contains(&path);
        if is_known || self.inspecting.len() >= MAX_INSPECTIONS || self.objection().is_some() {
            return None;
        }
        self.inspecting.push(path.clone());
        Some(path)
    }

    /// Records a used target as the most recent one.
    pub fn add_recent(&mut self, path: &Path) {
        self.recent.retain(|other| other != path);
        self.recent.insert(0, path.into());
        self.recent.truncate(MAX_RECENT);
        self.build_rows();
    }
}

#[cfg(test)]
mod tests;

//! The list of all themes: built in, and the user's.

use std::sync::{LazyLock, Mutex, PoisonError};

use super::file::ThemeFile;
use super::scheme::{Colours, Theme};
use crate::plan::Broken;

/// The theme until one is chosen; it keeps the background of the terminal.
pub const DEFAULT: &str = "terminal";

const BUILT_IN: [(&str, &str); 5] = [
    (DEFAULT, include_str!("../../../../assets/themes/terminal.toml")),
    ("night", include_str!("../../../../assets/themes/night.toml")),
    ("paper", include_str!("../../../../assets/themes/paper.toml")),
    ("ember", include_str!("../../../../assets/themes/ember.toml")),
    ("contrast", include_str!("../../../../assets/themes/contrast.toml")),
];

/// The theme for terminals with too few colours for the chosen one.
const SIXTEEN: &str = include_str!("../../../../assets/themes/terminal-16.toml");

/// Every theme that can be chosen, in the order of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Themes {
    files: Vec<ThemeFile>,
    /// Files of the user that hold no theme, in the order of their names.
    pub broken: Vec<Broken>,
}

static THEMES: LazyLock<Themes> = LazyLock::new(|| Themes {
    files: BUILT_IN.iter().filter_map(|(id, text)| ThemeFile::parse(id, text).ok()).collect(),
    broken: Vec::new(),
});

impl Themes {
    pub fn built_in() -> &'static Themes {
        &THEMES
    }

    /// Adds a file of the user's, or what is wrong with it. One that has the name of another
    /// replaces it, except the default, to which all fall back.
    pub fn add(&mut self, id: &str, file: Result<ThemeFile, String>) {
        let file = match file {
            Ok(_) if id == DEFAULT => {
                Err(format!("theme {id}: this name is taken: rename the file"))
            }
            other => other,
        };
        match file {
            Err(why) => self.broken.push(Broken { id: id.into(), why }),
            Ok(file) => match self.files.iter_mut().find(|own| own.id == id) {
                Some(own) => *own = file,
                None => self.files.push(file),
            },
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ThemeFile> {
        self.files.iter()
    }

    pub fn position(&self, id: &str) -> Option<usize> {
        self.files.iter().position(|file| file.id == id)
    }

    /// Returns a theme as this terminal shows it: the default if no theme has that name, or the
    /// sixteen colours where the terminal has too few for it.
    pub fn theme(&self, id: &str, colours: Colours) -> &'static Theme {
        let find = |id: &str| self.files.iter().find(|file| file.id == id);
        // The choice stays what it was: it is kept for the next terminal.
        let file = find(id).or_else(|| find(DEFAULT));
        let id = file.map_or(DEFAULT, |file| &file.id).to_string();
        let sixteen = || ThemeFile::parse(&id, SIXTEEN).ok()?.resolve(Colours::Sixteen);
        let resolved = file.and_then(|file| file.resolve(colours)).or_else(sixteen);
        intern(resolved.unwrap_or_default())
    }
}

/// Returns an equal theme that lives as long as the program: a look is copied everywhere, and there
/// are few themes.
fn intern(theme: Theme) -> &'static Theme {
    static KNOWN: Mutex<Vec<&'static Theme>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = known.iter().find(|own| ***own == theme) {
        return own;
    }
    let own: &'static Theme = Box::leak(Box::new(theme));
    known.push(own);
    own
}

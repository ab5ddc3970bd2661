//! The user's themes: `$XDG_CONFIG_HOME/iotui/themes/*.toml`.

use std::path::Path;

use crate::plan::nearest;
use crate::text::{clean_text, describe_io_error, show_path};
use crate::tui::theme::{ThemeFile, Themes};
use crate::userdata::{Home, TomlFile, read_toml_files};

/// Returns every theme: built in, and the user's.
pub fn load() -> Themes {
    let mut themes = Themes::built_in().clone();
    if let Some(folder) = Home::Config.folder() {
        read(&folder.join("themes"), &mut themes);
    }
    themes
}

/// A theme of a list.
pub struct ListedTheme {
    pub id: String,
    pub about: String,
    /// It is a file of the user's.
    pub is_own: bool,
    /// The error in that file.
    pub broken: Option<String>,
}

/// Lists every theme, then the user's files that hold no theme.
pub fn list() -> Vec<ListedTheme> {
    list_all(&load())
}

fn list_all(themes: &Themes) -> Vec<ListedTheme> {
    let good = themes.iter().map(|file| ListedTheme {
        id: file.id.clone(),
        about: file.about.clone(),
        is_own: !Themes::built_in().iter().any(|built_in| built_in == file),
        broken: None,
    });
    let broken = themes.broken.iter().map(|broken| ListedTheme {
        id: clean_text(&broken.id),
        about: "not a valid theme file".into(),
        is_own: true,
        broken: Some(broken.why.clone()),
    });
    good.chain(broken).collect()
}

/// Accepts the name of a theme.
///
/// # Errors
/// No theme has that name, or its file is broken.
pub fn parse_id(id: &str) -> Result<String, String> {
    let themes = load();
    check_id(&themes, id).map(|()| id.into())
}

fn check_id(themes: &Themes, id: &str) -> Result<(), String> {
    if themes.position(id).is_some() {
        return Ok(());
    }
    match themes.broken.iter().find(|broken| broken.id == id) {
        Some(broken) => Err(broken.why.clone()),
        None => Err(nearest("theme", id, themes.iter().map(|file| file.id.as_str())).to_string()),
    }
}

fn read(folder: &Path, themes: &mut Themes) {
    match read_toml_files(folder) {
        Ok(files) => files.into_iter().for_each(|file| add(themes, &file)),
        Err(error) => {
            let shown = show_path(folder);
            let why = format!("{shown}: {}", describe_io_error(&error));
            themes.add(&shown, Err(why));
        }
    }
}

fn add(themes: &mut Themes, file: &TomlFile) {
    let theme = file.text.as_deref().map_err(String::clone);
    let theme = theme.and_then(|text| ThemeFile::parse(&file.id, text)).map(|mut theme| {
        theme.about = clean_text(&theme.about);
        theme
    });
    themes.add(&file.id, theme.map_err(|why| clean_text(&file.explain(&why))));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn broken_themes_are_reported_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let good = include_str!("../../assets/themes/night.toml");
        write("mine.toml", &good.replace("soft", "my\\u001b[31m"));
        write("night.toml", good);
        write("terminal.toml", good);
        write("typo.toml", &good.replace("#c0caf5", "#c0caf"));
        write("key.toml", &good.replace("dim =", "dimm ="));
        write("few.toml", &good.replace("\"#4fd6d2\", ", ""));
        write("syntax.toml", "about = ");
        write("readme.txt", "");
        let mut themes = Themes::built_in().clone();
        let before = themes.iter().len();
        read(folder.path(), &mut themes);
        assert_eq!(themes.iter().len(), before + 1, "{:?}", themes.broken);
        let mine = themes.iter().find(|file| file.id == "mine").unwrap();
        assert!(!mine.about.contains('\x1b'), "{}", mine.about);
        for wanted in [
            "typo.toml: line 4: \"#c0caf\" is not a color",
            "key.toml: line 5: unknown field `dimm`",
            "few.toml: line 16: series has 5 colors, and 6 are needed",
            "syntax.toml: line 1: ",
            "terminal: this name is taken",
        ] {
            assert!(
                themes.broken.iter().any(|broken| broken.why.contains(wanted)),
                "{wanted}: {themes:?}"
            );
        }
        let ids: Vec<&str> = themes.broken.iter().map(|broken| broken.id.as_str()).collect();
        assert_eq!(ids, ["few", "key", "syntax", "terminal", "typo"]);
        let listed = list_all(&themes);
        let listed = listed.iter().filter(|theme| theme.broken.is_some());
        assert_eq!(listed.map(|theme| theme.id.as_str()).collect::<Vec<_>>(), ids);
        assert!(check_id(&themes, "mine").is_ok());
        assert!(check_id(&themes, "typo").unwrap_err().contains("line 4"));
        assert!(!check_id(&themes, "ypo").unwrap_err().contains("typo.toml"));
    }
}

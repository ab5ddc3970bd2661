//! The user's themes: `$XDG_CONFIG_HOME/iotui/themes/*.toml`.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::plan::nearest;
use crate::sys::fd::open_regular;
use crate::text::clean_text;
use crate::tui::theme::{ThemeFile, Themes};
use crate::userdata::Home;

/// A theme is some lines; more is another file that lost its way.
const MAX_LEN: u64 = 64 << 10;

/// Returns every theme: those of iotui and the user's.
pub fn load() -> Themes {
    let mut themes = Themes::built_in().clone();
    if let Some(folder) = Home::Config.folder() {
        read(&folder.join("themes"), &mut themes);
    }
    themes
}

/// Accepts the name of a theme.
///
/// # Errors
/// There is none of that name, or its file is broken.
pub fn parse_id(id: &str) -> Result<String, String> {
    let themes = load();
    if themes.position(id).is_some() {
        return Ok(id.into());
    }
    let own = format!("/{id}.toml:");
    match themes.broken.iter().find(|why| why.contains(&own)) {
        Some(why) => Err(why.clone()),
        None => Err(nearest("theme", id, themes.iter().map(|file| file.id.as_str())).to_string()),
    }
}

fn read(folder: &Path, themes: &mut Themes) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            let shown = clean_text(&folder.to_string_lossy());
            return themes.add("", Err(format!("{shown}: {error}")));
        }
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let Some(stem) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "toml"))
        else {
            continue;
        };
        let id = clean_text(&stem.to_string_lossy());
        // A hidden file is another program's, or half written.
        if !id.starts_with('.') {
            let told = |why: String| clean_text(&format!("{}: {why}", path.to_string_lossy()));
            themes.add(&id, theme(&id, &path).map_err(told));
        }
    }
}

fn theme(id: &str, path: &Path) -> Result<ThemeFile, String> {
    fn io(error: std::io::Error) -> String {
        error.to_string()
    }
    let mut text = String::new();
    open_regular(path).map_err(io)?.take(MAX_LEN + 1).read_to_string(&mut text).map_err(io)?;
    if text.len() as u64 > MAX_LEN {
        return Err(format!("it is larger than {MAX_LEN} bytes"));
    }
    let mut file = ThemeFile::parse(id, &text)?;
    file.about = clean_text(&file.about);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_files_are_themes_and_the_others_are_told_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let good = include_str!("../../../assets/themes/night.toml");
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
            "typo.toml: line 4: \"#c0caf\" is no color",
            "key.toml: line 5: unknown field `dimm`",
            "few.toml: line 16: series has 5 colors, and 6 are needed",
            "syntax.toml: line 1: ",
            "terminal: this name is taken",
        ] {
            assert!(themes.broken.iter().any(|why| why.contains(wanted)), "{wanted}: {themes:?}");
        }
        assert_eq!(themes.broken.len(), 5);
    }
}

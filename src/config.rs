//! The user's presets.

use std::path::Path;

use crate::plan::{Names, Preset, Presets};
use crate::text::clean_text;
use crate::userdata::{self, TomlFile, read_toml_files};
use crate::{catalog, experiment};

/// Returns every preset: the built-in ones, and the `*.toml` files in
/// `$XDG_CONFIG_HOME/iotui/presets`.
pub fn presets() -> Presets {
    let mut presets = Presets::built_in();
    if let Ok(dir) = userdata::presets_folder() {
        read(&dir, &mut presets);
    }
    presets
}

fn read(dir: &Path, presets: &mut Presets) {
    match read_toml_files(dir) {
        Ok(files) => files.into_iter().for_each(|file| add(presets, &file)),
        Err(error) => presets.add(&clean_text(&dir.to_string_lossy()), Err(error.to_string())),
    }
}

fn add(presets: &mut Presets, file: &TomlFile) {
    let preset = file.text.as_deref().map_err(String::clone);
    let preset = preset.and_then(|text| preset_of(&file.id, text));
    presets.add(&file.id, preset.map_err(|why| file.explain(&why)));
}

/// Parses a preset and cleans its texts, which may reach a terminal.
fn preset_of(id: &str, text: &str) -> Result<Preset, String> {
    let experiments: Vec<&str> =
        experiment::EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    let names = Names { experiments: &experiments, infos: &catalog::infos() };
    let preset = Preset::parse_knowing(id, text, Some(names))
        .map_err(|error| clean_text(&error.reason()))?;
    // A paragraph keeps its lines.
    let doc = preset.doc.lines().map(clean_text).collect::<Vec<_>>().join("\n");
    Ok(Preset {
        about: clean_text(&preset.about),
        question: clean_text(&preset.question),
        doc,
        experiment: clean_text(&preset.experiment),
        ..preset
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::userdata::MAX_TOML_LEN as MAX_LEN;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn invalid_preset_files_have_reasons() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &OsStr, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        let good = "about = \"m\\u001b[31mine\"\ndoc = \"a\\nb\"\nexperiment = \"sweep\"\n[settings]\nthreads = 2\n";
        for name in ["mine.toml", "quick.toml", "two words.toml", ".hidden.toml", "mine.toml~"] {
            write(name.as_ref(), good.as_bytes());
        }
        write("syntax.toml".as_ref(), b"about = ");
        write("setting.toml".as_ref(), good.replace("threads", "treads").as_bytes());
        write("bytes.toml".as_ref(), b"about = \"\xff\"");
        write("long.toml".as_ref(), &[b'#'; MAX_LEN as usize + 1]);
        write(OsStr::from_bytes(b"\xff\x1b[0m.toml"), good.as_bytes());
        nix::unistd::mkfifo(&dir.path().join("pipe.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::create_dir(dir.path().join("dir.toml")).unwrap();
        let mut presets = Presets::built_in();
        let before = presets.iter().count();
        read(dir.path(), &mut presets);
        let mine = presets.get("mine").unwrap();
        assert_eq!(
            (mine.about.as_str(), mine.doc.as_str(), mine.settings.argv().join(" ")),
            ("m[31mine", "a\nb", "-t 2".into())
        );
        assert_eq!(presets.iter().count(), before + 1);
        let why = |id: &str| {
            presets
                .broken()
                .iter()
                .find(|b| b.id == id)
                .unwrap_or_else(|| panic!("{id}"))
                .why
                .clone()
        };
        for (id, wanted) in [
            ("quick", "has this name"),
            ("two words", "letters"),
            ("syntax", "line 1"),
            ("setting", "setting.toml: line 5: treads: unknown setting"),
            ("setting", "did you mean threads"),
            ("bytes", "UTF-8"),
            ("long", "65536"),
            ("pipe", "not a regular file"),
            ("dir", "not a regular file"),
        ] {
            assert!(why(id).contains(wanted), "{id}: {}", why(id));
        }
        assert_eq!(presets.broken().len(), 9);
        assert!(
            presets
                .broken()
                .iter()
                .all(|b| !b.id.contains(char::is_control) && !b.why.contains(char::is_control))
        );
    }

    #[test]
    fn missing_preset_folder_is_fine() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut presets = Presets::built_in();
        read("/no/such/folder".as_ref(), &mut presets);
        assert!(presets.broken().is_empty());
        read(file.path(), &mut presets);
        assert_eq!(presets.broken().len(), 1);
    }
}

//! The current choices as a command line for a shell: `iotui --batch FILE -b pread -s 4k`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::plan::{Preset, Settings};

/// File names that the command line would take for a subcommand.
const COMMANDS: &[&str] = &["sessions", "host", "serve", "help"];

/// Builds the command line for files, read as one or compared, or else for scratch files in
/// folders, and for settings over a preset.
pub fn build_command(
    files: &[PathBuf],
    as_one: bool,
    folders: &[PathBuf],
    preset: &Preset,
    settings: &Settings,
) -> String {
    let mut words = vec!["iotui".to_string(), "--batch".into()];
    words.extend(as_one.then(|| "--as-one".into()));
    words.extend(files.iter().map(|file| quote(as_file(file).as_os_str())));
    for folder in folders {
        words.extend(["--dir".into(), quote(folder.as_os_str())]);
    }
    if preset.id != "quick" {
        words.extend(["-p".into(), quote(preset.id.as_ref())]);
    }
    words.extend(settings.argv().iter().map(|word| quote(word.as_ref())));
    words.join(" ")
}

/// Prefixes a file name that would be taken for an option or subcommand.
fn as_file(file: &Path) -> PathBuf {
    let bytes = file.as_os_str().as_bytes();
    let is_reserved =
        bytes.first() == Some(&b'-') || COMMANDS.iter().any(|name| name.as_bytes() == bytes);
    if is_reserved { Path::new(".").join(file) } else { file.into() }
}

/// Quotes a word for a shell.
pub fn quote(word: &OsStr) -> String {
    let bytes = word.as_bytes();
    fn plain(b: &u8) -> bool {
        b.is_ascii_alphanumeric() || b"-_./:=+,%@".contains(b)
    }
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return word.to_string_lossy().into_owned();
    }
    match word.to_str().filter(|text| !text.chars().any(char::is_control)) {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        // Not UTF-8, or with control characters that a shell's input would lose.
        None => {
            let escaped = bytes.iter().map(|b| match b {
                b'\'' | b'\\' => format!("\\{}", char::from(*b)),
                b' '..=b'~' => char::from(*b).to_string(),
                _ => format!("\\x{b:02x}"),
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::plan::{ValueKind, preset};

    /// Splits a line as a shell does: plain words, '...' with \' between, and $'...'.
    fn split_words(line: &str) -> Vec<OsString> {
        let (mut words, mut word, mut some) = (Vec::new(), Vec::new(), false);
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let escaped = bytes[at..].starts_with(b"$'");
            match bytes[at] {
                b' ' => {
                    if std::mem::take(&mut some) {
                        words.push(OsString::from_vec(std::mem::take(&mut word)));
                    }
                    at += 1;
                    continue;
                }
                b'\\' => {
                    word.push(bytes[at + 1]);
                    at += 2;
                }
                b'\'' | b'$' if escaped || bytes[at] == b'\'' => {
                    at += 1 + usize::from(escaped);
                    while bytes[at] != b'\'' {
                        match (escaped, bytes[at], bytes[at + 1]) {
                            (true, b'\\', b'x') => {
                                word.push(u8::from_str_radix(&line[at + 2..at + 4], 16).unwrap());
                                at += 4;
                            }
                            (true, b'\\', next) => {
                                word.push(next);
                                at += 2;
                            }
                            (_, byte, _) => {
                                word.push(byte);
                                at += 1;
                            }
                        }
                    }
                    at += 1;
                }
                byte => {
                    word.push(byte);
                    at += 1;
                }
            }
            some = true;
        }
        if some {
            words.push(OsString::from_vec(word));
        }
        words
    }

    /// Parses the file, folder, preset and settings of a line.
    fn parse_line(line: &str) -> (Option<OsString>, Option<OsString>, String, Settings) {
        let mut words = split_words(line).into_iter().skip(2);
        let (mut file, mut dir, mut named, mut settings) =
            (None, None, "quick".to_string(), Settings::default());
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let (name, value) = text
                .split_once('=')
                .map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
            let by_name = |s: &&crate::plan::Setting| {
                name == format!("--{}", s.name) || s.short.is_some_and(|c| name == format!("-{c}"))
            };
            match Settings::ALL.iter().find(by_name) {
                Some(setting) => {
                    let value = if setting.kind == ValueKind::Switch {
                        value.unwrap_or("yes").into()
                    } else {
                        words.next().unwrap().into_string().unwrap()
                    };
                    settings.set(setting.name, &value).unwrap();
                }
                None if text == "-p" => named = words.next().unwrap().into_string().unwrap(),
                None if text == "--dir" => dir = words.next(),
                None => file = Some(word),
            }
        }
        (file, dir, named, settings)
    }

    fn settings_of(pairs: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in pairs {
            settings.set(name, text).unwrap();
        }
        settings
    }

    #[test]
    fn lines_read_back_to_their_choices() {
        let all = settings_of(&[
            ("backend", "read,stdio+buf=64k"),
            ("block-size", "1k..8m*4"),
            ("pattern", "stride:3"),
            ("cache", "cold,warm"),
        ]);
        for (name, preset_id, settings) in [
            (&b"big.iso"[..], "quick", Settings::default()),
            (b"a b'c\"$x`y", "raw", all.clone()),
            (
                b"-dash",
                "quick",
                settings_of(&[("direct", "true"), ("trials", "3"), ("budget", "90s")]),
            ),
            (
                b"new\nline\\",
                "quick",
                settings_of(&[("xor", "true"), ("seed", "7"), ("trial-time", "1s..2s")]),
            ),
            (
                b"\xff\xfe'",
                "raw",
                settings_of(&[
                    ("threads", "1,2,4"),
                    ("depth", "1..32"),
                    ("size", "1m"),
                    ("count", "0"),
                ]),
            ),
            (b"host", "quick", all.clone()),
            (b"*?~", "quick", settings_of(&[("op", "write"), ("sync", "end")])),
        ] {
            let preset = preset(preset_id).unwrap();
            let name = OsString::from_vec(name.to_vec());
            let text = build_command(&[PathBuf::from(&name)], false, &[], &preset, &settings);
            let (file, dir, named, back) = parse_line(&text);
            let file = file.unwrap();
            assert_eq!(Path::new(&file).file_name(), Some(name.as_os_str()), "{text}");
            assert!(
                !file.as_bytes().starts_with(b"-") && file != *"host" && !text.contains('\n'),
                "{text}"
            );
            assert_eq!((dir, named.as_str(), &back), (None, preset_id, &settings), "{text}");
        }
        let text = build_command(&[], false, &["/tmp/a b".into()], &preset("quick").unwrap(), &all);
        assert_eq!(parse_line(&text).1, Some("/tmp/a b".into()));
        assert!(
            text.starts_with("iotui --batch --dir '/tmp/a b' -b read,stdio+buf=64k -s '1k..8m*4'"),
            "{text}"
        );
        let both = ["/mnt/a".into(), "/mnt/b".into()];
        let text =
            build_command(&[], false, &both, &preset("quick").unwrap(), &Settings::default());
        assert_eq!(text, "iotui --batch --dir /mnt/a --dir /mnt/b");
    }

    #[test]
    fn switches_of_presets_turn_off() {
        let mut raw = preset("raw").unwrap();
        raw.settings.set("direct", "true").unwrap();
        let settings = settings_of(&[("direct", "false"), ("block-size", "4k")]);
        let text = build_command(&[], false, &[], &raw, &settings);
        let (_, _, named, back) = parse_line(&text);
        assert_eq!((named.as_str(), &back), ("raw", &settings), "{text}");
        assert!(text.contains("--direct=no"), "{text}");
    }
}

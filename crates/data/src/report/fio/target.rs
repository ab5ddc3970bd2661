//! The target of a job file: its name for fio, and whether it may be written.

use std::path::{Path, PathBuf};

use super::line::comment;
use crate::plan::{Op, TargetSpec};
use crate::units;

/// The target as fio uses it.
pub struct FioTarget {
    /// The unescaped path, as `dd` takes it.
    pub path: PathBuf,
    /// Whether fio may create and write it.
    pub writable: bool,
    /// Bytes that it has at most, if it is one of several.
    pub most: Option<u64>,
    comments: Vec<String>,
}

/// Replaces a name that cannot be written into a job file.
const FALLBACK_NAME: &str = "iotui-target";

impl FioTarget {
    pub fn from_spec(spec: &TargetSpec) -> FioTarget {
        match spec {
            TargetSpec::File { path, .. } => {
                FioTarget { path: path.clone(), writable: false, most: None, comments: Vec::new() }
            }
            TargetSpec::Files { dir, files, .. } => {
                let first = files.first().map_or(FALLBACK_NAME.as_ref(), |file| &*file.path);
                let comment =
                    format!("iotui read {} files as one; these jobs read the first.", files.len());
                FioTarget {
                    path: dir.join(first),
                    writable: false,
                    most: files.first().map(|file| file.size),
                    comments: vec![comment],
                }
            }
            TargetSpec::None => FioTarget {
                path: FALLBACK_NAME.into(),
                writable: false,
                most: None,
                comments: vec!["No file was measured.".into()],
            },
            TargetSpec::Scratch { dir, size, .. } => {
                let comment = format!(
                    "iotui created a scratch file of {} and removed it: remove this one too.",
                    units::show_bytes(*size)
                );
                FioTarget {
                    path: dir.join("iotui-fio.tmp"),
                    writable: true,
                    most: None,
                    comments: vec![comment],
                }
            }
            // A file that iotui wrote now belongs to the user.
            TargetSpec::New { path, .. } => {
                let mut name = path.as_os_str().to_owned();
                name.push(".fio");
                FioTarget {
                    path: name.into(),
                    writable: true,
                    most: None,
                    comments: vec!["A new file next to the one that iotui wrote.".into()],
                }
            }
        }
    }

    /// Returns whether a job with this operation may run on it.
    pub fn allows(&self, op: Op) -> bool {
        self.writable || op != Op::Write
    }

    pub fn to_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.comments.iter().map(|text| comment(text)).collect();
        let name = fio_filename(&self.path).unwrap_or_else(|| {
            let name = self.path.display();
            lines.push(comment(&format!(
                "A job file cannot contain this name: {name}. Create a link to it with the name below."
            )));
            FALLBACK_NAME.into()
        });
        lines.push(format!("filename={name}"));
        if !self.writable {
            lines.push("allow_file_create=0".into());
        }
        lines
    }
}

/// Escapes a path for fio's parser: `:` separates names, `;` and `#` begin comments, `$` a
/// variable, quotes vanish.
fn fio_filename(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    fn plain(c: char) -> bool {
        c.is_alphanumeric()
            || matches!(
                c,
                '.' | '_' | '/' | '+' | '=' | '@' | ',' | '~' | '-' | ' ' | ':' | '(' | ')'
            )
    }
    let is_plain =
        !text.is_empty() && text.chars().all(plain) && text.trim() == text && text.len() < 4096;
    is_plain.then(|| text.replace(':', "\\:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_for_fio() {
        assert_eq!(
            fio_filename("/data/my file:1 (ü)".as_ref()).as_deref(),
            Some("/data/my file\\:1 (ü)")
        );
        for text in ["", " a", "a;b", "a#b", "${HOME}/a", "a\nb", "a\"b", "a\\b", "a\u{1b}b"] {
            assert_eq!(fio_filename(text.as_ref()), None, "{text:?}");
        }
    }

    #[test]
    fn user_files_are_never_written() {
        let size = 4096;
        let file = FioTarget::from_spec(&TargetSpec::File { path: "/data/a".into(), size });
        assert!(!file.allows(Op::Write) && file.allows(Op::Read));
        assert!(file.to_lines().iter().any(|line| line == "allow_file_create=0"));
        let new = FioTarget::from_spec(&TargetSpec::New { path: "/data/a".into(), size });
        assert!(new.allows(Op::Write) && new.path == Path::new("/data/a.fio"));
    }
}

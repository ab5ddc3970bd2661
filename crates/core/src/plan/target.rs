//! The target of a plan: a file that iotui makes, or the user's.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::text::show_path;
use crate::units::counted;

/// The target of the measurement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum TargetSpec {
    /// A file that iotui creates in `dir`, fills with random data, and removes.
    Scratch {
        #[serde(with = "path")]
        dir: PathBuf,
        size: u64,
        keep: bool,
    },
    /// The user's own file or block device, opened read-only.
    File {
        #[serde(with = "path")]
        path: PathBuf,
        size: u64,
    },
    /// Several files of the user, read one after the other as if they were one.
    Files {
        /// A folder that all are in.
        #[serde(with = "path")]
        dir: PathBuf,
        files: Vec<ListedFile>,
        /// Bytes of all together.
        size: u64,
    },
    /// A file that did not exist: iotui creates it, writes to it, and keeps it.
    New {
        #[serde(with = "path")]
        path: PathBuf,
        size: u64,
    },
    /// No file, for probes that need none. `null` in JSON.
    #[default]
    #[serde(skip)]
    None,
}

/// One of several files that are read as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// Its path from the folder that all are in.
    #[serde(with = "path")]
    pub path: PathBuf,
    /// Bytes, at least 1.
    pub size: u64,
}

impl TargetSpec {
    /// The most files that are read as one.
    pub const MAX_FILES: usize = 1 << 16;

    pub fn size(&self) -> u64 {
        match self {
            TargetSpec::Scratch { size, .. }
            | TargetSpec::Files { size, .. }
            | TargetSpec::File { size, .. }
            | TargetSpec::New { size, .. } => *size,
            TargetSpec::None => 0,
        }
    }

    /// Returns this target with another size; several files keep theirs.
    pub fn with_size(&self, size: u64) -> TargetSpec {
        match self.clone() {
            TargetSpec::Scratch { dir, keep, .. } => TargetSpec::Scratch { dir, size, keep },
            TargetSpec::File { path, .. } => TargetSpec::File { path, size },
            TargetSpec::New { path, .. } => TargetSpec::New { path, size },
            several @ (TargetSpec::Files { .. } | TargetSpec::None) => several,
        }
    }

    /// Returns the files that are read as one; none of another target.
    pub fn listed(&self) -> &[ListedFile] {
        match self {
            TargetSpec::Files { files, .. } => files,
            _ => &[],
        }
    }

    /// Describes several files by their number and folder: `64 files in /models/llama`.
    pub fn describe_list(&self) -> String {
        let files = counted(self.listed().len(), "file");
        let folder = self.path().map_or(String::new(), show_path);
        format!("{files} in {folder}")
    }

    /// Returns its path; the folder of a scratch file, and of several files.
    pub fn path(&self) -> Option<&Path> {
        match self {
            TargetSpec::Scratch { dir: path, .. }
            | TargetSpec::Files { dir: path, .. }
            | TargetSpec::File { path, .. }
            | TargetSpec::New { path, .. } => Some(path),
            TargetSpec::None => None,
        }
    }

    /// Returns the folder that the file is in.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            TargetSpec::Scratch { dir, .. } | TargetSpec::Files { dir, .. } => Some(dir),
            TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                Some(parent.unwrap_or(Path::new(".")))
            }
            TargetSpec::None => None,
        }
    }

    /// Returns whether iotui makes the file, and so may write it.
    pub fn is_ours(&self) -> bool {
        matches!(self, TargetSpec::Scratch { .. } | TargetSpec::New { .. })
    }
}

/// A path in JSON: a string, or its bytes if it is not UTF-8, so that every target can be saved and
/// run again.
mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => out.serialize_str(text),
            None => path.as_os_str().as_bytes().serialize(out),
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match Either::deserialize(from)? {
            Either::Text(text) => text.into(),
            Either::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn every_path_comes_back() {
        for (bytes, shown) in
            [(&b"/tmp/a b"[..], "\"/tmp/a b\""), (b"/tmp/\xff", "[47,116,109,112,47,255]")]
        {
            let target =
                TargetSpec::File { path: OsString::from_vec(bytes.to_vec()).into(), size: 1 };
            let json = serde_json::to_string(&target).unwrap();
            assert!(json.contains(shown), "{json}");
            assert_eq!(serde_json::from_str::<TargetSpec>(&json).unwrap(), target);
        }
    }
}

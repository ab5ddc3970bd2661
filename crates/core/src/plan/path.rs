//! A path in JSON: a string, or its bytes if it is not UTF-8, so that every target can be saved and
//! run again.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TargetSpec;

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

//! Reasons why a choice conflicts with the others, for greying items and for refusing keys. Pure.

use std::path::PathBuf;

use crate::experiment::Choices;
use crate::facts::DirectSupport;
use crate::plan::{Info, Job, ListedFile, Settings, TargetSpec};
use crate::spoken::speak;
use crate::units::short_bytes;

/// The choices and facts that a choice is checked against.
#[derive(Debug, Clone)]
pub struct Constraints<'a> {
    /// The effective settings, with all gaps filled as the plan will fill them.
    pub settings: Settings,
    /// Whether backends were chosen; otherwise they follow the operation.
    pub explicit_backends: bool,
    pub infos: &'a [&'static Info],
    /// Backends that are unavailable on this machine, and why.
    pub unavailable: &'a [(&'static str, String)],
    /// Whether the target is an existing file, which iotui never writes.
    pub exists: bool,
    /// The files are read as one.
    pub as_one: bool,
    /// Size of the target in bytes, if known.
    pub size: Option<u64>,
    pub direct: Option<DirectSupport>,
}

/// The size of a target that is not known yet.
const ANY_SIZE: u64 = 1 << 60;

impl Constraints<'_> {
    /// Returns the largest number of bytes of the target that are accessed.
    pub fn span(&self) -> Option<u64> {
        match (self.size, self.settings.largest_size()) {
            (Some(size), Some(requested)) if self.exists => Some(size.min(requested)),
            (size, requested) => requested.or(size),
        }
    }

    fn target(&self) -> TargetSpec {
        let (path, size) = (PathBuf::new(), self.size.unwrap_or(ANY_SIZE));
        match self.exists {
            _ if self.as_one => {
                let files = vec![ListedFile { path: path.clone(), size }];
                TargetSpec::Files { dir: path, files, size }
            }
            true => TargetSpec::File { path, size },
            false => TargetSpec::Scratch { dir: path, size, keep: false },
        }
    }

    /// Returns why a value of a setting conflicts with the other choices. A list conflicts only if
    /// all its values do.
    pub fn object_to(&self, name: &str, text: &str) -> Option<String> {
        let choices = Choices {
            settings: &self.settings,
            explicit_backends: self.explicit_backends,
            infos: self.infos,
            target: self.target(),
            check: &|job| self.check(job),
        };
        choices.object_to(name, text).map(|why| speak(&why))
    }

    /// Returns why the current value of a setting conflicts with the other choices.
    pub fn object_to_current(&self, name: &str) -> Option<String> {
        self.object_to(name, &self.settings.text(name)?)
    }

    /// Returns why a block size conflicts with the other choices.
    pub fn object_to_block(&self, bytes: u64) -> Option<String> {
        self.object_to("block-size", &short_bytes(bytes))
    }

    /// Checks whether the machine and the target support a job, as far as that is known.
    fn check(&self, job: &Job) -> Result<(), String> {
        if let Some((_, why)) = self.unavailable.iter().find(|(id, _)| *id == job.backend.id) {
            return Err(format!("unavailable: {why}"));
        }
        match self.direct.filter(|_| job.direct) {
            Some(DirectSupport::Refused) => {
                Err("the target's file system does not support direct I/O".into())
            }
            Some(DirectSupport::Known(align)) => {
                let align = u64::from(align.offset.max(align.mem)).max(1);
                if job.block.is_multiple_of(align) {
                    return Ok(());
                }
                Err(format!(
                    "direct I/O needs a block size that is a multiple of {align} bytes here"
                ))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::infos;
    use crate::experiment::usual;
    use crate::facts::DirectAlign;

    /// Parses `name=text` pairs.
    fn settings(given: &str) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in given.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            settings.set(name, text).unwrap();
        }
        settings
    }

    fn objection_to(given: &str, exists: bool, what: &str) -> Option<String> {
        let infos = infos();
        let given = settings(given);
        let settings = usual(&given, &infos);
        let missing = "not installed: apt-get install fio";
        let unavailable = [
            ("uring", "EPERM, kernel.io_uring_disabled=2".to_string()),
            ("fio", missing.to_string()),
        ];
        let align = DirectAlign { mem: 4, offset: 512, read_offset: None };
        let constraints = Constraints {
            settings,
            explicit_backends: given.backend.is_some(),
            infos: &infos,
            unavailable: if exists { &[] } else { &unavailable },
            exists,
            as_one: false,
            size: Some(1 << 20),
            direct: Some(DirectSupport::Known(align)),
        };
        match what.split_once('=') {
            Some(("block", text)) => constraints.object_to_block(text.parse().unwrap()),
            Some((name, text)) => constraints.object_to(name, text),
            None => constraints.object_to_current(what),
        }
    }

    #[test]
    fn conflicting_choices_have_a_reason() {
        for (given, exists, what, expected) in [
            ("", true, "op=write", "only to files it creates"),
            ("backend=sendfile", false, "op=write", "sendfile cannot write"),
            ("backend=read", false, "op=seek", "read cannot seek"),
            ("backend=read,pread", false, "depth=32", "read is synchronous"),
            ("backend=read depth=8,32", true, "depth", "is synchronous"),
            ("backend=uring", true, "depth=8192", "4096"),
            ("direct=true", true, "cache=warm", "bypasses the page cache"),
            ("cache=warm", true, "direct=true", "bypasses the page cache"),
            ("backend=mmap", true, "direct=true", "mmap does not support direct I/O"),
            ("", true, "sync=end", "only to writes"),
            ("sync=each", true, "sync", "only to writes"),
            ("", true, "verify=true", "a scratch file"),
            ("", false, "verify=true", "Operation write"),
            ("op=write dedupe=5", false, "verify=true", "drop Dedupe"),
            ("", false, "fresh=true", "has just written these"),
            ("", true, "fresh=true", "add Page cache cold"),
            ("op=seek", true, "xor=true", "no effect on seek"),
            ("backend=seek", true, "cache=cold", "no effect on seek"),
            ("", true, "size=2m", "exceeds the file's 1 MiB"),
            ("block-size=4k", true, "count=257", "exceed the measured span of 1 MiB"),
            ("", true, "block=2097152", "larger than the measured span of 1 MiB"),
            ("size=4k", true, "block=8192", "larger than the measured span of 4 KiB"),
            ("direct=true", true, "block=100", "a multiple of 512 bytes"),
            ("direct=true", true, "backend=mmap", "leave out Direct I/O"),
            ("depth=32", true, "backend=read", "synchronous"),
            ("op=write", false, "backend=sendfile", "sendfile cannot write"),
            ("", false, "backend=uring", "unavailable: EPERM"),
            ("", false, "backend=fio", "unavailable: not installed: apt-get install fio"),
            ("op=write", false, "backend=dd", "dd cannot write"),
            ("backend=dd,fio", true, "xor=true", "there is no XOR"),
        ] {
            let reason = objection_to(given, exists, what)
                .unwrap_or_else(|| panic!("{given} {what}: no objection"));
            assert!(reason.contains(expected), "{given} {what}: {reason}");
        }
    }

    #[test]
    fn compatible_choices_have_no_reason() {
        for (given, exists, what) in [
            ("", false, "op=write"),
            ("", true, "op=seek"),
            ("", true, "depth=32"),
            ("backend=read,uring", true, "depth"),
            ("backend=read depth=1,8", true, "depth"),
            ("direct=true", true, "cache=cold"),
            ("cache=cold,warm direct=true", true, "cache"),
            ("cache=cold,warm", true, "direct=true"),
            ("op=write", false, "sync=end"),
            ("op=write", false, "verify=true"),
            ("", true, "verify=false"),
            ("cache=cold", true, "fresh=true"),
            ("direct=true", true, "fresh=true"),
            ("", true, "sync=none"),
            ("", true, "xor=true"),
            ("", true, "size=1m"),
            ("size=64m", false, "block=8388608"),
            ("block-size=4k", true, "count=256"),
            ("direct=true", true, "block=4096"),
            ("", true, "backend=seek"),
            ("", true, "backend=uring"),
            ("", true, "backend=fio"),
            ("backend=dd,pread", true, "xor=true"),
        ] {
            assert_eq!(objection_to(given, exists, what), None, "{given} {what}");
        }
    }
}

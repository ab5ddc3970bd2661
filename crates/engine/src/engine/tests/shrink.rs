//! Files that shrink while they are read or mapped, and devices that fail: the cell fails, but the
//! process survives.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use super::*;

fn readers() -> Vec<Choice> {
    let reads =
        |c: &Choice| (info(c).moves_bytes() || c.has("touch")) && info(c).ops.contains(&Op::Read);
    choices().into_iter().filter(reads).collect()
}

fn says_so(error: &str) -> bool {
    error.contains("it shrank during the measurement")
        || error.contains("the file was truncated or the device failed")
}

#[test]
fn early_cut_fails_only_its_cell() {
    for (size, pattern) in [
        (0, Pattern::Seq),
        (4096 * 3 + 100, Pattern::Seq),
        (4096 * 3 + 100, Pattern::Random),
        (4096, Pattern::Reverse),
    ] {
        for choice in readers() {
            for depth in depths(&choice) {
                let (file, _, target) = testing::file(1 << 18, 4);
                let job = Job { span: 1 << 18, ..job(&choice, Op::Read, pattern, 4096, 2, depth) };
                if !supported(&target, &job) {
                    continue;
                }
                let label = format!("{} depth {depth} {pattern} cut to {size}", job.backend);
                let error = run_with(
                    &spec(job, &target, 1),
                    &mut || file.as_file().set_len(size).unwrap(),
                    &|| false,
                )
                .err();
                let error = error.unwrap_or_else(|| panic!("{label}: no error"));
                assert!(says_so(&error), "{label}: {error}");
            }
        }
    }
}

/// The waiting thread truncates the file at its first check, some milliseconds into an endless run.
#[test]
fn cut_in_a_run_ends_it() {
    for choice in readers() {
        let (file, _, target) = testing::file(1 << 20, 4);
        let depth = info(&choice).max_depth().min(8);
        let job = Job { span: 1 << 20, ..job(&choice, Op::Read, Pattern::Random, 4096, 2, depth) };
        if supported(&target, &job) {
            let cut = || {
                file.as_file().set_len(5000).unwrap();
                false
            };
            let error = run_with(&spec(job, &target, u64::MAX), &mut || {}, &cut).err().unwrap();
            assert!(says_so(&error), "{choice}: {error}");
        }
    }
}

/// A loop device that returns real I/O errors, because its backing file was truncated.
struct LoopDevice(String);

impl LoopDevice {
    /// Creates it; returns `None` and prints the reason where that is impossible.
    fn over(path: &Path) -> Option<LoopDevice> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(path).output();
        match made {
            Ok(out) if out.status.success() => {
                Some(LoopDevice(String::from_utf8_lossy(&out.stdout).trim().into()))
            }
            Ok(out) => skip(&String::from_utf8_lossy(&out.stderr)),
            Err(_) => skip("losetup is not installed"),
        }
    }
}

fn skip<T>(why: &str) -> Option<T> {
    crate::sys::testing::skip(why);
    None
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn failing_device_names_the_place() {
    let backing = tempfile::NamedTempFile::new().unwrap();
    backing.as_file().write_all_at(&vec![7u8; 1 << 20], 0).unwrap();
    let Some(device) = LoopDevice::over(backing.path()) else { return };
    let Ok(open) = File::open(&device.0) else {
        return crate::sys::testing::skip("the loop device cannot be opened");
    };
    backing.as_file().set_len(64 << 10).unwrap();
    let target =
        Target { direct_align: Some(4096), ..Target::plain(device.0.clone().into(), 1 << 20) };
    for choice in readers() {
        for (depth, direct) in depths(&choice).into_iter().flat_map(|d| [(d, false), (d, true)]) {
            let job = Job {
                span: 1 << 20,
                direct,
                ..job(&choice, Op::Read, Pattern::Seq, 4096, 2, depth)
            };
            if (direct && !info(&choice).direct) || !supported(&target, &job) {
                continue;
            }
            crate::sys::cold::make_cold(&open, 1 << 20).unwrap();
            let error = run(&spec(job, &target, 1))
                .err()
                .unwrap_or_else(|| panic!("{choice} direct {direct}: no error"));
            let mapped = error.contains("the file was truncated or the device failed");
            assert!(
                mapped || error.contains("Input/output error"),
                "{choice} direct {direct}: {error}"
            );
        }
    }
}

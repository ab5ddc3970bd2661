//! Whether commits are durable: what keeps them from the disk is named, and a disk that gets them
//! is never accused.

use crate::common::{stderr_of, stdout_of};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::fuse::FaultyDisk;
use crate::common::kernel::{Loop, mount_at, unmount, with_tmpfs};
use crate::common::{Home, names, skip, warning, warnings, without};
use serde_json::Value;

/// The smallest disk on which btrfs fits; it is sparse.
const DISK: u64 = 128 << 20;

/// Commits in a folder, and returns the verdict.
fn commit(home: &Home, dir: &Path, line: &str) -> Value {
    let line = format!(
        "--batch --no-save --op write -s 4k --trials 2 --trial-time 10ms --dir {} {line}",
        dir.display()
    );
    let document = home.json(&line);
    let result = &document["results"][0];
    assert!(result["error"].is_null(), "{result}");
    result.clone()
}

const PLAIN: &str = "-b pread --size 1m --sync fdatasync";

/// Asserts that commits did not reach the disk for this reason, and that a warning gives it.
fn assert_kept_back(result: &Value, reason: &str) {
    let found = &result["durability"];
    assert_eq!(found["reach"], "not-reached", "{found}");
    assert!(found["reason"].as_str().unwrap().contains(reason), "{reason}: {found}");
    let said = warnings(result).contains(&"memory");
    let warning = warning(result, if said { "memory" } else { "not-durable" });
    assert_eq!(warning["severity"], "wrong", "{result}");
}

/// Asserts that commits in a folder pass neither what is expected of them nor `--strict`, but
/// where they are `sound`.
fn assert_passes(home: &Home, dir: &Path, sound: bool) {
    let line = format!(
        "--batch --no-save --op write -s 4k {PLAIN} --trials 5 -n 20 --dir {}",
        dir.display()
    );
    let ended = |line: &str| home.cmd(line).output().unwrap().status.code();
    // No commit takes an hour: the bound itself is kept.
    let codes =
        ["--expect p50<1h,commits>=1", "--strict"].map(|more| ended(&format!("{line} {more}")));
    let wanted = if sound { [0, 0] } else { [1, 4] };
    assert_eq!(codes, wanted.map(Some), "{}", dir.display());
}

/// Asserts that each commit flushed a disk, without a warning.
fn assert_flushed(result: &Value, writers: f64) {
    let found = &result["durability"];
    assert_ne!(found["reach"], "not-reached", "{found}");
    assert!(!warnings(result).contains(&"not-durable"), "{result}");
    // Neither a disk without a cache nor an old kernel counts flushes.
    let flushes = found["flushes"].as_f64().filter(|_| found["reach"] == "flushed");
    assert!(flushes.is_none_or(|of| of * writers >= 0.95), "{found}");
}

/// A loop device over a file in `folder`, mounted next to it.
struct Disk {
    file: PathBuf,
    at: PathBuf,
    device: Loop,
}

impl Disk {
    /// Makes and mounts a file system; prints why if that is impossible.
    fn mount(folder: &Path, fs: &str, options: &str) -> Option<Disk> {
        let disk = Disk::format(folder, fs)?;
        disk.mount_with(fs, options).then_some(disk)
    }

    fn format(folder: &Path, fs: &str) -> Option<Disk> {
        let (file, at) = (folder.join(format!("{fs}.img")), folder.join(format!("{fs}.mounted")));
        File::create(&file).unwrap().set_len(DISK).unwrap();
        fs::create_dir_all(&at).unwrap();
        let device = Loop::over(&file)?;
        let program = format!("mkfs.{fs}");
        let force = if fs == "ext4" { "-F" } else { "-f" };
        match Command::new(&program).args(["-q", force]).arg(&device.device).output() {
            Ok(made) if made.status.success() => Some(Disk { file, at, device }),
            Ok(made) => {
                skip(&format!("{program}: {}", stderr_of(&made)));
                None
            }
            Err(_) => {
                without(&program);
                None
            }
        }
    }

    fn mount_with(&self, fs: &str, options: &str) -> bool {
        let mounted = mount_at(&self.device.device, &self.at, fs, options);
        if let Err(error) = &mounted {
            skip(&format!("{fs} cannot be mounted: {error}"));
        }
        mounted.is_ok()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        unmount(&self.at);
        let _ = fs::remove_file(&self.file);
    }
}

#[test]
fn volatile_layer_of_commits_is_named() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let memory = home.path("memory");
    with_tmpfs(&memory, "200m", || {
        let result = commit(&home, &memory, PLAIN);
        assert_eq!(result["durability"]["reach"], "not-reached", "{result}");
        assert_eq!(result["durability"]["reason"], "tmpfs is memory");
        assert_passes(&home, &memory, false);
        if let Some(disk) = Disk::mount(&memory, "ext4", "") {
            assert_kept_back(&commit(&home, &disk.at, PLAIN), "is a file in memory (tmpfs)");
            assert_passes(&home, &disk.at, false);
        }
        let folder = home.path("");
        if let Some(disk) = Disk::mount(&folder, "ext4", "nobarrier") {
            assert_kept_back(&commit(&home, &disk.at, PLAIN), "ext4 is mounted with ");
            let append = format!("{PLAIN} --writes append");
            assert_kept_back(&commit(&home, &disk.at, &append), "barrier");
            assert_passes(&home, &disk.at, false);
        }
        if let Some(disk) = Disk::format(&folder, "ext4") {
            let name = disk.device.device.file_name().unwrap().to_str().unwrap();
            let cache_mode = Path::new("/sys/block").join(name).join("queue/write_cache");
            // The device keeps it for its next file.
            if fs::write(&cache_mode, "write through").is_err() {
                skip("queue/write_cache cannot be changed");
            } else if disk.mount_with("ext4", "") {
                let result = commit(&home, &disk.at, PLAIN);
                fs::write(&cache_mode, "write back").unwrap();
                assert_kept_back(&result, "");
            }
        }
        let [lower, upper, work, at] = ["lower", "upper", "over", "overlay"].map(|name| {
            let dir = home.path(name);
            fs::create_dir(&dir).unwrap();
            dir
        });
        let options = format!(
            "volatile,lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        match mount_at(Path::new("none"), &at, "overlay", &options) {
            Ok(()) => {
                assert_kept_back(&commit(&home, &at, PLAIN), "which leaves out each sync");
                assert_passes(&home, &at, false);
            }
            Err(error) => skip(&format!("overlay cannot be mounted: {error}")),
        }
    });
}

#[test]
fn durable_disk_gets_no_warning() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let folder = home.path("");
    for (line, writers) in [
        (PLAIN, 1.0),
        ("-b pread --size 1m --sync fsync --writes append", 1.0),
        ("-b pread --size 1m --sync fdatasync --writes preallocated", 1.0),
        ("-b pread --size 1m --sync dsync", 1.0),
        ("-b pread --size 1m --sync fdatasync -t 8", 8.0),
        ("-b mmap --size 1m --sync msync", 1.0),
        // Blocks that are written again before they are synced reach the disk once.
        ("-b pread --size 64k --sync fdatasync --sync-every 64", 1.0),
        ("-b pread --size 1m --sync fdatasync --sync-every 200 --pattern random", 1.0),
        ("-b pread --size 16k --sync fdatasync --sync-every 4 -t 4", 4.0),
    ] {
        assert_flushed(&commit(&home, &folder, line), writers);
    }
    assert_passes(&home, &folder, true);
}

#[test]
fn file_systems_flush_at_each_commit() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    with_tmpfs(&home.path("memory"), "1m", || {
        for (fs, options) in [("ext4", ""), ("btrfs", ""), ("btrfs", "compress-force=lzo")] {
            let Some(disk) = Disk::mount(&home.path(""), fs, options) else { continue };
            for line in [PLAIN, "-b pread --size 1m --sync fdatasync --writes append"] {
                let result = commit(&home, &disk.at, line);
                assert_flushed(&result, 1.0);
                // Before Linux 6.17 btrfs syncs nothing of a file without a name. A disk without a
                // cache is not flushed.
                let found = &result["durability"];
                let counted = found["reason"].as_str().unwrap().contains(" flushed ");
                assert!(!counted || found["flushes"].as_f64().unwrap() >= 0.95, "{fs}: {found}");
            }
            let left = names(&disk.at).into_iter().filter(|name| name != "lost+found");
            assert_eq!(left.count(), 0, "{fs}");
        }
    });
}

#[test]
fn fuse_durability_is_unknown() {
    let home = Home::new();
    let Some(disk) = FaultyDisk::mount() else { return };
    let result = commit(&home, disk.path(), PLAIN);
    let found = &result["durability"];
    assert_eq!(found["reach"], "unknown", "{found}");
    assert!(found["reason"].as_str().unwrap().contains("a program confirms each commit"));
    assert!(disk.syncs() >= result["commits"]["count"].as_u64().unwrap());
    let line = format!(
        "--batch --no-save --op write -s 4k {PLAIN} --trials 5 --trial-time 5ms --dir {} \
         --expect p50<1h",
        disk.path().display()
    );
    let output = home.cmd(&line).output().unwrap();
    let text = stdout_of(&output).replace('\n', " ");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("whether commits are durable is unknown"), "{text}");
}

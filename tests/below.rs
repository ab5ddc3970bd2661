//! Where the bytes came from below the first device: images, memory and programs.

use crate::common::stderr_of;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::child::Run;
use crate::common::fuse::FaultyDisk;
use crate::common::kernel::{Loop, mount_at, unmount, with_tmpfs};
use crate::common::{Home, has, names, skip, warning, warnings, without};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::signal::Signal;
use serde_json::Value;

const LEN: usize = 16 << 20;

/// Measures and returns the result of the only cell.
fn measure(home: &Home, line: &str) -> Value {
    let line = format!(
        "--batch --no-save --trials 3 --trial-time 5ms --budget 10m -b pread -s 64k -n 0 {line}"
    );
    let document = home.json(&line);
    let result = document["results"][0].clone();
    assert!(result["error"].is_null(), "{result:#}");
    let shares = result["source"].as_object().unwrap();
    let sum: f64 = shares.values().map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{shares:?}");
    result
}

fn share(result: &Value, part: &str) -> f64 {
    result["source"][part].as_f64().unwrap_or(0.0)
}

fn describe(result: &Value) -> String {
    format!("{} {} {:#}", result["source"], result["source_reason"], result["warnings"])
}

fn severity<'a>(result: &'a Value, id: &str) -> Option<&'a str> {
    warnings(result).contains(&id).then(|| warning(result, id)["severity"].as_str().unwrap())
}

/// Switches the direct I/O of a loop device to its file; prints why if that is impossible.
fn set_direct(device: &Loop, on: bool) -> bool {
    let option = format!("--direct-io={}", if on { "on" } else { "off" });
    let done = Command::new("losetup").arg(option).arg(&device.device).output();
    let is_done = done.as_ref().is_ok_and(|done| done.status.success());
    if !is_done {
        skip(&format!("losetup cannot switch direct I/O: {done:?}"));
    }
    is_done
}

#[test]
fn direct_loop_reads_hit_page_cache() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let image = home.file("image", LEN);
    let Some(device) = Loop::over(&image) else { return };
    let line = format!("--direct {}", device.device.display());
    // Where the image is not cached, second reads are faster: by a cache of this machine.
    let cold = fs::File::open(&image).unwrap();
    cold.sync_all().unwrap();
    posix_fadvise(&cold, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED).unwrap();
    let result = measure(&home, &line);
    assert_eq!(severity(&result, "first-visit"), None, "{}", describe(&result));
    fs::read(&image).unwrap();
    let result = measure(&home, &line);
    // The image was just written. Whoever drops the cache makes the disk read it.
    assert!(share(&result, "below") >= 0.5, "{}", describe(&result));
    assert_eq!(severity(&result, "below-cache"), Some("wrong"), "{}", describe(&result));
    assert!(result["source_reason"].as_str().unwrap().contains("image"), "{}", describe(&result));
    if set_direct(&device, true) {
        let result = measure(&home, &line);
        assert!(share(&result, "device") >= 0.98, "{}", describe(&result));
        assert_eq!(severity(&result, "below-cache"), None, "{}", describe(&result));
    }
}

/// Mounts a new file system on a loop device over a file and runs `test` with both.
fn with_image(home: &Home, fs: &str, test: impl Fn(&Path, &Loop) + Send + Sync) {
    let mkfs = format!("mkfs.{fs}");
    if !has(&mkfs) {
        return without(&mkfs);
    }
    let image = home.path(&format!("{fs}.image"));
    fs::File::create(&image).unwrap().set_len(400 << 20).unwrap();
    let Some(device) = Loop::over(&image) else { return };
    let force = if fs == "ext4" { "-F" } else { "-f" };
    let made = Command::new(&mkfs).args(["-q", force]).arg(&device.device).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    // For mounts that go with the test.
    with_tmpfs(&home.path("memory"), "1m", || {
        let at = home.path(&format!("{fs}.mounted"));
        fs::create_dir(&at).unwrap();
        if let Err(error) = mount_at(&device.device, &at, fs, "") {
            return skip(&format!("{fs} cannot be mounted: {error}"));
        }
        test(&at, &device);
        unmount(&at);
    });
}

#[test]
fn cold_trial_drops_the_image() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    for fs in ["ext4", "xfs", "btrfs"] {
        with_image(&home, fs, |at, device| {
            let of = |access: &str| {
                measure(&home, &format!("{access} --size 16m --dir {}", at.display()))
            };
            assert_is_from_disk(|| of("-c cold"));
            let (direct, warm) = (of("--direct"), of("-c warm"));
            assert_eq!(severity(&direct, "below-cache"), Some("wrong"), "{}", describe(&direct));
            assert!(share(&warm, "page_cache") >= 0.98, "{fs}: {}", describe(&warm));
            if set_direct(device, true) {
                assert_is_from_disk(|| of("-c cold"));
                assert_is_from_disk(|| of("--direct"));
            }
        });
    }
}

/// Asserts that all bytes came from a disk, without a warning. The kernel may keep pages that it is
/// asked to drop while others use the machine: one of three runs must succeed.
fn assert_is_from_disk(measure: impl Fn() -> Value) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let result = measure();
        if is_from_disk(&result) {
            return;
        }
        seen.push(describe(&result));
    }
    panic!("{}", seen.join("\n"));
}

fn is_from_disk(result: &Value) -> bool {
    let warned = ["below-cache", "not-cold", "memory", "holes", "not-direct"];
    share(result, "device") >= 0.98 && warned.iter().all(|id| severity(result, id).is_none())
}

#[test]
fn overlay_leads_to_its_disk() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let [lower, upper, work, at] = ["lower", "upper", "work", "overlay"].map(|name| {
        fs::create_dir(home.path(name)).unwrap();
        home.path(name)
    });
    fs::copy(home.file("data", LEN), lower.join("file")).unwrap();
    with_tmpfs(&home.path("memory"), "1m", || {
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        if let Err(error) = mount_at(Path::new("none"), &at, "overlay", &options) {
            return skip(&format!("no overlay can be mounted: {error}"));
        }
        let file = at.join("file");
        let of = |access: &str| measure(&home, &format!("{access} {}", file.display()));
        assert_is_from_disk(|| of("-c cold"));
        assert_is_from_disk(|| of("--direct"));
        let warm = of("-c warm");
        assert!(share(&warm, "page_cache") >= 0.98, "{}", describe(&warm));
        unmount(&at);
    });
}

/// Packs a folder with a file of random and one of equal bytes, mounts it, and measures both cold.
fn measure_packed(home: &Home, fs: &str, pack: &mut Command) -> Option<[Value; 2]> {
    let Ok(packed) = pack.output() else {
        without(&pack.get_program().to_string_lossy());
        return None;
    };
    assert!(packed.status.success(), "{packed:?}");
    let device = Loop::over(&home.path(fs))?;
    let at = home.path(&format!("{fs}.mounted"));
    fs::create_dir(&at).unwrap();
    let mut results = None;
    let mut run = || {
        if let Err(error) = mount_at(&device.device, &at, fs, "ro") {
            return skip(&format!("{fs} cannot be mounted: {error}"));
        }
        results = Some(
            ["random", "text"]
                .map(|name| measure(home, &format!("-c cold {}", at.join(name).display()))),
        );
        unmount(&at);
    };
    with_tmpfs(&home.path("memory"), "1m", &mut run);
    results
}

#[test]
fn packed_file_systems_report_compression() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let folder = home.path("folder");
    fs::create_dir(&folder).unwrap();
    fs::copy(home.file("data", LEN), folder.join("random")).unwrap();
    fs::write(folder.join("text"), b"compressible text ".repeat(LEN / 18)).unwrap();
    let (squashfs, erofs) = (home.path("squashfs"), home.path("erofs"));
    let mut squash = Command::new("mksquashfs");
    squash.arg(&folder).arg(&squashfs).args(["-quiet", "-no-progress"]);
    let mut ero = Command::new("mkfs.erofs");
    ero.arg("--quiet").arg(&erofs).arg(&folder);
    for (fs, pack) in [("squashfs", &mut squash), ("erofs", &mut ero)] {
        let Some([random, text]) = measure_packed(&home, fs, pack) else { continue };
        assert!(is_from_disk(&random), "{}", describe(&random));
        assert_eq!(severity(&random, "nearly-full"), None, "{}", describe(&random));
        let reason = text["source_reason"].as_str().unwrap();
        assert!(fs != "squashfs" || reason.contains(":1 (squashfs)"), "{reason}");
    }
}

#[test]
fn image_holes_are_device_holes() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let image = home.path("sparse");
    fs::write(&image, fs::read(home.file("data", LEN / 4)).unwrap()).unwrap();
    fs::File::options().write(true).open(&image).unwrap().set_len(LEN as u64).unwrap();
    let Some(device) = Loop::over(&image) else { return };
    let result = measure(&home, &format!("--direct {}", device.device.display()));
    assert!((share(&result, "hole") - 0.75).abs() < 0.01, "{}", describe(&result));
    assert_eq!(severity(&result, "holes"), Some("wrong"), "{}", describe(&result));
}

#[test]
fn loop_over_tmpfs_is_memory() {
    let home = Home::new();
    let memory = home.path("memory");
    with_tmpfs(&memory, "100m", || {
        let image = memory.join("image");
        fs::copy(home.file("data", LEN), &image).unwrap();
        let Some(device) = Loop::over(&image) else { return };
        let result = measure(&home, &format!("--direct {}", device.device.display()));
        assert_eq!(share(&result, "below"), 1.0, "{}", describe(&result));
        assert_eq!(severity(&result, "memory"), Some("wrong"), "{}", describe(&result));
        let message = warning(&result, "memory")["message"].as_str().unwrap();
        assert!(message.contains("tmpfs"), "{message}");
        assert_eq!(severity(&result, "not-direct"), None, "{}", describe(&result));
    });
}

/// Returns the bytes that may have come from outside in the trial with the fewest.
fn outside(result: &Value) -> Option<u64> {
    let trials = result["trials"].as_array().unwrap().iter();
    let below = trials.map(|trial| {
        let below = &trial["evidence"]["below"];
        Some(below["read_bytes"].as_u64()? + below["received_bytes"].as_u64()?)
    });
    below.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

#[test]
fn fuse_without_reads_made_the_data() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let home = Home::new();
    let line = format!("--size 16m --dir {}", disk.path().display());
    for access in ["-c cold", "--direct"] {
        let result = measure(&home, &format!("{access} {line}"));
        assert_eq!(share(&result, "device"), 0.0, "{}", describe(&result));
        let quiet = outside(&result).is_some_and(|bytes| bytes < LEN as u64 / 2);
        let found = severity(&result, "below-cache");
        assert_eq!(found.is_some(), quiet || found.is_some(), "{}", describe(&result));
        assert!(found.is_none_or(|severity| severity == "wrong"), "{}", describe(&result));
    }
    // It lets the kernel empty the cache when the file is opened.
    let warm = measure(&home, &format!("-c warm {line}"));
    assert_eq!(share(&warm, "device"), 0.0, "{}", describe(&warm));
    assert!(warnings(&warm).contains(&"not-warm"), "{}", describe(&warm));
    assert_eq!(names(disk.path()), Vec::<String>::new());
}

#[test]
fn loop_direct_io_follows_the_variant() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let Some(device) = Loop::over(&home.file("image", LEN)) else { return };
    if !set_direct(&device, true) || !set_direct(&device, false) {
        return;
    }
    let at = device.device.display();
    let variant = |name: &str, on: &str| format!("{name}:losetup --direct-io={on} {at}");
    let mut run = home.std("--batch --no-save --format json --trials 3 --trial-time 5ms");
    run.args(["--budget", "10m", "-b", "pread", "-s", "64k", "-n", "0", "--direct"]);
    run.args(["--between", &variant("buffered", "off"), &variant("direct", "on")]);
    let out = run.arg(&device.device).output().unwrap();
    let document: Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", stderr_of(&out)));
    for result in document["results"].as_array().unwrap() {
        let is_direct = result["cell"]["variant"] == "direct";
        assert_eq!(severity(result, "below-cache").is_none(), is_direct, "{}", describe(result));
        assert_eq!(severity(result, "file-changed"), None, "{}", describe(result));
    }
}

#[test]
fn loop_switch_during_run_is_noted() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let Some(device) = Loop::over(&home.file("image", LEN)) else { return };
    let line = "--batch --no-save --trials 100000 --trial-time 1ms --budget 10m -b pread -s 64k \
                --direct --ceilings never --format jsonl";
    let mut run = Run::start(&mut home.std(&format!("{line} {}", device.device.display())));
    run.until("\"trial\"");
    if set_direct(&device, true) {
        // Trials that ended before the switch may still be in the pipe.
        run.until("layers-changed");
        run.signal(Signal::SIGINT);
        let answer = run.until("\"end\"");
        assert!(answer.contains("what lies below the file changed"), "{answer}");
    }
}

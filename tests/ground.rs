//! The layers below a file, on real ones: loop devices, overlays, images, programs, memory.

use crate::common::stderr_of;
use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Command;

use iotui::host::Below;
use iotui::record::Medium;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::common::fuse::FaultyDisk;
use crate::common::kernel::{Loop, mount_at, unmount, with_tmpfs};
use crate::common::{Home, skip, without};

const IMAGE: usize = 1 << 20;

fn below(path: &Path) -> Below {
    Below::of(&File::open(path).unwrap())
}

fn image(path: &Path, len: usize) {
    fs::write(path, vec![7; len]).unwrap();
}

/// Runs a program; prints why if it is missing or fails.
fn run(program: &str, args: &[&str], paths: &[&Path]) -> bool {
    match Command::new(program).args(args).args(paths).output() {
        Ok(done) if done.status.success() => true,
        Ok(done) => {
            skip(&format!("{program}: {}", stderr_of(&done).trim()));
            false
        }
        Err(_) => {
            without(program);
            false
        }
    }
}

/// Asserts what lies below a loop device: the medium, and a part of the reason.
fn assert_unknown(device: &Loop, reason: &str) {
    let found = below(&device.device).ground;
    assert_eq!(found.medium, Medium::Unknown, "{found:?}");
    assert!(found.reason.contains(reason), "{reason}: {found:?}");
}

#[test]
fn loop_device_leads_to_its_file() {
    let home = Home::new();
    let file = home.path("image");
    image(&file, IMAGE);
    let of_file = below(&file);
    let Some(device) = Loop::with(&["--offset", "4096", "--sizelimit", "65536"], &file) else {
        return;
    };
    let found = below(&device.device);
    assert_eq!(found.ground.medium, of_file.ground.medium);
    assert_eq!((found.lowest(), found.disks()), (of_file.lowest(), of_file.disks()));
    let [image_below] = &found.files[..] else { panic!("{found:?}") };
    assert_eq!((image_below.part.clone(), image_below.fixed), (4096..69632, true));
    assert_eq!(image_below.part_of(512..1024), 4608..5120);
    assert!(image_below.file.is_ok() && !image_below.direct && !image_below.own);
    assert_eq!(found.ground.layers[0].transform, "offset 4096");
    assert!(found.ground.layers[1].cached, "{:?}", found.ground);
    assert_eq!(below(&device.device).change_since(&found), None);

    // A file of the same name is another file.
    let aside = home.path("aside");
    fs::rename(&file, &aside).unwrap();
    image(&file, IMAGE);
    let moved = below(&device.device);
    assert!(moved.files[0].name.ends_with("aside"), "{moved:?}");
    assert_eq!(moved.files[0].id, found.files[0].id);
    fs::remove_file(&aside).unwrap();
    assert_unknown(&device, "it was removed");
    fs::write(home.path("aside (deleted)"), "another").unwrap();
    assert_unknown(&device, "its name leads to another file");

    // Direct I/O and another file of the same device are noticed.
    let Some(other) = Loop::over(&file) else { return };
    let buffered = below(&other.device);
    if run("losetup", &["--direct-io=on"], &[&other.device]) {
        let direct = below(&other.device);
        assert!(direct.files[0].direct && !direct.ground.layers[1].cached, "{direct:?}");
        let change = direct.change_since(&buffered).expect("it was switched");
        assert!(change.contains("changed") || change.contains("switched"), "{change}");
    }
}

#[test]
fn nested_loop_devices_are_followed() {
    let home = Home::new();
    let file = home.path("image");
    image(&file, IMAGE);
    let Some(lower) = Loop::with(&["--offset", "8192"], &file) else { return };
    let Some(upper) = Loop::with(&["--offset", "4096"], &lower.device) else { return };
    let found = below(&upper.device);
    assert_eq!(found.ground.medium, below(&file).ground.medium);
    let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
    let lower_name = lower.device.file_name().unwrap().to_str().unwrap();
    assert_eq!(names[0], lower_name);
    assert!(names[1].ends_with("image"), "{names:?}");
    assert_eq!(found.files[0].part_of(0..512), 4096..4608);
    assert_eq!(found.files[1].part_of(0..512), 12288..12800);
    assert!(found.files.iter().all(|file| file.file.is_ok()));
}

#[test]
fn memory_is_found_through_every_layer() {
    let home = Home::new();
    let (memory, at) = (home.path("memory"), home.path("mounted"));
    fs::create_dir_all(&at).unwrap();
    with_tmpfs(&memory, "64m", || {
        assert_eq!(below(&memory).ground.medium, Medium::Memory);
        assert_eq!(below(&memory).disks(), Some(Vec::new()));
        let file = memory.join("image");
        image(&file, 16 << 20);
        let Some(device) = Loop::over(&file) else { return };
        let found = below(&device.device).ground;
        let name = device.device.file_name().unwrap().to_str().unwrap();
        assert_eq!(found.medium, Medium::Memory);
        assert_eq!(found.reason, format!("{name} is a file in memory (tmpfs)"));
        if run("mkfs.ext4", &["-q", "-F"], &[&device.device])
            && mount_at(&device.device, &at, "ext4", "").is_ok()
        {
            fs::write(at.join("file"), "data").unwrap();
            let found = below(&at.join("file")).ground;
            assert_eq!(found.medium, Medium::Memory, "{found:?}");
            assert!(found.stack().starts_with(&format!("ext4 on {name} on ")), "{found:?}");
            unmount(&at);
        }
    });
    let unnamed = memfd_create(c"image", MFdFlags::MFD_CLOEXEC).map(File::from).unwrap();
    unnamed.set_len(IMAGE as u64).unwrap();
    assert_eq!(Below::of(&unnamed).ground.medium, Medium::Memory);
    let Some(device) = Loop::over(&iotui::sys::fd::path(&unnamed)) else { return };
    let found = below(&device.device).ground;
    assert!(found.medium == Medium::Memory && found.reason.contains("memfd"), "{found:?}");
}

#[test]
fn overlay_folder_is_found() {
    let home = Home::new();
    let (memory, lower, at) = (home.path("memory"), home.path("lower"), home.path("mounted"));
    for folder in [&lower, &at] {
        fs::create_dir_all(folder).unwrap();
    }
    for name in ["below", "both"] {
        image(&lower.join(name), IMAGE);
    }
    let of_lower = below(&lower.join("below")).ground.medium;
    with_tmpfs(&memory, "16m", || {
        let [upper, work] = ["upper", "work"].map(|name| memory.join(name));
        fs::create_dir_all(&upper).unwrap();
        fs::create_dir_all(&work).unwrap();
        let mount = |lower: &Path, upper: &Path| {
            let [lower, upper, work] = [lower, upper, &work].map(|path| path.display().to_string());
            let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
            mount_at(Path::new("overlay"), &at, "overlay", &options)
        };
        if let Err(error) = mount(&lower, &upper) {
            return skip(&format!("no overlay can be mounted here: {error}"));
        }
        fs::write(at.join("both"), "changed").unwrap();
        fs::write(at.join("new"), "new").unwrap();
        for (name, medium, folder) in [
            ("below", of_lower, "lower/below"),
            ("both", Medium::Memory, "upper/both"),
            ("new", Medium::Memory, "upper/new"),
        ] {
            let found = below(&at.join(name));
            assert_eq!(found.ground.medium, medium, "{name}: {found:?}");
            let [real] = &found.files[..] else { panic!("{found:?}") };
            assert!(real.name.ends_with(folder) && real.file.is_ok() && real.own, "{real:?}");
        }
        // A file without a name, and one that does not exist yet.
        let unnamed =
            File::options().read(true).write(true).custom_flags(nix::libc::O_TMPFILE).open(&at);
        let made = unnamed.as_ref().map_or(Medium::Memory, |file| Below::of(file).ground.medium);
        assert_eq!((made, below(&at).ground.medium), (Medium::Memory, Medium::Memory));
        // Another folder of that name now hides the real one.
        let hidden = mount_at(Path::new("none"), &lower, "tmpfs", "size=1m").is_ok();
        if hidden {
            image(&lower.join("below"), IMAGE);
            let found = below(&at.join("below")).ground;
            assert!(found.medium != of_lower || of_lower == Medium::Memory, "{found:?}");
            unmount(&lower);
        }
        drop(unnamed);
        unmount(&at);
        // A path with a symbolic link.
        let link = home.path("link");
        symlink(&lower, &link).unwrap();
        fs::remove_dir_all(&work).unwrap();
        fs::create_dir_all(&work).unwrap();
        if mount(&link, &upper).is_ok() {
            assert_eq!(below(&at.join("below")).ground.medium, of_lower);
            unmount(&at);
        }
    });
}

#[test]
fn fuse_server_is_not_examined() {
    let Some(disk) = FaultyDisk::mount() else { return };
    let file = disk.path().join("image");
    image(&file, IMAGE);
    let found = below(&file);
    assert_eq!((found.ground.medium, found.disks()), (Medium::Program, None));
    let Some(device) = Loop::over(&file) else { return };
    assert_unknown(&device, "which may not answer");
    assert!(below(&device.device).files.is_empty());
}

#[test]
fn image_file_systems_lead_to_image() {
    let home = Home::new();
    let (folder, file, at) = (home.path("folder"), home.path("image"), home.path("mounted"));
    for folder in [&folder, &at] {
        fs::create_dir_all(folder).unwrap();
    }
    image(&folder.join("file"), IMAGE);
    with_tmpfs(&home.path("memory"), "1m", || {
        for (program, fs, args) in [
            ("mksquashfs", "squashfs", &["-quiet", "-noappend"][..]),
            ("mkfs.erofs", "erofs", &["--quiet"]),
        ] {
            let _ = fs::remove_file(&file);
            let (from, to) = if fs == "erofs" { (&file, &folder) } else { (&folder, &file) };
            let paths: [&Path; 2] = [from, to];
            let done = match fs {
                "erofs" => run(program, args, &paths),
                _ => Command::new(program).args(paths).args(args).output().map_or_else(
                    |_| {
                        without(program);
                        false
                    },
                    |done| done.status.success(),
                ),
            };
            if !done {
                continue;
            }
            let Some(device) = Loop::over(&file) else { return };
            for source in [&device.device, &file] {
                // erofs can also be mounted from a file.
                let mounted = mount_read_only(source, &at, fs);
                if !mounted {
                    continue;
                }
                let found = below(&at.join("file"));
                assert_eq!(found.ground.medium, below(&file).ground.medium, "{found:?}");
                assert_eq!(found.ground.layers[0].transform, "compresses");
                let [image] = &found.files[..] else { panic!("{found:?}") };
                assert!(image.file.is_ok() && !image.fixed && !image.own, "{image:?}");
                unmount(&at);
            }
        }
    });
}

fn mount_read_only(source: &Path, at: &Path, fs: &str) -> bool {
    let options = ["-i", "-o", "ro", "-t", fs];
    let mounted = Command::new("mount").args(options).args([source, at]).output();
    mounted.is_ok_and(|done| done.status.success())
}

#[test]
fn btrfs_leads_to_all_its_devices() {
    let home = Home::new();
    let at = home.path("mounted");
    fs::create_dir_all(&at).unwrap();
    with_tmpfs(&home.path("memory"), "1m", || {
        let files = ["one", "two"].map(|name| home.path(name));
        files.iter().for_each(|file| File::create(file).unwrap().set_len(256 << 20).unwrap());
        let (Some(one), Some(two)) = (Loop::over(&files[0]), Loop::over(&files[1])) else { return };
        if !run("mkfs.btrfs", &["-q", "-f"], &[&one.device, &two.device]) {
            return;
        }
        if mount_at(&one.device, &at, "btrfs", "compress=zstd").is_err() {
            return skip("btrfs cannot be mounted");
        }
        fs::write(at.join("file"), "data").unwrap();
        let found = below(&at.join("file"));
        assert_eq!(found.files.len(), 2, "{found:?}");
        assert_eq!(found.ground.layers[0].transform, "compresses");
        assert_eq!(found.ground.medium, below(&files[0]).ground.medium);
        // An image in it, whose st_dev is of no device.
        let inner = at.join("image");
        image(&inner, IMAGE);
        if let Some(device) = Loop::over(&inner) {
            let found = below(&device.device);
            assert_eq!(found.ground.medium, below(&files[0]).ground.medium, "{found:?}");
            assert_eq!(found.files.len(), 3, "{found:?}");
        }
        unmount(&at);
    });
}

#[test]
fn missing_rights_report_unknown_layers() {
    let home = Home::new();
    let file = home.path("image");
    image(&file, IMAGE);
    let Some(device) = Loop::over(&file) else { return };
    let open = File::open(&device.device).unwrap();
    if !nix::unistd::geteuid().is_root() {
        return skip("only root can be somebody else");
    }
    let found = std::thread::scope(|scope| {
        let stranger = || {
            // Drops root's override of file permissions, for this thread only.
            nix::unistd::setfsuid(nix::unistd::Uid::from_raw(65534));
            nix::unistd::setfsgid(nix::unistd::Gid::from_raw(65534));
            Below::of(&open)
        };
        scope.spawn(stranger).join().unwrap()
    });
    assert_eq!((found.ground.medium, found.disks()), (Medium::Unknown, None));
    assert!(found.ground.reason.contains("this user may not ask"), "{found:?}");
    // The whole program says so to its user, and names the layers to one with rights.
    let text = home.stdout(&format!("host {}", device.device.display()));
    assert!(text.contains("lies on") && text.contains("image"), "{text}");
}

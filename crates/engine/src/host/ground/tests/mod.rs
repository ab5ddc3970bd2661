use super::found::*;
use super::walk::World;
use crate::facts::{BlockDevice, DeviceKind, Transport};
use crate::record::{Ground, Medium};
use crate::sys::block::testing::Sysfs;
use crate::sys::loop_device::LoopFile;
use crate::sys::mounts;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

mod devices;
mod mounted;
mod odd;

/// Returns a world with this sysfs and mount table, whose loop devices have no file.
fn world(sys: &Sysfs, mounts: &str) -> World {
    World {
        sys: sys.root(),
        mounts: mounts::parse_table(mounts),
        ask: |_, _| Err(io::Error::from_raw_os_error(libc::ENXIO)),
        node: |_, path| {
            let minor = match path.to_str().unwrap() {
                "/dev/sda" => 0,
                "/dev/sdb" => 16,
                "/dev/sdc" => 32,
                _ => return Err("is not visible here".into()),
            };
            Ok(nix::sys::stat::makedev(8, minor))
        },
        home: Some("/home/me".into()),
    }
}

fn devices(sys: &Sysfs, number: (u64, u64)) -> Vec<BlockDevice> {
    world(sys, "").below_device(number).devices()
}

fn lowest(sys: &Sysfs, number: (u64, u64)) -> BTreeSet<(u64, u64)> {
    world(sys, "").below_device(number).lowest()
}

/// Returns what lies below the mount with this line of mountinfo, without its numbers.
fn mounted(sys: &Sysfs, line: &str) -> Below {
    let world = world(sys, &format!("30 1 {line}"));
    world.below_mount(&world.mounts[0])
}

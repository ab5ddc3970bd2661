use super::*;
use crate::testing;

fn mount(fs: &str, magic: u64) -> Mount {
    Mount {
        fs: fs.into(),
        magic,
        source: None,
        mount_point: None,
        options: Vec::new(),
        read_only: false,
    }
}

#[test]
fn kinds() {
    assert!(
        mount("tmpfs", 0).is_memory()
            && mount("devtmpfs", 0).is_memory()
            && !mount("ext4", 0).is_memory()
    );
    assert!(
        mount("nfs4", 0).is_network()
            && mount("fuse.sshfs", FUSE).is_network()
            && !mount("xfs", 0).is_network()
    );
    assert!(
        mount("fuseblk", 0).is_fuse()
            && mount("fuse.sshfs", 0).is_fuse()
            && mount("virtiofs", FUSE).is_fuse()
    );
    assert!(!mount("fusectl", 0).is_fuse());
    assert_eq!((name_of(0xef53), name_of(0x1234)), ("ext4".into(), "0x1234".into()));
}

#[test]
fn the_mount_id_wins() {
    let table = parse_table(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:1 /x /home rw - ext4 /dev/a rw\n3 1 8:1 /y /home \
         rw - ext4 /dev/a rw\n4 1 0:9 / /b rw - btrfs /dev/b rw\n",
    );
    let id = |id, device, path: &str| find(&table, id, device, Path::new(path)).map(|e| e.id);
    assert_eq!(id(Some(4), (0, 33), "/b/f"), Some(4));
    assert_eq!(id(None, (8, 1), "/home/f"), Some(3));
    assert_eq!(id(None, (8, 1), "/homes/f"), Some(1));
    assert_eq!(id(Some(77), (8, 1), "/etc/f"), Some(1));
    assert_eq!(id(None, (9, 9), "/etc/f"), None);
}

#[test]
fn files_of_this_machine() {
    let proc =
        mount_of(&File::open("/proc/self/io").or_else(|_| File::open("/proc/stat")).unwrap())
            .unwrap();
    assert_eq!(proc.fs, "proc");
    assert_eq!(proc.mount_point.as_deref(), Some(Path::new("/proc")));
    if let Some(file) = testing::file_on_disk(1) {
        let mount = mount_of(&file).unwrap();
        assert!(!mount.is_memory() && !mount.read_only && !mount.options.is_empty(), "{mount:?}");
        let space = space(&file).unwrap();
        assert!(
            space.total >= space.free && space.free >= space.available && space.available > 0,
            "{space:?}"
        );
    }
    if let Some(file) = testing::file_in_memory() {
        assert_eq!(mount_of(&file).unwrap().fs, "tmpfs");
    }
}

#[test]
fn a_block_device_is_a_block() {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let Some(device) =
        devices.filter_map(|d| File::open(Path::new("/dev").join(d.file_name())).ok()).next()
    else {
        return testing::skip("no readable block device");
    };
    let mount = mount_of(&device).unwrap();
    assert_eq!(mount.fs, "block");
}

#[test]
fn a_quota_leaves_the_rest() {
    assert_eq!(left_by(1024, 1 << 19), Some(1 << 19));
    assert_eq!(left_by(1, 4096), Some(0));
    assert_eq!(left_by(0, 4096), None, "0 is no limit");
}

#[test]
fn octal_escapes_are_decoded() {
    for (word, want) in [
        (r"/a\040b\011c\134", &b"/a b\tc\\"[..]),
        (r"\777", br"\777"),
        (r"\08", br"\08"),
        (r"x\", br"x\"),
        (r"\0401", b" 1"),
    ] {
        assert_eq!(unescape(word), want, "{word}");
    }
}

#[test]
fn optional_fields_and_odd_lines() {
    let table = "\
36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:44 / /net ro - fuse.sshfs me@host:/x\\040y ro,user_id=0
99 27 bad / / rw - ext4 x rw
99 27 0:1 / / rw ext4 x rw
99 27 0:1 / / rw -

";
    let entries = parse_table(table);
    assert_eq!(entries.iter().map(|e| e.id).collect::<Vec<_>>(), [36, 27, 40]);
    let first = &entries[0];
    assert_eq!((first.device, first.mount_point.to_str()), ((98, 0), Some("/mnt 2")));
    assert_eq!(first.options, ["rw", "noatime", "errors=continue"]);
    assert_eq!(entries[2].source, "me@host:/x y");
}

//! Control group trees made of plain folders.

use super::*;

/// The error names the missing delegation, not "no control groups of memory are mounted here", if
/// they are mounted with memory but not delegated to any group.
#[test]
fn the_missing_delegation_is_named() {
    let top = tree(&[
        ("cgroup.controllers", "cpu memory\n"),
        ("cgroup.subtree_control", "cpu\n"),
        ("a/memory.use_hierarchy", "0\n"),
    ]);
    fn why(mounts: &[MountEntry]) -> String {
        choose_parent("4:memory:/a\n0::/\n", mounts, ALL).unwrap_err()
    }
    assert!(why(&mounts("cgroup2", top.path(), "/", "")).contains("cgroup.subtree_control"));
    assert!(why(&mounts("cgroup", top.path(), "/", "memory")).contains("memory.use_hierarchy"));
    let hybrid = tree(&[("cgroup.controllers", "\n"), ("cgroup.subtree_control", "\n")]);
    assert!(why(&mounts("cgroup2", hybrid.path(), "/", "")).contains("no memory cgroup"));
}

/// Returns a mount of `root` of `fs` at `at`.
fn mounts(fs: &str, at: &Path, root: &str, options: &str) -> Vec<MountEntry> {
    mounts::parse_table(&format!("30 1 0:9 {root} {} rw - {fs} none rw,{options}\n", at.display()))
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    top
}

const ALL: &dyn Fn(&Path, bool) -> bool = &|_, _| true;

#[test]
fn delegated_memory_groups_are_used() {
    let top = tree(&[
        ("cgroup.subtree_control", "cpu memory\n"),
        ("user/app/cgroup.subtree_control", "memory pids\n"),
        ("user/app/shell/cgroup.subtree_control", "\n"),
        ("user/cgroup.subtree_control", "cpuset memory_other\n"),
    ]);
    let v2 = mounts("cgroup2", top.path(), "/", "");
    let of = |groups: &str, may: &dyn Fn(&Path, bool) -> bool| {
        choose_parent(groups, &v2, may).map(|place| place.parent)
    };
    assert_eq!(of("0::/user/app/shell\n", ALL), Ok(top.path().join("user/app")));
    // A group that is not delegated is skipped, and the top counts as the top only at the mount
    // root.
    assert_eq!(of("0::/user/app/shell\n", &|_, at_top| at_top), Ok(top.path().to_path_buf()));
    assert!(of("0::/user/app/shell\n", &|_, _| false).unwrap_err().contains("delegated"));
    assert_eq!(of("0::/elsewhere\n", ALL), Ok(top.path().to_path_buf()));
    // Nothing above the mount is examined.
    let part = mounts("cgroup2", &top.path().join("user/app/shell"), "/user/app/shell", "");
    assert!(choose_parent("0::/user/app/shell\n", &part, ALL).unwrap_err().contains("mounted"));
    assert!(choose_parent("", &v2, ALL).is_err() && choose_parent("0::/\n", &[], ALL).is_err());
}

#[test]
fn version_1_needs_a_hierarchy() {
    let top = tree(&[("a/memory.use_hierarchy", "1\n"), ("b/memory.use_hierarchy", "0\n")]);
    let v1 = mounts("cgroup", top.path(), "/", "memory");
    let made = choose_parent("4:memory:/a\n0::/\n", &v1, ALL).unwrap();
    assert_eq!((made.parent, made.limit), (top.path().join("a"), "memory.limit_in_bytes"));
    assert!(choose_parent("4:memory:/b\n", &v1, ALL).is_err());
    assert!(
        choose_parent("4:memory:/a\n", &v1, &|_, at_top| at_top).unwrap_err().contains("delegated")
    );
    assert!(choose_parent("4:cpu:/a\n", &mounts("cgroup", top.path(), "/", "cpu"), ALL).is_err());
}

#[test]
fn groups_have_limits_and_are_removed() {
    let top =
        tree(&[("iotui-99999999-0/.keep", ""), ("iotui-99999999-x", ""), ("other/.keep", "")]);
    fs::remove_file(top.path().join("iotui-99999999-0/.keep")).unwrap();
    let place = GroupParent {
        parent: top.path().into(),
        limit: "memory.max",
        swap: Some("memory.swap.max"),
    };
    // A plain folder has no list of processes: a half-created group is removed again, as far as a
    // plain folder can be.
    assert!(create_in(&place, 123 << 20).unwrap_err().contains("cgroup.procs"));
    let made = fs::read_dir(top.path())
        .unwrap()
        .flatten()
        .find(|one| one.path().join("memory.max").exists())
        .unwrap()
        .path();
    assert_eq!(fs::read_to_string(made.join("memory.max")).unwrap(), (123u64 << 20).to_string());
    assert_eq!(fs::read_to_string(made.join("memory.swap.max")).unwrap(), "0");
    assert!(!top.path().join("iotui-99999999-0").exists() && top.path().join("other").exists());
    assert!(create_in(&GroupParent { parent: top.path().join("none"), ..place }, 1).is_err());
}

#[test]
fn a_refusal_has_a_reason() {
    assert!(MemoryGroup::check_available().map_or_else(|why| why.len() > 10, |()| true));
}

use super::root::testing::Tree;
use super::*;
use crate::facts::version;
use iotui_core::doctor::examine;

#[test]
fn facts_of_this_machine_are_plausible() {
    let host = collect();
    assert!(
        !host.name.is_empty() && version(&host.kernel).is_some_and(|version| version >= (4, 0)),
        "{host:?}"
    );
    assert!(
        host.cpu.online >= 1
            && host.cpu.allowed >= 1
            && host.cpu.cores >= 1
            && host.cpu.cores <= host.cpu.online
    );
    assert!(host.cpu.cycle_nanos.is_none_or(|nanos| (0.05..1000.0).contains(&nanos)));
    assert!(host.memory.page_size.is_power_of_two() && host.memory.page_size >= 4096);
    assert!(host.memory.total >= host.memory.available && host.memory.total > 0);
    assert!(host.caches.iter().all(|cache| (1..=4).contains(&cache.level) && cache.size > 0));
    assert!(host.conditions.steal.is_none_or(|share| (0.0..=1.0).contains(&share)));
    let json = serde_json::to_string(&host).unwrap();
    assert_eq!(serde_json::from_str::<Host>(&json).unwrap(), host);
}

#[test]
fn an_old_host_loads() {
    let host: Host =
        serde_json::from_str(r#"{"name":"old","kernel":"5.10.0","later":{"x":1}}"#).unwrap();
    assert_eq!(host, Host { name: "old".into(), kernel: "5.10.0".into(), ..Host::default() });
}

#[test]
fn an_empty_tree_is_a_host() {
    let host = read(&Tree::new(&[]).root());
    assert_eq!((host.name.as_str(), host.cpu.online, host.memory.total), ("", 1, 0));
    assert!(!host.can_drop_caches && host.virtualisation.is_none());
}

#[test]
fn hostile_files_are_bounded() {
    let paths = [
        "proc/cpuinfo",
        "proc/meminfo",
        "proc/stat",
        "proc/mdstat",
        "proc/loadavg",
        "proc/pressure/io",
        "proc/self/cgroup",
        "proc/sys/kernel/hostname",
        "proc/sys/kernel/osrelease",
        "proc/sys/kernel/io_uring_disabled",
        "proc/1/comm",
        "etc/os-release",
        "sys/class/dmi/id/sys_vendor",
        "sys/class/net/eth0/speed",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/cpu0/cache/index0/level",
        "sys/devices/system/cpu/cpu0/cache/index0/size",
        "sys/devices/system/cpu/vulnerabilities/mds",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/fs/cgroup/cpu.max",
    ];
    let huge = vec![b'9'; 2 << 20];
    for bytes in [
        &b""[..],
        b"\n\n",
        b"\0\0\0",
        b"\xff\xfe\xfd:\xff",
        b"-1",
        b"18446744073709551616",
        b"\x1b[2J\x07",
        b"[",
        huge.as_slice(),
    ] {
        let tree = Tree::new(&[]);
        paths.iter().for_each(|path| tree.write(path, bytes));
        let host = read(&tree.root());
        let json = serde_json::to_string(&host).unwrap();
        assert!(json.len() < 20_000, "{} bytes", json.len());
        assert!(!json.contains("\\u001b"), "{json}");
        examine(&host, None, None);
    }
}

#[test]
fn only_regular_files_are_read() {
    let tree = Tree::new(&[("proc/cpuinfo/sub", "x")]);
    tree.symlink("proc/meminfo", "/dev/zero");
    tree.symlink("etc/os-release", "os-release");
    assert_eq!(read(&tree.root()).memory.total, 0);
}

#[test]
fn facts_are_collected_once() {
    let host = SharedHost::collect();
    let other = host.clone();
    let addresses = std::thread::scope(|scope| {
        let first = scope.spawn(|| std::ptr::from_ref(host.get()) as usize);
        let second = scope.spawn(|| std::ptr::from_ref(other.get()) as usize);
        [first.join().unwrap(), second.join().unwrap()]
    });
    assert_eq!(addresses[0], addresses[1]);
    assert_eq!(host.get().kernel, collect().kernel);
}

//! The kind of machine: operating system, hypervisor, container, and the properties of its kernel.

use std::path::Path;

use super::root::Root;
use crate::facts::{ClockSource, Mitigation, clean};
use crate::sys::mounts;

/// Returns `PRETTY_NAME` of os-release(5).
pub(super) fn os(root: &Root) -> String {
    let text = root
        .text("/etc/os-release")
        .or_else(|| root.text("/usr/lib/os-release"))
        .unwrap_or_default();
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|v| clean(v.trim_matches(['"', '\''])))
    };
    value("PRETTY_NAME").or_else(|| value("NAME")).unwrap_or_default()
}

/// (text in the firmware's vendor or product name, hypervisor); the first match counts. Firmware of
/// clouds and of Hyper-V may be that of physical hardware too.
const CLOUDS: &[(&str, &str)] = &[
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google Compute Engine"),
    ("openstack", "OpenStack"),
    ("digitalocean", "DigitalOcean"),
];

/// The same, checked after [`PROGRAMS`], which may use this name too.
const HYPERV: &[(&str, &str)] = &[("virtual machine", "Hyper-V")];

/// The same, for firmware that is always a program.
const PROGRAMS: &[(&str, &str)] = &[
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("parallels", "Parallels"),
    ("bhyve", "bhyve"),
    ("apple virtualization", "Apple Virtualization"),
    ("xen", "Xen"),
    ("qemu", "QEMU"),
    ("kvm", "KVM"),
];

/// (clock source of a guest, hypervisor)
const CLOCKS: &[(&str, &str)] = &[("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];

/// Returns the hypervisor of this machine; `None` if it seems to be physical hardware.
pub(super) fn virtualisation(
    root: &Root,
    flags: &std::collections::BTreeSet<&str>,
) -> Option<String> {
    fn lookup(table: &[(&str, &str)], text: &str) -> Option<String> {
        table.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| name.to_string())
    }
    let firmware = ["sys_vendor", "product_name", "bios_vendor"]
        .iter()
        .filter_map(|name| root.line(&format!("/sys/class/dmi/id/{name}")));
    let firmware = firmware.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    // On x86 the CPU shows whether the firmware of a cloud runs on physical hardware. A hypervisor
    // may hide itself in the CPU, but not in its own firmware.
    if flags.contains("fpu") && !flags.contains("hypervisor") {
        return lookup(PROGRAMS, &firmware).or_else(|| root.line("/sys/hypervisor/type"));
    }
    if firmware.contains(".metal") {
        return None;
    }
    let clocks = root
        .line("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .unwrap_or_default();
    lookup(CLOUDS, &firmware)
        .or_else(|| lookup(PROGRAMS, &firmware))
        .or_else(|| lookup(HYPERV, &firmware))
        .or_else(|| root.line("/sys/hypervisor/type"))
        .or_else(|| lookup(CLOCKS, &clocks))
        .or_else(|| root.line("/proc/device-tree/hypervisor/compatible"))
        .or_else(|| flags.contains("hypervisor").then(|| "an unidentified hypervisor".to_string()))
}

/// (text in this process's control groups, container)
const GROUPS: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("lxc", "lxc"),
    ("containerd", "containerd"),
];

/// Returns the container that this process seems to run in; a hint, not a proof.
pub(super) fn container(root: &Root) -> Option<String> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let marker = |path: &str, name: &str| root.exists(path).then(|| name.to_string());
    root.line("/run/systemd/container")
        .or_else(|| marker("/run/.containerenv", "podman"))
        .or_else(|| {
            GROUPS.iter().find(|(part, _)| groups.contains(part)).map(|(_, name)| name.to_string())
        })
        .or_else(|| marker("/.dockerenv", "docker").filter(|_| !has_own_disk(root)))
}

/// Returns whether the root of the file system is a disk: a virtual machine whose disk was made
/// from a container image has traces of the container too.
fn has_own_disk(root: &Root) -> bool {
    let mounts = root.text("/proc/self/mountinfo").unwrap_or_default();
    let table = mounts::parse_table(&mounts);
    let of_root = table.iter().rev().find(|mount| mount.mount_point == Path::new("/"));
    of_root.is_some_and(|mount| mount.root == Path::new("/") && mount.source.starts_with("/dev/"))
}

/// Returns true if this virtual machine returns freed memory to its host
/// (VIRTIO_BALLOON_F_REPORTING, virtio 1.2 §5.5.3): the first touch of a returned page is 5 to 10
/// times slower.
pub(super) fn reports_free_pages(root: &Root) -> bool {
    const REPORTING: usize = 5;
    const DRIVER: &str = "/sys/bus/virtio/drivers/virtio_balloon";
    let features = |device: &String| root.line(&format!("{DRIVER}/{device}/features"));
    let devices = root.names(DRIVER).into_iter().filter(|name| name.starts_with("virtio"));
    devices
        .filter_map(|device| features(&device))
        .any(|bits| bits.as_bytes().get(REPORTING) == Some(&b'1'))
}

pub(super) fn clock_source(root: &Root) -> ClockSource {
    let line = |name: &str| {
        root.line(&format!("/sys/devices/system/clocksource/clocksource0/{name}"))
            .unwrap_or_default()
    };
    ClockSource {
        current: line("current_clocksource"),
        available: line("available_clocksource")
            .split_ascii_whitespace()
            .map(String::from)
            .collect(),
    }
}

/// Reads the vulnerabilities that affect this CPU.
pub(super) fn mitigations(root: &Root) -> Vec<Mitigation> {
    const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";
    let mut mitigations = Vec::new();
    for name in root.names(FOLDER) {
        if let Some(state) = root.line(&format!("{FOLDER}/{name}"))
            && state != "Not affected"
        {
            mitigations.push(Mitigation { name: clean(&name), state });
        }
    }
    mitigations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    fn hypervisor_of(files: &[(&str, &str)], flags: &str) -> Option<String> {
        virtualisation(
            &Tree::new(files).root(),
            &flags.split(' ').filter(|flag| !flag.is_empty()).collect(),
        )
    }

    #[test]
    fn identifies_the_hypervisor() {
        let dmi = ("sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
        let product = ("sys/class/dmi/id/product_name", "Virtual Machine\n");
        let clock = (
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "tsc kvm-clock \n",
        );
        let cloud = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        assert_eq!(hypervisor_of(&[dmi, product], "fpu hypervisor").as_deref(), Some("Hyper-V"));
        assert_eq!(hypervisor_of(&[clock], "fpu hypervisor").as_deref(), Some("KVM"));
        assert_eq!(
            hypervisor_of(&[], "fpu hypervisor").as_deref(),
            Some("an unidentified hypervisor")
        );
        assert_eq!(hypervisor_of(&[cloud], "asimd").as_deref(), Some("Amazon EC2"));
        assert_eq!(
            hypervisor_of(&[("proc/device-tree/hypervisor/compatible", "linux,kvm\0")], "asimd")
                .as_deref(),
            Some("linux,kvm")
        );
        assert_eq!(hypervisor_of(&[cloud], "tsc fpu"), None, "bare metal in a cloud");
        let hidden = ("sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(hypervisor_of(&[hidden], "tsc fpu").as_deref(), Some("QEMU"));
        assert_eq!(
            hypervisor_of(&[cloud, ("sys/class/dmi/id/product_name", "c6g.metal\n")], "asimd"),
            None
        );
        assert_eq!(hypervisor_of(&[], ""), None);
    }

    #[test]
    fn recognises_containers_by_their_traces() {
        fn found(files: &[(&str, &str)]) -> Option<String> {
            container(&Tree::new(files).root())
        }
        assert_eq!(found(&[(".dockerenv", "")]).as_deref(), Some("docker"));
        let mounted = |line| found(&[(".dockerenv", ""), ("proc/self/mountinfo", line)]);
        assert_eq!(mounted("27 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"), None);
        let overlay = "27 1 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/a\n";
        let folder = "27 1 254:0 /var/lib/docker/vfs/dir/1 / rw - ext4 /dev/vda rw\n";
        assert_eq!([overlay, folder].map(mounted), [Some("docker".into()), Some("docker".into())]);
        assert_eq!(
            found(&[("proc/self/cgroup", "0::/kubepods/burstable/pod1\n"), (".dockerenv", "")])
                .as_deref(),
            Some("kubernetes")
        );
        assert_eq!(found(&[("run/systemd/container", "lxc\n")]).as_deref(), Some("lxc"));
        assert_eq!(found(&[("proc/self/cgroup", "0::/init.scope\n")]), None);
    }

    #[test]
    fn reads_the_name_of_the_system() {
        fn found(text: &str) -> String {
            os(&Tree::new(&[("etc/os-release", text)]).root())
        }
        assert_eq!(
            found("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(found("NAME='Alpine'\n"), "Alpine");
        assert_eq!(found("\u{0}\u{1}="), "");
    }

    #[test]
    fn free_page_reporting_is_bit_five() {
        fn found(bits: &str) -> bool {
            reports_free_pages(
                &Tree::new(&[("sys/bus/virtio/drivers/virtio_balloon/virtio0/features", bits)])
                    .root(),
            )
        }
        assert!(found("0110010100000000\n"));
        assert!(!found("0110000100000000\n") && !found("") && !found("1"));
    }

    #[test]
    fn lists_only_vulnerabilities_of_this_cpu() {
        let at = "sys/devices/system/cpu/vulnerabilities";
        let tree = Tree::new(&[
            (&format!("{at}/meltdown"), "Not affected\n"),
            (&format!("{at}/spectre_v2"), "Mitigation: Retpolines; STIBP: disabled\n"),
            (&format!("{at}/spec_store_bypass"), "Vulnerable\n"),
            (&format!("{at}/retbleed"), "Vulnerable\n"),
            (&format!("{at}/spec_rstack_overflow"), "Vulnerable: Safe RET, no microcode\n"),
            (&format!("{at}/empty"), ""),
        ]);
        let found = mitigations(&tree.root());
        let names: Vec<_> = found.iter().map(|m| (m.name.as_str(), m.slows_calls())).collect();
        assert_eq!(
            names,
            [
                ("retbleed", false),
                ("spec_rstack_overflow", true),
                ("spec_store_bypass", false),
                ("spectre_v2", true)
            ]
        );
    }

    #[test]
    fn reads_the_clock_sources() {
        let at = "sys/devices/system/clocksource/clocksource0";
        let tree = Tree::new(&[
            (&format!("{at}/current_clocksource"), "hpet\n"),
            (&format!("{at}/available_clocksource"), "hpet acpi_pm \n"),
        ]);
        let clock = clock_source(&tree.root());
        assert_eq!((clock.is_fast(), clock.available.len()), (false, 2));
        assert!(ClockSource { current: "tsc".into(), available: Vec::new() }.is_fast());
        assert_eq!(clock_source(&Tree::new(&[]).root()), ClockSource::default());
    }
}

use super::*;
use crate::host::root::testing::Tree;

const X86: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\n\
model name\t: Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz\ncpu MHz\t\t: 2101.5\n\
flags\t\t: fpu tsc sse2 avx2 constant_tsc nonstop_tsc hypervisor\n\nprocessor\t: 1\nvendor_id\t: Other\n";

fn read(tree: &Tree) -> Cpu {
    super::read(&tree.root(), &CpuInfo::read(&tree.root()))
}

#[test]
fn reads_an_x86_laptop() {
    let tree = Tree::new(&[
        ("proc/cpuinfo", X86),
        ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("sys/devices/system/cpu/smt/active", "1\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4200000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000\n"),
    ]);
    for (cpu, siblings) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
        tree.write(
            &format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"),
            siblings.as_bytes(),
        );
        tree.write(
            &format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"),
            b"0\n",
        );
    }
    let cpu = read(&tree);
    assert_eq!(cpu.vendor, "GenuineIntel");
    assert_eq!(
        (cpu.online, cpu.allowed, cpu.cores, cpu.sockets, cpu.smt),
        (4, 2, 2, 1, Some(true))
    );
    assert_eq!((cpu.mhz, cpu.governor.as_deref()), (Some(1800.0), Some("powersave")));
    assert!(cpu.cycle_nanos.is_some_and(|nanos| (nanos - 0.2381).abs() < 1e-4));
    assert_eq!(cpu.simd, ["avx2", "sse2"]);
    assert_eq!(cpu.tsc, ["constant_tsc", "nonstop_tsc"]);
}

#[test]
fn names_arm_cores() {
    let tree = Tree::new(&[(
        "proc/cpuinfo",
        "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\n\
         CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n",
    )]);
    let cpu = read(&tree);
    assert_eq!((cpu.model.as_str(), cpu.vendor.as_str(), cpu.online), ("Neoverse-N1", "ARM", 2));
    assert_eq!((cpu.simd.as_slice(), cpu.cycle_nanos), (&["neon".to_string()][..], None));
    assert_eq!(part("0x48", "0xd01"), "HiSilicon part 0xd01");
}

#[test]
fn hostile_files_still_yield_a_cpu() {
    let empty = read(&Tree::new(&[]));
    assert_eq!((empty.online, empty.cores, empty.sockets), (1, 1, 1));
    for bytes in [&b""[..], b"\xff\x00\xfe:", b":::::\n::", b"processor", &vec![b'9'; 1 << 20]] {
        let tree = Tree::new(&[]);
        for path in [
            "proc/cpuinfo",
            "proc/self/status",
            "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/smt/active",
        ] {
            tree.write(path, bytes);
        }
        let cpu = read(&tree);
        assert!(cpu.online >= 1 && cpu.model.len() < 2000);
    }
}

fn cycle(files: &[(&str, &str)]) -> (Option<f64>, &'static str) {
    let root = Tree::new(files);
    read_cycle(&root.root(), &CpuInfo::read(&root.root()))
}

#[test]
fn the_best_source_wins() {
    let info = ("proc/cpuinfo", "flags : fpu tsc\ncpu MHz : 2000.0\nbogomips : 5000.0\n");
    let max = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n");
    assert_eq!(cycle(&[max, info]), (Some(0.25), "cpufreq maximum"));
    assert_eq!(cycle(&[info]), (Some(0.5), "cpuinfo MHz"));
    let only = ("proc/cpuinfo", "flags : fpu tsc\nbogomips : 5000.0\n");
    assert_eq!(cycle(&[only]).0, Some(0.4));
    assert_eq!(cycle(&[("proc/cpuinfo", "bogomips : 50.00\nFeatures : fp asimd\n")]).0, None);
}

#[test]
fn the_device_tree_is_binary() {
    let tree = Tree::new(&[]);
    tree.write("proc/device-tree/cpus/cpu@0/clock-frequency", &1_500_000_000u32.to_be_bytes());
    let cycle = read_cycle(&tree.root(), &CpuInfo::read(&tree.root()));
    assert!(cycle.0.is_some_and(|nanos| (nanos - 0.6667).abs() < 1e-3), "{cycle:?}");
}

#[test]
fn invalid_values_are_unknown() {
    for text in ["0", "-1", "inf", "NaN", "1e300", "", "x"] {
        let file = ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text);
        assert_eq!(cycle(&[file, ("proc/cpuinfo", "cpu MHz : 0\n")]).0, None, "{text}");
    }
}

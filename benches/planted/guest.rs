//! The boot image of the machine: a kernel of this system, and an archive of the programs and
//! modules that its init needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Drivers of the disks, layers and file systems of the table. ext4 asks for a checksum by a name
/// that only modprobe can resolve, dm-crypt for a cipher.
const MODULES: &[&str] = &[
    "crc32c-generic",
    "ext4",
    "nvme",
    "ahci",
    "sd-mod",
    "virtio-pci",
    "virtio-blk",
    "virtio-scsi",
    "sym53c8xx",
    "xhci-pci",
    "uas",
    "sdhci-pci",
    "mmc-block",
    "loop",
    "brd",
    "overlay",
    "dm-mod",
    "dm-flakey",
    "dm-crypt",
    "cbc",
    "aes-generic",
    "9pnet-virtio",
    "9p",
];
const COMMANDS: &[&str] = &[
    "cat", "chmod", "dd", "fdisk", "grep", "insmod", "losetup", "ls", "mkdir", "mount", "poweroff",
    "sh", "sleep",
];
const FOLDERS: &[&str] =
    &["bin", "dev", "m", "modules", "proc", "root", "sys", "tmp", "under", "beside"];

/// A kernel, and where its modules are.
pub struct Kernel {
    pub image: PathBuf,
    modules: PathBuf,
}

impl Kernel {
    /// Returns the kernel that `IOTUI_KERNEL` names, or the newest of this system; of those, one
    /// that has drivers of physical disks, which kernels for clouds lack.
    pub fn find() -> Option<Kernel> {
        if let Some(image) = std::env::var_os("IOTUI_KERNEL") {
            return Kernel::at(image.into());
        }
        let entries = fs::read_dir("/boot").ok()?.flatten();
        let kernels = entries.filter_map(|entry| Kernel::at(entry.path()));
        kernels.max_by_key(|kernel| (kernel.has_physical_disks(), kernel.numbers()))
    }

    fn at(image: PathBuf) -> Option<Kernel> {
        let version = image.file_name()?.to_str()?.strip_prefix("vmlinuz-")?.to_string();
        let modules = Path::new("/lib/modules").join(version);
        // Some systems let only root read it.
        let is_whole = modules.join("modules.dep").exists() && fs::File::open(&image).is_ok();
        is_whole.then_some(Kernel { image, modules })
    }

    pub fn version(&self) -> String {
        self.modules.file_name().unwrap_or_default().to_string_lossy().into()
    }

    fn numbers(&self) -> Vec<u64> {
        let version = self.version();
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    }

    fn has_physical_disks(&self) -> bool {
        self.dependencies().contains_key("ahci")
    }

    /// Returns the files of each module, its dependencies first; no file for a built-in module.
    fn dependencies(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let text = fs::read_to_string(self.modules.join("modules.dep")).unwrap_or_default();
        let line = |line: &str| {
            let (module, needs) = line.split_once(':')?;
            let mut files: Vec<PathBuf> =
                needs.split_whitespace().rev().map(|file| self.modules.join(file)).collect();
            files.push(self.modules.join(module));
            Some((name_of(Path::new(module)), files))
        };
        text.lines().filter_map(line).collect()
    }

    /// Returns the files of all modules in the order in which they can be loaded.
    fn files(&self) -> Vec<PathBuf> {
        let all = self.dependencies();
        let mut files = Vec::new();
        for file in MODULES.iter().filter_map(|module| all.get(*module)).flatten() {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }
}

/// Returns the name of a module: kernels write `_` and `-` as they like.
fn name_of(module: &Path) -> String {
    let name = module.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().replace('_', "-")
}

/// The root folder of the machine, of which each boot gets an archive.
pub struct Guest {
    root: PathBuf,
}

impl Guest {
    /// Returns the folder with all that does not differ from plant to plant; busybox is one of the
    /// programs.
    pub fn build(root: PathBuf, kernel: &Kernel, programs: &[PathBuf]) -> Guest {
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let bin = root.join("bin");
        for command in COMMANDS {
            std::os::unix::fs::symlink("busybox", bin.join(command)).expect("a link");
        }
        for program in programs {
            fs::copy(program, bin.join(program.file_name().unwrap())).expect("copy a program");
            for library in libraries(program) {
                let to = root.join(library.strip_prefix("/").unwrap());
                fs::create_dir_all(to.parent().unwrap()).expect("a folder");
                fs::copy(&library, to).expect("copy a library");
            }
        }
        let mut order = String::new();
        for file in kernel.files() {
            let name = format!("{}.ko", name_of(&file));
            fs::write(root.join("modules").join(&name), unpacked(&file)).expect("a module");
            order += &format!("{name}\n");
        }
        fs::write(root.join("modules/order"), order).expect("the order of modules");
        fs::write(root.join("setup"), include_str!("setup.sh")).expect("a script");
        fs::write(root.join("init"), include_str!("init.sh")).expect("the init script");
        let status = Command::new("chmod").arg("+x").arg(root.join("init")).status();
        assert!(status.is_ok_and(|status| status.success()), "make the init script executable");
        Guest { root }
    }

    /// Writes the archive from which a machine plants and commits.
    pub fn pack(&self, setup: &str, line: &str, to: &Path) {
        fs::write(self.root.join("plant"), setup).expect("a script");
        fs::write(self.root.join("line"), line).expect("a line");
        let status = Command::new("sh")
            .args(["-c", "find . | cpio -o -H newc --quiet >\"$0\""])
            .arg(to)
            .current_dir(&self.root)
            .status();
        assert!(status.is_ok_and(|status| status.success()), "pack the archive");
    }
}

/// Returns the libraries of a program, and its loader.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("run ldd");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

/// Returns the bytes of a module as insmod takes them.
fn unpacked(file: &Path) -> Vec<u8> {
    let tool = match file.extension().and_then(|end| end.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return fs::read(file).expect("a module"),
    };
    let output = Command::new(tool).arg("-dc").arg(file).stderr(Stdio::inherit()).output();
    output.unwrap_or_else(|error| panic!("{tool}: {error}")).stdout
}

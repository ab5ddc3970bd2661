//! A machine with one disk, from its start until it reports what iotui found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::disks::{Bus, Disk, Looks};
use crate::guest::{Guest, Kernel};
use crate::plants::Plant;

/// A machine that takes longer is ended.
const BOOT_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);
/// Bytes of the disk; the file is sparse.
const DISK_BYTES: u64 = 128 << 20;
const LAST_LINES: usize = 3;

/// The verdict of iotui on the commits to a plant.
pub struct Found {
    pub reach: String,
    pub reason: String,
    /// All that it says, for a verdict that is not as it should be.
    pub all: String,
}

/// Where machines are built.
pub struct Machines {
    folder: PathBuf,
    kernel: Kernel,
    guest: Guest,
    mkfs: PathBuf,
    /// How QEMU executes instructions.
    accelerator: String,
}

impl Machines {
    pub fn new(folder: &Path, kernel: Kernel, guest: Guest, mkfs: PathBuf) -> Machines {
        // The same on every machine; with KVM, commits take less time, and flushes no less.
        let accelerator = std::env::var("IOTUI_ACCEL").unwrap_or_else(|_| "tcg".into());
        Machines { folder: folder.into(), kernel, guest, mkfs, accelerator }
    }

    /// Boots a machine with the plant; returns what was found, or why nothing was.
    pub fn boot(&self, plant: &Plant) -> Result<Found, String> {
        let at = |name: &str| self.folder.join(name);
        let (archive, disk) = (at("archive.cpio"), at("disk.img"));
        let (console, report) = (at("console.log"), at("report.json"));
        self.guest.pack(&plant.script(), plant.line, &archive);
        self.format(&disk)?;
        for file in [&console, &report] {
            let _ = fs::remove_file(file);
        }
        let errors = File::create(at("errors.log")).map_err(|error| error.to_string())?;
        let child = Command::new("qemu-system-x86_64")
            .args(["-accel", &self.accelerator, "-machine", "pc", "-m", "512"])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .arg("-kernel")
            .arg(&self.kernel.image)
            .arg("-initrd")
            .arg(&archive)
            .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"])
            .args(["-serial", &format!("file:{}", console.display())])
            .args(["-serial", &format!("file:{}", report.display())])
            .args(looks(plant.disk.looks))
            .args(attach(&plant.disk, &disk))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("qemu: {error}"))?;
        let Some(status) = wait(child) else { return Err("did not finish".into()) };
        read(&report).ok_or_else(|| {
            let error = fs::read_to_string(at("errors.log")).unwrap_or_default();
            format!("no report, {status}: {} {}", last_lines(&console), error.trim())
        })
    }

    /// Makes a disk with an empty file system.
    fn format(&self, disk: &Path) -> Result<(), String> {
        let file = File::create(disk).and_then(|file| file.set_len(DISK_BYTES));
        file.map_err(|error| format!("a disk: {error}"))?;
        let made = Command::new(&self.mkfs).args(["-q", "-F"]).arg(disk).status();
        made.is_ok_and(|status| status.success()).then_some(()).ok_or("mkfs.ext4 failed".into())
    }
}

/// Waits until a machine is off; ends it after `BOOT_TIMEOUT`.
fn wait(mut child: Child) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if start.elapsed() < BOOT_TIMEOUT => std::thread::sleep(POLL),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Returns the options for the identity of the machine.
fn looks(looks: Looks) -> Vec<String> {
    let mut all = vec!["-cpu"];
    all.push(if looks == Looks::Virtual { "max" } else { "max,-hypervisor" });
    if matches!(looks, Looks::Physical | Looks::Hidden) {
        all.extend(["-smbios", "type=0,vendor=Dell Inc.,version=2.19.1,date=06/04/2023"]);
        all.extend(["-smbios", "type=1,manufacturer=Dell Inc.,product=PowerEdge R740"]);
    }
    all.into_iter().map(String::from).collect()
}

/// Returns the options that attach the disk.
fn attach(disk: &Disk, file: &Path) -> Vec<String> {
    let host = if disk.ignores_flushes { "unsafe" } else { "writeback" };
    let options = if disk.host.is_empty() { String::new() } else { format!(",{}", disk.host) };
    let drive = format!("if=none,id=d,format=raw,file={},cache={host}{options}", file.display());
    let mut all = vec!["-drive".to_string(), drive];
    let is_named = disk.looks != Looks::Virtual && disk.looks != Looks::Hidden;
    let controllers: &[&str] = match disk.bus {
        Bus::Nvme | Bus::VirtioBlk => &[],
        Bus::Ahci => &["ahci,id=h"],
        Bus::Scsi => &["lsi53c895a,id=h"],
        Bus::VirtioScsi => &["virtio-scsi-pci,id=h"],
        Bus::Usb => &["qemu-xhci,id=x", "usb-uas,id=h,bus=x.0"],
        Bus::SdCard => &["sdhci-pci"],
    };
    let (device, name) = match disk.bus {
        // Its name cannot be changed here: the script of the plant does it.
        Bus::Nvme => ("nvme,drive=d,serial=S5GXNX0T103246", ""),
        Bus::VirtioBlk => ("virtio-blk-pci,drive=d", ""),
        Bus::Ahci => ("ide-hd,bus=h.0,drive=d", ",model=Samsung SSD 870 EVO 250GB"),
        Bus::Scsi => ("scsi-hd,bus=h.0,drive=d", ",vendor=SEAGATE,product=ST1200MM0088"),
        Bus::VirtioScsi => ("scsi-hd,bus=h.0,drive=d", ""),
        Bus::Usb => ("scsi-hd,bus=h.0,drive=d", ",vendor=Samsung,product=Portable SSD T5"),
        Bus::SdCard => ("sd-card,drive=d", ""),
    };
    let name = if is_named { name } else { "" };
    let cache = match (disk.bus, disk.writes_through) {
        (Bus::SdCard, _) => "",
        (_, true) => ",write-cache=off",
        (_, false) => ",write-cache=on",
    };
    let fua = if disk.has_fua { ",dpofua=on" } else { "" };
    let device = format!("{device}{name}{cache}{fua}");
    for device in controllers.iter().map(|text| text.to_string()).chain([device]) {
        all.extend(["-device".to_string(), device]);
    }
    if let Some(folder) = file.parent().filter(|_| disk.shares_folder) {
        let folder = format!("local,path={},mount_tag=host,security_model=none", folder.display());
        all.extend(["-virtfs".to_string(), folder]);
    }
    all
}

fn read(report: &Path) -> Option<Found> {
    let document: Value = serde_json::from_slice(&fs::read(report).ok()?).ok()?;
    let found = &document["results"][0]["durability"];
    let text = |key: &str| found[key].as_str().map(String::from);
    Some(Found { reach: text("reach")?, reason: text("reason")?, all: found.to_string() })
}

fn last_lines(file: &Path) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join(" / ")
}

//! The link of a disk, found by walking up its path in /sys/devices, and its speed limit.

use crate::facts::{Link, Transport};
use std::fs;
use std::path::{Path, PathBuf};

use super::text::line;

/// Returns the link of the disk whose real sysfs folder is `disk`; `None` if its path does not
/// reveal it.
pub fn detect(disk: &Path) -> Option<Link> {
    let mut pcie = None;
    for dir in disk.ancestors().skip(1) {
        let Some(name) = dir.file_name().and_then(|n| n.to_str()) else {
            break;
        };
        if name == "devices" {
            break;
        }
        if pcie.is_none()
            && let Some(link) = link_from_folder(dir, name)
        {
            return Some(link);
        }
        // A slot further up may have fewer lanes than the disk: the slowest link counts.
        if let Some((text, rate)) = pcie_link(dir)
            && pcie.as_ref().is_none_or(|(_, least)| rate < *least)
        {
            pcie = Some((text, rate));
        }
    }
    pcie.map(|(text, rate)| Link::new(Transport::Pcie, text, Some(rate)))
}

/// Returns the link if this folder on the path upwards determines it.
fn link_from_folder(dir: &Path, name: &str) -> Option<Link> {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if numbered("virtio") {
        return Some(Link::new(Transport::Virtio, "virtio", None));
    }
    if numbered("ata") {
        return Some(sata(dir));
    }
    if numbered("mmc") {
        return Some(Link::new(Transport::Mmc, "MMC", None));
    }
    if numbered("session") {
        return Some(Link::new(Transport::Network, "iSCSI", None));
    }
    if numbered("nvme-subsys") {
        return controllers(dir)
            .iter()
            .find_map(|controller| nvme(controller).or_else(|| detect(controller)));
    }
    if numbered("nvme") {
        return nvme(dir);
    }
    if name.starts_with("end_device-") {
        return Some(Link::new(Transport::Sas, "SAS", None));
    }
    if name.starts_with("vbd-") {
        return Some(Link::new(Transport::Xen, "Xen", None));
    }
    if name.starts_with("VMBUS") {
        return Some(Link::new(Transport::Hyperv, "Hyper-V", None));
    }
    if dir.join("idVendor").exists() {
        return Some(usb(&line(dir.join("speed"))?));
    }
    None
}

/// Returns the link of a controller over fabrics; that of a local one is its PCIe slot further up.
fn nvme(controller: &Path) -> Option<Link> {
    let transport = line(controller.join("transport"))?;
    (transport != "pcie")
        .then(|| Link::new(Transport::Network, format!("NVMe over {transport}"), None))
}

/// Returns the controllers of a subsystem: with multipath the disk is below a virtual subsystem
/// that points to them.
fn controllers(subsystem: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(subsystem).into_iter().flatten().flatten();
    fn is_controller(name: &str) -> bool {
        name.strip_prefix("nvme")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    }
    let mut found: Vec<_> = entries
        .filter(|e| e.file_name().to_str().is_some_and(is_controller))
        .filter_map(|e| fs::canonicalize(e.path()).ok())
        .filter(|path| !path.starts_with(subsystem))
        .collect();
    found.sort();
    found
}

fn pcie_link(dir: &Path) -> Option<(String, u64)> {
    pcie(&line(dir.join("current_link_speed"))?, &line(dir.join("current_link_width"))?)
}

/// Parses `8.0 GT/s PCIe` and `4` into a name and bytes per second. Returns `None` for "Unknown"
/// and for width 0 (no link).
fn pcie(speed: &str, width: &str) -> Option<(String, u64)> {
    let giga: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let width: u32 = width.parse().ok().filter(|w| (1..=32).contains(w))?;
    // Generations 1 and 2 send 10 bits per byte, 3 to 5 send 130 bits per 128, and 6 sends flits of
    // 256 bytes with 242 of payload.
    let (generation, coding) = match giga {
        2.5 => ("1.0", 0.8),
        5.0 => ("2.0", 0.8),
        8.0 => ("3.0", 128.0 / 130.0),
        16.0 => ("4.0", 128.0 / 130.0),
        32.0 => ("5.0", 128.0 / 130.0),
        64.0 => ("6.0", 242.0 / 256.0),
        _ => return None,
    };
    let rate = giga * 1e9 * coding / 8.0 * f64::from(width);
    Some((format!("PCIe {generation} x{width}"), rate as u64))
}

/// Reads /sys/devices/.../ataN/linkN/ata_link/linkN/sata_spd: `6.0 Gbps`, 10 bits per byte.
fn sata(port: &Path) -> Link {
    let links = fs::read_dir(port).into_iter().flatten().flatten();
    let speed = links.filter_map(|link| {
        let name = link.file_name();
        line(link.path().join("ata_link").join(name).join("sata_spd"))
    });
    let fastest = speed.filter_map(|text| Some((sata_rate(&text)?, text))).max();
    match fastest {
        Some((rate, text)) => Link::new(Transport::Sata, format!("SATA {text}"), Some(rate)),
        None => Link::new(Transport::Sata, "SATA", None),
    }
}

fn sata_rate(text: &str) -> Option<u64> {
    let giga: f64 = text.strip_suffix("Gbps")?.trim().parse().ok()?;
    (giga > 0.0 && giga < 100.0).then_some((giga * 1e8) as u64)
}

/// Returns the link for a USB speed in Mbit/s: 8b/10b at 5000, 128b/132b above, no line code below.
fn usb(speed: &str) -> Link {
    let rate = speed.parse::<f64>().ok().filter(|mega| *mega > 0.0 && *mega < 1e6).map(|mega| {
        let coding = if mega < 5000.0 {
            1.0
        } else if mega < 10_000.0 {
            0.8
        } else {
            128.0 / 132.0
        };
        (mega * 1e6 * coding / 8.0) as u64
    });
    Link::new(Transport::Usb, format!("USB {speed} Mbit/s"), rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pcie_speeds() {
        assert_eq!(pcie("16.0 GT/s PCIe", "4"), Some(("PCIe 4.0 x4".into(), 7_876_923_076)));
        assert_eq!(pcie("8 GT/s", "4"), Some(("PCIe 3.0 x4".into(), 3_938_461_538)));
        assert_eq!(pcie("2.5 GT/s PCIe", "1"), Some(("PCIe 1.0 x1".into(), 250_000_000)));
        for (speed, width) in [
            ("Unknown", "4"),
            ("8.0 GT/s", "0"),
            ("8.0 GT/s", "255"),
            ("", ""),
            ("NaN", "4"),
            ("8.0", "x4"),
        ] {
            assert_eq!(pcie(speed, width), None, "{speed} {width}");
        }
    }

    #[test]
    fn other_speeds() {
        assert_eq!(sata_rate("6.0 Gbps"), Some(600_000_000));
        for odd in ["<unknown>", "", "Gbps", "-1 Gbps", "inf Gbps"] {
            assert_eq!(sata_rate(odd), None, "{odd}");
        }
        let rates: Vec<_> =
            ["480", "5000", "10000", "x", "", "inf"].map(|s| usb(s).bytes_per_second).into();
        assert_eq!(
            rates,
            [Some(60_000_000), Some(500_000_000), Some(1_212_121_212), None, None, None]
        );
    }
}

//! The bytes that this machine received from others.

use std::fs;
use std::path::Path;

use super::text::number;

/// Returns the bytes that all network cards received, without the traffic of this machine with
/// itself. `None` if cards may not count everything: without a card with a device, as in a network
/// namespace, with RDMA, and if a program drives a device by itself (VFIO, UIO).
pub fn received_bytes() -> Option<u64> {
    received_bytes_in(Path::new("/sys/class"), Path::new("/dev/vfio"))
}

fn received_bytes_in(class: &Path, vfio: &Path) -> Option<u64> {
    let names = |dir: &Path| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).collect::<Vec<_>>()
    };
    let is_bypassed = !names(&class.join("infiniband")).is_empty()
        || !names(&class.join("uio")).is_empty()
        || names(vfio).iter().any(|name| name != "vfio");
    let cards: Vec<_> = names(&class.join("net"))
        .into_iter()
        .filter(|name| name != "lo" && name != "bonding_masters")
        .map(|name| class.join("net").join(name))
        .collect();
    let has_device = cards.iter().any(|card| card.join("device").exists());
    if is_bypassed || !has_device {
        return None;
    }
    let received = cards.iter().map(|card| number::<u64>(card.join("statistics/rx_bytes")));
    received.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plant(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn cards_are_summed_without_the_loopback() {
        let card = [
            ("net/lo/statistics/rx_bytes", "1000\n"),
            ("net/eth0/statistics/rx_bytes", "30\n"),
            ("net/eth0/device/vendor", "0x1\n"),
            ("net/tun0/statistics/rx_bytes", "4\n"),
            ("net/bonding_masters", "\n"),
        ];
        let received = |more: &[(&str, &str)], leave: usize| {
            let dir = plant(&[&card[..leave], more].concat());
            received_bytes_in(dir.path(), &dir.path().join("vfio"))
        };
        assert_eq!(received(&[], 5), Some(34));
        assert_eq!(received(&[], 2), None, "no card with a device");
        assert_eq!(received(&[("infiniband/mlx5_0/x", "")], 5), None);
        assert_eq!(received(&[("vfio/vfio", "")], 5), Some(34));
        assert_eq!(received(&[("vfio/vfio", ""), ("vfio/12", "")], 5), None);
        assert_eq!(received(&[("net/eth1/device/vendor", "")], 5), None, "a card without a count");
    }
}

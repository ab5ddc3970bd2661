//! The network cards, for the network probes and for targets on a server.

use crate::facts::NetworkCard;

use super::root::{Root, file_name};

/// Maximum number of interfaces listed; a machine with many containers has thousands.
const MAX_CARDS: usize = 64;

/// Reads all interfaces, with devices first.
pub(super) fn read(root: &Root) -> Vec<NetworkCard> {
    let names = root.names("/sys/class/net").into_iter().filter(|name| name != "bonding_masters");
    let mut cards: Vec<_> = names.map(|name| card(root, name)).collect();
    cards.sort_by_key(|card| (card.is_virtual, card.state != "up"));
    cards.truncate(MAX_CARDS);
    cards
}

fn card(root: &Root, name: String) -> NetworkCard {
    let path = |file: &str| format!("/sys/class/net/{name}/{file}");
    NetworkCard {
        // -1 and 2^32 - 1 stand for "no link".
        speed: root
            .number::<i64>(&path("speed"))
            .and_then(|speed| u32::try_from(speed).ok())
            .filter(|s| *s != 0 && *s != u32::MAX),
        duplex: root.line(&path("duplex")).filter(|duplex| duplex != "unknown"),
        mtu: root.number(&path("mtu")),
        state: root.line(&path("operstate")).unwrap_or_default(),
        driver: root.link(&path("device/driver")).map(|path| file_name(&path)),
        is_virtual: !root.exists(&path("device")),
        name: crate::facts::clean(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn reads_cards_and_their_links() {
        let tree = Tree::new(&[
            ("sys/class/net/lo/mtu", "65536\n"),
            ("sys/class/net/lo/operstate", "unknown\n"),
            ("sys/class/net/bonding_masters", "bond0\n"),
            ("sys/class/net/eth1/speed", "-1\n"),
            ("sys/class/net/eth1/duplex", "unknown\n"),
            ("sys/class/net/eth1/device/vendor", "0x8086\n"),
            ("sys/class/net/eth1/operstate", "down\n"),
            ("sys/class/net/eth0/speed", "10000\n"),
            ("sys/class/net/eth0/duplex", "full\n"),
            ("sys/class/net/eth0/operstate", "up\n"),
            ("sys/class/net/eth0/mtu", "9000\n"),
        ]);
        tree.symlink("sys/class/net/eth0/device/driver", "../../bus/pci/drivers/ixgbe");
        let cards = read(&tree.root());
        let names: Vec<_> =
            cards.iter().map(|card| (card.name.as_str(), card.speed, card.is_virtual)).collect();
        assert_eq!(
            names,
            [("eth0", Some(10000), false), ("eth1", None, false), ("lo", None, true)]
        );
        assert_eq!(
            (cards[0].driver.as_deref(), cards[0].duplex.as_deref(), cards[0].mtu),
            (Some("ixgbe"), Some("full"), Some(9000))
        );
        assert_eq!((cards[1].duplex.as_deref(), cards[2].mtu), (None, Some(65536)));
    }

    #[test]
    fn missing_and_invalid_values_are_unknown() {
        assert!(read(&Tree::new(&[]).root()).is_empty());
        let tree = Tree::new(&[
            ("sys/class/net/x/speed", "99999999999"),
            ("sys/class/net/x/mtu", "\u{0}"),
        ]);
        assert_eq!((read(&tree.root())[0].speed, read(&tree.root())[0].mtu), (None, None));
    }
}

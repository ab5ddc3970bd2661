//! What a network should take, from the cards of this machine.

use crate::host::NetworkCard;
use crate::probe::Site;
use crate::record::Estimate;
use crate::units::show_rate;

/// Headers of a packet with data: IPv4, TCP and its time stamps.
const HEADERS: f64 = 52.0;
/// What a frame of Ethernet has around a packet: preamble, addresses, checksum, gap (IEEE 802.3).
const FRAMING: f64 = 38.0;

/// The fastest card that has a link: bytes per second and bytes of a packet.
fn link(site: &Site) -> Option<(f64, f64)> {
    let up = |card: &&NetworkCard| !card.is_virtual && card.state == "up";
    let fast = site
        .host
        .network
        .iter()
        .filter(up)
        .filter_map(|card| Some((card.speed?, card.mtu.unwrap_or(1500))))
        .max()?;
    Some((f64::from(fast.0) * 1e6 / 8.0, f64::from(fast.1)))
}

/// Bytes per second of data over that card.
pub fn bandwidth(site: &Site) -> Option<Estimate> {
    let (speed, mtu) = link(site)?;
    let share = (mtu - HEADERS) / (mtu + FRAMING);
    let reason = format!(
        "{:.0} % of {} of the fastest card with a link: {} bytes of each packet of {mtu} are no data",
        share * 100.0,
        show_rate(speed),
        HEADERS + FRAMING
    );
    (share > 0.0).then_some(Estimate { low: speed * share * 0.5, high: speed * share, reason })
}

/// Nanoseconds of `ways` ways through a network with so many bytes each.
pub fn ways(site: &Site, ways: f64, bytes: f64) -> Estimate {
    let wire = link(site).map(|(speed, _)| ways * (bytes + HEADERS + FRAMING) / speed * 1e9);
    let said = wire.map_or("the speed of the wire is unknown".to_string(), |nanos| {
        format!("{nanos:.0} ns on the wire of the fastest card")
    });
    Estimate {
        low: 8_000.0 * ways + wire.unwrap_or(0.0),
        high: 250_000.0 * ways + wire.unwrap_or(0.0),
        reason: format!(
            "{said}; two cards, a switch and a sleeping CPU take 8 to 250 µs each way within a building"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_card_with_a_link_decides() {
        let mut site = Site::default();
        assert_eq!(bandwidth(&site), None);
        let card = |speed, is_virtual, state: &str| NetworkCard {
            speed,
            is_virtual,
            state: state.into(),
            mtu: Some(1500),
            ..NetworkCard::default()
        };
        site.host.network = vec![
            card(Some(100), false, "up"),
            card(Some(1000), false, "up"),
            card(Some(40_000), false, "down"),
            card(Some(10_000), true, "up"),
        ];
        let found = bandwidth(&site).unwrap();
        // 1448 of 1538 bytes of 125 MB/s.
        assert!(
            (found.high - 125e6 * 1448.0 / 1538.0).abs() < 1.0 && found.low < found.high,
            "{found:?}"
        );
        let wire = ways(&site, 2.0, 56.0).low - ways(&Site::default(), 2.0, 56.0).low;
        assert!((wire - 2.0 * 146.0 * 8.0).abs() < 1e-6, "{wire}");
    }
}

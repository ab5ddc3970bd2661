//! Estimates for a network, from the network cards of this machine.

use crate::facts::NetworkCard;
use crate::probe::context::ProbeContext;
use crate::record::Estimate;
use crate::units::show_rate;

/// Header bytes of a data packet: IPv4, TCP and its time stamps.
const HEADERS: f64 = 52.0;
/// Bytes around a packet in an Ethernet frame: preamble, addresses, checksum, gap (IEEE 802.3).
const FRAMING: f64 = 38.0;

/// Returns the speed in bytes per second and the MTU of the fastest card with a link.
fn link(context: &ProbeContext) -> Option<(f64, f64)> {
    fn up(card: &&NetworkCard) -> bool {
        !card.is_virtual && card.state == "up"
    }
    let fast = context
        .host
        .network
        .iter()
        .filter(up)
        .filter_map(|card| Some((card.speed?, card.mtu.unwrap_or(1500))))
        .max()?;
    Some((f64::from(fast.0) * 1e6 / 8.0, f64::from(fast.1)))
}

/// Estimates the payload bytes per second over the fastest card.
pub fn bandwidth(context: &ProbeContext) -> Option<Estimate> {
    let (speed, mtu) = link(context)?;
    let share = (mtu - HEADERS) / (mtu + FRAMING);
    let reason = format!(
        "{:.0} % of the {} of the fastest card with a link: {} bytes of overhead per packet of \
         {mtu}",
        share * 100.0,
        show_rate(speed),
        HEADERS + FRAMING
    );
    (share > 0.0).then_some(Estimate { low: speed * share * 0.5, high: speed * share, reason })
}

/// Estimates the nanoseconds of `ways` one-way trips through a network with `bytes` each.
pub fn ways(context: &ProbeContext, ways: f64, bytes: f64) -> Estimate {
    let wire = link(context).map(|(speed, _)| ways * (bytes + HEADERS + FRAMING) / speed * 1e9);
    let wire_time = wire.map_or("the speed of the link is unknown".to_string(), |nanos| {
        format!("{nanos:.0} ns on the wire at the speed of the fastest card")
    });
    Estimate {
        low: 8_000.0 * ways + wire.unwrap_or(0.0),
        high: 250_000.0 * ways + wire.unwrap_or(0.0),
        reason: format!(
            "{wire_time}; two cards, a switch and a sleeping CPU add 8 to 250 µs each way within a \
             building"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_card_with_a_link_decides() {
        let mut context = ProbeContext::default();
        assert_eq!(bandwidth(&context), None);
        let card = |speed, is_virtual, state: &str| NetworkCard {
            speed,
            is_virtual,
            state: state.into(),
            mtu: Some(1500),
            ..NetworkCard::default()
        };
        context.host.network = vec![
            card(Some(100), false, "up"),
            card(Some(1000), false, "up"),
            card(Some(40_000), false, "down"),
            card(Some(10_000), true, "up"),
        ];
        let found = bandwidth(&context).unwrap();
        // 1448 of 1538 bytes of 125 MB/s.
        assert!(
            (found.high - 125e6 * 1448.0 / 1538.0).abs() < 1.0 && found.low < found.high,
            "{found:?}"
        );
        let wire = ways(&context, 2.0, 56.0).low - ways(&ProbeContext::default(), 2.0, 56.0).low;
        assert!((wire - 2.0 * 146.0 * 8.0).abs() < 1e-6, "{wire}");
    }
}

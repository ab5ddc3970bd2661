use super::*;
use crate::analysis::SummaryOf;
use crate::stats::Summary;

fn measured(cell: ProbeCell, unit: Unit, values: [f64; 5]) -> ProbeResult {
    let value =
        Summary::from_values(&values).map(|summary| SummaryOf { summary, unit: unit.name() });
    let (trials, estimate, reference, warnings, error, evidence) =
        (vec![], None, vec![], vec![], None, vec![]);
    ProbeResult {
        cell,
        trials,
        unit: Some(unit),
        value,
        cycles: None,
        estimate,
        reference,
        warnings,
        error,
        skipped: false,
        evidence,
    }
}

fn about(value: f64) -> [f64; 5] {
    [0.98, 0.99, 1.0, 1.01, 1.02].map(|part| value * part)
}

fn rtt(to: &'static str) -> ProbeCell {
    ProbeCell::new("rtt", [("to", to.into()), ("by", "tcp".into()), ("bytes", 56.into())])
}

fn connect(to: &'static str, part: &'static str) -> ProbeCell {
    ProbeCell::new("connect", [("to", to.into()), ("part", part.into())])
}

fn bandwidth(to: &'static str) -> ProbeCell {
    ProbeCell::new("net-bandwidth", [("to", to.into())])
}

/// The figures of the second report.
fn reported() -> Vec<ProbeResult> {
    let of = |cell, value| measured(cell, Unit::Nanos, about(value));
    vec![
        of(rtt("loopback"), 55_648.0),
        of(rtt("remote"), 172_482.0),
        of(connect("loopback", "setup"), 79_063.0),
        of(connect("remote", "setup"), 225_084.0),
        of(connect("loopback", "teardown"), 35_243.0),
        of(connect("remote", "teardown"), 25_659.0),
        measured(bandwidth("loopback"), Unit::BytesPerSecond, about(2.9768e9)),
        measured(bandwidth("remote"), Unit::BytesPerSecond, about(9.868e7)),
    ]
}

#[test]
fn the_network_gets_the_remainder() {
    let network = network(&reported());
    let shares: Vec<(String, f64)> = network
        .shares
        .iter()
        .map(|share| (share.cell.probe.clone(), share.network.round()))
        .collect();
    // 10.134 ms minus 0.336 ms for 1 MB.
    assert_eq!(
        shares,
        [
            ("rtt".into(), 116_834.0),
            ("connect".into(), 146_021.0),
            ("net-bandwidth".into(), 9_797_835.0)
        ]
    );
    let share = &network.shares[0];
    assert_eq!(
        (share.low, share.high),
        (Some(172_482.0 * 0.98 - 55_648.0 * 1.02), Some(172_482.0 * 1.02 - 55_648.0 * 0.98))
    );
    // The conclusions of the report.
    let trips: Vec<String> =
        network.setups.iter().map(|of| format!("{:.1}", of.round_trips)).collect();
    assert_eq!(trips, ["1.4", "1.3"]);
    let lines = network.describe();
    assert_eq!(
        lines[0],
        "the network's share of a round trip: 117 µs of 172 µs (68 %) for by tcp, 56 B"
    );
    assert_eq!(
        lines[1],
        "the network's share of the time for 1 MB: 9.80 ms of 10.1 ms (97 %) for 1 MiB at once"
    );
    assert_eq!(lines[2], "the network's share of setting up a connection: 146 µs of 225 µs (65 %)");
    assert_eq!(
        lines[3],
        "setting up a connection in round trips: 1.42 to loopback; 1.30 to remote"
    );
    assert_eq!(
        lines[4],
        "1 MB (10^6 bytes) takes 336 µs (1 MiB, to loopback); 10.1 ms (1 MiB, to remote)"
    );
    assert_eq!(
        network.sentence().unwrap(),
        "The network's share of a round trip is 117 µs of 172 µs (68 %)."
    );
}

#[test]
fn lone_probes_claim_nothing() {
    let mut probes = reported();
    probes[1] = measured(rtt("remote"), Unit::Nanos, about(56_000.0));
    assert!(network(&probes).describe()[0].contains("no difference at 56.0 µs"));
    assert!(
        network(&probes)
            .sentence()
            .unwrap()
            .starts_with("No difference between a round trip to the other machine (56.0 µs)")
    );
    probes[0].error = Some("it failed".into());
    let found = network(&probes);
    assert!(
        found.shares.iter().all(|share| share.cell.probe != "rtt") && found.sentence().is_none()
    );
    assert_eq!(found.setups.len(), 1, "that to the peer");
    assert_eq!(network(&[]), Network::default());
    assert!(network(&probes[2..3]).describe().is_empty());
}

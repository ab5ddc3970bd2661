//! Combines the figures of the network probes: the network's share in those to a peer, and
//! connections in round trips.
//!
//! Pure functions of results.

use serde::Serialize;

use crate::analysis::ProbeResult;
use crate::plan::{Param, ProbeCell};
use crate::record::Unit;

/// A figure to a peer minus the same over the loopback.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkShare {
    /// The cell of the peer.
    pub cell: ProbeCell,
    /// Nanoseconds of one operation; for a bandwidth, of 1 MB (10^6 bytes).
    pub remote: f64,
    pub loopback: f64,
    /// `remote` minus `loopback`; below 0 if the loopback is slower.
    pub network: f64,
    /// The bounds of the difference, if both have an interval: from the ends that lie furthest
    /// apart.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Setting up a connection as a multiple of a round trip of 56 bytes by TCP to the same end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundTrips {
    pub cell: ProbeCell,
    pub round_trips: f64,
}

/// The network shares and setups; empty if nothing of the kind was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Network {
    pub shares: Vec<NetworkShare>,
    pub setups: Vec<RoundTrips>,
    /// Nanoseconds that 1 MB takes in messages of the usual size, for people; the bandwidth implies
    /// it.
    #[serde(skip)]
    pub megabytes: Vec<(ProbeCell, f64)>,
}

/// Returns the median and the interval, in nanoseconds of one operation or of 1 MB.
fn nanos(result: &ProbeResult) -> Option<(f64, Option<(f64, f64)>)> {
    let summary = result.value.filter(|_| result.is_sound())?.summary;
    let interval = summary.low.zip(summary.high);
    fn of_rate(rate: f64) -> f64 {
        1e6 / rate * 1e9
    }
    let found = match result.unit? {
        Unit::Nanos => Some((summary.median, interval)),
        Unit::BytesPerSecond => Some((
            of_rate(summary.median),
            interval.map(|(low, high)| (of_rate(high), of_rate(low))),
        )),
        Unit::PerSecond | Unit::Bytes => None,
    };
    found.filter(|(value, _)| value.is_finite())
}

fn word<'a>(cell: &'a ProbeCell, name: &str) -> Option<&'a str> {
    match cell.params.get(name) {
        Some(Param::Text(text)) => Some(text),
        _ => None,
    }
}

fn find<'a>(probes: &'a [ProbeResult], cell: &ProbeCell) -> Option<&'a ProbeResult> {
    probes.iter().find(|result| result.cell == *cell)
}

/// Compares the results to a peer with those over the loopback.
pub fn network(probes: &[ProbeResult]) -> Network {
    Network {
        shares: probes.iter().filter_map(|far| share(far, probes)).collect(),
        setups: probes.iter().filter_map(|result| setup(result, probes)).collect(),
        megabytes: probes.iter().filter_map(megabyte).collect(),
    }
}

fn share(far: &ProbeResult, probes: &[ProbeResult]) -> Option<NetworkShare> {
    // Closing does not wait, so the network has no share in it.
    let network = matches!(far.cell.probe.as_str(), "rtt" | "net-bandwidth" | "connect");
    if !network
        || word(&far.cell, "to") != Some("remote")
        || word(&far.cell, "part") == Some("teardown")
    {
        return None;
    }
    let mut near = far.cell.clone();
    near.params.insert("to".into(), "loopback".into());
    let near = find(probes, &near).filter(|near| near.unit == far.unit)?;
    let ((remote, of_remote), (loopback, of_loopback)) = (nanos(far)?, nanos(near)?);
    let bounds = of_remote.zip(of_loopback).map(|(far, near)| (far.0 - near.1, far.1 - near.0));
    let (low, high) = bounds.unzip();
    let (cell, network) = (far.cell.clone(), remote - loopback);
    Some(NetworkShare { cell, remote, loopback, network, low, high })
}

fn setup(result: &ProbeResult, probes: &[ProbeResult]) -> Option<RoundTrips> {
    if result.cell.probe != "connect" || word(&result.cell, "part") != Some("setup") {
        return None;
    }
    let mut trip = ProbeCell { probe: "rtt".into(), ..result.cell.clone() };
    trip.params.remove("part");
    trip.params.extend([("by".to_string(), "tcp".into()), ("bytes".to_string(), 56.into())]);
    let round_trips = nanos(result)?.0 / nanos(find(probes, &trip)?)?.0;
    round_trips.is_finite().then(|| RoundTrips { cell: result.cell.clone(), round_trips })
}

fn megabyte(result: &ProbeResult) -> Option<(ProbeCell, f64)> {
    let usual = !["bytes", "cpus"].iter().any(|name| result.cell.params.contains_key(*name));
    let (nanos, _) = nanos(result).filter(|_| usual && result.cell.probe == "net-bandwidth")?;
    Some((result.cell.clone(), nanos))
}

impl NetworkShare {
    /// Returns whether the peer is slower by more than chance.
    fn is_real(&self) -> bool {
        self.network > 0.0 && self.low.is_none_or(|low| low > 0.0)
    }

    /// Formats it for people: `117 µs of 172 µs (68 %)`.
    fn describe(&self) -> String {
        let show = |value| Unit::Nanos.show(value);
        match self.is_real() {
            true => format!(
                "{} of {} ({:.0} %)",
                show(self.network),
                show(self.remote),
                self.network / self.remote * 100.0
            ),
            false => format!("no difference at {}", show(self.remote)),
        }
    }

    /// Returns ` for 56 B`, or nothing if the probe has only one such cell.
    fn describe_parameters(&self) -> String {
        let mut cell = self.cell.clone();
        ["to", "part"].into_iter().for_each(|name| drop(cell.params.remove(name)));
        match cell.params.is_empty() {
            true if cell.probe == "net-bandwidth" => " for 1 MiB at once".into(),
            true => String::new(),
            false => format!(" for {}", cell.parameters()),
        }
    }
}

impl Network {
    /// Returns a sentence for each probe that has something to say.
    pub fn describe(&self) -> Vec<String> {
        let mut told: Vec<(String, Vec<String>)> = Vec::new();
        for (probe, what) in [
            ("rtt", "a round trip"),
            ("net-bandwidth", "the time for 1 MB"),
            ("connect", "setting up a connection"),
        ] {
            let shares = self.shares.iter().filter(|share| share.cell.probe == probe);
            let shares = shares.map(|share| share.describe() + &share.describe_parameters());
            told.push((format!("the network's share of {what}:"), shares.collect()));
        }
        let trips = |of: &RoundTrips| format!("{:.2} {}", of.round_trips, to_and_ip(&of.cell));
        let setups = self.setups.iter().map(trips).collect();
        told.push(("setting up a connection in round trips:".into(), setups));
        let time = |(cell, nanos): &(ProbeCell, f64)| {
            format!("{} ({})", Unit::Nanos.show(*nanos), to_and_ip(cell))
        };
        let times = self.megabytes.iter().map(time).collect();
        told.push(("1 MB (10^6 bytes) takes".into(), times));
        told.retain(|(_, figures)| !figures.is_empty());
        told.into_iter().map(|(what, figures)| format!("{what} {}", figures.join("; "))).collect()
    }

    /// Returns the sentence for an answer: the one about the plain round trip.
    pub fn sentence(&self) -> Option<String> {
        fn plain(share: &&NetworkShare) -> bool {
            share.cell.probe == "rtt" && word(&share.cell, "by") == Some("tcp")
        }
        let share = self.shares.iter().find(plain)?;
        Some(match share.is_real() {
            true => format!("The network's share of a round trip is {}.", share.describe()),
            false => format!(
                "No difference between a round trip to the other machine ({}) and over the loopback.",
                Unit::Nanos.show(share.remote)
            ),
        })
    }
}

fn to_and_ip(cell: &ProbeCell) -> String {
    let mut cell = cell.clone();
    cell.params.remove("part");
    cell.parameters()
}

#[cfg(test)]
mod tests;

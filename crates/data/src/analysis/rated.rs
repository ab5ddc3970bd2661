//! The share of the disk's rated speed that was reached.

use crate::analysis::CellResult;
use crate::analysis::why::Devices;
use crate::session::Session;
use crate::units::{show_bytes, show_rate, show_share};

/// Factor by which a disk may exceed its rated speed, which is rounded.
const TOLERANCE: f64 = 1.1;
const EXCEEDED: &str = " That is more than a disk with this rating can do: a cache served the \
                        bytes, or this is another disk.";

/// Returns `The device reached 82 % of the rated 3.5 GB/s: read 1 MiB cold, 2.67 GiB/s.`
pub fn rated(session: &Session, results: &[CellResult]) -> Option<String> {
    let rated = session.plan.rated.filter(|rate| *rate > 0)?;
    let sound = results.iter().filter(|result| result.is_from_device() && result.is_sound());
    let rates = sound.filter_map(|result| Some((result, result.throughput?.summary.median)));
    let name = decimal(rated);
    Some(match rates.max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((best, rate)) => {
            let share = rate / rated as f64;
            let (cell, shown) = (best.cell.label(), show_rate(rate));
            let more = if share > TOLERANCE { EXCEEDED } else { "" };
            let share = show_share(share);
            match Devices::from_results(results).is_cpu_limited(best) {
                false => {
                    format!(
                        "The device reached {share} of the rated {name}: {cell}, {shown}.{more}"
                    )
                }
                true => format!(
                    "Cells reached {share} of the rated {name}: {cell}, {shown}, where the CPU takes the time, not the device.{more}"
                ),
            }
        }
        None => {
            format!("Not compared with the rated {name}: no cell's data came from the device.")
        }
    })
}

/// Formats a rate as vendors write it, if it is a round number of MB/s: `3.5 GB/s`.
fn decimal(rate: u64) -> String {
    const MB: u64 = 1_000_000;
    match rate {
        _ if !rate.is_multiple_of(MB) => format!("{}/s", show_bytes(rate)),
        _ if rate >= 1000 * MB => format!("{} GB/s", rate as f64 / 1e9),
        _ => format!("{} MB/s", rate / MB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{answer_with, results};
    use crate::record::{Source, Verdict};
    use crate::session::testing;

    /// Returns a cell at this many MB/s, with this share of the bytes from the device.
    fn session(device: f64, rated: u64) -> Session {
        let mut session = testing::session(1);
        session.plan.rated = Some(rated);
        session.trials =
            (1..=5).map(|round| testing::trial(0, round, 2_870_000_000).into()).collect();
        let source =
            Some(Source { device, page_cache: 1.0 - device, hole: 0.0, unknown: 0.0, below: 0.0 });
        session.verdicts = vec![Some(Verdict { source, ..Verdict::default() }.into())];
        session
    }

    fn said(session: &Session) -> String {
        answer_with(session, &results(session), &[]).text
    }

    #[test]
    fn the_share_of_rated_speed() {
        let text = said(&session(1.0, 3_500_000_000));
        assert!(
            text.ends_with(
                " The device reached 82 % of the rated 3.5 GB/s: read 4 KiB warm, 2.67 GiB/s."
            ),
            "{text}"
        );
        let text = said(&session(1.0, 100_000_000));
        assert!(text.contains(" The device reached 2870 % of the rated 100 MB/s"), "{text}");
        assert!(text.ends_with(" a cache served the bytes, or this is another disk."), "{text}");
        let text = said(&session(0.0, 550_000_000));
        assert!(
            text.ends_with(
                " Not compared with the rated 550 MB/s: no cell's data came from the device."
            ),
            "{text}"
        );
        let mut unnamed = session(1.0, 1);
        unnamed.plan.rated = None;
        assert!(!said(&unnamed).contains("rated"));
    }

    #[test]
    fn a_round_number_is_decimal() {
        let all = [3_900_000_000, 550_000_000, 1 << 30, 7_000_000_000].map(decimal);
        assert_eq!(all, ["3.9 GB/s", "550 MB/s", "1 GiB/s", "7 GB/s"]);
    }
}

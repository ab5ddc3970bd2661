//! Writes in the answer: appending compared with overwriting, and the data read back.

use super::ratio::times_as_fast;
use crate::analysis::CellResult;
use crate::plan::{Job, Sync, Writes};
use crate::stats::Ratio;
use crate::units::show_bytes;

/// Returns `At 512 B: appending is 3.1x [2.8-3.3] as fast as overwriting.`, for the first backend
/// with both, at its smallest and largest block.
pub fn compare_writes(results: &[CellResult]) -> Option<String> {
    // `not-on-device` applies to both sides alike, so their ratio is still valid.
    fn is_sound(result: &CellResult) -> bool {
        result
            .wrong()
            .is_none_or(|wrong| wrong.id == "not-on-device" && result.cell.sync == Sync::None)
    }
    let sound = || results.iter().filter(|of| of.throughput.is_some() && is_sound(of));
    let pairs: Vec<(&Job, Ratio)> = sound()
        .filter(|result| result.cell.appends())
        .filter_map(|result| {
            let over = Job { writes: Writes::Overwrite, ..result.cell.clone() };
            let other = sound().find(|other| other.cell == over)?;
            Some((&result.cell, result.ratio_to(other)?))
        })
        .collect();
    let (first, ..) = pairs.first()?;
    let own: Vec<_> = pairs
        .iter()
        .filter(|(job, ..)| Job { block: first.block, ..(*job).clone() } == **first)
        .collect();
    let (least, most) = (
        own.iter().min_by_key(|(job, ..)| job.block)?,
        own.iter().max_by_key(|(job, ..)| job.block)?,
    );
    let ends = if least.0 == most.0 { vec![least] } else { vec![least, most] };
    let said = ends.into_iter().map(|(job, ratio)| {
        let clause = times_as_fast(("appending", "overwriting"), ratio, ["is", "was"], true);
        let until = if job.sync == Sync::None && !job.direct {
            ", measured until all data is in the page cache"
        } else {
            ""
        };
        format!("At {} with {}: {clause}{until}.", show_bytes(job.block), job.way())
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Returns `The appended data was read back and matches in every block: XOR 11af06bb.`
pub fn describe_read_back(results: &[CellResult]) -> Option<String> {
    let pairs = results
        .iter()
        .flat_map(|result| &result.trials)
        .filter_map(|trial| Some((trial.xor?, trial.evidence.read_back?)));
    let all: Vec<_> = pairs.collect();
    let (xor, _) = all.first()?;
    let wrong = all.iter().filter(|(written, read)| !read.matches(*written)).count();
    let alike = if xor.0 == 0 { " (equal blocks cancel)" } else { "" };
    Some(match wrong {
        0 if all.iter().all(|(written, _)| written == xor) => {
            format!("The appended data was read back and matches in every block: XOR {xor}{alike}.")
        }
        0 => format!(
            "The appended data was read back in all {} trials: the XOR and every block match.",
            all.len()
        ),
        wrong => format!(
            "The data read back differs from the data appended in {wrong} of {} trials.",
            all.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::result;
    use crate::plan::{Cache, Op};
    use crate::record::{Evidence, ReadBack, Trial, Xor};
    use crate::session::testing::job;

    fn cell(writes: Writes, block: u64, nanos: u64, read: u32) -> CellResult {
        let job = Job {
            op: Op::Write,
            writes,
            sync: Sync::End,
            xor: true,
            ..job("pread", block, Cache::AsIs)
        };
        let evidence = Evidence {
            read_back: Some(ReadBack { xor: Xor(read), other_blocks: 0 }).filter(|_| job.appends()),
            ..Evidence::default()
        };
        let trial = |n: u64| Trial {
            bytes: 1 << 20,
            ops: 256,
            nanos: nanos + n * nanos / 1000,
            xor: Some(Xor(7)),
            evidence: evidence.clone(),
            ..Trial::default()
        };
        result(&job, (0..7).map(|n| trial(n).into()).collect(), None, None)
    }

    #[test]
    fn appending_and_overwriting_are_compared() {
        let cells = [
            cell(Writes::Overwrite, 512, 3_000_000, 0),
            cell(Writes::Overwrite, 65536, 1_000_000, 0),
            cell(Writes::Append, 512, 1_000_000, 7),
            cell(Writes::Append, 65536, 2_000_000, 7),
        ];
        let said = compare_writes(&cells).unwrap();
        assert!(
            said.starts_with(
                "At 512 B with pwrite: appending is 3.0x [3.0-3.0] as fast as overwriting. At 64 KiB"
            ),
            "{said}"
        );
        assert!(said.ends_with("overwriting is 2.0x [2.0-2.0] as fast as appending."), "{said}");
        assert_eq!(compare_writes(&cells[..3]).unwrap().matches("At").count(), 1);
        assert_eq!(
            (
                compare_writes(&cells[2..]),
                compare_writes(&cells[..2]),
                describe_read_back(&cells[..2])
            ),
            (None, None, None)
        );
        assert_eq!(
            describe_read_back(&cells).unwrap(),
            "The appended data was read back and matches in every block: XOR 00000007."
        );
        let bad =
            [cell(Writes::Append, 512, 1_000_000, 7), cell(Writes::Append, 512, 1_000_000, 8)];
        assert_eq!(
            describe_read_back(&bad).unwrap(),
            "The data read back differs from the data appended in 7 of 14 trials."
        );
    }
}

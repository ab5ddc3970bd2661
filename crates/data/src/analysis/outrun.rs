//! Sequential writes that are faster than reads or than the link: a cache takes them.

use crate::analysis::CellResult;
use crate::plan::{Job, Op, Pattern};
use crate::session::Session;
use crate::stats::{Ratio, Summary};
use crate::units::{short_bytes, show_bytes, show_rate};

/// Minimum ratio of write to read rate at which a cache must be absorbing the writes.
const MIN_RATIO: f64 = 1.2;
/// Factor by which a rate may exceed that of the link, for inexact clocks.
const LINK_TOLERANCE: f64 = 1.03;

/// Returns the sentences about the sequential writes that outrun what they should by the most;
/// `None` where the trials show none.
pub fn describe_outrun(session: &Session, results: &[CellResult]) -> Option<String> {
    let most = find(session, results)?;
    let job = &most.write.cell;
    let hypervisor = session.grounds.as_ref().and_then(|of| of.machine.hypervisor.as_ref());
    let cache = match hypervisor {
        Some(_) => "the disk's own, or the memory of the host of this virtual machine",
        None => "the disk's own",
    };
    Some(format!(
        "Sequential writes outrun {}: {} at {} writes {}. A cache takes them ({cache}): {}. What \
         lasts shows with -p sustain -b {} -s {} -q {} and a --size beyond the cache.",
        most.what,
        job.backend,
        show_bytes(job.block),
        show_rate(most.rate),
        most.describe_written(),
        job.backend,
        short_bytes(job.block),
        job.depth
    ))
}

/// Returns the same in a few words: `writes outrun reads, which reach 2.61 GiB/s: a cache takes
/// them (20.5 GiB went to the same 512 MiB); -p sustain on a larger file shows what lasts`.
pub fn brief_outrun(session: &Session, results: &[CellResult]) -> Option<String> {
    let most = find(session, results)?;
    let (what, _) = most.what.split_once(", which").unwrap_or((&most.what, ""));
    let written = most.describe_written();
    Some(format!(
        "writes outrun {what}: a cache takes them ({written}); -p sustain on a larger file shows what lasts"
    ))
}

/// Finds the sequential writes that outrun what they should by the most.
fn find<'a>(session: &Session, results: &'a [CellResult]) -> Option<Outrun<'a>> {
    let found = results.iter().filter(|result| waits_for_device(result)).filter_map(|write| {
        let rate = write.throughput?.summary;
        of_reads(results, write, &rate).or_else(|| of_link(session, write, &rate))
    });
    found.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

/// Writes that outrun something.
struct Outrun<'a> {
    write: &'a CellResult,
    rate: f64,
    ratio: f64,
    /// `reads, which reach 2.61 GiB/s`.
    what: String,
}

impl Outrun<'_> {
    /// Returns `20.5 GiB went to the same 512 MiB`.
    fn describe_written(&self) -> String {
        let written = self.write.trials.iter().map(|trial| trial.bytes).sum();
        format!("{} went to the same {}", show_bytes(written), show_bytes(self.write.cell.span))
    }
}

/// Returns whether the result is that of sequential writes that wait for the device.
fn waits_for_device(result: &CellResult) -> bool {
    let job = &result.cell;
    job.op == Op::Write
        && job.mix.is_none()
        && !job.is_paced()
        && job.pattern == Pattern::Seq
        && !job.commits()
        && result.wrong().is_none()
        && result.is_from_device()
}

/// Compares writes with the fastest reads of the same blocks.
fn of_reads<'a>(
    results: &[CellResult],
    write: &'a CellResult,
    rate: &Summary,
) -> Option<Outrun<'a>> {
    let load = |job: &Job| {
        (job.pattern, job.block, job.depth, job.all_threads(), job.target, job.variant.clone())
    };
    let reads = results.iter().filter(|read| {
        load(&read.cell) == load(&write.cell)
            && read.cell.op == Op::Read
            && !read.cell.is_paced()
            && read.wrong().is_none()
            && read.is_from_device()
    });
    let read = reads
        .filter_map(|read| Some(read.throughput?.summary))
        .max_by(|a, b| a.median.total_cmp(&b.median))?;
    let ratio = rate.median / read.median;
    let surely = match Ratio::from_summaries(rate, &read).and_then(|ratio| ratio.verdict()) {
        Some(order) => order.is_gt(),
        // Too few trials for an interval: not one read was as fast as any write.
        None => rate.min > read.max,
    };
    (ratio > MIN_RATIO && surely).then(|| Outrun {
        write,
        rate: rate.median,
        ratio,
        what: format!("reads, which reach {}", show_rate(read.median)),
    })
}

/// Compares writes with the link to the disk.
fn of_link<'a>(session: &Session, write: &'a CellResult, rate: &Summary) -> Option<Outrun<'a>> {
    let link = session.grounds.as_ref()?.target_of(&write.cell).link.as_ref()?;
    let ratio = rate.median / link.bytes_per_second;
    (ratio.is_finite() && ratio > LINK_TOLERANCE).then(|| Outrun {
        write,
        rate: rate.median,
        ratio,
        what: format!("the link, which carries {}", show_rate(link.bytes_per_second)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::result;
    use crate::plan::Cache;
    use crate::record::{Grounds, LinkCeiling, Source, Trial, Verdict};
    use crate::session::testing::{self, job};

    /// Five trials of 1 GiB each, at these MiB/s and 1 % more each.
    fn cell(op: Op, pattern: Pattern, rate: u64, trials: u64) -> CellResult {
        let job = Job {
            op,
            pattern,
            direct: true,
            depth: 8,
            span: 512 << 20,
            ..job("uring", 1 << 20, Cache::AsIs)
        };
        let trial = |n: u64| Trial {
            round: n as u32 + 1,
            bytes: 1 << 30,
            ops: 1024,
            nanos: 1024 * 1_000_000_000 / (rate + rate * n / 100),
            ..Trial::default()
        };
        let source = Source { device: 1.0, page_cache: 0.0, hole: 0.0, unknown: 0.0, below: 0.0 };
        let verdict = Verdict { source: Some(source), ..Verdict::default() };
        result(&job, (0..trials).map(|n| trial(n).into()).collect(), Some(&verdict), None)
    }

    fn said(results: &[CellResult]) -> Option<String> {
        describe_outrun(&testing::session(1), results)
    }

    #[test]
    fn writes_outrunning_reads_hit_a_cache() {
        let read = cell(Op::Read, Pattern::Seq, 2676, 5);
        let text = said(&[read.clone(), cell(Op::Write, Pattern::Seq, 5904, 5)]).unwrap();
        assert_eq!(
            text,
            "Sequential writes outrun reads, which reach 2.67 GiB/s: uring at 1 MiB writes 5.88 \
             GiB/s. A cache takes them (the disk's own): 5 GiB went to the same 512 MiB. What \
             lasts shows with -p sustain -b uring -s 1m -q 8 and a --size beyond the cache."
        );
        let few = [read.clone(), cell(Op::Write, Pattern::Seq, 5904, 2)];
        assert_eq!(
            brief_outrun(&testing::session(1), &few).unwrap(),
            "writes outrun reads: a cache takes them (2 GiB went to the same 512 MiB); -p \
             sustain on a larger file shows what lasts"
        );
        assert_eq!(said(&[read.clone(), cell(Op::Write, Pattern::Seq, 3000, 5)]), None, "1.1x");
        assert_eq!(said(&[read, cell(Op::Write, Pattern::Random, 5904, 5)]), None, "random");
        assert_eq!(said(&[cell(Op::Write, Pattern::Seq, 5904, 5)]), None, "nothing to compare");
    }

    #[test]
    fn writes_outrunning_the_link_hit_caches() {
        let mut session = testing::session(1);
        let mut grounds = Grounds::default();
        let name = "SATA 6.0 Gbps".to_string();
        grounds.target.link = Some(LinkCeiling { name, bytes_per_second: 600e6 });
        session.grounds = Some(grounds);
        let text = describe_outrun(&session, &[cell(Op::Write, Pattern::Seq, 900, 5)]).unwrap();
        assert!(text.contains("outrun the link, which carries 572 MiB/s: uring at"), "{text}");
        let slower = cell(Op::Write, Pattern::Seq, 500, 5);
        assert_eq!(describe_outrun(&session, &[slower]), None);
    }
}

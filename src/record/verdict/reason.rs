//! How the source of the bytes is known, and what makes it less exact than it looks, in words.

use super::CellEvidence;
use super::facts::{line, share, size};
use super::source::{Parts, Sight, on_device, sight};
use crate::record::Trial;
use crate::units::show_share;

/// From this share on a file counts as cached.
const HELD: f64 = 0.99;
/// Below this share of the bytes, an upper and a lower bound are the same number.
const BOUND: f64 = 0.01;

pub(super) fn reason(evidence: &CellEvidence, parts: &Parts) -> String {
    let mut text = Vec::new();
    if evidence.reads() {
        text.push(read_reason(evidence, parts));
    }
    if evidence.writes() {
        text.push(write_reason(evidence));
    }
    if evidence.reads() && parts.wanted > 0 {
        text.extend(caveats(evidence, parts));
    }
    line(&text.join("; "))
}

fn read_reason(evidence: &CellEvidence, parts: &Parts) -> String {
    let fs = evidence.fs();
    match sight(evidence) {
        Sight::Memory => format!("{fs} is memory"),
        Sight::Remote => format!(
            "{fs}: a server moves the bytes, so its device reads are not seen here{}",
            cache_part(evidence)
        ),
        Sight::Uncounted => {
            format!("reads of {fs} are not charged to this process{}", cache_part(evidence))
        }
        Sight::Counted if evidence.trials().any(|t| evidence.split(t).is_none()) => {
            "reads and writes were not told apart".into()
        }
        Sight::Counted if evidence.trials().all(|t| t.device_bytes.is_none()) => {
            "this kernel does not tell what a process reads from the device".into()
        }
        Sight::Counted => format!(
            "this process read {} from the device for {} of stored data",
            size(parts.fetched),
            size(parts.wanted)
        ),
    }
}

/// What residency shows of the page cache's part, where no counter shows the device's.
fn cache_part(evidence: &CellEvidence) -> String {
    if evidence.job.direct || !evidence.info.cached {
        return String::new();
    }
    let span = evidence.job.span;
    let of = |resident: fn(&Trial) -> Option<u64>| {
        let known: Vec<f64> = evidence
            .trials()
            .filter_map(resident)
            .map(|bytes| share(bytes, span).min(1.0))
            .collect();
        crate::stats::median(&known)
    };
    let (Some(before), Some(after)) = (of(|t| t.resident_before), of(|t| t.resident_after)) else {
        return "; whether the page cache took part cannot be seen".into();
    };
    let part = match () {
        () if before >= HELD => "the page cache could answer all of it",
        () if before < BOUND && after < BOUND => "the page cache took no part",
        () if before < BOUND => "the page cache was empty at first and filled up",
        () => "the page cache could answer a part of it",
    };
    format!(
        "; {part}: it held {} before a trial and {} after it",
        show_share(before),
        show_share(after)
    )
}

fn write_reason(evidence: &CellEvidence) -> String {
    let fs = evidence.fs();
    let reached = |t: &Trial| evidence.split(t).and_then(|(_, written)| on_device(t, written));
    if evidence.target.memory {
        format!("{fs} is memory")
    } else if evidence.target.remote {
        format!("{fs}: a server moves the bytes")
    } else if !evidence.job.direct || evidence.target.direct == Some(false) {
        "buffered writes are charged when dirtied, so their device bytes are not known".into()
    } else if !evidence.trials().all(|t| reached(t).is_some()) {
        "no counter shows which direct writes reached the disk".into()
    } else {
        let disk = evidence.sum(|t| reached(t).unwrap_or(0));
        format!("{} of direct writes reached the disk", size(disk))
    }
}

/// What makes the shares of reads less exact than they look.
fn caveats(evidence: &CellEvidence, parts: &Parts) -> Vec<String> {
    let mut text = Vec::new();
    let any = |holds: &dyn Fn(&Trial) -> bool| evidence.trials().any(holds);
    let loose = any(&|t| t.repeats() > 0) || parts.fetched > parts.wanted;
    let (least, most) = (share(parts.least, parts.all()), share(parts.device, parts.all()));
    if loose && most - least > BOUND {
        text.push(format!(
            "bytes read again or ahead: the device share is an upper bound, between {} and {}",
            show_share(least),
            show_share(most)
        ));
    }
    if any(&|t| t.device_bytes.is_none()) {
        text.push("some trials do not tell their device bytes".into());
    }
    if evidence.target.hole_bytes.is_none() && any(&|t| t.hole_bytes.is_none()) {
        text.push("holes could not be looked for".into());
    } else if evidence.target.hole_bytes != Some(0) && any(&|t| t.hole_bytes.is_none()) {
        text.push("holes are taken as spread evenly".into());
    }
    if let Some(why) = &evidence.target.compresses {
        text.push(format!("may be stored smaller than it is read ({why})"));
    }
    if any(&Trial::is_sampled) {
        text.push("residency was sampled, not counted".into());
    }
    text
}

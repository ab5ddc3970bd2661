//! How a cell is called in a sentence: by what tells it from the others, and by what is not the
//! default.

use crate::analysis::Axis;
use crate::engine::moves_data;
use crate::plan::{Cache, CpuCache, Job, Op, Pattern, Sync};
use crate::units;

/// What differs between the cells of a session.
pub struct Labels {
    block: bool,
    span: bool,
    count: bool,
    direct: bool,
}

impl Labels {
    pub fn of<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Labels {
        let varies = |value: fn(&Job) -> u64| {
            let mut values = jobs.clone().map(value);
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        Labels {
            block: varies(|job| job.block),
            span: varies(|job| job.span),
            count: varies(|job| job.count.unwrap_or(u64::MAX)),
            direct: varies(|job| job.direct.into()),
        }
    }

    /// `mmap at 2 MiB, warm, 4 threads`.
    pub fn full(&self, job: &Job) -> String {
        let mut text = job.backend.to_string();
        if self.block || moves_data(job) {
            text += &format!(" at {}", units::show_bytes(job.block));
        }
        let mut parts = Vec::new();
        if job.cache != Cache::AsIs {
            parts.push(job.cache.to_string());
        }
        parts.extend(self.rest(job, None));
        for part in parts {
            text += &format!(", {part}");
        }
        text
    }

    /// A curve: `read`, or `read (4 threads)`; without its cache state and its place on the axis.
    pub fn curve(&self, job: &Job, axis: Axis) -> String {
        let rest = self.rest(job, Some(axis));
        let at = (axis != Axis::Block && self.block).then(|| units::show_bytes(job.block));
        let parts: Vec<String> = at.into_iter().chain(rest).collect();
        if parts.is_empty() {
            job.backend.to_string()
        } else {
            format!("{} ({})", job.backend, parts.join(", "))
        }
    }

    /// A curve over the block size with its cache state: `read cold (CPU caches flushed)`.
    pub fn curve_of_blocks(&self, job: &Job) -> String {
        let state =
            if job.cache == Cache::AsIs { String::new() } else { format!(" {}", job.cache) };
        let rest = self.rest(job, Some(Axis::Block)).join(", ");
        let rest = if rest.is_empty() { rest } else { format!(" ({rest})") };
        format!("{}{state}{rest}", job.backend)
    }

    /// What is not the default, and what differs; the axis of a curve is left out.
    fn rest(&self, job: &Job, axis: Option<Axis>) -> Vec<String> {
        let mut parts = Vec::new();
        let mut part = |shown: bool, text: &dyn Fn() -> String| {
            if shown {
                parts.push(text());
            }
        };
        part(job.op == Op::Write, &|| job.action().into());
        part(job.pattern != Pattern::Seq, &|| job.pattern.to_string());
        part(job.threads > 1 && axis != Some(Axis::Threads), &|| {
            Axis::Threads.show(job.threads.into())
        });
        part(job.depth > 1 && axis != Some(Axis::Depth), &|| Axis::Depth.show(job.depth.into()));
        part(job.direct, &|| "direct".into());
        part(self.direct && !job.direct, &|| "buffered".into());
        part(job.xor, &|| "with XOR".into());
        part(job.sync != Sync::None, &|| format!("sync {}", job.sync));
        part(job.cpu_cache == CpuCache::Flush, &|| "CPU caches flushed".into());
        part(job.mix.is_some() && axis != Some(Axis::Mix), &|| {
            format!("{} % reads", job.mix.unwrap_or_default())
        });
        part(self.span && job.span > 0 && axis != Some(Axis::Size), &|| Axis::Size.show(job.span));
        // A figure of a report may be of an unknown size and count: that is not calibrated.
        part(
            self.count && (job.count.is_some() || job.span > 0) && axis != Some(Axis::Count),
            &|| match job.count {
                None => "calibrated".into(),
                Some(0) => "one pass".into(),
                Some(count) => format!("{} operations", units::show_count(count as f64)),
            },
        );
        parts
    }
}

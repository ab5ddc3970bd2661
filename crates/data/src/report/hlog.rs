//! Latencies over time as an interval log of HdrHistogram, for its own tools and viewers.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::gbench::BenchmarkNames;
use super::{Format, Look};
use crate::record::{LogBuckets, LogCount, LogEntry};
use crate::session::Session;
use crate::stats::histogram::MAX_VALUE;
use crate::text::parse_utc;

pub const FORMAT: Format = Format {
    id: "hlog",
    about: "latencies over time: an interval log of HdrHistogram",
    extension: "hlog",
    binary: false,
    write,
};

/// Nanoseconds of the unit in which a log shows a maximum: milliseconds, as is usual.
const MAX_DIVISOR: f64 = 1e6;

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut log = IntervalLogWriterBuilder::new();
    log.add_comment("Latencies in nanoseconds, times in seconds after the start of the run.");
    log.with_max_value_divisor(MAX_DIVISOR);
    log.with_start_time(parse_utc(&session.created).unwrap_or(SystemTime::UNIX_EPOCH));
    let (mut out, mut serializer) = (out, V2DeflateSerializer::new());
    let mut log = log.begin_log_with(&mut out, &mut serializer)?;
    let names = BenchmarkNames::for_cells(&session.plan.cells);
    for (trial, latencies) in session.latency_logs() {
        let Some(job) = session.plan.cells.get(trial.cell as usize) else { continue };
        let name = names.name(job).replace([',', ' '], "_");
        for entry in latencies.entries() {
            let start = trial.evidence.started.saturating_add(latencies.start_of(entry));
            let width = Duration::from_nanos(latencies.length_of(entry));
            for (kind, counts) in kinds(entry) {
                let (tag, histogram) = (format!("{name}{kind}"), to_histogram(counts)?);
                let start = Duration::from_nanos(start);
                log.write_histogram(&histogram, start, width, Tag::new(&tag))
                    .map_err(io::Error::other)?;
            }
        }
    }
    Ok(())
}

/// Returns the latencies of an interval, each with the end of its tag.
fn kinds(entry: &LogEntry) -> impl Iterator<Item = (&'static str, &[LogCount])> {
    let latency = if entry.service.is_empty() { "" } else { "/response" };
    let kinds = [(latency, &entry.latency[..]), ("/service", &entry.service[..])];
    kinds.into_iter().filter(|(_, counts)| !counts.is_empty())
}

/// Returns the buckets as a histogram: each by the middle of its values.
fn to_histogram(counts: &[LogCount]) -> io::Result<Histogram<u64>> {
    let mut all = Histogram::new_with_bounds(1, MAX_VALUE, 2).map_err(io::Error::other)?;
    for (bucket, count) in counts {
        all.saturating_record_n(LogBuckets::middle((*bucket).into()).max(1), (*count).into());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry as Line};
    use iotui_files::testing::{skip, without};

    use super::*;
    use crate::report::testing;

    fn text(session: &Session) -> String {
        let mut out = Vec::new();
        write(session, &Look::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn its_own_reader_gets_everything() {
        let session = testing::timed();
        let text = text(&session);
        let mut lines = Vec::new();
        for line in IntervalLogIterator::new(text.as_bytes()) {
            let Line::Interval(line) = line.unwrap() else { continue };
            let raw = base64::Engine::decode(
                &base64::engine::general_purpose::STANDARD,
                line.encoded_histogram(),
            );
            let histogram: Histogram<u64> =
                Deserializer::new().deserialize(&mut &raw.unwrap()[..]).unwrap();
            let millis = [line.start_timestamp(), line.duration()].map(|time| time.as_millis());
            let tag = line.tag().unwrap().to_string();
            lines.push((tag, millis, histogram.len(), histogram.max()));
        }
        let tag = "read/read/seq/block:4096/warm";
        let of =
            |kind: &str, start, count, max: u64| (format!("{tag}{kind}"), [start, 100], count, max);
        assert_eq!(
            lines,
            [
                of("", 2500, 90, 1003),
                of("", 2600, 10, 1_011_711),
                of("/response", 9000, 5, 64_255),
                of("/service", 9000, 5, 1003),
            ],
            "{text}"
        );
    }

    /// Reads a log with the reader of HdrHistogram's Python library, and prints the lines.
    const READ: &str = r#"
import json, sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1, 100000000000, 2))
lines = []
while True:
    found = reader.get_next_interval_histogram()
    if found is None:
        break
    lines.append([found.get_tag(), found.get_total_count(), found.get_start_time_stamp()])
print(json.dumps(lines))
"#;

    #[test]
    fn library_of_hdrhistogram_reads_it() {
        let mut found = Command::new("python3");
        match found.args(["-c", "import hdrh.log"]).stderr(Stdio::null()).status() {
            Err(_) => return without("python3"),
            Ok(status) if !status.success() => return skip("hdrhistogram is not installed"),
            Ok(_) => {}
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text(&testing::timed()).as_bytes()).unwrap();
        let output = Command::new("python3").args(["-c", READ]).arg(file.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines: Vec<(String, u64, f64)> = serde_json::from_slice(&output.stdout).unwrap();
        let counts: Vec<u64> = lines.iter().map(|line| line.1).collect();
        assert_eq!(counts, [90, 10, 5, 5], "{lines:?}");
        assert!(lines[2].0.ends_with("/response") && lines[3].0.ends_with("/service"));
        assert_eq!(lines[1].2 - lines[0].2, 100.0, "milliseconds");
    }
}

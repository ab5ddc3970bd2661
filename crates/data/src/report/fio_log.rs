//! Trials over time in the lines of fio's logs: `msec, value, direction, block size, offset,
//! priority`, all cells in one file, as with its `per_job_logs=0`.

use std::io::{self, Write};

use crate::plan::{Job, Op};
use crate::record::{LatencyLog, LogBuckets, LogEntry, Trial};
use crate::session::Session;

/// The work of an interval.
pub(super) struct Interval {
    /// Its length, nanoseconds; above 0.
    pub nanos: u64,
    pub bytes: u64,
    /// The mean latency, nanoseconds; `None` where no operation was timed.
    pub latency: Option<f64>,
}

/// Writes a line for each interval that has a value. Reads and writes of a mix are not apart, and
/// count as reads.
pub(super) fn write(
    session: &Session,
    out: &mut dyn Write,
    value: fn(&Interval) -> Option<u64>,
) -> io::Result<()> {
    let mut is_empty = true;
    let mut logs = session.latency_logs().peekable();
    for trial in &session.trials {
        let log = logs.next_if(|(own, _)| std::ptr::eq(*own, trial)).map(|(_, log)| log);
        let Some(job) = session.plan.cells.get(trial.cell as usize) else { continue };
        for (end, interval) in intervals(trial, log.as_ref()) {
            if let Some(value) = value(&interval) {
                write_line(out, trial.evidence.started.saturating_add(end), value, job)?;
                is_empty = false;
            }
        }
    }
    // Readers refuse a file without a line.
    if is_empty { writeln!(out, "0, 0, 0, 0, 0, 0") } else { Ok(()) }
}

fn write_line(out: &mut dyn Write, nanos: u64, value: u64, job: &Job) -> io::Result<()> {
    let direction = u8::from(job.op == Op::Write && job.mix.is_none());
    writeln!(out, "{}, {value}, {direction}, {}, 0, 0", nanos / 1_000_000, job.block)
}

/// Returns the intervals of a trial, each with its end in nanoseconds after the start. A trial
/// without a log is one interval.
fn intervals(trial: &Trial, log: Option<&LatencyLog>) -> Vec<(u64, Interval)> {
    let Some(log) = log else {
        let (timed, sum) = (trial.evidence.timed_ops, trial.evidence.timed_nanos);
        let latency = (timed > 0).then(|| sum as f64 / timed as f64);
        let nanos = trial.nanos.max(1);
        return vec![(nanos, Interval { nanos, bytes: trial.bytes, latency })];
    };
    let interval = |entry: &LogEntry| {
        let start = log.start_of(entry);
        // The last one ends with the trial.
        let nanos =
            trial.nanos.saturating_sub(start).clamp(1_000_000, log.length_of(entry).max(1_000_000));
        let interval = Interval { nanos, bytes: entry.bytes, latency: mean(entry) };
        (start.saturating_add(nanos), interval)
    };
    log.entries().iter().map(interval).collect()
}

/// Returns the mean latency of an entry, nanoseconds, from the middles of its buckets.
fn mean(entry: &LogEntry) -> Option<f64> {
    let middle = |bucket: u16| LogBuckets::middle(bucket.into()) as f64;
    let sum: f64 =
        entry.latency.iter().map(|(bucket, count)| middle(*bucket) * f64::from(*count)).sum();
    let timed = entry.timed();
    (timed > 0).then(|| sum / timed as f64)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use iotui_files::testing::without;

    use crate::report::{Look, find_format, testing};
    use crate::session::Session;

    fn text(format: &str, session: &Session) -> String {
        let mut out = Vec::new();
        (find_format(format).unwrap().write)(session, &Look::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_have_the_figures_of_intervals() {
        let session = testing::timed();
        // 400 KiB in 100 ms, 200 KiB in the 50 ms until the end, 100 KiB in 100 ms.
        assert_eq!(
            text("fio-bw", &session),
            "2600, 4000, 0, 4096, 0, 0\n2650, 4000, 0, 4096, 0, 0\n9100, 1000, 0, 4096, 0, 0\n"
        );
        assert_eq!(
            text("fio-lat", &session),
            "2600, 1000, 0, 4096, 0, 0\n2650, 1007616, 0, 4096, 0, 0\n9100, 64000, 0, 4096, 0, 0\n"
        );
    }

    #[test]
    fn trials_without_log_have_one_line() {
        let mut session = testing::timed();
        session.latencies.clear();
        assert_eq!(text("fio-bw", &session).lines().count(), 2);
        session.trials.clear();
        assert_eq!(text("fio-lat", &session), "0, 0, 0, 0, 0, 0\n");
    }

    #[test]
    fn fio2gnuplot_reads_it() {
        if Command::new("fio2gnuplot").arg("--help").output().is_err() {
            return without("fio2gnuplot");
        }
        for (format, name, pattern, [min, max]) in [
            ("fio-bw", "a_bw.log", "*_bw.log", [1000, 4000]),
            ("fio-lat", "a_lat.log", "*_lat.log", [1000, 1_007_616]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), text(format, &testing::timed())).unwrap();
            let mut command = Command::new("fio2gnuplot");
            let ran = command.args(["-p", pattern]).current_dir(folder.path()).output().unwrap();
            let files = std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path());
            let global =
                files.into_iter().find(|path| path.extension().is_some_and(|of| of == "global"));
            let found = global.map(|path| std::fs::read_to_string(path).unwrap());
            let found = found.unwrap_or_else(|| panic!("{format}: {ran:?}"));
            for line in [format!("min={min}.00"), format!("max={max}.00"), "values_count=3".into()]
            {
                assert!(found.lines().any(|own| own == line), "{format}: {line} in {found}");
            }
        }
    }
}

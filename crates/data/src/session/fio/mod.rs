//! Converts the output of fio's `--output-format=json` or `json+`, of any version, to a session:
//! one cell for each kind of job and direction.
//!
//! fio reports the amount, the time and the latencies, but not where the bytes came from, which
//! remains unknown. Jobs of one group run at the same time: jobs with equal options are the
//! threads of one trial, on one machine or several. Later groups are further trials.

mod cells;
mod jobs;
mod latencies;
mod options;
mod output;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::cells::{Cell, Import};
use self::jobs::Part;
use self::output::{Disk, Output};
use self::text::Found;
use super::{Session, SessionError, reader};
use crate::facts::Host;
use crate::plan::{Plan, TargetSpec, TrialTime};
use crate::record::End;
use crate::text::{clean, utc};
use crate::units::counted;

/// The largest file that is read, bytes: json+ of a job with every bin has about 0.2 MiB.
const MAX_FILE_LEN: u64 = 64 << 20;
/// The most jobs of a file; one with more is rejected.
const MAX_JOBS: usize = 4096;

/// Returns the session in fio's output, which may have text around its JSON; `None` where the file
/// is not fio's.
///
/// # Errors
/// The file cannot be read, is too large, or is fio's but has no results in JSON.
pub fn session(path: &Path) -> Result<Option<Session>, SessionError> {
    let (file, bytes) = reader::open(path)?;
    let mut raw = Vec::new();
    let failed = |error| SessionError::io("read", path, error);
    file.take(MAX_FILE_LEN + 1).read_to_end(&mut raw).map_err(failed)?;
    let long = raw.len() as u64 > MAX_FILE_LEN;
    // A compressed file of anything else may be damaged as well.
    let Ok(text) = text::decode(raw, MAX_FILE_LEN + 1) else { return Ok(None) };
    let no = |why: String| SessionError::NotASession { path: path.into(), why };
    let found = text::find(&text);
    match (&found.error, found.documents.is_empty()) {
        (None, true) => text::refusal(&text).map_or(Ok(None), |why| Err(no(why))),
        _ if long || text.len() as u64 > MAX_FILE_LEN => {
            Err(SessionError::TooLarge { path: path.into(), bytes, most: MAX_FILE_LEN })
        }
        (Some(error), true) => Err(no(format!("not fio's JSON output: {error}"))),
        _ => build_session(found).map(Some).map_err(no),
    }
}

fn build_session(found: Found) -> Result<Session, String> {
    let reports = found.documents.len();
    let mut runs = jobs::last_reports(found.documents);
    let jobs: usize = runs.iter().map(|run| run.jobs.len()).sum();
    if jobs == 0 {
        return Err("fio ran no job".into());
    }
    if jobs > MAX_JOBS {
        return Err(format!("it has {jobs} jobs, the limit is {MAX_JOBS}"));
    }
    let mut import = Import::default();
    let mut old = false;
    for run in &mut runs {
        old |= jobs::modernize(run)?;
    }
    let (parts, hosts) = (runs.iter().flat_map(jobs::parts).collect::<Vec<_>>(), hosts(&runs));
    import.notes = notes(&runs, &parts, old);
    if reports > runs.len() {
        let reports = counted(reports, "report");
        import.notes.push(format!("{reports} while fio ran: the last of each run counts"));
    }
    if let Some(error) = &found.error {
        import.notes.push(format!("the rest could not be read: {error}"));
    }
    if hosts.len() > 1 {
        let named = |(name, port): &(String, u64)| format!("{name}:{port}");
        let names: Vec<String> = hosts.iter().take(16).map(named).collect();
        let names = clean::brief(&names.join(", "), 160);
        let servers = counted(hosts.len(), "server");
        import.notes.push(format!("{servers} of fio measured at the same time: {names}"));
    }
    for run in &runs {
        import.run(run, &found.before);
    }
    if import.cells.is_empty() {
        return Err("none of its jobs reads or writes".into());
    }
    let last = &runs[runs.len() - 1];
    import.notes.extend(last.disk_util.iter().take(16).map(describe_disk));
    let names: BTreeSet<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
    let name = if let [name] = names.iter().collect::<Vec<_>>()[..] { name } else { "" };
    let host = Host { name: clean::brief(name, 200), ..Host::default() };
    let (target, more) = target(&parts, &import.cells);
    import.notes.extend(more);
    Ok(finish(import, host, target, last.timestamp))
}

/// Returns the servers of all jobs; one without a name if fio measured by itself.
fn hosts(runs: &[Output]) -> BTreeSet<(String, u64)> {
    runs.iter().flat_map(|run| &run.jobs).map(|job| (job.hostname.clone(), job.port)).collect()
}

/// Returns the notes about all cells. `old`: figures were converted from KiB.
fn notes(runs: &[Output], parts: &[Part], old: bool) -> Vec<String> {
    let versions: BTreeSet<&str> = runs.iter().map(|run| run.version.as_str()).collect();
    let versions: Vec<String> = versions.iter().map(|of| clean::brief(of, 40)).take(4).collect();
    let mut notes = vec![format!("measured by {} and imported from its JSON", versions.join(", "))];
    if old {
        notes.push("this version of fio counts bytes in KiB".into());
    }
    if parts.iter().all(|part| part.asked.get("invalidate") != Some("0")) {
        notes.push("fio drops the file from the page cache before a job by default; what was cached was not checked".into());
    }
    notes
}

fn describe_disk(disk: &Disk) -> String {
    let Disk { name, read_ios, write_ios, util } = disk;
    let text = format!("disk {name}: {read_ios} reads, {write_ios} writes, busy {util:.1} %");
    clean::brief(&text, 160)
}

fn target(parts: &[Part], cells: &[Cell]) -> (TargetSpec, Option<String>) {
    let files: Vec<String> = parts.iter().map(|part| clean::brief(&part.file(), 4096)).collect();
    let first = files.first().cloned().unwrap_or_default();
    let files = files.into_iter().collect::<BTreeSet<_>>().len();
    let more = (files > 1).then(|| format!("fio used {files} files; the first is named above"));
    let size = cells.iter().map(|cell| cell.job.span).max().unwrap_or(0);
    (TargetSpec::File { path: first.into(), size }, more)
}

fn finish(import: Import, host: Host, target: TargetSpec, timestamp: u64) -> Session {
    let longest = import.trials.iter().map(|trial| trial.nanos).max().unwrap_or(0);
    let plan = Plan {
        cells: import.cells.iter().map(|cell| cell.job.clone()).collect(),
        trial_time: TrialTime::from_duration(Duration::from_nanos(longest)),
        budget: Duration::from_nanos(import.nanos),
        ..Plan::plain("fio", target)
    };
    // Years beyond 9999 cannot be written in this format.
    let created = utc(std::time::UNIX_EPOCH + Duration::from_secs(timestamp.min(253_402_300_799)));
    let mut session = Session::new(String::new(), String::new(), created, host, plan);
    session.trials = import.trials.into_iter().map(Into::into).collect();
    for (at, mut cell) in import.cells.into_iter().enumerate() {
        session.errors[at] = cell.error.take();
        session.verdicts[at] = Some(Arc::new(cell.into_verdict()));
    }
    session.notes = import.notes;
    session.end = Some(End::Finished);
    session
}

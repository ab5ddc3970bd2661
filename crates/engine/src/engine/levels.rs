//! Measures the effect of each cache-drop level: the file is opened and read after dropping
//! nothing, its pages, all metadata, or all caches.
//!
//! The file must not be open at the same time: an open description keeps its inode and directory
//! entry cached. So this is done before the engine opens a file that has a name.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Control;
use super::target::OpenTarget;
use crate::experiment::LEVELS;
use crate::plan::{Cache, Cold, Plan, TargetSpec};
use crate::record::{DropLevel, Level, Reading};
use crate::sys::residency::residency_if_known;
use crate::sys::{cold, fd};

/// Readings of each level.
const READINGS: usize = 3;
/// Maximum bytes read: enough to distinguish a disk from memory.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes of the first read, and of the others.
const FIRST_READ: usize = 4096;
const READ_SIZE: usize = 1 << 20;

/// When to stop measuring.
pub(super) struct ReadingLimit<'a> {
    pub deadline: Instant,
    pub stop: &'a dyn Fn() -> bool,
}

impl ReadingLimit<'_> {
    fn is_over(&self) -> bool {
        (self.stop)() || Instant::now() >= self.deadline
    }

    fn check(&self) -> io::Result<()> {
        if self.is_over() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// Returns whether the experiment measures the levels and has a cold cell.
pub(super) fn is_requested(plan: &Plan) -> bool {
    plan.experiment == LEVELS && plan.cells.iter().any(|cell| cell.cache == Cache::Cold)
}

/// Measures the levels of an existing file, before it is opened.
pub(super) fn measure_existing(
    plan: &Plan,
    deadline: Instant,
    control: &Control,
) -> Option<Vec<Level>> {
    let TargetSpec::File { path, .. } = &plan.target else { return None };
    measure_requested(plan, path, &|dropped| skip_reason(plan.cold, dropped), deadline, control)
}

/// Measures the levels of a file that iotui created and has open.
pub(super) fn measure_own(
    plan: &Plan,
    open_target: &OpenTarget,
    deadline: Instant,
    control: &Control,
) -> Option<Vec<Level>> {
    let reason = "iotui created this file and has it open, which keeps its inode cached; name an \
                  existing FILE";
    let skipped = |dropped| (dropped >= DropLevel::Meta).then(|| reason.to_string());
    measure_requested(plan, &open_target.target.path, &skipped, deadline, control)
}

/// Measures the levels in a quarter of the budget, if the plan has them.
fn measure_requested(
    plan: &Plan,
    path: &Path,
    skipped: &dyn Fn(DropLevel) -> Option<String>,
    deadline: Instant,
    control: &Control,
) -> Option<Vec<Level>> {
    if !is_requested(plan) {
        return None;
    }
    let quarter = Instant::now().checked_add(plan.budget / 4).unwrap_or(deadline);
    let stop = || control.stopping();
    Some(measure(path, skipped, &ReadingLimit { deadline: deadline.min(quarter), stop: &stop }))
}

/// Returns why a level is skipped: it drops caches of other files too, so it must be requested, and
/// permitted.
fn skip_reason(requested: Cold, dropped: DropLevel) -> Option<String> {
    let needs = match dropped {
        DropLevel::Nothing | DropLevel::Data => return None,
        DropLevel::Meta => Cold::Meta,
        DropLevel::All => Cold::All,
    };
    if requested == needs || requested == Cold::All {
        cold::check_drop_caches().err().map(|why| format!("this {why}"))
    } else {
        Some(format!(
            "it drops the caches of other files too; run as root with --cold {needs} to measure it"
        ))
    }
}

/// Takes the readings of every level that is not skipped, in turns.
fn measure(
    path: &Path,
    skipped: &dyn Fn(DropLevel) -> Option<String>,
    limit: &ReadingLimit,
) -> Vec<Level> {
    let level = |dropped: &DropLevel| Level {
        dropped: *dropped,
        readings: Vec::new(),
        bytes: 0,
        reason: skipped(*dropped),
    };
    let mut levels: Vec<Level> = DropLevel::ALL.iter().map(level).collect();
    for _ in 0..READINGS {
        for level in levels.iter_mut().filter(|level| level.reason.is_none()) {
            match take_reading(path, level.dropped, limit) {
                Ok((reading, bytes)) => {
                    level.readings.push(reading);
                    level.bytes = bytes;
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => level.reason = Some(error.to_string()),
            }
        }
        if limit.is_over() {
            break;
        }
    }
    for level in
        levels.iter_mut().filter(|level| level.readings.is_empty() && level.reason.is_none())
    {
        level.reason = Some("the time did not suffice; use a longer --budget".into());
    }
    levels
}

/// Attempts of a reading, as other programs may read the file meanwhile.
const ATTEMPTS: usize = 3;

/// Takes a reading from the level, which the page cache proves before the first read.
fn take_reading(
    path: &Path,
    dropped: DropLevel,
    limit: &ReadingLimit,
) -> io::Result<(Reading, u64)> {
    for _ in 0..ATTEMPTS {
        drop_to_level(path, dropped, limit)?;
        let taken = time_reading(path, dropped == DropLevel::Nothing, limit)?;
        if let Some(reading) = taken {
            return Ok(reading);
        }
    }
    Err(io::Error::other("another process read the file after its pages were dropped"))
}

/// Brings the file's caches to a level, and closes it.
fn drop_to_level(path: &Path, dropped: DropLevel, limit: &ReadingLimit) -> io::Result<()> {
    limit.check()?;
    let file = fd::open_named(path)?;
    let len = file.metadata()?.len().min(MAX_BYTES);
    fn interrupted_as_timeout(error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::Interrupted => io::ErrorKind::TimedOut.into(),
            _ => error,
        }
    }
    let is_over = || limit.is_over();
    if dropped == DropLevel::Nothing {
        let warm = cold::make_warm_within(&file, 0..len, &is_over);
        return warm.map(drop).map_err(interrupted_as_timeout);
    }
    let cold = cold::make_cold_within(&file, 0..len, &is_over).map_err(interrupted_as_timeout)?;
    let left = cold.left.map_or(0, |left| left.cached);
    if left > 0 {
        return Err(io::Error::other(
            "pages of the file stayed in the page cache: a process has it mapped or locked",
        ));
    }
    drop(file);
    match dropped {
        DropLevel::Nothing | DropLevel::Data => Ok(()),
        DropLevel::Meta => cold::drop_caches(2),
        DropLevel::All => cold::drop_caches(3),
    }
}

/// Times opening the file, reading its start, and reading the rest in order. Also returns the bytes
/// read. `None` if it is not `warm` and pages of it are cached.
fn time_reading(
    path: &Path,
    warm: bool,
    limit: &ReadingLimit,
) -> io::Result<Option<(Reading, u64)>> {
    let mut buffer = vec![1u8; READ_SIZE];
    fn nanos(begin: Instant) -> u64 {
        begin.elapsed().min(Duration::from_secs(3600)).as_nanos() as u64
    }
    let begin = Instant::now();
    let file = fd::open_named(path)?;
    let open = nanos(begin);
    if !warm && residency_if_known(&file, 0..MAX_BYTES, None)?.is_some_and(|of| of.cached > 0) {
        return Ok(None);
    }
    // The check is not timed.
    let begin = Instant::now();
    let mut at = file.read_at(&mut buffer[..FIRST_READ], 0)? as u64;
    let first = nanos(begin);
    while at > 0 && at < MAX_BYTES {
        limit.check()?;
        let want = READ_SIZE.min((MAX_BYTES - at) as usize);
        match file.read_at(&mut buffer[..want], at) {
            Ok(0) => break,
            Ok(n) => at += n as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some((Reading { open, first, whole: open.saturating_add(nanos(begin)) }, at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn held(dropped: DropLevel) -> Option<String> {
        (dropped >= DropLevel::Meta).then(|| "held".into())
    }

    #[test]
    fn other_caches_drop_only_on_request() {
        assert_eq!(
            skip_reason(Cold::Data, DropLevel::Nothing)
                .or(skip_reason(Cold::Data, DropLevel::Data)),
            None
        );
        for (asked, dropped, option) in [
            (Cold::Data, DropLevel::Meta, "--cold meta"),
            (Cold::Data, DropLevel::All, "--cold all"),
            (Cold::Meta, DropLevel::All, "--cold all"),
        ] {
            assert!(
                skip_reason(asked, dropped).is_some_and(|why| why.contains(option)),
                "{asked} {dropped:?}"
            );
        }
        assert_eq!(
            skip_reason(Cold::All, DropLevel::Meta),
            skip_reason(Cold::Meta, DropLevel::Meta)
        );
    }

    #[test]
    fn levels_have_readings_or_a_reason() {
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        file.write_all(&vec![7; (3 << 20) + 5]).unwrap();
        let limit = ReadingLimit { deadline: later(), stop: &|| false };
        // Dropping the caches of the whole machine would disturb the other tests.
        let levels = measure(file.path(), &held, &limit);
        assert!(levels.iter().map(|level| level.dropped).eq(DropLevel::ALL.iter().copied()));
        for level in &levels {
            match &level.reason {
                None => {
                    assert_eq!(
                        (level.readings.len(), level.bytes),
                        (READINGS, (3 << 20) + 5),
                        "{level:?}"
                    );
                    assert!(
                        level.readings.iter().all(|r| r.open + r.first <= r.whole && r.open > 0),
                        "{level:?}"
                    );
                    assert!(level.dropped < DropLevel::Meta);
                }
                Some(why) => assert!(
                    level.dropped > DropLevel::Nothing
                        && !why.is_empty()
                        && level.readings.is_empty(),
                    "{level:?}"
                ),
            }
        }
    }

    #[test]
    fn cached_pages_refuse_a_reading() {
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let limit = ReadingLimit { deadline: later(), stop: &|| false };
        let taken = |warm| time_reading(file.path(), warm, &limit).unwrap();
        crate::sys::testing::with_page_cache(Path::new("."), || {
            file.as_file().read_at(&mut [0; 4096], 0).unwrap();
            assert!(taken(false).is_none() && taken(true).is_some());
        });
    }

    #[test]
    fn stop_and_missing_file_end_levels() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for levels in [
            measure(file.path(), &held, &ReadingLimit { deadline: later(), stop: &|| true }),
            measure(
                file.path(),
                &held,
                &ReadingLimit { deadline: Instant::now(), stop: &|| false },
            ),
            measure(
                Path::new("/no/such/file"),
                &held,
                &ReadingLimit { deadline: later(), stop: &|| false },
            ),
        ] {
            assert!(
                levels.iter().all(|level| level.readings.is_empty() && level.reason.is_some()),
                "{levels:?}"
            );
        }
    }
}

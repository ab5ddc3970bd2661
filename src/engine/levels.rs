//! What each level of cold buys: the file is opened and read after nothing, its pages, all
//! metadata, or everything was dropped.
//!
//! Nothing may hold the file meanwhile: an open description keeps its inode and directory entry,
//! whatever is dropped. So this is done before the engine opens a file that has a name.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Control;
use super::target::Bench;
use crate::experiment::LEVELS;
use crate::plan::{Cache, Cold, Plan, TargetSpec};
use crate::record::{DropLevel, Level, Reading};
use crate::sys::{cold, fd};

/// Readings of each level.
const READINGS: usize = 3;
/// What is read at most: enough to tell a disk from memory.
const MOST: u64 = 256 << 20;
/// The first read, and the size of the others.
const FIRST: usize = 4096;
const REST: usize = 1 << 20;

/// When to stop looking.
pub(super) struct Until<'a> {
    pub deadline: Instant,
    pub stop: &'a dyn Fn() -> bool,
}

impl<'a> Until<'a> {
    fn within(plan: &Plan, deadline: Instant, stop: &'a dyn Fn() -> bool) -> Until<'a> {
        let own = Instant::now().checked_add(plan.budget / 4).unwrap_or(deadline);
        Until { deadline: deadline.min(own), stop }
    }

    fn over(&self) -> bool {
        (self.stop)() || Instant::now() >= self.deadline
    }

    fn check(&self) -> io::Result<()> {
        if self.over() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// Whether the experiment asks for it, and a cell is cold.
pub(super) fn wanted(plan: &Plan) -> bool {
    plan.experiment == LEVELS && plan.cells.iter().any(|cell| cell.cache == Cache::Cold)
}

/// The levels of a file that is there, in a fourth of the budget; to be asked before it is opened.
pub(super) fn of_file(plan: &Plan, deadline: Instant, control: &Control) -> Option<Vec<Level>> {
    let TargetSpec::File { path, .. } = &plan.target else { return None };
    wanted(plan).then(|| {
        measure(
            path,
            &|dropped| refused(plan.cold, dropped),
            &Until::within(plan, deadline, &|| control.stopping()),
        )
    })
}

/// The levels of a file that iotui made and has open.
pub(super) fn of_ours(
    plan: &Plan,
    bench: &Bench,
    deadline: Instant,
    control: &Control,
) -> Option<Vec<Level>> {
    let held =
        "iotui made this file and has it open, which keeps its inode: name a FILE that is there";
    let refused = |dropped| (dropped >= DropLevel::Meta).then(|| held.to_string());
    wanted(plan).then(|| {
        measure(
            &bench.target.path,
            &refused,
            &Until::within(plan, deadline, &|| control.stopping()),
        )
    })
}

/// Why a level is left out: what it drops is not this file's alone, so it must be asked for, and be
/// allowed.
fn refused(asked: Cold, dropped: DropLevel) -> Option<String> {
    let needs = match dropped {
        DropLevel::Nothing | DropLevel::Data => return None,
        DropLevel::Meta => Cold::Meta,
        DropLevel::All => Cold::All,
    };
    let asked = asked == needs || asked == Cold::All;
    if asked {
        cold::may_drop_caches().err().map(|why| format!("this {why}"))
    } else {
        Some(format!(
            "it drops what belongs to other files too, so it is measured only with --cold {needs}, as root"
        ))
    }
}

/// The readings of every level that is not `refused`, in turns.
fn measure(
    path: &Path,
    refused: &dyn Fn(DropLevel) -> Option<String>,
    until: &Until,
) -> Vec<Level> {
    let level = |dropped: &DropLevel| Level {
        dropped: *dropped,
        readings: Vec::new(),
        bytes: 0,
        reason: refused(*dropped),
    };
    let mut levels: Vec<Level> = DropLevel::ALL.iter().map(level).collect();
    for _ in 0..READINGS {
        for level in levels.iter_mut().filter(|level| level.reason.is_none()) {
            match prepared(path, level.dropped, until).and_then(|()| read(path, until)) {
                Ok((reading, bytes)) => {
                    level.readings.push(reading);
                    level.bytes = bytes;
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => level.reason = Some(error.to_string()),
            }
        }
        if until.over() {
            break;
        }
    }
    for level in
        levels.iter_mut().filter(|level| level.readings.is_empty() && level.reason.is_none())
    {
        level.reason = Some("there was no time for it: use a longer --budget".into());
    }
    levels
}

/// Brings the file to its level and lets go of it.
fn prepared(path: &Path, dropped: DropLevel, until: &Until) -> io::Result<()> {
    until.check()?;
    let file = fd::open_named(path)?;
    let len = file.metadata()?.len().min(MOST);
    if dropped == DropLevel::Nothing {
        let stopped = |error: io::Error| {
            if error.kind() == io::ErrorKind::Interrupted {
                io::ErrorKind::TimedOut.into()
            } else {
                error
            }
        };
        return cold::make_warm_unless(&file, len, &|| until.over()).map(drop).map_err(stopped);
    }
    let left = cold::make_cold(&file, len)?.left.map_or(0, |left| left.cached);
    if left > 0 {
        return Err(io::Error::other(
            "pages of the file stayed in the page cache: someone has it mapped or locked",
        ));
    }
    drop(file);
    match dropped {
        DropLevel::Nothing | DropLevel::Data => Ok(()),
        DropLevel::Meta => cold::drop_caches(2),
        DropLevel::All => cold::drop_caches(3),
    }
}

/// Opens the file, reads its start, then the rest in order.
fn read(path: &Path, until: &Until) -> io::Result<(Reading, u64)> {
    let mut buffer = vec![1u8; REST];
    let nanos = |begin: Instant| begin.elapsed().min(Duration::from_secs(3600)).as_nanos() as u64;
    let begin = Instant::now();
    let file = fd::open_named(path)?;
    let open = nanos(begin);
    let mut at = file.read_at(&mut buffer[..FIRST], 0)? as u64;
    let first = nanos(begin).saturating_sub(open);
    while at > 0 && at < MOST {
        until.check()?;
        let want = REST.min((MOST - at) as usize);
        match file.read_at(&mut buffer[..want], at) {
            Ok(0) => break,
            Ok(n) => at += n as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((Reading { open, first, whole: nanos(begin) }, at))
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
    fn what_is_not_this_files_alone_is_dropped_only_where_it_was_asked_for() {
        assert_eq!(
            refused(Cold::Data, DropLevel::Nothing).or(refused(Cold::Data, DropLevel::Data)),
            None
        );
        for (asked, dropped, option) in [
            (Cold::Data, DropLevel::Meta, "--cold meta"),
            (Cold::Data, DropLevel::All, "--cold all"),
            (Cold::Meta, DropLevel::All, "--cold all"),
        ] {
            assert!(
                refused(asked, dropped).is_some_and(|why| why.contains(option)),
                "{asked} {dropped:?}"
            );
        }
        assert_eq!(refused(Cold::All, DropLevel::Meta), refused(Cold::Meta, DropLevel::Meta));
    }

    #[test]
    fn every_level_is_read_whole_or_says_why_not() {
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        file.write_all(&vec![7; (3 << 20) + 5]).unwrap();
        let until = Until { deadline: later(), stop: &|| false };
        // What drops the caches of the whole machine would disturb the other tests.
        let levels = measure(file.path(), &held, &until);
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
    fn a_stop_and_a_missing_file_end_it_with_a_reason() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for levels in [
            measure(file.path(), &held, &Until { deadline: later(), stop: &|| true }),
            measure(file.path(), &held, &Until { deadline: Instant::now(), stop: &|| false }),
            measure(
                Path::new("/no/such/file"),
                &held,
                &Until { deadline: later(), stop: &|| false },
            ),
        ] {
            assert!(
                levels.iter().all(|level| level.readings.is_empty() && level.reason.is_some()),
                "{levels:?}"
            );
        }
    }
}

//! Parts of a target that saved runs have read since this machine started, for runs that read each
//! block once (`--fresh`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::plan::{Fresh, Plan, TargetSpec};
use crate::session::{Session, folder, headers, load, path_of};
use crate::sys::clock::since_boot;
use crate::text::time::parse_utc;

/// A session of more bytes is not opened, as that takes seconds: its run may have read everything.
const MAX_BYTES: u64 = 16 << 20;

/// Adds to a plan that reads each block once what saved runs have read.
pub fn add_visited(mut plan: Arc<Plan>) -> Arc<Plan> {
    let since = SystemTime::now().checked_sub(since_boot()).unwrap_or(SystemTime::UNIX_EPOCH);
    if let (true, Ok(dir)) = (plan.fresh.is_some(), folder()) {
        add_visited_in(&dir, since, Arc::make_mut(&mut plan));
    }
    plan
}

fn add_visited_in(dir: &Path, since: SystemTime, plan: &mut Plan) {
    let own: Vec<PathBuf> = plan.targets().filter_map(real_path).collect();
    let mut visited = Vec::new();
    for found in headers(dir).unwrap_or_default() {
        if parse_utc(&found.created).is_some_and(|created| created < since) {
            continue;
        }
        let path = path_of(dir, &found.id);
        let large = fs::metadata(&path).is_ok_and(|file| file.len() > MAX_BYTES);
        match load(&path) {
            _ if large => visited.push((0, u64::MAX)),
            Ok(session) if session.reference.is_none() && reads_one(&session.plan, &own) => {
                visited.extend(visited_by(&session));
            }
            _ => {}
        }
    }
    visited.sort_unstable();
    visited.dedup();
    plan.fresh = Some(Fresh { visited });
}

/// Returns the path of a target that has a name, without symbolic links where it exists.
fn real_path(target: &TargetSpec) -> Option<PathBuf> {
    let (TargetSpec::File { path, .. } | TargetSpec::New { path, .. }) = target else {
        return None;
    };
    Some(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
}

fn reads_one(plan: &Plan, of: &[PathBuf]) -> bool {
    plan.targets().filter_map(real_path).any(|path| of.contains(&path))
}

/// Returns the bytes that a run has read, or written.
fn visited_by(session: &Session) -> Vec<(u64, u64)> {
    let Some(fresh) = &session.plan.fresh else {
        // A run that made its file has written the entire file.
        let made = session.plan.targets().filter(|target| target.is_ours()).map(TargetSpec::size);
        let spans = session.plan.cells.iter().map(|cell| cell.span);
        return made.chain(spans).max().map(|end| (0, end)).into_iter().collect();
    };
    let of_trials = session.trials.iter().filter_map(|trial| trial.evidence.visited);
    fresh.visited.iter().copied().chain(of_trials).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::facts::Host;
    use crate::record::{Event, Trial};
    use crate::session::{NewSession, Recorder, testing};

    #[test]
    fn earlier_runs_visited_the_file() {
        let (dir, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| {
            let path = files.path().join(name);
            fs::write(&path, "").unwrap();
            path
        };
        let plan = |path: &Path, fresh: Option<Fresh>| {
            let target = TargetSpec::File { path: path.into(), size: 1 << 30 };
            Plan { target, fresh, ..testing::plan(1) }
        };
        let save = |plan: &Plan, created: SystemTime, visited: Option<(u64, u64)>| {
            let host = &Host::default();
            let new = NewSession { name: None, slug: "x", host, plan, created };
            let mut recorder = Recorder::create(dir.path(), &new).unwrap();
            if let Event::Trial { trial, .. } = testing::trial_event(0, 1, 1 << 20) {
                let mut trial = Trial::clone(&trial);
                trial.evidence.visited = visited;
                let trial = Arc::new(trial);
                recorder.record(&Event::Trial { trial, samples: Vec::new(), latency: None });
            }
            recorder.finish(crate::record::End::Finished);
        };
        let (file, other) = (path("file"), path("other"));
        let (start, day) = (SystemTime::now(), Duration::from_secs(86_400));
        let span = plan(&file, None).cells[0].span;
        let find = |of: &Path| {
            let mut plan = plan(of, Some(Fresh::default()));
            add_visited_in(dir.path(), start - day, &mut plan);
            plan.fresh.unwrap().visited
        };
        save(&plan(&file, None), start - 2 * day, None);
        assert_eq!(find(&file), [], "before this machine started");
        let fresh = Fresh { visited: vec![(5, 6)] };
        save(&plan(&file, Some(fresh)), start, Some((64, 128)));
        assert_eq!(find(&file), [(5, 6), (64, 128)]);
        save(&plan(&file, None), start, None);
        assert_eq!(find(&file), [(0, span), (5, 6), (64, 128)]);
        assert_eq!(find(&other), []);
    }
}

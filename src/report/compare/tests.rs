use super::super::sample;
use super::*;
use crate::session::{Session, compare};
use std::sync::Arc;

/// The quick sample with uring 30 % faster in small blocks, mmap slower, and one cell too few.
fn changed() -> Session {
    let mut session = sample::quick();
    session.id = "20261122-080000-ubuntu".into();
    session.host.kernel = "6.19.1".into();
    for trial in &mut session.trials {
        let job = &session.plan.cells[trial.cell as usize];
        let nanos = match (job.backend.id.as_str(), job.block) {
            ("uring", ..65536) => trial.nanos * 100 / 131,
            ("mmap", _) => trial.nanos * 12 / 10,
            _ => trial.nanos,
        };
        Arc::make_mut(trial).nanos = nanos;
    }
    session
}

fn show(sessions: &[Session], look: Look) -> Vec<String> {
    table(&compare(sessions).unwrap(), &look).lines().map(String::from).collect()
}

#[test]
fn comparisons_at_80_columns() {
    insta::assert_snapshot!("changed_80", show(&[sample::quick(), changed()], Look::default()).join("\n"));
    let ascii = Look { ascii: true, ..Look::default() };
    insta::assert_snapshot!("troubled_80_ascii", show(&[sample::quick(), sample::troubled(), sample::axes()], ascii).join("\n"));
}

#[test]
fn any_sessions_fit_any_width() {
    let all: Vec<Session> = sample::all().into_iter().map(|(_, session)| session).collect();
    for base in &all {
        let sessions: Vec<Session> = std::iter::once(base).chain(&all).cloned().collect();
        for (width, ascii) in [(80, false), (80, true), (140, true)] {
            for line in show(&sessions, Look { width, ascii, ..Look::default() }) {
                assert!(text::width(&line) <= width && !line.ends_with(' ') && (!ascii || line.is_ascii()), "{line:?}");
            }
        }
    }
}

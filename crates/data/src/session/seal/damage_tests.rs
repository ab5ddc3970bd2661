//! Sessions with flipped bits, garbage, zeros, cuts and exchanged lines: intact lines load, the
//! others are counted, and no figure that was never measured is shown.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::record::{End, Event, Trial};
use crate::session::{NewSession, Recorder, Session, delete, import, list, load, rename, testing};

/// A small deterministic generator: the same damage in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Returns a session of 20 trials; with `replanned`, the plan that was run differs from the one in
/// its first line.
fn recorded(dir: &Path, replanned: bool) -> std::path::PathBuf {
    let created = std::time::UNIX_EPOCH + testing::CREATED;
    let mut recorder = Recorder::create(
        dir,
        &NewSession {
            name: Some("n"),
            slug: "a",
            host: &Default::default(),
            plan: &testing::plan(3),
            created,
        },
    )
    .unwrap();
    let plan = Arc::new(testing::plan(if replanned { 2 } else { 3 }));
    recorder.record(&Event::Plan { plan });
    recorder.record(&Event::Grounds { grounds: Arc::default() });
    for round in 1..=10 {
        recorder.record(&testing::trial_event(0, round, 1 << 20));
        recorder.record(&testing::trial_event(1, round, 3 << 20));
    }
    recorder.record(&Event::Note { text: "a note".into() });
    recorder.finish(End::Finished);
    recorder.path().into()
}

fn index_trials(session: &Session) -> HashMap<(u32, u32), Arc<Trial>> {
    session.trials.iter().map(|trial| ((trial.cell, trial.round), trial.clone())).collect()
}

/// Loads `bytes` and checks that the trials are those measured, of the same plan. Returns their
/// number and the number of lines reported as lost.
fn count_shown(path: &Path, bytes: &[u8], of: &Session) -> Option<(usize, u64)> {
    fs::write(path, bytes).unwrap();
    let session = match load(path) {
        Ok(session) => session,
        Err(error) => {
            let error = error.to_string();
            assert!(error.len() < 500 && !error.contains('\n'), "{error}");
            return None;
        }
    };
    let measured = index_trials(of);
    assert_eq!(index_trials(&session).len(), session.trials.len(), "a trial twice");
    for trial in &session.trials {
        assert_eq!(measured.get(&(trial.cell, trial.round)), Some(trial), "it was never measured");
    }
    assert_eq!((&session.plan, &session.created), (&of.plan, &of.created));
    assert!(
        session.trials.is_sorted_by_key(|trial| (trial.round, trial.cell)),
        "not in their order"
    );
    Some((session.trials.len(), session.lost))
}

#[test]
fn a_flipped_bit_costs_its_lines() {
    for replanned in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = recorded(dir.path(), replanned);
        let (bytes, of, mut random) = (fs::read(&path).unwrap(), load(&path).unwrap(), Random(7));
        assert_eq!((of.trials.len(), of.lost), (20, 0));
        for _ in 0..1250 {
            let (mut flipped, bit) = (bytes.clone(), random.below(bytes.len() * 8));
            flipped[bit / 8] ^= 1 << (bit % 8);
            // A damaged line feed costs both of its lines.
            let (trials, lost) = count_shown(&path, &flipped, &of)
                .unwrap_or_else(|| panic!("bit {bit}: {:?}", load(&path)));
            assert!(trials >= 18, "bit {bit}: {trials} of 20");
            assert!(
                trials == 20 || lost >= 20 - trials as u64,
                "bit {bit}: {trials} of 20, and {lost} reported lost"
            );
        }
    }
}

#[test]
fn damage_costs_only_covered_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded(dir.path(), true);
    let (bytes, of, mut random) = (fs::read(&path).unwrap(), load(&path).unwrap(), Random(11));
    let whole_before = |cut: usize| {
        let lines =
            bytes[..cut].split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n"));
        lines.filter(|line| line.starts_with(b"{\"kind\":\"trial\"")).count()
    };
    let header = bytes.split_inclusive(|b| *b == b'\n').take(4).map(<[u8]>::len).sum::<usize>();
    for round in 0..400 {
        let cut = header + random.below(bytes.len() - header);
        let rubbish: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        let tail = [&bytes[..cut], &rubbish].concat();
        assert_eq!(count_shown(&path, &tail, &of).unwrap().0, whole_before(cut), "tail {round}");
        assert_eq!(
            count_shown(&path, &bytes[..cut], &of).unwrap(),
            (whole_before(cut), 0),
            "cut {round}"
        );
        let mut zeros = bytes.clone();
        let end = (cut + random.below(600)).min(bytes.len());
        zeros[cut..end].fill(0);
        let covered = whole_before(bytes.len()) - whole_before(cut);
        let (trials, lost) = count_shown(&path, &zeros, &of).unwrap();
        assert!(
            trials >= 20 - covered
                && (trials == 20 || end == bytes.len() || lost >= 20 - trials as u64),
            "zeros {round}: {trials}, {lost}"
        );
    }
}

#[test]
fn exchanged_doubled_and_removed_lines() {
    let dir = tempfile::tempdir().unwrap();
    for replanned in [false, true] {
        let path = recorded(dir.path(), replanned);
        let (bytes, of, mut random) = (fs::read(&path).unwrap(), load(&path).unwrap(), Random(13));
        let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
        for _ in 0..200 {
            let (one, other) = (random.below(lines.len()), random.below(lines.len()));
            let mut changed = lines.clone();
            changed.swap(one, other);
            assert_eq!(
                count_shown(&path, &changed.concat(), &of),
                Some((20, 0)),
                "{one} and {other}"
            );
            let mut changed = lines.clone();
            changed.insert(other, lines[one]);
            assert_eq!(
                count_shown(&path, &changed.concat(), &of).unwrap().0,
                20,
                "{one} again before {other}"
            );
            let mut changed = lines.clone();
            let gone = changed.remove(one).starts_with(b"{\"kind\":\"trial\"");
            assert_eq!(
                count_shown(&path, &changed.concat(), &of).unwrap().0,
                20 - usize::from(gone),
                "without {one}"
            );
        }
        delete(dir.path(), &path).unwrap();
    }
}

#[test]
fn losing_both_plans_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded(dir.path(), true);
    let text = fs::read_to_string(&path).unwrap();
    let rest: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("{\"kind\":\"plan\"")).collect();
    fs::write(&path, rest.join("\n") + "\n").unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("line 3: the plan of the trials was lost"), "{error}");
}

#[test]
fn what_is_saved_again_is_clean() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded(dir.path(), false);
    let text = fs::read_to_string(&path).unwrap();
    for damaged in [
        text.replacen("\"round\":7,", "\"round\":6,", 1),
        text.replacen("\"kind\":\"session\"", "\"kind\":\"sessiom\"", 1),
        text.clone() + "\0\0rubbish\n{\"kind\":\"trial\"",
        text.replace("\"kind\":\"end\"", "\"kind\":\"enc\""),
    ] {
        fs::write(&path, &damaged).unwrap();
        let before = load(&path).unwrap();
        let listed = list(dir.path()).unwrap().remove(0);
        assert_eq!((listed.lost_lines, listed.name.as_str()), (Some(before.lost), "n"));
        let store = dir.path().join("store");
        let copy = import(&store, &path).unwrap().path;
        assert_eq!(load(&copy).unwrap(), before);
        rename(dir.path(), &path, "other").unwrap();
        let after = load(&path).unwrap();
        assert_eq!(after, Session { name: "other".into(), ..before });
        let clean = fs::read_to_string(&path).unwrap();
        assert!(
            clean.ends_with("}\n")
                && clean
                    .lines()
                    .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
        );
        assert_eq!(
            clean
                .lines()
                .filter(|line| !matches!(super::check(line.as_bytes()), super::Seal::Whole(..)))
                .count(),
            0
        );
        fs::remove_dir_all(&store).unwrap();
    }
}

#[test]
fn headers_without_copies_are_restored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("20261121-093011-scratch.jsonl");
    let golden = include_str!("../../../../../tests/golden/session-v1.jsonl");
    for (from, to, name, kernel) in [
        ("\"kernel\":\"6.12.3\"", "\"kernel\":\"6.12.3", "golden – ünïcode", ""),
        ("\"kind\":\"session\"", "\"kind\":\"sess\0on\"", "golden – ünïcode", "6.12.3"),
        ("\"name\":\"golden", "\"name\":golden", "", "6.12.3"),
    ] {
        fs::write(&path, golden.replacen(from, to, 1)).unwrap();
        let session = load(&path).unwrap();
        assert_eq!(
            (session.id.as_str(), session.created.as_str()),
            ("20261121-093011-scratch", "2026-11-21T09:30:11Z")
        );
        assert_eq!(
            (session.trials.len(), session.lost, session.host.kernel.as_str()),
            (24, 1, kernel),
            "{from}"
        );
        assert_eq!(session.name, name);
        let all = list(dir.path()).unwrap();
        assert_eq!((all[0].cells, all[0].created.as_str()), (5, "2026-11-21T09:30:11Z"));
    }
    // Without its plan it is unknown what was measured.
    fs::write(&path, golden.replacen("\"cells\":[{", "\"cells\":[(", 1)).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}

use super::*;
use crate::analysis::UnjudgedCell;
use crate::batch::args::parse_limit;
use crate::plan::{Cache, Choice, Job, Op};

fn ruling(judged: usize, open: &[bool]) -> Ruling {
    let cell = Job { cache: Cache::Warm, ..Job::plain(Choice::parse("pread").unwrap(), Op::Read) };
    let open = open
        .iter()
        .map(|wrong| UnjudgedCell {
            cell: cell.clone(),
            why: "x".into(),
            wrong: *wrong,
            together: false,
        })
        .collect();
    Ruling {
        limit: 0.05,
        judged,
        slower: Vec::new(),
        open,
        seen: None,
        unheld: 0,
        drift: None,
        one_run: false,
    }
}

#[test]
fn percentages_below_100() {
    for (text, share) in
        [("5", 0.05), ("5%", 0.05), (" 2.5 % ", 0.025), ("0", 0.0), ("99.9%", 0.999)]
    {
        assert!((parse_limit(text).unwrap() - share).abs() < 1e-12, "{text}");
    }
    for text in ["", "%", "5%%", "-1", "100", "100%", "1e9", "nan", "inf", "5 percent"] {
        assert!(parse_limit(text).is_err(), "{text}");
    }
}

#[test]
fn exit_codes_have_an_order() {
    let mut slow = ruling(2, &[]);
    // Any cell: only its number counts.
    slow.slower = session_pair();
    let open = Ruling { open: ruling(0, &[false]).open, ..slow.clone() };
    let slow_and_wrong = Ruling { open: ruling(0, &[true]).open, ..slow.clone() };
    for (signal, failed, wrong, ruling, wanted) in [
        (Some(2), true, true, Some(&slow), 130),
        (None, true, true, Some(&slow), 1),
        (None, false, true, Some(&open), 1),
        (None, false, true, Some(&slow), 4),
        (None, false, false, Some(&slow), 3),
        (None, false, false, Some(&ruling(2, &[])), 0),
        // A wrong figure does not pass, and hides none that is slower.
        (None, false, false, Some(&ruling(1, &[true])), 1),
        (None, false, false, Some(&slow_and_wrong), 3),
        (None, false, false, Some(&ruling(0, &[true])), 1),
        (None, false, true, Some(&ruling(0, &[true])), 4),
        (None, false, false, Some(&ruling(1, &[false])), 1),
        (None, false, false, None, 0),
    ] {
        assert_eq!(
            code(signal, failed, wrong, ruling, None),
            wanted,
            "{signal:?} {failed} {wrong} {ruling:?}"
        );
    }
}

#[test]
fn failed_expectation_exits_with_5() {
    let mut slow = ruling(2, &[]);
    slow.slower = session_pair();
    let open = ruling(1, &[false]);
    for (failed, wrong, ruling, expected, wanted) in [
        (false, false, None, Holds::Pass, 0),
        (false, false, None, Holds::Fail, 5),
        (false, false, None, Holds::CannotTell, 1),
        (true, false, None, Holds::Fail, 1),
        (false, true, None, Holds::Fail, 4),
        (false, true, None, Holds::CannotTell, 4),
        (false, false, Some(&slow), Holds::Fail, 5),
        (false, false, Some(&slow), Holds::CannotTell, 1),
        (false, false, Some(&slow), Holds::Pass, 3),
        (false, false, Some(&open), Holds::Fail, 1),
    ] {
        assert_eq!(code(None, failed, wrong, ruling, Some(expected)), wanted, "{expected:?}");
    }
    assert_eq!(code(Some(2), false, false, None, Some(Holds::Fail)), 130);
}

fn session_pair() -> Vec<crate::analysis::Pair> {
    use crate::session::testing;
    let session = |speed: u64| {
        let mut session = testing::session(1);
        session.trials.extend((1..=5).map(|round| testing::trial(0, round, speed << 20).into()));
        session
    };
    let (base, slow) = (session(100), session(50));
    let comparison = analysis::compare(&[base.clone(), slow]).unwrap();
    analysis::judge_run(&base, &comparison.others[0], 0.05).slower
}

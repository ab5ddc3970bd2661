pub(in crate::record::verdict) mod below;
mod ceiling;
mod cells;
mod pace;
mod ranks;
mod trust;

use self::below::{BELOW, cold_on_loop, direct_on_direct_loop, direct_on_loop};
use self::ceiling::CEILING;
use self::cells::{CACHE, Example, TARGET, WORK};
use self::pace::PACE;
use self::ranks::RANKS;
use self::trust::TRUST;
use super::RULES;
use crate::plan::Settings;
use crate::record::verdict::testing::*;
use crate::record::{LinkCeiling, OtherProcess, Others, Severity};

fn examples() -> impl Iterator<Item = &'static Example> {
    [CACHE, TARGET, WORK, TRUST, CEILING, PACE, BELOW, RANKS].into_iter().flatten()
}

#[test]
fn clean_cells_have_no_warnings() {
    let on_images = [cold_on_loop(), direct_on_loop(), direct_on_direct_loop()];
    for case in [cold(), warm(), direct(), write(), direct_write()].into_iter().chain(on_images) {
        assert_eq!(case.warnings(), [], "{}", case.job.label());
    }
}

#[test]
fn rules_fire_and_spare_near_misses() {
    for (index, example) in examples().enumerate() {
        let mut bad = (example.clean)();
        (example.fires)(&mut bad);
        let warnings = bad.warnings();
        let found = warnings.iter().find(|w| w.id == example.id);
        let severity = found.map(|w| w.severity);
        assert_eq!(
            severity,
            Some(example.severity),
            "{} example {index}: {warnings:#?}",
            example.id
        );

        let mut good = (example.clean)();
        (example.spares)(&mut good);
        let warnings = good.warnings();
        assert!(
            !warnings.iter().any(|w| w.id == example.id && w.severity >= example.severity),
            "{} example {index}: {warnings:#?}",
            example.id
        );
    }
}

/// Warnings that may rest on a statement of the file system, without a figure.
const STATED: [&str; 2] = ["not-direct", "compressible"];

#[test]
fn messages_have_figure_and_remedy() {
    for example in examples() {
        let mut bad = (example.clean)();
        (example.fires)(&mut bad);
        for w in bad.warnings() {
            assert!(w.message.chars().count() < 120, "{}: {}", w.id, w.message);
            assert!(
                !w.evidence.is_empty()
                    && !w.remedy.text.is_empty()
                    && w.remedy.text.chars().count() < 120,
                "{w:?}"
            );
            assert!(
                (w.message.clone() + &w.evidence).contains(char::is_numeric)
                    || STATED.contains(&example.id),
                "{w:?}"
            );
        }
    }
}

#[test]
fn every_rule_has_an_example() {
    for (index, rule) in RULES.iter().enumerate() {
        assert!(examples().any(|e| e.id == rule.id), "{} has no example", rule.id);
        assert!(
            RULES[..index].iter().all(|other| other.id != rule.id),
            "{} is listed twice",
            rule.id
        );
        assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
    }
}

/// Also prints all warnings: `cargo test -p iotui-core remedies_name -- --nocapture`.
#[test]
fn remedies_name_existing_options_only() {
    const OPTIONS: &[&str] = &[
        "--direct",
        "--cold",
        "--xor",
        "--cpu-cache",
        "--cache",
        "--threads",
        "--size",
        "--count",
        "--sync",
        "--writes",
        "--backend",
        "--block-size",
        "--trials",
        "--budget",
        "--trial-time",
        "--dir",
        "--compressible",
        "--dedupe",
        "--fresh",
        "--shift",
        "--rate",
        "--depth",
        // As losetup makes them.
        "--direct-io=on",
    ];
    for example in examples() {
        let mut bad = (example.clean)();
        (example.fires)(&mut bad);
        for w in bad.warnings() {
            println!(
                "{} {}: {} [{}] -> {}",
                w.severity.name(),
                w.id,
                w.message,
                w.evidence,
                w.remedy.text
            );
            for word in
                w.remedy.text.split([' ', ',', ';', ':', ')']).filter(|word| word.starts_with("--"))
            {
                assert!(OPTIONS.contains(&word), "{}: {word}", w.id);
            }
            let names_setting = Settings::ALL.iter().any(|setting| {
                w.remedy.text.split(' ').any(|word| word.strip_prefix("--") == Some(setting.name))
            });
            assert!(w.remedy.setting.is_some() || !names_setting, "{}", w.id);
        }
    }
}

#[test]
fn disturbance_of_one_trial_is_noted() {
    let mut case = cold();
    case.trials.truncate(1);
    case.spread.half_width = None;
    case.each(|t| t.evidence.disk_read_bytes = Some(SPAN + SPAN / 10));
    let found = case.warnings().into_iter().find(|w| w.id == "disturbed").unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.message.ends_with("on the same disk"), "{}", found.message);
    // As much again as the trial read moves any figure.
    case.each(|t| t.evidence.disk_read_bytes = Some(2 * SPAN));
    let found = case.warnings().into_iter().find(|w| w.id == "disturbed").unwrap();
    assert_eq!(found.severity, Severity::Misleading);
}

#[test]
fn others_are_named_over_all_trials() {
    let mut case = cold();
    let bytes = SPAN / 2;
    case.each(|t| t.evidence.disk_read_bytes = Some(SPAN + bytes));
    let message = |case: &Case| {
        let found = case.warnings().into_iter().find(|w| w.id == "disturbed").unwrap();
        found.message.split_once(" trials").unwrap().1.to_string()
    };
    assert_eq!(message(&case), "");
    let rsync = OtherProcess { name: "rsync".into(), pid: 4711, read: bytes, written: 0 };
    case.each(|t| {
        let processes = vec![rsync.clone()];
        t.evidence.others = Some(Box::new(Others { processes, ..Others::default() }));
    });
    // 128 MiB in each of 5 trials.
    assert_eq!(message(&case), ": rsync (4711) 640 MiB");
    case.each(|t| t.evidence.others = Some(Box::default()));
    assert_eq!(message(&case), ": who moved them is unknown");
}

#[test]
fn one_trial_is_not_counted() {
    let mut case = cold();
    for (trials, count, wanted) in
        [(5, 2, "in 2 of 5 trials"), (5, 5, "in all 5 trials"), (1, 1, "in 1 trial")]
    {
        case.trials.truncate(trials);
        assert_eq!(case.evidence().in_trials(count), wanted);
    }
}

#[test]
fn two_trials_are_averaged() {
    let mut case = direct();
    case.trials.truncate(2);
    fn link(rate: f64) -> LinkCeiling {
        LinkCeiling { name: "SATA 6.0 Gbps".into(), bytes_per_second: rate }
    }
    let [slow, fast] = [400_000_000, 200_000_000];
    (case.trial(0).nanos, case.trial(1).nanos) = (slow, fast);
    // 671 and 1342 MB/s: 1007 on average.
    for (rate, above) in [(1.1e9, false), (0.9e9, true)] {
        case.target.link = Some(link(rate));
        assert_eq!(
            case.warnings().iter().any(|warning| warning.id == "above-link"),
            above,
            "{rate}"
        );
    }
}

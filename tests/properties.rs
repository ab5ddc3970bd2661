//! Properties of plans, schedules, sizes and ranges, for any request.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use iotui::backend::{self, access_pattern::Share};
use iotui::experiment::order_of_round;
use iotui::experiment::{self, AvailableProbes, PlanError, PlanRequest};
use iotui::plan::{
    Cache, Depth, Job, Moves, Op, Plan, Preset, Range, RangeOf, Resolved, Settings, Sync,
    TargetSpec,
};
use iotui::{cli, units};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Generates a list of these words, each at most once, in any order.
fn list(words: Vec<&'static str>) -> impl Strategy<Value = String> {
    let most = words.len();
    subsequence(words, 1..=most).prop_shuffle().prop_map(|words| words.join(","))
}

fn backends() -> impl Strategy<Value = String> {
    let mut names: Vec<&str> = backend::BACKENDS.iter().map(|b| b.info().id).collect();
    names.extend(["read+libc", "stdio+buf=64k", "mmap+huge", "mmap+populate+huge", "uring+sqpoll"]);
    prop_oneof![1 => Just("all".to_string()), 4 => list(names)]
}

/// Generates any form of a range up to 2^most, with few values.
fn range(most: u32) -> impl Strategy<Value = String> {
    let number = move || (0..most, 0u64..9).prop_map(|(power, add)| (1u64 << power) + add);
    prop_oneof![
        4 => number().prop_map(|n| n.to_string()),
        4 => vec(number(), 1..4).prop_map(|list| list.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
        4 => (number(), 0u32..5).prop_map(|(low, times)| format!("{low}..{}", low << times)),
        4 => (number(), 0u32..3).prop_map(|(low, times)| format!("{low}..{}*4", low << (2 * times))),
        4 => (number(), 1u64..5, 0u64..4).prop_map(|(low, step, count)| format!("{low}..{}+{step}", low + step * count)),
        1 => Just("0".to_string()),
    ]
}

/// Generates values for every setting, leaving some out.
fn settings() -> impl Strategy<Value = Settings> {
    let text = |words: &'static [&'static str]| option::of(select(words).prop_map(String::from));
    let axes = (
        option::of(backends()),
        option::of(range(22)),
        option::of(range(12)),
        option::of(range(5)),
        option::of(range(6)),
    );
    let names = (
        text(&["read", "write", "seek"]),
        text(&["seq", "random", "reverse", "stride:3"]),
        option::of(list(vec!["cold", "warm", "asis"])),
        option::weighted(0.1, select(&["none", "end", "each"][..]).prop_map(String::from)),
        text(&["true", "false"]),
        text(&["true", "false"]),
    );
    let times = (
        option::weighted(0.2, range(30)),
        text(&["1", "7"]),
        text(&["50s", "1ms", "2h"]),
        text(&["300ms", "5s..15s", "1ns"]),
        option::of(0u64..1 << 53),
    );
    (axes, names, times).prop_map(|(axes, names, times)| {
        let pairs = [
            ("backend", axes.0),
            ("block-size", axes.1),
            ("count", axes.2),
            ("threads", axes.3),
            ("depth", axes.4),
            ("op", names.0),
            ("pattern", names.1),
            ("cache", names.2),
            ("sync", names.3),
            ("direct", names.4),
            ("xor", names.5),
            ("size", times.0),
            ("trials", times.1),
            ("budget", times.2),
            ("trial-time", times.3),
            ("seed", times.4.map(|seed| seed.to_string())),
        ];
        let mut settings = Settings::default();
        for (name, text) in pairs {
            // Zero threads or depth are already refused here.
            let _ = text.map(|text| settings.set(name, &text));
        }
        settings
    })
}

fn target() -> impl Strategy<Value = TargetSpec> {
    let size = prop_oneof![1 => Just(0), 5 => 1u64..10_000, 9 => 1u64 << 20..1 << 24, 5 => 1u64 << 40..1 << 41];
    (size, 0..3).prop_map(|(size, kind)| match kind {
        0 => TargetSpec::File { path: PathBuf::from("data.bin"), size },
        1 => TargetSpec::Scratch { dir: PathBuf::from("."), size, keep: false },
        _ => TargetSpec::New { path: PathBuf::from("new.bin"), size },
    })
}

fn preset() -> Preset {
    iotui::plan::preset("quick").unwrap()
}

/// Simulates a kernel that lacks features.
fn offered(job: &Job, lacks: u64) -> Result<(), String> {
    let lacking = (lacks & 1 != 0 && job.backend.id == "uring")
        || (lacks & 2 != 0 && !job.block.is_multiple_of(512) && job.direct);
    if lacking { Err("not here".into()) } else { Ok(()) }
}

const MEMORY: u64 = 1 << 30;

fn plan(
    settings: &Settings,
    presets: &[Preset],
    target: &TargetSpec,
    lacks: u64,
) -> Result<Plan, PlanError> {
    let infos = iotui::catalog::BACKENDS;
    let check = |job: &Job| offered(job, lacks);
    experiment::plan(&PlanRequest {
        resolved: &Resolved::new(settings, presets),
        target: target.clone(),
        targets: 1,
        variants: &[],
        infos,
        check: &check,
        memory: MEMORY,
        cpus: 2,
        allowed: 2 * MEMORY,
        call: 200.0,
        seed: 5,
        ranks: None,
        probes: AvailableProbes::NONE,
    })
}

fn assert_cell(cell: &Job, target: &TargetSpec, lacks: u64) {
    let info = backend::backend(&cell.backend.id).unwrap().info().of(&cell.backend);
    assert!((1..=cell.span).contains(&cell.block) && cell.span <= target.size(), "{cell:?}");
    assert!(cell.count.is_none_or(|count| count <= cell.blocks()), "{cell:?}");
    assert!(
        (1..=Job::MAX_THREADS).contains(&cell.threads) && cell.block <= Job::MAX_BLOCK,
        "{cell:?}"
    );
    match info.depth {
        Depth::Synchronous => assert_eq!(cell.depth, 1, "{cell:?}"),
        Depth::UpTo(most) => assert!((1..=most).contains(&cell.depth), "{cell:?}"),
    }
    assert!(info.ops.contains(&cell.op) && (!cell.direct || info.direct), "{cell:?}");
    assert!(cell.op != Op::Write || target.is_ours(), "{cell:?}");
    assert!(!(cell.direct && cell.cache == Cache::Warm), "{cell:?}");
    assert!(cell.sync == Sync::None || cell.op == Op::Write, "{cell:?}");
    // Data that stays in the kernel needs no buffers.
    let buffers = matches!(info.moves(), Moves::Data | Moves::Elsewhere);
    assert!(
        cell.block * u64::from(cell.depth) * u64::from(cell.threads) <= MEMORY
            || cell.op == Op::Seek
            || !buffers,
        "{cell:?}"
    );
    assert!(cell.backend.check(info).is_ok() && offered(cell, lacks).is_ok(), "{cell:?}");
}

fn assert_plan(plan: &Plan, target: &TargetSpec, lacks: u64) {
    assert!(!plan.cells.is_empty());
    plan.cells.iter().for_each(|cell| assert_cell(cell, target, lacks));
    let cells: HashSet<&Job> = plan.cells.iter().collect();
    assert_eq!(cells.len(), plan.cells.len(), "two cells are equal");
    let skipped: HashSet<&Job> = plan.skipped.iter().map(|s| &s.cell).collect();
    assert_eq!(skipped.len(), plan.skipped.len(), "one is skipped twice");
    assert!(skipped.is_disjoint(&cells), "a cell is planned and skipped");
    for skipped in &plan.skipped {
        assert!(
            !skipped.reason.is_empty() && !skipped.reason.contains('\n'),
            "{:?}",
            skipped.reason
        );
    }
    assert!(
        !plan.trial_time.low.is_zero()
            && plan.trial_time.low <= plan.trial_time.high
            && plan.seed < 1 << 53
    );
}

/// Parses the settings as a command line, as a user would write it.
fn reparsed(settings: &Settings) -> Settings {
    let words = ["iotui".to_string(), "--batch".into()].into_iter().chain(settings.argv());
    cli::parse(words.map(OsString::from))
        .unwrap_or_else(|e| panic!("{:?}: {e}", settings.argv()))
        .settings
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn plan_has_only_possible_cells(settings in settings(), target in target(), lacks in 0u64..4) {
        let presets = [preset()];
        match plan(&settings, &presets, &target, lacks) {
            Ok(plan) => {
                assert_plan(&plan, &target, lacks);
                let text = serde_json::to_string(&plan).unwrap();
                prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
            }
            Err(error) => {
                let text = error.to_string();
                prop_assert!(!text.is_empty() && !text.contains('\n'), "{}", text);
            }
        }
    }

    #[test]
    fn plan_is_deterministic(settings in settings(), target in target()) {
        let presets = [preset()];
        let once = plan(&settings, &presets, &target, 0);
        prop_assert_eq!(&plan(&settings, &presets, &target, 0), &once);
        // The same preset twice adds nothing.
        if let (Ok(once), Ok(twice)) = (once, plan(&settings, &[preset(), preset()], &target, 0)) {
            prop_assert_eq!((once.cells, once.skipped), (twice.cells, twice.skipped));
        }
    }

    #[test]
    fn settings_survive_the_command_line(settings in settings(), target in target()) {
        let back = reparsed(&settings);
        prop_assert_eq!(&back, &settings);
        let presets = [preset()];
        prop_assert_eq!(plan(&back, &presets, &target, 0), plan(&settings, &presets, &target, 0));
    }

    #[test]
    fn a_round_runs_every_cell_once(settings in settings(), target in target(), seed: u64, round in 0u32..1000) {
        let Ok(plan) = plan(&settings, &[preset()], &target, 0) else { return Ok(()) };
        let plan = Plan { seed, ..plan };
        let order = order_of_round(&plan, round).concat();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.into_iter().eq(0..plan.cells.len()));
        // One cache state after the other.
        let mut states: Vec<Cache> = order.iter().map(|i| plan.cells[*i].cache).collect();
        states.dedup();
        let once: HashSet<Cache> = states.iter().copied().collect();
        prop_assert_eq!(once.len(), states.len());
    }

    #[test]
    fn one_pass_reads_the_span_once(span in 1u64..20_000, block in 1u64..3000, threads in 1u32..6, pattern in select(&["seq", "random", "reverse", "stride:2", "stride:7"][..]), seed: u64) {
        let infos = iotui::catalog::BACKENDS;
        let mut settings = Settings::default();
        let threads = threads.to_string();
        for (name, text) in [("backend", "pread"), ("block-size", &block.to_string()), ("threads", threads.as_str()), ("pattern", pattern), ("cache", "asis"), ("count", "0")] {
            settings.set(name, text).unwrap();
        }
        let target = TargetSpec::File { path: "data.bin".into(), size: span };
        let presets = [preset()];
        let asked = PlanRequest { resolved: &Resolved::new(&settings, &presets), target, targets: 1, variants: &[], infos, check: &|_| Ok(()), memory: MEMORY, allowed: 2 * MEMORY, cpus: 2, call: 200.0, seed, ranks: None, probes: AvailableProbes::NONE };
        let Ok(plan) = experiment::plan(&asked) else {
            prop_assert!(block > span);
            return Ok(());
        };
        let (job, mut ranges) = (&plan.cells[0], Vec::new());
        for lane in 0..job.threads {
            let share = Share::for_lane(job, lane, job.blocks(), plan.seed);
            share.replay(0, share.quota, |offset, len| ranges.push((offset, offset + len)));
        }
        ranges.sort_unstable();
        // Each begins where the previous one ended.
        prop_assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{:?}", ranges);
        prop_assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1, ranges.len() as u64), (0, span, span.div_ceil(block)));
    }

    #[test]
    fn ranges_are_what_they_say(text in prop_oneof![range(40), "[0-9kmgbi.,*+]{0,24}", ".{0,24}"]) {
        let Ok(parsed) = Range::parse(&text, RangeOf::Bytes) else { return Ok(()) };
        let once: HashSet<u64> = parsed.values.iter().copied().collect();
        prop_assert!(!parsed.values.is_empty() && parsed.values.len() == once.len() && parsed.values.len() < 5000);
        prop_assert_eq!(&Range::parse(&parsed.to_string(), RangeOf::Bytes).unwrap(), &parsed);
        prop_assert_eq!(Range::parse(&Range::list(&parsed.values).text, RangeOf::Bytes).unwrap().values, parsed.values);
    }

    #[test]
    fn sizes_are_powers_as_documented(number in 0u64..1 << 20, unit in select(&[("", 1u64), ("k", 1 << 10), ("KiB", 1 << 10), ("kB", 1000), ("m", 1 << 20), ("MB", 1_000_000), ("G", 1 << 30), ("GiB", 1 << 30), ("GB", 1_000_000_000), ("t", 1 << 40)][..]), text in ".{0,20}") {
        prop_assert_eq!(units::parse_bytes(&format!("{number}{}", unit.0)).unwrap(), number * unit.1);
        prop_assert_eq!(units::parse_bytes(&format!(" {number} {} ", unit.0)).unwrap(), number * unit.1);
        if let Ok(bytes) = units::parse_bytes(&text) {
            prop_assert_eq!(units::parse_bytes(&units::short_bytes(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn no_words_panic_the_command_line(words in vec(prop_oneof!["-[a-z]", "--[a-z-]{0,12}", ".{0,12}", "[0-9kmg.,*+]{0,12}"], 0..6)) {
        let argv = std::iter::once("iotui".to_string()).chain(words);
        if let Err(error) = cli::parse(argv.map(OsString::from)) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

use super::*;
use crate::plan::{Cache, Choice, DefaultFor, Op, Rate, preset};

/// The backends that these tests name, because an experiment knows no registry.
static INFOS: [Info; 5] = [
    Info {
        id: "read",
        default_for: &[DefaultFor::Read, DefaultFor::Write],
        ..Info::COPIES_BY_CALL
    },
    Info { id: "pread", default_for: &[DefaultFor::Mix], ..Info::COPIES_BY_CALL },
    Info { id: "mmap", ops: &[Op::Read], default_for: &[DefaultFor::Read], ..Info::COPIES_BY_CALL },
    Info {
        id: "uring",
        default_for: &[DefaultFor::Read, DefaultFor::Write, DefaultFor::Mix],
        ..Info::COPIES_BY_CALL
    },
    Info { id: "seek", default_for: &[DefaultFor::Seek], ..Info::MOVES_NOTHING },
];

fn infos() -> Vec<&'static Info> {
    INFOS.iter().collect()
}

fn job(backend: &str, block: u64, cache: Cache) -> Job {
    Job {
        block,
        cache,
        count: None,
        span: 1 << 20,
        ..Job::plain(Choice::parse(backend).unwrap(), Op::Read)
    }
}

fn cells() -> Vec<Job> {
    let pread = [4096, 32768]
        .map(|block| [Cache::Cold, Cache::Warm].map(|cache| job("pread", block, cache)));
    let seek = Job { op: Op::Seek, ..job("seek", 4096, Cache::AsIs) };
    [pread.concat(), vec![seek.clone(), Job { block: 32768, ..seek }]].concat()
}

fn said_of(line: &str, skipped: &[Job]) -> Result<(), String> {
    describes(&Settings::from_words(line), &[], &infos(), &cells(), skipped)
        .map_err(|other| other.to_string())
}

#[test]
fn partial_options_describe_the_cells() {
    for line in [
        "",
        "seed=7 trials=9 budget=9s trial-time=1s",
        "block-size=4k,32k",
        "backend=seek,pread",
        "cache=warm,cold",
        "op=read pattern=seq threads=1 depth=1 sync=none size=1m",
        "backend=pread,seek block-size=4k..32k*8 cache=cold,warm direct=false xor=false",
    ] {
        assert_eq!(said_of(line, &[]), Ok(()), "{line}");
    }
}

#[test]
fn other_cells_are_named() {
    for (line, wanted) in [
        (
            "block-size=4k",
            "--block-size excludes cells of the baseline: pread 32 KiB cold, and 2 more",
        ),
        ("cache=warm", "--cache excludes cells of the baseline: pread 4 KiB cold, and 1 more"),
        ("backend=seek", "--backend excludes cells of the baseline: pread 4 KiB cold, and 3 more"),
        ("block-size=4k,32k,1m", "the baseline has no cell with --block-size 1m"),
        ("backend=pread,seek,mmap", "the baseline has no cell with --backend mmap"),
        ("cache=cold,warm,asis", "the baseline has no cell with --cache asis"),
    ] {
        assert_eq!(said_of(line, &[]), Err(wanted.into()), "{line}");
    }
    // A value that was requested before but unavailable then may be requested again.
    assert_eq!(said_of("block-size=4k,32k,1m", &[job("pread", 1 << 20, Cache::Cold)]), Ok(()));
}

/// For each setting of a cell, a value that no cell has.
const OTHER: &[(&str, &str)] = &[
    ("backend", "mmap"),
    ("block-size", "1m"),
    ("count", "9"),
    ("op", "write"),
    ("pattern", "random"),
    ("threads", "2"),
    ("depth", "2"),
    ("rate", "9"),
    ("think", "5ms"),
    ("cache", "asis"),
    ("direct", "true"),
    ("xor", "true"),
    ("size", "2m"),
    ("sync", "end"),
    ("mix", "50"),
    ("cpu-cache", "flush"),
    ("writes", "append"),
    ("opened", "timed"),
];

#[test]
fn every_cell_setting_is_compared() {
    for setting in Settings::ALL {
        let free = [
            "seed",
            "trials",
            "until",
            "trial-time",
            "budget",
            "ceilings",
            "rated",
            "expect",
            "memory-share",
            "latency-target",
            "neighbour",
            "neighbour-share",
            "watch",
            "stop-if",
            "cold",
            "cpus",
            "compressible",
            "dedupe",
            "precondition",
            "verify",
            "fresh",
            "probe",
            "set",
            "remote",
            // These cells have no sync that it could follow, and one thread.
            "sync-every",
            "file-per",
            // They are at full speed.
            "arrival",
            // One process measured them.
            "ranks",
            "layout",
            "shift",
        ]
        .contains(&setting.name);
        let value = OTHER.iter().find(|(name, _)| *name == setting.name);
        assert_eq!(
            value.is_none(),
            free,
            "{}: give it a value that these cells have not",
            setting.name
        );
        if let Some((name, value)) = value {
            let error = said_of(&format!("{name}={value}"), &[]).unwrap_err();
            assert!(error.contains(&format!("--{name} excludes cells")), "{error}");
        }
    }
}

#[test]
fn a_preset_says_its_defaults_too() {
    let quick = [preset("quick").unwrap()];
    let whole = usual(&quick[0].settings, &infos());
    let backends = whole.text("backend").unwrap();
    let all: Vec<Job> = backends
        .split(',')
        .flat_map(|b| whole.block_size.as_ref().unwrap().values.iter().map(move |s| (b, *s)))
        .flat_map(|(b, s)| [Cache::Cold, Cache::Warm].map(|cache| job(b, s, cache)))
        .collect();
    let held =
        |settings: &Settings, cells: &[Job]| describes(settings, &quick, &infos(), cells, &[]);
    assert_eq!(held(&Settings::default(), &all), Ok(()));
    let warm: Vec<Job> = all.iter().filter(|job| job.cache == Cache::Warm).cloned().collect();
    assert_eq!(
        held(&Settings::default(), &warm),
        Err(OtherCells::Added { option: "cache", value: "cold".into() })
    );
    assert_eq!(held(&Settings::from_words("cache=warm"), &warm), Ok(()));
    assert!(matches!(
        held(&Settings::default(), &cells()),
        Err(OtherCells::LeftOut { option: "backend", .. })
    ));
}

#[test]
fn each_sweep_of_a_preset_counts() {
    let two = Preset::parse(
        "two",
        r#"about = "x"
        doc = "y"
        experiment = "sweep"
        [settings]
        backend = "pread"
        cache = "warm"
        [[sweep]]
        block-size = "4k"
        threads = "2"
        [[sweep]]
        block-size = "1m"
        "#,
    )
    .unwrap();
    let small = Job { threads: 2, ..job("pread", 4096, Cache::Warm) };
    let large = job("pread", 1 << 20, Cache::Warm);
    let held = |cells: &[Job]| {
        describes(&Settings::default(), std::slice::from_ref(&two), &infos(), cells, &[])
    };
    assert_eq!(held(&[small.clone(), large.clone()]), Ok(()));
    let added = |option, value: &str| Err(OtherCells::Added { option, value: value.into() });
    assert_eq!(held(std::slice::from_ref(&small)), added("block-size", "1m"));
    // Names the difference from the nearest sweep.
    let odd = Job { cache: Cache::Cold, ..small.clone() };
    assert!(matches!(held(&[small, large, odd]), Err(OtherCells::LeftOut { option: "cache", .. })));
}

#[test]
fn options_of_a_cell_have_values() {
    let read = Job::plain(Choice::plain("read"), Op::Read);
    let rate = Some(Rate::Operations(100));
    let job = Job { count: Some(7), mix: Some(30), ranks: Some(4), rate, think: 5000, ..read };
    let mut all = Settings::default();
    for option in JobOption::all() {
        let text = option.text(&job).expect(option.name);
        all.set(option.name, &text).unwrap();
        assert_eq!(all.text(option.name), Some(text));
    }
}

#[test]
fn a_sweep_sets_each_option() {
    let all = crate::experiment::usual(&Settings::default(), &[]);
    for option in JobOption::all() {
        let usual = all.text(option.name);
        assert!(option.usual.is_none_or(|value| usual.as_deref() == Some(value)));
        let open =
            ["count", "mix", "size", "ranks", "layout", "rate", "think"].contains(&option.name);
        assert_eq!(usual.is_none(), open, "{}", option.name);
    }
}

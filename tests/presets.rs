//! The built-in presets on all kinds of files and machines: pure plans, and one through the
//! program.

use crate::common::stderr_of;
use std::path::PathBuf;

use crate::common;

use iotui::experiment::{self, AvailableProbes, PlanError, PlanRequest};
use iotui::plan::{
    Cache, Cold, CpuCache, Job, Op, PRESETS, Pattern, Plan, Preset, Resolved, Settings, TargetSpec,
    preset,
};

const FILE: u64 = 64 << 20;

fn file() -> TargetSpec {
    TargetSpec::File { path: PathBuf::from("data.bin"), size: FILE }
}

fn scratch(size: u64) -> TargetSpec {
    TargetSpec::Scratch { dir: PathBuf::from("."), size, keep: false }
}

fn parse_settings(line: &str) -> Settings {
    let mut settings = Settings::default();
    for word in line.split_whitespace() {
        let (name, text) = word.split_once('=').unwrap();
        settings.set(name, text).unwrap();
    }
    settings
}

/// Plans on a machine that supports what `check` allows, with 1 GiB of memory.
fn plan_on(
    presets: &[Preset],
    line: &str,
    target: TargetSpec,
    check: &dyn Fn(&Job) -> Result<(), String>,
) -> Result<Plan, PlanError> {
    let (settings, infos) = (parse_settings(line), iotui::catalog::infos());
    let cell = |info: &'static iotui::plan::ProbeInfo| {
        vec![(iotui::plan::ProbeCell::new(info.id, []), Ok(()))]
    };
    let probes = AvailableProbes { infos: iotui::catalog::PROBES, cells: &cell };
    experiment::plan(&PlanRequest {
        probes: &probes,
        resolved: &Resolved::new(&settings, presets),
        target,
        targets: 1,
        variants: &[],
        infos: &infos,
        check,
        memory: 1 << 29,
        allowed: 1 << 30,
        call: 200.0,
        cpus: 2,
        seed: 1,
        ranks: None,
    })
}

fn plan(id: &str, line: &str, target: TargetSpec) -> Result<Plan, PlanError> {
    plan_on(&[preset(id).unwrap()], line, target, &|_| Ok(()))
}

/// Returns the distinct values of one axis, in order.
fn values<T: Ord>(plan: &Plan, of: impl Fn(&Job) -> T) -> Vec<T> {
    let mut values: Vec<T> = plan.cells.iter().map(of).collect();
    values.sort();
    values.dedup();
    values
}

#[test]
fn every_preset_gives_a_plan() {
    for (id, _) in PRESETS {
        let on_scratch =
            plan(id, "", scratch(2 << 30)).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(on_scratch.presets == [*id] && on_scratch.target == scratch(2 << 30), "{id}");
        match plan(id, "", file()) {
            Ok(plan) => assert!(
                plan.cells.iter().all(|cell| cell.op != Op::Write),
                "{id} writes to a file of the user's"
            ),
            // Without writes nothing remains.
            Err(error) => assert!(
                ["mixed", "commit", "sustain"].contains(id)
                    && error.to_string().contains("only to files it creates"),
                "{id}: {error}"
            ),
        }
    }
}

#[test]
fn missing_features_are_skipped_with_reason() {
    fn lacks(job: &Job) -> Result<(), String> {
        if job.backend.id == "uring" {
            Err("io_uring is switched off".to_string())
        } else if job.cpu_cache == CpuCache::Flush {
            Err("no clflush".into())
        } else if job.direct && job.block < 4096 {
            Err("blocks of 4 KiB".into())
        } else {
            Ok(())
        }
    }
    for (id, _) in PRESETS {
        let presets = [preset(id).unwrap()];
        let whole = plan(id, "", scratch(2 << 30)).unwrap();
        let rest = plan_on(&presets, "", scratch(2 << 30), &lacks)
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        let lost: Vec<&Job> =
            whole.cells.iter().filter(|cell| !rest.cells.contains(cell)).collect();
        assert!(lost.iter().all(|cell| lacks(cell).is_err()), "{id} lost more than it had to");
        assert!(
            lost.iter()
                .all(|cell| rest.skipped.iter().any(|s| s.cell == **cell && !s.reason.is_empty())),
            "{id} is silent"
        );
        assert!(rest.cells.iter().all(|cell| lacks(cell).is_ok()), "{id}");
    }
}

#[test]
fn preset_never_writes_a_users_file() {
    let both = plan("basics", "", scratch(FILE)).unwrap();
    assert_eq!(
        both.cells.iter().map(|cell| (cell.op, cell.xor)).collect::<Vec<_>>()[..],
        [(Op::Read, true), (Op::Read, true), (Op::Write, true)]
    );
    let reads = plan("basics", "", file()).unwrap();
    assert_eq!((values(&reads, |cell| cell.op), reads.skipped.len()), (vec![Op::Read], 1));
    // Set for all: equal cells are merged.
    assert_eq!(plan("basics", "op=read xor=true", file()).unwrap().cells.len(), 2);
    let synced = plan("basics", "sync=end", scratch(FILE)).unwrap();
    assert_eq!(
        synced
            .cells
            .iter()
            .filter(|cell| cell.sync == iotui::plan::Sync::End)
            .map(|cell| cell.op)
            .collect::<Vec<_>>(),
        [Op::Write]
    );
}

#[test]
fn peak_has_four_rows() {
    let peak = plan("peak", "backend=uring", scratch(FILE)).unwrap();
    let rows: Vec<_> = peak
        .cells
        .iter()
        .map(|c| (c.op, c.pattern, c.block >> 10, c.depth, c.threads, c.direct))
        .collect();
    let four = |op| {
        [
            (op, Pattern::Seq, 1024, 8, 1, true),
            (op, Pattern::Seq, 128, 32, 1, true),
            (op, Pattern::Random, 4, 32, 16, true),
            (op, Pattern::Random, 4, 1, 1, true),
        ]
    };
    assert_eq!(rows, [four(Op::Read), four(Op::Write)].concat());
}

#[test]
fn warm_applies_to_buffered_cells() {
    let random = plan("random", "cache=warm", file()).unwrap();
    assert_eq!(
        (values(&random, |c| c.direct), values(&random, |c| c.cache)),
        (vec![false], vec![Cache::Warm])
    );
    assert!(matches!(plan("depth", "cache=warm", file()), Err(PlanError::WarmDirect)));
    assert!(matches!(plan("peak", "cache=warm", file()), Err(PlanError::WarmDirect)));
}

#[test]
fn spans_are_shares_of_memory() {
    let gib = 1u64 << 30;
    let larger = plan("larger-than-memory", "", scratch(3 * gib / 2)).unwrap();
    assert_eq!(values(&larger, |cell| cell.span), [gib / 2, gib, 3 * gib / 2]);
    let small = plan("larger-than-memory", "", file()).unwrap();
    assert_eq!((values(&small, |cell| cell.span), small.skipped.len()), (vec![FILE], 12));
    let between = plan("larger-than-memory", "memory-share=1,3%", file()).unwrap();
    assert_eq!(values(&between, |cell| cell.span), [10 << 20, 30 << 20]);
    assert_eq!(
        values(&plan("larger-than-memory", "size=1m", file()).unwrap(), |cell| cell.span),
        [1 << 20]
    );
}

#[test]
fn call_counts_fit_the_budget() {
    fn most(line: &str) -> Option<u64> {
        *values(&plan("syscalls", line, scratch(1 << 30)).unwrap(), |cell| cell.count)
            .last()
            .unwrap()
    }
    assert_eq!(
        (most("budget=1ms"), most("budget=100h"), most("count=1m budget=1ms")),
        (Some(1024), Some(1 << 27), Some(1 << 20))
    );
    let short = plan("syscalls", "budget=1ms", scratch(1 << 30)).unwrap();
    assert!(short.skipped.iter().all(|skipped| skipped.reason.contains("budget of 1ms")));
}

#[test]
fn preset_budget_can_be_overridden() {
    fn low(line: &str) -> u128 {
        plan("measure", line, file()).unwrap().trial_time.low.as_millis()
    }
    assert_eq!((low(""), low("trial-time=7ms"), low("trial-time=7s budget=1s")), (5000, 7, 7000));
    // 27 block sizes in 10 s, calibrated, prepared and measured once.
    assert_eq!(low("budget=10s"), 185);
}

#[test]
fn drop_level_is_in_the_plan() {
    fn of(line: &str) -> (iotui::plan::Cold, bool) {
        let plan = plan("quick", line, file()).unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        (plan.cold, text.contains("\"meta\""))
    }
    assert_eq!(
        [of(""), of("cold=data"), of("cold=meta")],
        [(Cold::Data, false), (Cold::Data, false), (Cold::Meta, true)]
    );
}

#[test]
fn missing_rights_to_drop_caches_warn() {
    if iotui::sys::cold::check_drop_caches().is_ok() {
        return common::skip("this user may drop the caches of all files");
    }
    let done = common::Home::new().std("--batch --dry-run --cold all").output().unwrap();
    let stderr = stderr_of(&done);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("--cold all writes to /proc/sys/vm/drop_caches")
            && stderr.lines().count() == 1,
        "{stderr}"
    );
}

#[test]
fn invalid_preset_names_its_line() {
    let home = common::Home::new();
    let dir = home.home().join(".config/iotui/presets");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join("mine.toml"),
        "about = 'a'\ndoc = 'd'\nexperiment = 'sweep'\n[[sweep]]\nthreads = 2\nop = 'reed'\n",
    )
    .unwrap();
    let done = home.std("--batch -p mine").env_remove("XDG_CONFIG_HOME").output().unwrap();
    let stderr = stderr_of(&done);
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    for wanted in [".config/iotui/presets/mine.toml: line 6: op: ", "did you mean read"] {
        assert!(stderr.contains(wanted), "{stderr}");
    }
}

/// The requested cache-drop levels that are available; each of the others says why
/// not.
#[test]
fn caching_compares_drop_levels() {
    let home = common::Home::new();
    home.file("data.bin", 1 << 20);
    let levels = |line: &str| {
        let line = format!(
            "--batch -p caching -s 64k --cpu-cache keep --trials 1 --trial-time 1ms --no-save {line}"
        );
        home.json(&line)["levels"].as_array().unwrap().clone()
    };
    fn name_levels(levels: &[serde_json::Value]) -> Vec<(String, bool)> {
        levels
            .iter()
            .map(|level| (level["dropped"].as_str().unwrap().into(), level["reason"].is_null()))
            .collect()
    }
    let names = ["nothing", "data", "meta", "all"];
    let found = name_levels(&levels("data.bin"));
    assert!(
        found.iter().map(|(name, _)| name).eq(names.iter())
            && found[0].1
            && !found[2].1
            && !found[3].1,
        "{found:?}"
    );
    assert!(
        name_levels(&levels("--dir . --size 1m")).iter().skip(2).all(|(_, measured)| !measured),
        "a scratch file has no name"
    );
    assert_eq!(levels("-c warm data.bin").len(), 0, "nothing is cold");
    let text = home.stdout("--batch -p caching -s 64k --cpu-cache keep --trials 1 --no-save --format markdown data.bin");
    assert!(
        text.contains("**What each cache-drop level costs**")
            && text.contains("Skipped: meta: it drops"),
        "{text}"
    );
    if home
        .cmd("--batch -p caching --cold all --dry-run data.bin")
        .output()
        .unwrap()
        .status
        .success()
    {
        let all = levels("--cold all data.bin");
        for level in &all {
            let readings = level["readings"].as_array().unwrap();
            assert!(level["reason"].is_null() != readings.is_empty(), "{level}");
            assert!(
                readings.iter().all(|r| r["open"].as_u64().unwrap() + r["first"].as_u64().unwrap()
                    <= r["whole"].as_u64().unwrap())
            );
        }
        assert!(all[0]["reason"].is_null(), "{all:?}");
    }
}

/// Data is in the page cache before it is on the device, and unknown figures are null.
#[test]
fn writes_show_cache_and_device_time() {
    let home = common::Home::new();
    fn median(value: &serde_json::Value) -> Option<f64> {
        value["median"].as_f64()
    }
    for (sync, direct) in [("none", ""), ("end", ""), ("each", ""), ("none", " --direct")] {
        let line = format!(
            "--batch --dir . --op write --size 4m -b pread -s 64k -n 0 --trials 3 --no-save --sync {sync}{direct}"
        );
        let result = &home.json(&line)["results"][0];
        if direct.is_empty() || result["error"].is_null() {
            let written = &result["written"];
            let (cached, device) = (median(&written["page_cache"]), median(&written["device"]));
            match (sync, direct) {
                (_, " --direct") => assert!(cached.is_none() && device.is_some(), "{written}"),
                ("none", _) => assert!(cached.is_some() && device.is_none(), "{written}"),
                ("each", _) => assert!(cached.is_some() && cached == device, "{written}"),
                _ => assert!(cached.unwrap() > 0.0 && cached < device, "{written}"),
            }
        }
    }
    let text = home.stdout("--batch --dir . --op write --size 4m -b pread -s 64k -n 0 --trials 2 --no-save --sync end --format markdown");
    assert!(
        text.contains("**Writes**") && text.contains("| page cache") && text.contains("| device"),
        "{text}"
    );
    assert!(home.json("--batch --dir . --size 1m -b pread -s 64k -n 0 -c warm --trials 1 --no-save")["results"][0]["written"].is_null());
}

#[test]
fn syscalls_preset_fits_any_budget() {
    for budget in ["1ms", "1s", "2m"] {
        let plan = plan("syscalls", &format!("budget={budget}"), file()).unwrap();
        for cache in [Cache::Cold, Cache::Warm] {
            let reads = |job: &&Job| {
                job.block == 1
                    && job.count == Some(1024)
                    && (job.cache == cache || job.op == Op::Seek)
            };
            let mut ids: Vec<&str> =
                plan.cells.iter().filter(reads).map(|job| job.backend.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids, ["getpid", "map-unmap", "pread", "read", "seek"], "{budget} {cache}");
        }
        assert!(plan.skipped.iter().all(|skipped| skipped.cell.count != Some(1024)), "{budget}");
    }
}

#[test]
fn requested_trial_time_is_kept() {
    fn fitted(id: &str, line: &str) -> bool {
        plan(id, line, file()).unwrap().fitted
    }
    assert!(
        fitted("caching", "") && fitted("caching", "budget=10s") && fitted("measure", "budget=60s")
    );
    // The same time, but requested.
    let time = plan("caching", "budget=10s", file()).unwrap().trial_time.low.as_nanos();
    assert!(!fitted("caching", &format!("budget=10s trial-time={time}ns")));
    assert!(!fitted("measure", "") && !fitted("caching", "trial-time=300ms"));
}

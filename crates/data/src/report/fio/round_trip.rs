//! Tests that a job exported for fio and imported from fio's JSON is the same job.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::BACKENDS;
use crate::plan::{
    Arrival, Choice, Fio, FioEngine, Info, Job, Op, Pattern, Rate, Sync, TargetSpec,
    foreign_backend,
};
use crate::report::testing;

const SPAN: u64 = 1 << 20;

/// Returns the job file of one job.
fn exported(job: &Job, path: &Path) -> String {
    let mut session = testing::session(vec![job.clone()]);
    session.plan.target = TargetSpec::New { path: path.into(), size: SPAN };
    let mut out = Vec::new();
    write(&session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the options of the section whose first line starts with this, as fio prints them.
fn options(text: &str, section: &str) -> Value {
    let lines = text.lines().skip_while(|line| !line.starts_with(section)).skip(1);
    let options = lines.take_while(|line| !line.is_empty() && !line.starts_with([';', '[']));
    fn pair(line: &str) -> (String, Value) {
        match line.split_once('=') {
            Some((name, value)) => (name.to_string(), json!(value)),
            None => (line.to_string(), json!("1")),
        }
    }
    Value::Object(options.map(pair).collect::<Map<_, _>>())
}

/// Returns fio's output for this file of a job after it has read and written 16 blocks.
fn output(text: &str, of: &Job) -> String {
    let moved = json!({"io_bytes": 16 * of.block, "total_ios": 16, "runtime": 100});
    let (op, mixed) = (of.op, of.mix.is_some());
    let direction = |own: Op| if op == own || mixed { moved.clone() } else { json!({}) };
    let job = json!({
        "jobname": "job",
        "job options": options(text, "[1 "),
        "read": direction(Op::Read),
        "write": direction(Op::Write),
    });
    json!({"fio version": "fio-3.33", "global options": options(text, "[global]"), "jobs": [job]})
        .to_string()
}

/// Returns the cells imported from fio's output.
fn imported(output: &str) -> Vec<Job> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fio.json");
    std::fs::write(&file, output).unwrap();
    let import = crate::session::import(&dir.path().join("store"), &file).unwrap();
    crate::session::load(&import.path).unwrap().plan.cells
}

fn engine(info: &Info) -> Option<FioEngine> {
    match info.fio {
        Fio::Engine(engine) => Some(engine),
        Fio::Unavailable(_) => None,
    }
}

/// Returns jobs of a backend that differ in everything that fio reports.
fn jobs(info: &Info) -> Vec<Job> {
    let plain = |op: &Op| Job { span: SPAN, ..Job::plain(Choice::plain(info.id), *op) };
    let mut jobs: Vec<Job> = info.ops.iter().filter(|op| **op != Op::Seek).map(plain).collect();
    let Some(base) = jobs.first().cloned() else { return jobs };
    jobs.push(Job { threads: 4, block: 16 << 10, ..base.clone() });
    let rate = Some(Rate::Operations(400));
    jobs.push(Job { rate, arrival: Arrival::Poisson, threads: 4, ..base.clone() });
    jobs.push(Job { rate: Some(Rate::Bytes(1 << 20)), ..base.clone() });
    jobs.push(Job { think: 5_000_000, ..base.clone() });
    let drawn = [Pattern::Zipf(990), Pattern::Hot { share: 20, accesses: 80 }];
    for pattern in [Pattern::Random, Pattern::Reverse, Pattern::Stride(4)].into_iter().chain(drawn)
    {
        jobs.push(Job { pattern, ..base.clone() });
    }
    if info.max_depth() > 1 {
        jobs.push(Job { depth: 8, ..base.clone() });
    }
    if info.direct {
        jobs.push(Job { direct: true, threads: 2, ..base.clone() });
    }
    if info.ops.contains(&Op::Write) {
        let write = Job { op: Op::Write, ..base.clone() };
        // fio has no flag per write, and syncs its mappings with msync only.
        let told = |sync: &&Sync| !matches!(sync, Sync::None | Sync::RwfDsync | Sync::Msync);
        let syncs = info.syncs.iter().filter(told);
        jobs.extend(syncs.map(|sync| Job { sync: *sync, ..write.clone() }));
        if info.syncs.contains(&Sync::Fsync) {
            jobs.push(Job { sync: Sync::Fsync, sync_every: 8, ..write.clone() });
        }
        jobs.extend(info.mixes.then_some(Job { mix: Some(70), ..write }));
    }
    let options = engine(info).into_iter().flat_map(|engine| engine.options);
    for option in options.filter(|option| option.assignment.is_some()) {
        let value = info.option(option.option).and_then(|known| known.value).map_or("", |_| "=3");
        let backend = Choice::parse(&format!("{}+{}{value}", info.id, option.option)).unwrap();
        jobs.push(Job { backend, ..base.clone() });
    }
    jobs
}

#[test]
fn exported_jobs_are_imported_unchanged() {
    for info in BACKENDS {
        for job in jobs(info) {
            let text = exported(&job, "/data/a".as_ref());
            match info.fio {
                Fio::Engine(_) => {
                    let cells = imported(&output(&text, &job));
                    // fio reports both directions of a mix.
                    let cell = cells.iter().find(|cell| cell.op == job.op);
                    let wanted = Job { count: None, ..job };
                    assert_eq!(cell, Some(&wanted), "{text}");
                    assert_eq!(cells.len(), if wanted.mix.is_some() { 2 } else { 1 });
                }
                Fio::Unavailable(why) => {
                    assert!(!why.is_empty(), "{}: there is no reason", info.id);
                    assert!(text.contains(&format!(": {why}")), "{text}");
                    assert!(!text.contains("ioengine"), "{text}");
                }
            }
        }
    }
}

#[test]
fn backends_have_different_engines() {
    fn engines() -> impl Iterator<Item = FioEngine> {
        BACKENDS.iter().filter_map(|info| engine(info))
    }
    for own in engines() {
        assert_eq!(engines().filter(|other| other.name == own.name).count(), 1, "{}", own.name);
    }
}

#[test]
fn unknown_engines_keep_their_name() {
    let job = Job { span: SPAN, ..Job::plain(foreign_backend("libpmem"), Op::Read) };
    let text = exported(&job, "/data/a".as_ref());
    assert!(text.contains("\nioengine=libpmem\n"), "{text}");
    assert_eq!(imported(&output(&text, &job)), [Job { count: None, ..job }]);
    let unknown = Job::plain(Choice::plain("later"), Op::Read);
    assert!(!exported(&unknown, "/data/a".as_ref()).contains("ioengine"));
}

#[test]
fn imports_what_fio_prints() {
    if Command::new("fio").arg("--version").output().is_err() {
        return iotui_files::testing::without("fio");
    }
    let folder = tempfile::tempdir().unwrap();
    for info in BACKENDS {
        let Some(engine) = engine(info) else { continue };
        let depth = info.max_depth().min(4);
        let plain = Job::plain(Choice::plain(info.id), Op::Read);
        let job = Job { depth, threads: 2, span: SPAN, count: Some(16), ..plain };
        let file = folder.path().join("job.fio");
        std::fs::write(&file, exported(&job, &folder.path().join("data"))).unwrap();
        let ran = Command::new("fio").arg("--output-format=json").arg(&file).output().unwrap();
        let output = String::from_utf8_lossy(&ran.stdout);
        if !output.contains("\"jobs\"") {
            let why = String::from_utf8_lossy(&ran.stderr);
            iotui_files::testing::skip(&format!("fio has no engine {} here: {why}", engine.name));
            continue;
        }
        assert_eq!(imported(&output), [Job { count: None, ..job }], "{output}");
    }
}

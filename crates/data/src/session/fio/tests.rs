use super::*;
use crate::analysis::{CellResult, LatencyOf, results};
use crate::plan::{Arrival, Op, Pattern, Rate, Sync};
use crate::record::Severity;
use crate::session::{Imported, import, load};

mod figures;
mod forms;

fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/fio").join(name)
}

/// Returns a session as imported, saved and loaded again.
fn imported(name: &str) -> Session {
    let dir = tempfile::tempdir().unwrap();
    let Imported { path, .. } = import(dir.path(), &golden(name)).unwrap();
    let loaded = load(&path).unwrap();
    let read = session(&golden(name)).unwrap().unwrap();
    assert_eq!(Session { id: loaded.id.clone(), ..read }, loaded, "{name}");
    loaded
}

fn refused(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    std::fs::write(&file, text).unwrap();
    let error = import(&dir.path().join("store"), &file).unwrap_err().to_string();
    assert!(error.len() < 500 && !error.contains(char::is_control), "{error}");
    error
}

fn rate(result: &CellResult) -> f64 {
    result.throughput.unwrap().summary.median
}

#[test]
fn one_job_becomes_one_cell() {
    let session = imported("seq.json");
    let found = results(&session);
    assert_eq!(
        (found.len(), found[0].trials.len(), session.created.as_str()),
        (1, 1, "2026-11-21T16:51:30Z")
    );
    let job = &found[0].cell;
    assert_eq!(
        (job.backend.to_string().as_str(), job.block, job.span, job.pattern),
        ("pread", 65_536, 64 << 20, Pattern::Seq)
    );
    assert_eq!(
        (found[0].trials[0].bytes, found[0].trials[0].ops, found[0].trials[0].nanos),
        (64 << 20, 1024, 32_000_000)
    );
    assert_eq!(rate(&found[0]), 2_097_152_000.0);
    let latency = found[0].latency.unwrap();
    // 1024 operations support p99, but not p99.9.
    assert_eq!(
        (latency.p50, latency.p90, latency.p99, latency.p999, latency.max),
        (Some(3088.0), Some(3856.0), Some(4896.0), None, 106_709.0)
    );
    let source = found[0].source.unwrap();
    assert_eq!(
        (source.unknown, found[0].source_reason.as_str()),
        (1.0, "fio does not report this")
    );
    assert!(
        session.notes.iter().any(|note| note.contains("fio-3.33"))
            && session.notes.iter().any(|note| note.starts_with("disk "))
    );
    assert_eq!((session.host.name.as_str(), session.end), ("", Some(End::Finished)));
}

#[test]
fn a_mix_becomes_two_cells() {
    let session = imported("mixed.json");
    let found = results(&session);
    let said: Vec<_> = found
        .iter()
        .map(|r| {
            (r.cell.op, r.cell.mix, r.cell.threads, r.cell.depth, r.cell.direct, r.trials[0].ops)
        })
        .collect();
    assert_eq!(
        said,
        [(Op::Read, Some(70), 2, 8, true, 5661), (Op::Write, Some(70), 2, 8, true, 2531)]
    );
    assert_eq!(
        (found[0].cell.backend.id.as_str(), found[0].cell.pattern),
        ("uring", Pattern::Random)
    );
    // fio reports no calls of io_uring, and only the CPU time of both directions together.
    assert!(found.iter().all(|r| r.syscalls.is_none() && r.trials[0].user_nanos == 0));
    let buckets = &session.verdicts[0].as_ref().unwrap().latency.as_ref().unwrap().buckets;
    assert_eq!((buckets[0], buckets.iter().map(|(_, count)| count).sum::<u64>()), ((100, 1), 5661));
}

/// fio's completion latency begins when the submission has returned; iotui's latency includes both.
#[test]
fn whole_latencies_are_preferred() {
    let completion = imported("mixed.json");
    let warnings = &results(&completion)[0].warnings;
    let said = warnings.iter().find(|warning| warning.id == "fio-completion").unwrap();
    assert_eq!(
        (said.severity, said.evidence.as_str()),
        (Severity::Misleading, "mean submission 10.2 µs, mean completion 847 µs")
    );
    assert!(
        imported("seq.json").verdicts[0]
            .as_ref()
            .unwrap()
            .warnings
            .iter()
            .all(|warning| warning.id != "fio-completion")
    );

    let mut output: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(golden("mixed.json")).unwrap()).unwrap();
    let read = &mut output["jobs"][0]["read"];
    let mut whole = read["clat_ns"].take();
    whole["percentile"]["50.000000"] = 777_216.into();
    (read["lat_ns"], read["clat_ns"]) = (whole, serde_json::json!({ "N": 0 }));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("whole.json");
    std::fs::write(&file, output.to_string()).unwrap();
    let session = session(&file).unwrap().unwrap();
    let verdict = session.verdicts[0].as_ref().unwrap();
    assert_eq!(verdict.latency.as_ref().unwrap().p50, Some(777_216.0));
    assert!(verdict.warnings.iter().all(|warning| warning.id != "fio-completion"));
}

#[test]
fn simultaneous_jobs_are_threads() {
    let both = imported("two.json");
    let together = results(&both);
    assert_eq!(both.plan.budget, Duration::from_millis(225));
    assert_eq!((together.len(), together[0].cell.threads, together[0].trials.len()), (1, 2, 1));
    assert_eq!((together[0].trials[0].bytes, together[0].trials[0].nanos), (8 << 20, 225_000_000));
    // Percentiles of two jobs cannot be added up.
    let latency = together[0].latency.unwrap();
    assert!(latency.p50.is_none() && latency.mean > 0.0 && latency.max > latency.mean);
    let one_by_one = imported("repeat.json");
    let repeated = results(&one_by_one);
    // All of it; else a run of that plan would end after the longest of its trials.
    assert_eq!(
        one_by_one.plan.budget,
        Duration::from_nanos(repeated[0].trials.iter().map(|trial| trial.nanos).sum())
    );
    assert_eq!((repeated.len(), repeated[0].trials.len(), repeated[0].trials[2].round), (1, 3, 3));
}

#[test]
fn engines_are_named_as_they_are() {
    let found = results(&imported("multi.json"));
    let names: Vec<_> = found
        .iter()
        .map(|r| (r.cell.backend.to_string(), r.cell.op, r.cell.depth, r.cell.sync))
        .collect();
    assert_eq!(names[0], ("mmap-copy".into(), Op::Read, 1, Sync::None));
    let aio = crate::catalog::BACKENDS.iter().any(|info| info.id == "aio");
    assert_eq!(names[1], (if aio { "aio" } else { "fio-libaio" }.into(), Op::Write, 4, Sync::End));
}

#[test]
fn leading_text_and_failures_are_kept() {
    let noted = std::fs::read_to_string(golden("noted.json")).unwrap();
    assert!(!noted.starts_with('{'));
    assert_eq!(results(&imported("noted.json"))[0].cell.pattern, Pattern::Reverse);
    let failed = results(&imported("failed.json"));
    assert_eq!((failed.len(), failed[0].cell.op), (1, Op::Write));
    assert!(
        failed[0].error.as_ref().unwrap().starts_with("fio: No space left"),
        "{:?}",
        failed[0].error
    );
}

/// A job with these options and 1 MiB read by 256 operations in 100 ms.
fn output(options: &str, more: &str) -> String {
    let read = r#""read":{"io_bytes":1048576,"total_ios":256,"runtime":100},"write":{}"#;
    format!(
        r#"{{"fio version":"fio-3.33","timestamp":1795279890,"jobs":[{{"jobname":"j","job options":{{{options}}},{read}{more}}}]}}"#
    )
}

fn build(text: &str) -> Result<Session, String> {
    build_session(text::find(text))
}

fn read(options: &str) -> CellResult {
    results(&build(&output(options, "")).unwrap()).remove(0)
}

#[test]
fn unmapped_options_are_warned_about() {
    let mean = read(r#""bs":"1k-64k","rw":"randread""#);
    assert_eq!((mean.cell.block, mean.warnings[0].id.as_ref()), (4096, "fio-options"));
    assert!(mean.warnings[0].evidence.contains("1k-64k"), "{:?}", mean.warnings);
    assert_eq!(read(r#""rw":"read:12k""#).cell.pattern, Pattern::Stride(4));
    assert_eq!(
        (
            read(r#""bs":"4ki""#).cell.block,
            read(r#""bs":"4ki","kb_base":"1000""#).cell.block,
            read(r#""bs":"4K""#).cell.block
        ),
        (4000, 4096, 4096)
    );
    let odd = read(
        r#""ioengine":"exec+x/../;","direct":null,"numjobs":"999999","group_reporting":null,"iodepth":"0","bs":"99999999999999999999""#,
    );
    assert_eq!(
        (odd.cell.backend.to_string().as_str(), odd.cell.direct, odd.cell.threads, odd.cell.depth),
        ("fio-execx", true, 1024, 1)
    );
}

#[test]
fn drawn_blocks_are_imported() {
    for (distribution, pattern) in [
        ("zipf:1.2", "zipf:1.2"),
        ("zoned:80/20:20/80", "hot:20/80"),
        ("zoned:20/80:80/20", "hot:20/80"),
        ("zoned:50/50:50/50", "hot:50/50"),
        ("random", "random"),
    ] {
        let found = read(&format!(r#""rw":"randread","random_distribution":"{distribution}""#));
        assert_eq!(found.cell.pattern.to_string(), pattern, "{distribution}");
        assert!(found.warnings.iter().all(|own| own.id != "fio-options"), "{distribution}");
    }
    for other in ["zoned:80/20:20/70", "zoned:x", "zoned:100/50:0/50", "zoned", "zipf:9"] {
        let found = read(&format!(r#""rw":"randread","random_distribution":"{other}""#));
        assert_eq!(found.cell.pattern, Pattern::Random, "{other}");
        let said = found.warnings.iter().find(|own| own.id == "fio-options").unwrap();
        assert!(said.evidence.contains(other), "{said:?}");
    }
    let straight = read(r#""rw":"read","random_distribution":"zipf:1.2""#);
    assert_eq!(straight.cell.pattern, Pattern::Seq);
}

#[test]
fn cells_have_rates_and_pauses() {
    for (options, rate, arrival, think) in [
        (r#""rate_iops":"100""#, Some(Rate::Operations(100)), Arrival::Steady, 0),
        (
            r#""rate_iops":"100","rate_process":"poisson""#,
            Some(Rate::Operations(100)),
            Arrival::Poisson,
            0,
        ),
        (r#""rate":"4m""#, Some(Rate::Bytes(4 << 20)), Arrival::Steady, 0),
        (r#""rate_iops":"100,50""#, None, Arrival::Steady, 0),
        (r#""rate_process":"poisson""#, None, Arrival::Steady, 0),
        (r#""thinktime":"1500""#, None, Arrival::Steady, 1_500_000),
        (r#""thinktime":"99999999999999""#, None, Arrival::Steady, 0),
    ] {
        let cell = read(options).cell;
        assert_eq!((cell.rate, cell.arrival, cell.think), (rate, arrival, think), "{options}");
    }
}

#[test]
fn options_changing_the_meaning_are_named() {
    for (options, says) in [
        (r#""rate":"4m""#, "rate=4m: fio held the job to this rate"),
        (r#""rate_iops":"100""#, "rate_iops=100"),
        (r#""thinktime":"1000""#, "thinktime=1000: fio paused between operations"),
        (r#""random_distribution":"pareto:0.9""#, "random_distribution=pareto:0.9"),
        (r#""random_distribution":"zipf:1.2:0.5""#, "random_distribution=zipf:1.2:0.5"),
        (r#""random_distribution":"zoned:50/5:30/15:20/80""#, "zoned:50/5:30/15:20/80"),
        (r#""latency_target":"500""#, "latency_target=500"),
        (r#""invalidate":"0""#, "invalidate=0: the page cache kept"),
        (r#""ioengine":"mmap","direct":"1""#, "direct=1: mmap uses the page cache"),
    ] {
        let found = read(options);
        let said = found.warnings.iter().find(|warning| warning.id == "fio-options").unwrap();
        assert!(said.evidence.starts_with("j: ") && said.evidence.contains(says), "{said:?}");
        assert_eq!(said.severity, Severity::Misleading);
        assert!(!found.cell.direct, "{options}");
    }
    for plain in [
        r#""rate":"0""#,
        r#""random_distribution":"random""#,
        r#""invalidate":"1""#,
        r#""ioengine":"psync","direct":"1""#,
    ] {
        assert!(read(plain).warnings.iter().all(|own| own.id != "fio-options"), "{plain}");
    }
    let kept = build(&output(r#""invalidate":"0""#, "")).unwrap();
    assert!(kept.notes.iter().all(|note| !note.contains("drops the file")), "{:?}", kept.notes);
}

#[test]
fn other_files_are_refused() {
    for (text, says) in [
        ("{\"a\":1}", "is not an iotui session"),
        ("{\"fio version\":\"x\",\"jobs\":[]}", "fio ran no job"),
        ("warning\n{\"fio version\":\"x\",\"jobs\":7}", "not fio's JSON output"),
        ("{\"fio version\":\"x\",\"jobs\":[{\"jobname\":\"\u{1b}[31m\"", "not fio's JSON output"),
        (
            &format!("{{\"fio version\":\"x\",\"jobs\":{}", "[".repeat(100_000)),
            "not fio's JSON output",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(says), "{error}");
    }
    let trim = output(r#""rw":"trim""#, r#","trim":{"total_ios":4}"#)
        .replace("1048576", "0")
        .replace("256", "0");
    assert!(refused(&trim).contains("none of its jobs reads or writes"), "{}", refused(&trim));
}

#[test]
fn hostile_figures_and_names_are_harmless() {
    let text = output(
        r#""filename":"\u001b[31m\n../x""#,
        r#","usr_cpu":1e300,"job_runtime":18446744073709551615"#,
    );
    let text = text
        .replace("\"runtime\":100", "\"runtime\":18446744073709551615")
        .replace("1795279890", "18446744073709551615");
    let session = build(&text).unwrap();
    assert!(
        session.created.starts_with("9999-12-31") && results(&session).len() == 1,
        "{}",
        session.created
    );
    let TargetSpec::File { path, .. } = &session.plan.target else { panic!() };
    assert!(!path.to_string_lossy().contains(char::is_control));
}

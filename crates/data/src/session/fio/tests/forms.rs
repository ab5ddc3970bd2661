//! The forms in which people keep what fio printed.

use std::io::Write as _;

use super::*;

fn text(name: &str) -> String {
    std::fs::read_to_string(golden(name)).unwrap()
}

/// Imports bytes as a file; the error is one line.
fn kept(bytes: &[u8]) -> Result<Session, String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.json");
    std::fs::write(&file, bytes).unwrap();
    let path = import(&dir.path().join("store"), &file).map_err(|error| error.to_string())?.path;
    Ok(load(&path).unwrap())
}

fn wide(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn every_encoding_gives_one_session() {
    let plain = text("fio-3.14.json");
    let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
    let sorted = value.to_string();
    assert!(sorted.find("fio version") > sorted.find("disk_util"));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(plain.as_bytes()).unwrap();
    let wanted = results(&kept(plain.as_bytes()).unwrap());
    let around = format!("fio: {{note}}\nJobs: 1 (f=1): [R(1)]\r{plain}\nlat }} (usec): 50=88 %\n");
    for (form, bytes) in [
        ("BOM", format!("\u{feff}{plain}").into_bytes()),
        ("UTF-16 LE with BOM", wide(&format!("\u{feff}{plain}"), u16::to_le_bytes)),
        ("UTF-16 BE with BOM", wide(&format!("\u{feff}{plain}"), u16::to_be_bytes)),
        ("UTF-16 LE", wide(&plain, u16::to_le_bytes)),
        ("UTF-16 BE", wide(&plain, u16::to_be_bytes)),
        ("gzip", gz.finish().unwrap()),
        ("CR LF", plain.replace('\n', "\r\n").into_bytes()),
        ("one line", sorted.clone().into_bytes()),
        ("indented", plain.replace('\n', "\n      ").into_bytes()),
        ("in an array", format!("[{plain}]").into_bytes()),
        ("in an object", format!("{{\"host\":{{\"a\":1}},\"fio\":{sorted}}}").into_bytes()),
        ("text around", around.into_bytes()),
        ("nan", plain.replacen("\"usr_cpu\": 5.978333", "\"usr_cpu\": -nan", 1).into_bytes()),
    ] {
        let mut found = results(&kept(&bytes).unwrap_or_else(|why| panic!("{form}: {why}")));
        if form == "nan" {
            let trial = Arc::make_mut(&mut found[0].trials[0]);
            assert_eq!(trial.user_nanos, 0);
            trial.user_nanos = wanted[0].trials[0].user_nanos;
        }
        assert_eq!(found, wanted, "{form}");
    }
}

#[test]
fn output_without_results_is_refused() {
    for (bytes, says) in [
        (text("no-json.txt"), "fio ran nothing: error: failed to setup shm segment"),
        (
            "a: you need to specify size=\nfio: pid=0, err=22\n".into(),
            "fio ran nothing: fio: pid=0",
        ),
        (text("normal.txt"), "fio's normal output: run fio with --output-format=json"),
        (text("terse.txt"), "fio's terse output: run fio with --output-format=json"),
        (text("seq.json").replace("fio version", "version"), "a part of fio's JSON"),
        (text("seq.json")[..900].into(), "not fio's JSON output: EOF"),
        (
            text("fio-3.14.json").replace("\"io_bytes\": 2054782976", "\"io_bytes\": 20547829"),
            "job random-read: its 501656 operations cannot have moved 20547829 bytes or KiB",
        ),
        ("no benchmark at all\n".into(), "is not an iotui session"),
    ] {
        let error = kept(bytes.as_bytes()).unwrap_err();
        assert!(error.contains(says) && !error.contains(char::is_control), "{error}");
    }
}

#[test]
fn idle_jobs_have_fios_reason() {
    let found = results(&imported("fio-3.33-nothing.json"));
    let error = found[0].error.as_deref().unwrap();
    assert!(
        error.starts_with("fio ran nothing: fio: pid=0, err=22") && found[0].trials.is_empty(),
        "{error}"
    );
}

#[test]
fn last_reports_become_trials() {
    let session = imported("reports.json");
    let found = results(&session);
    assert_eq!(found.iter().map(|cell| cell.trials.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(found[1].trials[0].ops, 334_209);
    assert!(session.notes.iter().any(|note| note.starts_with("5 reports")), "{:?}", session.notes);
    // The second run takes as long, and starts after the first.
    let first = text("fio-3.14.json");
    let again = first.replace("1566764823804", "1566764884104").replace("1566764823", "1566764884");
    let session = kept(format!("{first}{again}").as_bytes()).unwrap();
    assert_eq!(results(&session)[0].trials.len(), 2);
    let cut = format!("{first}{}", &again[..500]);
    let session = kept(cut.as_bytes()).unwrap();
    assert_eq!(results(&session)[0].trials.len(), 1);
    let says = |note: &String| note.starts_with("the rest could not be read");
    assert!(session.notes.iter().any(says), "{:?}", session.notes);
}

#[test]
fn equal_grouped_jobs_are_threads() {
    let found = results(&imported("together.json"));
    assert_eq!((found.len(), found[0].cell.threads, found[0].trials.len()), (1, 2, 1));
    assert!(found[0].warnings.iter().all(|warning| warning.id != "fio-together"));
    assert_eq!(results(&imported("reported-together.json"))[0].cell.threads, 2);
    let apart = results(&imported("side-by-side.json"));
    let others: Vec<_> = apart
        .iter()
        .map(|cell| {
            let said = cell.warnings.iter().find(|warning| warning.id == "fio-together");
            said.map(|warning| (warning.severity, warning.evidence.as_str()))
        })
        .collect();
    assert_eq!(others, [Some((Severity::Misleading, "b")), Some((Severity::Misleading, "a"))]);
    // Half of a group that begins later does not add to the rate of the other half.
    let later =
        text("together.json").replace("\"name\": \"b\"", "\"name\": \"b\", \"startdelay\": \"1\"");
    let found = results(&kept(later.as_bytes()).unwrap());
    assert_eq!((found[0].cell.threads, found[0].trials.len()), (1, 2));
}

#[test]
fn servers_measure_together() {
    let one = imported("one-server.json");
    assert_eq!((results(&one)[0].cell.threads, one.host.name.as_str()), (2, "127.0.0.1"));
    let two = imported("two-servers.json");
    assert_eq!((results(&two).len(), results(&two)[0].cell.threads), (1, 4));
    let says = "2 servers of fio measured at the same time: 127.0.0.1:18801, 127.0.0.1:18802";
    assert!(two.notes.iter().any(|note| note == says), "{:?}", two.notes);
    // The options of each server are its own.
    let found = results(&imported("fio-3.43-servers.json"));
    let cell = &found[0].cell;
    assert_eq!((cell.pattern, cell.block, cell.span), (Pattern::Random, 4096, 8 << 20));
    // fio sums up the servers' percentiles.
    assert!(found[0].latency.unwrap().p50.is_some());
}

#[test]
fn commits_are_writes_with_syncs() {
    let found = results(&imported("fdatasync.json"));
    let (cell, latency) = (&found[0], found[0].latency.unwrap());
    let each = cell.trials[0].nanos as f64 / cell.trials[0].ops as f64;
    assert!((latency.mean / each - 1.0).abs() < 0.01 && latency.p50.is_none(), "{latency:?}");
    let commits = cell.commits.unwrap();
    assert!((commits.total.mean / latency.mean - 1.0).abs() < 1e-9, "{commits:?}");
    assert!(
        cell.warnings.iter().any(|own| own.id == "fio-commit" && own.severity == Severity::Note)
    );
    let group = results(&imported("fsync-every-4.json"));
    let commits = group[0].commits.unwrap();
    assert!((commits.total.mean / group[0].latency.unwrap().mean / 4.0 - 1.0).abs() < 0.01);
    assert!(commits.write.is_none());
    // The latency of the write alone would pass for that of the commit.
    let old = text("fdatasync.json").replace("\"sync\": {", "\"syncs\": {");
    let found = results(&kept(old.as_bytes()).unwrap());
    assert!(found[0].latency.is_none() && found[0].commits.is_none());
    let said = found[0].warnings.iter().find(|own| own.id == "fio-commit").unwrap();
    assert_eq!(said.severity, Severity::Misleading);
}

#[test]
fn import_time_grows_linearly() {
    // Each key could be parsed to the end of the text, each brace be followed back to its start.
    for piece in ["{\"fio version\":\"x\",\"a\":", "\"fio version\"}", "{{{\"fio version\""] {
        let error = kept(piece.repeat(100_000).as_bytes()).unwrap_err();
        assert!(error.len() < 500, "{error}");
    }
}

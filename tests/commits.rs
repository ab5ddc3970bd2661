//! Durable writes: the methods that a run measures, and what it reports about their commits.

use crate::common::{Home, QUICK};

#[test]
fn each_sync_method_is_a_cell() {
    let home = Home::new();
    let line = "--batch --op write -s 4k -b pread,preadv2,mmap,uring,aio --size 64k --dir . \
                --sync none,end,fdatasync,each,osync,rwf-dsync,msync --sync-every 1,4 --no-save";
    let document = home.json(&format!("{line} {QUICK}"));
    let mut seen = 0;
    for result in document["results"].as_array().unwrap() {
        let (cell, commits) = (&result["cell"], &result["commits"]);
        let sync = cell["sync"].as_str().unwrap();
        assert_ne!(sync, "each", "a former name");
        if ["none", "end"].contains(&sync) {
            assert!(commits.is_null(), "{cell}");
            continue;
        }
        seen += 1;
        let writes: u64 =
            result["trials"].as_array().unwrap().iter().map(|t| t["ops"].as_u64().unwrap()).sum();
        let every = cell["sync_every"].as_u64().unwrap_or(1);
        let made = commits["count"].as_u64().unwrap();
        // The last group of a trial may be incomplete.
        let trials = result["trials"].as_array().unwrap().len() as u64;
        assert!(made <= writes / every && made + trials >= writes / every, "{made}: {cell}");
        assert!(commits["per_second"].as_f64().unwrap() > 0.0, "{cell}");
        let follows = ["fdatasync", "msync"].contains(&sync);
        // A linked sync is not seen apart from its write.
        let apart = follows && !(cell["backend"] == "uring" && every == 1);
        assert_eq!(commits["sync"].is_object(), apart, "{cell}");
        let [sync, total] = ["sync", "total"].map(|of| commits[of]["max"].as_f64());
        assert!(!apart || sync <= total, "{cell}");
    }
    // Six methods follow or carry a write; not every backend has every one.
    assert!(seen >= 14, "{document}");
    let skipped = document["skipped"].to_string();
    assert!(skipped.contains("pread cannot --sync rwf-dsync; --backend"), "{skipped}");
}

#[test]
fn a_saved_session_keeps_its_commits() {
    let home = Home::new();
    let line = "--batch --op write -s 4k -b pread --size 64k --dir . --sync fdatasync";
    let run = home.json(&format!("{line} --save log {QUICK}"));
    let shown = home.json("sessions show log");
    assert_eq!(run["results"][0]["commits"], shown["results"][0]["commits"]);
    let table = home.stdout("sessions show log --details");
    assert!(table.contains("method") && table.contains("commits: a commit lasts"), "{table}");
}

#[test]
fn a_sync_needs_writes() {
    let home = Home::new();
    home.file("data.bin", 4096);
    for option in ["--sync fdatasync", "--sync none,osync"] {
        let output = home.cmd(&format!("--batch data.bin {option}")).assert().failure();
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains("--sync applies only to writes"), "{text}");
    }
}

#[test]
fn impossible_sync_is_skipped_with_reason() {
    let home = Home::new();
    for (options, reason) in [
        ("-b pread --xor", "commits would include the XOR"),
        ("-b pread --mix 50", "a mix cannot sync after its writes; use --sync dsync"),
        ("-b uring+submit=2 -q 4", "a sync is submitted with its write; leave out +submit"),
        ("-b uring+iopoll --direct", "+iopoll polls for data, not for syncs"),
        ("-b stdio", "stdio cannot --sync fdatasync; --backend pread"),
        ("-b sendfile", "sendfile cannot write"),
    ] {
        let line =
            format!("--batch --op write -s 4k --size 64k --dir . --sync fdatasync {options}");
        let output = home.cmd(&line).assert().failure().code(2);
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(reason), "{options}: {text}");
    }
}

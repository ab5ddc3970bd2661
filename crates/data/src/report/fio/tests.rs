use std::process::Command;

use super::*;
use crate::plan::{Cache, Choice, Fio, Job, Op, Pattern, TargetSpec};
use crate::report::testing;

fn show(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the options of the section whose name contains `name`.
fn options<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines =
        text.lines().skip_while(|line| !(line.starts_with('[') && line.contains(name))).skip(1);
    lines.by_ref().take_while(|line| !line.is_empty()).collect()
}

fn is_exported(cell: &Job) -> bool {
    let engine = matches!(crate::catalog::info(&cell.backend).unwrap().fio, Fio::Engine(_));
    cell.op == Op::Read && engine
}

#[test]
fn every_line_is_valid_for_fio() {
    for (name, session) in testing::all() {
        let text = show(&session);
        for line in text.lines() {
            let option = line == "stonewall"
                || line
                    .split_once('=')
                    .is_some_and(|(name, value)| !name.contains(' ') && !value.is_empty());
            assert!(
                line.is_empty()
                    || line.starts_with("; ")
                    || line.starts_with('[') && line.ends_with(']')
                    || option,
                "{name}: {line}"
            );
        }
        let moved = session.plan.cells.iter().filter(|cell| is_exported(cell)).count();
        assert_eq!(text.lines().filter(|line| line.starts_with('[')).count(), moved + 1, "{name}");
        assert_eq!(text.matches("\nstonewall").count(), moved, "{name}");
    }
}

#[test]
fn cells_become_options_of_fio() {
    let text = show(&testing::axes());
    let first = options(&text, "[1 ");
    for wanted in [
        "ioengine=io_uring",
        "sqthread_poll=1",
        "bs=4096",
        "direct=1",
        "iodepth=32",
        "rw=randread",
        "numjobs=16",
    ] {
        assert!(first.contains(&wanted), "{wanted} in {first:#?}");
    }
    assert!(
        first.contains(&"size=33554432") && first.contains(&"offset_increment=33554432"),
        "{first:#?}"
    );
    assert!(options(&text, "[3 ").contains(&"rw=read:61440"));
    assert!(text.contains("skipped, it would write to an existing file"));
    let text = show(&testing::quick());
    let (cold, warm) = (options(&text, "read 4 KiB cold"), options(&text, "uring 4 KiB warm"));
    assert!(
        cold.contains(&"invalidate=1")
            && cold.contains(&"runtime=300ms")
            && !cold.contains(&"time_based=1"),
        "{cold:#?}"
    );
    assert!(
        warm.contains(&"pre_read=1")
            && warm.contains(&"time_based=1")
            && warm.contains(&"ioengine=io_uring"),
        "{warm:#?}"
    );
    assert!(text.contains("; mmap 4 KiB warm: fio copies from its mapping"), "{text}");
    assert!(
        text.contains("; dd: dd if=/data/images/ubuntu.iso iflag=nocache count=0 && dd if=/data/images/ubuntu.iso of=/dev/null bs=4096")
    );
}

#[test]
fn peers_keep_their_own_command() {
    fn peer(name: &str) -> Job {
        Job {
            backend: Choice { peer: true, ..Choice::parse(name).unwrap() },
            ..testing::job("read", 4096, Cache::Warm)
        }
    }
    let text =
        show(&testing::session(["dd", "fio", "fio+io_uring", "fio+no such"].map(peer).to_vec()));
    for (section, engine) in [
        ("[1 dd", "sync"),
        ("[2 fio", "psync"),
        ("[3 fio+io_uring", "io_uring"),
        ("[4 fio", "psync"),
    ] {
        assert!(
            options(&text, section).contains(&format!("ioengine={engine}").as_str()),
            "{section}: {text}"
        );
    }
    assert_eq!(text.matches("; dd: ").count(), 1, "{text}");
}

#[test]
fn writes_go_to_a_new_file() {
    let base = testing::job("read", 1 << 20, Cache::AsIs);
    let cells = [Pattern::Seq, Pattern::Reverse].map(|pattern| Job {
        op: Op::Write,
        pattern,
        count: Some(8),
        ..base.clone()
    });
    let mut session = testing::session(cells.to_vec());
    session.plan.target = TargetSpec::New { path: "/data/it's".into(), size: 8 << 20 };
    let text = show(&session);
    assert!(
        text.contains(
            "; dd: dd if=/dev/zero of='/data/it'\\''s.fio' bs=1048576 count=8 conv=notrunc"
        ),
        "{text}"
    );
    assert!(text.contains("rw=write:-2097152") && text.contains("number_ios=8"), "{text}");
    session.plan.target = TargetSpec::Scratch { dir: "/data".into(), size: 8 << 20, keep: false };
    assert!(show(&session).contains("\nfilename=/data/iotui-fio.tmp\n"));
}

#[test]
fn fio_reads_every_job_file() {
    if Command::new("fio").arg("--version").output().is_err() {
        return iotui_files::testing::without("fio");
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, mut session) in testing::all() {
        let path = folder.path().join("plan.fio");
        for target in [
            session.plan.target.clone(),
            TargetSpec::New { path: "/data/a: b (c)".into(), size: 1 << 30 },
        ] {
            session.plan.target = target;
            std::fs::write(&path, show(&session)).unwrap();
            let ran = Command::new("fio").arg("--parse-only").arg(&path).output().unwrap();
            assert!(ran.status.success(), "{name}: {ran:?}\n{}", show(&session));
        }
    }
}

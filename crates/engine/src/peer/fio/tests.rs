use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::peer::tests::job;
use crate::peer::{Part, refusal};

const TWO: [Part; 2] = [
    Part { offset: 0, len: 32 << 20, ops: 8192 },
    Part { offset: 32 << 20, len: 32 << 20, ops: 8192 },
];
const REAL: &str = include_str!("../../../tests/golden/peer/fio-3.33.json");

fn task<'a>(job: &'a Job, parts: &'a [Part]) -> Task<'a> {
    Task { job, file: Path::new("/proc/7/fd/5"), parts, passes: 10, seed: u64::MAX, limit: None }
}

fn parse(job: &Job, stdout: &str, stderr: &str) -> Result<Vec<ThreadResult>, PeerError> {
    Fio.parse(&task(job, &TWO), &Output { stdout, stderr })
}

#[test]
fn every_switch_is_documented() {
    let job = job("fio");
    let limited = Task { limit: Some(Duration::from_secs(1)), ..task(&job, &TWO) };
    for arg in Fio.command(&limited) {
        // Switches with a constant value are documented with that value.
        let fixed = ["output-format", "create", "util", "invalidate", "fadvise", "align", "gtod"]
            .iter()
            .any(|word| arg.contains(word));
        let documented = if fixed { arg.as_str() } else { arg.split('=').next().unwrap() };
        assert!(Fio.info().doc.contains(documented), "{documented}");
    }
}

#[test]
fn translates_a_job_into_arguments() {
    let plain = job("fio");
    let args = Fio.command(&task(&plain, &TWO));
    for wanted in [
        "--readonly",
        "--filename=/proc/7/fd/5",
        "--ioengine=psync",
        "--rw=read",
        "--bs=4096",
        "--direct=0",
        "--iodepth=1",
    ] {
        assert!(args.iter().any(|arg| arg == wanted), "{wanted} in {args:?}");
    }
    let first = args.iter().position(|arg| arg == "--name=0").unwrap();
    let of_lanes = ["--name=0", "--offset=0", "--size=33554432", "--io_size=335544320"];
    assert_eq!(args[first..first + 4], of_lanes);
    assert_eq!(
        args[first + 4..],
        ["--name=1", "--offset=33554432", "--size=33554432", "--io_size=335544320"]
    );
    assert!(!args.iter().any(|arg| arg.starts_with("--runtime")));
    let deep = Job { pattern: Pattern::Random, direct: true, depth: 32, ..job("fio+io_uring") };
    let args = Fio.command(&Task { limit: Some(Duration::from_micros(2500)), ..task(&deep, &TWO) });
    for wanted in [
        "--rw=randread",
        "--ioengine=io_uring",
        "--direct=1",
        "--iodepth=32",
        "--randseed=2147483647",
        "--runtime=2ms",
    ] {
        assert!(args.iter().any(|arg| arg == wanted), "{wanted} in {args:?}");
    }
}

#[test]
fn refuses_unsupported_engines() {
    for (peer, change, wanted) in [
        ("fio", Job { depth: 2, ..job("fio") }, Some("fio+psync reads one block at a time")),
        ("fio+mmap", Job { depth: 2, ..job("fio+mmap") }, Some("fio+io_uring")),
        ("fio+mmap", Job { direct: true, ..job("fio+mmap") }, Some("does not support direct")),
        ("fio+mmap+psync", job("fio+mmap+psync"), Some("one engine at a time")),
        ("fio", Job { pattern: Pattern::Reverse, ..job("fio") }, Some("use seq or random")),
        (
            "fio+libaio",
            Job {
                depth: 64,
                direct: true,
                threads: 4,
                pattern: Pattern::Random,
                ..job("fio+libaio")
            },
            None,
        ),
    ] {
        let why = refusal(&Fio, &change);
        assert_eq!(why.is_some(), wanted.is_some(), "{peer}: {why:?}");
        assert!(
            wanted.is_none_or(|wanted| why.as_ref().unwrap().contains(wanted)),
            "{peer}: {why:?}"
        );
    }
}

#[test]
fn parses_real_output() {
    let done = parse(&job("fio"), REAL, "").unwrap();
    let [first, second] = done[..] else { panic!("{done:?}") };
    assert_eq!(
        (first.bytes, first.ops, first.syscalls, first.nanos, first.step),
        (335_544_320, 81_920, Some(81_920), 364_000_000, 1_000_000)
    );
    assert_eq!((second.ops, second.nanos), (81_920, 293_000_000));
    let usage = first.usage.unwrap();
    // 3.03 % and 26.72 % of 363 ms.
    assert_eq!((usage.user_nanos / 1000, usage.system_nanos / 1000), (10_999, 96_999));
    assert_eq!((usage.minor_faults, usage.voluntary_switches), (1, 32));
    assert_eq!(parse(&job("fio+io_uring"), REAL, "").unwrap()[0].syscalls, None);
}

#[test]
fn ignores_text_around_the_json() {
    let noisy = format!("fio: this platform is odd\n{REAL}\nbye");
    assert_eq!(parse(&job("fio"), &noisy, ""), parse(&job("fio"), REAL, ""));
}

#[test]
fn a_failure_quotes_fio() {
    let error_of =
        |stdout: &str, stderr: &str| parse(&job("fio"), stdout, stderr).unwrap_err().to_string();
    assert_eq!(
        error_of("", "fio: engine x not loadable\nmore"),
        "fio failed: fio: engine x not loadable"
    );
    assert_eq!(error_of("usage: fio", ""), "fio failed: usage: fio");
    let failed = REAL.replacen("\"error\" : 0", "\"error\" : 5", 1);
    assert!(error_of(&failed, "").contains("Input/output error"), "{}", error_of(&failed, ""));
    for (stdout, wanted) in [
        ("", "no output"),
        ("{}", "missing field"),
        ("{\"jobs\":[]}", "0 jobs instead of 2"),
        ("{\"jobs\":[", "EOF"),
    ] {
        assert!(
            error_of(stdout, "").starts_with("unexpected output of fio")
                && error_of(stdout, "").contains(wanted),
            "{stdout}"
        );
    }
    let below = REAL.replacen("\"usr_cpu\" : 3", "\"usr_cpu\" : -3", 1);
    assert!(error_of(&below, "").contains("impossible figures"));
    // The sum for two such threads would overflow.
    for figure in ["io_bytes", "total_ios", "minf"] {
        let name = format!("\"{figure}\" : ");
        let start = REAL.find(&name).unwrap() + name.len();
        let huge = format!(
            "{}{}{}",
            &REAL[..start],
            u64::MAX,
            REAL[start..].trim_start_matches(|c: char| c.is_ascii_digit())
        );
        assert!(error_of(&huge, "").contains("impossible figures"), "{figure}");
    }
}

proptest! {
    #[test]
    fn no_output_panics(cut in 0..REAL.len(), with in ".{0,40}", number in any::<u64>()) {
        let mut text = REAL.to_string();
        if text.is_char_boundary(cut) {
            text.insert_str(cut, &with);
        }
        let _ = parse(&job("fio"), &text, &with);
        let number = number.to_string();
        let changed = REAL.replace("81920", &number).replace("364", &number);
        let _ = parse(&job("fio"), &changed, "");
    }
}

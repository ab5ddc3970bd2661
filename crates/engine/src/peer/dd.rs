//! `dd`: the classic copy program of GNU coreutils.

use super::kind::{Output, Part, Peer, PeerError, Task, ThreadResult, first_line};
use crate::catalog;
use crate::plan::{Info, Job, Pattern};

pub struct Dd;

impl Peer for Dd {
    fn info(&self) -> &'static Info {
        &catalog::DD
    }

    fn package(&self) -> &'static str {
        "coreutils"
    }

    fn refusal(&self, job: &Job) -> Option<String> {
        if job.pattern != Pattern::Seq {
            return Some(format!("dd reads only sequentially, not {}: use fio", job.pattern));
        }
        if job.depth > 1 {
            return Some("dd reads one block at a time: use --depth 1 or fio+io_uring".into());
        }
        (job.threads > 1).then(|| "dd has one thread: use --threads 1 or fio".into())
    }

    fn command(&self, task: &Task) -> Vec<String> {
        let Part { offset, ops, .. } =
            task.parts.first().copied().unwrap_or(Part { offset: 0, len: 0, ops: 0 });
        let block = task.job.block.max(1);
        let mut args = vec![
            format!("if={}", task.file.display()),
            "of=/dev/null".into(),
            format!("bs={block}"),
            format!("count={ops}"),
        ];
        if offset > 0 {
            args.push(format!("skip={}", offset / block));
        }
        if task.job.direct {
            args.push("iflag=direct".into());
        }
        args
    }

    fn parse(&self, _: &Task, output: &Output) -> Result<Vec<ThreadResult>, PeerError> {
        if let Some(result) = parse_statistics(output.stderr) {
            return Ok(vec![result]);
        }
        Err(match first_line(output.stderr) {
            Some(line) if line.contains("dd:") => PeerError::Failed { program: "dd", line },
            Some(line) => PeerError::Output { program: "dd", why: line },
            None => PeerError::Output { program: "dd", why: "no output".into() },
        })
    }

    fn can_repeat(&self) -> bool {
        false
    }

    fn obeys_limit(&self) -> bool {
        false
    }
}

/// Parses `16+0 records in`, `16+0 records out`, `65536 bytes (66 kB, 64 KiB) copied, 0.000123 s,
/// 533 MB/s`; a record is a system call.
fn parse_statistics(stderr: &str) -> Option<ThreadResult> {
    let records = |suffix: &str| {
        let line = stderr.lines().find_map(|line| line.strip_suffix(suffix))?;
        let (full, partial) = line.trim().split_once('+')?;
        full.parse::<u64>().ok()?.checked_add(partial.parse().ok()?)
    };
    let read = records(" records in")?;
    let written = records(" records out")?;
    let copied = stderr.lines().find(|line| line.contains(" copied, "))?;
    let bytes = copied.split_once(' ')?.0.parse().ok()?;
    let seconds: f64 = copied.split_once(" copied, ")?.1.split_once(" s")?.0.parse().ok()?;
    let nanos = seconds * 1e9;
    (0.0..1e18).contains(&nanos).then_some(ThreadResult {
        bytes,
        ops: read,
        syscalls: Some(read.checked_add(written)?),
        nanos: nanos.round() as u64,
        // dd prints six digits.
        step: (nanos / 1e5) as u64,
        usage: None,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::peer::tests::job;

    fn task<'a>(job: &'a Job, parts: &'a [Part]) -> Task<'a> {
        Task { job, file: Path::new("/proc/7/fd/5"), parts, passes: 1, seed: 1, limit: None }
    }

    fn parse(stderr: &str) -> Result<Vec<ThreadResult>, PeerError> {
        let job = job("dd");
        Dd.parse(&task(&job, &[]), &Output { stdout: "", stderr })
    }

    #[test]
    fn translates_a_job_into_arguments() {
        let (plain, part) = (job("dd"), [Part { offset: 0, len: 1 << 20, ops: 256 }]);
        assert_eq!(
            Dd.command(&task(&plain, &part)),
            ["if=/proc/7/fd/5", "of=/dev/null", "bs=4096", "count=256"]
        );
        let (direct, part) =
            (Job { direct: true, ..plain }, [Part { offset: 8192, len: 4096, ops: 1 }]);
        assert_eq!(Dd.command(&task(&direct, &part))[3..], ["count=1", "skip=2", "iflag=direct"]);
    }

    #[test]
    fn parses_real_output() {
        let real = include_str!("../../tests/golden/peer/dd-9.1.txt");
        let done = parse(real).unwrap()[0];
        assert_eq!((done.bytes, done.ops, done.syscalls), (67_108_864, 16_384, Some(32_768)));
        assert_eq!((done.nanos, done.usage), (56_341_900, None));
        let interrupted = include_str!("../../tests/golden/peer/dd-9.1-interrupted.txt");
        let done = parse(interrupted).unwrap()[0];
        assert_eq!(
            (done.bytes, done.ops, done.syscalls, done.nanos),
            (512 * 459_990, 459_990, Some(919_980), 306_906_000)
        );
    }

    #[test]
    fn a_failure_quotes_dd() {
        let denied = "dd: failed to open '/proc/7/fd/5': Permission denied\n";
        assert_eq!(
            parse(denied).unwrap_err().to_string(),
            "dd failed: dd: failed to open '/proc/7/fd/5': Permission denied"
        );
        for odd in [
            "",
            "hello",
            "1+0 records in\n",
            "1+0 records in\n1+0 records out\n4096 bytes copied, -1 s, 1 B/s\n",
        ] {
            assert!(
                parse(odd).unwrap_err().to_string().starts_with("unexpected output of dd"),
                "{odd}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_output_panics(
            text in "([0-9+]{0,22} (records in|records out|bytes copied, [0-9e.+-]{0,9} s,)?\n\
                     |.{0,9}){0,5}"
        ) {
            let _ = parse(&text);
        }
    }
}

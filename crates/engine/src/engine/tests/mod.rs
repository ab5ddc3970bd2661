//! Every backend through the engine's own workers: correctness, never speed.

mod append;
mod calls;
mod conform;
mod direct;
mod drawn;
mod faults;
pub(super) mod faulty;
mod latency;
mod listed;
mod mixed;
mod pause;
mod pinned;
mod rate;
mod settings_of;
mod settled;
mod shapes;
mod shrink;
mod stop;
mod strace;
mod think;
mod writes;

use super::control::Cut;
use super::error::Failure;
use super::executor::Executor;
use super::workers::{self, LaneResults, Spec};
use crate::backend::access_pattern::Share;
use crate::backend::meter::Timed;
use crate::backend::{self, BACKENDS, Backend, Target, testing};
use crate::plan::{Choice, Info, Job, Op, OptValue, Pattern};

pub(super) const PATTERNS: [Pattern; 4] =
    [Pattern::Seq, Pattern::Random, Pattern::Reverse, Pattern::Stride(3)];

/// The patterns that draw blocks with replacement.
pub(super) const DRAWN: [Pattern; 2] =
    [Pattern::Zipf(990), Pattern::Hot { share: 20, accesses: 80 }];

#[test]
fn catalog_describes_each_backend_and_peer() {
    let infos: Vec<&Info> = Executor::all().map(Executor::info).collect();
    assert_eq!(infos, crate::catalog::infos());
}

/// Returns every backend: plain, with each option, and with all options.
pub(super) fn choices() -> Vec<Choice> {
    let mut all = Vec::new();
    for info in BACKENDS.iter().map(|b| b.info()) {
        let with =
            |options: Vec<(String, Option<String>)>| Choice { options, ..Choice::plain(info.id) };
        all.push(with(vec![]));
        fn values(of: &crate::plan::Opt) -> Vec<Option<String>> {
            match of.value {
                None => vec![None],
                Some(OptValue { word: "N", .. }) => {
                    vec![Some("3".to_string()), Some("100".to_string())]
                }
                Some(_) => vec![Some("100".to_string()), Some("64k".to_string())],
            }
        }
        for option in info.options {
            all.extend(
                values(option).into_iter().map(|value| with(vec![(option.name.into(), value)])),
            );
        }
        // All options that can be combined: sequential excludes random, private parts exclude
        // shared blocks, a device is polled only for direct I/O, and no-ops move nothing.
        let together: Vec<_> = info
            .options
            .iter()
            .filter(|option| !["random", "shared", "iopoll", "nop"].contains(&option.name))
            .collect();
        if together.len() > 1 {
            all.push(with(
                together
                    .into_iter()
                    .map(|o| (o.name.to_string(), values(o).pop().flatten()))
                    .collect(),
            ));
        }
    }
    all
}

pub(super) fn info(choice: &Choice) -> &'static Info {
    backend::backend(&choice.id).unwrap().info().of(choice)
}

/// Returns the depths at which a backend is tried; fewer with options, because a polling thread per
/// lane takes time.
pub(super) fn depths(choice: &Choice) -> Vec<u32> {
    let tried: &[u32] = if choice.options.is_empty() { &[1, 4, 33] } else { &[1, 4] };
    tried.iter().copied().filter(|d| *d <= info(choice).max_depth()).collect()
}

/// Returns jobs of blocks of 4 KiB in random order, for each backend and depth that this machine
/// supports.
pub(super) fn random_jobs(target: &Target, threads: u32) -> Vec<Job> {
    let of = |choice: Choice| {
        let op = if info(&choice).ops.contains(&Op::Read) { Op::Read } else { Op::Seek };
        let jobs = depths(&choice).into_iter();
        jobs.map(move |depth| job(&choice, op, Pattern::Random, 4096, threads, depth))
    };
    choices().into_iter().flat_map(of).filter(|job| supported(target, job)).collect()
}

/// Returns whether this machine supports the job; prints the reason if only the machine prevents
/// it.
pub(super) fn supported(target: &Target, job: &Job) -> bool {
    if job.backend.has("iopoll") && !job.direct {
        return false;
    }
    if job.op == Op::Write && !info(&job.backend).syncs.contains(&job.sync) {
        return false;
    }
    match backend::backend(&job.backend.id).unwrap().check(target, job) {
        Ok(()) => true,
        Err(why) => {
            // If a plain job is unsupported too, this machine lacks the backend; any other job
            // makes no sense anywhere.
            let plain = Job {
                op: if info(&job.backend).ops.contains(&Op::Read) { Op::Read } else { Op::Seek },
                direct: job.backend.has("iopoll"),
                sync: crate::plan::Sync::None,
                ..job.clone()
            };
            if backend::backend(&job.backend.id).unwrap().check(target, &plain).is_err() {
                crate::sys::testing::skip(&format!("{}: {why}", job.backend));
            }
            false
        }
    }
}

/// Builds the job's work as for a trial: `count` operations (0 = all) in each of `passes`.
pub(super) fn spec(job: Job, target: &Target, passes: u64) -> Spec {
    let count = super::trial::fixed_count(&job).unwrap_or(job.blocks());
    let executor = Executor::from_choice(&job.backend).unwrap();
    Spec {
        executor,
        count,
        passes,
        seed: 7,
        timed: Timed::None,
        limit: None,
        part: None,
        place: None,
        cpus: None,
        ends_by_time: false,
        steady: None,
        watched: false,
        piece: None,
        pace: None,
        target: target.clone(),
        job,
    }
}

/// Returns the backend of its lanes.
pub(super) fn own(spec: &Spec) -> &'static dyn Backend {
    match spec.executor {
        Executor::Backend(backend) => backend,
        Executor::Peer(_) => panic!("a peer has no lanes"),
    }
}

/// Runs to the end.
pub(super) fn run(spec: &Spec) -> Result<LaneResults, String> {
    run_with(spec, &mut || {}, &|| false)
}

pub(super) fn run_with(
    spec: &Spec,
    at_go: &mut dyn FnMut(),
    cut: &dyn Fn() -> bool,
) -> Result<LaneResults, String> {
    let mut go = || {
        at_go();
        true
    };
    workers::run(spec, own(spec), &mut go, &|| cut().then_some(Cut::End), &mut |_, _| {}).map_err(
        |failure| match failure {
            Failure::Cell(error) => error,
            Failure::Stopped => "stopped".into(),
            Failure::Abandoned => "abandoned".into(),
        },
    )
}

/// Sums over the lanes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
    pub folds: [u32; 2],
}

pub(super) fn sums(ran: &LaneResults) -> Sums {
    ran.lanes.iter().map(|l| &l.tally).fold(Sums::default(), |s, t| Sums {
        bytes: s.bytes + t.bytes,
        ops: s.ops + t.ops,
        syscalls: s.syscalls + t.syscalls,
        folds: [s.folds[0] ^ t.folds[0], s.folds[1] ^ t.folds[1]],
    })
}

/// Returns the shares that the lanes visit: one per lane, or a single shared one.
pub(super) fn shares(spec: &Spec) -> Vec<Share> {
    let lanes = if spec.claims().is_some() { 1 } else { spec.job.threads };
    (0..lanes).map(|lane| spec.share(lane)).collect()
}

/// Returns the (offset, length) of every operation of one pass, lane by lane.
pub(super) fn blocks(spec: &Spec, pass: u64) -> Vec<Vec<(u64, u64)>> {
    let of = |share: Share| {
        let mut list = Vec::new();
        share.replay(pass, u64::MAX, |offset, len| list.push((offset, len)));
        list
    };
    shares(spec).into_iter().map(of).collect()
}

/// Computes the XOR of the bytes from `offset` on, the slow and obvious way.
pub(super) fn xor_at(data: &[u8], offset: u64, len: u64) -> u32 {
    let range = offset as usize..(offset + len) as usize;
    testing::xor(&data[range]).rotate_left(8 * (offset % 4) as u32)
}

/// Computes what one pass of `spec` over `data` must return.
pub(super) fn expected(spec: &Spec, data: &[u8]) -> (u64, u64, u32) {
    blocks(spec, 0).iter().flatten().fold((0, 0, 0), |(ops, bytes, xor), (offset, len)| {
        (ops + 1, bytes + len, xor ^ xor_at(data, *offset, *len))
    })
}

/// Asserts that the first pass of `spec` over `data` returned the expected sums.
pub(super) fn assert_first_pass(spec: &Spec, ran: &LaneResults, data: &[u8], label: &str) -> Sums {
    let (ops, bytes, xor) = expected(spec, data);
    let sums = sums(ran);
    assert_eq!((sums.ops, sums.bytes, sums.folds[0]), (ops, bytes, xor), "{label}");
    sums
}

/// Returns a span of some full blocks and an odd last one.
pub(super) fn span(block: u64) -> u64 {
    match block {
        1 => 409,
        3 => 1000,
        65536 => 3 * 65536 + 10923,
        block => block * 7 + block.div_ceil(3) + 1,
    }
}

pub(super) fn job(
    choice: &Choice,
    op: Op,
    pattern: Pattern,
    block: u64,
    threads: u32,
    depth: u32,
) -> Job {
    Job {
        backend: choice.clone(),
        op,
        pattern,
        block,
        span: span(block),
        threads,
        depth,
        ..testing::job()
    }
}

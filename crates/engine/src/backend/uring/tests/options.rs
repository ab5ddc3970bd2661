//! Options: how many operations one call submits and waits for, no-ops, and refusals.

use super::*;
use crate::backend::error::Unsupported;
use crate::catalog::URING;
use crate::plan::{Cache, Moves};
use crate::sys::testing::with_page_cache;

fn chosen(backend: &str, depth: u32) -> Job {
    let backend = Choice::parse(backend).unwrap();
    backend.check(&URING).unwrap();
    Job { backend, span: 64 * BLOCK, ..job(&[], depth) }
}

#[test]
fn a_call_submits_at_most_requested() {
    let (file, data, target) = testing::file(64 * BLOCK as usize, 5);
    if !has_io_uring(&job(&[], 1)) {
        return;
    }
    // Cached reads are complete once submitted, and their slots are free again.
    for (backend, calls) in [
        ("uring", 64 / 8),
        ("uring+submit=1", 64),
        ("uring+submit=3", 64 / 3 + 1),
        ("uring+submit=4", 64 / 4),
        ("uring+submit=100", 64 / 8),
        ("uring+submit=3+complete=100", 64 / 3 + 1),
    ] {
        with_page_cache(file.path().parent().unwrap(), || {
            let tally = testing::read_all(&Uring, &target, &chosen(backend, 8));
            assert_eq!((tally.ops, tally.folds[0]), (64, testing::xor(&data)), "{backend}");
            assert_eq!(tally.syscalls, calls, "{backend}");
        });
        let tally = testing::read_all(&Uring, &target, &chosen(backend, 1));
        assert_eq!(tally.syscalls, 64, "{backend} at depth 1");
    }
}

/// The lane reads from a pipe: an operation is complete when the test has written a block.
#[test]
fn a_call_waits_for_requested_completions() {
    if !has_io_uring(&job(&[], 1)) {
        return;
    }
    let (to, from) = std::sync::mpsc::channel();
    let (over, ended) = std::sync::mpsc::channel();
    // Not scoped: if the test fails, the lane never ends.
    std::thread::spawn(move || {
        let job = chosen("uring+complete=100", 4);
        let (mut lane, pipe) = pipe_lane(&job);
        to.send((pipe, nix::unistd::gettid())).unwrap();
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let share = Share::for_lane(&job, 0, 6, 1);
        let mut work = Work::new(Uring.assignment(&job, share, &stop, &published));
        let ran = drive::run(&mut lane, &mut work).map_err(|error| error.to_string());
        let tally = work.tally();
        let _ = over.send((ran, tally.ops, tally.syscalls, tally.in_flight));
    });
    let (mut pipe, thread) = from.recv().unwrap();
    for _ in 0..6 {
        while !sleeps(thread) {
            std::thread::yield_now();
        }
        pipe.write_all(&[7; BLOCK as usize]).unwrap();
    }
    let ended = ended.recv_timeout(std::time::Duration::from_secs(30)).expect("the lane hangs");
    // Four in flight at the first wait, the last two at the second.
    assert_eq!(ended, (Ok(()), 6, 2, (4 + 2, 2)));
}

#[test]
fn a_no_op_moves_nothing() {
    let (file, _, target) = testing::file(64 * BLOCK as usize, 6);
    let choice = Choice::parse("uring+nop").unwrap();
    assert_eq!((URING.of(&choice).moves(), URING.moves()), (Moves::Nothing, Moves::Data));
    // Any read would be short.
    file.as_file().set_len(0).unwrap();
    for (options, depth, calls) in [("", 1, 64..=64), ("", 8, 8..=8), ("+sqpoll", 8, 0..=64)] {
        let job = Job {
            op: Op::Seek,
            xor: false,
            cache: Cache::AsIs,
            ..chosen(&format!("uring+nop{options}"), depth)
        };
        if !has_io_uring(&job) {
            return;
        }
        let tally = testing::read_all(&Uring, &target, &job);
        assert_eq!((tally.ops, tally.bytes, &tally.notes[..]), (64, 0, &[][..]), "{}", job.label());
        assert!(calls.contains(&tally.syscalls), "{}: {}", job.label(), tally.syscalls);
    }
}

#[test]
fn polling_without_a_device_is_refused() {
    let (file, data, mut target) = testing::file(64 * BLOCK as usize, 7);
    let why = |target: &Target, job: Job| Uring.check(target, &job).err().map(|why| why.0);
    if !has_io_uring(&job(&[], 1)) {
        return;
    }
    let buffered = why(&target, chosen("uring+iopoll", 4));
    assert!(buffered.is_some_and(|why| why.ends_with("add --direct")));
    let direct = Job { direct: true, ..chosen("uring+iopoll", 4) };
    let nothing = Job { op: Op::Seek, ..chosen("uring+iopoll+nop", 4) };
    assert!(why(&target, nothing).is_some_and(|why| why.ends_with("leave out one")));
    file.as_file().sync_all().unwrap();
    target.direct_align = Some(4096);
    // The device of this machine may poll or not.
    match (Uring.check(&target, &direct), target.open(&direct)) {
        (_, Err(error)) => child::skip(&error.to_string()),
        (Ok(()), _) => {
            let tally = testing::read_all(&Uring, &target, &direct);
            assert_eq!((tally.ops, tally.folds[0]), (64, testing::xor(&data)));
        }
        (Err(Unsupported(why)), _) => assert!(why.contains("nvme.poll_queues=N"), "{why}"),
    }
}

#[test]
fn plain_rings_read_the_same() {
    let (_file, data, target) = testing::file(64 * BLOCK as usize, 8);
    for depth in [1, 8] {
        let job = chosen("uring", depth);
        if !has_io_uring(&job) {
            return;
        }
        for plain in [false, true] {
            let mut lane = UringLane::open(&target, &job, 0).unwrap();
            if plain {
                lane.entrance = Entrance::plain(lane.ring.as_raw_fd());
            } else if !lane.entrance.is_registered() {
                child::skip("before Linux 5.18 a ring cannot be registered");
            }
            let (stop, published) = (AtomicBool::new(false), Published::default());
            let mut work = work_of(&job, &stop, &published);
            drive::run(&mut lane, &mut work).unwrap();
            assert_eq!(work.tally().folds[0], testing::xor(&data));
        }
    }
}

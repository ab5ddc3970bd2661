//! Memory and the ring after a lane is dropped, and the plain path where registration is refused.

mod options;

use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;

use super::ring::{SETUPS, Setup};
use super::*;
use crate::backend::testing;
use crate::plan::Choice;
use crate::sys::testing as child;

const BLOCK: u64 = 4096;

fn job(options: &[&str], depth: u32) -> Job {
    let options = options.iter().map(|name| (name.to_string(), None)).collect();
    Job {
        backend: Choice { options, ..Choice::plain("uring") },
        depth,
        block: BLOCK,
        ..testing::job()
    }
}

/// Returns false and prints the reason if io_uring is unavailable.
fn has_io_uring(job: &Job) -> bool {
    let (_file, _, target) = testing::file(1, 0);
    Uring.check(&target, job).map_err(|why| child::skip(&why.0)).is_ok()
}

/// Returns a lane that reads from a pipe instead of a file, and its write end: its operations end
/// when the test writes.
fn pipe_lane(job: &Job) -> (UringLane, File) {
    let (_file, _, target) = testing::file(1 << 16, 0);
    let mut lane = UringLane::open(&target, job, 0).unwrap();
    let (from, to) = nix::unistd::pipe().unwrap();
    lane.file = File::from(from).into();
    lane.fixed_file = false;
    (lane, File::from(to))
}

fn request(slot: u32) -> Request {
    Request { offset: 0, len: BLOCK as u32, slot, at: 0, write: false }
}

fn push(lane: &mut UringLane, request: Request) -> bool {
    let entry = lane.entry(request, lane.buffer_part(request));
    lane.in_flight += 1;
    // SAFETY: `drop` keeps the buffer until nothing is in flight.
    unsafe { lane.ring.submission().push(&entry) }.is_ok()
}

/// Returns whether the page at `address` is still mapped. The address is not used otherwise.
fn mapped(address: *mut u8) -> bool {
    // SAFETY: queries the state of a page, and changes nothing.
    unsafe { libc::madvise(address.cast(), 4096, libc::MADV_NORMAL) == 0 }
}

fn work_of<'a>(job: &Job, stop: &'a AtomicBool, published: &'a Published) -> Work<'a> {
    Work::new(Uring.assignment(job, Share::for_lane(job, 0, u64::MAX, 0), stop, published))
}

#[test]
fn a_dropped_lane_waits() {
    for options in [&[][..], &["sqpoll"]] {
        let job = job(options, 4);
        if !has_io_uring(&job) {
            continue;
        }
        let dropped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (to, from) = std::sync::mpsc::channel();
            let (job, dropped) = (&job, &dropped);
            // Created, used and dropped on one thread, as in the engine: a ring belongs to the
            // thread that created it.
            scope.spawn(move || {
                let (mut lane, pipe) = pipe_lane(job);
                for slot in 0..3 {
                    assert!(push(&mut lane, request(slot)));
                }
                lane.ring.submit().unwrap();
                // Nothing was written yet: no operation can be complete.
                assert!(lane.ring.completion().is_empty());
                to.send((pipe, nix::unistd::gettid())).unwrap();
                drop(lane);
                dropped.store(true, SeqCst);
            });
            let (mut pipe, thread) = from.recv().unwrap();
            for left in (0..3).rev() {
                while !sleeps(thread) && !dropped.load(SeqCst) {
                    std::thread::yield_now();
                }
                assert!(!dropped.load(SeqCst), "gone with {} in flight", left + 1);
                pipe.write_all(&[7; BLOCK as usize]).unwrap();
            }
        });
        assert!(dropped.load(SeqCst));
    }
}

fn sleeps(thread: nix::unistd::Pid) -> bool {
    let file = |name| {
        std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).unwrap_or_default()
    };
    let waits =
        file("stat").rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'));
    waits && file("syscall").split(' ').next() == Some(&libc::SYS_io_uring_enter.to_string())
}

/// Entries that were submitted already are not submitted again: such a call would not wait, and
/// completions would never be seen.
#[test]
fn an_interrupted_wait_continues() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    extern "C" fn note(_: libc::c_int) {
        INTERRUPTED.store(true, SeqCst);
    }
    let job = job(&[], 1);
    if !has_io_uring(&job) {
        return;
    }
    // SAFETY: the handler only stores to an atomic; the signal has no other user.
    unsafe {
        sigaction(
            Signal::SIGUSR2,
            &SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty()),
        )
    }
    .unwrap();
    let (to, from) = std::sync::mpsc::channel();
    let (over, ended) = std::sync::mpsc::channel();
    // Not scoped: if the test fails, the lane never ends.
    std::thread::spawn(move || {
        let (mut lane, pipe) = pipe_lane(&job);
        to.send((pipe, nix::unistd::gettid())).unwrap();
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work =
            Work::new(Uring.assignment(&job, Share::for_lane(&job, 0, 1, 1), &stop, &published));
        let ran = drive::run(&mut lane, &mut work).map_err(|error| error.to_string());
        let tally = work.tally();
        let _ = over.send((ran, tally.ops, tally.syscalls));
    });
    let (mut pipe, thread) = from.recv().unwrap();
    while !sleeps(thread) {
        std::thread::yield_now();
    }
    let (process, thread) = (std::process::id(), thread.as_raw());
    // SAFETY: a signal with a handler, for a thread of this process.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR2) };
    assert_eq!(sent, 0);
    while !INTERRUPTED.load(SeqCst) {
        std::thread::yield_now();
    }
    pipe.write_all(&[7; BLOCK as usize]).unwrap();
    let (ran, ops, calls) = ended
        .recv_timeout(std::time::Duration::from_secs(30))
        .expect("the lane goes round for ever");
    assert_eq!((ran, ops), (Ok(()), 1));
    assert_eq!(calls, 2);
}

#[test]
fn completions_wait_until_the_lane_asks() {
    let job = job(&[], 4);
    if !has_io_uring(&job) {
        return;
    }
    let is_refused = |setup: &Setup| setup(&mut IoUring::builder()).build(4).is_err();
    if SETUPS[..2].iter().all(is_refused) {
        return child::skip("before Linux 6.1 what completes is worked on at once");
    }
    let (mut lane, mut pipe) = pipe_lane(&job);
    assert!(push(&mut lane, request(0)));
    lane.ring.submit().unwrap();
    pipe.write_all(&[7; BLOCK as usize]).unwrap();
    // In other ring modes any system call would process the completion.
    assert!(nix::unistd::gettid().as_raw() > 0 && lane.ring.completion().is_empty());
    lane.ring.submit_and_wait(1).unwrap();
    assert_eq!(lane.ring.completion().count(), 1);
    lane.in_flight = 0;
}

/// The ring's descriptor is replaced while operations are in flight: the run fails, the memory
/// stays mapped.
///
/// In a separate process: other threads could map memory at this address.
#[test]
fn memory_in_flight_is_leaked() {
    const NAME: &str = "backend::uring::tests::memory_in_flight_is_leaked";
    let job = job(&[], 4);
    if !child::is_child("ring") {
        if has_io_uring(&job) {
            let output = child::child(NAME, "ring");
            assert!(output.status.success(), "{output:?}");
        }
        return;
    }
    // Operations that were never submitted are not waited for, and their memory is freed.
    let (mut lane, _pipe) = pipe_lane(&job);
    let buffer = lane.buffer.ptr();
    assert!(push(&mut lane, request(0)) && mapped(buffer));
    drop(lane);
    assert!(!mapped(buffer));

    let (mut lane, mut pipe) = pipe_lane(&job);
    let buffer = lane.buffer.ptr();
    assert!(push(&mut lane, request(3)));
    lane.ring.submit().unwrap();
    let ring = lane.ring.as_raw_fd();
    lane.entrance = Entrance::plain(ring);
    // SAFETY: the duplicate is new and owned here; it keeps the ring alive.
    let _kept = unsafe { OwnedFd::from_raw_fd(libc::dup(ring)) };
    // SAFETY: dup2(2) takes numbers and touches no memory; both descriptors are open.
    assert_eq!(unsafe { libc::dup2(pipe.as_raw_fd(), ring) }, ring);
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let error = lane.run(&mut work_of(&job, &stop, &published)).unwrap_err();
    assert!(error.to_string().starts_with("io_uring: io_uring_enter: "), "{error}");
    drop(lane);
    assert!(mapped(buffer));
    // Memory that it writes to now has no other user.
    pipe.write_all(&[0x5a; BLOCK as usize]).unwrap();
}

/// Limits the locked memory of this process, as user nobody if possible: root has no limit.
fn limit_locked_memory(bytes: u64) {
    use nix::sys::resource::{Resource::RLIMIT_MEMLOCK, setrlimit};
    let _ = nix::unistd::setresuid(65534.into(), 65534.into(), 65534.into());
    setrlimit(RLIMIT_MEMLOCK, bytes, bytes).unwrap();
}

/// In a separate process: limits apply to the whole process.
#[test]
fn a_refused_buffer_is_noted() {
    const NAME: &str = "backend::uring::tests::a_refused_buffer_is_noted";
    if !child::is_alone(NAME, "memlock") {
        return;
    }
    // Enough for a ring (which some kernels count too), but not for the buffer.
    limit_locked_memory(256 << 10);
    for depth in [1, 8] {
        let job = Job { block: 1 << 20, span: (5 << 20) + 1, ..job(&[], depth) };
        if !has_io_uring(&job) {
            return;
        }
        let (_file, data, target) = testing::file((5 << 20) + 1, 1);
        let tally = testing::read_all(&Uring, &target, &job);
        assert_eq!((tally.ops, tally.bytes, tally.folds[0]), (6, job.span, testing::xor(&data)));
        let plain =
            |note: &Note| matches!(note, Note::UringPlain(why) if why.starts_with("buffer: "));
        if !tally.notes.iter().any(plain) {
            return child::skip("the kernel registers a buffer without locked memory");
        }
    }
}

#[test]
fn a_reader_registers_each_slot() {
    for (op, mix, registered) in [
        (Op::Read, None, Registered::Slots),
        (Op::Write, None, Registered::Whole),
        (Op::Write, Some(50), Registered::Whole),
    ] {
        let job = Job { op, mix, ..job(&[], 8) };
        if !has_io_uring(&job) {
            return;
        }
        let (_file, _, target) = testing::file(1 << 16, 0);
        let lane = UringLane::open(&target, &job, 0).unwrap();
        assert_eq!((lane.registered, &lane.refused[..]), (registered, &[][..]), "{op:?} {mix:?}");
    }
}

/// In a separate process, as above.
#[test]
fn many_slots_register_as_one_buffer() {
    const NAME: &str = "backend::uring::tests::many_slots_register_as_one_buffer";
    if !child::is_alone(NAME, "memlock-slots") {
        return;
    }
    limit_locked_memory(256 << 10);
    // 64 KiB as one, but a page for each slot.
    let job = Job { block: 512, span: 1 << 16, ..job(&[], 128) };
    if !has_io_uring(&job) {
        return;
    }
    let (_file, data, target) = testing::file(1 << 16, 1);
    let lane = UringLane::open(&target, &job, 0).unwrap();
    if lane.registered == Registered::Slots {
        return child::skip("the kernel registers a buffer without locked memory");
    }
    assert_eq!((lane.registered, &lane.refused[..]), (Registered::Whole, &[][..]));
    drop(lane);
    let tally = testing::read_all(&Uring, &target, &job);
    assert_eq!((tally.ops, tally.folds[0]), (128, testing::xor(&data)));
    assert!(!tally.notes.iter().any(|note| matches!(note, Note::UringPlain(_))));
}

#[test]
fn polling_saves_calls() {
    for depth in [1, 2, 64] {
        let job = job(&["sqpoll"], depth);
        if has_io_uring(&job) {
            let (_file, data, target) = testing::file(65536, 2);
            let tally = testing::read_all(&Uring, &target, &job);
            assert_eq!((tally.ops, tally.folds[0]), (16, testing::xor(&data)));
            assert!(tally.syscalls <= 16, "{}", tally.syscalls);
        }
    }
}

#[test]
fn the_polling_thread_is_a_helper() {
    let (_file, _, target) = testing::file(65536, 2);
    if !has_io_uring(&job(&["sqpoll"], 1)) {
        return;
    }
    // In a separate process, because other tests have rings too.
    const NAME: &str = "backend::uring::tests::the_polling_thread_is_a_helper";
    if !child::is_alone(NAME, "helper") {
        return;
    }
    assert_eq!(Uring.open(&target, &job(&[], 1), 0).unwrap().helper_nanos(), Some(0));
    let job = job(&["sqpoll"], 1);
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let mut lane = UringLane::open(&target, &job, 0).unwrap();
    drive::run(&mut lane, &mut work_of(&job, &stop, &published)).unwrap();
    if !lane.ring.params().is_feature_native_workers() {
        return child::skip("before Linux 5.12 it is no thread of this process");
    }
    // It took the submissions, so it has run.
    assert!(lane.helper_nanos().unwrap() > 0);
}

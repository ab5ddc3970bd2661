//! Faults inside a trial: short, interrupted, failed, too large, stalled or panicking operations.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};

use super::faulty::{Act, Faulty, OPENING};
use super::*;
use crate::stats::random::mix;
use crate::sys::testing as child;

fn data(len: u64) -> Vec<u8> {
    (0..len).map(|i| mix(i) as u8).collect()
}

const EINTR: isize = -(libc::EINTR as isize);
const EAGAIN: isize = -(libc::EAGAIN as isize);
const EIO: isize = -(libc::EIO as isize);

/// Makes half of all calls short, interrupted or refused for the moment; counts the calls.
fn bumpy(
    align: u32,
    made: &Arc<AtomicU64>,
) -> Box<dyn Fn(u32, crate::backend::work::Request) -> Act + Send + Sync> {
    let made = Arc::clone(made);
    Box::new(move |_, request| {
        if request == OPENING {
            return Act::Whole;
        }
        let luck = mix(made.fetch_add(1, Relaxed));
        match luck % 8 {
            0 => Act::Result(EINTR),
            1 => Act::Result(EAGAIN),
            2 | 3 if request.len > align => {
                Act::Short(align + (luck >> 8) as u32 % (request.len - align))
            }
            _ => Act::Whole,
        }
    })
}

#[test]
fn short_and_interrupted_operations_resume() {
    for (block, align) in [(1, 1), (3, 1), (511, 1), (4096, 512), (4097, 1), (65536, 4096)] {
        let data = data(span(block));
        for (threads, depth, pattern) in [
            (1, 1, Pattern::Seq),
            (3, 1, Pattern::Random),
            (2, 4, Pattern::Reverse),
            (2, 33, Pattern::Stride(3)),
        ] {
            let made = Arc::new(AtomicU64::new(0));
            let mut spec = Faulty::aligned(&data, align, bumpy(align, &made)).spec(threads, depth);
            spec.job = Job { block, pattern, ..spec.job };
            (spec.count, spec.passes) = (spec.job.blocks(), 5);
            let (ops, bytes, xor) = expected(&spec, &data);
            let sums = sums(&run(&spec).unwrap());
            let want = Sums {
                ops: 5 * ops,
                bytes: 5 * bytes,
                syscalls: made.load(Relaxed),
                folds: [xor, 0],
            };
            assert_eq!(sums, want, "block {block} threads {threads} depth {depth}");
        }
    }
}

#[test]
fn many_interruptions_are_no_failure() {
    let data = data(1 << 16);
    let made = AtomicU64::new(0);
    let every_other =
        Box::new(
            move |_, _| {
                if made.fetch_add(1, Relaxed) % 2 == 1 { Act::Result(EINTR) } else { Act::Whole }
            },
        );
    let mut spec = Faulty::over(&data, every_other).spec(1, 1);
    spec.passes = 200;
    let sums = sums(&run(&spec).unwrap());
    assert_eq!((sums.ops, sums.bytes), (200 * 16, 200 << 16));
}

/// Makes lane 0 fail with `fault` in its block at 8192 after 100 good bytes; others would never
/// end.
fn fails_with(fault: isize, depth: u32, says: &str) {
    let data = data(1 << 18);
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let script = move |lane, request: crate::backend::work::Request| {
        count.fetch_add(u64::from(lane == 0 && request != OPENING), Relaxed);
        match (lane, request.offset) {
            (0, 8192) => Act::Short(100),
            (0, 8292) => Act::Result(fault),
            _ => Act::Whole,
        }
    };
    let mut spec = Faulty::over(&data, Box::new(script)).spec(3, depth);
    spec.passes = u64::MAX;
    let error = run(&spec).err().unwrap();
    assert_eq!(error, format!("faulty(2) of 3996 bytes at offset 8292: {says}"));
    // Nothing new after the failure; operations in flight are drained.
    let most = if depth == 1 { 4 } else { 3 * u64::from(depth) };
    assert!(asked.load(Relaxed) <= most, "{} requests at depth {depth}", asked.load(Relaxed));
}

#[test]
fn faults_name_place_and_stop_lanes() {
    for depth in [1, 4] {
        fails_with(
            EIO,
            depth,
            "Input/output error (os error 5); the device failed: see the kernel log (dmesg)",
        );
        fails_with(0, depth, "short read of 0 bytes; the file may have shrunk");
        fails_with(3997, depth, "the kernel returned 3997 bytes, more than requested");
        fails_with(
            isize::MAX,
            depth,
            "the kernel returned 9223372036854775807 bytes, more than requested",
        );
        fails_with(isize::MIN, depth, &format!("{}", std::io::Error::from_raw_os_error(0)));
    }
}

#[test]
fn endlessly_busy_device_is_an_error() {
    for depth in [1, 4] {
        for busy in [EAGAIN, EINTR] {
            let spec = Faulty::over(
                &data(1 << 16),
                Box::new(move |_, r| if r == OPENING { Act::Whole } else { Act::Result(busy) }),
            )
            .spec(2, depth);
            let error = run(&spec).err().unwrap();
            assert!(
                error.contains(&std::io::Error::from_raw_os_error(-busy as i32).to_string()),
                "{error}"
            );
        }
    }
}

#[test]
fn partial_sector_is_a_short_read() {
    let short = |_, r: crate::backend::work::Request| {
        if r.offset == 8192 { Act::Short(100) } else { Act::Whole }
    };
    let error =
        run(&Faulty::aligned(&data(1 << 16), 512, Box::new(short)).spec(1, 1)).err().unwrap();
    assert_eq!(
        error,
        "faulty(2) of 4096 bytes at offset 8192: short read of 100 bytes; the file may have \
         shrunk"
    );
}

#[test]
fn unopened_lane_keeps_others_from_starting() {
    let ran = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&ran);
    let script = move |lane, request| match (lane, request == OPENING) {
        (2, true) => Act::Result(-(libc::EMFILE as isize)),
        (_, opening) => {
            count.fetch_add(u64::from(!opening), Relaxed);
            Act::Whole
        }
    };
    let error = run(&Faulty::over(&data(1 << 16), Box::new(script)).spec(4, 1)).err().unwrap();
    assert!(error.contains("cannot open the target: Too many open files"), "{error}");
    assert_eq!(ran.load(Relaxed), 0);
}

/// Counts the threads of this process that are lanes.
fn lanes_alive() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter(|t| {
            std::fs::read_to_string(t.path().join("comm"))
                .is_ok_and(|name| name.starts_with("lane "))
        })
        .count()
}

/// Waits until no lane is left: a joined thread stays listed until the kernel has removed it.
fn no_lane_left() {
    let begin = std::time::Instant::now();
    while lanes_alive() > 0 {
        assert!(begin.elapsed().as_secs() < 10, "{} lanes left", lanes_alive());
        std::thread::yield_now();
    }
}

/// In a separate process, where no other test has lanes.
#[test]
fn panic_fails_the_cell_without_leaks() {
    const NAME: &str = "engine::tests::faults::panic_fails_the_cell_without_leaks";
    if !child::is_alone(NAME, "panic") {
        return;
    }
    for opening in [true, false] {
        let script = move |lane, request| {
            assert!(lane != 1 || (request == OPENING) != opening, "a bug for the test");
            Act::Whole
        };
        let mut spec = Faulty::over(&data(1 << 16), Box::new(script)).spec(3, 1);
        spec.passes = u64::MAX;
        let error = run(&spec).err().unwrap();
        assert!(error.contains("the worker panicked"), "{error}");
        no_lane_left();
    }
    let good = Faulty::over(&data(1 << 16), Box::new(|_, _| Act::Whole)).spec(3, 1);
    assert_eq!(sums(&run(&good).unwrap()).bytes, 1 << 16);
}

/// In a separate process, since limits apply to a whole process.
#[test]
fn unstartable_threads_end_the_others() {
    const NAME: &str = "engine::tests::faults::unstartable_threads_end_the_others";
    if !child::is_alone(NAME, "threads") {
        return;
    }
    // Root is not limited, but user nobody is.
    let _ = nix::unistd::setresuid(65534.into(), 65534.into(), 65534.into());
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NPROC, 6, 6).unwrap();
    let error = run(&Faulty::over(&data(1 << 16), Box::new(|_, _| Act::Whole)).spec(64, 1)).err();
    let Some(error) = error else { return child::skip("threads are not limited here") };
    assert!(
        error.contains("cannot start thread") && error.contains("use fewer --threads"),
        "{error}"
    );
    no_lane_left();
}

#[test]
fn hanging_calls_are_left_behind() {
    let hold = Arc::new((Mutex::new(true), Condvar::new()));
    let held = Arc::clone(&hold);
    let hangs = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&hangs);
    let script = move |lane, request| {
        if lane == 1 && request != OPENING {
            hangs.store(true, Relaxed);
            drop(held.1.wait_while(held.0.lock().unwrap(), |held| *held).unwrap());
        }
        Act::Whole
    };
    let mut spec = Faulty::over(&data(1 << 16), Box::new(script)).spec(2, 1);
    spec.passes = u64::MAX;
    assert_eq!(run_with(&spec, &mut || (), &|| seen.load(Relaxed)).err().unwrap(), "abandoned");
    *hold.0.lock().unwrap() = false;
    hold.1.notify_all();
}

/// Lane 0 fails, opening or at its first operation, once lane 1 hangs there; the run is never
/// stopped.
#[test]
fn failed_lane_ignores_hanging_one() {
    #[derive(PartialEq)]
    enum Lane {
        NotThere,
        Hangs,
        Released,
    }
    for opening in [true, false] {
        let lane_1 = Arc::new((Mutex::new(Lane::NotThere), Condvar::new()));
        let at = Arc::clone(&lane_1);
        let script = move |lane, request| {
            if (request == OPENING) != opening {
                return Act::Whole;
            }
            let mut now = at.0.lock().unwrap();
            if lane == 1 {
                *now = Lane::Hangs;
                at.1.notify_all();
                drop(at.1.wait_while(now, |now| *now != Lane::Released).unwrap());
            } else {
                // Waits for lane 1, which would otherwise only see the stop and never begin.
                drop(at.1.wait_while(now, |now| *now == Lane::NotThere).unwrap());
            }
            Act::Result(EIO)
        };
        let error = run(&Faulty::over(&data(1 << 16), Box::new(script)).spec(2, 1)).err().unwrap();
        assert!(error.contains("Input/output error") && error.contains("was abandoned"), "{error}");
        *lane_1.0.lock().unwrap() = Lane::Released;
        lane_1.1.notify_all();
    }
}

//! Lanes that are pinned to CPUs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::faulty::{Act, Faulty};
use super::*;
use crate::sys::threads::Affinity;

type Seen = BTreeSet<(u32, Vec<usize>)>;

/// Runs lanes that are pinned to `cpus`, and returns the CPUs that each was bound to when it opened
/// and at its requests.
fn run_pinned(cpus: &str, threads: u32) -> (Result<LaneResults, String>, Seen) {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let noted = Arc::clone(&seen);
    let script = move |lane, _| {
        noted.lock().unwrap().insert((lane, Affinity::current().unwrap().cpus()));
        Act::Whole
    };
    let backend = Faulty::over(&[7; 16 * 4096], Box::new(script));
    let ran = run(&Spec { cpus: Some(cpus.parse().unwrap()), ..backend.spec(threads, 1) });
    let seen = seen.lock().unwrap().clone();
    (ran, seen)
}

#[test]
fn lanes_stay_on_their_cpus() {
    let own = Affinity::current().unwrap();
    let (first, last) = (own.cpus()[0], *own.cpus().last().unwrap());
    let (ran, seen) = run_pinned(&format!("{last},{first}"), 5);
    assert_eq!(sums(&ran.unwrap()).ops, 16);
    let wanted = (0..5).map(|lane| (lane, vec![if lane % 2 == 0 { last } else { first }]));
    assert_eq!(seen, wanted.collect());
    assert_eq!(Affinity::current().unwrap(), own, "only lanes are pinned");
}

#[test]
fn an_absent_cpu_fails_the_cell() {
    let (ran, seen) = run_pinned("65535", 2);
    let error = ran.err().unwrap();
    assert!(error.contains("cannot run on CPU 65535") && error.contains("--cpus"), "{error}");
    assert!(seen.is_empty(), "{seen:?}");
}

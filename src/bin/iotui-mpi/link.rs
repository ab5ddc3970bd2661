//! The ranks of MPI's world.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use iotui::engine::{Link, Roll, boot_id};
use iotui::sys::pause;
use mpi::Tag;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{Communicator, Destination, Root, Source};

/// How long a waiting rank sleeps before it asks again, at first and at most. MPI itself would
/// spin, and take the CPU from a neighbour that still measures.
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// A rank has come to a message that all take part in.
const COME: Tag = 1;
/// All have come.
const GO: Tag = 2;
const DATA: Tag = 3;
/// Bytes that are sent at once: MPI counts them in 32 bits.
const PIECE: usize = 1 << 30;
/// A message of more bytes goes from rank to rank. Any other goes to each rank by itself, so that
/// one that hangs keeps it from no other.
const LARGE: usize = 64 << 10;

/// All processes that the launcher started.
pub struct World {
    roll: Arc<Roll>,
    here: u32,
}

/// Names the machine, so that tests can run ranks of several machines on one.
const NODE: &str = "IOTUI_NODE";

fn named_node() -> Option<String> {
    std::env::var(NODE).ok().filter(|name| !name.is_empty())
}

fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// Sleeps until a condition holds.
fn sleep_until(so: impl Fn() -> bool) {
    let mut sleep = FIRST_SLEEP;
    while !so() {
        pause::sleep(sleep);
        sleep = (sleep * 2).min(LONGEST_SLEEP);
    }
}

impl World {
    /// Counts the ranks on this machine; all ranks call it together.
    pub fn new() -> World {
        let here = world().split_shared(0).size().unsigned_abs();
        World { roll: Arc::new(Roll::new(world().size().unsigned_abs())), here }
    }

    /// Waits, asleep, until all ranks have come as far; returns the number of the first. A barrier
    /// would not name the missing rank.
    fn meet(&self, mut number: u64) -> u64 {
        let world = world();
        if world.rank() != 0 {
            let first = world.process_at_rank(0);
            first.send_with_tag(&0u8, COME);
            sleep_until(|| first.immediate_probe_with_tag(GO).is_some());
            first.receive_into_with_tag(&mut number, GO);
            return number;
        }
        self.roll.come(0);
        sleep_until(|| {
            self.call_roll(&world);
            self.roll.is_complete()
        });
        (1..world.size()).for_each(|rank| world.process_at_rank(rank).send_with_tag(&number, GO));
        number
    }

    /// Exchanges something with each rank but the first, in turn.
    fn with_each(&self, world: &SimpleCommunicator, mut exchange: impl FnMut(Process)) {
        for rank in 1..world.size() {
            self.roll.expect(Some(rank.unsigned_abs()));
            exchange(world.process_at_rank(rank));
        }
        self.roll.expect(None);
    }

    /// Notes which ranks have come.
    fn call_roll(&self, world: &SimpleCommunicator) {
        while let Some(come) = world.any_process().immediate_probe_with_tag(COME) {
            let rank = come.source_rank();
            world.process_at_rank(rank).receive_into_with_tag(&mut 0u8, COME);
            self.roll.come(rank.unsigned_abs());
        }
    }
}

impl Link for World {
    fn rank(&self) -> u32 {
        world().rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        world().size().unsigned_abs()
    }

    fn here(&self) -> u32 {
        self.here
    }

    fn node(&self) -> String {
        named_node().unwrap_or_else(|| mpi::environment::processor_name().unwrap_or_default())
    }

    fn machine(&self) -> String {
        // The clock of a time namespace is another one.
        let clock = fs::read_link("/proc/self/ns/time").unwrap_or_default();
        named_node().unwrap_or_else(|| format!("{} {}", boot_id(), clock.display()))
    }

    fn roll(&self) -> Arc<Roll> {
        Arc::clone(&self.roll)
    }

    fn library(&self) -> String {
        // Open MPI adds who built it, and MPICH its configuration.
        let version = mpi::environment::library_version().unwrap_or_default();
        version
            .split([',', '\n'])
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn broadcast(&self, mut message: Vec<u8>) -> Vec<u8> {
        let length = self.meet(message.len() as u64) as usize;
        message.resize(length, 0);
        let world = world();
        let first = world.process_at_rank(0);
        if length > LARGE {
            message.chunks_mut(PIECE).for_each(|piece| first.broadcast_into(piece));
        } else if world.rank() != 0 {
            first.receive_into_with_tag(&mut message[..], DATA);
        } else {
            self.with_each(&world, |process| process.send_with_tag(&message[..], DATA));
        }
        message
    }

    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.meet(0);
        let world = world();
        if world.rank() != 0 {
            let first = world.process_at_rank(0);
            first.send_with_tag(&(message.len() as u64), DATA);
            message.chunks(PIECE).for_each(|piece| first.send_with_tag(piece, DATA));
            return Vec::new();
        }
        let mut all = vec![message];
        self.with_each(&world, |process| {
            let mut length = 0u64;
            process.receive_into_with_tag(&mut length, DATA);
            let mut message = vec![0u8; length as usize];
            message.chunks_mut(PIECE).for_each(|piece| {
                process.receive_into_with_tag(piece, DATA);
            });
            all.push(message);
        });
        all
    }

    fn send(&self, to: u32, value: u64) {
        world().process_at_rank(to.cast_signed()).send(&value);
    }

    fn receive(&self, from: u32) -> u64 {
        self.roll.expect(Some(from));
        let (number, _) = world().process_at_rank(from.cast_signed()).receive::<u64>();
        self.roll.expect(None);
        number
    }
}

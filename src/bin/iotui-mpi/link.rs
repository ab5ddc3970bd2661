//! The ranks of MPI's world.

use std::time::Duration;

use iotui::engine::{Link, boot_id};
use iotui::sys::pause;
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};

/// How long a waiting rank sleeps before it asks again, at first and at most. MPI itself would
/// spin, and take the CPU from a neighbour that still measures.
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// All processes that the launcher started.
pub struct World;

/// Names the machine, so that ranks of one can be tried as those of several.
const NODE: &str = "IOTUI_NODE";

fn named_node() -> Option<String> {
    std::env::var(NODE).ok().filter(|name| !name.is_empty())
}

fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// Waits, asleep, until all ranks have come as far.
fn wait_for_all() {
    let mut request = world().immediate_barrier();
    let mut sleep = FIRST_SLEEP;
    while let Err(waiting) = request.test() {
        request = waiting;
        pause::sleep(sleep);
        sleep = (sleep * 2).min(LONGEST_SLEEP);
    }
}

impl Link for World {
    fn rank(&self) -> u32 {
        world().rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        world().size().unsigned_abs()
    }

    fn node(&self) -> String {
        named_node().unwrap_or_else(|| mpi::environment::processor_name().unwrap_or_default())
    }

    fn machine(&self) -> String {
        match named_node() {
            Some(name) => name,
            None => boot_id(),
        }
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
        wait_for_all();
        let (world, mut length) = (world(), message.len() as u64);
        let first = world.process_at_rank(0);
        first.broadcast_into(&mut length);
        message.resize(length as usize, 0);
        first.broadcast_into(&mut message[..]);
        message
    }

    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        wait_for_all();
        let (world, length) = (world(), message.len() as Count);
        let first = world.process_at_rank(0);
        if world.rank() != 0 {
            first.gather_into(&length);
            first.gather_varcount_into(&message[..]);
            return Vec::new();
        }
        let mut lengths = vec![0; world.size() as usize];
        first.gather_into_root(&length, &mut lengths[..]);
        let places: Vec<Count> = lengths
            .iter()
            .scan(0, |next: &mut Count, length| Some(std::mem::replace(next, *next + length)))
            .collect();
        let mut all = vec![0; lengths.iter().sum::<Count>() as usize];
        let mut parts = PartitionMut::new(&mut all[..], &lengths[..], &places[..]);
        first.gather_varcount_into_root(&message[..], &mut parts);
        let part =
            |(place, length): (&Count, &Count)| all[*place as usize..][..*length as usize].to_vec();
        places.iter().zip(&lengths).map(part).collect()
    }

    fn send(&self, to: u32, value: u64) {
        world().process_at_rank(to.cast_signed()).send(&value);
    }

    fn receive(&self, from: u32) -> u64 {
        world().process_at_rank(from.cast_signed()).receive::<u64>().0
    }
}

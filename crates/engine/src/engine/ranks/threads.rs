//! Ranks that are threads of one process, for tests: no launcher is needed.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;

use super::link::{Link, Roll};

/// One of the threads.
pub struct Thread {
    rank: u32,
    shared: Arc<SharedRanks>,
    /// By rank: where the numbers that it sends arrive.
    numbers: Vec<Receiver<u64>>,
    /// By rank: the way to it.
    ways: Vec<Sender<u64>>,
}

struct SharedRanks {
    messages: Vec<Mutex<Vec<u8>>>,
    barrier: Barrier,
    roll: Arc<Roll>,
    /// The machine that each pretends to be on.
    nodes: Vec<String>,
}

/// Runs `body` as each of these ranks, one for each name of a machine, and returns what they
/// return.
pub fn run<T: Send>(nodes: &[&str], body: impl Fn(&dyn Link) -> T + Sync) -> Vec<T> {
    let shared = Arc::new(SharedRanks {
        messages: nodes.iter().map(|_| Mutex::default()).collect(),
        barrier: Barrier::new(nodes.len()),
        roll: Arc::new(Roll::new(nodes.len() as u32)),
        nodes: nodes.iter().map(ToString::to_string).collect(),
    });
    let (mut ways, mut numbers): (Vec<Vec<_>>, Vec<Vec<_>>) = Default::default();
    for _ in nodes {
        let (to, from): (Vec<_>, Vec<_>) = nodes.iter().map(|_| channel()).unzip();
        ways.push(to);
        numbers.push(from);
    }
    // `ways[to][from]` leads to `numbers[to][from]`.
    let links: Vec<Thread> = (0..)
        .zip(numbers)
        .map(|(rank, numbers)| Thread {
            rank,
            shared: Arc::clone(&shared),
            numbers,
            ways: ways.iter().map(|to| to[rank as usize].clone()).collect(),
        })
        .collect();
    thread::scope(|scope| {
        let body = &body;
        let run = |link: Thread| scope.spawn(move || body(&link));
        let running: Vec<_> = links.into_iter().map(run).collect();
        running.into_iter().map(|rank| rank.join().expect("a rank")).collect()
    })
}

impl Thread {
    fn message(&self, rank: usize) -> Vec<u8> {
        self.shared.messages[rank].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn leave(&self, message: Vec<u8>) {
        let own = &self.shared.messages[self.rank as usize];
        *own.lock().unwrap_or_else(PoisonError::into_inner) = message;
        self.shared.roll.come(self.rank);
        self.shared.barrier.wait();
    }
}

impl Link for Thread {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.shared.nodes.len() as u32
    }

    fn node(&self) -> String {
        self.shared.nodes[self.rank as usize].clone()
    }

    fn machine(&self) -> String {
        self.node()
    }

    fn roll(&self) -> Arc<Roll> {
        Arc::clone(&self.shared.roll)
    }

    fn broadcast(&self, message: Vec<u8>) -> Vec<u8> {
        self.leave(message);
        let first = self.message(0);
        // None leaves its next message before all have read this one.
        self.shared.barrier.wait();
        first
    }

    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.leave(message);
        let all = match self.rank {
            0 => (0..self.shared.nodes.len()).map(|rank| self.message(rank)).collect(),
            _ => Vec::new(),
        };
        self.shared.barrier.wait();
        all
    }

    fn send(&self, to: u32, value: u64) {
        self.ways[to as usize].send(value).expect("the rank listens");
    }

    fn receive(&self, from: u32) -> u64 {
        self.numbers[from as usize].recv().expect("the rank sends")
    }
}

//! Programs that run in turns of a few milliseconds and are stopped in between: the speed of a
//! device changes from one second to the next, and each has it for itself.

use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often each runs.
const SLICES: usize = 80;
const SLICE: Duration = Duration::from_millis(50);
/// From its start to its first stop.
const WARM: Duration = Duration::from_millis(500);
/// Until the operations in flight of a stopped program end, and the other has the device alone.
const DRAIN: Duration = Duration::from_millis(4);

/// Returns the mean bytes per second that each of the two read from storage in its slices, as the
/// kernel counts them when they are submitted.
pub fn rates(both: [Child; 2]) -> Option<(f64, f64)> {
    let both = both.map(Stopped::new);
    let mut sums = [0.0; 2];
    for slice in 0..SLICES {
        for side in [slice % 2, 1 - slice % 2] {
            sums[side] += both[side].slice()?;
        }
    }
    let [first, second] = sums.map(|sum| sum / SLICES as f64);
    Some((first, second))
}

/// Ended on drop.
struct Stopped(Child);

impl Stopped {
    fn new(program: Child) -> Stopped {
        std::thread::sleep(WARM);
        let stopped = Stopped(program);
        stopped.signal(Signal::SIGSTOP);
        std::thread::sleep(DRAIN);
        stopped
    }

    /// Lets it run for a slice; returns its bytes per second, `None` if it has ended.
    fn slice(&self) -> Option<f64> {
        let (before, start) = (self.read_bytes()?, Instant::now());
        self.signal(Signal::SIGCONT);
        std::thread::sleep(SLICE);
        self.signal(Signal::SIGSTOP);
        let seconds = start.elapsed().as_secs_f64();
        std::thread::sleep(DRAIN);
        Some((self.read_bytes()? - before) / seconds)
    }

    fn signal(&self, signal: Signal) {
        // One that has ended is seen by its counter.
        let _ = kill(Pid::from_raw(self.0.id() as i32), signal);
    }

    fn read_bytes(&self) -> Option<f64> {
        let counters = std::fs::read_to_string(format!("/proc/{}/io", self.0.id())).ok()?;
        counters.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.parse().ok()
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

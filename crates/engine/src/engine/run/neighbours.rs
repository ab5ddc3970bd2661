//! The neighbour of a run, as the run sees it.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::engine::error::Failure;
use crate::engine::neighbour::{ARGUMENT, Order, Reply};
use crate::plan::Neighbour;
use crate::record::Visit;
use crate::sys::{child, pause};
use crate::text::clean_text;

/// How long the process may take to count, and to exit.
const TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The neighbour that runs, if one does, and its process once there is one.
#[derive(Default)]
pub(super) struct Neighbours {
    process: Option<RefCell<Process>>,
    is_running: bool,
    /// It did not count when it was asked.
    is_lost: Cell<bool>,
}

struct Process {
    child: Child,
    /// `None` once it is to exit.
    orders: Option<ChildStdin>,
    replies: Receiver<Reply>,
}

impl Neighbours {
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Ends the one that runs, and begins another. `kill` ends the waiting.
    pub fn switch(
        &mut self,
        to: Option<&Neighbour>,
        kill: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let done = self.try_switch(to, kill);
        if done.is_err() {
            // Whatever state it is in.
            *self = Neighbours::default();
        }
        done
    }

    fn try_switch(
        &mut self,
        to: Option<&Neighbour>,
        kill: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        if let Some(process) = self.process.as_mut().filter(|_| self.is_running) {
            self.is_running = false;
            match process.get_mut().obey(&Order::End, &Reply::Ended, kill) {
                // It does not end, or its process is gone: that says nothing about the next one.
                Err(Failure::Cell(_)) => self.process = None,
                done => done?,
            }
        }
        let Some(neighbour) = to else { return Ok(()) };
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(RefCell::new(Process::start()?)),
        };
        let begin = Order::Begin(Box::new(neighbour.clone()));
        process.get_mut().obey(&begin, &Reply::Begun, kill)?;
        self.is_running = true;
        Ok(())
    }

    /// Returns the work since it began; `None` if none runs.
    ///
    /// # Errors
    /// It failed, or its process is gone or does not reply.
    pub fn count(&self) -> Result<Option<Visit>, Failure> {
        let Some(process) = self.process.as_ref().filter(|_| self.is_running) else {
            return Ok(None);
        };
        let counted = process.borrow_mut().count();
        self.is_lost.set(self.is_lost.get() || counted.is_err());
        counted.map(Some)
    }

    /// Drops a process that did not count, whose replies may be late; returns whether there is one.
    pub fn drop_lost(&mut self) -> bool {
        let is_lost = self.is_lost.get();
        if is_lost {
            *self = Neighbours::default();
        }
        is_lost
    }
}

fn failed(why: &str) -> Failure {
    Failure::Cell(format!("the neighbour failed: {}", clean_text(why)))
}

impl Process {
    fn start() -> Result<Process, Failure> {
        let start = |error| failed(&format!("cannot start its process: {error}"));
        let mut child = child::start_own(ARGUMENT).map_err(start)?;
        let (orders, out) = (child.stdin.take(), child.stdout.take());
        let (sender, replies) = channel();
        let read = move || {
            let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines());
            let texts = lines.map_while(Result::ok);
            for reply in texts.filter_map(|line| serde_json::from_str(&line).ok()) {
                if sender.send(reply).is_err() {
                    break;
                }
            }
        };
        // Dropping the process ends it.
        let process = Process { child, orders, replies };
        std::thread::Builder::new().spawn(read).map_err(start)?;
        Ok(process)
    }

    fn send(&mut self, order: &Order) -> Result<(), Failure> {
        let line = serde_json::to_string(order).map_err(|error| failed(&error.to_string()))?;
        let Some(orders) = &mut self.orders else { return Err(failed("its process exits")) };
        writeln!(orders, "{line}").map_err(|_| failed("its process ended"))
    }

    /// Sends an order and waits until it is obeyed.
    fn obey(
        &mut self,
        order: &Order,
        wanted: &Reply,
        kill: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        self.send(order)?;
        loop {
            match self.replies.recv_timeout(POLL_INTERVAL) {
                Ok(reply) if reply == *wanted => return Ok(()),
                Ok(Reply::Failed(why)) => return Err(failed(&why)),
                Ok(_) | Err(RecvTimeoutError::Timeout) if kill() => return Err(Failure::Stopped),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(failed("its process ended")),
            }
        }
    }

    fn count(&mut self) -> Result<Visit, Failure> {
        self.send(&Order::Count)?;
        match self.replies.recv_timeout(TIMEOUT) {
            Ok(Reply::Work(work)) => Ok(work),
            Ok(Reply::Failed(why)) => Err(failed(&why)),
            Ok(Reply::Ended) | Err(RecvTimeoutError::Disconnected) => {
                Err(failed("its process ended"))
            }
            Ok(Reply::Begun) | Err(RecvTimeoutError::Timeout) => {
                Err(failed("its process does not reply"))
            }
        }
    }
}

impl Drop for Process {
    /// Lets it remove its file and exit, and kills it if it does not.
    fn drop(&mut self) {
        self.orders = None;
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begin.elapsed() > TIMEOUT {
                let _ = self.child.kill();
                // One that is stuck in the kernel is abandoned.
                let _ = self.child.try_wait();
                return;
            }
            pause::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{TargetSpec, testing};

    #[test]
    fn a_lost_process_is_a_failure() {
        // This program is the test, which knows no such argument and exits.
        let neighbour = Neighbour {
            options: String::new(),
            job: testing::job(),
            target: TargetSpec::Scratch { dir: "/".into(), size: 1, keep: false },
            share: None,
            compressible: None,
            dedupe: None,
        };
        let mut neighbours = Neighbours::default();
        let Err(Failure::Cell(why)) = neighbours.switch(Some(&neighbour), &|| false) else {
            panic!()
        };
        assert!(why.starts_with("the neighbour failed: its process ended"), "{why}");
        assert!(matches!(neighbours.count(), Ok(None)));
        assert!(neighbours.switch(None, &|| false).is_ok());
    }
}

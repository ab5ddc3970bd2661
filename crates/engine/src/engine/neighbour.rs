//! The process of a neighbour: a second job that the run starts and ends as its variants ask. It is
//! a process, so that the kernel's counters of the run do not contain its work.

use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::calibrate::endless_amount;
use super::cells::Cell;
use super::control::Cut;
use super::error::Failure;
use super::executor::Executor;
use super::full_speed::full_speed;
use super::target::OpenTarget;
use super::trial::{TrialStage, run_unobserved};
use crate::backend::meter::Timed;
use crate::plan::{Job, Neighbour, Op, Plan, Rate};
use crate::record::Visit;
use crate::sys::clock::monotonic_nanos;

/// The argument with which this program is a neighbour.
pub const ARGUMENT: &str = "--neighbour-process";

/// Longer than any run.
const ENDLESS: Duration = Duration::from_secs(30 * 86_400);
/// How long it runs to find its full speed.
const FULL_SPEED: Duration = Duration::from_secs(2);

/// An order of the run, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    Begin(Box<Neighbour>),
    End,
    Count,
}

/// The reply to an order, one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reply {
    /// It moves data.
    Begun,
    /// Its writes are on their device.
    Ended,
    /// Its work since it began, up to a sample of at most 100 ms ago.
    Work(Visit),
    Failed(String),
}

/// The thread that reads orders shares this with the one that works.
#[derive(Default)]
struct Shared {
    ends: AtomicBool,
    bytes: AtomicU64,
    ops: AtomicU64,
    nanos: AtomicU64,
}

/// Obeys the orders of a run until their end.
pub fn serve(orders: impl BufRead + Send + 'static, replies: impl Write + Send + 'static) {
    let shared = Arc::new(Shared::default());
    let replies: Arc<Mutex<dyn Write + Send>> = Arc::new(Mutex::new(replies));
    let (sender, receiver) = channel();
    let (own, out) = (Arc::clone(&shared), Arc::clone(&replies));
    let reader = move || read_orders(orders, &own, &out, &sender);
    if std::thread::Builder::new().spawn(reader).is_ok() {
        work(&receiver, &shared, &replies);
    }
}

fn reply(to: &Mutex<dyn Write + Send>, reply: &Reply) {
    let Ok(line) = serde_json::to_string(reply) else { return };
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody reads it if the run is over.
    let _ = writeln!(to, "{line}").and_then(|()| to.flush());
}

fn read_orders(
    orders: impl BufRead,
    shared: &Shared,
    replies: &Mutex<dyn Write + Send>,
    sender: &Sender<Box<Neighbour>>,
) {
    for line in orders.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Order::Begin(neighbour)) => {
                shared.ends.store(false, Relaxed);
                if sender.send(neighbour).is_err() {
                    break;
                }
            }
            Ok(Order::End) => shared.ends.store(true, Relaxed),
            Ok(Order::Count) => reply(replies, &Reply::Work(shared.work())),
            Err(error) => reply(replies, &Reply::Failed(format!("not an order: {error}"))),
        }
    }
    shared.ends.store(true, Relaxed);
}

fn work(orders: &Receiver<Box<Neighbour>>, shared: &Shared, to: &Mutex<dyn Write + Send>) {
    let mut opened: Option<Opened> = None;
    for neighbour in orders {
        let is_same = |of: &Opened| of.neighbour.target == neighbour.target;
        let ready = match opened.take().filter(is_same) {
            Some(same) => Ok(Opened { neighbour: *neighbour, ..same }),
            None => Opened::new(*neighbour, &|| shared.ends.load(Relaxed)),
        };
        let done = ready.and_then(|mut ready| {
            let done = ready.run(shared, &mut || reply(to, &Reply::Begun));
            opened = Some(ready);
            done
        });
        reply(to, &done.map_or_else(Reply::Failed, |()| Reply::Ended));
    }
}

impl Shared {
    fn work(&self) -> Visit {
        let [bytes, ops, nanos] =
            [&self.bytes, &self.ops, &self.nanos].map(|count| count.load(Relaxed));
        Visit { bytes, ops, nanos }
    }

    fn set_work(&self, work: Visit) {
        self.bytes.store(work.bytes, Relaxed);
        self.ops.store(work.ops, Relaxed);
        self.nanos.store(work.nanos, Relaxed);
    }
}

fn cell(job: &Job) -> Result<Cell, String> {
    let executor = Executor::from_choice(&job.backend).map_err(|unknown| unknown.to_string())?;
    Ok(Cell::new(job.clone(), executor, false))
}

/// A neighbour with its file.
struct Opened {
    neighbour: Neighbour,
    target: OpenTarget,
    /// Its full speed, bytes per second, once that is known.
    full_speed: Option<f64>,
}

impl Opened {
    fn new(neighbour: Neighbour, stop: &dyn Fn() -> bool) -> Result<Opened, String> {
        let plan = Plan {
            cells: vec![neighbour.job.clone()],
            compressible: neighbour.compressible,
            dedupe: neighbour.dedupe,
            seed: monotonic_nanos() >> 11,
            ..Plan::plain("sweep", neighbour.target.clone())
        };
        let target =
            OpenTarget::open(&plan, &plan.target, stop, &mut |_| ControlFlow::Continue(()))
                .map_err(|error| error.to_string())?;
        Ok(Opened { neighbour, target, full_speed: None })
    }

    /// Runs until the order to end; `begun` is called once it moves data.
    fn run(&mut self, shared: &Shared, begun: &mut dyn FnMut()) -> Result<(), String> {
        let mut job = self.neighbour.job.clone();
        if let Some(share) = self.neighbour.share.filter(|share| *share < 100) {
            let full = match self.full_speed {
                Some(full) => full,
                None => self.find_full_speed(shared)?,
            };
            self.full_speed = Some(full);
            let bytes = (full * f64::from(share) / 100.0) as u64;
            job.rate = Some(Rate::Bytes(bytes.clamp(1, Rate::MAX_BYTES)));
        }
        let mut begun = Some(begun);
        self.run_job(&job, &|| shared.ends.load(Relaxed), &mut |work| {
            shared.set_work(work);
            if work.ops > 0
                && let Some(begun) = begun.take()
            {
                begun();
            }
        })?;
        // Otherwise it would be written while cells are measured alone.
        if job.op == Op::Write && !job.direct {
            self.target.file.sync_data().map_err(|error| format!("fdatasync: {error}"))?;
        }
        Ok(())
    }

    /// Returns the bytes per second that the job moves at full speed.
    fn find_full_speed(&self, shared: &Shared) -> Result<f64, String> {
        let cell = cell(&self.neighbour.job)?;
        let cut = || shared.ends.load(Relaxed).then_some(Cut::Pause);
        let work = full_speed(&self.target, &cell, FULL_SPEED, &cut);
        let speed = work.and_then(|work| work.throughput()).filter(|speed| *speed > 0.0);
        speed.ok_or_else(|| "it moved nothing at full speed".into())
    }

    /// Runs a job until `is_over`; `count` gets the work so far.
    fn run_job(
        &self,
        job: &Job,
        is_over: &dyn Fn() -> bool,
        count: &mut dyn FnMut(Visit),
    ) -> Result<(), String> {
        let cell = cell(job)?;
        cell.executor.check(&self.target.target, job)?;
        let amount = endless_amount(job, Timed::None, ENDLESS);
        let cut = || is_over().then_some(Cut::Pause);
        let origin = monotonic_nanos();
        let mut work = Visit::default();
        while !is_over() {
            let before = work;
            let stage = TrialStage {
                is_prepared: true,
                ..TrialStage::new(&self.target, origin, origin, &cut)
            };
            let done = run_unobserved(&stage, &cell, &amount, &mut |sample, _| {
                work.bytes = work.bytes.saturating_add(sample.bytes);
                work.ops = work.ops.saturating_add(sample.ops);
                work.nanos = before.nanos.saturating_add(sample.at);
                count(work);
            });
            match done {
                Err(Failure::Cell(why)) => return Err(why),
                Err(Failure::Abandoned) => return Err("a system call does not return".into()),
                Ok(_) | Err(Failure::Stopped) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};
    use std::thread::JoinHandle;

    use super::*;
    use crate::plan::{Choice, TargetSpec, testing};

    /// One direction of a pipe without a descriptor: threads of other tests keep copies of these.
    struct From(Receiver<Vec<u8>>);
    struct To(Sender<Vec<u8>>);

    impl Read for From {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let line = self.0.recv().unwrap_or_default();
            to[..line.len()].copy_from_slice(&line);
            Ok(line.len())
        }
    }

    impl Write for To {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The process of a neighbour, as a thread.
    struct Served {
        orders: Option<To>,
        replies: io::Lines<BufReader<From>>,
        thread: JoinHandle<()>,
    }

    impl Served {
        fn new() -> Served {
            let ((orders, from), (to, replies)) = (channel(), channel());
            let thread = std::thread::spawn(|| serve(BufReader::new(From(from)), To(to)));
            let replies = BufReader::new(From(replies)).lines();
            Served { orders: Some(To(orders)), replies, thread }
        }

        fn reply(&mut self) -> Reply {
            serde_json::from_str(&self.replies.next().unwrap().unwrap()).unwrap()
        }

        fn ask(&mut self, order: &Order) -> Reply {
            let line = serde_json::to_string(order).unwrap();
            writeln!(self.orders.as_mut().unwrap(), "{line}").unwrap();
            self.reply()
        }
    }

    fn writer(dir: &std::path::Path, share: Option<u8>) -> Order {
        let size = 1 << 20;
        let job = Job {
            backend: Choice::plain("pread"),
            op: Op::Write,
            block: 4096,
            span: size,
            count: None,
            ..testing::job()
        };
        let target = TargetSpec::Scratch { dir: dir.into(), size, keep: false };
        Order::Begin(Box::new(Neighbour {
            options: String::new(),
            job,
            target,
            share,
            compressible: None,
            dedupe: None,
        }))
    }

    #[test]
    fn orders_begin_and_end_the_work() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let mut served = Served::new();
        for share in [None, Some(50)] {
            assert_eq!(served.ask(&writer(dir.path(), share)), Reply::Begun);
            let Reply::Work(work) = served.ask(&Order::Count) else { panic!() };
            assert!(work.bytes > 0 && work.ops == work.bytes / 4096 && work.nanos > 0, "{work:?}");
            assert_eq!(served.ask(&Order::End), Reply::Ended);
        }
        // The end of the orders ends it, and its file goes with it.
        served.orders = None;
        served.thread.join().unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn failures_have_their_reason() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let mut served = Served::new();
        let Reply::Failed(why) = served.ask(&writer(&dir.path().join("gone"), None)) else {
            panic!()
        };
        assert!(why.starts_with("cannot create a file in"), "{why}");
        writeln!(served.orders.as_mut().unwrap(), "hello").unwrap();
        let Reply::Failed(why) = served.ask(&Order::Count) else { panic!() };
        assert!(why.starts_with("not an order"), "{why}");
        assert_eq!(served.reply(), Reply::Work(Visit::default()));
        // It obeys the next order.
        assert_eq!(served.ask(&writer(dir.path(), None)), Reply::Begun);
        assert_eq!(served.ask(&Order::End), Reply::Ended);
    }
}

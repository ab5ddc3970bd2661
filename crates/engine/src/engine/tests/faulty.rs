//! A backend that reads from memory and fails as a script dictates.

use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;

use super::*;
use crate::backend::drive::run_each;
use crate::backend::work::Request;
use crate::backend::{Backend, BackendError, Lane, Unsupported, Work};
use crate::plan::Depth;

/// The outcome of one request.
pub enum Act {
    Whole,
    /// This many bytes, which did arrive.
    Short(u32),
    /// This result and no bytes: -errno, 0, or too many.
    Result(isize),
}

/// Maps a lane and a request to an outcome; may also panic or block.
pub type Script = Box<dyn Fn(u32, Request) -> Act + Send + Sync>;

struct Inner {
    data: Vec<u8>,
    script: Script,
    /// The alignment that the lanes report, minus 1.
    mask: u32,
}

pub struct Faulty(Arc<Inner>);

/// The request by which a lane asks the script whether it may open.
pub const OPENING: Request = Request { offset: u64::MAX, len: 0, slot: 0, at: 0, write: false };

impl Faulty {
    /// Creates a backend that lives as long as the test binary, like the backends of the registry.
    pub fn over(data: &[u8], script: Script) -> &'static Faulty {
        Faulty::aligned(data, 1, script)
    }

    pub fn aligned(data: &[u8], align: u32, script: Script) -> &'static Faulty {
        Box::leak(Box::new(Faulty(Arc::new(Inner {
            data: data.to_vec(),
            script,
            mask: align - 1,
        }))))
    }

    /// Specifies one pass over all data in blocks of 4096.
    pub fn spec(&'static self, threads: u32, depth: u32) -> Spec {
        let backend = Choice::plain("faulty");
        let job = Job { backend, threads, depth, span: self.0.data.len() as u64, ..testing::job() };
        let target = Target::plain("/".into(), job.span);
        Spec {
            executor: Executor::Backend(self),
            count: job.blocks(),
            passes: 1,
            seed: 7,
            timed: Timed::None,
            limit: None,
            part: None,
            place: None,
            cpus: None,
            ends_by_time: false,
            steady: None,
            watched: false,
            piece: None,
            pace: None,
            target,
            job,
        }
    }
}

impl Backend for Faulty {
    fn info(&self) -> &'static Info {
        &Info {
            id: "faulty",
            title: "faulty(2)",
            ops: &[Op::Read],
            depth: Depth::UpTo(64),
            direct: false,
            cached: false,
            appends: false,
            ..Info::COPIES_BY_CALL
        }
    }

    fn check(&self, _: &Target, _: &Job) -> Result<(), Unsupported> {
        Ok(())
    }

    fn open(&self, _: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        if let Act::Result(errno) = (self.0.script)(lane, OPENING) {
            return Err(BackendError::Open(std::io::Error::from_raw_os_error(-errno as i32)));
        }
        Ok(Box::new(FaultyLane {
            inner: Arc::clone(&self.0),
            lane,
            buffers: (0..job.depth).map(|_| vec![0; job.block as usize]).collect(),
        }))
    }
}

struct FaultyLane {
    inner: Arc<Inner>,
    lane: u32,
    /// One per slot.
    buffers: Vec<Vec<u8>>,
}

impl FaultyLane {
    fn one(&mut self, request: Request) -> isize {
        let len = match (self.inner.script)(self.lane, request) {
            Act::Whole => request.len,
            Act::Short(len) => len,
            Act::Result(result) => return result,
        } as usize;
        let (from, to) = (request.offset as usize, request.at as usize);
        self.buffers[request.slot as usize][to..to + len]
            .copy_from_slice(&self.inner.data[from..from + len]);
        len as isize
    }
}

impl Lane for FaultyLane {
    fn turn_to(&mut self, _: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        Ok(0)
    }

    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        work.set_alignment_mask(self.inner.mask);
        if work.depth() == 1 {
            let data = self.buffers[0].as_ptr();
            return run_each(work, data, 1, |request| self.one(request));
        }
        // All slots, completed in reverse order.
        let mut free: Vec<u32> = (0..work.depth()).collect();
        let mut queue = Vec::new();
        loop {
            while let Some(request) = work.fill(&mut free) {
                queue.push(request);
            }
            if queue.is_empty() {
                if work.wait_pending() {
                    continue;
                }
                return work.finish();
            }
            for request in std::mem::take(&mut queue).into_iter().rev() {
                let result = self.one(request);
                match work.done(
                    request.slot,
                    result,
                    1,
                    self.buffers[request.slot as usize].as_ptr(),
                ) {
                    None => free.push(request.slot),
                    Some(rest) => queue.push(rest),
                }
            }
        }
    }
}

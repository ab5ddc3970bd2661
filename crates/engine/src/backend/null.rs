//! `null`: no operation at all; measures the overhead of iotui's loop.

use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::plan::{DataPath, Fio, FioEngine, Info, Job, Op};

pub struct Null;

/// The equivalent in fio.
const FIO: Fio =
    Fio::Engine(FioEngine::new("null", Some(0), &[]).with_note("no bytes move: fio's own cost"));

impl Backend for Null {
    fn info(&self) -> &'static Info {
        &Info {
            id: "null",
            title: "nothing",
            about: "does nothing: the overhead of iotui's loop",
            doc: "Every operation returns at once. Its rate is the highest that iotui can measure, \
                  and its time per operation is the overhead that iotui adds to every other \
                  backend: a few nanoseconds.",
            data_path: DataPath::LoopOnly,
            ops: &[Op::Read, Op::Write, Op::Seek],
            fio: FIO,
            ..Info::MOVES_NOTHING
        }
    }

    fn open(&self, _: &Target, _: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(NullLane))
    }
}

struct NullLane;

impl Lane for NullLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // Hidden from the optimiser, so that the loop stays a loop.
        run_each(work, std::ptr::null(), 0, |request| std::hint::black_box(request.len as isize))
    }
}

//! `null`: no operation at all; measures the overhead of iotui's loop.

use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Info, Job};

pub struct Null;

impl Backend for Null {
    fn info(&self) -> &'static Info {
        &catalog::NULL
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

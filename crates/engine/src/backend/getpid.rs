//! `getpid`: getpid(2), a system call that does nothing.

use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::calls;
use crate::with_fill;

pub struct Getpid;

impl Backend for Getpid {
    fn info(&self) -> &'static Info {
        &catalog::GETPID
    }

    fn open(&self, _: &Target, _: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(GetpidLane))
    }
}

struct GetpidLane;

impl GetpidLane {
    fn run_loop<const FILL: bool>(work: &mut Work) -> Result<(), BackendError> {
        // The process id is above 0; the result is 0 bytes, or -errno.
        run_each(work, std::ptr::null(), 1, |_| calls::getpid::<FILL>().min(0))
    }
}

impl Lane for GetpidLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        with_fill!(FILL => GetpidLane::run_loop::<FILL>(work))
    }
}

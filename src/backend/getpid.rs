//! `getpid`: getpid(2), the system call that does nothing.

use super::drive::each;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::plan::{Info, Job};
use crate::sys::calls;
use crate::with_fill;

pub struct Getpid;

impl Backend for Getpid {
    fn info(&self) -> &'static Info {
        &Info {
            id: "getpid",
            title: "getpid(2)",
            about: "asks for the number of this process: the price of entering the kernel, without a file",
            doc: "One getpid per operation, made as a real system call each time. It looks at no file and moves no data: what it costs is the way \
                  into the kernel and back, which every other call pays too. lseek (seek) costs that and finding the open file.",
            relative_cost: 1.2,
            ..Info::MOVES_NOTHING
        }
    }

    fn check(&self, _: &Target, _: &Job) -> Result<(), Unsupported> {
        Ok(())
    }

    fn open(&self, _: &Target, _: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(GetpidLane))
    }
}

struct GetpidLane;

impl GetpidLane {
    fn go<const FILL: bool>(work: &mut Work) -> Result<(), BackendError> {
        // The answer is a number above 0; as a result it is 0 bytes, or -errno.
        each(work, std::ptr::null(), 1, |_| calls::getpid::<FILL>().min(0))
    }
}

impl Lane for GetpidLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        with_fill!(FILL => GetpidLane::go::<FILL>(work))
    }
}

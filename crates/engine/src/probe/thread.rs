//! `thread`: creating a thread and joining it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::{io, ptr};

use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;

pub(super) struct Thread;

impl ProbeKind for Thread {
    const INFO: &'static ProbeInfo = &catalog::THREAD;
    type Params = ();

    fn params(_: &mut ParamSource) -> Option<Self::Params> {
        Some(())
    }

    fn estimate(_: &(), _: &ProbeContext) -> Option<Estimate> {
        let reason =
            "a task created without memory of its own, a reused stack, and two switches".into();
        Some(Estimate { low: 8e3, high: 80e3, reason })
    }

    fn open(_: &(), context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        Ok(Box::new(Threads(context.clone())))
    }
}

struct Threads(ProbeContext);

extern "C" fn thread_body(_: *mut c_void) -> *mut c_void {
    ptr::null_mut()
}

fn create_and_join() -> Result<(), ProbeError> {
    // SAFETY: the thread gets no data, and is joined before its handle goes out of scope.
    let error = unsafe {
        let mut thread = std::mem::zeroed();
        match libc::pthread_create(&mut thread, ptr::null(), thread_body, ptr::null_mut()) {
            0 => libc::pthread_join(thread, ptr::null_mut()),
            error => error,
        }
    };
    if error == 0 {
        Ok(())
    } else {
        Err(ProbeError::in_call("pthread_create")(io::Error::from_raw_os_error(error)))
    }
}

impl Gauge for Threads {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let mut done = Ok(());
        let batch = BatchTime::of_block(count as f64, || {
            done =
                (0..count).try_for_each(|_| create_and_join().and_then(|()| self.0.check_stop()));
        });
        done.map(|()| batch)
    }
}

//! `thread`: making a thread and joining it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::{io, ptr};

use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Thread;

static INFO: ProbeInfo = ProbeInfo {
    id: "thread",
    group: Group::Cpu,
    title: "thread creation",
    about: "a thread made and joined, by pthread_create and pthread_join",
    doc: "Makes a thread that ends at once, and joins it. The C library keeps the stacks of ended threads and gives them out again, so after \
          the first one this is a task for the kernel, a switch to it and one back; no memory is copied, which is the difference to fork. \
          The thread starts on the same CPU.",
    makes_files: false,
    params: &[],
};

impl Probe for Thread {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        vec![ProbeCell::new(INFO.id, [])]
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        let reason =
            "a task made without its memory, a stack that is there already, and two switches"
                .into();
        cell.params.is_empty().then_some(Estimate { low: 8e3, high: 80e3, reason })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        if cell.params.is_empty() {
            Ok(Box::new(Threads(site.clone())))
        } else {
            Err(ProbeError::unknown(cell))
        }
    }
}

struct Threads(Site);

extern "C" fn nothing(_: *mut c_void) -> *mut c_void {
    ptr::null_mut()
}

fn one() -> Result<(), ProbeError> {
    // SAFETY: the thread gets no memory, and is joined before its handle is gone.
    let error = unsafe {
        let mut thread = std::mem::zeroed();
        match libc::pthread_create(&mut thread, ptr::null(), nothing, ptr::null_mut()) {
            0 => libc::pthread_join(thread, ptr::null_mut()),
            error => error,
        }
    };
    if error == 0 {
        Ok(())
    } else {
        Err(ProbeError::of("pthread_create")(io::Error::from_raw_os_error(error)))
    }
}

impl Gauge for Threads {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let mut done = Ok(());
        let took = Took::whole(count as f64, || {
            done = (0..count).try_for_each(|_| one().and_then(|()| self.0.go_on()));
        });
        done.map(|()| took)
    }
}

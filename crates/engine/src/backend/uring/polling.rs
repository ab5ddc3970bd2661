//! `+iopoll`: whether the device can be polled.

use std::sync::atomic::AtomicBool;

use super::{Uring, UringLane};
use crate::backend::access_pattern::Share;
use crate::backend::drive;
use crate::backend::error::{BackendError, Unsupported};
use crate::backend::kind::Backend;
use crate::backend::target::Target;
use crate::backend::work::{Published, Work};
use crate::plan::{Job, Op, Sync};

/// Why a device that is not polled cannot be measured so.
pub(super) const REFUSED: &str = "+iopoll: the device has no poll queues, or its file system does not poll (EOPNOTSUPP); give \
     it poll queues (NVMe: nvme.poll_queues=N on the kernel's command line), or leave out +iopoll";

/// Reads the first sector: only a request shows whether the device is polled. Any other error is
/// left to the run, and so is a file without data.
pub(super) fn check(target: &Target, job: &Job) -> Result<(), Unsupported> {
    let block = u64::from(target.align(job));
    if target.size < block {
        return Ok(());
    }
    let job = Job {
        op: Op::Read,
        block,
        span: block,
        count: None,
        threads: 1,
        depth: 1,
        xor: false,
        sync: Sync::None,
        mix: None,
        ..job.clone()
    };
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let share = Share::for_lane(&job, 0, 1, 0);
    let ran = UringLane::open(target, &job, 0).and_then(|mut lane| {
        drive::run(&mut lane, &mut Work::new(Uring.assignment(&job, share, &stop, &published)))
    });
    match ran {
        Err(BackendError::Unsupported(why)) => Err(why),
        _ => Ok(()),
    }
}

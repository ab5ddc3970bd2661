//! `fsync`: writing data and waiting until it is on the device.

use std::os::unix::fs::FileExt;

use nix::unistd::{fdatasync, fsync};

use super::files::{
    DeviceSpeed, check_disk_space, create_filled_to_commit, describe_file_system, test_device,
    test_folder, unpin,
};
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::catalog::FSYNC_FILE_BYTES;
use crate::host::Below;
use crate::record::Estimate;
use crate::sys::buffer::Aligned;
use crate::sys::disk::DiskStats;
use crate::sys::scratch::Scratch;
use crate::units::show_bytes;

param_rows! {
    /// The calls; the value is true if only the data is synced.
    CALLS: [bool];
    "fsync" => false, (1.0, 3.0), "data, then a journal commit, each with its flush";
    "fdatasync" => true, (1.0, 2.0), "data and one flush";
}

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let bytes = source.number("bytes")?;
    Some(Box::new(Fsync { call: source.row("call", CALLS)?, bytes }))
}

struct Fsync {
    call: &'static ParamRow<bool>,
    /// Bytes written before each call.
    bytes: u64,
}

impl KnownCell for Fsync {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        check_disk_space(context, FSYNC_FILE_BYTES)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let Fsync { call, bytes } = *self;
        let DeviceSpeed { byte, flush, why, .. } = test_device(context);
        if bytes == 0 {
            return Some(Estimate {
                low: 100.0,
                high: flush.1,
                reason: "a system call with nothing to write; some file systems flush anyway"
                    .into(),
            });
        }
        let (low, high) = (
            flush.0 * call.range.0 + bytes as f64 * byte.0,
            flush.1 * call.range.1 + bytes as f64 * byte.1,
        );
        Some(Estimate { low, high, reason: format!("{}; {why}", call.why) })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        unpin(context);
        let file = create_filled_to_commit(context, FSYNC_FILE_BYTES, self.bytes)?;
        let device = Below::of(file.file()).first_device();
        let data = Aligned::filled(self.bytes as usize, 0xa5)
            .map_err(ProbeError::in_call("memory for the data"))?;
        Ok(Box::new(FileSyncs {
            only_data: self.call.value,
            data,
            at: 0,
            file,
            done: 0,
            device_bytes: Some(0),
            device,
            context: context.clone(),
        }))
    }
}

struct FileSyncs {
    only_data: bool,
    data: Aligned,
    /// Offset of the next write.
    at: u64,
    file: Scratch,
    done: u64,
    /// Bytes that the device wrote during the batches, for any process.
    device_bytes: Option<u64>,
    /// The device (major, minor) that is written to.
    device: Option<(u64, u64)>,
    context: ProbeContext,
}

impl FileSyncs {
    fn write_and_sync(&mut self) -> Result<(), ProbeError> {
        self.context.check_stop()?;
        let (file, len) = (self.file.file(), self.data.len() as u64);
        if len > 0 {
            if self.at + len > FSYNC_FILE_BYTES {
                self.at = 0;
            }
            file.write_all_at(&self.data, self.at).map_err(ProbeError::in_call("write"))?;
            self.at += len;
        }
        if self.only_data {
            fdatasync(file).map_err(ProbeError::in_call("fdatasync"))
        } else {
            fsync(file).map_err(ProbeError::in_call("fsync"))
        }
    }

    fn device_writes(&self) -> Option<u64> {
        let (major, minor) = self.device?;
        DiskStats::read(major, minor).ok().map(|stats| stats.write_bytes)
    }
}

impl Gauge for FileSyncs {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let before = self.device_writes();
        let batch = BatchTime::of_work(count as f64, || {
            (0..count).try_for_each(|_| self.write_and_sync())
        })?;
        let moved = before.and_then(|before| Some(self.device_writes()?.saturating_sub(before)));
        self.device_bytes = self.device_bytes.zip(moved).map(|(all, more)| all + more);
        self.done += count;
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        let each = self.device_bytes.filter(|_| self.done > 0).map(|bytes| {
            format!(
                "the device wrote {} per call, including writes of other processes",
                show_bytes(bytes / self.done)
            )
        });
        describe_file_system(self.file.file()).into_iter().chain(each).collect()
    }

    fn max_batch(&self) -> u64 {
        1 << 16
    }
}

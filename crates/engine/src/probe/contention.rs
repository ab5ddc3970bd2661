//! `contention`: processes that read from the same device at the same time, each its own file.

use super::files::{
    BLOCK, check_disk_space, create_filled, describe_file_system, drop_from_cache, test_device,
    test_folder,
};
use super::read_worker::{ReadPart, ReadWorker};
use super::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::catalog::MAX_PROCESSES;
use crate::record::Estimate;
use crate::sys::scratch::Scratch;
use crate::units::show_bytes;

/// File size of each process.
const FILE_BYTES: u64 = 16 << 20;

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    // Powers of two up to twice the CPUs, and at least 4.
    let processes = source.number_among("processes", None, &|context, _| {
        let most = (context.cpus.len() as u64 * 2).clamp(4, MAX_PROCESSES);
        (0..6).map(|power| 1 << power).take_while(|count| *count <= most).collect()
    })?;
    Some(Box::new(Contention { processes }))
}

struct Contention {
    processes: u64,
}

impl KnownCell for Contention {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        context.check_memory(self.processes * FILE_BYTES)?;
        check_disk_space(context, self.processes * FILE_BYTES)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let (count, device) = (self.processes as f64, test_device(context));
        // One process has the CPU and the device to itself; at worst each waits for all others.
        let low = 300.0 + BLOCK as f64 * device.byte.0;
        let high = (2500.0 + BLOCK as f64 * device.byte.1) * count;
        let reason = format!(
            "a system call, a copy and 4 KiB at device speed, shared by {count}: {}",
            device.why
        );
        Some(Estimate { low, high, reason })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let files = (0..self.processes)
            .map(|seed| create_filled(context, FILE_BYTES, seed))
            .collect::<Result<Vec<_>, _>>()?;
        let readers = files
            .iter()
            .map(|file| ReadWorker::fork(file.file(), BLOCK, None, context))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(ParallelReads {
            readers,
            files,
            all: ReadPart::default(),
            context: context.clone(),
        }))
    }
}

struct ParallelReads {
    readers: Vec<ReadWorker>,
    files: Vec<Scratch>,
    /// Totals of all batches.
    all: ReadPart,
    context: ProbeContext,
}

impl Gauge for ParallelReads {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (mut nanos, mut blocks) = (0, 0);
        for _ in 0..count {
            for file in &self.files {
                drop_from_cache(file.file(), FILE_BYTES, &self.context)?;
            }
            self.readers.iter_mut().try_for_each(|reader| reader.request(0, FILE_BYTES))?;
            for reader in &mut self.readers {
                let part = reader.wait(&self.context)?;
                (nanos, blocks) = (nanos + part.nanos, blocks + part.bytes.div_ceil(BLOCK as u64));
                self.all.bytes += part.bytes;
                self.all.device_bytes += part.device_bytes;
            }
        }
        // Clock readings are not subtracted: each process times 4096 blocks with one pair.
        Ok(BatchTime { nanos, amount: blocks as f64, ..BatchTime::default() })
    }

    fn evidence(&self) -> Vec<String> {
        let ReadPart { bytes, device_bytes, .. } = self.all;
        let read = format!(
            "verified cold before each batch; the kernel accounted {} of device reads for {} read, \
             on any CPU",
            show_bytes(device_bytes),
            show_bytes(bytes)
        );
        self.files
            .first()
            .and_then(|file| describe_file_system(file.file()))
            .into_iter()
            .chain([read])
            .collect()
    }

    fn max_batch(&self) -> u64 {
        1
    }
}

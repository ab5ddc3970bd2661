//! How fast the device under a folder takes a write: a commit that returns much sooner cannot have
//! waited for it, and a flush that takes no longer stored nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::sys::buffer::Buffer;
use crate::sys::clock::monotonic_nanos;
use crate::sys::held_file::HeldFile;
use crate::sys::scratch::Scratch;

const WRITES: u32 = 64;
/// No more writes are made after this time, but always one.
const ENOUGH: Duration = Duration::from_millis(200);
/// Bytes of a write, where the device does not need more.
const BLOCK: usize = 4096;

/// Times of some direct writes of one block, each over the last and none followed by a sync,
/// nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WriteTimes {
    pub fastest: u64,
    pub median: u64,
}

/// Returns `None` where the folder has no direct I/O.
pub(super) fn time_writes(folder: &Path, align: Option<u32>) -> Option<WriteTimes> {
    let mut times = measure(folder, BLOCK.max(align.unwrap_or(0) as usize)).ok()?;
    times.sort_unstable();
    Some(WriteTimes { fastest: *times.first()?, median: *times.get(times.len() / 2)? })
}

fn measure(folder: &Path, block: usize) -> io::Result<Vec<u64>> {
    let scratch = Scratch::create(folder)?;
    let held = HeldFile::new(scratch.file().try_clone()?, scratch.name())?;
    let file = held.open(File::options().read(true).write(true), libc::O_DIRECT, true, true)?;
    let mut data = Buffer::for_direct(block)?.filled(1);
    let data = data.bytes_mut();
    file.write_all_at(data, 0)?;
    file.sync_all()?;
    let (begin, mut times) = (monotonic_nanos(), Vec::new());
    for _ in 0..WRITES {
        let start = monotonic_nanos();
        let written = file.write_at(data, 0)?;
        let end = monotonic_nanos();
        if written == data.len() {
            times.push(end - start);
        }
        if end - begin > ENOUGH.as_nanos() as u64 {
            break;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing::skip;

    #[test]
    fn a_write_to_the_device_takes_longer_than_a_call() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        match time_writes(folder.path(), Some(512)) {
            Some(of) => assert!(of.fastest > 100 && of.median >= of.fastest, "{of:?}"),
            None => skip("no direct I/O in the build folder"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(time_writes(&folder.path().join("missing"), None), None);
    }
}

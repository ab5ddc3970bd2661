//! How fast the device under a folder takes a write: a commit that returns much sooner cannot have
//! waited for it.

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

/// Returns the shortest time of some direct writes of one block, each over the last, in
/// nanoseconds; none is followed by a sync. `None` where the folder has no direct I/O.
pub(super) fn fastest_write(folder: &Path, align: Option<u32>) -> Option<u64> {
    measure(folder, BLOCK.max(align.unwrap_or(0) as usize)).ok()?
}

fn measure(folder: &Path, block: usize) -> io::Result<Option<u64>> {
    let scratch = Scratch::create(folder)?;
    let held = HeldFile::new(scratch.file().try_clone()?, scratch.name())?;
    let file = held.open(File::options().read(true).write(true), libc::O_DIRECT, true, true)?;
    let mut data = Buffer::for_direct(block)?.filled(1);
    let data = data.bytes_mut();
    file.write_all_at(data, 0)?;
    file.sync_all()?;
    let (begin, mut fastest) = (monotonic_nanos(), None);
    for _ in 0..WRITES {
        let start = monotonic_nanos();
        let written = file.write_at(data, 0)?;
        let end = monotonic_nanos();
        if written == data.len() {
            fastest = Some(fastest.map_or(u64::MAX, |least: u64| least).min(end - start));
        }
        if end - begin > ENOUGH.as_nanos() as u64 {
            break;
        }
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing::skip;

    #[test]
    fn a_write_to_the_device_takes_longer_than_a_call() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        match fastest_write(folder.path(), Some(512)) {
            Some(nanos) => assert!(nanos > 100, "{nanos} ns"),
            None => skip("no direct I/O in the build folder"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(fastest_write(&folder.path().join("missing"), None), None);
    }
}

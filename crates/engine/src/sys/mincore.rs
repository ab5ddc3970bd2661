//! Measures the page cache through a mapping: used without cachestat(2), and the only method on
//! overlays and FUSE, whose files have no pages of their own if another file holds them.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

use super::fd;

/// Pages per call: 256 MiB of address space and a result of 64 KiB.
const CHUNK: u64 = 1 << 16;
/// The last folio may extend past the end of the file, but never by more than this.
const LARGEST_FOLIO: u64 = 1 << 30;

/// Counts the cached pages among `pages` pages of a regular file or block device, starting at page
/// number `first`.
///
/// For files that the user neither owns nor may write, the kernel reports every page as resident. A
/// page past the end of the file reveals this.
///
/// # Errors
/// EPERM in that case; the errno of mmap(2) (ENODEV: cannot be mapped) or mincore(2).
pub(crate) fn cached_pages(file: &File, first: u64, pages: u64) -> io::Result<u64> {
    if pages == 0 {
        return Ok(0);
    }
    let behind = fd::size(file)?.checked_next_multiple_of(LARGEST_FOLIO);
    let refused = match behind {
        Some(behind) => count_resident(file, behind / fd::page_size(), 1)? != 0,
        None => true,
    };
    if refused {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    let mut cached = 0;
    let mut done = 0;
    while done < pages {
        let now = CHUNK.min(pages - done);
        cached += count_resident(file, first + done, now)?;
        done += now;
    }
    Ok(cached)
}

fn count_resident(file: &File, first: u64, pages: u64) -> io::Result<u64> {
    let page = fd::page_size();
    let map = map(file, first * page, pages * page)?;
    let mut answer = super::buffer::zeroed(pages as usize)?;
    // SAFETY: the range is our mapping, `answer` has one byte per page, and no page is touched.
    let done =
        unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), answer.as_mut_ptr()) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer.iter().map(|byte| u64::from(byte & 1)).sum())
}

fn map(file: &File, offset: u64, len: u64) -> io::Result<Mmap> {
    // SAFETY: nothing reads through this mapping, so changes or truncation of the file are
    // harmless.
    unsafe { MmapOptions::new().offset(offset).len(len as usize).map(file) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn refusal_is_noticed() {
        let file = File::open("/proc/self/exe").unwrap();
        let others = File::open("/etc/passwd").unwrap();
        for file in [file, others] {
            // Another test may just have dropped the machine's caches.
            file.read_at(&mut [0; 1], 0).unwrap();
            let meta = file.metadata().unwrap();
            let user = nix::unistd::geteuid();
            let allowed = user.is_root() || meta.uid() == user.as_raw() || meta.mode() & 0o022 != 0;
            let answer = cached_pages(&file, 0, meta.len().div_ceil(fd::page_size()));
            match answer {
                Ok(cached) => assert!(cached > 0 || !allowed),
                Err(error) => {
                    assert!(!allowed || error.raw_os_error() != Some(libc::EPERM), "{error}")
                }
            }
            if !allowed {
                assert_eq!(
                    cached_pages(&file, 0, 1).unwrap_err().raw_os_error(),
                    Some(libc::EPERM)
                );
            }
        }
    }

    /// stat(2) reports length 0 for a device, so its first page would be mistaken for the one past
    /// its end.
    #[test]
    fn a_device_has_a_length_too() {
        let names = std::fs::read_dir("/sys/block")
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name());
        let open = |name| File::open(std::path::Path::new("/dev").join(name)).ok();
        fn read(file: &File) -> bool {
            file.read_at(&mut [0; 1], 0).is_ok_and(|got| got == 1)
        }
        let Some(device) = names.filter_map(open).find(read) else {
            return crate::sys::testing::skip("no block device may be read");
        };
        match cached_pages(&device, 0, 1) {
            Ok(cached) => assert_eq!(cached, 1),
            Err(error) => assert!(!nix::unistd::geteuid().is_root(), "{error}"),
        }
    }

    /// Whole pages, since with small blocks a partially written page does not count.
    #[test]
    fn pages_are_counted_over_chunks_and_to_the_last() {
        let (file, page) = (tempfile::tempfile().unwrap(), fd::page_size());
        let last = CHUNK + 5;
        file.set_len((last + 1) * page).unwrap();
        let data = vec![1; page as usize];
        for at in [0, 7, last] {
            file.write_all_at(&data, at * page).unwrap();
        }
        let count = |first, pages| cached_pages(&file, first, pages).unwrap();
        // A large folio may include neighbouring pages.
        assert!((3..=96).contains(&count(0, last + 1)), "{}", count(0, last + 1));
        assert_eq!((count(7, 1), count(last, 1), count(CHUNK / 2, 1), count(7, 0)), (1, 1, 0, 0));
    }
}

//! Files to measure: on the file system of the target folder, because the page cache of a tmpfs
//! works differently.

use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use iotui::backend::Target;
use iotui::stats::random;
use iotui::sys::content::FileData;
use iotui::sys::fd::HeldFile;
use iotui::sys::{fill, residency};

/// A named file that is removed on drop.
pub struct Temporary {
    pub path: PathBuf,
    pub file: File,
    pub len: u64,
}

/// The size of the writes that fill a file, and so of its folios in the page cache.
#[derive(Clone, Copy, PartialEq)]
pub enum Pieces {
    /// As iotui itself fills its files.
    Large,
    /// One page each.
    Page,
}

impl Pieces {
    pub fn bytes(self) -> usize {
        match self {
            Pieces::Large => 4 << 20,
            Pieces::Page => 4 << 10,
        }
    }
}

impl Temporary {
    pub fn new(name: &str, len: u64, pieces: Pieces) -> Temporary {
        Temporary::new_in(Path::new(env!("CARGO_TARGET_TMPDIR")), name, len, pieces)
    }

    pub fn new_in(folder: &Path, name: &str, len: u64, pieces: Pieces) -> Temporary {
        let path = folder.join(format!("{name}-{}-{}", pieces.bytes(), std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("a file in the target folder");
        let temporary = Temporary { path, file, len };
        temporary.write(pieces);
        temporary
    }

    /// Writes random bytes, synced, into fresh pages.
    pub fn write(&self, pieces: Pieces) {
        self.file.set_len(0).expect("empty the file");
        if pieces == Pieces::Large {
            fill::fill_file(&self.file, self.len, FileData::random(1), &|| false, &mut |_| {
                ControlFlow::Continue(())
            })
            .expect("fill the file");
            return;
        }
        let mut page = vec![0; Pieces::Page.bytes()];
        for at in (0..self.len).step_by(page.len()) {
            random::fill(1, at, &mut page);
            self.file.write_all_at(&page, at).expect("fill the file");
        }
        self.file.sync_data().expect("fill the file");
    }

    /// Returns the target as a backend opens it.
    pub fn target(&self) -> Target {
        Target::plain(self.path.clone(), self.len)
    }

    /// Returns the target as a backend opens it that writes.
    pub fn target_to_write(&self) -> Target {
        let file = self.file.try_clone().expect("a descriptor");
        let held = HeldFile::new(file, Some(self.path.clone())).expect("an open file");
        Target { held: Some(held), writable: true, ..self.target() }
    }

    /// Returns the share of its pages in the page cache.
    pub fn resident(&self) -> f64 {
        residency::residency(&self.file, 0, self.len).map_or(1.0, |r| r.share())
    }

    /// Rewrites the file if the kernel evicted pages: reading them back would create different
    /// folios.
    pub fn warm(&self, pieces: Pieces) {
        if self.resident() < 1.0 {
            eprintln!("{} was evicted, written again", self.path.display());
            self.write(pieces);
        }
    }

    /// Returns the share of the file that a touched mapping maps by 2 MiB page-table entries.
    pub fn mapped_huge(&self) -> f64 {
        // SAFETY: the file is this process's own and does not shrink while it is mapped.
        let map = unsafe { memmap2::Mmap::map(&self.file) }.expect("map the file");
        std::hint::black_box(map.iter().step_by(4096).fold(0, |sum, byte| sum ^ byte));
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let start = format!("{:x}-", map.as_ptr() as usize);
        let lines = smaps.lines().skip_while(|line| !line.starts_with(&start));
        let kib = lines.filter_map(|line| line.strip_prefix("FilePmdMapped:")).next();
        let kib: f64 =
            kib.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(f64::NAN);
        kib * 1024.0 / self.len as f64
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

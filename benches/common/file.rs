//! Files to measure: on the file system of the target folder, since the page cache of a tmpfs is another thing.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use iotui::backend::Target;
use iotui::sys::{fill, random, residency};

/// A named file that is removed at the end.
pub struct Temporary {
    pub path: PathBuf,
    pub file: File,
    pub len: u64,
}

/// The size of the writes that make a file, and so of its folios in the page cache.
#[derive(Clone, Copy, PartialEq)]
pub enum Pieces {
    /// As iotui itself fills its files.
    Large,
    /// One page each.
    Page,
}

impl Temporary {
    pub fn new(name: &str, len: u64, pieces: Pieces) -> Temporary {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).expect("a file in the target folder");
        let temporary = Temporary { path, file, len };
        temporary.write(pieces);
        temporary
    }

    /// Random bytes, durable.
    pub fn write(&self, pieces: Pieces) {
        if pieces == Pieces::Large {
            fill::fill_random(&self.file, self.len, 1, &AtomicBool::new(false), &mut |_| {}).expect("fill the file");
            return;
        }
        let mut page = vec![0; 4096];
        for at in (0..self.len).step_by(page.len()) {
            random::fill(1, at, &mut page);
            self.file.write_all_at(&page, at).expect("fill the file");
        }
        self.file.sync_data().expect("fill the file");
    }

    /// As a backend opens it.
    pub fn target(&self) -> Target {
        Target { path: self.path.clone(), size: self.len, writable: false, direct_align: None, direct_refused: None }
    }

    /// Share of its pages in the page cache.
    pub fn resident(&self) -> f64 {
        residency::residency(&self.file, 0, self.len).map_or(1.0, |r| r.share())
    }

    /// Reads what the kernel took out of the cache meanwhile.
    pub fn warm(&self) {
        if self.resident() < 1.0 {
            let mut file = File::open(&self.path).expect("the file is there");
            let mut block = vec![0; 1 << 20];
            while file.read(&mut block).expect("read the file") > 0 {}
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

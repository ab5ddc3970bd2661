//! Parts of stacks that no tool can make: the bench starts itself with one of these words.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::fuse::FaultyDisk;

/// Makes what the first argument asks for; returns whether it asks for anything.
pub fn run(arguments: &[String]) -> bool {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["memfd", size] => keep_in_memory(mebibytes(size)),
        ["lose", from, size] => keep_losing(mebibytes(from), mebibytes(size)),
        ["mount-file", kind, image, at] => mount_file(kind, Path::new(image), Path::new(at)),
        _ => return false,
    };
    done.unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    true
}

fn mebibytes(text: &str) -> u64 {
    text.parse::<u64>().expect("a number of MiB") << 20
}

/// Keeps a file without a place, of random bytes, and prints by which name others open it.
fn keep_in_memory(size: u64) -> io::Result<()> {
    let file = nix::sys::memfd::memfd_create(c"planted", nix::sys::memfd::MFdFlags::empty())?;
    let mut file = File::from(file);
    io::copy(&mut File::open("/dev/urandom")?.take(size), &mut file)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    println!("/proc/{}/fd/{number}", std::process::id());
    wait()
}

/// Keeps a file on a disk that loses what is written to it from an offset on, and prints its name.
fn keep_losing(from: u64, size: u64) -> io::Result<()> {
    let disk = FaultyDisk::mount().ok_or(io::ErrorKind::Unsupported)?;
    disk.lose_from(from);
    let file = disk.path().join("img");
    File::create(&file)?.set_len(size)?;
    println!("{}", file.display());
    wait()
}

/// Waits until the process is ended.
fn wait() -> io::Result<()> {
    loop {
        std::thread::park();
    }
}

/// Mounts the file system of an image without a loop device between.
fn mount_file(kind: &str, image: &Path, at: &Path) -> io::Result<()> {
    fs::create_dir_all(at)?;
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).expect("no zero byte");
    let (image, at, kind) = (text(image), text(at), CString::new(kind)?);
    // SAFETY: mount(2) reads NUL-terminated strings, which outlive the call.
    let done = unsafe {
        libc::mount(image.as_ptr(), at.as_ptr(), kind.as_ptr(), libc::MS_RDONLY, std::ptr::null())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

//! Files that iotui makes and finds: replaced atomically, locked while they are used, with random
//! names, and removed however a process ends; mounts and open files, as the kernel describes them.
#![forbid(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

pub mod atomic_file;
mod caretaker;
pub mod fd;
pub mod file_lock;
pub mod folder;
mod home;
pub mod mounts;
pub mod names;
pub mod pause;
pub mod read_text;
pub mod scratch;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod unnamed_file;

pub use home::{Home, create_private_folder};

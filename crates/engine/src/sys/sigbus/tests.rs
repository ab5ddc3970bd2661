use super::*;
use crate::sys::testing;
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::ptr;

const LEN: usize = 8 << 20;

fn mapped() -> (File, Mmap) {
    let file = tempfile::tempfile().unwrap();
    file.set_len(LEN as u64).unwrap();
    // SAFETY: no one else has access to the file; it is truncated below only while its pages are
    // read through raw pointers.
    let map = unsafe { Mmap::map(&file).unwrap() };
    (file, map)
}

/// Reads a byte of each page like a worker; stops at the flag. Returns the number of pages read.
fn read_pages(map: &Mmap, guard: &Guard) -> usize {
    let mut read = 0;
    for at in (0..LEN).step_by(4096) {
        // SAFETY: inside the mapping; a raw read, since the data may change.
        unsafe { ptr::read_volatile(map.as_ptr().add(at)) };
        read += 1;
        if guard.hit() {
            break;
        }
    }
    read
}

#[test]
fn truncation_under_readers_is_survived() {
    let (file, map) = mapped();
    // SAFETY: the guard is dropped before the mapping.
    let guard = unsafe { Guard::new(map.as_ptr(), LEN, false).unwrap() };
    assert!(!guard.hit() && guard.first_fault().is_none());
    let passes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (guard, map, passes) = (&guard, &map, &passes);
            scope.spawn(move || {
                while !guard.hit() {
                    read_pages(map, guard);
                    passes.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while passes.load(Ordering::Relaxed) < 3 {
            std::thread::yield_now();
        }
        file.set_len(1 << 20).unwrap();
    });
    let fault = guard.first_fault().unwrap();
    assert!((1 << 20..LEN as u64).contains(&fault), "{fault}");
    // The whole rest is now readable.
    for at in ((fault as usize)..LEN).step_by(4096) {
        // SAFETY: inside the mapping.
        assert_eq!(unsafe { ptr::read_volatile(map.as_ptr().add(at)) }, 0);
    }
    drop(guard);
}

#[test]
fn a_writable_mapping_stays_writable() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(LEN as u64).unwrap();
    // SAFETY: no one else has access to the file.
    let mut map = unsafe { MmapMut::map_mut(&file).unwrap() };
    // SAFETY: the guard is dropped before the mapping.
    let guard = unsafe { Guard::new(map.as_ptr(), LEN, true).unwrap() };
    file.set_len(0).unwrap();
    // SAFETY: inside the mapping.
    unsafe { ptr::write_volatile(map.as_mut_ptr().add(5000), 7) };
    assert_eq!((guard.hit(), guard.first_fault()), (true, Some(5000)));
    // SAFETY: inside the mapping.
    assert_eq!(unsafe { ptr::read_volatile(map.as_ptr().add(5000)) }, 7);
    drop(guard);
}

#[test]
fn guard_slots_are_freed() {
    let (_file, map) = mapped();
    for _ in 0..3 {
        // SAFETY: the guards are dropped before the mapping.
        let mut guards: Vec<_> = (0..SLOTS + 1)
            .map_while(|_| unsafe { Guard::new(map.as_ptr(), LEN, false).ok() })
            .collect();
        assert!(guards.len() > SLOTS / 2 && guards.len() <= SLOTS, "{}", guards.len());
        guards.truncate(1);
        assert!(!guards[0].hit());
    }
    for (start, len) in [
        (map.as_ptr(), 0),
        (map.as_ptr().wrapping_add(1), 4096),
        (ptr::null(), 4096),
        (map.as_ptr(), usize::MAX),
    ] {
        // SAFETY: refused before anything is registered.
        let refused = unsafe { Guard::new(start, len, false) };
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

/// A child process that faults in a mapping that is not (or no longer) registered dies of SIGBUS.
#[test]
fn an_unregistered_mapping_still_dies() {
    const NAME: &str = "sys::sigbus::tests::an_unregistered_mapping_still_dies";
    let roles = [
        "never installed",
        "another one registered",
        "no longer registered",
        "sent, default action",
    ];
    let Some(role) = roles.iter().find(|role| testing::is_child(role)) else {
        for role in roles {
            let output = testing::child(NAME, role);
            assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{role}: {output:?}");
        }
        return;
    };
    let (file, map) = mapped();
    let (_other_file, other) = mapped();
    match *role {
        "another one registered" => {
            // SAFETY: `other` outlives the guard.
            std::mem::forget(unsafe { Guard::new(other.as_ptr(), LEN, false).unwrap() });
        }
        // SAFETY: the guard is dropped immediately, before the mapping.
        "no longer registered" => drop(unsafe { Guard::new(map.as_ptr(), LEN, false).unwrap() }),
        "sent, default action" => {
            // SAFETY: SIG_DFL installs no handler; the handler of `install` may run anywhere;
            // raise(3) touches no memory.
            unsafe {
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
                install().unwrap();
                libc::raise(libc::SIGBUS);
            }
        }
        _ => {}
    }
    file.set_len(0).unwrap();
    // SAFETY: inside the mapping; the process is expected to die here.
    unsafe { ptr::read_volatile(map.as_ptr()) };
    unreachable!("the read came back");
}

//! The barest io_uring loop: registered file and buffer, all free slots filled, one enter, all
//! completions taken.

use std::fs::File;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};
use iotui::sys::buffer::Buffer;
use iotui::sys::clock::monotonic_nanos;
use iotui::sys::ring::Entrance;
use iotui_engine::with_fill;

pub struct BareRing {
    /// Dropped before the ring.
    entrance: Entrance,
    ring: IoUring,
    depth: u32,
    block: u64,
    buffer: Buffer,
    _file: File,
}

impl BareRing {
    pub fn new(file: File, depth: u32, block: u64) -> BareRing {
        // As the lane sets up its ring from Linux 6.1 on; plain before.
        let best = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(depth);
        let ring = best.or_else(|_| IoUring::new(depth)).expect("io_uring");
        let buffer = Buffer::new(depth as usize * block as usize).expect("memory");
        let part = libc::iovec { iov_base: buffer.ptr().cast(), iov_len: buffer.len() };
        ring.submitter().register_files(&[file.as_raw_fd()]).expect("register the file");
        // SAFETY: the buffer is dropped after the ring.
        unsafe { ring.submitter().register_buffers(&[part]) }.expect("register the buffer");
        BareRing {
            entrance: Entrance::register(ring.as_raw_fd()),
            ring,
            depth,
            block,
            buffer,
            _file: file,
        }
    }

    /// Returns the nanoseconds per operation of `count` sequential reads.
    #[inline(never)]
    pub fn run(&mut self, count: u64) -> f64 {
        with_fill!(FILL => self.go::<FILL>(count))
    }

    #[inline(always)]
    fn go<const FILL: bool>(&mut self, count: u64) -> f64 {
        let (_, mut queue, mut completions) = self.ring.split();
        let mut free: Vec<u32> = (0..self.depth).rev().collect();
        let (mut next, mut done, mut bytes) = (0, 0, 0);
        let start = monotonic_nanos();
        while done < count {
            while next < count
                && let Some(slot) = free.pop()
            {
                let at = self.buffer.address(slot as usize * self.block as usize);
                let read = opcode::ReadFixed::new(types::Fixed(0), at, self.block as u32, 0)
                    .offset(next * self.block);
                // SAFETY: each slot has its own part of the buffer, which outlives the ring; the
                // queue has room for all.
                unsafe { queue.push(&read.build().user_data(slot.into())) }
                    .expect("room for every slot");
                next += 1;
            }
            queue.sync();
            // SAFETY: queued reads write into the buffer, which outlives the ring; each slot is
            // used by one read at a time.
            let taken = unsafe { self.entrance.enter::<FILL>(queue.len() as u32, 1) };
            assert!(taken >= 0, "io_uring_enter: {taken}");
            queue.sync();
            completions.sync();
            for entry in &mut completions {
                bytes += i64::from(entry.result());
                free.push(entry.user_data() as u32);
                done += 1;
            }
        }
        let nanos = monotonic_nanos() - start;
        assert_eq!(bytes as u64, count * self.block, "a bare read failed");
        nanos as f64 / count as f64
    }
}

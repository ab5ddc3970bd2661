//! `simd-copy`: a mapped file, each block copied with the widest loads and stores of this CPU,
//! through the caches or with non-temporal stores.
//!
//! The copies work on raw pointers: the contents of a mapping may change concurrently, so no
//! reference to them may exist.
#![allow(unsafe_code)]

use std::fs::File;
use std::rc::Rc;
use std::sync::OnceLock;

use super::buffers::lane_buffer;
use super::mmap::{self, Mapping};
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Op};

pub struct SimdCopy;

impl Backend for SimdCopy {
    fn info(&self) -> &'static Info {
        &catalog::SIMD_COPY
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        choose_copy(job)?;
        mmap::check_options(target, job)
    }

    fn open_file(&self, target: &Target, job: &Job) -> Result<File, BackendError> {
        // The mapping is advised, not the file.
        target.open(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let map = Mapping::new(self.open_file(target, job)?, job)?;
        Ok(Box::new(SimdLane {
            map,
            buffer: lane_buffer(job, 1, lane, target.data())?,
            write: job.op == Op::Write,
            copy: choose_copy(job)?,
        }))
    }
}

fn choose_copy(job: &Job) -> Result<CopyFn, Unsupported> {
    if !job.backend.has("nt") {
        return Ok(widest());
    }
    widest_streaming().ok_or_else(|| Unsupported("+nt is supported only on x86-64".into()))
}

struct SimdLane {
    map: Mapping,
    buffer: LaneBuffer,
    write: bool,
    copy: CopyFn,
}

impl Lane for SimdLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let copy = self.copy;
        // SAFETY: `copy_each` hands over two ranges of `len` bytes that do not overlap, one in the
        // mapping and one in the buffer.
        mmap::copy_each(&mut self.map, &self.buffer, self.write, work, |to, from, len| unsafe {
            copy(to, from, len)
        })
    }

    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        self.map.turn_to(file, job)
    }
}

/// Copies `len` bytes; the ranges do not overlap.
/// # Safety
/// `to` must be writable and `from` readable for `len` bytes.
type CopyFn = unsafe fn(to: *mut u8, from: *const u8, len: usize);

/// Returns the widest form this CPU supports.
fn widest() -> CopyFn {
    static WIDEST: OnceLock<CopyFn> = OnceLock::new();
    *WIDEST.get_or_init(|| forms().last().map_or(portable, |(_, form)| *form))
}

/// Returns the widest form with non-temporal stores, if this CPU has one.
fn widest_streaming() -> Option<CopyFn> {
    static WIDEST: OnceLock<Option<CopyFn>> = OnceLock::new();
    *WIDEST.get_or_init(|| streaming_forms().last().map(|(_, form)| *form))
}

/// Returns the forms this CPU supports, from narrow to wide.
fn forms() -> Vec<(&'static str, CopyFn)> {
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "only x86-64 adds to it"))]
    let mut forms: Vec<(&'static str, CopyFn)> = vec![("64 bit", portable)];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            forms.push(("avx2", avx2));
        }
        if is_x86_feature_detected!("avx512f") {
            forms.push(("avx512f", avx512));
        }
    }
    forms
}

/// Returns the forms with non-temporal stores, from narrow to wide.
fn streaming_forms() -> Vec<(&'static str, CopyFn)> {
    #[cfg(target_arch = "x86_64")]
    {
        let mut forms: Vec<(&'static str, CopyFn)> = vec![("sse2 nt", sse2_nt)];
        if is_x86_feature_detected!("avx2") {
            forms.push(("avx2 nt", avx2_nt));
        }
        if is_x86_feature_detected!("avx512f") {
            forms.push(("avx512f nt", avx512_nt));
        }
        forms
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// # Safety
/// As [`CopyFn`].
unsafe fn portable(to: *mut u8, from: *const u8, len: usize) {
    let mut at = 0;
    while at + 64 <= len {
        // SAFETY: at + 64 <= len. All loads before the stores, so that a compiler may make them
        // wider.
        unsafe {
            let words = from.add(at).cast::<[u64; 8]>().read_unaligned();
            to.add(at).cast::<[u64; 8]>().write_unaligned(words);
        }
        at += 64;
    }
    // SAFETY: at <= len.
    unsafe { tail(to.add(at), from.add(at), len - at) }
}

/// Copies the first or last bytes, fewer than one wide step.
/// # Safety
/// As [`CopyFn`].
#[inline(always)]
unsafe fn tail(to: *mut u8, from: *const u8, len: usize) {
    let mut at = 0;
    while at + 8 <= len {
        // SAFETY: at + 8 <= len.
        unsafe {
            to.add(at).cast::<u64>().write_unaligned(from.add(at).cast::<u64>().read_unaligned())
        };
        at += 8;
    }
    while at < len {
        // SAFETY: at < len. Volatile: the compiler would replace the loop by a call of memcpy.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
        at += 1;
    }
}

/// A wide loop: four loads, four stores. `$align`: the bytes to which stores must be aligned, 1 =
/// any.
#[cfg(target_arch = "x86_64")]
macro_rules! wide_copy {
    (
        $(#[$doc:meta])* $name:ident, $feature:literal, $vector:ident,
        $load:ident, $store:ident, $bytes:literal, $align:literal
    ) => {
        $(#[$doc])*
        /// # Safety
        /// As [`CopyFn`], and the CPU must have the feature.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $feature)]
        unsafe fn $name(to: *mut u8, from: *const u8, len: usize) {
            use std::arch::x86_64::{$load, $store, $vector};
            // Copies up to the first address that a wide store accepts.
            let mut at = to.align_offset($align).min(len);
            // SAFETY: every access ends at or below len; stores are aligned where they must be.
            unsafe {
                tail(to, from, at);
                while at + 4 * $bytes <= len {
                    let source = from.add(at).cast::<$vector>();
                    let words = [
                        $load(source),
                        $load(source.add(1)),
                        $load(source.add(2)),
                        $load(source.add(3)),
                    ];
                    for (index, word) in words.into_iter().enumerate() {
                        $store(to.add(at + index * $bytes).cast::<$vector>(), word);
                    }
                    at += 4 * $bytes;
                }
                tail(to.add(at), from.add(at), len - at);
                if $align > 1 {
                    // Non-temporal stores are weakly ordered.
                    std::arch::x86_64::_mm_sfence();
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
wide_copy!(avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, 32, 1);
#[cfg(target_arch = "x86_64")]
wide_copy!(avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512, 64, 1);
#[cfg(target_arch = "x86_64")]
wide_copy!(sse2_nt, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128, 16, 16);
#[cfg(target_arch = "x86_64")]
wide_copy!(avx2_nt, "avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256, 32, 32);
#[cfg(target_arch = "x86_64")]
wide_copy!(avx512_nt, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512, 64, 64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_form_copies_only_its_bytes(
            data in prop::collection::vec(any::<u8>(), 0..2000),
            from in 0usize..70,
            to in 0usize..70,
        ) {
            let data = &data[from.min(data.len())..];
            for (name, form) in forms().into_iter().chain(streaming_forms()) {
                let mut room = vec![0xa5u8; to + data.len() + 100];
                // SAFETY: `data` is readable, and `room` writable from `to` on, for the length;
                // this CPU can run all forms.
                unsafe { form(room.as_mut_ptr().add(to), data.as_ptr(), data.len()) };
                let mut around = room[..to].iter().chain(&room[to + data.len()..]);
                prop_assert!(around.all(|b| *b == 0xa5), "{}", name);
                prop_assert_eq!(&room[to..to + data.len()], data, "{}", name);
            }
        }
    }
}

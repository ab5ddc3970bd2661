//! The 32-bit XOR of a block: little-endian words, the last padded with zeros; by the loop that is
//! the fastest on this CPU.
//!
//! Folds through raw pointers: the contents of a mapping may change concurrently, so no reference
//! to them may exist.
#![allow(unsafe_code)]

mod choice;

pub use choice::{compare, comparison, fastest, set_known};

use crate::sys::buffer::Buffer;

/// Computes the XOR of the words of `len` bytes at `data`, as if they began at offset 0 of a file.
/// # Safety
/// `data` must be readable for `len` bytes.
pub type FoldFn = unsafe fn(data: *const u8, len: usize) -> u32;

/// A loop that folds, and its name.
pub type Form = (&'static str, FoldFn);

/// Folds a buffer by the fastest form.
pub fn buffer(buffer: &Buffer) -> u32 {
    // SAFETY: a buffer is readable over its whole length.
    unsafe { fastest().1(buffer.ptr(), buffer.len()) }
}

/// Folds a slice by the fastest form.
pub fn bytes(bytes: &[u8]) -> u32 {
    // SAFETY: a slice is readable over its whole length.
    unsafe { fastest().1(bytes.as_ptr(), bytes.len()) }
}

/// Returns the forms this CPU supports, from narrow to wide; each width plain and with prefetching.
pub fn forms() -> Vec<Form> {
    let mut forms: Vec<Form> = vec![("64 bit", portable)];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            forms.push(("avx2", avx2::<false>));
            forms.push(("avx2, prefetching", avx2::<true>));
        }
        if is_x86_feature_detected!("avx512f") {
            forms.push(("avx512f", avx512::<false>));
            forms.push(("avx512f, prefetching", avx512::<true>));
        }
    }
    #[cfg(target_arch = "aarch64")]
    forms.push(("neon", neon));
    forms
}

/// Moves the fold of a block to `offset` of the file: byte o counts in byte o mod 4.
#[inline(always)]
pub fn at_offset(fold: u32, offset: u64) -> u32 {
    fold.rotate_left(8 * (offset % 4) as u32)
}

/// # Safety
/// `data` must be readable for `len` bytes.
unsafe fn portable(data: *const u8, len: usize) -> u32 {
    let mut wide = [0u64; 4];
    let mut at = 0;
    while at + 32 <= len {
        for (lane, sum) in wide.iter_mut().enumerate() {
            // SAFETY: at + 32 <= len, by the caller's contract.
            *sum ^= u64::from_le(unsafe { data.add(at + 8 * lane).cast::<u64>().read_unaligned() });
        }
        at += 32;
    }
    let wide = wide.iter().fold(0, |a, b| a ^ b);
    // SAFETY: at <= len.
    (wide ^ (wide >> 32)) as u32 ^ unsafe { tail(data.add(at), len - at) }
}

/// Folds the last bytes, fewer than one wide step.
/// # Safety
/// `data` must be readable for `len` bytes.
#[inline(always)]
unsafe fn tail(data: *const u8, len: usize) -> u32 {
    let mut fold = 0;
    let mut at = 0;
    while at + 4 <= len {
        // SAFETY: at + 4 <= len.
        fold ^= u32::from_le(unsafe { data.add(at).cast::<u32>().read_unaligned() });
        at += 4;
    }
    while at < len {
        // SAFETY: at < len.
        fold ^= u32::from(unsafe { data.add(at).read() }) << (8 * (at % 4));
        at += 1;
    }
    fold
}

/// Prefetches the head of the next page at the start of each 4 KiB page: some hardware prefetchers
/// stop at page boundaries, so that each page begins with a stall. Only within the block: blocks
/// below 8 KiB prefetch nothing, and blocks that begin within a page do not benefit.
/// # Safety
/// `at` must be at most `len`, and `data` and `len` of one allocation.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn ahead(data: *const u8, at: usize, len: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    const PAGE: usize = 4096;
    const LINE: usize = 64;
    const HEAD: usize = 16;
    if at.is_multiple_of(PAGE) && len - at >= 2 * PAGE {
        for line in 0..HEAD {
            // SAFETY: the address is below `len`, and a prefetch hint reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(data.add(at + PAGE + LINE * line).cast()) };
        }
    }
}

/// # Safety
/// `data` must be readable for `len` bytes and the CPU must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<const PREFETCH: bool>(data: *const u8, len: usize) -> u32 {
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_xor_si256,
    };
    let mut sums = [_mm256_setzero_si256(); 4];
    let mut at = 0;
    while at + 128 <= len {
        if PREFETCH {
            // SAFETY: at + 128 <= len.
            unsafe { ahead(data, at, len) };
        }
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: at + 128 <= len.
            *sum = _mm256_xor_si256(*sum, unsafe {
                _mm256_loadu_si256(data.add(at + 32 * lane).cast::<__m256i>())
            });
        }
        at += 128;
    }
    let sum =
        _mm256_xor_si256(_mm256_xor_si256(sums[0], sums[1]), _mm256_xor_si256(sums[2], sums[3]));
    let mut words = [0u32; 8];
    // SAFETY: eight words are 32 bytes; at <= len.
    unsafe {
        _mm256_storeu_si256(words.as_mut_ptr().cast(), sum);
        words.iter().fold(0, |a, b| a ^ b) ^ portable(data.add(at), len - at)
    }
}

/// # Safety
/// `data` must be readable for `len` bytes and the CPU must have AVX-512F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512<const PREFETCH: bool>(data: *const u8, len: usize) -> u32 {
    use std::arch::x86_64::{
        __m512i, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_xor_si512,
    };
    let mut sums = [_mm512_setzero_si512(); 4];
    let mut at = 0;
    while at + 256 <= len {
        if PREFETCH {
            // SAFETY: at + 256 <= len.
            unsafe { ahead(data, at, len) };
        }
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: at + 256 <= len.
            *sum = _mm512_xor_si512(*sum, unsafe {
                _mm512_loadu_si512(data.add(at + 64 * lane).cast::<__m512i>())
            });
        }
        at += 256;
    }
    let sum =
        _mm512_xor_si512(_mm512_xor_si512(sums[0], sums[1]), _mm512_xor_si512(sums[2], sums[3]));
    let mut words = [0u32; 16];
    // SAFETY: sixteen words are 64 bytes; at <= len.
    unsafe {
        _mm512_storeu_si512(words.as_mut_ptr().cast(), sum);
        words.iter().fold(0, |a, b| a ^ b) ^ portable(data.add(at), len - at)
    }
}

/// # Safety
/// `data` must be readable for `len` bytes.
#[cfg(target_arch = "aarch64")]
unsafe fn neon(data: *const u8, len: usize) -> u32 {
    use std::arch::aarch64::{vdupq_n_u8, veorq_u8, vld1q_u8, vst1q_u8};
    let mut words = [0u32; 4];
    let mut at = 0;
    // SAFETY: NEON is part of arm64; every load is below len, the store is 16 bytes long.
    unsafe {
        let mut sums = [vdupq_n_u8(0); 4];
        while at + 64 <= len {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = veorq_u8(*sum, vld1q_u8(data.add(at + 16 * lane)));
            }
            at += 64;
        }
        let sum = veorq_u8(veorq_u8(sums[0], sums[1]), veorq_u8(sums[2], sums[3]));
        vst1q_u8(words.as_mut_ptr().cast(), sum);
        words.iter().fold(0, |a, b| a ^ u32::from_le(*b)) ^ portable(data.add(at), len - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(data: &[u8], offset: u64) -> u32 {
        let mut bytes = [0u8; 4];
        data.iter().enumerate().for_each(|(i, b)| bytes[((offset + i as u64) % 4) as usize] ^= b);
        u32::from_le_bytes(bytes)
    }

    proptest! {
        #[test]
        fn every_form_equals_the_definition(
            data in prop::collection::vec(any::<u8>(), 0..20_000),
            skip in 0usize..70,
            offset: u64,
        ) {
            let data = &data[skip.min(data.len())..];
            for (name, form) in forms() {
                // SAFETY: pointer and length are one slice's, which is readable over that length;
                // `forms` lists what this CPU can run.
                let fold = unsafe { form(data.as_ptr(), data.len()) };
                prop_assert_eq!(at_offset(fold, offset), plain(data, offset), "{}", name);
            }
        }
    }
}

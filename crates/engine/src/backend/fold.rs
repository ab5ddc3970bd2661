//! The 32-bit XOR of a block: little-endian words, the last padded with zeros; by the loop that is
//! the fastest on this CPU.
//!
//! Folds through raw pointers: the contents of a mapping may change concurrently, so no reference
//! to them may exist.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use serde::Serialize;

use crate::stats::median;
use crate::sys::buffer::Buffer;
use crate::sys::clock::monotonic_nanos;
use crate::sys::cpu_cache;
use crate::sys::memory_limit::free_memory;

/// Computes the XOR of the words of `len` bytes at `data`, as if they began at offset 0 of a file.
/// # Safety
/// `data` must be readable for `len` bytes.
pub type FoldFn = unsafe fn(data: *const u8, len: usize) -> u32;

/// A loop that folds, and its name.
pub type Form = (&'static str, FoldFn);

/// Returns the form that measured runs use: the fastest on this CPU and this memory, chosen at the
/// first call in some 50 ms unless [`choose`] was called before.
///
/// The width and the vendor of a CPU do not tell: prefetching the next page made a Xeon (Sapphire
/// Rapids) 20 to 30 % faster and cost an EPYC (Zen 4) 10 to 15 %.
pub fn fastest() -> Form {
    choice().form
}

/// Returns the name of the fastest form, chosen as by [`fastest`], with the speed of each.
pub fn comparison() -> Comparison {
    let Choice { form, speeds } = choice();
    Comparison { fastest: form.0, speeds }
}

/// The forms of this CPU as they were compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    pub fastest: &'static str,
    /// Empty where there was no memory to compare them.
    pub speeds: &'static [Speed],
}

/// How fast a form goes through memory: the median of its turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speed {
    pub name: &'static str,
    pub bytes_per_second: f64,
}

struct Choice {
    form: Form,
    speeds: Vec<Speed>,
}

fn choice() -> &'static Choice {
    CHOICE.get_or_init(|| {
        let (times, piece) = time_forms(&forms());
        Choice { form: pick_fastest(&times), speeds: speeds(&times, piece) }
    })
}

static CHOICE: OnceLock<Choice> = OnceLock::new();

/// Sets the form that an earlier run found to be the fastest, and the speeds that it found, bytes
/// per second by name. Ignored where this CPU has no form of that name, or where a form was chosen
/// already.
pub fn choose(name: &str, speeds: &[(String, f64)]) {
    let forms = forms();
    let find = |name: &str| forms.iter().copied().find(|(known, _)| *known == name);
    let speed = |(name, bytes_per_second): &(String, f64)| {
        Some(Speed { name: find(name)?.0, bytes_per_second: *bytes_per_second })
    };
    if let Some(form) = find(name) {
        let _ = CHOICE.set(Choice { form, speeds: speeds.iter().filter_map(speed).collect() });
    }
}

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

/// Most bytes of memory that the forms go through when they are compared: twice the last cache
/// where that is less, so that all come from memory. A stream is needed: over 4 MiB whose lines had
/// been flushed all forms were equal on an EPYC (Zen 4), where over 64 MiB prefetching costs 10 to
/// 20 %.
const MAX_SAMPLE_BYTES: u64 = 128 << 20;
/// Pieces of that memory: each form takes the next one in turn.
const PIECES: usize = 8;
/// Turns of each form: the speed of memory changes by a third within seconds on a shared machine,
/// but little from one form of a turn to the next.
const TURNS: usize = 24;

/// The time of each form in each turn, nanoseconds.
type Times = Vec<(Form, Vec<f64>)>;

/// Returns how long each form takes for a piece of memory, and the bytes of a piece; no times where
/// there is no memory.
fn time_forms(forms: &[Form]) -> (Times, usize) {
    let mut times: Times = forms.iter().map(|form| (*form, Vec::new())).collect();
    let stream = 2 * cpu_cache::last_cache();
    let free = free_memory().unwrap_or(u64::MAX);
    let Ok(sample) = Buffer::new(stream.min(MAX_SAMPLE_BYTES).min(free / 4) as usize) else {
        return (times, 0);
    };
    let piece = sample.len() / PIECES;
    let mut pieces = (0..PIECES).cycle();
    for turn in 0..TURNS {
        for place in 0..forms.len() {
            let ((_, fold), turns) = &mut times[(place + turn) % forms.len()];
            let at = pieces.next().unwrap_or(0) * piece;
            if (sample.len() as u64) < stream {
                cpu_cache::flush_part(&sample, at..at + piece);
            }
            let begin = monotonic_nanos();
            // SAFETY: a buffer is readable over its whole length, which all pieces fit in.
            std::hint::black_box(unsafe { fold(sample.ptr().add(at), piece) });
            turns.push((monotonic_nanos() - begin) as f64);
        }
    }
    (times, piece)
}

/// Returns the speeds of forms that take these times for a piece of so many bytes.
fn speeds(times: &[(Form, Vec<f64>)], piece: usize) -> Vec<Speed> {
    let speed = |((name, _), turns): &(Form, Vec<f64>)| {
        let nanos = median(turns).filter(|nanos| *nanos > 0.0)?;
        Some(Speed { name, bytes_per_second: piece as f64 / nanos * 1e9 })
    };
    times.iter().filter_map(speed).collect()
}

/// A form must be faster than the usual one by this share in the median turn to replace it. A turn
/// scatters by 10 %: where another form was faster by a tenth, 96 of 100 choices were that one, and
/// 73 where it also had to be faster in three turns of four.
const MIN_GAIN: f64 = 0.02;

/// Returns the form that is the fastest beside the usual one, turn by turn, if it gains enough.
fn pick_fastest(times: &[(Form, Vec<f64>)]) -> Form {
    let usual = times.iter().find(|((name, _), _)| *name == USUAL).or(times.first());
    let Some((usual, usual_turns)) = usual else { return ("64 bit", portable) };
    let ratio = |turns: &[f64]| {
        let ratios: Vec<f64> = turns.iter().zip(usual_turns).map(|(of, to)| of / to).collect();
        median(&ratios).unwrap_or(1.0)
    };
    match times.iter().min_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b))) {
        Some((fastest, turns)) if ratio(turns) <= 1.0 - MIN_GAIN => *fastest,
        _ => *usual,
    }
}

/// The form that was never far from the fastest on any machine: wide, without prefetching.
const USUAL: &str = if cfg!(target_arch = "x86_64") { "avx2" } else { "neon" };

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
/// below 8 KiB prefetch nothing, and those that begin within a page do not benefit.
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

    #[test]
    fn the_fastest_form_is_chosen_and_of_nearly_equal_ones_the_usual() {
        let all = forms();
        let times = |of: &dyn Fn(usize, u64) -> u64| {
            let turns = |at| (0..12).map(|turn| of(at, turn) as f64).collect::<Vec<f64>>();
            all.iter().enumerate().map(|(at, form)| (*form, turns(at))).collect::<Vec<_>>()
        };
        let name = |times: Times| pick_fastest(&times).0;
        let last = all.len() - 1;
        assert_eq!(name(times(&|at, _| 100 + 10 * at as u64)), all[0].0);
        assert_eq!(name(times(&|at, _| 1000 - 100 * at as u64)), all[last].0);
        // The memory gets slower by half; that the forms differ remains.
        assert_eq!(name(times(&|at, turn| (1000 - 100 * at as u64) * (10 + turn))), all[last].0);
        let Some(usual) = all.iter().position(|(form, _)| *form == USUAL) else { return };
        assert_eq!(name(times(&|_, _| 1000)), USUAL);
        // Faster by 1 % is not worth it, and by 30 % in some turns is chance.
        assert_eq!(name(times(&|at, _| if at == last { 990 } else { 1000 })), USUAL);
        let lucky = |at, turn| if at == last && turn % 3 == 0 { 700 } else { 1000 };
        assert_eq!(name(times(&lucky)), USUAL);
        // A tenth faster, though a third of the turns are slower by as much.
        let scattered = |at, turn| match (at == last, turn % 3 == 0) {
            (true, false) => 900,
            (true, true) => 1100,
            _ => 1000,
        };
        assert_eq!(name(times(&scattered)), all[last].0);
        let order = |at, _| if at == usual { 1000 } else { 950 + at as u64 };
        assert_eq!(name(times(&order)), all[0].0);
        assert_eq!(name(all.iter().map(|form| (*form, Vec::new())).collect()), USUAL);
        assert_eq!(name(Vec::new()), "64 bit");
    }

    #[test]
    fn all_forms_are_timed_and_a_chosen_one_stays() {
        let (times, piece) = time_forms(&forms());
        assert!(piece > 0 && times.iter().all(|(_, turns)| turns.len() == TURNS));
        let first = comparison();
        choose("no such loop", &[]);
        choose("64 bit", &[]);
        assert_eq!(comparison(), first);
        let names: Vec<&str> = first.speeds.iter().map(|speed| speed.name).collect();
        let all: Vec<&str> = forms().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, all);
    }

    #[test]
    fn a_speed_is_that_of_the_median_turn() {
        let times = vec![(forms()[0], vec![400.0, 100.0, 200.0]), (forms()[0], vec![])];
        let found = speeds(&times, 50);
        assert_eq!(found, [Speed { name: forms()[0].0, bytes_per_second: 250e6 }]);
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

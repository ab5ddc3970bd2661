#![no_main]

#[path = "../../tests/common/hostile.rs"]
mod hostile;
mod numbers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::load(hostile::folder(), bytes));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| { numbers::mutate(data, size, most, seed) });

//! Chooses the loop for XORs: its width by data in the CPU caches, at its first use in a fraction
//! of a millisecond; whether it prefetches by a stream from memory, which takes some 50 ms and is
//! part of measuring the ceilings.
//!
//! A stream from memory hides how wide a loop is, as memory is slower than each of them: chosen by
//! such a stream, a 64-bit loop that was ahead by chance halved the rate of cached data.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use super::{Form, forms, portable};
use crate::facts::{XorLoops, XorSpeed};
use crate::stats::{Ratio, median, paired};
use crate::sys::buffer::Buffer;
use crate::sys::clock::monotonic_nanos;
use crate::sys::cpu_cache;
use crate::sys::memory::free_memory;

/// The form of this process.
static CHOICE: OnceLock<Form> = OnceLock::new();
/// The form of the width that this process chose.
static WIDTH: OnceLock<Form> = OnceLock::new();
/// The result of an earlier run.
static KNOWN: OnceLock<(Form, Vec<XorSpeed>)> = OnceLock::new();
/// The result of this process.
static COMPARED: OnceLock<Compared> = OnceLock::new();

struct Compared {
    form: Form,
    speeds: Vec<XorSpeed>,
    is_doubtful: bool,
}

/// Returns the form that measured runs use: the fastest on this CPU for data in its caches. It
/// prefetches if [`compare`], here or in an earlier run, found that this pays.
pub fn fastest() -> Form {
    *CHOICE.get_or_init(|| {
        let width = choose_width();
        let compared = COMPARED.get().map(|compared| compared.form);
        let found = compared.or_else(|| KNOWN.get().map(|(form, _)| *form));
        with_width(found, width)
    })
}

/// Returns the form that was found if it has this width.
fn with_width(found: Option<Form>, width: Form) -> Form {
    found.filter(|form| width_of(form) == width.0).unwrap_or(width)
}

/// Sets the result of [`compare`] in an earlier run of this boot: the fastest form, and the speeds
/// in bytes per second by name. Ignored where this CPU has no form of that name.
pub fn set_known(name: &str, speeds: &[(String, f64)]) {
    let forms = forms();
    let find = |name: &str| forms.iter().copied().find(|(known, _)| *known == name);
    let speed = |(name, bytes_per_second): &(String, f64)| {
        Some(XorSpeed { name: find(name)?.0, bytes_per_second: *bytes_per_second })
    };
    if let Some(form) = find(name) {
        let _ = KNOWN.set((form, speeds.iter().filter_map(speed).collect()));
    }
}

/// Returns the result of an earlier run, else compares the forms.
pub fn comparison() -> XorLoops {
    match KNOWN.get() {
        Some((_, speeds)) => XorLoops { fastest: fastest().0, speeds, is_doubtful: false },
        None => compare(),
    }
}

/// Compares the forms on a stream from memory, once in a process. It takes some 50 ms and up to
/// 128 MiB, and decides whether [`fastest`] prefetches if it was not called before.
pub fn compare() -> XorLoops {
    let Compared { form, speeds, is_doubtful } = COMPARED.get_or_init(|| {
        let (times, piece) = time_from_memory(&forms());
        let (form, is_doubtful) = choose_prefetching(&times, choose_width());
        Compared { form, speeds: speeds(&times, piece), is_doubtful }
    });
    XorLoops { fastest: form.0, speeds, is_doubtful: *is_doubtful }
}

/// Returns the name of a form without whether it prefetches.
fn width_of((name, _): &Form) -> &'static str {
    name.split(',').next().unwrap_or(name)
}

/// The time of a form in each turn, nanoseconds.
type Times = (Form, Vec<f64>);

/// Times `forms` in turns, each beginning with the next one; `fold` gets the number of the fold.
fn time_turns(forms: &[Form], turns: usize, fold: impl Fn(Form, usize)) -> Vec<Times> {
    let mut times: Vec<Times> = forms.iter().map(|form| (*form, Vec::new())).collect();
    for turn in 0..turns {
        for place in 0..forms.len() {
            let (form, own) = &mut times[(place + turn) % forms.len()];
            let begin = monotonic_nanos();
            fold(*form, turn * forms.len() + place);
            own.push((monotonic_nanos() - begin) as f64);
        }
    }
    times
}

/// Data in the caches, bytes, and the folds of it in a turn: 10 µs, which most time slices of a
/// busy machine exceed by far.
const RESIDENT_BYTES: usize = 64 << 10;
const RESIDENT_FOLDS: usize = 4;
const RESIDENT_TURNS: usize = 16;

/// A form must be faster than the usual one by this share to replace it.
const MIN_WIDTH_GAIN: f64 = 0.1;

/// Returns the form whose width is the fastest for data in the caches; the usual one where none is
/// surely faster. A process chooses once: near [`MIN_WIDTH_GAIN`] the next choice may differ.
fn choose_width() -> Form {
    *WIDTH.get_or_init(time_widths)
}

fn time_widths() -> Form {
    let plain: Vec<Form> = forms().into_iter().filter(|form| width_of(form) == form.0).collect();
    let Ok(data) = Buffer::new(RESIDENT_BYTES) else { return usual(&plain) };
    let fold = |form: Form| {
        // SAFETY: a buffer is readable over its whole length.
        std::hint::black_box(unsafe { form.1(data.ptr(), data.len()) });
    };
    // Brings the data and the code into the caches.
    plain.iter().for_each(|form| fold(*form));
    let turn = |form, _| (0..RESIDENT_FOLDS).for_each(|_| fold(form));
    pick_width(&time_turns(&plain, RESIDENT_TURNS, turn))
}

/// The width that was never far from the fastest on any machine.
const USUAL: &str = if cfg!(target_arch = "x86_64") { "avx2" } else { "neon" };

fn usual(forms: &[Form]) -> Form {
    let usual = forms.iter().find(|(name, _)| *name == USUAL).or(forms.first());
    usual.copied().unwrap_or(("64 bit", portable))
}

/// Returns the time of a form relative to another one, from turn to turn.
fn ratio(turns: &[f64], base: &[f64]) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = base.iter().copied().zip(turns.iter().copied()).collect();
    paired::from_pairs(&pairs)
}

fn turns_of<'a>(times: &'a [Times], form: &Form) -> &'a [f64] {
    times.iter().find(|(of, _)| of.0 == form.0).map_or(&[], |(_, turns)| turns)
}

fn pick_width(times: &[Times]) -> Form {
    let usual = usual(&times.iter().map(|(form, _)| *form).collect::<Vec<_>>());
    let beside = |(form, turns): &Times| {
        let ratio = ratio(turns, turns_of(times, &usual))?;
        (ratio.high? <= 1.0 - MIN_WIDTH_GAIN).then_some((*form, ratio.ratio))
    };
    let faster = times.iter().filter_map(beside).min_by(|a, b| a.1.total_cmp(&b.1));
    faster.map_or(usual, |(form, _)| form)
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

/// Returns the times of each form for a piece of memory, and the bytes of a piece; no times without
/// memory.
fn time_from_memory(forms: &[Form]) -> (Vec<Times>, usize) {
    let stream = 2 * cpu_cache::last_cache();
    let free = free_memory().unwrap_or(u64::MAX);
    let Ok(sample) = Buffer::new(stream.min(MAX_SAMPLE_BYTES).min(free / 4) as usize) else {
        return (time_turns(forms, 0, |_, _| {}), 0);
    };
    let piece = sample.len() / PIECES;
    let flushed = (sample.len() as u64) < stream;
    let fold = |form: Form, nth: usize| {
        let at = nth % PIECES * piece;
        // SAFETY: a buffer is readable over its whole length, which all pieces fit in.
        std::hint::black_box(unsafe { form.1(sample.ptr().add(at), piece) });
        if flushed {
            let next = (nth + 1) % PIECES * piece;
            cpu_cache::flush_part(&sample, next..next + piece);
        }
    };
    (time_turns(forms, TURNS, fold), piece)
}

/// Returns the speed of each form, from its times for a piece of `piece` bytes.
fn speeds(times: &[Times], piece: usize) -> Vec<XorSpeed> {
    let speed = |((name, _), turns): &Times| {
        let nanos = median(turns).filter(|nanos| *nanos > 0.0)?;
        Some(XorSpeed { name, bytes_per_second: piece as f64 / nanos * 1e9 })
    };
    times.iter().filter_map(speed).collect()
}

/// Prefetching must make a stream from memory faster by this share to be used. It made a Xeon
/// (Sapphire Rapids) 20 to 30 % faster and cost an EPYC (Zen 4) 10 to 15 %; the vendor and the
/// width of a CPU do not predict it.
const MIN_STREAM_GAIN: f64 = 0.05;

/// Returns the form of this width, plain or prefetching, and whether the turns leave that open.
fn choose_prefetching(times: &[Times], width: Form) -> (Form, bool) {
    let prefetches = |(form, _): &&Times| form.0 != width.0 && width_of(form) == width.0;
    let Some((form, turns)) = times.iter().find(prefetches) else { return (width, false) };
    let Some((ratio, (low, high))) = ratio(turns, turns_of(times, &width))
        .and_then(|ratio| Some((ratio.ratio, ratio.interval()?)))
    else {
        return (width, true);
    };
    match ratio <= 1.0 - MIN_STREAM_GAIN {
        true if high < 1.0 => (*form, false),
        pays => (width, pays || low < 1.0 - MIN_STREAM_GAIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of all forms, by their index and the turn.
    fn times(of: impl Fn(usize, u64) -> u64) -> Vec<Times> {
        let turns = |at| (0..12).map(|turn| of(at, turn) as f64).collect::<Vec<f64>>();
        forms().into_iter().enumerate().map(|(at, form)| (form, turns(at))).collect()
    }

    fn place(name: &str) -> Option<usize> {
        forms().iter().position(|(known, _)| *known == name)
    }

    #[test]
    fn a_faster_width_replaces_the_usual() {
        let name = |times: &[Times]| pick_width(times).0;
        let Some(usual) = place(USUAL) else { return };
        let last = forms().len() - 1;
        assert_eq!(name(&times(|at, _| 1000 - 150 * at as u64)), forms()[last].0);
        // The machine gets slower by half; that the forms differ remains.
        let slower = |at, turn| (1000 - 150 * at as u64) * (10 + turn);
        assert_eq!(name(&times(slower)), forms()[last].0);
        // Level, by chance ahead by a twentieth, and by a half in a third of the turns.
        assert_eq!(name(&times(|_, _| 1000)), USUAL);
        assert_eq!(name(&times(|at, _| if at == usual { 1000 } else { 950 })), USUAL);
        let lucky = |at, turn| if at != usual && turn % 3 == 0 { 500 } else { 1000 };
        assert_eq!(name(&times(lucky)), USUAL);
        let untimed: Vec<Times> = forms().into_iter().map(|form| (form, Vec::new())).collect();
        assert_eq!(name(&untimed), USUAL);
        assert_eq!(name(&[]), "64 bit");
    }

    #[test]
    fn a_stream_decides_on_prefetching() {
        let Some(width) = place("avx2").map(|at| forms()[at]) else { return };
        let Some(other) = place("avx2, prefetching") else { return };
        let choose = |of: &dyn Fn(u64) -> u64| {
            let times = times(|at, turn| if at == other { of(turn) } else { 1000 });
            let (form, is_doubtful) = choose_prefetching(&times, width);
            (form.0, is_doubtful)
        };
        assert_eq!(choose(&|turn| 800 + turn), ("avx2, prefetching", false));
        assert_eq!(choose(&|turn| 1100 + turn), ("avx2", false));
        assert_eq!(choose(&|turn| 985 + turn), ("avx2", false), "level");
        let busy = |turn| if turn % 2 == 0 { 500 } else { 1500 };
        assert_eq!(choose(&busy), ("avx2", true));
        assert_eq!(choose_prefetching(&[], width), (width, false));
    }

    #[test]
    fn a_known_form_needs_the_width() {
        let before = fastest();
        assert_eq!(width_of(&before), choose_width().0, "level widths would scatter");
        assert_eq!(compare().fastest.split(',').next(), Some(choose_width().0));
        let [narrow, width] = [forms()[0], usual(&forms())];
        // A form that was saved on noise does not decide on the width.
        set_known("no such loop", &[]);
        set_known("64 bit", &[]);
        assert_eq!(fastest().0, before.0);
        assert_eq!(with_width(Some(narrow), width).0, width.0);
        assert_eq!(with_width(None, width).0, width.0);
        let prefetches = |form: &Form| form.0 != width.0 && width_of(form) == width.0;
        for form in forms().into_iter().filter(prefetches) {
            assert_eq!(with_width(Some(form), width).0, form.0);
        }
    }

    #[test]
    fn all_forms_are_compared_once() {
        let first = compare();
        assert_eq!(compare(), first);
        let names: Vec<&str> = first.speeds.iter().map(|speed| speed.name).collect();
        let all: Vec<&str> = forms().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, all);
        let (times, piece) = time_from_memory(&forms());
        assert!(piece > 0 && times.iter().all(|(_, turns)| turns.len() == TURNS));
    }

    #[test]
    fn a_speed_comes_from_median_turns() {
        let times = vec![(forms()[0], vec![400.0, 100.0, 200.0]), (forms()[0], vec![])];
        let found = speeds(&times, 50);
        assert_eq!(found, [XorSpeed { name: forms()[0].0, bytes_per_second: 250e6 }]);
    }
}

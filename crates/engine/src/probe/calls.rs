//! `loop` and `call`: an empty loop, which is also the overhead of every other loop, and a function
//! call with 0 to 7 arguments.

use std::hint::black_box;

use super::batch::{opaque_nop, run_empty_loop};
use super::{BatchTime, KnownCell, Opened, ParamSource, ProbeContext};
use crate::record::Estimate;

pub(super) fn ask_loop(_: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(EmptyLoop))
}

struct EmptyLoop;

impl KnownCell for EmptyLoop {
    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(1.0, 2.0, "an addition and a correctly predicted branch")
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        // The loop itself is being measured, so it is not subtracted.
        Ok(Box::new(|count| {
            Ok(BatchTime { loops: 0, ..BatchTime::of_loop(count, || run_empty_loop(count)) })
        }))
    }
}

macro_rules! callees {
    ($($name:ident($($arg:ident),*) $run:ident;)+) => {
        $(
            extern "C" fn $name($($arg: u64),*) {
                opaque_nop();
                $(let _ = $arg;)*
            }

            #[inline(never)]
            fn $run(count: u64) {
                let callee: extern "C" fn($(callees!(@type $arg)),*) = black_box($name);
                for _turn in 0..count {
                    callee($(callees!(@value $arg _turn)),*);
                }
            }
        )+
        /// The loops by number of arguments; the seventh is the first one passed on the stack on
        /// x86-64.
        const RUNS: &[fn(u64)] = &[$($run),+];
    };
    (@type $arg:ident) => { u64 };
    (@value $arg:ident $turn:ident) => { $turn };
}

callees! {
    call0() run0;
    call1(a) run1;
    call2(a, b) run2;
    call3(a, b, c) run3;
    call4(a, b, c, d) run4;
    call5(a, b, c, d, e) run5;
    call6(a, b, c, d, e, f) run6;
    call7(a, b, c, d, e, f, g) run7;
}

pub(super) fn ask_call(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let listed = |_: &ProbeContext, _| (0..RUNS.len() as u64).collect();
    let arguments = source.number_among("arguments", None, &listed)?;
    let run = *RUNS.get(usize::try_from(arguments).ok()?)?;
    Some(Box::new(Call { arguments, run }))
}

struct Call {
    arguments: u64,
    run: fn(u64),
}

impl KnownCell for Call {
    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(
            2.0,
            5.0 + self.arguments as f64,
            "a correctly predicted call and return, and at most one cycle more per argument",
        )
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        let run = self.run;
        Ok(Box::new(move |count| Ok(BatchTime::of_loop(count, || run(count)))))
    }
}

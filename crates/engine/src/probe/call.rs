//! `call`: a function call with 0 to 7 arguments.

use std::hint::black_box;

use super::empty_loop::opaque_nop;
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;

pub(super) struct Call;

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

impl ProbeKind for Call {
    const INFO: &'static ProbeInfo = &catalog::CALL;
    type Params = (u64, fn(u64));

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        let listed = |_: &ProbeContext, _| (0..RUNS.len() as u64).collect();
        let count = source.number_among("arguments", None, listed)?;
        Some((count, *RUNS.get(usize::try_from(count).ok()?)?))
    }

    fn estimate((count, _): &Self::Params, context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(
            2.0,
            5.0 + *count as f64,
            "a correctly predicted call and return, and at most one cycle more per argument",
        )
    }

    fn open((_, run): &Self::Params, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        Ok(Box::new(Calls(*run)))
    }
}

struct Calls(fn(u64));

impl Gauge for Calls {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        Ok(BatchTime::of_loop(count, || (self.0)(count)))
    }
}

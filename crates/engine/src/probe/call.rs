//! `call`: a function call with 0 to 7 arguments.

use std::hint::black_box;

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::empty_loop::opaque_nop;
use super::error::ProbeError;
use super::kind::{Gauge, Probe};
use super::param_table::{has_only, number};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Call;

static INFO: ProbeInfo = ProbeInfo {
    id: "call",
    group: Group::Cpu,
    title: "function call",
    about: "a call of an empty function with 0 to 7 arguments, and its return",
    doc: "Calls an empty function through a pointer, so that the compiler can neither inline it \
          nor drop an argument, and subtracts the loop around it. The slope over the number of \
          arguments is the cost of one more: on x86-64 the first six are passed in registers and \
          the seventh on the stack, on aarch64 all seven in registers. Calls and returns are \
          predicted, so they take only a few cycles; unoptimised code also builds a stack frame \
          and stores every argument.",
    makes_files: false,
    params: &[],
};

/// Maximum number of arguments; the seventh is the first one passed on the stack on x86-64.
const MAX_ARGUMENTS: u64 = 7;

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
        const RUNS: [fn(u64); MAX_ARGUMENTS as usize + 1] = [$($run),+];
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

impl Probe for Call {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &ProbeContext) -> Vec<ProbeCell> {
        (0..=MAX_ARGUMENTS)
            .map(|arguments| ProbeCell::new(INFO.id, [("arguments", arguments.into())]))
            .collect()
    }

    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        let arguments = arguments(cell)? as f64;
        context.estimate_cycles(
            2.0,
            5.0 + arguments,
            "a correctly predicted call and return, and at most one cycle more per argument",
        )
    }

    fn open(&self, cell: &ProbeCell, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let run = arguments(cell)
            .and_then(|count| RUNS.get(usize::try_from(count).ok()?))
            .ok_or_else(|| ProbeError::unknown(cell))?;
        Ok(Box::new(Calls(*run)))
    }
}

fn arguments(cell: &ProbeCell) -> Option<u64> {
    number(cell, "arguments").filter(|_| has_only(cell, &["arguments"]))
}

struct Calls(fn(u64));

impl Gauge for Calls {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        Ok(BatchTime::of_loop(count, || (self.0)(count)))
    }
}

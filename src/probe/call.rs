//! `call`: a procedure call with 0 to 7 arguments.

use std::hint::black_box;

use super::empty::nothing;
use super::known::{has_only, number};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Call;

static INFO: ProbeInfo = ProbeInfo {
    id: "call",
    group: Group::Cpu,
    title: "procedure call",
    about: "calling a function that does nothing, with 0 to 7 arguments, and returning",
    doc: "Calls an empty function through a pointer, so that the compiler can neither inline it nor drop an argument, and subtracts the \
          loop around it. The slope over the number of arguments is what one more costs: on x86-64 the first six travel in registers and \
          the seventh goes over the stack, on aarch64 all seven in registers. A call and its return are predicted, so it is a few cycles; \
          unoptimised code, as in the report, also builds a stack frame and stores every argument.",
    makes_files: false,
    params: &[],
};

/// The most arguments; the seventh is the first on the stack of x86-64.
const MOST: u64 = 7;

macro_rules! callees {
    ($($name:ident($($arg:ident),*) $run:ident;)+) => {
        $(
            extern "C" fn $name($($arg: u64),*) {
                nothing();
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
        const RUNS: [fn(u64); MOST as usize + 1] = [$($run),+];
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

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        (0..=MOST)
            .map(|arguments| ProbeCell::new(INFO.id, [("arguments", arguments.into())]))
            .collect()
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let arguments = arguments(cell)? as f64;
        site.cycles(
            2.0,
            5.0 + arguments,
            "a call and a return that are guessed right, at most one cycle more for each argument",
        )
    }

    fn open(&self, cell: &ProbeCell, _: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
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
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        Ok(Took::around(count, || (self.0)(count)))
    }
}

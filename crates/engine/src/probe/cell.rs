//! Probes and their cells. A probe asks for its parameters one by one, and the same questions read
//! a cell of a plan and list all cells.

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::error::ProbeError;
use crate::plan::{Param, ProbeCell, ProbeInfo, ProbeParam};
use crate::record::{Estimate, HostSummary, Unit, Warning};

/// A kind of measurement. A cell of another version has no estimate, passes the check, and cannot
/// be opened.
pub struct Probe {
    pub(super) info: &'static ProbeInfo,
    /// Asks for the parameters of a cell; `None` if it is unknown.
    pub(super) ask: fn(&mut ParamSource) -> Option<Box<dyn KnownCell>>,
}

impl Probe {
    pub fn info(&self) -> &'static ProbeInfo {
        self.info
    }

    /// Returns all cells to measure on this machine, cheapest first.
    pub fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        list_cells(self.info, context, self.ask).into_iter().map(|(cell, _)| cell).collect()
    }

    /// Reads a cell; `None` if it is unknown: of another version, or written by hand.
    fn read(&self, cell: &ProbeCell) -> Option<Box<dyn KnownCell>> {
        let mut source =
            ParamSource { info: self.info, origin: ParamOrigin::Cell { cell, found: 0 } };
        let known = (self.ask)(&mut source)?;
        // A cell of another version may have more parameters.
        match source.origin {
            ParamOrigin::Cell { found, .. } if found == cell.params.len() => Some(known),
            _ => None,
        }
    }

    pub fn unit(&self, cell: &ProbeCell) -> Unit {
        self.read(cell).map_or(Unit::Nanos, |known| known.unit())
    }

    /// Checks quickly whether a cell can be measured here; the error is the reason, for the user.
    pub fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        self.read(cell).map_or(Ok(()), |known| known.check(context))
    }

    pub fn remote_host(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<HostSummary> {
        self.read(cell)?.remote_host(context)
    }

    pub fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        self.read(cell)?.estimate(context)
    }

    /// Prepares a cell on the thread that will measure it.
    pub fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Opened {
        let known = self.read(cell).ok_or_else(|| ProbeError::Unknown(cell.label()))?;
        known.check(context).map_err(ProbeError::Missing)?;
        known.open(context)
    }
}

/// A cell whose parameters were read.
pub(super) trait KnownCell {
    /// Returns the unit of the value.
    fn unit(&self) -> Unit {
        Unit::Nanos
    }

    /// Checks quickly whether the cell can be measured here: enough CPUs, and no missing program or
    /// remote host. The error is the reason, for the user.
    fn check(&self, _: &ProbeContext) -> Result<(), String> {
        Ok(())
    }

    /// Returns what the other machine reports about itself; `None` for a local cell.
    fn remote_host(&self, _: &ProbeContext) -> Option<HostSummary> {
        None
    }

    /// Estimates the value, with the reasoning, from facts about this machine and never from a
    /// measurement of the cell itself.
    fn estimate(&self, context: &ProbeContext) -> Option<Estimate>;

    /// Prepares the cell, which was checked, on the thread that will measure it. That thread is
    /// pinned to one CPU where that is allowed, and ends afterwards, so nothing has to be restored.
    fn open(&self, context: &ProbeContext) -> Opened;
}

/// A cell that is ready, or what is refused or missing here.
pub type Opened = Result<Box<dyn Gauge>, ProbeError>;

/// A cell that is ready to be measured. A closure that runs a batch is one, too.
pub trait Gauge {
    /// Does `count` operations, or at most [`max_batch`](Gauge::max_batch), and returns how long
    /// they took. Long work polls [`ProbeContext::is_stopping`].
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError>;

    /// Returns what counters confirm about the operations so far: `1.00 minor faults each`.
    fn evidence(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns warnings about the value; called after the operations.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Returns the maximum number of operations of one batch.
    fn max_batch(&self) -> u64 {
        u64::MAX
    }
}

impl<F: FnMut(u64) -> Result<BatchTime, ProbeError>> Gauge for F {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        self(count)
    }
}

/// Declares the values of a probe's main parameter, and their rows in a table. In brackets stands a
/// type that is known already.
macro_rules! param_rows {
    ($(#[$about:meta])* $table:ident: $type:ident;
     $($name:literal => $value:ident, $range:expr, $why:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum $type { $($value),+ }

        $crate::probe::param_rows! {
            $(#[$about])* $table: [$type];
            $($name => $type::$value, $range, $why;)+
        }
    };
    ($(#[$about:meta])* $table:ident: [$type:ty];
     $($name:literal => $value:expr, $range:expr, $why:literal;)+) => {
        $(#[$about])*
        const $table: &[$crate::probe::ParamRow<$type>] = &[
            $($crate::probe::ParamRow { name: $name, value: $value, range: $range, why: $why }),+
        ];
    };
}

pub(in crate::probe) use param_rows;

/// One value of a probe's main parameter.
pub(super) struct ParamRow<T: 'static> {
    /// The value's name in a cell.
    pub name: &'static str,
    pub value: T,
    /// Expected minimum and maximum: cycles or the unit of the cell, depending on the probe.
    pub range: (f64, f64),
    pub why: &'static str,
}

impl<T> ParamRow<T> {
    /// Returns the range, in the unit of the cell, as an estimate.
    pub fn as_estimate(&self) -> Option<Estimate> {
        Some(Estimate { low: self.range.0, high: self.range.1, reason: self.why.into() })
    }
}

/// Answers the questions of a probe: with the parameters of a cell, or with each value in turn.
pub(super) struct ParamSource<'a> {
    info: &'static ProbeInfo,
    origin: ParamOrigin<'a>,
}

enum ParamOrigin<'a> {
    Cell {
        cell: &'a ProbeCell,
        found: usize,
    },
    List {
        context: &'a ProbeContext,
        choices: &'a mut Vec<ListedChoice>,
        at: usize,
        cell: ProbeCell,
    },
}

/// The listed value of one question.
struct ListedChoice {
    index: usize,
    count: usize,
}

/// Lists all cells; the parameter that is asked for last varies fastest.
pub(super) fn list_cells<P>(
    info: &'static ProbeInfo,
    context: &ProbeContext,
    params: impl Fn(&mut ParamSource) -> Option<P>,
) -> Vec<(ProbeCell, P)> {
    let (mut cells, mut choices) = (Vec::new(), Vec::new());
    loop {
        let cell = ProbeCell::new(info.id, []);
        let origin = ParamOrigin::List { context, choices: &mut choices, at: 0, cell };
        let mut source = ParamSource { info, origin };
        let params = params(&mut source);
        if let (Some(params), ParamOrigin::List { cell, .. }) = (params, source.origin) {
            cells.push((cell, params));
        }
        while let Some(last) = choices.last_mut() {
            last.index += 1;
            if last.index < last.count {
                break;
            }
            choices.pop();
        }
        if choices.is_empty() {
            return cells;
        }
    }
}

impl ParamSource<'_> {
    /// Returns the value of a parameter, which some cells lack; `None` if there is nothing to list.
    fn ask(
        &mut self,
        name: &str,
        values: &dyn Fn(&ProbeContext) -> Vec<Option<Param>>,
    ) -> Option<Option<Param>> {
        match &mut self.origin {
            ParamOrigin::Cell { cell, found } => {
                let value = cell.params.get(name);
                *found += usize::from(value.is_some());
                Some(value.cloned())
            }
            ParamOrigin::List { context, choices, at, cell } => {
                let mut values = values(context);
                if *at == choices.len() && !values.is_empty() {
                    choices.push(ListedChoice { index: 0, count: values.len() });
                }
                let index = choices.get(*at).map(|choice| choice.index)?;
                let value = (index < values.len()).then(|| values.swap_remove(index))?;
                *at += 1;
                cell.params.extend(value.clone().map(|value| (name.into(), value)));
                Some(value)
            }
        }
    }

    /// Returns the row of a table that the parameter names.
    pub fn row<'t, T>(&mut self, name: &str, table: &'t [ParamRow<T>]) -> Option<&'t ParamRow<T>> {
        let names = |_: &ProbeContext| table.iter().map(|row| Some(row.name.into())).collect();
        match self.ask(name, &names)?? {
            Param::Text(text) => table.iter().find(|row| row.name == text),
            _ => None,
        }
    }

    /// Returns the value of the word that the parameter is.
    pub fn word<T: Copy>(&mut self, name: &str, words: &[(&'static str, T)]) -> Option<T> {
        let names = |_: &ProbeContext| words.iter().map(|(word, _)| Some((*word).into())).collect();
        match self.ask(name, &names)?? {
            Param::Text(text) => words.iter().find(|(word, _)| *word == text).map(|(_, of)| *of),
            _ => None,
        }
    }

    /// Returns whether the cell has the parameter, which has only one value. If `listed`, cells
    /// with it are listed after the cells without.
    pub fn mark(&mut self, name: &str, value: impl Into<Param>, listed: bool) -> Option<bool> {
        let value = Some(value.into());
        let values = |_: &ProbeContext| {
            if listed { vec![None, value.clone()] } else { vec![None] }
        };
        match self.ask(name, &values)? {
            None => Some(false),
            found => (found == value).then_some(true),
        }
    }

    /// Returns a number that every cell has.
    pub fn number(&mut self, name: &str) -> Option<u64> {
        self.number_among(name, None, &|_, usual| usual)
    }

    /// Returns a number; `implied` is that of a cell without the parameter.
    pub fn number_or(&mut self, name: &str, implied: u64) -> Option<u64> {
        self.number_among(name, Some(implied), &|_, usual| usual)
    }

    /// Returns a number as [`number_or`](ParamSource::number_or) does. `listed` returns the values
    /// to list if the user requested none; it gets the default values of the description.
    pub fn number_among(
        &mut self,
        name: &str,
        implied: Option<u64>,
        listed: &dyn Fn(&ProbeContext, Vec<u64>) -> Vec<u64>,
    ) -> Option<u64> {
        let info = self.info;
        let param = info.params.iter().find(|param| param.name == name);
        let values = |context: &ProbeContext| {
            let usual = || listed(context, param.map_or(Vec::new(), ProbeParam::usual_values));
            let values = context.requested_values(info, name).unwrap_or_else(usual);
            let given = |value| (Some(value) != implied).then_some(Param::Number(value));
            values.into_iter().map(given).collect()
        };
        match self.ask(name, &values)? {
            None => implied,
            Some(Param::Number(value)) => {
                let known = param.is_none_or(|param| param.takes(value));
                (known && Some(value) != implied).then_some(value)
            }
            Some(_) => None,
        }
    }

    /// Returns whether the cells are listed that the user requested by this parameter.
    pub fn lists_requested(&self, name: &str) -> bool {
        match &self.origin {
            ParamOrigin::List { context, .. } => {
                context.requested_values(self.info, name).is_some()
            }
            ParamOrigin::Cell { .. } => false,
        }
    }

    /// Returns whether the cell has a parameter, which is then asked for; cells that lack it are
    /// listed first.
    pub fn has(&mut self, name: &str) -> Option<bool> {
        match &mut self.origin {
            ParamOrigin::Cell { cell, .. } => Some(cell.params.contains_key(name)),
            ParamOrigin::List { choices, at, .. } => {
                if *at == choices.len() {
                    choices.push(ListedChoice { index: 0, count: 2 });
                }
                let choice = choices.get(*at)?;
                *at += 1;
                Some(choice.index == 1)
            }
        }
    }
}

//! The fio equivalent of a backend, to export jobs and to import results.

/// How fio does the work of a backend or peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fio {
    Engine(FioEngine),
    /// Impossible, and why.
    Unavailable(&'static str),
}

/// An I/O engine of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioEngine {
    /// The value of `ioengine`. No two backends have the same.
    pub name: &'static str,
    /// System calls per operation, if the number is fixed.
    pub calls_per_op: Option<u32>,
    /// How fio differs; empty if it does not.
    pub note: &'static str,
    pub options: &'static [FioOption],
}

/// The fio equivalent of a backend's `+option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioOption {
    pub option: &'static str,
    /// Name and value; `None` if fio always does this.
    pub assignment: Option<(&'static str, FioValue)>,
}

/// The value of an option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioValue {
    Word(&'static str),
    /// The number that the backend's option has.
    Number,
}

impl FioOption {
    pub const fn new(option: &'static str, name: &'static str, value: &'static str) -> FioOption {
        FioOption { option, assignment: Some((name, FioValue::Word(value))) }
    }

    /// Returns an option whose value is that of the backend's option.
    pub const fn number(option: &'static str, name: &'static str) -> FioOption {
        FioOption { option, assignment: Some((name, FioValue::Number)) }
    }

    /// Returns an option that fio has no word for because it never does otherwise.
    pub const fn always(option: &'static str) -> FioOption {
        FioOption { option, assignment: None }
    }
}

impl FioEngine {
    /// Returns an engine that does the same as the backend.
    pub const fn new(
        name: &'static str,
        calls_per_op: Option<u32>,
        options: &'static [FioOption],
    ) -> FioEngine {
        FioEngine { name, calls_per_op, note: "", options }
    }

    pub const fn with_note(self, note: &'static str) -> FioEngine {
        FioEngine { note, ..self }
    }
}

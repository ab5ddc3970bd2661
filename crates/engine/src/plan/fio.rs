//! A backend in the words of fio, to export jobs and to import results.

/// How fio does what a backend or peer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fio {
    Engine(FioEngine),
    /// It cannot: why.
    Unavailable(&'static str),
}

/// An I/O engine of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioEngine {
    /// As `ioengine` names it. No two backends have the same.
    pub name: &'static str,
    /// System calls per operation, where it makes a fixed number.
    pub calls_per_op: Option<u32>,
    /// What fio does differently; empty where nothing.
    pub note: &'static str,
    pub options: &'static [FioOption],
}

/// A `+option` of a backend in the words of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioOption {
    pub option: &'static str,
    /// Name and value; `None` where fio always does so.
    pub assignment: Option<(&'static str, &'static str)>,
}

impl FioOption {
    pub const fn new(option: &'static str, name: &'static str, value: &'static str) -> FioOption {
        FioOption { option, assignment: Some((name, value)) }
    }

    /// An option that fio has no word for because it never does otherwise.
    pub const fn always(option: &'static str) -> FioOption {
        FioOption { option, assignment: None }
    }
}

impl FioEngine {
    /// An engine that does the same as the backend.
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

//! A column of the table: its name, and its value in a row.

use crate::analysis::{CellResult, NodeOf, ProbeResult, RankOf};
use crate::record::Warning;
use crate::report::text;
use crate::session::Session;

/// The data of a row.
pub struct CsvRow<'a> {
    pub session: &'a Session,
    pub subject: Subject<'a>,
    /// The machine or rank that it is about; `None` = the whole cell.
    pub part: Option<RankPart<'a>>,
}

#[derive(Clone, Copy)]
pub enum Subject<'a> {
    Job(&'a CellResult),
    Probe(&'a ProbeResult),
}

pub enum Field {
    Empty,
    Number(String),
    Text(String),
}

pub struct CsvColumn {
    pub name: String,
    /// It describes the cell, or distinguishes its parts.
    pub describes: bool,
    pub get: Box<dyn Fn(&CsvRow) -> Field>,
}

/// A machine or rank of a cell.
#[derive(Clone, Copy)]
pub enum RankPart<'a> {
    Node(&'a NodeOf),
    Rank(&'a RankOf),
}

impl CsvRow<'_> {
    /// Returns a field; of a part of a cell only what describes the cell, and its own figures.
    pub fn field(&self, column: &CsvColumn) -> Field {
        let source = self.part.map(|part| match part {
            RankPart::Node(node) => node.source,
            RankPart::Rank(rank) => rank.source,
        });
        match source {
            None => (column.get)(self),
            Some(source) => match column.name.as_str() {
                "source_device" => number(source.map(|of| of.device)),
                "source_page_cache" => number(source.map(|of| of.page_cache)),
                "source_hole" => number(source.map(|of| of.hole)),
                "source_below" => number(source.map(|of| of.below)),
                "source_unknown" => number(source.map(|of| of.unknown)),
                _ if column.describes => (column.get)(self),
                _ => Field::Empty,
            },
        }
    }

    pub fn trials(&self) -> usize {
        match self.subject {
            Subject::Job(result) => result.trials.len(),
            Subject::Probe(result) => result.trials.len(),
        }
    }

    pub fn short_trials(&self) -> usize {
        match self.subject {
            Subject::Job(result) => result.trials.iter().filter(|t| t.short).count(),
            Subject::Probe(result) => result.trials.iter().filter(|t| t.short).count(),
        }
    }

    pub fn warnings(&self) -> &[Warning] {
        match self.subject {
            Subject::Job(result) => &result.warnings,
            Subject::Probe(result) => &result.warnings,
        }
    }

    pub fn is_skipped(&self) -> bool {
        match self.subject {
            Subject::Job(result) => result.skipped,
            Subject::Probe(result) => result.skipped,
        }
    }

    pub fn error(&self) -> Option<&String> {
        match self.subject {
            Subject::Job(result) => result.error.as_ref(),
            Subject::Probe(result) => result.error.as_ref(),
        }
    }
}

impl Field {
    pub fn into_quoted(self) -> String {
        match self {
            Field::Empty => String::new(),
            Field::Number(text) => text,
            Field::Text(text) => quote(text),
        }
    }
}

/// Quotes `text` where necessary; one that a spreadsheet would run as a formula gets an
/// apostrophe in front.
pub fn quote(mut text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        text.insert(0, '\'');
    }
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

pub fn number(value: Option<f64>) -> Field {
    value.filter(|v| v.is_finite()).map_or(Field::Empty, |v| Field::Number(v.to_string()))
}

pub fn integer(value: impl Into<u64>) -> Field {
    Field::Number(value.into().to_string())
}

pub fn text_field(value: impl ToString) -> Field {
    Field::Text(text::clean(&value.to_string()))
}

pub fn column(name: &str, get: impl Fn(&CsvRow) -> Field + 'static) -> CsvColumn {
    CsvColumn { name: name.into(), describes: false, get: Box::new(get) }
}

/// Returns a column that only jobs have.
pub fn job(name: &str, get: impl Fn(&CellResult) -> Field + 'static) -> CsvColumn {
    column(
        name,
        move |r| if let Subject::Job(result) = r.subject { get(result) } else { Field::Empty },
    )
}

/// Returns a column that only probes have.
pub fn probe(name: &str, get: impl Fn(&ProbeResult) -> Field + 'static) -> CsvColumn {
    column(
        name,
        move |r| if let Subject::Probe(result) = r.subject { get(result) } else { Field::Empty },
    )
}

//! The words of the commands, for the command line to read.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::report::{COMPARISONS, OUTPUT, Out, Shown, When, comparisons, formats};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lists {
    Backends,
    Probes,
    Peers,
    Presets,
    Experiments,
    References,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    Man,
    Bash,
    Zsh,
    Fish,
}

/// SESSION is an id, the unique start of one, a name, last (last~1 is the one before) or a path; to
/// show, compare and export also a reference (iotui --list references).
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// All of them, the newest first
    List {
        #[command(flatten)]
        out: Out,
    },
    /// One of them, in any format
    Show {
        session: String,
        /// Leave out host name, user, folders and file names
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        out: Out,
    },
    /// Which cells of the others are faster than the same cells of the first
    Compare {
        /// What the others are compared with
        base: String,
        #[arg(required = true)]
        others: Vec<String>,
        /// Leave out host name, user, folders and file names
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        to: CompareTo,
    },
    /// Write one for another program, or to paste: to stdout or into a file
    Export {
        session: String,
        #[command(flatten)]
        to: ExportTo,
    },
    /// Give one another name
    Rename { session: String, name: String },
    /// Remove one
    Delete { session: String },
    /// Take in a session file from elsewhere, or what fio wrote with --output-format=json or json+
    Import { file: PathBuf },
}

/// Where an export goes, and as what.
#[derive(Debug, clap::Args)]
pub struct ExportTo {
    /// How the data is written
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: String,

    /// Write the data into FILE, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Leave out host name, user, folders and file names
    #[arg(long)]
    pub anonymous: bool,

    /// Only ASCII characters
    #[arg(long)]
    pub ascii: bool,

    #[command(flatten)]
    pub shown: Shown,
}

/// Where a comparison goes, and as what.
#[derive(Debug, clap::Args)]
pub struct CompareTo {
    /// How the data is written
    #[arg(long, value_name = "FORMAT", default_value = COMPARISONS[0].id, value_parser = comparisons(), help_heading = OUTPUT)]
    pub format: String,

    /// Write the data into FILE, whole or not at all
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Only ASCII characters
    #[arg(long, help_heading = OUTPUT)]
    pub ascii: bool,

    /// When to colour the table
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = OUTPUT)]
    pub color: When,

    #[command(flatten)]
    pub shown: Shown,
}

//! The words of the commands, for the command line to read.

use std::path::PathBuf;

use clap::{Arg, Subcommand, ValueEnum};

use crate::output::{DisplayArgs, Out, comparisons, formats};
use crate::report::COMPARISONS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lists {
    Backends,
    Probes,
    Peers,
    Presets,
    Experiments,
    References,
    Themes,
    Profiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    Man,
    Bash,
    Zsh,
    Fish,
}

/// SESSION is an id, a unique prefix of one, a name, last (last~1 is the one before) or a path;
/// show, compare and export also take a reference (iotui --list references).
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// List saved sessions, newest first
    List {
        #[command(flatten)]
        out: Out,
    },
    /// Show a session in any format
    Show {
        /// Session to show: its id, a prefix of it, its name, last, last~1, a path or a reference
        session: String,
        /// Judge it by these profiles and conditions, not by the saved ones; see --expect of a run.
        /// Exit 5 if one does not hold, 1 if one cannot be judged
        #[arg(long, value_name = "PROFILE|CONDITION,..")]
        expect: Option<String>,
        /// Print evidence, remedies, notes and costs too (format table)
        #[arg(long)]
        details: bool,
        /// Omit host name, user, folders and file names
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        out: Out,
    },
    /// Compare the cells of sessions with the same cells of a base session
    #[command(mut_arg("format", compare_formats))]
    Compare {
        /// Session to compare the others with. A session of --between needs no other: its two
        /// variants are compared
        base: String,
        /// Sessions or references to compare with it
        others: Vec<String>,
        /// Omit host name, user, folders and file names
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        out: Out,
    },
    /// Export a session to stdout or a file
    Export {
        /// Session to export: its id, a prefix of it, its name, last, last~1, a path or a reference
        session: String,
        #[command(flatten)]
        to: ExportTo,
    },
    /// Rename a session
    Rename {
        /// Session to rename: its id, a prefix of it, its name, last, last~1 or a path
        session: String,
        /// New name; a name in use gets a number
        name: String,
    },
    /// Delete a session
    Delete {
        /// Session to delete: its id, a prefix of it, its name, last, last~1 or a path
        session: String,
    },
    /// Import a session file, or the output of fio --output-format=json or json+
    Import {
        /// File to import
        file: PathBuf,
    },
}

/// Where an export goes, and as what.
#[derive(Debug, clap::Args)]
pub struct ExportTo {
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: String,

    /// Write to FILE, atomically
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Judge it by these profiles and conditions, not by the saved ones; see --expect of a run.
    /// Exit 5 if one does not hold, 1 if one cannot be judged
    #[arg(long, value_name = "PROFILE|CONDITION,..")]
    pub expect: Option<String>,

    /// Omit host name, user, folders and file names
    #[arg(long)]
    pub anonymous: bool,

    /// Use only ASCII characters
    #[arg(long)]
    pub ascii: bool,

    #[command(flatten)]
    pub shown: DisplayArgs,
}

/// Gives the option the formats of comparisons.
fn compare_formats(option: Arg) -> Arg {
    option.default_value(COMPARISONS[0].id).value_parser(comparisons())
}

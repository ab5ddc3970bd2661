//! The options of a run that are not settings of its plan.

use std::path::PathBuf;

use clap::ArgGroup;

use crate::output::Out;
use crate::plan::Variant;
use crate::units;

#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("compared").args(["baseline", "between"])))]
pub struct Args {
    /// Files or block devices, opened read-only; with --op write, new files to create. Several are
    /// measured in turn, in the same rounds. Given a folder, the full screen lists its files, and
    /// iotui-mpi creates its own there [default: a scratch file]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Presets to run; see --list presets [default: quick]
    #[arg(short, long, value_name = "NAME,..", value_delimiter = ',')]
    pub preset: Vec<String>,

    /// Run the plan of an earlier session again; only --seed, --trials, --until, --trial-time,
    /// --budget and --remote may be changed
    #[arg(long, value_name = "SESSION")]
    pub plan: Option<String>,

    /// Add rounds to an earlier session: the new session has the earlier trials and the added ones.
    /// Only --trials (of further rounds), --until and --budget may be changed
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["plan", "baseline", "files", "dir", "keep", "preset"])]
    pub refine: Option<String>,

    /// Run an earlier session's plan again and compare; other options must describe the same cells
    #[arg(long, value_name = "SESSION", conflicts_with = "plan")]
    pub baseline: Option<String>,

    /// Measure every cell in two variants of this machine, in turn, and compare them. The shell
    /// command of a variant runs before its cells, that of A once more at the end
    #[arg(
        long,
        num_args = 2,
        value_names = ["A:COMMAND", "B:COMMAND"],
        conflicts_with_all = ["plan", "baseline", "refine"]
    )]
    pub between: Vec<Variant>,

    /// Exit 3 if a cell is slower than its baseline: the whole 95 % interval of its throughput is
    /// more than PERCENT (5 or 5%) below; with --between, below that of A
    #[arg(long, value_name = "PERCENT", requires = "compared", value_parser = parse_limit, allow_hyphen_values = true)]
    pub fail_if_slower: Option<f64>,

    /// Read all files that are named, and all files in folders among them, as one
    #[arg(long)]
    pub as_one: bool,

    /// Folder of the scratch file; given several times, one file in each is measured in the same
    /// rounds [default: the current one, or the first of TMPDIR, /var/tmp and HOME that is on a
    /// disk]
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,

    /// Keep the scratch file and print its path
    #[arg(long)]
    pub keep: bool,

    /// File with the secret for --remote [default: the environment variable IOTUI_SECRET]
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,

    /// Print the plan without running it
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub out: Out,

    /// Print evidence, remedies, notes and costs too (format table)
    #[arg(long)]
    pub details: bool,

    /// Keep FILE current with the results so far, as metrics for node_exporter (openmetrics)
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub metrics: Option<PathBuf>,

    /// Save the session under this name; a name in use gets a number
    #[arg(long, value_name = "NAME", conflicts_with = "no_save")]
    pub save: Option<String>,

    /// Do not save a session file
    #[arg(long)]
    pub no_save: bool,

    /// Omit host name, user, folders and file names
    #[arg(long)]
    pub anonymous: bool,

    /// Exit 4 if a warning marks a number as wrong
    #[arg(long)]
    pub strict: bool,

    /// Print nothing but errors to stderr
    #[arg(long)]
    pub quiet: bool,
}

/// Parses PERCENT of `--fail-if-slower` into a share.
pub(super) fn parse_limit(text: &str) -> Result<f64, String> {
    match units::parse_percent(text) {
        Ok(share) if share < 1.0 => Ok(share),
        Ok(_) => Err("a loss cannot reach 100 %: choose less than 100".into()),
        Err(error) => Err(error.to_string()),
    }
}

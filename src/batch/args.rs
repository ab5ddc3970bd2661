//! The options of a run that are no settings of its plan.

use std::path::PathBuf;

use crate::report::{OUTPUT, Out};

const WHAT: &str = "What to measure";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file or block device to measure, opened read-only; with --op write a file that does not
    /// exist yet; without, a scratch file
    pub file: Option<PathBuf>,

    /// Presets; --list presets shows them [default: quick]
    #[arg(short, long, value_name = "NAME,..", value_delimiter = ',', help_heading = WHAT)]
    pub preset: Vec<String>,

    /// Run the plan of an earlier session again; seed, trials, trial time, budget and --remote may
    /// be given anew
    #[arg(long, value_name = "SESSION", help_heading = WHAT)]
    pub plan: Option<String>,

    /// Run the plan of an earlier session again and compare; options given with it must describe
    /// the same cells
    #[arg(long, value_name = "SESSION", conflicts_with = "plan", help_heading = WHAT)]
    pub baseline: Option<String>,

    /// Exit 3 when the whole 95 % interval of a cell's speed is more than PERCENT (5 or 5%) below
    /// its baseline
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = super::gate::limit, allow_hyphen_values = true, help_heading = WHAT)]
    pub fail_if_slower: Option<f64>,

    /// Folder of the scratch file [default: here, or the first of TMPDIR, /var/tmp, HOME that is on
    /// a disk]
    #[arg(long, value_name = "DIR", help_heading = WHAT)]
    pub dir: Option<PathBuf>,

    /// Keep the scratch file, under a name that is told
    #[arg(long, help_heading = WHAT)]
    pub keep: bool,

    /// File with the secret that --remote asks for; without it that of the variable IOTUI_SECRET
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub secret_file: Option<PathBuf>,

    /// Print the plan and run nothing
    #[arg(long, help_heading = WHAT)]
    pub dry_run: bool,

    #[command(flatten)]
    pub out: Out,

    /// Name the session; a name that is taken gets a number
    #[arg(long, value_name = "NAME", conflicts_with = "no_save", help_heading = OUTPUT)]
    pub save: Option<String>,

    /// Keep no session file
    #[arg(long, help_heading = OUTPUT)]
    pub no_save: bool,

    /// Leave out host name, user, folders and file names
    #[arg(long, help_heading = OUTPUT)]
    pub anonymous: bool,

    /// Exit 4 when a warning says that a number is wrong
    #[arg(long, help_heading = OUTPUT)]
    pub strict: bool,

    /// Nothing on stderr but errors
    #[arg(long, help_heading = OUTPUT)]
    pub quiet: bool,
}

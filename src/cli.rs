//! The command line: argv becomes [`Cli`] and [`Settings`], nothing else happens here.
//!
//! The options of a measurement are not listed again: they are made from [`Settings::ALL`].

mod complete;
mod help;
mod man;
mod refused;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{
    Arg, ArgAction, ArgMatches, Args as _, Command, CommandFactory, FromArgMatches, Parser,
    Subcommand,
};

use crate::batch::Args;
use crate::commands::{Generate, Lists, Serve, Sessions};
use crate::output::{LIST_FORMATS, Out};
use crate::plan::{Op, Setting, Settings, ValueKind, Writes};
use crate::shell::Screen;

pub use complete::{complete, write_registration};
pub use man::{ENVIRONMENT, FILES, pages as man_pages};

/// Measures how fast storage is, and proves where the bytes came from.
#[derive(Debug, Parser)]
#[command(
    name = "iotui",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Sub>,

    #[command(flatten)]
    pub run: Args,

    #[command(flatten)]
    pub screen: Screen,

    /// Create FILE by writing at its end, block size x count bytes: --op write --writes append
    #[arg(long, conflicts_with_all = ["op", "writes", "mix"])]
    pub create: bool,

    /// Run without the full screen: results on stdout, progress on stderr
    #[arg(long)]
    pub batch: bool,

    /// List what there is: backends, peers (external programs), probes, presets, experiments,
    /// references (published results to compare with), themes or profiles (of --expect), and why
    /// any of them is unavailable here
    #[arg(long, value_name = "WHAT")]
    pub list: Option<Lists>,

    /// Print the man page or shell completions; man with -o FOLDER writes a page for each command
    #[arg(long, value_name = "WHAT")]
    pub generate: Option<Generate>,
}

#[derive(Debug, Subcommand)]
pub enum Sub {
    /// List, show, compare, export and manage saved runs
    #[command(subcommand)]
    Sessions(Sessions),
    /// Describe this machine and what may disturb a measurement
    Host {
        /// A file or block device to examine too
        file: Option<PathBuf>,
        #[command(flatten)]
        out: Out,
    },
    /// Serve the network probes of another machine
    ///
    /// There, iotui --probe network --remote HOST measures to it. Listens on the loopback interface
    /// by default, opens no connections of its own, and serves up to 32 clients at once, within
    /// limits of size and time. SIGINT or SIGTERM stops it. Clients authenticate with a shared
    /// secret: both ends derive a key from it (32 MiB of memory, about 0.1 s, once) and prove that
    /// they hold the key. The test traffic itself is not encrypted.
    Serve(Serve),
}

/// The output of `--version`: the same as clap's, whose tree of options takes longer to build
/// than everything else that the program does for it.
pub const VERSION: &str = concat!("iotui ", env!("CARGO_PKG_VERSION"), "\n");

/// Returns whether this argument, if it is the only one, asks for the version.
pub fn asks_version(only: &OsStr) -> bool {
    only == "--version" || only == "-V"
}

/// The command line, read.
#[derive(Debug)]
pub struct Asked {
    pub cli: Cli,
    pub settings: Settings,
    /// An option that the chosen front end does not take.
    pub misplaced: Option<String>,
}

/// Options of a run that the full screen takes too; all others need `--batch`.
const FULL_SCREEN: [&str; 11] = [
    "files",
    "as_one",
    "preset",
    "dir",
    "secret_file",
    "no_save",
    "ascii",
    "color",
    "unit",
    "scale",
    "graph",
];

/// Returns the first of these options on the command line that is not one of `except`.
fn first_given(options: &Command, except: &[&str], matches: &ArgMatches) -> Option<String> {
    let mut options = options.get_arguments().filter(|option| {
        let id = option.get_id().as_str();
        matches.value_source(id) == Some(ValueSource::CommandLine) && !except.contains(&id)
    });
    let option = options.next()?;
    Some(format!("--{}", option.get_long().unwrap_or(option.get_id().as_str())))
}

/// Returns the whole command line, settings included.
pub fn command() -> Command {
    let lists = |command: Command| {
        command
            .mut_arg("format", |arg| arg.value_parser(LIST_FORMATS))
            .mut_arg("unit", |arg| arg.hide(true))
            .mut_arg("scale", |arg| arg.hide(true))
    };
    let command = Cli::command().args(Settings::ALL.iter().map(option));
    help::arrange(command)
        .mut_subcommand("host", lists)
        .mut_subcommand("sessions", |sessions| sessions.mut_subcommand("list", lists))
}

/// Returns the option of a setting.
fn option(setting: &Setting) -> Arg {
    let option =
        Arg::new(setting.name).long(setting.name).help(setting.help()).action(ArgAction::Set);
    let option = match setting.kind.placeholder() {
        // With `=` only: what follows after a space is the file.
        None => option
            .value_name("yes|no")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes"),
        Some(placeholder) => option.value_name(placeholder).allow_hyphen_values(true),
    };
    let option = match setting.kind {
        ValueKind::Forms(_) | ValueKind::Lists(_) => option.action(ArgAction::Append),
        _ => option,
    };
    match setting.short {
        Some(short) => option.short(short),
        None => option,
    }
}

/// A command line that asks for no run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// Help or the version, which are data.
    #[error("{0}")]
    Help(clap::Error),
    /// It is refused: why, in one line.
    #[error("{0}")]
    Refused(String),
}

/// Reads argv.
///
/// # Errors
/// Help and the version, or what is wrong with it.
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Asked, NoRun> {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let refused = |error: clap::Error| {
        if error.use_stderr() {
            let command = command();
            let describe = || refused::describe_error(&error, &argv, &command);
            NoRun::Refused(refused::nearly_command(&argv, &command).unwrap_or_else(describe))
        } else {
            NoRun::Help(error)
        }
    };
    let matches = command().try_get_matches_from(&argv).map_err(refused)?;
    let cli = Cli::from_arg_matches(&matches).map_err(refused)?;
    // The options of a run are not defined for subcommands, and clap refuses them there.
    if cli.command.is_some() {
        let settings = Settings::default();
        return Ok(Asked { cli, settings, misplaced: None });
    }
    let mut settings = settings(&matches)?;
    if cli.create {
        (settings.op, settings.writes) = (Some(Op::Write), Some(vec![Writes::Append]));
    }
    // A new file may have any name.
    let writes = settings.op.is_some() || settings.mix.is_some() || settings.writes.is_some();
    let creates = writes || !cli.run.preset.is_empty();
    let command = Cli::command();
    let nearly = || refused::nearly_command(&argv, &command).filter(|_| !creates);
    if let Some(why) = refused::late_command(&cli.run.files, &argv, &command).or_else(nearly) {
        return Err(NoRun::Refused(why));
    }
    let misplaced = if cli.batch {
        first_given(&Screen::augment_args(Command::new("screen")), &[], &matches)
    } else {
        first_given(&Args::augment_args(Command::new("run")), &FULL_SCREEN, &matches)
    };
    Ok(Asked { cli, settings, misplaced })
}

fn settings(matches: &ArgMatches) -> Result<Settings, NoRun> {
    let mut settings = Settings::default();
    for setting in Settings::ALL {
        let given = matches.get_many::<String>(setting.name).into_iter().flatten();
        let mut given: Vec<String> = given.cloned().collect();
        if matches!(setting.kind, ValueKind::Lists(_)) && !given.is_empty() {
            given = vec![given.join(",")];
        }
        for text in &given {
            let set = settings.set(setting.name, text);
            set.map_err(|error| NoRun::Refused(format!("--{}: {error}", setting.name)))?;
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Result<Asked, String> {
        parse(std::iter::once("iotui").chain(line.split_whitespace()).map(OsString::from))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn quick_version_equals_claps() {
        for option in ["--version", "-V"] {
            assert!(asks_version(OsStr::new(option)));
            assert_eq!(args(option).unwrap_err(), VERSION, "{option}");
        }
        assert!(!asks_version(OsStr::new("--help")) && !asks_version(OsStr::new("version")));
    }

    #[test]
    fn settings_come_from_options() {
        let asked = args("--batch -b read,mmap -s 1k..8k --direct -t 2 file").unwrap();
        assert_eq!(asked.settings.argv().join(" "), "-b read,mmap -s 1k..8k -t 2 --direct");
        assert_eq!(asked.cli.run.files, [PathBuf::from("file")]);
    }

    #[test]
    fn options_of_batch_are_misplaced() {
        for (line, option) in [
            ("--format json", Some("--format")),
            ("--anonymous file", Some("--anonymous")),
            ("-o out.txt", Some("--output")),
            ("--fail-if-slower 5 --baseline x", Some("--baseline")),
            ("--keep --direct", Some("--keep")),
            ("--direct --unit MB/s --scale log --ascii --color never -p quick --no-save", None),
            ("--dir /tmp --secret-file x", None),
        ] {
            assert_eq!(args(line).unwrap().misplaced.as_deref(), option, "{line}");
        }
        let options = Args::augment_args(Command::new("run"));
        let has = |id: &str| options.get_arguments().any(|option| option.get_id() == id);
        assert!(FULL_SCREEN.iter().all(|id| has(id)));
    }

    #[test]
    fn switch_takes_an_optional_value() {
        for (line, direct) in [
            ("", None),
            ("--direct", Some(vec![true])),
            ("--direct=yes", Some(vec![true])),
            ("--direct=no", Some(vec![false])),
            ("--direct=yes,no", Some(vec![false, true])),
        ] {
            let asked = args(&format!("--batch {line} file")).unwrap();
            assert_eq!(
                (asked.settings.direct, asked.cli.run.files),
                (direct, vec!["file".into()]),
                "{line}"
            );
        }
        let error = args("--batch --direct=maybe").unwrap_err();
        assert!(
            error.contains("--direct: 'maybe' is not yes or no")
                && error.trim_end().lines().count() == 1,
            "{error}"
        );
        assert!(args("--batch --direct=").unwrap_err().contains("--direct"));
        assert!(args("--batch --direct --direct=no").is_err(), "both cannot hold");
    }

    #[test]
    fn create_is_short_for_appending() {
        let asked = args("--batch --create -s 512 -n 9 new.bin").unwrap();
        assert_eq!(asked.settings.argv().join(" "), "-s 512 -n 9 --op write --writes append");
        assert_eq!((asked.misplaced, args("--create new.bin").unwrap().misplaced), (None, None));
        assert!(args("--batch --create --op read x").unwrap_err().contains("--op"));
    }

    #[test]
    fn bad_value_names_its_option() {
        let error = args("--batch -s 8m..1k").unwrap_err();
        assert!(
            error.contains("--block-size: the range '8m..1k' runs backwards")
                && error.trim_end().lines().count() == 1,
            "{error}"
        );
        assert!(args("--batch --count -5").unwrap_err().contains("--count: '-5' is not a count"));
    }

    #[test]
    fn probe_parameters_add_up() {
        let asked =
            args("--batch --probe memory --set bytes=64k,1m --set latency.stride=64..256").unwrap();
        assert_eq!(
            asked.settings.argv().join(" "),
            "--probe memory --set bytes=64k,1m --set latency.stride=64..256"
        );
        let error = args("--batch --probe memory --set bytes").unwrap_err();
        assert!(
            error.contains("--set: 'bytes' is not NAME=VALUES")
                && error.trim_end().lines().count() == 1,
            "{error}"
        );
    }

    #[test]
    fn late_command_is_refused() {
        let refusal = |line| args(line).unwrap_err().trim_end().to_string();
        assert!(refusal("one.bin host").starts_with("host is a command: put it first"));
        assert!(
            refusal("--batch sessions list").starts_with("sessions is a command: put it first")
        );
        for (line, files) in [
            ("--batch -p quick one.bin two.bin", &["one.bin", "two.bin"][..]),
            ("--batch a -- host", &["a", "host"]),
            ("--save host a host2", &["a", "host2"]),
            ("f serve.bin -b serve", &["f", "serve.bin"]),
            ("-b host one two", &["one", "two"]),
        ] {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(args(line).unwrap().cli.run.files, files, "{line}");
        }
    }

    #[test]
    fn mistyped_command_is_understood() {
        for (line, meant) in [
            ("session list", "iotui sessions list"),
            ("hots", "iotui host"),
            ("sevre --listen ::1", "iotui serve --listen ::1"),
            ("batch big.iso", "iotui --batch big.iso"),
        ] {
            let typed = line.split(' ').next().unwrap();
            let wanted = format!("{typed}: no such file; did you mean '{meant}'?");
            assert_eq!(args(line).unwrap_err(), wanted);
        }
        for line in ["src", "Cargo.toml", "test", "big.iso session", "session --op write", "./host"]
        {
            assert!(args(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn subcommands_refuse_run_options() {
        assert!(matches!(
            args("sessions list --format json").unwrap().cli.command,
            Some(Sub::Sessions(Sessions::List { .. }))
        ));
        assert!(args("host --direct").is_err());
    }
}

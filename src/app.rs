//! From argv to an exit code: which front end or command runs.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;

use crate::batch;
use crate::catalog;
use crate::cli::{self, Asked, Cli, NoRun, Sub};
use crate::commands::{self, Generate};
use crate::config;
use crate::engine;
use crate::output::{self, Out};
use crate::plan::{Settings, check_sets, find_probes};
use crate::probe::net::set_process_secret;
use crate::runner::{self, Ranks};
use crate::shell;
use crate::sys::{memory, signals};
use crate::text;
use crate::units::show_bytes;

/// Exit code of wrong usage: nothing was run.
pub const USAGE: u8 = 2;

/// Exit code of a run that failed.
const FAILED: u8 = 1;

pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    signals::ignore_file_size();
    let argv: Vec<OsString> = argv.into_iter().collect();
    if let [_, only] = &argv[..]
        && cli::asks_version(only)
    {
        return done(print_version().map(|()| 0));
    }
    if !memory::has_room() {
        let why = b"iotui: the address-space limit (ulimit -v) leaves too little memory to run\n";
        // Nothing is left to say it with.
        let _ = io::stderr().write_all(why);
        return ExitCode::FAILURE;
    }
    if let [_, only] = &argv[..]
        && only == engine::NEIGHBOUR
    {
        engine::serve_neighbour(io::BufReader::new(io::stdin()), io::stdout());
        return ExitCode::SUCCESS;
    }
    match cli::complete(&argv) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(why) => return done(Err(anyhow::Error::msg(why))),
    }
    let asked = match cli::parse(argv) {
        Ok(asked) => asked,
        Err(NoRun::Help(help)) => return done(print(&help).map(|()| 0)),
        Err(NoRun::Refused(why)) => return done(Err(anyhow::Error::msg(why))),
    };
    done(dispatch(asked))
}

/// How a process that measures with others ended.
pub struct Ended {
    pub code: u8,
    /// The others know that it is over.
    pub together: bool,
}

/// Runs as one of several ranks: the first measures as `--batch` does and prints the report, the
/// others follow it.
pub fn main_of_ranks(argv: impl IntoIterator<Item = OsString>, ranks: Ranks) -> Ended {
    signals::ignore_file_size();
    if ranks.rank() > 0 {
        let followed = signals::install().context("cannot handle signals").and_then(|()| {
            engine::follow(&*ranks, signals::stop_flag(), signals::pending)
                .map_err(anyhow::Error::msg)
        });
        return Ended { together: followed.is_ok(), code: code(followed.map(|()| 0)) };
    }
    let code = code(match cli::parse(argv) {
        Ok(asked) => measure_together(asked, Arc::clone(&ranks)),
        Err(NoRun::Help(help)) => print(&help).map(|()| 0),
        Err(NoRun::Refused(why)) => Err(anyhow::Error::msg(why)),
    });
    // The engine's thread still has them if a system call hangs in it.
    let together = Arc::strong_count(&ranks) == 1;
    if together {
        engine::dismiss(&*ranks);
    }
    // Then it hangs in a rank or in a system call: nothing was used wrongly, and nothing is well.
    let code = if !together && matches!(code, 0 | USAGE) { FAILED } else { code };
    Ended { code, together }
}

fn measure_together(mut asked: Asked, ranks: Ranks) -> anyhow::Result<u8> {
    // A launcher may give each rank a terminal, and still collect its output in a file.
    if asked.cli.run.out.color == output::When::Auto {
        asked.cli.run.out.color = output::When::Never;
    }
    let cli = &asked.cli;
    if !cli.batch || cli.command.is_some() || cli.list.is_some() || cli.generate.is_some() {
        anyhow::bail!("iotui-mpi only measures: add --batch; for the rest there is iotui");
    }
    if let Some(others) = launched().filter(|launched| ranks.size() == 1 && *launched > 1) {
        anyhow::bail!(
            "the launcher started {others} processes, but {} sees only this one: build iotui-mpi with \
             the MPI library of the launcher",
            ranks.library()
        );
    }
    if ranks.size() == 1 && !cli.run.quiet {
        output::print_message("iotui: one rank: this is the same as iotui --batch");
    }
    measure(asked, Some(ranks))
}

/// Returns the number of processes that an MPI launcher started; `None` without a launcher.
fn launched() -> Option<u32> {
    // Open MPI, MPICH and what is made from it, and a step of Slurm.
    let names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

fn done(result: anyhow::Result<u8>) -> ExitCode {
    ExitCode::from(code(result))
}

/// Returns the exit code; prints the error.
fn code(result: anyhow::Result<u8>) -> u8 {
    result.unwrap_or_else(|error| {
        // One line, whatever is in the names of files.
        output::print_message(format!("iotui: {}", text::clean_text(&causes(&error))));
        error.downcast_ref::<output::Failure>().map_or(USAGE, |failure| failure.0)
    })
}

/// Returns what went wrong and why, each cause once: some errors say their cause themselves.
fn causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        text if text.contains(&cause) => text.into(),
        text => format!("{text}: {cause}"),
    })
}

/// Prints help or the version: these are data and must arrive.
fn print(help: &clap::Error) -> anyhow::Result<()> {
    output::stdout()?;
    output::ignore_broken_pipe(help.print().and_then(|()| io::stdout().flush()))
}

fn print_version() -> anyhow::Result<()> {
    let mut out = output::stdout()?;
    output::ignore_broken_pipe(out.write_all(cli::VERSION.as_bytes()))
}

fn dispatch(asked: Asked) -> anyhow::Result<u8> {
    let cli = &asked.cli;
    set_process_secret(cli.run.secret_file.as_deref()).context("--secret-file")?;
    match (&cli.command, cli.list, cli.generate) {
        (Some(Sub::Sessions(sessions)), ..) => commands::sessions::run(sessions),
        (Some(Sub::Host { file, out }), ..) => commands::host::run(file.as_deref(), out),
        (Some(Sub::Serve(serve)), ..) => commands::serve::run(serve),
        (None, Some(what), _) => {
            commands::list::run(what, &config::presets(), &list_themes, &cli.run.out)
        }
        (None, None, Some(what)) => generate(what, &cli.run.out),
        (None, None, None) => measure(asked, None),
    }
}

/// Writes man pages, or prints what makes a shell ask iotui for completions.
fn generate(what: Generate, out: &Out) -> anyhow::Result<u8> {
    let shell = match what {
        Generate::Man => return write_man(out),
        Generate::Bash => "bash",
        Generate::Zsh => "zsh",
        Generate::Fish => "fish",
    };
    let mut text = Vec::new();
    cli::write_registration(shell, &mut text)?;
    out.write(|to| to.write_all(&text))?;
    Ok(0)
}

/// Writes the main page, or all pages into a folder.
fn write_man(out: &Out) -> anyhow::Result<u8> {
    let pages = cli::man_pages()?;
    let Some(folder) = out.output.as_ref().filter(|path| path.is_dir()) else {
        out.write(|to| to.write_all(&pages[0].1))?;
        return Ok(0);
    };
    for (name, text) in pages {
        let out = Out { output: Some(folder.join(name)), ..out.clone() };
        out.write(|to| to.write_all(&text))?;
    }
    Ok(0)
}

fn list_themes() -> Vec<commands::list::Entry> {
    shell::list_themes()
        .into_iter()
        .map(|theme| commands::list::theme(&theme.id, &theme.about, theme.is_own, theme.broken))
        .collect()
}

/// Measures, in either front end, alone or with the other ranks.
fn measure(asked: Asked, ranks: Option<Ranks>) -> anyhow::Result<u8> {
    let Asked { cli, settings, misplaced } = asked;
    if let Some((limit, left)) = memory::narrow_space() {
        let [limit, left, least] = [limit, left, memory::MIN_ADDRESS_SPACE].map(show_bytes);
        return Err(output::failure(format!(
            "the address-space limit (ulimit -v, {limit}) leaves {left}, but a run needs {least}"
        )));
    }
    match misplaced {
        Some(option) if cli.batch => {
            anyhow::bail!("{option} is for the full screen: it has no effect with --batch")
        }
        Some(option) => anyhow::bail!("{option} is for headless runs: add --batch"),
        None if cli.batch => batch::run(&cli.run, &settings, &config::presets(), ranks),
        None => full_screen(cli, settings),
    }
}

fn full_screen(cli: Cli, settings: Settings) -> anyhow::Result<u8> {
    let run = cli.run;
    if run.preset.len() > 1 {
        anyhow::bail!("more than one --preset is for headless runs: add --batch");
    }
    if run.dir.len() > 1 {
        anyhow::bail!("more than one --dir is for headless runs: add --batch");
    }
    for choice in settings.backend.iter().flat_map(|backends| backends.choices(&[])) {
        engine::Executor::from_choice(&choice).context("--backend")?;
    }
    // Lab would take an unknown name for all probes.
    if let Some(words) = &settings.probe {
        let chosen = find_probes(words, catalog::PROBES).context("--probe")?;
        let chosen: Vec<_> = chosen.into_iter().copied().collect();
        check_sets(settings.sets.as_deref().unwrap_or_default(), &chosen).context("--set")?;
    }
    let presets = config::presets();
    let preset = match run.preset.first() {
        Some(id) => Some(presets.get(id)?.clone()),
        // The first profile says what to measure.
        None => runner::presets_of_profiles(&settings).context("--expect")?.into_iter().next(),
    };
    let (color, ascii, shown, save) = (run.out.color, run.out.ascii, run.out.shown, !run.no_save);
    shell::run(
        &cli.screen,
        shell::Asked {
            files: run.files,
            as_one: run.as_one,
            dir: run.dir.into_iter().next(),
            preset,
            settings,
            save,
            color,
            ascii,
            shown,
            presets,
        },
    )
}

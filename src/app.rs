//! From argv to an exit code: which front end or command runs.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use crate::batch;
use crate::cli::{self, Asked, Sub};
use crate::commands;
use crate::report;
use crate::session;

/// Exit code of wrong usage: nothing was run.
pub const USAGE: u8 = 2;

pub fn main(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let asked = match cli::parse(argv) {
        Ok(asked) => asked,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { 0 };
            // A closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match dispatch(asked) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // One line, whatever is in the names of files.
            report::say(format!("iotui: {}", session::clean_text(&format!("{error:#}"))));
            ExitCode::from(error.downcast_ref::<report::Failed>().map_or(USAGE, |f| f.0))
        }
    }
}

fn dispatch(asked: Asked) -> anyhow::Result<u8> {
    let Asked { cli, settings } = asked;
    match (&cli.command, cli.list, cli.generate) {
        (Some(Sub::Sessions(sessions)), ..) => commands::sessions::run(sessions),
        (Some(Sub::Host { file, out }), ..) => commands::host::run(file.as_deref(), out),
        (None, Some(what), _) => commands::list::run(what, &cli.run.out),
        (None, None, Some(what)) => commands::generate::run(what, cli::command(), &cli.run.out),
        (None, None, None) if cli.batch => batch::run(&cli.run, &settings),
        (None, None, None) => Err(no_screen()),
    }
}

/// There is no full screen in this version; the message does not promise one.
fn no_screen() -> anyhow::Error {
    if std::io::stdout().is_terminal() {
        anyhow::anyhow!("this version runs headless only: iotui --batch [FILE] (iotui --help shows all options)")
    } else {
        anyhow::anyhow!("there is no terminal here: use iotui --batch [FILE]")
    }
}

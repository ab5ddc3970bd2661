//! `iotui --generate`: the man page and shell completions, from the one definition of the command
//! line.

use clap_complete::Shell;

use super::Generate;
use crate::output::Out;

/// Prints what was requested; `command` is the definition of the command line.
pub fn run(what: Generate, mut command: clap::Command, out: &Out) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    let shell = match what {
        Generate::Man => {
            clap_mangen::Man::new(command.clone()).render(&mut text)?;
            None
        }
        Generate::Bash => Some(Shell::Bash),
        Generate::Zsh => Some(Shell::Zsh),
        Generate::Fish => Some(Shell::Fish),
    };
    if let Some(shell) = shell {
        clap_complete::generate(shell, &mut command, "iotui", &mut text);
    }
    out.write(|to| to.write_all(&text))?;
    Ok(0)
}

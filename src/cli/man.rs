//! The man pages: one of the program, and one of each command.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::help::{EXIT_STATUS, examples};

/// Folders of the user, and what is in them.
pub const FILES: [(&str, &str); 5] = [
    ("$XDG_DATA_HOME/iotui/sessions (~/.local/share/iotui/sessions)", "Sessions, one file each."),
    ("$XDG_CONFIG_HOME/iotui/presets (~/.config/iotui/presets)", "Your presets."),
    ("$XDG_CONFIG_HOME/iotui/expect (~/.config/iotui/expect)", "Your profiles of --expect."),
    ("$XDG_CACHE_HOME/iotui (~/.cache/iotui)", "Ceilings measured since boot; safe to delete."),
    ("$XDG_STATE_HOME/iotui (~/.local/state/iotui)", "What the full screen remembers."),
];

/// Variables of the environment, and their effect.
pub const ENVIRONMENT: [(&str, &str); 7] = [
    ("COLUMNS", "Width of a table that goes to a pipe or file; 80 without it."),
    ("NO_COLOR", "No colors."),
    ("TERM", "If it is dumb, no colors and no full screen."),
    ("LANG, LC_ALL, LC_CTYPE", "A locale that is not UTF-8 means ASCII only."),
    ("TMPDIR", "A place for the scratch file if the current folder is not on a disk."),
    ("IOTUI_SECRET", "The secret of iotui serve and --remote."),
    ("IOTUI_COMPLETE", "Set by the completion of a shell to the name of the shell."),
];

/// Returns the pages, each with the name of its file; the first is the program's own.
///
/// # Errors
/// Text cannot be written, which memory always takes.
pub fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    // A page has the text of each option.
    let mut program = super::command()
        .disable_help_subcommand(true)
        .mut_args(|option| option.hide_short_help(false));
    program.build();
    let mut commands = Vec::new();
    collect(&program, &mut commands);
    let names: Vec<String> =
        commands.iter().map(|command| Man::new(command.clone()).get_filename()).collect();
    let page = |(command, name): (&Command, &String)| {
        let others = names.iter().filter(|other| *other != name).map(|other| refer(other));
        let others: Vec<String> = others.collect();
        Ok((name.clone(), page(command.clone(), &others.join(", "))?))
    };
    commands.iter().zip(&names).map(page).collect()
}

/// Lists a command, then all commands below it.
fn collect(command: &Command, into: &mut Vec<Command>) {
    into.push(command.clone());
    command.get_subcommands().for_each(|sub| collect(sub, into));
}

/// Returns `iotui(1)` of `iotui.1`.
fn refer(file: &str) -> String {
    file.strip_suffix(".1").map_or_else(|| file.into(), |name| format!("{name}(1)"))
}

fn page(mut command: Command, others: &str) -> io::Result<Vec<u8>> {
    let path = command.get_bin_name().unwrap_or("iotui").to_string();
    let usage = command.render_usage().to_string();
    let has_commands = command.has_subcommands();
    // Without it the synopsis lists each option.
    let command = command.override_usage(usage.trim_start_matches("Usage:").trim().to_string());
    let (man, mut page) = (Man::new(command), Vec::new());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::default();
    for (heading, rows) in [("FILES", &FILES[..]), ("ENVIRONMENT", &ENVIRONMENT)] {
        roff.control("SH", [heading]);
        for (name, text) in rows {
            roff.control("TP", []).text([bold(*name)]).text([roman(*text)]);
        }
    }
    for (heading, text) in [("EXIT STATUS", EXIT_STATUS), ("EXAMPLES", &examples(&path, ""))] {
        roff.control("SH", [heading]).control("nf", []).text([roman(text)]).control("fi", []);
    }
    roff.control("SH", ["SEE ALSO"]).text([roman(others)]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_all_sections() {
        let pages = pages().unwrap();
        assert_eq!(pages.len(), 11, "the program, three commands, seven below sessions");
        assert_eq!(pages[0].0, "iotui.1");
        for (name, text) in &pages {
            let text = std::str::from_utf8(text).unwrap();
            let sections = [
                "NAME",
                "SYNOPSIS",
                "DESCRIPTION",
                "OPTIONS",
                "FILES",
                "ENVIRONMENT",
                "\"EXIT STATUS\"",
                "EXAMPLES",
                "\"SEE ALSO\"",
            ];
            for section in sections {
                let parts: Vec<&str> = text.split(&format!(".SH {section}\n")).collect();
                assert_eq!(parts.len(), 2, "{name}: {section}\n{text}");
                assert!(!parts[1].trim_start().starts_with(".SH"), "{name}: {section} is empty");
            }
            let examples = text.split(".SH EXAMPLES\n").nth(1).unwrap();
            let command = name.trim_end_matches(".1").replace('-', " ");
            assert!(examples.contains(&format!("  {command}")), "{name}: {examples}");
            let named = |other: &&String| text.contains(&refer(other).replace('-', "\\-"));
            assert_eq!(pages.iter().map(|page| &page.0).filter(named).count(), 10, "{name}");
        }
        assert!(pages.iter().all(|(_, text)| !text.windows(8).any(|part| part == b"\n.TP\n.SH")));
        let synopsis = std::str::from_utf8(&pages[0].1).unwrap();
        assert!(!synopsis.contains("[\\fB\\-\\-seed"), "{synopsis}");
    }
}

//! The order of the options in help and man page, and the short help: one line per option.

use clap::{Arg, ArgAction, Command};

/// Options by their ids: a heading, and the options below it; the short help only names the last
/// ones. First are the ones that most people need.
const GROUPS: [(Option<&str>, &str, &str); 9] = [
    (None, "batch preset backend block-size op pattern direct cache budget expect", ""),
    (
        Some("What"),
        "threads depth count size dir probe xor fresh",
        "as_one opened memory-share cpus cpu-cache cold",
    ),
    (
        Some("Writes"),
        "create sync writes file-per mix verify",
        "sync-every compressible dedupe precondition keep",
    ),
    (
        Some("How long, how fast"),
        "trials until trial-time rate latency-target watch dry_run",
        "stop-if arrival think seed ceilings",
    ),
    (
        Some("Compare and repeat"),
        "plan refine baseline between neighbour fail_if_slower rated",
        "neighbour-share",
    ),
    (Some("Clusters (iotui-mpi)"), "ranks layout shift", ""),
    (
        Some("Output"),
        "format output details unit save no_save anonymous strict quiet",
        "metrics ascii color scale graph",
    ),
    (Some("Full screen"), "theme replay demo", "speed no_mouse no_bell"),
    (Some("Other"), "list generate help version", "set remote secret_file"),
];

/// Columns of the short help, and of an option in it.
const COLUMNS: usize = 80;
const OPTION_COLUMNS: usize = 30;

/// Examples of the program and its commands.
const EXAMPLES: [(&str, &str); 19] = [
    ("iotui", "the full screen, which asks what to measure"),
    ("iotui big.iso", "the full screen for a file, opened read-only"),
    ("iotui --batch", "a scratch file, cold and warm: what is fastest"),
    ("iotui --batch -p peak --dir /mnt/data", "how fast the disk of a folder is"),
    ("iotui --batch -b pread,uring -s 512..1m --direct big.iso", ""),
    ("iotui --batch -b uring -s 4k --pattern random -q 1..64 --direct", ""),
    ("iotui --batch --op write --size 1g --sync end -b pread -s 4k,1m", ""),
    ("iotui --batch --baseline main --fail-if-slower 5%", ""),
    ("iotui --batch --expect etcd --dir /var/lib", ""),
    ("iotui sessions list", "list the saved runs"),
    ("iotui sessions show last", "the report of the last run"),
    ("iotui sessions compare last~1 last", "the last two runs, cell by cell"),
    ("iotui sessions export last --format html -o run.html", ""),
    ("iotui sessions rename last before-update", ""),
    ("iotui sessions delete before-update", ""),
    ("iotui sessions import result.json", "a result of fio"),
    ("iotui host", "this machine, and what disturbs here"),
    ("iotui host /dev/vda", "and this disk"),
    ("iotui serve --listen 0.0.0.0 --secret-file key", "for --remote of another machine"),
];

pub(super) const EXIT_STATUS: &str =
    "  0  success                           3  slower than the baseline (--fail-if-slower)
  1  a cell or the run failed, or      4  a wrong number (--strict)
     data is wrong (--verify)
  2  wrong usage                       5  not as expected (--expect)
                                       129, 130, 143  stopped by SIGHUP, SIGINT, SIGTERM
                                       131  the full screen was left by SIGQUIT
";

/// Puts the options in order, and adds the short help, the examples and the exit status.
pub(super) fn arrange(command: Command) -> Command {
    let version = Arg::new("version").long("version").short('V');
    let mut command =
        command.arg(help_flag()).arg(version.help("Print the version").action(ArgAction::Version));
    for (heading, options, rare) in GROUPS {
        let ids = options.split(' ').chain(rare.split_whitespace());
        for (at, id) in ids.enumerate() {
            let place =
                |arg: Arg| arg.help_heading(heading).display_order(at).hide_short_help(true);
            command = command.mut_arg(id, place);
        }
    }
    let short = short_help(&command);
    add_examples(command.mut_arg("files", |arg| arg.hide_short_help(true)), "iotui")
        .after_help(short)
        .after_long_help(format!(
            "{}\nExit status:\n{EXIT_STATUS}",
            examples("iotui", "Examples:\n")
        ))
}

fn help_flag() -> Arg {
    let about = "Print help: -h in short, --help all of it";
    Arg::new("help").long("help").short('h').help(about).action(ArgAction::Help)
}

/// Adds to the help of each command the examples of it; the commands below it get their help.
fn add_examples(command: Command, path: &str) -> Command {
    let text = examples(path, "Examples:\n");
    command.after_long_help(text).mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name());
        add_examples(sub.arg(help_flag()), &path)
    })
}

/// Returns the examples of a command and of those below it, below a heading.
pub(super) fn examples(command: &str, heading: &str) -> String {
    let mut text = String::from(heading);
    for (line, about) in EXAMPLES.iter().filter(|(line, _)| line.starts_with(command)) {
        text += format!("  {line:<38} {about}").trim_end();
        text.push('\n');
    }
    text
}

fn short_help(command: &Command) -> String {
    let find = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id);
    let mut text = String::new();
    let option = |text: &mut String, id| {
        text.extend(find(id).map(|arg| describe_option(arg) + "\n"));
    };
    for (heading, options, rare) in GROUPS {
        text += heading.unwrap_or("Options");
        if !rare.is_empty() {
            text += &format!(" (and --{})", rare.replace('_', "-").replace(' ', ", --"));
        }
        text += ":\n";
        if heading.is_none() {
            option(&mut text, "files");
        }
        options.split(' ').for_each(|id| option(&mut text, id));
    }
    text + "\nMore, and examples: iotui --help\n"
}

/// Describes an option in one line: its names, its value as far as it fits, and the first clause of
/// its help.
fn describe_option(arg: &Arg) -> String {
    let mut name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("  -{short}, --{long}"),
        (None, Some(long)) => format!("      --{long}"),
        _ => "  [FILE]...".into(),
    };
    if arg.get_action().takes_values() && !arg.is_positional() {
        let value = arg.get_value_names().unwrap_or_default().join(" ");
        let left = OPTION_COLUMNS.saturating_sub(name.len() + 2);
        name += &match value.split(['|', ',', '[']).next() {
            _ if value == "yes|no" => String::new(),
            _ if value.len() <= left => format!(" {value}"),
            Some(first) if first.len() + 3 <= left && first.len() < value.len() => {
                format!(" {first}..")
            }
            _ => String::new(),
        };
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let ends = ["; ", ". ", ": ", " (", " ["].iter().filter_map(|end| help.find(end));
    let clause = &help[..ends.min().unwrap_or(help.len())];
    let room = COLUMNS - OPTION_COLUMNS;
    let comma = clause.match_indices(", ").map(|(at, _)| at).filter(|at| *at <= room).last();
    let clause = if clause.len() > room { &clause[..comma.unwrap_or(room)] } else { clause };
    let default = help.rsplit_once(" [default: ").map(|(_, text)| format!(" [{text}"));
    let default = default
        .filter(|text| {
            clause.len() + text.len() <= room && ![" [none]", " [nothing]"].contains(&&**text)
        })
        .unwrap_or_default();
    format!("{name:<OPTION_COLUMNS$}{clause}{default}").trim_end().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_option_has_one_place() {
        let command = crate::cli::command();
        let ids = |(_, options, rare): &(_, &'static str, &'static str)| {
            options.split(' ').chain(rare.split_whitespace()).collect::<Vec<_>>()
        };
        let placed: Vec<&str> = GROUPS.iter().flat_map(ids).collect();
        let all = command.get_arguments().map(|arg| arg.get_id().as_str());
        let all: BTreeSet<&str> = all.filter(|id| *id != "files").collect();
        assert_eq!(placed.len(), all.len(), "an option is listed twice");
        assert_eq!(placed.into_iter().collect::<BTreeSet<_>>(), all);
        assert_eq!(GROUPS[0].1.split(' ').count(), 10);
    }

    #[test]
    fn short_help_fits_a_screen() {
        let text = crate::cli::command().render_help().to_string();
        assert!(text.lines().count() <= 80, "{} lines:\n{text}", text.lines().count());
        let long = text.lines().find(|line| line.chars().count() > COLUMNS);
        assert_eq!(long, None, "\n{text}");
        for arg in crate::cli::command().get_arguments() {
            let named = arg.get_long().is_none_or(|long| text.contains(&format!("--{long}")));
            assert!(named, "{}", arg.get_id());
            let line = describe_option(arg);
            // Rare options have only their name there.
            if !text.contains(&line) {
                continue;
            }
            let (_, about) = line.split_at_checked(OPTION_COLUMNS).unwrap_or((&line, ""));
            let help = arg.get_help().unwrap().to_string();
            let cut = about.split(" [").next().unwrap();
            let next = help.strip_prefix(cut).and_then(|rest| rest.chars().next());
            assert!(!cut.is_empty() && !next.is_some_and(char::is_alphanumeric), "{line}");
        }
    }

    #[test]
    fn examples_are_accepted() {
        for (line, _) in EXAMPLES {
            let words = line.split_whitespace().map(Into::into);
            assert!(crate::cli::parse(words).is_ok(), "{line}");
        }
    }
}

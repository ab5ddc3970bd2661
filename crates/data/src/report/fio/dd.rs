//! The `dd` command equivalent to a cell, if there is one: read(2) or write(2), in order,
//! one thread.

use super::target::FioTarget;
use crate::catalog::info;
use crate::plan::{Cache, Fio, Job, Op, Pattern, Sync, Writes};
use crate::report::text;

/// Returns the shell command.
pub fn command(job: &Job, target: &FioTarget) -> Option<String> {
    let is_plain = job.threads == 1
        && job.depth == 1
        && job.mix.is_none()
        && job.pattern == Pattern::Seq
        && !job.xor
        && job.writes != Writes::Preallocated;
    if !is_plain || !uses_sync_engine(job) || !matches!(job.op, Op::Read | Op::Write) {
        return None;
    }
    let file = shell_quote(target)?;
    let blocks = job.blocks();
    let count = match job.count {
        Some(0) | None => blocks,
        Some(count) => count.min(blocks),
    };
    let block = job.block;
    if job.commits() && !matches!(job.sync, Sync::Dsync | Sync::Osync) {
        return None;
    }
    Some(match job.op {
        Op::Write => {
            let oflag = format_flags(
                "oflag",
                &[
                    ("direct", job.direct),
                    ("dsync", job.sync == Sync::Dsync),
                    ("sync", job.sync == Sync::Osync),
                ],
            );
            let conv = format_flags(
                "conv",
                &[("notrunc", !job.appends()), ("fdatasync", job.sync == Sync::End)],
            );
            format!("dd if=/dev/zero of={file} bs={block} count={count}{oflag}{conv}")
        }
        _ => {
            let iflag = format_flags("iflag", &[("direct", job.direct)]);
            let read = format!("dd if={file} of=/dev/null bs={block} count={count}{iflag}");
            match job.cache {
                Cache::Cold => format!("dd if={file} iflag=nocache count=0 && {read}"),
                Cache::Warm => format!("cat {file} >/dev/null && {read}"),
                Cache::AsIs => read,
            }
        }
    })
}

/// Returns whether the backend uses read(2) and write(2), which fio's engine `sync` does.
fn uses_sync_engine(job: &Job) -> bool {
    let Some(Fio::Engine(engine)) = info(&job.backend).map(|info| info.fio) else { return false };
    let implied = |option: &str| {
        engine.options.iter().any(|known| known.option == option && known.assignment.is_none())
    };
    engine.name == "sync" && job.backend.options.iter().all(|(option, _)| implied(option))
}

fn format_flags(name: &str, flags: &[(&str, bool)]) -> String {
    let set: Vec<&str> = flags.iter().filter(|(_, on)| *on).map(|(flag, _)| *flag).collect();
    if set.is_empty() { String::new() } else { format!(" {name}={}", set.join(",")) }
}

/// Quotes the path for a shell; `None` if it has characters that would be escaped on display.
fn shell_quote(target: &FioTarget) -> Option<String> {
    let name = target.path.to_str().filter(|name| text::clean(name) == **name)?;
    // A name that begins with a dash would be read as an option by cat.
    let name = if name.starts_with('-') { format!("./{name}") } else { name.into() };
    fn plain(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-')
    }
    Some(if name.chars().all(plain) { name } else { format!("'{}'", name.replace('\'', "'\\''")) })
}

//! The names of scratch files and folders.

use std::path::Path;

use super::folder::{is_random_name, random_name};

pub const PREFIX: &str = ".iotui-scratch-";

/// Returns a random name that marks a file as iotui's.
pub fn next_name() -> String {
    format!("{PREFIX}{}", random_name())
}

/// Returns whether a scratch file of this name may be a leftover: a name from [`next_name`], or the
/// `.iotui-scratch-PID-N` of older versions if that process has ended.
pub fn is_leftover_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| is_random_name(rest) || old_owner(rest).is_some_and(|pid| !alive(pid)))
}

fn old_owner(rest: &str) -> Option<u32> {
    let (pid, count) = rest.split_once('-')?;
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    number(count)?;
    number(pid)
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

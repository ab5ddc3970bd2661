//! t/io_uring, and the rate that it prints.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::Case;

/// Starts t/io_uring for `seconds` on `file`; `None` where it cannot be started.
pub fn start(program: &OsStr, case: &Case, file: &Path, seconds: u64) -> Option<Child> {
    let Case { depth, batch, block, .. } = case;
    let (direct, nop) = (u8::from(case.direct), u8::from(case.nop));
    let line = format!(
        "-d{depth} -s{batch} -c{batch} -b{block} -O{direct} -N{nop} -r{seconds} -p0 -B1 -F1 -X1 \
         -R1 -n1"
    );
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).arg(file);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()
}

/// Waits for its end; returns its operations per second without the first second and the last, of
/// which it prints no figure.
pub fn rate(peer: Child, block: u64) -> Option<f64> {
    let output = peer.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rates: Vec<f64> =
        text.lines().filter_map(|line| printed_rate(line, block)).skip(1).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Returns the rate in a line of t/io_uring: `IOPS=1.20M, BW=4.69GiB/s, ...`, by the figure that is
/// rounded less: here to 0.2 %, not to 0.8 %.
fn printed_rate(line: &str, block: u64) -> Option<f64> {
    let mut parts = line.strip_prefix("IOPS=")?.split(", ");
    let (rate, step) = match parts.next()? {
        text if text.ends_with('M') => figure(text, "M", 1e6)?,
        text if text.ends_with('K') => figure(text, "K", 1e3)?,
        text => figure(text, "", 1.0)?,
    };
    let bytes = parts.next().and_then(|text| text.strip_prefix("BW=")).and_then(|text| {
        let mib = f64::from(1 << 20);
        // It calls 1,000 MiB a GiB.
        figure(text, "GiB/s", mib * 1000.0).or_else(|| figure(text, "MiB/s", mib))
    });
    match bytes {
        Some((bytes, fine)) if fine * rate < step * bytes => Some(bytes / block as f64),
        _ => Some(rate),
    }
}

/// Returns the value of a printed number, and of the step to which it is rounded.
fn figure(text: &str, unit: &str, factor: f64) -> Option<(f64, f64)> {
    let number = text.strip_suffix(unit)?;
    let digits = number.split_once('.').map_or(0, |(_, part)| part.len());
    Some((number.parse::<f64>().ok()? * factor, factor / 10f64.powi(digits as i32)))
}

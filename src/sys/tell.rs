//! Words for people, on stderr.

use std::fmt::Display;
use std::io::Write;

/// One line on stderr. Nobody may read there any more: no reason to fail, as `eprintln!` would.
pub fn tell(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

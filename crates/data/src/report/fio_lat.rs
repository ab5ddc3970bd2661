//! Latencies over time in the lines of fio's latency logs, for tools that read these.

use std::io::{self, Write};

use super::fio_log::{self, Interval};
use super::{Format, Look};
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "fio-lat",
    about: "mean latency over time: a latency log of fio, ns",
    extension: "_lat.log",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    fio_log::write(session, out, |of: &Interval| of.latency.map(|nanos| nanos.round() as u64))
}

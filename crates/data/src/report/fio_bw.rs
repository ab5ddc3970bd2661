//! Throughput over time in the lines of fio's bandwidth logs, for tools that read these.

use std::io::{self, Write};

use super::fio_log::{self, Interval};
use super::{Format, Look};
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "fio-bw",
    about: "throughput over time: a bandwidth log of fio, KiB/s",
    extension: "_bw.log",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    fio_log::write(session, out, |of: &Interval| {
        let kib = u128::from(of.bytes) * 1_000_000_000 / 1024 / u128::from(of.nanos.max(1));
        Some(u64::try_from(kib).unwrap_or(u64::MAX))
    })
}

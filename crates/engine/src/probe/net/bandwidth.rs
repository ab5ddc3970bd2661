//! `net-bandwidth`: TCP throughput to the far end, by message size.

use std::time::{Duration, Instant};

use super::connection::ConnectionError;
use super::destination::{self, Destination, Route};
use super::estimate;
use super::ip::Ip;
use super::rtt::{check_other_cpu, on_other_cpu};
use super::wire::{MAX_SINK, Request};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::probe::batch::BatchTime;
use crate::probe::context::ProbeContext;
use crate::probe::error::ProbeError;
use crate::probe::kind::{Gauge, Probe};
use crate::probe::param_table::{has_only, number};
use crate::record::{Estimate, HostSummary, Unit};
use crate::sys::buffer::Aligned;

pub(in crate::probe) struct Bandwidth;

static INFO: ProbeInfo = ProbeInfo {
    id: "net-bandwidth",
    group: Group::Network,
    title: "network bandwidth",
    about: "TCP throughput to the far end, by message size, over the loopback and to --remote",
    doc: "Writes messages into a TCP connection as fast as it accepts them, until the far end \
          confirms that it has read all of them; the confirmation adds one network traversal per \
          batch. Cells without a size write 1 MiB at a time, which is the peak on most machines: \
          with small messages every system call carries few bytes. The connection is warmed up for \
          100 ms or 16 MiB, so that TCP slow start is over. Over the loopback every byte is copied \
          into the kernel and out of it, both on one CPU unless the cell has cpus 2; to a remote \
          machine the slowest link on the path is the limit, minus the packet headers.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes per message",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_BYTES,
        step: 1,
        usual: "1m,1k,4k,16k,64k,256k",
    }],
};

/// Message size of a cell without one.
const DEFAULT_BYTES: u64 = 1 << 20;
/// Smaller message sizes, over IPv4 only.
const OTHER_BYTES: [u64; 5] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10];
/// Largest message.
const MAX_BYTES: u64 = 16 << 20;
/// Warm-up of a connection: bytes or time, whichever comes first.
const WARM_UP: (u64, Duration) = (16 << 20, Duration::from_millis(100));

fn parse_cell(cell: &ProbeCell) -> Option<(Destination, u64, bool)> {
    let to = Destination::parse(cell)?;
    let bytes = match cell.params.get("bytes") {
        None => DEFAULT_BYTES,
        Some(_) => number(cell, "bytes").filter(|bytes| (1..=MAX_BYTES).contains(bytes))?,
    };
    let apart = match cell.params.get("cpus") {
        None => false,
        Some(_) if number(cell, "cpus") == Some(2) && !to.remote => true,
        Some(_) => return None,
    };
    let known: Vec<&str> = ["to", "bytes", "ip", "cpus"]
        .into_iter()
        .filter(|name| cell.params.contains_key(*name))
        .collect();
    Some((to, bytes, apart)).filter(|_| has_only(cell, &known))
}

impl Probe for Bandwidth {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        if let Some(sizes) = context.requested_values(&INFO, "bytes") {
            // The default size is not a parameter of its cells, for compatibility with older
            // sessions.
            fn cell_of(to: Destination, bytes: u64) -> ProbeCell {
                ProbeCell::new(
                    INFO.id,
                    to.params().chain((bytes != DEFAULT_BYTES).then_some(("bytes", bytes.into()))),
                )
            }
            return destination::ALL
                .into_iter()
                .flat_map(|to| sizes.iter().map(move |bytes| cell_of(to, *bytes)))
                .collect();
        }
        fn default_cells(to: Destination) -> impl Iterator<Item = ProbeCell> {
            let plain = ProbeCell::new(INFO.id, to.params());
            let apart = (to == destination::ALL[0]).then(|| on_other_cpu(plain.clone()));
            let smaller = OTHER_BYTES.iter().filter(move |_| to.ip == Ip::V4);
            let smaller = smaller.map(move |bytes| {
                ProbeCell::new(INFO.id, to.params().chain([("bytes", (*bytes).into())]))
            });
            [plain].into_iter().chain(apart).chain(smaller)
        }
        destination::ALL.into_iter().flat_map(default_cells).collect()
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        parse_cell(cell).map_or(Ok(()), |(to, _, apart)| {
            to.check(context).and_then(|()| check_other_cpu(apart, context))
        })
    }

    fn remote_host(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<HostSummary> {
        Destination::parse(cell)?.remote_host(context)
    }

    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        let (to, bytes, _) = parse_cell(cell)?;
        if to.remote {
            return estimate::bandwidth(context);
        }
        // A message costs a system call and a pass through the network stack; each byte is copied
        // in and out.
        let rate = |call: f64, byte: f64| bytes as f64 / (call + bytes as f64 * byte) * 1e9;
        let reason = "a message takes 0.3 to 3 µs, each byte two copies of 0.03 to 0.4 ns";
        Some(Estimate { low: rate(3_000.0, 0.8), high: rate(300.0, 0.06), reason: reason.into() })
    }

    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let (to, bytes, apart) = parse_cell(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let route = to.open(context.other_cpu().filter(|_| apart), context)?;
        let mut message = Aligned::filled(bytes as usize, 0)
            .map_err(ProbeError::in_call("memory for a message"))?;
        crate::sys::random::fill(bytes, 0, &mut message);
        let gauge = Messages { route, message };
        let (begin, mut sent) = (Instant::now(), 0);
        while sent < WARM_UP.0 && begin.elapsed() < WARM_UP.1 {
            // At least 256 KiB at a time; on a slow network even one message may take long.
            let count = (DEFAULT_BYTES / 4).div_ceil(bytes);
            gauge.send(count).map_err(ConnectionError::into_probe_error)?;
            sent += count * bytes;
        }
        Ok(Box::new(gauge))
    }
}

struct Messages {
    route: Route,
    message: Aligned,
}

impl Messages {
    fn send(&self, count: u64) -> Result<(), ConnectionError> {
        let connection = &self.route.connection;
        connection.ask(Request::Sink(count * self.message.len() as u64))?;
        (0..count).try_for_each(|_| connection.write(&self.message))?;
        connection.reply().map(drop)
    }
}

impl Gauge for Messages {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let bytes = (count * self.message.len() as u64) as f64;
        let mut done = Ok(());
        let batch = BatchTime::of_block(bytes, || done = self.send(count));
        done.map(|()| batch).map_err(ConnectionError::into_probe_error)
    }

    fn max_batch(&self) -> u64 {
        MAX_SINK / self.message.len() as u64
    }

    fn evidence(&self) -> Vec<String> {
        self.route.connection.tcp_evidence()
    }
}

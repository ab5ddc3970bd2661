//! `rtt`: the round-trip time of a message, by TCP and by ping.

use super::connection::{Connection, ConnectionError};
use super::destination::{self, Destination, Route};
use super::estimate;
use super::ip::Ip;
use super::ping::{self, Ping};
use super::wire::{MAX_ECHO, Request};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::probe::batch::BatchTime;
use crate::probe::context::ProbeContext;
use crate::probe::error::ProbeError;
use crate::probe::kind::{Gauge, Probe};
use crate::probe::param_table::{has_only, number, text};
use crate::record::{Estimate, HostSummary};

pub(in crate::probe) struct Rtt;

static INFO: ProbeInfo = ProbeInfo {
    id: "rtt",
    group: Group::Network,
    title: "round trip",
    about: "round-trip time of a message, by TCP and by ping, over the loopback and to --remote",
    doc: "Sends a message over an open TCP connection (TCP_NODELAY) and waits until all of it is \
          back, again and again: four system calls, two context switches and two passes through \
          the kernel's network stack. Over the loopback that is all, and the far end runs on the \
          same CPU; with cpus 2 it runs on another, which has to be woken. To a remote machine \
          (iotui serve there, --remote HOST here) the link, the cards and the switches add to \
          that: the network's share is the remote figure minus the loopback figure. ping's echo is \
          answered by the other kernel without a program: the difference to TCP is the cost of the \
          remote program. ping reports whole microseconds, and the cost of its process is not in \
          its figure.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "message size in bytes; at least 16 for ping",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_ECHO,
        step: 1,
        usual: "56,1,1k",
    }],
};

/// Default message size, the same as that of ping.
const DEFAULT_BYTES: u64 = 56;
/// Other message sizes, over IPv4 only.
const OTHER_BYTES: [u64; 2] = [1, 1024];

/// Limits of ping's message size: a message contains its sending time and must fit in one packet.
const MIN_PING_BYTES: u64 = 16;
const MAX_PING_BYTES: u64 = 65_507;

/// How a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Tcp { bytes: u64, apart: bool },
    Ping { bytes: u64 },
}

fn parse_cell(cell: &ProbeCell) -> Option<(Destination, By)> {
    let (to, bytes) = (Destination::parse(cell)?, number(cell, "bytes")?);
    let apart = match cell.params.get("cpus") {
        None => false,
        Some(_) if number(cell, "cpus") == Some(2) && !to.remote => true,
        Some(_) => return None,
    };
    let by = match text(cell, "by")? {
        "tcp" => By::Tcp { bytes, apart },
        "ping" if !apart => By::Ping { bytes },
        _ => return None,
    };
    let known: Vec<&str> = ["to", "by", "bytes", "ip", "cpus"]
        .into_iter()
        .filter(|name| cell.params.contains_key(*name))
        .collect();
    Some((to, by)).filter(|_| has_only(cell, &known))
}

fn cell(to: Destination, by: &'static str, bytes: u64) -> ProbeCell {
    ProbeCell::new(INFO.id, to.params().chain([("by", by.into()), ("bytes", bytes.into())]))
}

impl Probe for Rtt {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        if let Some(sizes) = context.requested_values(&INFO, "bytes") {
            let ping = |bytes: &u64| (MIN_PING_BYTES..=MAX_PING_BYTES).contains(bytes);
            let by_tcp = |to: Destination| sizes.iter().map(move |bytes| cell(to, "tcp", *bytes));
            let by_ping = |to: Destination| {
                sizes.iter().copied().filter(ping).map(move |bytes| cell(to, "ping", bytes))
            };
            return destination::ALL
                .into_iter()
                .flat_map(|to| by_tcp(to).chain(by_ping(to)))
                .collect();
        }
        fn default_cells(to: Destination) -> impl Iterator<Item = ProbeCell> {
            let others = OTHER_BYTES
                .iter()
                .filter(move |_| to.ip == Ip::V4)
                .map(move |bytes| cell(to, "tcp", *bytes));
            let apart =
                (to == destination::ALL[0]).then(|| on_other_cpu(cell(to, "tcp", DEFAULT_BYTES)));
            [cell(to, "tcp", DEFAULT_BYTES)].into_iter().chain(apart).chain(others).chain([cell(
                to,
                "ping",
                DEFAULT_BYTES,
            )])
        }
        destination::ALL.into_iter().flat_map(default_cells).collect()
    }

    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        match parse_cell(cell) {
            Some((to, By::Ping { .. })) => to.check(context).and_then(|()| ping::check()),
            Some((to, By::Tcp { apart, .. })) => {
                to.check(context).and_then(|()| check_other_cpu(apart, context))
            }
            None => Ok(()),
        }
    }

    fn remote_host(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<HostSummary> {
        Destination::parse(cell)?.remote_host(context)
    }

    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        let known = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match parse_cell(cell)? {
            (Destination { remote: true, .. }, By::Tcp { bytes, .. } | By::Ping { bytes }) => {
                Some(estimate::ways(context, 2.0, bytes as f64))
            }
            (_, By::Ping { .. }) => known(
                5_000.0,
                60_000.0,
                "two system calls and two passes through the network stack, without a context \
                 switch",
            ),
            (_, By::Tcp { apart: true, .. }) => known(
                8_000.0,
                150_000.0,
                "four system calls, two passes through the network stack, and another CPU woken \
                 twice: a few µs if it idles, tens if it sleeps",
            ),
            (_, By::Tcp { .. }) => known(
                5_000.0,
                80_000.0,
                "four system calls, two context switches, and two passes through the network \
                 stack: 1 to 10 µs each",
            ),
        }
    }

    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let (to, by) = parse_cell(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        match by {
            By::Ping { bytes } => Ok(Box::new(Ping::open(to, bytes, context)?)),
            By::Tcp { bytes, apart } => {
                let route = to.open(context.other_cpu().filter(|_| apart), context)?;
                route
                    .connection
                    .ask(Request::Echo(bytes))
                    .map_err(|lost| ConnectionError::from(lost).into_probe_error())?;
                route.connection.reply().map_err(ConnectionError::into_probe_error)?;
                Ok(Box::new(Echo {
                    route,
                    message: vec![0x5a; bytes as usize],
                    back: vec![0; bytes as usize],
                }))
            }
        }
    }
}

/// Returns the same cell with the far end on a different CPU.
pub(super) fn on_other_cpu(mut cell: ProbeCell) -> ProbeCell {
    cell.params.insert("cpus".into(), 2.into());
    cell
}

/// Checks that there is another CPU if the cell needs one.
pub(super) fn check_other_cpu(apart: bool, context: &ProbeContext) -> Result<(), String> {
    if apart && context.other_cpu().is_none() {
        Err("this process may use only one CPU".into())
    } else {
        Ok(())
    }
}

struct Echo {
    route: Route,
    message: Vec<u8>,
    back: Vec<u8>,
}

impl Echo {
    fn once(
        connection: &Connection,
        message: &[u8],
        back: &mut [u8],
    ) -> Result<(), ConnectionError> {
        connection.write(message)?;
        Ok(connection.read(back)?)
    }
}

impl Gauge for Echo {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let Echo { route, message, back } = self;
        let mut done = Ok(());
        let batch = BatchTime::of_loop(count, || {
            done = (0..count).try_for_each(|_| Echo::once(&route.connection, message, back))
        });
        done.map_err(ConnectionError::into_probe_error)?;
        if *back != *message {
            return Err(ProbeError::Missing("the reply differs from the message".into()));
        }
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        self.route.connection.tcp_evidence()
    }
}

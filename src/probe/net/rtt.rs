//! `rtt`: a message to the far end and back, by TCP and by ping.

use super::estimate;
use super::line::{Line, LineError};
use super::ping::{self, Ping};
use super::to::{self, Ip, To, Way};
use super::wire::{MOST_ECHO, Request};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::probe::known::{has_only, number, text};
use crate::probe::{Gauge, Probe, ProbeError, Site, Took};
use crate::record::{Estimate, HostSummary};

pub(in crate::probe) struct Rtt;

static INFO: ProbeInfo = ProbeInfo {
    id: "rtt",
    group: Group::Network,
    title: "round trip",
    about: "a message to the far end and back, by TCP and by ping, over the loopback and to --remote",
    doc: "Sends a message over a TCP connection that stands (TCP_NODELAY) and waits until all of it is back, again and again: four system \
          calls, two switches and the way through the kernel's network code, twice. Over the loopback that is all, and the far end runs on \
          the same CPU, as on the one core of the report; with cpus 2 it runs on another, which has to be woken. To a peer \
          (iotui serve there, --remote HOST here) the wire, the cards and the switches come on top: what is left after taking the loopback \
          away is the network's share. ping's echo is answered by the other kernel, without a program: the difference to TCP is what the \
          program over there costs. ping shows whole microseconds, and its process is not in its figure.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes of a message; by ping from 16 on",
        of: RangeOf::Bytes,
        least: 1,
        most: MOST_ECHO,
        step: 1,
        usual: "56,1,1k",
    }],
};

/// What ping sends by default, and the report after it.
const USUAL: u64 = 56;
/// Bytes of other messages, over IPv4.
const OTHERS: [u64; 2] = [1, 1024];

/// ping keeps the time of sending in its message, and one packet holds no more.
const LEAST_PING: u64 = 16;
const MOST_PING: u64 = 65_507;

/// How a message goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Tcp { bytes: u64, apart: bool },
    Ping { bytes: u64 },
}

fn parts(cell: &ProbeCell) -> Option<(To, By)> {
    let (to, bytes) = (To::of(cell)?, number(cell, "bytes")?);
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

fn cell(to: To, by: &'static str, bytes: u64) -> ProbeCell {
    ProbeCell::new(INFO.id, to.params().chain([("by", by.into()), ("bytes", bytes.into())]))
}

impl Probe for Rtt {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        if let Some(sizes) = site.chosen(&INFO, "bytes") {
            let ping = |bytes: &u64| (LEAST_PING..=MOST_PING).contains(bytes);
            let by_tcp = |to: To| sizes.iter().map(move |bytes| cell(to, "tcp", *bytes));
            let by_ping = |to: To| {
                sizes.iter().copied().filter(ping).map(move |bytes| cell(to, "ping", bytes))
            };
            return to::ALL.into_iter().flat_map(|to| by_tcp(to).chain(by_ping(to))).collect();
        }
        let of = |to: To| {
            let others = OTHERS
                .iter()
                .filter(move |_| to.ip == Ip::V4)
                .map(move |bytes| cell(to, "tcp", *bytes));
            let apart = (to == to::ALL[0]).then(|| with_cpus(cell(to, "tcp", USUAL)));
            [cell(to, "tcp", USUAL)]
                .into_iter()
                .chain(apart)
                .chain(others)
                .chain([cell(to, "ping", USUAL)])
        };
        to::ALL.into_iter().flat_map(of).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        match parts(cell) {
            Some((to, By::Ping { .. })) => to.check(site).and_then(|()| ping::check()),
            Some((to, By::Tcp { apart, .. })) => {
                to.check(site).and_then(|()| two_cpus(apart, site))
            }
            None => Ok(()),
        }
    }

    fn far(&self, cell: &ProbeCell, site: &Site) -> Option<HostSummary> {
        To::of(cell)?.far(site)
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let known = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match parts(cell)? {
            (To { remote: true, .. }, By::Tcp { bytes, .. } | By::Ping { bytes }) => {
                Some(estimate::ways(site, 2.0, bytes as f64))
            }
            (_, By::Ping { .. }) => known(
                5_000.0,
                60_000.0,
                "two system calls, and the network code twice, without a switch",
            ),
            (_, By::Tcp { apart: true, .. }) => known(
                8_000.0,
                150_000.0,
                "four system calls, the network code twice, and another CPU woken twice: some µs where it waits, tens where it sleeps",
            ),
            (_, By::Tcp { .. }) => known(
                5_000.0,
                80_000.0,
                "four system calls, two switches, and the network code twice: 1 to 10 µs each",
            ),
        }
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (to, by) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        match by {
            By::Ping { bytes } => Ok(Box::new(Ping::open(to, bytes, site)?)),
            By::Tcp { bytes, apart } => {
                let way = to.open(site.other_cpu().filter(|_| apart), site)?;
                way.line.ask(Request::Echo(bytes)).map_err(|lost| LineError::from(lost).told())?;
                way.line.reply().map_err(LineError::told)?;
                Ok(Box::new(Echo {
                    way,
                    message: vec![0x5a; bytes as usize],
                    back: vec![0; bytes as usize],
                }))
            }
        }
    }
}

/// The same cell with the far end on another CPU.
pub(super) fn with_cpus(mut cell: ProbeCell) -> ProbeCell {
    cell.params.insert("cpus".into(), 2.into());
    cell
}

/// Whether there is another CPU, where one is wanted.
pub(super) fn two_cpus(apart: bool, site: &Site) -> Result<(), String> {
    if apart && site.other_cpu().is_none() {
        Err("this process may run on one CPU only".into())
    } else {
        Ok(())
    }
}

struct Echo {
    way: Way,
    message: Vec<u8>,
    back: Vec<u8>,
}

impl Echo {
    fn once(line: &Line, message: &[u8], back: &mut [u8]) -> Result<(), LineError> {
        line.write(message)?;
        Ok(line.read(back)?)
    }
}

impl Gauge for Echo {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let Echo { way, message, back } = self;
        let mut done = Ok(());
        let took = Took::around(count, || {
            done = (0..count).try_for_each(|_| Echo::once(&way.line, message, back))
        });
        done.map_err(LineError::told)?;
        if *back != *message {
            return Err(ProbeError::Missing("what came back is not what was sent".into()));
        }
        Ok(took)
    }

    fn evidence(&self) -> Vec<String> {
        self.way.line.counted()
    }
}

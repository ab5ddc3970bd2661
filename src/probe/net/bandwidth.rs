//! `net-bandwidth`: how many bytes a second reach the far end, by the size of what is written at
//! once.

use std::time::{Duration, Instant};

use super::estimate;
use super::line::LineError;
use super::rtt::{two_cpus, with_cpus};
use super::to::{self, Ip, To, Way};
use super::wire::{MOST_SINK, Request};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::probe::known::{has_only, number};
use crate::probe::{Gauge, Probe, ProbeError, Site, Took};
use crate::record::{Estimate, HostSummary, Unit};
use crate::sys::buffer::Aligned;

pub(in crate::probe) struct Bandwidth;

static INFO: ProbeInfo = ProbeInfo {
    id: "net-bandwidth",
    group: Group::Network,
    title: "network bandwidth",
    about: "bytes a second to the far end, by message size, over the loopback and to --remote",
    doc: "Writes messages into a TCP connection as fast as it takes them, until the far end says that it has read all of them; that word \
          is one way more in each batch. Cells without a size write 1 MiB at once, as the report does, which is the peak on most \
          machines: small messages pay a system call for few bytes. The connection was used for 100 ms or 16 MiB before, so that the slow \
          start of TCP is over. Over the loopback every byte is copied into the kernel and out of it, both on one CPU unless the cell says \
          cpus 2; to a peer the slowest wire on the way decides, less what every packet spends on headers.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes that are written at once",
        of: RangeOf::Bytes,
        least: 1,
        most: MOST,
        step: 1,
        usual: "1m,1k,4k,16k,64k,256k",
    }],
};

/// Of a cell that does not say: what the report wrote at once.
const PEAK: u64 = 1 << 20;
/// Smaller messages, over IPv4.
const SMALLER: [u64; 5] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10];
/// More is not written at once.
const MOST: u64 = 16 << 20;
/// How much goes over a connection before it is measured.
const WARM: (u64, Duration) = (16 << 20, Duration::from_millis(100));

fn parts(cell: &ProbeCell) -> Option<(To, u64, bool)> {
    let to = To::of(cell)?;
    let bytes = match cell.params.get("bytes") {
        None => PEAK,
        Some(_) => number(cell, "bytes").filter(|bytes| (1..=MOST).contains(bytes))?,
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

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        if let Some(sizes) = site.chosen(&INFO, "bytes") {
            // The cells without a size have the usual one, in sessions of before too.
            let of = |to: To, bytes: u64| {
                ProbeCell::new(
                    INFO.id,
                    to.params().chain((bytes != PEAK).then_some(("bytes", bytes.into()))),
                )
            };
            return to::ALL
                .into_iter()
                .flat_map(|to| sizes.iter().map(move |bytes| of(to, *bytes)))
                .collect();
        }
        let of = |to: To| {
            let plain = ProbeCell::new(INFO.id, to.params());
            let apart = (to == to::ALL[0]).then(|| with_cpus(plain.clone()));
            let smaller = SMALLER.iter().filter(move |_| to.ip == Ip::V4);
            let smaller = smaller.map(move |bytes| {
                ProbeCell::new(INFO.id, to.params().chain([("bytes", (*bytes).into())]))
            });
            [plain].into_iter().chain(apart).chain(smaller)
        };
        to::ALL.into_iter().flat_map(of).collect()
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        parts(cell)
            .map_or(Ok(()), |(to, _, apart)| to.check(site).and_then(|()| two_cpus(apart, site)))
    }

    fn far(&self, cell: &ProbeCell, site: &Site) -> Option<HostSummary> {
        To::of(cell)?.far(site)
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let (to, bytes, _) = parts(cell)?;
        if to.remote {
            return estimate::bandwidth(site);
        }
        // A message costs a system call and the way through the network code; each byte is copied
        // in and out.
        let rate = |call: f64, byte: f64| bytes as f64 / (call + bytes as f64 * byte) * 1e9;
        let reason = "a message costs 0.3 to 3 µs, a byte two copies of 0.03 to 0.4 ns each";
        Some(Estimate { low: rate(3_000.0, 0.8), high: rate(300.0, 0.06), reason: reason.into() })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (to, bytes, apart) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let way = to.open(site.other_cpu().filter(|_| apart), site)?;
        let mut message =
            Aligned::filled(bytes as usize, 0).map_err(ProbeError::of("memory for a message"))?;
        crate::sys::random::fill(bytes, 0, &mut message);
        let gauge = Messages { way, message };
        let (begin, mut sent) = (Instant::now(), 0);
        while sent < WARM.0 && begin.elapsed() < WARM.1 {
            // A quarter MiB at a time: one message alone may take long on a slow network.
            let count = (PEAK / 4).div_ceil(bytes);
            gauge.send(count).map_err(LineError::told)?;
            sent += count * bytes;
        }
        Ok(Box::new(gauge))
    }
}

struct Messages {
    way: Way,
    message: Aligned,
}

impl Messages {
    fn send(&self, count: u64) -> Result<(), LineError> {
        let line = &self.way.line;
        line.ask(Request::Sink(count * self.message.len() as u64))?;
        (0..count).try_for_each(|_| line.write(&self.message))?;
        line.reply().map(drop)
    }
}

impl Gauge for Messages {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let bytes = (count * self.message.len() as u64) as f64;
        let mut done = Ok(());
        let took = Took::whole(bytes, || done = self.send(count));
        done.map(|()| took).map_err(LineError::told)
    }

    fn most(&self) -> u64 {
        MOST_SINK / self.message.len() as u64
    }

    fn evidence(&self) -> Vec<String> {
        self.way.line.counted()
    }
}

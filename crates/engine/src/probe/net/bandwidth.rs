//! `net-bandwidth`: TCP throughput to the far end, by message size.

use std::time::{Duration, Instant};

use super::connection::ConnectionError;
use super::destination::{Destination, Route, estimate_bandwidth};
use super::wire::{MAX_SINK, WireRequest};
use crate::probe::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::record::{Estimate, HostSummary, Unit};
use crate::sys::buffer::Aligned;

/// Message size of a cell without one, for compatibility with older sessions.
const DEFAULT_BYTES: u64 = 1 << 20;
/// Warm-up of a connection: bytes or time, whichever comes first.
const WARM_UP: (u64, Duration) = (16 << 20, Duration::from_millis(100));

pub(in crate::probe) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let to = Destination::ask(source)?;
    let bytes = to.ask_bytes(source, Some(DEFAULT_BYTES), true)?;
    let apart = to.ask_apart(source, bytes == DEFAULT_BYTES)?;
    Some(Box::new(NetworkBandwidth { to, bytes, apart }))
}

struct NetworkBandwidth {
    to: Destination,
    /// Bytes per message.
    bytes: u64,
    /// The far end runs on another CPU.
    apart: bool,
}

impl KnownCell for NetworkBandwidth {
    fn unit(&self) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        self.to.check(context)?;
        if self.apart { context.check_other_cpu() } else { Ok(()) }
    }

    fn remote_host(&self, context: &ProbeContext) -> Option<HostSummary> {
        self.to.remote_host(context)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        if self.to.remote {
            return estimate_bandwidth(context);
        }
        // A message costs a system call and a pass through the network stack; each byte is copied
        // in and out.
        let bytes = self.bytes as f64;
        let rate = |call: f64, byte: f64| bytes / (call + bytes * byte) * 1e9;
        let reason = "a message takes 0.3 to 3 µs, each byte two copies of 0.03 to 0.4 ns";
        Some(Estimate { low: rate(3_000.0, 0.8), high: rate(300.0, 0.06), reason: reason.into() })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let NetworkBandwidth { to, bytes, apart } = *self;
        let route = to.open(context.other_cpu().filter(|_| apart), context)?;
        let mut message = Aligned::filled(bytes as usize, 0)
            .map_err(ProbeError::in_call("memory for a message"))?;
        crate::stats::random::fill(bytes, 0, &mut message);
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
        connection.ask(WireRequest::Sink(count * self.message.len() as u64))?;
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

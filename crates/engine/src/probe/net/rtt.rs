//! `rtt`: the round-trip time of a message, by TCP and by ping.

use std::ops::RangeInclusive;

use super::connection::{Connection, ConnectionError};
use super::destination::{Destination, Route};
use super::estimate;
use super::ping::{self, Ping};
use super::wire::Request;
use crate::catalog::{self};
use crate::plan::ProbeInfo;
use crate::probe::params::ParamSource;
use crate::probe::{BatchTime, Gauge, ProbeContext, ProbeError, ProbeKind};
use crate::record::{Estimate, HostSummary};

pub(in crate::probe) struct Rtt;

/// Default message size, the same as that of ping.
const DEFAULT_BYTES: u64 = 56;

/// Limits of ping's message size: a message contains its sending time and must fit in one packet.
const PING_BYTES: RangeInclusive<u64> = 16..=65_507;

/// How a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::probe) enum By {
    Tcp { bytes: u64, apart: bool },
    Ping { bytes: u64 },
}

impl ProbeKind for Rtt {
    const INFO: &'static ProbeInfo = &catalog::ROUND_TRIP;
    type Params = (Destination, By);

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        let to = Destination::ask(source)?;
        let ping = source.word("by", &[("tcp", false), ("ping", true)])?;
        let bytes = to.ask_bytes(source, None, !ping)?;
        let apart = to.ask_apart(source, !ping && bytes == DEFAULT_BYTES)?;
        match ping {
            true if apart || !PING_BYTES.contains(&bytes) => None,
            true => Some((to, By::Ping { bytes })),
            false => Some((to, By::Tcp { bytes, apart })),
        }
    }

    fn check((to, by): &Self::Params, context: &ProbeContext) -> Result<(), String> {
        to.check(context)?;
        match by {
            By::Ping { .. } => ping::check(),
            By::Tcp { apart: true, .. } => context.check_other_cpu(),
            By::Tcp { .. } => Ok(()),
        }
    }

    fn remote_host((to, _): &Self::Params, context: &ProbeContext) -> Option<HostSummary> {
        to.remote_host(context)
    }

    fn estimate(params: &Self::Params, context: &ProbeContext) -> Option<Estimate> {
        let known = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match *params {
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

    fn open((to, by): &Self::Params, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        match *by {
            By::Ping { bytes } => Ok(Box::new(Ping::open(*to, bytes, context)?)),
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

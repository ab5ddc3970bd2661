//! The network probes, and `iotui serve`, their far end on another machine.
//!
//! The same server answers on the loopback, started by the probe itself: what is measured there is
//! this machine's own share of what a real network takes.

mod bandwidth;
mod client;
mod connect;
mod counted;
mod estimate;
mod key;
mod limits;
mod line;
mod own;
mod patient;
mod peer;
mod ping;
mod rtt;
mod secret;
mod server;
#[cfg(test)]
mod server_tests;
mod to;
mod wire;

pub(super) use bandwidth::Bandwidth;
pub(super) use connect::Connect;
pub use key::Salted;
pub use limits::Limits;
pub(super) use peer::Peer;
pub(super) use rtt::Rtt;
pub use secret::{
    LEAST as LEAST_SECRET, Secret, SecretError, VARIABLE as SECRET_VARIABLE, keep as keep_secret,
};
pub use server::{Happened, Server, Watch};

//! The network probes, and `iotui serve`, their far end on another machine. For cells over the
//! loopback the probe starts the same server itself: they measure the share of a real network's
//! cost that this machine causes.

mod bandwidth;
mod client;
mod connect;
mod connection;
mod destination;
mod estimate;
mod ip;
mod key;
mod limits;
mod loopback_server;
mod peer;
mod ping;
mod rtt;
mod secret;
mod server;
#[cfg(test)]
mod server_tests;
mod tcp_info;
mod timed_io;
mod wire;

pub(super) use bandwidth::Bandwidth;
pub(super) use connect::Connect;
pub use limits::Limits;
pub(super) use peer::Peer;
pub(super) use rtt::Rtt;
pub use secret::{
    MIN_CHARS as MIN_SECRET_CHARS, SaltedKey, Secret, SecretError, VARIABLE as SECRET_VARIABLE,
    set_process_secret,
};
pub use server::{ClientEvent, ClientWatcher, Server};

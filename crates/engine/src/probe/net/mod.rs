//! The network probes, and `iotui serve`, their far end on another machine. For cells over the
//! loopback the probe starts the same server itself: they measure the share of a real network's
//! cost that this machine causes.

mod bandwidth;
mod client;
mod connect;
mod connection;
mod destination;
mod remote_host;
mod rtt;
mod secret;
mod server;
#[cfg(test)]
mod server_tests;
mod tcp_info;
mod timed_io;
mod wire;

pub(super) use bandwidth::ask as ask_bandwidth;
pub use client::Limits;
pub(super) use connect::ask as ask_connect;
pub(super) use remote_host::RemoteHost;
pub(super) use rtt::ask as ask_round_trip;
pub use secret::{
    MIN_CHARS as MIN_SECRET_CHARS, SaltedKey, Secret, SecretError, VARIABLE as SECRET_VARIABLE,
    set_process_secret,
};
pub use server::{ClientEvent, ClientWatcher, Server};

//! What one server gives its clients at most, all of them together and each.

use std::time::Duration;

/// The bounds of a server. Whatever a client does, it costs no more than this.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Clients that proved who they are, served at once, each by a thread.
    pub clients: usize,
    /// Connections that have not said anything yet. One more, and the oldest of the address with
    /// the most gives way; within the grace none does, and the new one waits.
    pub silent: usize,
    /// The same for those that have said something, and not yet that they know the secret.
    pub greeters: usize,
    /// A connection keeps its place for so long at least, whoever else comes: the round trip of a
    /// client that knows the secret.
    pub grace: Duration,
    /// From the first byte to the last proof.
    pub greeting: Duration,
    /// A client that says nothing for so long is left.
    pub idle: Duration,
    /// A connection lasts no longer.
    pub connection: Duration,
    /// Bytes of one connection, both ways.
    pub bytes: u64,
}

impl Default for Limits {
    /// Memory: a client has buffers of at most 320 KiB and a stack of 256 KiB. 32 clients are more
    /// than any comparison needs.
    fn default() -> Limits {
        Limits {
            clients: 32,
            silent: 64,
            greeters: 128,
            grace: Duration::from_millis(250),
            greeting: Duration::from_secs(2),
            idle: Duration::from_secs(30),
            connection: Duration::from_secs(600),
            bytes: 256 << 30,
        }
    }
}

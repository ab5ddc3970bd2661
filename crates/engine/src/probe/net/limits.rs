//! The limits of a server, for all clients together and for each.

use std::time::Duration;

/// The limits of a server: no client can use more than this.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Authenticated clients served at once, each by a thread.
    pub clients: usize,
    /// Connections that have not sent anything yet. If there are more, the oldest one of the
    /// address with the most is closed; those within the grace period are kept, and the new one
    /// waits.
    pub silent: usize,
    /// The same for connections that have sent something but are not authenticated yet.
    pub greeters: usize,
    /// Minimum time that a connection keeps its place: enough for the round trip of a client that
    /// knows the secret.
    pub grace: Duration,
    /// Time limit from the first byte to the last proof.
    pub greeting: Duration,
    /// Time after which a silent client is disconnected.
    pub idle: Duration,
    /// Longest duration of a connection.
    pub connection: Duration,
    /// Bytes per connection, in both directions together.
    pub bytes: u64,
}

impl Default for Limits {
    /// Returns the default: each client has buffers of at most 320 KiB and a stack of 256 KiB; 32
    /// clients are more than any comparison needs.
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

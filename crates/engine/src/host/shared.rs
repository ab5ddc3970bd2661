//! The facts about this machine, collected once and while other things are done.

use crate::host;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

use super::Host;

/// The facts about this machine, shared between threads.
#[derive(Debug, Clone, Default)]
pub struct SharedHost(Arc<OnceLock<Host>>);

impl SharedHost {
    /// Starts to collect the facts on a thread of their own.
    pub fn collect() -> SharedHost {
        let host = SharedHost::default();
        let shared = host.clone();
        // Without a thread, the first to ask for them collects them.
        let _ = Builder::new().name("host".into()).spawn(move || shared.get().name.len());
        host
    }

    /// Collects the facts now, as [`host::collect_of_ranks`] does.
    pub fn collect_of_ranks() -> SharedHost {
        let host = SharedHost::default();
        host.set(host::collect_of_ranks());
        host
    }

    /// Keeps `host`, if no facts have been collected yet.
    pub fn set(&self, host: Host) {
        let _ = self.0.set(host);
    }

    /// Returns the facts as soon as all are collected.
    pub fn get(&self) -> &Host {
        self.0.get_or_init(host::collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_the_facts_that_were_collected_once() {
        let host = SharedHost::collect();
        let other = host.clone();
        let addresses = std::thread::scope(|scope| {
            let first = scope.spawn(|| std::ptr::from_ref(host.get()) as usize);
            let second = scope.spawn(|| std::ptr::from_ref(other.get()) as usize);
            [first.join().unwrap(), second.join().unwrap()]
        });
        assert_eq!(addresses[0], addresses[1]);
        assert_eq!(host.get().kernel, host::collect().kernel);
    }
}

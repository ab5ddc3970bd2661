//! What probes may use on this machine, found out once per run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::ProbeError;
use super::net::Peer;
use crate::host::Host;
use crate::plan::{ProbeInfo, ProbeSet, Remote, set_values};
use crate::sys::memory_limit::free_memory;
use crate::sys::threads::Affinity;
use crate::units::show_bytes;

/// Facts for estimates, and bounds.
#[derive(Debug, Clone, Default)]
pub struct Site {
    pub host: Host,
    /// The CPUs that this process may run on, rising; empty where the kernel does not say.
    pub cpus: Vec<usize>,
    /// Bytes that a probe may allocate: a quarter of what is free.
    pub memory: u64,
    /// A folder for files of a probe's own.
    pub dir: Option<PathBuf>,
    /// The user's file, opened read-only or not at all.
    pub file: Option<PathBuf>,
    /// The other machine of the network probes.
    pub(super) peer: Option<Arc<Peer>>,
    /// Values that were chosen for parameters.
    sets: Vec<ProbeSet>,
    stop: Arc<AtomicBool>,
}

impl Site {
    /// Looks at this machine.
    pub fn here(dir: Option<PathBuf>, file: Option<PathBuf>) -> Site {
        let free = free_memory().unwrap_or(1 << 30);
        let cpus = Affinity::current().map(|set| set.cpus()).unwrap_or_default();
        Site {
            host: Host::collect(),
            cpus,
            memory: free / 4,
            dir,
            file,
            peer: None,
            sets: Vec::new(),
            stop: Arc::default(),
        }
    }

    /// The same with another machine, which is not touched yet.
    pub fn with(self, remote: Option<&Remote>) -> Site {
        Site { peer: remote.map(|remote| Arc::new(Peer::new(remote))), ..self }
    }

    /// The same with these values of parameters.
    pub fn choosing(self, sets: Option<&[ProbeSet]>) -> Site {
        Site { sets: sets.unwrap_or_default().into(), ..self }
    }

    /// The values that were chosen for a parameter of a probe.
    pub fn chosen(&self, info: &ProbeInfo, name: &str) -> Option<Vec<u64>> {
        set_values(&self.sets, info.id, name)
    }

    /// The CPU that measures: the last one, as the first serves most interrupts.
    pub fn cpu(&self) -> Option<usize> {
        self.cpus.last().copied()
    }

    /// Another CPU than [`cpu`](Site::cpu).
    pub fn other_cpu(&self) -> Option<usize> {
        self.cpus.first().copied().filter(|cpu| Some(*cpu) != self.cpu())
    }

    /// Nanoseconds of one cycle of the CPU.
    pub fn cycle(&self) -> Option<f64> {
        self.host.cpu.cycle_nanos
    }

    /// Whether a probe may allocate so much.
    ///
    /// # Errors
    /// For people: how much it may.
    pub fn has_memory(&self, bytes: u64) -> Result<(), String> {
        match bytes <= self.memory {
            true => Ok(()),
            false => Err(format!(
                "{} of memory: more than a quarter of what is free, {}",
                show_bytes(bytes),
                show_bytes(self.memory)
            )),
        }
    }

    /// Tells every gauge to end soon.
    pub fn end(&self) {
        self.stop.store(true, Relaxed);
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// For `?` between two parts of long work.
    ///
    /// # Errors
    /// [`ProbeError::Stopped`].
    pub fn go_on(&self) -> Result<(), ProbeError> {
        if self.stopping() { Err(ProbeError::Stopped) } else { Ok(()) }
    }

    /// This site with a stop flag of its own.
    pub fn again(&self) -> Site {
        Site { stop: Arc::default(), ..self.clone() }
    }

    /// The estimate of so many cycles, where the duration of one is known.
    pub fn cycles(&self, low: f64, high: f64, why: &str) -> Option<crate::record::Estimate> {
        let cycle = self.cycle()?;
        let count = if low == high { format!("{low}") } else { format!("{low}-{high}") };
        let reason = format!("{count} cycles at {:.2} GHz: {why}", 1.0 / cycle);
        Some(crate::record::Estimate { low: low * cycle, high: high * cycle, reason })
    }
}

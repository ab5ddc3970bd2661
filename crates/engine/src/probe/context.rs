//! The context of probes, collected once per run: facts about this machine, limits, the remote
//! host and the stop flag.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::{ProbeError, StopFlag};
use super::net::RemoteHost;
use crate::facts::Host;
use crate::host;
use crate::plan::{ProbeInfo, ProbeSet, Remote, set_values};
use crate::record::Estimate;
use crate::sys::memory::free_memory;
use crate::sys::threads::Affinity;
use crate::units::show_bytes;

/// This machine as probes know it, and what they may use.
#[derive(Debug, Clone, Default)]
pub struct ProbeContext {
    pub host: Host,
    /// CPUs this process may run on, ascending; empty if unknown.
    pub cpus: Vec<usize>,
    /// Bytes a probe may allocate: a quarter of free memory.
    pub memory: u64,
    /// Folder for the files that probes create.
    pub dir: Option<PathBuf>,
    /// The user's file, only ever opened read-only.
    pub file: Option<PathBuf>,
    /// The remote host of the network probes.
    pub(super) remote: Option<Arc<RemoteHost>>,
    /// Parameter values requested by the user.
    sets: Vec<ProbeSet>,
    pub(super) stop: StopFlag,
}

impl ProbeContext {
    /// Collects the facts about this machine.
    pub fn collect(dir: Option<PathBuf>, file: Option<PathBuf>) -> ProbeContext {
        let free = free_memory().unwrap_or(1 << 30);
        let cpus = Affinity::current().map(|set| set.cpus()).unwrap_or_default();
        ProbeContext {
            host: host::collect(),
            cpus,
            memory: free / 4,
            dir,
            file,
            remote: None,
            sets: Vec::new(),
            stop: StopFlag::default(),
        }
    }

    /// Adds the remote host, without contacting it yet.
    pub fn with_remote(self, remote: Option<&Remote>) -> ProbeContext {
        ProbeContext { remote: remote.map(|remote| Arc::new(RemoteHost::new(remote))), ..self }
    }

    /// Adds requested parameter values.
    pub fn with_sets(self, sets: Option<&[ProbeSet]>) -> ProbeContext {
        ProbeContext { sets: sets.unwrap_or_default().into(), ..self }
    }

    /// Returns the values requested for a parameter of a probe.
    pub fn requested_values(&self, info: &ProbeInfo, name: &str) -> Option<Vec<u64>> {
        set_values(&self.sets, info.id, name)
    }

    /// Returns the measuring CPU: the last one, since the first serves most interrupts.
    pub fn cpu(&self) -> Option<usize> {
        self.cpus.last().copied()
    }

    /// Returns a CPU other than [`cpu`](ProbeContext::cpu).
    pub fn other_cpu(&self) -> Option<usize> {
        self.cpus.first().copied().filter(|cpu| Some(*cpu) != self.cpu())
    }

    /// Checks that there is an [`other_cpu`](ProbeContext::other_cpu).
    pub fn check_other_cpu(&self) -> Result<(), String> {
        self.other_cpu().map(drop).ok_or_else(|| "this process may use only one CPU".into())
    }

    /// Returns the nanoseconds of one CPU cycle.
    pub fn cycle(&self) -> Option<f64> {
        self.host.cpu.cycle_nanos
    }

    /// Checks that a probe may allocate `bytes`.
    pub fn check_memory(&self, bytes: u64) -> Result<(), String> {
        if bytes <= self.memory {
            return Ok(());
        }
        Err(format!(
            "needs {} of memory: more than {}, a quarter of what is free",
            show_bytes(bytes),
            show_bytes(self.memory)
        ))
    }

    /// Asks every gauge to stop soon.
    pub fn request_stop(&self) {
        self.stop.set();
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.is_set()
    }

    /// Fails once a stop has been requested; use `?` between the steps of long work.
    pub fn check_stop(&self) -> Result<(), ProbeError> {
        if self.is_stopping() { Err(ProbeError::Stopped) } else { Ok(()) }
    }

    /// Returns a copy with a separate stop flag.
    pub fn with_own_stop(&self) -> ProbeContext {
        ProbeContext { stop: StopFlag::default(), ..self.clone() }
    }

    /// Converts an estimate in cycles to nanoseconds; `None` if the clock rate is unknown.
    pub fn estimate_cycles(&self, low: f64, high: f64, why: &str) -> Option<Estimate> {
        let cycle = self.cycle()?;
        let count = if low == high { format!("{low}") } else { format!("{low}-{high}") };
        let reason = format!("{count} cycles at {:.2} GHz: {why}", 1.0 / cycle);
        Some(Estimate { low: low * cycle, high: high * cycle, reason })
    }
}

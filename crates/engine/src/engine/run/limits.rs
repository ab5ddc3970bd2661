//! Reads the limits of control groups again during a run: anyone may change them at any time.

use std::sync::Arc;

use super::Run;
use crate::engine::ranks::Ranks;
use crate::host::cpu_quota;
use crate::record::{Event, Grounds, Throttle};

impl Run<'_> {
    /// Reads the limits again; if one changed, verdicts rest on the new ones, and a note says so.
    pub(super) fn read_limits_again(&mut self) {
        let machines = self.ranks.map_or(1, Ranks::kernels);
        let now = self.targets.throttles().into_iter();
        let now: Vec<Option<Throttle>> =
            now.map(|limits| limits.map(|limits| limits.of_machines(machines))).collect();
        let known = self.grounds.targets().map(|target| &target.throttle);
        let of_disk = known.zip(&now).find(|(before, after)| before != after).map(describe_disk);
        let (quota, known) = (cpu_quota(), self.grounds.machine.cpu_quota);
        // Of ranks, it is that of the first one's machine.
        let of_cpu = (quota != known).then(|| [known, quota].map(describe_cpu));
        let Some([before, after]) = of_disk.or(of_cpu) else { return };
        let text = format!(
            "the limits of the control group changed during the run: before {before}, then {after}"
        );
        let mut grounds = Grounds::clone(&self.grounds);
        grounds.targets_mut().zip(now).for_each(|(target, limits)| target.throttle = limits);
        grounds.machine.cpu_quota = quota;
        self.grounds = Arc::new(grounds);
        self.sink.event(Event::Grounds { grounds: Arc::clone(&self.grounds) });
        self.sink.event(Event::Note { text });
    }
}

fn describe_disk((before, after): (&Option<Throttle>, &Option<Throttle>)) -> [String; 2] {
    [before, after]
        .map(|limits| limits.as_ref().map_or_else(|| "no limit".into(), Throttle::describe))
}

fn describe_cpu(quota: Option<f64>) -> String {
    quota.map_or_else(|| "no CPU quota".into(), |cpus| format!("a quota of {cpus:.2} CPUs"))
}

//! Why a long trial was slower for a time, as far as what happened around it shows.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::record::{
    AroundStep, DriveCount, Heat, MAX_LOST_SHARE, OtherProcess, StateChange, Surroundings,
};
use crate::units::show_share;

/// A setting that changed this close to a change of level may be its cause, nanoseconds.
const NEAR: u64 = 2_000_000_000;
/// Share of the slow time in which a cause must be seen.
const MIN_COVERED: f64 = 0.5;
/// A cause is at most this share as active in the fast time as in the slow one.
const MAX_BEFORE: f64 = 0.2;
/// Share of the loss that stolen time must account for.
const MIN_OF_LOSS: f64 = 0.5;
/// Share of the bytes of others below which one of them is not named.
const MIN_NAMED: f64 = 0.1;

/// The slow and the fast times of a trial, in nanoseconds after its start.
pub(super) struct Slowness {
    pub slow: Vec<Range<u64>>,
    pub fast: Vec<Range<u64>>,
    /// When it became slower (true) or faster.
    pub changes: Vec<(u64, bool)>,
    /// The share of the work per time that is lost while it is slow.
    pub loss: f64,
}

impl Slowness {
    /// Names the cause; `None` if nothing around the trial shows it.
    pub fn cause(&self, around: Option<&Surroundings>) -> Option<String> {
        let around = around?;
        let limit = self.changed_limit(around);
        if limit.is_some() || !self.knows_fast(around) {
            return limit;
        }
        // Others may be why the disk is slow, too.
        let both = [self.drives(around), self.others(around)].into_iter().flatten();
        let both = both.collect::<Vec<_>>().join("; ");
        Some(both)
            .filter(|causes| !causes.is_empty())
            .or_else(|| self.stolen(around))
            .or_else(|| self.dirty(around))
            .or_else(|| self.heat(around))
    }

    /// Returns whether a fast time has room for a whole step, however steps lie: otherwise it is
    /// not known who was active in it.
    fn knows_fast(&self, around: &Surroundings) -> bool {
        let longest = around.steps.iter().map(|step| step.nanos).max().unwrap_or(0);
        let needed = longest.saturating_add(Surroundings::WIDTH);
        self.fast.iter().any(|range| range.end.saturating_sub(range.start) >= needed)
    }

    fn changed_limit(&self, around: &Surroundings) -> Option<String> {
        let near = |change: &&StateChange| {
            let fits = |(at, slower): &(u64, bool)| {
                change.at.abs_diff(*at) <= NEAR && moves_limit(change, *slower)
            };
            self.changes.iter().any(fits)
        };
        around.changes.iter().find(near).map(StateChange::describe)
    }

    /// Names who used the disk while it was slow, and not while it was fast.
    fn others(&self, around: &Surroundings) -> Option<String> {
        let is_busy = |step: &AroundStep| step.moved() > 0;
        if !self.is_seen(around, is_busy) {
            return None;
        }
        let (mut slow, fast) = (self.while_slow(around)?, self.while_fast(around));
        if !self.is_new(slow.moved(), fast.moved()) {
            return None;
        }
        let least = (slow.moved() as f64 * MIN_NAMED) as u64;
        if let Some(others) = &mut slow.others {
            let then = |of: &OtherProcess| {
                let known = fast.others.iter().flat_map(|others| &others.processes);
                known
                    .filter(|own| own.label() == of.label())
                    .map(OtherProcess::bytes)
                    .fold(0, u64::saturating_add)
            };
            others.processes.retain(|of| of.bytes() >= least && self.is_new(of.bytes(), then(of)));
        }
        slow.groups.retain(|of| {
            let then = fast.groups.iter().filter(|own| own.group == of.group);
            of.bytes() >= least
                && self.is_new(of.bytes(), then.map(|own| own.bytes()).fold(0, u64::saturating_add))
        });
        slow.describe_others().map(|who| format!("meanwhile {who}"))
    }

    fn stolen(&self, around: &Surroundings) -> Option<String> {
        let (slow, fast) = (self.while_slow(around)?, self.while_fast(around));
        let seen = length(&self.slow).max(slow.nanos);
        let share = slow.stolen as f64 / seen.max(1) as f64;
        let counts = share > MAX_LOST_SHARE && share >= self.loss * MIN_OF_LOSS;
        (counts && self.is_new(slow.stolen, fast.stolen))
            .then(|| format!("stolen time was {}", show_share(share)))
    }

    /// Names the limit that a disk was over, or that it was slowed down, for most of the slow time.
    fn drives(&self, around: &Surroundings) -> Option<String> {
        let (slow, fast) = (self.while_slow(around)?, self.while_fast(around));
        let seen = length(&self.slow).max(slow.nanos);
        let then = |of: &DriveCount| {
            fast.drives.iter().find(|own| own.is_as(of)).map_or(0, |own| own.nanos)
        };
        let counts = |of: &&DriveCount| {
            of.nanos as f64 >= seen as f64 * MIN_COVERED && self.is_new(of.nanos, then(of))
        };
        let most = slow.drives.iter().filter(counts).max_by_key(|of| of.nanos)?;
        Some(most.describe(seen))
    }

    fn dirty(&self, around: &Surroundings) -> Option<String> {
        let is_full = |step: &AroundStep| step.dirty.is_some();
        let is_new = self.while_fast(around).dirty.is_none();
        let dirty = self.while_slow(around)?.dirty?;
        (is_new && self.is_seen(around, is_full)).then(|| dirty.describe())
    }

    fn heat(&self, around: &Surroundings) -> Option<String> {
        let (slow, fast) = (self.while_slow(around)?, self.while_fast(around));
        if slow.throttled > 0 && fast.throttled == 0 {
            return Some(format!("CPUs were throttled for heat {} times", slow.throttled));
        }
        let is_hot = |heat: &Heat| heat.celsius >= Heat::HOT;
        let hot = |step: &AroundStep| step.heat.as_ref().is_some_and(is_hot);
        let heat = slow.heat.as_ref().filter(|_| self.is_seen(around, hot) && !hot(&fast))?;
        Some(format!("{} was at {} C", heat.sensor, heat.celsius))
    }

    /// Returns whether steps show something in most of the slow time.
    fn is_seen(&self, around: &Surroundings, shows: impl Fn(&AroundStep) -> bool) -> bool {
        let steps = around.steps.iter().filter(|step| shows(step));
        let common = steps.flat_map(|step| {
            let own = step.from..step.end();
            self.slow
                .iter()
                .map(move |slow| slow.end.min(own.end).saturating_sub(slow.start.max(own.start)))
        });
        let seen: u64 = common.fold(0, u64::saturating_add);
        seen > 0 && seen as f64 >= length(&self.slow) as f64 * MIN_COVERED
    }

    /// Returns whether an amount per time was much smaller while it was fast.
    fn is_new(&self, slow: u64, fast: u64) -> bool {
        let per_time = |amount: u64, of: &[Range<u64>]| amount as f64 / length(of).max(1) as f64;
        per_time(fast, &self.fast) <= per_time(slow, &self.slow) * MAX_BEFORE
    }

    /// Returns all that touches the slow time.
    fn while_slow(&self, around: &Surroundings) -> Option<AroundStep> {
        let touches = |step: &AroundStep| {
            self.slow.iter().any(|of| step.from < of.end && step.end() > of.start)
        };
        only(around, touches).total()
    }

    /// Returns all that lies in the fast time.
    fn while_fast(&self, around: &Surroundings) -> AroundStep {
        let lies = |step: &AroundStep| {
            self.fast.iter().any(|of| step.from >= of.start && step.end() <= of.end)
        };
        only(around, lies).total().unwrap_or_default()
    }
}

fn only(around: &Surroundings, counts: impl Fn(&AroundStep) -> bool) -> Surroundings {
    let steps = around.steps.iter().filter(|step| counts(step)).cloned().collect();
    Surroundings { width: around.width, steps, changes: Vec::new() }
}

fn length(of: &[Range<u64>]) -> u64 {
    of.iter().map(|range| range.end.saturating_sub(range.start)).fold(0, u64::saturating_add)
}

/// Returns whether a change lowers one of the limits, or raises one.
fn moves_limit(change: &StateChange, lowers: bool) -> bool {
    let [from, to] = [&change.from, &change.to].map(|text| limits(text));
    let names = from.keys().chain(to.keys());
    let of = |all: &BTreeMap<&str, u64>, name: &str| all.get(name).copied().unwrap_or(u64::MAX);
    let mut pairs = names.map(|name| (of(&from, name), of(&to, name)));
    pairs.any(|(from, to)| if lowers { to < from } else { to > from })
}

/// Parses `wbps=33554432 wiops=7`, or `500`; `max` and `none` have no limit.
fn limits(text: &str) -> BTreeMap<&str, u64> {
    let parts = text.split_whitespace().map(|part| part.split_once('=').unwrap_or(("", part)));
    parts.filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Dirty, DriveCounter, GroupBytes, Others};

    const SECOND: u64 = Surroundings::WIDTH;
    const MIB: u64 = 1 << 20;

    /// Slow from the tenth second to the twentieth of a trial of 30 s, by 80 %.
    fn slow() -> Slowness {
        let seconds = |from: u64, to: u64| from * SECOND..to * SECOND;
        Slowness {
            slow: vec![seconds(10, 20)],
            fast: vec![seconds(0, 10), seconds(20, 30)],
            changes: vec![(10 * SECOND, true), (20 * SECOND, false)],
            loss: 0.8,
        }
    }

    fn process(name: &str, pid: u32, written: u64) -> OtherProcess {
        OtherProcess { name: name.into(), pid, read: 0, written }
    }

    fn around(seconds: Range<u64>, fill: impl Fn(&mut AroundStep)) -> Surroundings {
        let mut all = Surroundings::default();
        for second in seconds {
            let mut step =
                AroundStep { from: second * SECOND, nanos: SECOND, ..AroundStep::default() };
            fill(&mut step);
            all.push(step);
        }
        all
    }

    fn write(step: &mut AroundStep, processes: Vec<OtherProcess>) {
        step.written = processes.iter().map(OtherProcess::bytes).sum();
        step.others = Some(Box::new(Others { processes, ..Others::default() }));
    }

    fn cause(of: &Surroundings) -> Option<String> {
        slow().cause(Some(of))
    }

    #[test]
    fn new_disk_users_are_named() {
        let backup = |step: &mut AroundStep| write(step, vec![process("backup", 4711, 20 * MIB)]);
        let wanted = Some("meanwhile backup (4711) wrote 200 MiB");
        assert_eq!(cause(&around(10..20, backup)).as_deref(), wanted);
        assert_eq!(cause(&around(0..30, backup)), None, "always");
        assert_eq!(cause(&around(0..10, backup)), None, "before");
        assert_eq!(cause(&around(10..13, backup)), None, "three seconds of ten");
        assert_eq!(slow().cause(None), None);
    }

    #[test]
    fn as_active_before_is_not_named() {
        let both = |step: &mut AroundStep| {
            let mut all = vec![process("logger", 7, 30 * MIB)];
            if (10..20).contains(&(step.from / SECOND)) {
                all.push(process("backup", 4711, 300 * MIB));
            }
            write(step, all);
        };
        let said = cause(&around(0..30, both)).unwrap();
        assert!(said.starts_with("meanwhile backup (4711) wrote") && !said.contains("logger"));
    }

    #[test]
    fn groups_are_named_without_processes() {
        let read = |step: &mut AroundStep| {
            let group = "/docker/ab12".into();
            step.groups = vec![GroupBytes { group, read: 50 * MIB, written: 0 }];
            step.read = 50 * MIB;
        };
        let wanted = Some("meanwhile control group /docker/ab12 read 500 MiB");
        assert_eq!(cause(&around(10..20, read)).as_deref(), wanted);
        let unknown = cause(&around(10..20, |step| step.read = 50 * MIB)).unwrap();
        assert_eq!(unknown, "meanwhile others moved 500 MiB on the disk, and who is unknown");
    }

    #[test]
    fn limits_must_change_the_right_way() {
        let change = |second: u64, from: &str, to: &str| {
            let mut all = Surroundings::default();
            let of = "io.max of /a".to_string();
            let (from, to) = (from.to_string(), to.to_string());
            all.push_change(StateChange { at: second * SECOND, of, from, to });
            cause(&all)
        };
        let wanted = "io.max of /a changed from max to wbps=9";
        assert_eq!(change(11, "max", "wbps=9").as_deref(), Some(wanted));
        assert_eq!(change(11, "wbps=9", "max"), None, "raised where it fell");
        assert!(change(20, "wbps=9", "max").is_some());
        assert_eq!(change(15, "max", "wbps=9"), None, "in between");
        assert!(change(10, "9000 ", "500").is_some() && change(10, "none", "none").is_none());
    }

    #[test]
    fn stolen_time_must_be_enough() {
        let steal = |share: u64| around(10..20, move |step| step.stolen = SECOND * share / 100);
        assert_eq!(cause(&steal(60)).as_deref(), Some("stolen time was 60 %"));
        assert_eq!(cause(&steal(10)), None, "of a loss of 80 %");
        assert_eq!(cause(&around(0..30, |step| step.stolen = SECOND / 2)), None, "always");
    }

    #[test]
    fn limits_of_volumes_are_named() {
        let over = |seconds, counter, nanos| {
            let device = "nvme1n1".to_string();
            let count = DriveCount { device, counter, times: 0, nanos };
            around(seconds, move |step| step.drives = vec![count.clone()])
        };
        let volume = DriveCounter::VolumeThroughput;
        let wanted = "nvme1n1 was over the volume's limit of throughput for 8.20 s of 10.0 s";
        assert_eq!(cause(&over(10..20, volume, SECOND * 82 / 100)).as_deref(), Some(wanted));
        assert_eq!(cause(&over(10..20, volume, SECOND * 49 / 100)), None, "less than half");
        assert_eq!(cause(&over(10..14, volume, SECOND)), None, "four seconds of ten");
        assert_eq!(cause(&over(0..30, volume, SECOND * 82 / 100)), None, "always");
        let mut both = over(10..20, volume, SECOND * 82 / 100);
        for step in &mut both.steps {
            write(step, vec![process("backup", 4711, 20 * MIB)]);
        }
        let wanted = format!("{wanted}; meanwhile backup (4711) wrote 200 MiB");
        assert_eq!(cause(&both), Some(wanted));
        let hot = over(10..20, DriveCounter::Throttled, SECOND);
        let wanted = "nvme1n1 was slowed down by its heat for 10.0 s of 10.0 s";
        assert_eq!(cause(&hot).as_deref(), Some(wanted));
        let errors = over(10..20, DriveCounter::MediaErrors, 0);
        assert_eq!(cause(&errors), None);
    }

    #[test]
    fn dirty_memory_and_heat_are_named() {
        let full = |step: &mut AroundStep| {
            step.dirty = Some(Dirty { bytes: 2 << 30, limit: 1 << 30 });
        };
        let said = cause(&around(10..20, full)).unwrap();
        assert!(said.starts_with("the kernel holds writers back: 2 GiB of dirty memory"), "{said}");
        assert_eq!(cause(&around(0..20, full)), None, "full before");
        let hot = |celsius| {
            around(10..20, move |step| step.heat = Some(Heat { sensor: "nvme0n1".into(), celsius }))
        };
        assert_eq!(cause(&hot(81)).as_deref(), Some("nvme0n1 was at 81 C"));
        assert_eq!(cause(&hot(69)), None);
        let throttled = around(12..13, |step| step.throttled = 4);
        assert_eq!(cause(&throttled).as_deref(), Some("CPUs were throttled for heat 4 times"));
    }
}

//! Reads about once per second what happens around a long trial, by the thread that otherwise
//! waits.

use super::cells::Amount;
use super::observe::name_others;
use super::target::OpenTarget;
use crate::host::{NO_WARNING, Places, Root, State};
use crate::plan::{Job, Op};
use crate::record::{
    AroundStep, Dirty, DriveCount, DriveCounter, GroupBytes, Heat, MAX_LOST_SHARE, Others,
    StateChange, Surroundings,
};
use crate::sys::clock::monotonic_nanos;
use crate::sys::disk::DiskStats;
use crate::sys::io_users::IoUsers;
use crate::sys::process_io::ProcessIo;
use crate::sys::usage;

/// Shorter trials are not looked at.
const MIN_NANOS: u64 = 5_000_000_000;
/// A step is at least as many times as long as its reading takes.
const MIN_STEP_PER_COST: u64 = 100;
/// How much a temperature changes that is worth a line, degrees Celsius; a high one always is.
const MIN_HEAT_CHANGE: i64 = 5;
/// The share of the time that waits for I/O must rise by, above the mean of the steps before.
const MIN_PRESSURE_RISE: f64 = 0.25;
/// A process or group with a smaller share of the bytes of the busiest one is not named.
const MIN_NAMED_SHARE: u64 = 10;

/// The counters at one moment.
#[derive(Default)]
struct Reading {
    disk: Option<DiskStats>,
    own: Option<ProcessIo>,
    steal: Option<u64>,
    users: IoUsers,
    state: State,
}

/// Watches what happens around a trial.
pub(super) struct Around {
    places: Places,
    device: (u64, u64),
    watched: Watched,
    /// When to read next, nanoseconds of the trial.
    due: u64,
}

/// The findings, and the last reading, with which the next is compared.
struct Watched {
    last: Reading,
    /// When the last reading was.
    at: u64,
    writes: bool,
    commits: bool,
    /// Writers that the page cache takes can be held back.
    is_buffered: bool,
    /// Bytes that this process has written and the disk has not.
    unwritten: u64,
    /// The last temperature that was kept.
    celsius: Option<i64>,
    /// Sum of the shares of the time that waited for I/O, and their number.
    pressure: (f64, u32),
    found: Surroundings,
}

impl Around {
    /// Begins to watch a trial on a disk, if it is long enough; `users` are the counters of now.
    pub fn begin(
        target: &OpenTarget,
        job: &Job,
        amount: &Amount,
        users: Option<&IoUsers>,
    ) -> Option<Around> {
        let (users, device) = (users?.clone(), target.device?);
        if amount.nanos < MIN_NANOS {
            return None;
        }
        let places = Places::find(Root::system(), &target.facts.devices);
        let last = Reading::now(&places, device, users);
        Some(Around { watched: Watched::new(job, last), places, device, due: Surroundings::WIDTH })
    }

    /// Reads what changed, if it is time: `at` nanoseconds after the start.
    pub fn read(&mut self, at: u64) {
        // Samples are a little early or late.
        if at.saturating_add(Surroundings::WIDTH / 20) < self.due {
            return;
        }
        let began = monotonic_nanos();
        let now = Reading::now(&self.places, self.device, IoUsers::now());
        self.watched.add(now, at);
        let cost = monotonic_nanos().saturating_sub(began);
        let pause = cost.saturating_mul(MIN_STEP_PER_COST).max(Surroundings::WIDTH);
        self.due = at.saturating_add(pause);
    }

    /// Returns what was notable.
    pub fn into_found(self) -> Option<Box<Surroundings>> {
        Some(self.watched.found).filter(|found| !found.is_empty()).map(Box::new)
    }
}

impl Reading {
    fn now(places: &Places, device: (u64, u64), users: IoUsers) -> Reading {
        Reading {
            disk: DiskStats::read(device.0, device.1).ok(),
            own: ProcessIo::process().ok(),
            steal: usage::steal_nanos(),
            users,
            state: places.read(),
        }
    }
}

impl Watched {
    fn new(job: &Job, last: Reading) -> Watched {
        let mut found = Surroundings::default();
        let warnings = last.state.drives.iter().filter_map(|(name, drive)| drive.warning(name));
        for (of, set) in warnings.filter(|(_, set)| set != NO_WARNING) {
            found.push_change(StateChange { at: 0, of, from: set.clone(), to: set });
        }
        Watched {
            celsius: last.state.heat.as_ref().map(|(_, celsius)| *celsius),
            last,
            at: 0,
            writes: job.op == Op::Write,
            commits: job.commits(),
            is_buffered: job.op == Op::Write && !job.direct,
            unwritten: 0,
            pressure: (0.0, 0),
            found,
        }
    }

    /// Keeps what was notable since the last reading.
    fn add(&mut self, now: Reading, at: u64) {
        let nanos = at.saturating_sub(self.at);
        let mut step = AroundStep { from: self.at, nanos, ..AroundStep::default() };
        self.add_others(&now, &mut step);
        let stolen =
            now.steal.zip(self.last.steal).map_or(0, |(now, then)| now.saturating_sub(then));
        if stolen as f64 > nanos as f64 * MAX_LOST_SHARE {
            step.stolen = stolen;
        }
        let is_held = |of: &Dirty| self.is_buffered && of.bytes >= of.limit;
        step.dirty = now.state.dirty.filter(is_held);
        step.throttled = now.state.throttled.saturating_sub(self.last.state.throttled);
        self.add_heat(&now, &mut step);
        self.add_drives(&now, &mut step);
        self.add_pressure(&now, &mut step);
        self.found.push(step);
        for (of, to) in &now.state.limits {
            let from = self.last.state.limits.get(of).filter(|from| *from != to);
            if let Some(from) = from.cloned() {
                let (of, to) = (of.clone(), to.clone());
                self.found.push_change(StateChange { at, of, from, to });
            }
        }
        (self.last, self.at) = (now, at);
    }

    /// Adds what the disk moved for others, and who they were.
    fn add_others(&mut self, now: &Reading, step: &mut AroundStep) {
        let mut others = name_others(&now.users, &self.last.users);
        let charged = others.processes.iter().map(|of| of.written).fold(0, u64::saturating_add);
        let moved = now.disk.zip(self.last.disk).map(|(now, then)| now - then);
        let own = now.own.zip(self.last.own).map(|(now, then)| {
            let read = now.read_bytes.saturating_sub(then.read_bytes);
            (read, now.write_bytes.saturating_sub(then.write_bytes))
        });
        let (mut read, mut written, mut own_bytes) = (0, 0, 0);
        if let Some((moved, (own_read, own_written))) = moved.zip(own) {
            read = moved.read_bytes.saturating_sub(own_read);
            // The disk writes what this process has written now or earlier.
            self.unwritten = self.unwritten.saturating_add(own_written);
            let explained = moved.write_bytes.min(self.unwritten);
            self.unwritten -= explained;
            written = moved.write_bytes - explained;
            // Each commit may write the journal, so only what others are charged with is theirs.
            if self.commits {
                written = written.min(charged);
            }
            own_bytes = own_read.saturating_add(explained);
        }
        if read.saturating_add(written) <= Others::limit(own_bytes, self.writes) {
            return;
        }
        (step.read, step.written) = (read, written);
        let most = others.processes.first().map_or(0, |of| of.bytes());
        others.processes.retain(|of| of.bytes() >= most / MIN_NAMED_SHARE);
        step.groups = self.groups_since(now, read.saturating_add(written) / MIN_NAMED_SHARE);
        step.others = Some(Box::new(others));
    }

    /// Lists the innermost groups that moved at least some bytes.
    fn groups_since(&self, now: &Reading, least: u64) -> Vec<GroupBytes> {
        let delta = |(group, [read, written]): (&String, &[u64; 2])| {
            let then = self.last.state.groups.get(group).copied().unwrap_or([*read, *written]);
            let (read, written) = (read.saturating_sub(then[0]), written.saturating_sub(then[1]));
            Some(GroupBytes { group: group.clone(), read, written })
                .filter(|of| of.bytes() >= least.max(1))
        };
        let all: Vec<GroupBytes> = now.state.groups.iter().filter_map(delta).collect();
        let is_above = |of: &GroupBytes, inner: &GroupBytes| {
            inner.group.strip_prefix(&of.group).is_some_and(|rest| rest.starts_with('/'))
        };
        let inner = all.iter().filter(|of| !all.iter().any(|inner| is_above(of, inner)));
        let mut inner: Vec<GroupBytes> = inner.cloned().collect();
        inner.sort_by_key(|of| std::cmp::Reverse(of.bytes()));
        inner.truncate(Others::MAX);
        inner
    }

    fn add_heat(&mut self, now: &Reading, step: &mut AroundStep) {
        let Some((sensor, celsius)) = now.state.heat.clone() else { return };
        let changed =
            self.celsius.is_none_or(|last| last.abs_diff(celsius) >= MIN_HEAT_CHANGE as u64);
        if celsius >= Heat::HOT || changed {
            self.celsius = Some(celsius);
            step.heat = Some(Heat { sensor, celsius });
        }
    }

    /// Adds what disks counted since the last reading.
    fn add_drives(&self, now: &Reading, step: &mut AroundStep) {
        for (device, now) in &now.state.drives {
            let Some(then) = self.last.state.drives.get(device) else { continue };
            // Late counts belong to earlier steps, and which is unknown.
            let longest = step.nanos;
            let mut add = |counter, times, nanos: u64| {
                let (device, nanos) = (device.clone(), nanos.min(longest));
                step.drives.push(DriveCount { device, counter, times, nanos });
            };
            for ((counter, now), (_, then)) in now.over.iter().zip(&then.over) {
                let over = now.saturating_sub(*then);
                if over as f64 > longest as f64 * MAX_LOST_SHARE {
                    add(*counter, 0, over);
                }
            }
            let Some((now, then)) = now.health.as_ref().zip(then.health.as_ref()) else { continue };
            let times = now.throttled.saturating_sub(then.throttled);
            let seconds = now.throttled_seconds.saturating_sub(then.throttled_seconds);
            if times > 0 || seconds > 0 {
                add(DriveCounter::Throttled, times, seconds.saturating_mul(1_000_000_000));
            }
            let errors = now.media_errors.saturating_sub(then.media_errors);
            if errors > 0 {
                add(DriveCounter::MediaErrors, errors, 0);
            }
        }
    }

    fn add_pressure(&mut self, now: &Reading, step: &mut AroundStep) {
        let Some((stalled, then)) = now.state.stalled.zip(self.last.state.stalled) else { return };
        let stalled = stalled.saturating_sub(then);
        let share = stalled as f64 / step.nanos.max(1) as f64;
        let (sum, count) = self.pressure;
        if count > 0 && share >= sum / f64::from(count) + MIN_PRESSURE_RISE {
            step.stalled = stalled;
        }
        self.pressure = (sum + share, count.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::job;
    use crate::facts::DriveHealth;
    use crate::host::DriveState;
    use crate::plan::Sync;

    const SECOND: u64 = Surroundings::WIDTH;
    const MIB: u64 = 1 << 20;

    /// Returns the counters of the disk and of this process: MiB read and written.
    fn reading(disk: [u64; 2], own: [u64; 2]) -> Reading {
        let [read_bytes, write_bytes] = disk.map(|of| of * MIB);
        let disk = Some(DiskStats { read_bytes, write_bytes, ..DiskStats::default() });
        let [read_bytes, write_bytes] = own.map(|of| of * MIB);
        let own = Some(ProcessIo { read_bytes, write_bytes, ..ProcessIo::default() });
        Reading { disk, own, steal: Some(0), ..Reading::default() }
    }

    fn watch(
        job: &Job,
        first: Reading,
        readings: impl IntoIterator<Item = Reading>,
    ) -> Surroundings {
        let mut watched = Watched::new(job, first);
        for (second, now) in (1..).zip(readings) {
            watched.add(now, second * SECOND);
        }
        watched.found
    }

    #[test]
    fn bytes_of_others_are_kept() {
        let first = reading([0, 0], [0, 0]);
        let found = watch(
            &job(),
            first,
            [reading([100, 0], [100, 0]), reading([260, 0], [200, 0]), reading([360, 1], [300, 0])],
        );
        assert_eq!(found.steps.len(), 1);
        let step = &found.steps[0];
        assert_eq!((step.from, step.nanos, step.read), (SECOND, SECOND, 60 * MIB));
    }

    #[test]
    fn late_writeback_is_its_own() {
        let write = Job { op: Op::Write, ..job() };
        let readings = || {
            [reading([0, 0], [0, 900]), reading([0, 600], [0, 900]), reading([0, 950], [0, 900])]
        };
        let found = watch(&write, reading([0, 0], [0, 0]), readings());
        let steps: Vec<_> =
            found.steps.iter().map(|of| (of.from / SECOND, of.written / MIB)).collect();
        assert_eq!(steps, [(2, 50)]);
        // A journal may have written these.
        let commit = Job { sync: Sync::Fdatasync, ..write };
        assert!(watch(&commit, reading([0, 0], [0, 0]), readings()).is_empty());
    }

    #[test]
    fn changes_of_state_are_kept() {
        let with = |change: &dyn Fn(&mut Reading)| {
            let mut reading = reading([0, 0], [0, 0]);
            change(&mut reading);
            reading
        };
        let set = |to: &str| [("io.max of /a".to_string(), to.to_string())].into();
        let heat = |celsius| Some(("sda".to_string(), celsius));
        let buffered = Job { op: Op::Write, ..job() };
        let found = watch(
            &buffered,
            with(&|r| (r.state.limits, r.state.heat) = (set("max"), heat(40))),
            [
                with(&|r| (r.state.limits, r.state.heat) = (set("max"), heat(44))),
                with(&|r| (r.state.limits, r.state.heat) = (set("wbps=5"), heat(45))),
                with(&|r| r.state.dirty = Some(Dirty { bytes: 9, limit: 9 })),
                with(&|r| {
                    (r.steal, r.state.dirty) =
                        (Some(SECOND / 50), Some(Dirty { bytes: 8, limit: 9 }))
                }),
                with(&|r| (r.steal, r.state.throttled) = (Some(SECOND / 25 + 1), 2)),
            ],
        );
        let (from, to) = ("max".into(), "wbps=5".into());
        let of = "io.max of /a".into();
        assert_eq!(found.changes, [StateChange { at: 2 * SECOND, of, from, to }]);
        let step = |second: u64| AroundStep {
            from: second * SECOND,
            nanos: SECOND,
            ..AroundStep::default()
        };
        let expected = [
            AroundStep { heat: Some(Heat { sensor: "sda".into(), celsius: 45 }), ..step(1) },
            AroundStep { dirty: Some(Dirty { bytes: 9, limit: 9 }), ..step(2) },
            AroundStep { stolen: SECOND / 50 + 1, throttled: 2, ..step(4) },
        ];
        assert_eq!(found.steps, expected);
    }

    #[test]
    fn counts_of_disks_are_kept() {
        let with = |over: u64, throttled: [u64; 2], errors: u64, warnings: &[&str]| {
            let mut now = reading([0, 0], [0, 0]);
            let health = DriveHealth {
                warnings: warnings.iter().map(|of| of.to_string()).collect(),
                media_errors: errors,
                throttled: throttled[0],
                throttled_seconds: throttled[1],
                ..DriveHealth::default()
            };
            let over = vec![
                (DriveCounter::VolumeThroughput, over * SECOND / 100),
                (DriveCounter::InstanceIops, 7),
            ];
            let drive = DriveState { health: Some(health), over };
            now.state.limits = drive.warning("nvme0n1").into_iter().collect();
            now.state.drives = [("nvme0n1".to_string(), drive)].into();
            now
        };
        let found = watch(
            &job(),
            with(500, [3, 60], 5, &[]),
            [
                with(502, [3, 60], 5, &[]),
                with(590, [4, 60], 5, &["temperature"]),
                with(590, [4, 66], 7, &["temperature"]),
                Reading::default(),
                with(990, [4, 66], 7, &["temperature"]),
            ],
        );
        let count =
            |counter, times, nanos| DriveCount { device: "nvme0n1".into(), counter, times, nanos };
        let throttled = DriveCounter::Throttled;
        let over = count(DriveCounter::VolumeThroughput, 0, SECOND * 88 / 100);
        let expected = [
            (1, vec![over, count(throttled, 1, 0)]),
            (2, vec![count(throttled, 0, SECOND), count(DriveCounter::MediaErrors, 2, 0)]),
        ];
        let kept = found.steps.iter().map(|of| (of.from / SECOND, of.drives.clone()));
        assert_eq!(kept.collect::<Vec<_>>(), expected);
        let changed = "critical warning of nvme0n1 changed from none to temperature";
        assert_eq!(found.changes.iter().map(StateChange::describe).collect::<Vec<_>>(), [changed]);
        let warned = watch(&job(), with(0, [0, 0], 0, &["read-only"]), []);
        assert_eq!(
            warned.describe().unwrap(),
            "critical warning of nvme0n1 from the start: read-only"
        );
    }

    #[test]
    fn innermost_groups_are_named() {
        let with = |mib: u64| {
            let mut now = reading([mib, 0], [0, 0]);
            let bytes = [mib * MIB, 0];
            now.state.groups = [("/docker", bytes), ("/docker/ab", bytes), ("/idle", [7, 7])]
                .map(|(name, bytes)| (name.to_string(), bytes))
                .into();
            now
        };
        let found = watch(&job(), with(1), [with(31)]);
        let group = GroupBytes { group: "/docker/ab".into(), read: 30 * MIB, written: 0 };
        assert_eq!(found.steps[0].groups, [group]);
    }

    #[test]
    fn pressure_counts_where_it_rises() {
        let with = |stalled: u64| {
            let mut now = reading([0, 0], [0, 0]);
            now.state.stalled = Some(stalled * SECOND / 10);
            now
        };
        let found = watch(&job(), with(0), [with(5), with(10), with(18), with(20)]);
        let kept: Vec<_> = found.steps.iter().map(|of| (of.from / SECOND, of.stalled)).collect();
        assert_eq!(kept, [(2, 8 * SECOND / 10)]);
    }
}

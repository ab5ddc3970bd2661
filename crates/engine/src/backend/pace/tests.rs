use std::cell::Cell;

use super::*;

/// A clock that moves by 20 ns at each reading, and by sleeps.
struct Fake {
    nanos: Cell<u64>,
    /// Ticks that the counter is ahead of the time: a jump.
    ahead: Cell<i64>,
    /// How late sleeps end, nanoseconds.
    oversleep: Cell<u64>,
    sleeps: Cell<u64>,
}

const PER_NANO: u64 = 3;
const READING: u64 = 20;

impl Fake {
    fn new() -> Fake {
        Fake {
            nanos: Cell::new(1_000_000),
            ahead: Cell::new(0),
            oversleep: Cell::new(5_000),
            sleeps: Cell::new(0),
        }
    }

    fn pass(&self, nanos: u64) {
        self.nanos.set(self.nanos.get() + nanos);
    }

    /// Returns the ticks without a reading.
    fn ticks(&self) -> u64 {
        (self.nanos.get() * PER_NANO).saturating_add_signed(self.ahead.get())
    }

    fn anchor(&self, lead: u64) -> Anchor {
        let anchor = Anchor::default();
        anchor.ticks.store(self.ticks() + lead * PER_NANO, Relaxed);
        anchor.nanos.store(self.nanos.get() + lead, Relaxed);
        anchor
    }
}

impl Timer for Fake {
    fn now(&self) -> u64 {
        self.pass(READING);
        self.ticks()
    }

    fn nanos(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from) / PER_NANO
    }

    fn ticks_per_nano(&self) -> f64 {
        PER_NANO as f64
    }

    fn monotonic(&self) -> u64 {
        self.nanos.get()
    }

    fn sleep_until(&self, nanos: u64) {
        self.sleeps.set(self.sleeps.get() + 1);
        self.nanos.set(self.nanos.get().max(nanos) + self.oversleep.get());
    }
}

const SECOND: u64 = 1_000_000_000;

fn rate(per_second: f64, nanos: u64) -> RateSpec {
    RateSpec { per_second, arrival: Arrival::Steady, nanos, by_work: false, seed: 7 }
}

fn lane_of(spec: RateSpec, anchor: &Anchor, lane: u32, lanes: u32) -> LanePace<'_> {
    LanePace { spec: PaceSpec::Rate(spec), anchor, lane, lanes, spins: true }
}

fn pacer(pace: &LanePace, depth: u32, fake: &Fake) -> Pacer<'static> {
    let mut pacer = Pacer::new(&pace.spec, depth, pace.spins, Clock::monotonic());
    pacer.begin(pace, fake);
    pacer
}

/// Runs a lane with one operation at a time, each of which takes `service(number)` nanoseconds.
/// Returns its record, the service times, and the intended and real starts in ticks.
fn run(
    pace: &LanePace,
    fake: &Fake,
    stop: &AtomicBool,
    mut service: impl FnMut(u64) -> u64,
) -> (LanePaced, Histogram, Vec<(u64, u64)>) {
    let mut pacer = pacer(pace, 1, fake);
    let (mut times, mut starts, mut last) = (Histogram::new(), Vec::new(), fake.ticks());
    while let Some(start) = pacer.wait(fake, last, stop) {
        starts.push((pacer.due(), start));
        pacer.take(0, start);
        fake.pass(service(starts.len() as u64 - 1));
        last = fake.now();
        times.record(fake.nanos(start, last));
        pacer.end(fake, 0, last);
    }
    pacer.rest(fake, stop);
    (pacer.finish(fake), times, starts)
}

/// Returns the intended starts of a lane whose operations take no time.
fn dues(pace: &LanePace, fake: &Fake) -> Vec<u64> {
    let mut pacer = pacer(pace, 1, fake);
    let mut dues = Vec::new();
    while !pacer.is_over() {
        dues.push(pacer.due());
        pacer.take(0, pacer.due());
    }
    dues
}

#[test]
fn a_stall_shows_in_response_times() {
    let fake = Fake::new();
    let anchor = fake.anchor(SECOND);
    // One second during 60 at 1,000/s: 600 and 60 operations wait longest, uniformly over 0 to 1 s.
    let pace = lane_of(rate(1000.0, 60 * SECOND), &anchor, 0, 1);
    let stop = AtomicBool::new(false);
    let stalled = |number| if number == 20_000 { SECOND } else { 1000 };
    let (paced, service, starts) = run(&pace, &fake, &stop, stalled);
    assert_eq!((starts.len(), paced.started, paced.unstarted), (60_000, 60_000, 0));
    let response = paced.response.unwrap();
    for (q, seconds) in [(0.99, 0.40), (0.999, 0.94)] {
        let found = response.quantile(q).unwrap() as f64 / 1e9;
        assert!((found / seconds - 1.0).abs() < 0.02, "{q}: {found} s, not {seconds} s");
        let alone = service.quantile(q).unwrap() as f64 / 1e9;
        assert!(alone < seconds / 100.0, "{q}: {alone} s");
    }
    // All that were due during the stall, and while the rest was worked off.
    assert!((999..=1002).contains(&paced.held), "{} held back", paced.held);
    assert!((paced.most_late as f64 / 1e9 - 0.999).abs() < 1e-3, "{} ns", paced.most_late);
    let waited = response.mean() - service.mean();
    let late = (paced.held_nanos + paced.start_lag) as f64 / 60_000.0;
    assert!((waited - late).abs() < 2.0, "{waited} ns, not {late} ns");
    assert!(paced.complete);
}

#[test]
fn a_billion_starts_drift_by_nothing() {
    for per_second in [1e6, 333_333.0, 123_456.7, 7.0] {
        let fake = Fake::new();
        let anchor = fake.anchor(0);
        let pace = lane_of(rate(per_second, u64::MAX / 8), &anchor, 0, 1);
        let mut pacer = pacer(&pace, 1, &fake);
        let from = pacer.due();
        // The due of start 10^9, without stepping through all.
        let Starts::Steady(gap) = pacer.starts else { panic!("not steady") };
        pacer.due += gap * 1_000_000_000;
        let expected = 1e9 / per_second * 1e9 * PER_NANO as f64;
        let found = (pacer.due() - from) as f64;
        assert!((found - expected).abs() <= 1.0 + expected * 2e-16, "{per_second}: {found}");
    }
}

#[test]
fn lanes_interleave_their_starts() {
    for (lanes, per_second, nanos) in
        [(1, 1000.0, SECOND), (3, 1000.0, SECOND), (4, 70.0, SECOND / 7), (7, 1e6, 5_000_003)]
    {
        let fake = Fake::new();
        let anchor = fake.anchor(500);
        let from = fake.ticks() + 500 * PER_NANO;
        let mut all: Vec<u64> = (0..lanes)
            .flat_map(|lane| dues(&lane_of(rate(per_second, nanos), &anchor, lane, lanes), &fake))
            .collect();
        all.sort_unstable();
        let count = (per_second * nanos as f64 / 1e9).round() as usize;
        assert_eq!(all.len(), count, "{lanes} lanes");
        let gap = 1e9 / per_second * PER_NANO as f64;
        for (number, due) in all.iter().enumerate() {
            let expected = from as f64 + number as f64 * gap;
            assert!((*due as f64 - expected).abs() <= 2.0, "{lanes} lanes: {number} at {due}");
        }
        // Beyond the lanes with work, none is intended.
        let idle = LanePace { lane: lanes, ..lane_of(rate(per_second, nanos), &anchor, 0, lanes) };
        assert!(dues(&idle, &fake).is_empty());
    }
}

fn poisson(per_second: f64, nanos: u64, seed: u64) -> RateSpec {
    RateSpec { arrival: Arrival::Poisson, seed, ..rate(per_second, nanos) }
}

#[test]
fn logarithms_are_close() {
    let ends = [f64::EPSILON / 2.0, 0.5, 0.707, 0.7072, 1.0 - f64::EPSILON, 1.0];
    let drawn = (1..10_000).map(|n| (mix(n) >> 11) as f64 / 2f64.powi(53));
    for x in ends.into_iter().chain(drawn) {
        let error = (ln(x) - x.ln()).abs();
        assert!(error <= 1e-12 * x.ln().abs(), "{x}: {error}");
    }
}

#[test]
fn random_gaps_are_exponential() {
    for seed in [1, 2, 3] {
        let fake = Fake::new();
        let anchor = fake.anchor(0);
        let from = fake.ticks();
        let pace = lane_of(poisson(10_000.0, 10 * SECOND, seed), &anchor, 0, 1);
        let dues = dues(&pace, &fake);
        let end = from + 10 * SECOND * PER_NANO;
        assert!(dues.iter().all(|due| (from..=end).contains(due)));
        assert_eq!(dues.len(), 100_000);
        let count = dues.len() as f64;
        let before = std::iter::once(&from).chain(&dues);
        let mean = 1e5 * PER_NANO as f64;
        let mut gaps: Vec<f64> = before.zip(&dues).map(|(a, b)| (b - a) as f64 / mean).collect();
        gaps.sort_by(f64::total_cmp);
        let average = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - average).powi(2)).sum::<f64>() / count;
        assert!((average - 1.0).abs() < 4.0 / count.sqrt(), "{average}");
        // That of a variance is the square root of 8 as large.
        assert!((variance - 1.0).abs() < 12.0 / count.sqrt(), "{variance}");
        // The Kolmogorov distance, below its 1 % limit.
        let distance = gaps.iter().enumerate().fold(0f64, |most, (rank, gap)| {
            let expected = 1.0 - (-gap).exp();
            most.max((expected - rank as f64 / count).abs())
        });
        assert!(distance < 1.63 / count.sqrt(), "{distance}");
    }
}

#[test]
fn random_lanes_add_up() {
    let fake = Fake::new();
    let anchor = fake.anchor(0);
    let from = fake.ticks();
    let of_lane =
        |seed, lane| dues(&lane_of(poisson(9000.0, SECOND, seed), &anchor, lane, 3), &fake);
    let mut counts = vec![0f64; 1000];
    for due in (0..3).flat_map(|lane| of_lane(5, lane)) {
        counts[((due - from) / (PER_NANO * SECOND / 1000)) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 1000.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1000.0;
    // 9 in each millisecond; variance by mean is 1 with a standard deviation of 0.045.
    assert_eq!(mean, 9.0);
    assert!((variance / mean - 1.0).abs() < 0.18, "{variance} by {mean}");
    assert_eq!(of_lane(5, 1), of_lane(5, 1));
    assert_ne!(of_lane(5, 1), of_lane(6, 1));
    assert_ne!(of_lane(5, 1), of_lane(5, 2));
}

#[test]
fn a_stop_ends_the_wait() {
    let fake = Fake::new();
    let anchor = fake.anchor(3600 * SECOND);
    let pace = lane_of(rate(1.0, 100 * SECOND), &anchor, 0, 1);
    let stop = AtomicBool::new(true);
    let (paced, _, starts) = run(&pace, &fake, &stop, |_| 0);
    assert_eq!((starts.len(), paced.complete, paced.unstarted), (0, false, 0));
    assert!(fake.sleeps.get() == 0);
    // Each sleep is short enough to see it.
    let stop = AtomicBool::new(false);
    let mut pacer = pacer(&pace, 1, &fake);
    let (then, sleeps) = (fake.nanos.get(), fake.sleeps.get());
    pacer.wait(&fake, fake.ticks(), &stop).unwrap();
    let longest = (fake.nanos.get() - then) / (fake.sleeps.get() - sleeps);
    assert!(longest <= SLICE + 6000, "{longest} ns");
}

#[test]
fn no_operation_starts_early() {
    for oversleep in [0, 5_000, 90_000, 200_000] {
        let fake = Fake::new();
        fake.oversleep.set(oversleep);
        let anchor = fake.anchor(SECOND);
        let pace = lane_of(rate(1000.0, SECOND), &anchor, 0, 1);
        let (paced, _, starts) = run(&pace, &fake, &AtomicBool::new(false), |_| 50_000);
        assert_eq!((starts.len(), paced.held), (1000, 0));
        assert!(starts.iter().all(|(due, start)| start >= due), "{oversleep}");
        // After three missed starts the spin is long enough, and later it misses by little.
        let late = starts.iter().filter(|(due, start)| start - due > 10_000 * PER_NANO).count();
        assert!(late <= 3, "{late} late with {oversleep} ns");
        assert_eq!(paced.wakes.max(), oversleep.max(1));
        let shares = paced.spin_nanos as f64 / SECOND as f64;
        assert!(shares > 0.0 && shares < 0.9, "{shares} with {oversleep} ns");
    }
}

#[test]
fn lanes_without_cpus_only_sleep() {
    let fake = Fake::new();
    let anchor = fake.anchor(SECOND);
    let pace = LanePace { spins: false, ..lane_of(rate(1000.0, SECOND), &anchor, 0, 1) };
    let (paced, _, starts) = run(&pace, &fake, &AtomicBool::new(false), |_| 50_000);
    assert_eq!(starts.len(), 1000);
    assert_eq!(paced.spin_nanos, 0);
    assert!(starts.iter().all(|(due, start)| start - due >= 5000 * PER_NANO));
}

#[test]
fn a_clock_that_jumps_is_followed() {
    // Forward by a minute, as after a suspend, and back.
    for jump in [60 * SECOND as i64, -(SECOND as i64) / 2] {
        let fake = Fake::new();
        fake.nanos.set(100 * SECOND);
        let anchor = fake.anchor(SECOND);
        let pace = lane_of(rate(100.0, 4 * SECOND), &anchor, 0, 1);
        let (paced, _, starts) = run(&pace, &fake, &AtomicBool::new(false), |number| {
            if number == 200 {
                fake.ahead.set(jump * PER_NANO as i64);
            }
            1000
        });
        assert_eq!(starts.len(), 400, "{jump}");
        let error = (paced.jumped as i64 - jump.abs()).abs();
        assert!(error < 1_000_000, "{jump}: {} ns", paced.jumped);
        // A lane that sleeps sees it after a slice, of five starts here.
        let late = starts.iter().filter(|(due, start)| start - due > 1_000_000 * PER_NANO);
        assert!(late.count() <= 5, "{jump}");
        let (begin, end) = paced.window.unwrap();
        assert!((end - begin).abs_diff(4 * SECOND) < 2_000_000, "{jump}: {} ns", end - begin);
    }
}

#[test]
fn late_operations_are_left() {
    for spec in [rate(1000.0, SECOND), poisson(1000.0, SECOND, 3)] {
        let fake = Fake::new();
        let anchor = fake.anchor(SECOND);
        // A third of the rate: after twice the time, two thirds have begun.
        let (paced, service, starts) =
            run(&lane_of(spec, &anchor, 0, 1), &fake, &AtomicBool::new(false), |_| 3_000_000);
        assert_eq!((paced.started, service.count()), (starts.len() as u64, starts.len() as u64));
        assert!((660..=668).contains(&paced.started), "{} begun", paced.started);
        assert_eq!(paced.started + paced.unstarted, 1000);
        assert!(paced.complete);
        // The trial is as long as it took to begin them.
        let (begin, end) = paced.window.unwrap();
        assert!((end - begin).abs_diff(2 * SECOND) < 10_000_000, "{} ns", end - begin);
    }
}

#[test]
fn work_may_end_the_pace() {
    let fake = Fake::new();
    let anchor = fake.anchor(SECOND);
    let spec = RateSpec { by_work: true, ..poisson(1000.0, SECOND, 3) };
    let pace = lane_of(spec, &anchor, 0, 1);
    let mut pacer = pacer(&pace, 1, &fake);
    let stop = AtomicBool::new(false);
    for _ in 0..1000 {
        let start = pacer.wait(&fake, fake.ticks(), &stop).unwrap();
        pacer.take(0, start);
        pacer.end(&fake, 0, fake.ticks());
    }
    // It lasts until the start that would follow the last.
    let due = pacer.due();
    pacer.rest(&fake, &stop);
    let (begin, end) = pacer.window().unwrap();
    let expected = fake.nanos(anchor.ticks.load(Relaxed), due);
    assert!((end - begin).abs_diff(expected) < 1000, "{} ns, not {expected}", end - begin);
    let paced = pacer.finish(&fake);
    assert_eq!((paced.started, paced.unstarted), (1000, 0));
}

#[test]
fn lanes_with_depth_see_due_starts() {
    let fake = Fake::new();
    let anchor = fake.anchor(1000);
    let spec = lane_of(rate(1e6, 10_000), &anchor, 0, 1);
    let mut pacer = pacer(&spec, 2, &fake);
    let due = pacer.due();
    assert_eq!(pacer.is_ready(&fake, due - 1), Pending::At(due));
    assert_eq!(pacer.is_ready(&fake, due), Pending::Now);
    let stop = AtomicBool::new(false);
    let start = pacer.wait(&fake, 0, &stop).unwrap();
    assert_eq!(start, due);
    pacer.take(0, start);
    // The spin is longer than a gap of 1 us.
    assert_eq!(pacer.limit(&fake, true), Limit::Poll);
    assert_eq!(pacer.limit(&fake, false), Limit::Unlimited);
    let second = pacer.due();
    assert_eq!(pacer.is_ready(&fake, second), Pending::Now);
    let start = pacer.wait(&fake, 0, &stop).unwrap();
    pacer.take(1, start);
    // Both slots are taken until 5 us later: four were held back then.
    let end = second + 5000 * PER_NANO;
    pacer.end(&fake, 0, end);
    for _ in 0..5 {
        assert_eq!(pacer.is_ready(&fake, end), Pending::Now);
        let start = pacer.wait(&fake, 0, &stop).unwrap();
        pacer.take(0, start);
        pacer.in_flight = 0;
    }
    assert_eq!(pacer.record.held, 4);
    let paced = pacer.finish(&fake);
    assert_eq!((paced.started, paced.held_nanos, paced.most_late), (7, 10_000, 4000));
}

#[test]
fn distant_starts_limit_the_wait() {
    let fake = Fake::new();
    let anchor = fake.anchor(10_000_000);
    let pace = lane_of(rate(1000.0, SECOND), &anchor, 0, 1);
    let mut pacer = pacer(&pace, 4, &fake);
    let Limit::Nanos(most) = pacer.limit(&fake, true) else { panic!("no limit") };
    let left = fake.nanos(pacer.asked, pacer.due());
    assert_eq!(most, left - MARGIN);
    fake.pass(most + 7000);
    pacer.waited(&fake, Limit::Nanos(most), true);
    assert_eq!((pacer.record.waits, pacer.record.wakes.count()), (1, 1));
    assert!(pacer.record.wakes.max().abs_diff(7000) < 100, "{}", pacer.record.wakes.max());
    assert!(pacer.margin < MARGIN);
    // One that ended earlier shows nothing.
    let limit = pacer.limit(&fake, true);
    pacer.waited(&fake, limit, false);
    assert_eq!(pacer.record.wakes.count(), 1);
    // It waited, so it is not held back, whatever became of the one before.
    pacer.held = true;
    assert!(pacer.wait_idle(&fake, &AtomicBool::new(false)));
    assert!(fake.ticks() >= pacer.due() && !pacer.held);
}

#[test]
fn pauses_begin_at_the_end() {
    let fake = Fake::new();
    let anchor = Anchor::default();
    let spec = PaceSpec::Think(1_000_000);
    let pace = LanePace { spec, anchor: &anchor, lane: 0, lanes: 1, spins: true };
    let stop = AtomicBool::new(false);
    let mut pacer = pacer(&pace, 2, &fake);
    let mut ends = [0u64; 2];
    for round in 0..10 {
        for slot in [0, 1] {
            assert!(pacer.wait_idle(&fake, &stop));
            let start = pacer.wait(&fake, 0, &stop).unwrap();
            let pause = fake.nanos(ends[slot as usize], start);
            assert!(round == 0 || (1_000_000..1_001_000).contains(&pause), "{pause} ns");
            pacer.take(slot, start);
            fake.pass(300_000);
            ends[slot as usize] = fake.now();
            pacer.end(&fake, slot, ends[slot as usize]);
        }
    }
    assert!(!pacer.is_over());
    pacer.rest(&fake, &stop);
    assert_eq!(pacer.window(), None);
    let paced = pacer.finish(&fake);
    assert_eq!((paced.started, paced.held, paced.response.is_none()), (20, 0, true));
}

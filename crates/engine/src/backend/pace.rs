//! The pace of a lane: when its operations are intended to start, and the wait until then.
//!
//! Times are ticks of the clock of latencies. Only what is left until a start is converted to
//! CLOCK_MONOTONIC, for the sleep: the two clocks drift apart by some 4e-5.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::lane_log::{LaneLog, LogWriter, Times};
use super::latencies::Latencies;
use crate::plan::Arrival;
use crate::record::LogEntry;
use crate::stats::Histogram;
use crate::stats::random::mix;
use crate::sys::clock::{Clock, monotonic_nanos};
use crate::sys::wait;

/// The pace of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PaceSpec {
    /// Open loop: starts are intended at a rate, whether or not earlier operations have ended.
    Rate(RateSpec),
    /// Closed loop: a pause of this many nanoseconds after each operation.
    Think(u64),
}

/// The rate of a trial, of all lanes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSpec {
    /// Intended starts per second.
    pub per_second: f64,
    pub arrival: Arrival,
    /// Starts are intended for this long, nanoseconds.
    pub nanos: u64,
    /// They are intended until the lanes have done their work instead, which takes about as long.
    pub by_work: bool,
    /// The seed of random arrivals.
    pub seed: u64,
}

/// The pace as one lane keeps it.
#[derive(Debug, Clone, Copy)]
pub struct LanePace<'a> {
    pub spec: PaceSpec,
    pub anchor: &'a Anchor,
    /// The number of the lane, and how many lanes have work; beyond them, none is intended.
    pub lane: u32,
    pub lanes: u32,
    /// Whether the last part of a wait is a spin: not where lanes share CPUs.
    pub spins: bool,
}

/// When the pace of a trial begins, the same for all lanes: their phases rest on it.
#[derive(Debug, Default)]
pub struct Anchor {
    ticks: AtomicU64,
    /// The same on CLOCK_MONOTONIC.
    nanos: AtomicU64,
}

impl Anchor {
    /// Begins the pace in `lead` nanoseconds.
    pub fn set(&self, clock: Clock, lead: u64) {
        let (ticks, nanos) = read_both(&clock);
        self.ticks.store(ticks + (lead as f64 * clock.ticks_per_nano()) as u64, Relaxed);
        self.nanos.store(nanos + lead, Relaxed);
    }
}

/// The clocks and the sleep of a lane that waits.
pub(super) trait Timer {
    /// Returns the ticks, never 0.
    fn now(&self) -> u64;
    /// Returns the nanoseconds between two readings of ticks; 0 if the second is earlier.
    fn nanos(&self, from: u64, to: u64) -> u64;
    fn ticks_per_nano(&self) -> f64;
    /// Returns CLOCK_MONOTONIC in nanoseconds.
    fn monotonic(&self) -> u64;
    /// Sleeps until a time of CLOCK_MONOTONIC, or less long.
    fn sleep_until(&self, nanos: u64);
    /// Makes the sleeps of this thread as exact as the kernel can.
    fn sharpen(&self) {}
}

impl Timer for Clock {
    #[inline(always)]
    fn now(&self) -> u64 {
        Clock::now(*self)
    }

    #[inline(always)]
    fn nanos(&self, from: u64, to: u64) -> u64 {
        Clock::nanos(*self, from, to)
    }

    fn ticks_per_nano(&self) -> f64 {
        Clock::ticks_per_nano(*self)
    }

    fn monotonic(&self) -> u64 {
        monotonic_nanos()
    }

    fn sleep_until(&self, nanos: u64) {
        wait::sleep_until(nanos);
    }

    fn sharpen(&self) {
        wait::set_timer_slack(1);
    }
}

/// The next operation of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// None follows.
    Over,
    /// It is due at these ticks.
    At(u64),
    Now,
}

/// How long a lane with operations in flight waits for one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Until one has ended: nothing else is due before.
    Unlimited,
    /// This many nanoseconds at most.
    Nanos(u64),
    /// Not at all: the next start is so close that the lane spins.
    Poll,
}

/// The result of the pace of a lane; times in nanoseconds.
#[derive(Debug, Default)]
pub struct LanePaced {
    pub started: u64,
    /// Intended, and not begun when the trial ended.
    pub unstarted: u64,
    /// The lane ends with its work, and left some of it.
    pub left_work: bool,
    /// Held back: at the intended start every slot was taken. How late these began.
    pub held: u64,
    pub held_nanos: u64,
    /// How late the latest one began.
    pub most_late: u64,
    /// How late all others began.
    pub start_lag: u64,
    pub spin_nanos: u64,
    /// Sleeps, and calls that only waited.
    pub waits: u64,
    /// How late the kernel returned from them.
    pub wakes: Histogram,
    /// From the intended start to the end; `None` without a rate.
    pub response: Option<Histogram>,
    /// The end of the log of response times, which has not gone through the ring.
    pub log_end: Option<LogEntry>,
    window: Option<(u64, u64)>,
    /// The rate ended it, not a stop.
    pub complete: bool,
    /// The clock jumped by this much.
    pub jumped: u64,
}

/// The intended starts after the next one.
#[derive(Debug)]
enum Starts {
    /// The gap between two, as `Pacer::due`.
    Steady(u128),
    Poisson(Arrivals),
    /// A pause after each operation, ticks, and when each free slot may begin.
    Think {
        pause: u64,
        ready: VecDeque<u64>,
    },
}

/// Random arrivals: a Poisson process that has as many in its time as the rate says. Without that,
/// a trial of 100 would have a rate of its own, 10 % off as a rule.
///
/// The first of `n` numbers that are drawn evenly from 0 to `t` is at `t * (1 - u^(1/n))`, and the
/// others are drawn evenly from what is left (L. Devroye, Non-Uniform Random Variate Generation,
/// chapter V.3).
#[derive(Debug)]
struct Arrivals {
    /// Ticks that are left after what is drawn, and arrivals in them.
    left: (f64, u64),
    /// The same of a trial. Lanes that share their work may do more, in the same way.
    trial: (f64, u64),
    seed: u64,
    drawn: u64,
    /// The gaps that are drawn next: some at a time, since after a system call the code that draws
    /// them is cold.
    gaps: [u64; GAPS],
}

const GAPS: usize = 16;

impl Arrivals {
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        let place = self.drawn as usize % GAPS;
        if place == 0 {
            self.draw_some();
        }
        self.drawn += 1;
        self.gaps[place]
    }

    #[inline(never)]
    fn draw_some(&mut self) {
        let (mut time, mut count) = self.left;
        // In a loop of their own, several are computed at a time.
        let mut logarithms = [0.0; GAPS];
        for (number, logarithm) in (self.drawn..).zip(&mut logarithms) {
            // Above 0, and at most 1.
            let chance = ((mix(self.seed.wrapping_add(number)) >> 11) + 1) as f64 / 2f64.powi(53);
            *logarithm = ln(chance);
        }
        for (logarithm, gap) in logarithms.into_iter().zip(&mut self.gaps) {
            if count == 0 {
                (time, count) = (time + self.trial.0, self.trial.1.max(1));
            }
            let next = -time * shrink(logarithm / count as f64);
            *gap = (next + 0.5) as u64;
            (time, count) = (time - next, count - 1);
        }
        self.left = (time, count);
    }
}

/// Returns the logarithm of a number above 0 that is not subnormal, off by less than 10^-12. The
/// standard library's is a call, which takes longer and keeps the numbers apart.
#[inline(always)]
fn ln(x: f64) -> f64 {
    // x = m * 2^e, where m is from the root of 1/2 to that of 2.
    const LEAST: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let above = x.to_bits().wrapping_sub(LEAST);
    let e = (above as i64) >> 52;
    let m = f64::from_bits((above & ((1 << 52) - 1)) + LEAST);
    // ln m = 2 artanh s
    let s = (m - 1.0) / (m + 1.0);
    let t = s * s;
    let series = 1.0 / 9.0 + t * (1.0 / 11.0 + t * (1.0 / 13.0 + t / 15.0));
    let series = 1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * series)));
    e as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Returns `e^x - 1` of `x` from -37 to 0. The series is short for most: it is off by less than a
/// 10^-8th part.
#[inline(always)]
fn shrink(x: f64) -> f64 {
    if x < -0.01 { x.exp_m1() } else { x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0))) }
}

/// The pace of a lane, and its record.
#[derive(Debug)]
pub(super) struct Pacer<'a> {
    starts: Starts,
    /// The next intended start in ticks times 2^32: the sum of a billion rounded gaps would be off
    /// by seconds.
    due: u128,
    /// Starts that are left.
    left: u64,
    /// When the trial ends.
    window_end: u64,
    /// Operations that are late are begun until then.
    give_up: u64,
    depth: u32,
    in_flight: u32,
    due_of_slot: Vec<u64>,
    /// Until then, every slot was taken.
    full_until: u64,
    /// The start of the next operation, once it is known.
    granted: Option<u64>,
    /// The next operation is held back.
    held: bool,
    /// When the lane last asked how long to wait.
    asked: u64,
    last_start: u64,
    /// The end of a wait that is a spin, nanoseconds.
    margin: u64,
    spins: bool,
    /// Both clocks at the last comparison, and the ticks of the next one.
    clocks: (u64, u64),
    compare_at: u64,
    counts: Counts,
    record: LanePaced,
    /// The response times; `None` without a rate.
    response: Option<Latencies<'a>>,
}

/// Sums in ticks.
#[derive(Debug, Default)]
struct Counts {
    held: u128,
    most_late: u64,
    lag: u128,
    spin: u64,
}

/// A spin of this many nanoseconds at first, and its bounds.
const MARGIN: u64 = 60_000;
const MIN_MARGIN: u64 = 10_000;
const MAX_MARGIN: u64 = 250_000;
/// The longest sleep: a stop must be seen in time.
const SLICE: u64 = 50_000_000;
/// A larger difference between two clocks is a jump of one, nanoseconds; and 1 % of the time.
const MIN_JUMP: u64 = 1_000_000;
/// Operations that are late are begun this long after the end of the trial, or a tenth of it.
const MIN_GRACE: u64 = 1_000_000_000;

impl<'a> Pacer<'a> {
    pub fn new(spec: &PaceSpec, depth: u32, spins: bool, clock: Clock) -> Pacer<'a> {
        let depth = depth.max(1);
        let (starts, response) = match spec {
            PaceSpec::Rate(_) => (Starts::Steady(0), Some(Latencies::new(clock))),
            PaceSpec::Think(_) => {
                let ready = VecDeque::with_capacity(depth as usize);
                (Starts::Think { pause: 0, ready }, None)
            }
        };
        Pacer {
            starts,
            due: 0,
            left: u64::MAX,
            window_end: u64::MAX,
            give_up: u64::MAX,
            depth,
            in_flight: 0,
            due_of_slot: vec![0; depth as usize],
            full_until: 0,
            granted: None,
            held: false,
            asked: 0,
            last_start: 0,
            margin: if spins { MARGIN } else { 0 },
            spins,
            clocks: (0, 0),
            compare_at: 0,
            counts: Counts::default(),
            record: LanePaced::default(),
            response,
        }
    }

    /// Has the response times logged; returns whether there are any.
    pub fn log_to(&mut self, log: LaneLog<'a>) -> bool {
        let response = self.response.iter_mut();
        response.for_each(|of| of.log_to(LogWriter::new(log, Times::Latency, None)));
        self.is_open()
    }

    /// Begins: the first starts are intended from the anchor on, or now.
    pub fn begin(&mut self, pace: &LanePace, timer: &impl Timer) {
        timer.sharpen();
        let now = timer.now();
        self.clocks = (now, timer.monotonic());
        self.compare_at = now + (SLICE as f64 * timer.ticks_per_nano()) as u64;
        match &pace.spec {
            PaceSpec::Rate(rate) => self.begin_rate(pace, rate, timer.ticks_per_nano()),
            PaceSpec::Think(nanos) => {
                let pause = (*nanos as f64 * timer.ticks_per_nano()) as u64;
                // A pause comes first: as many as operations, so that the rate is right for few.
                let first = now.saturating_add(pause);
                self.due = u128::from(first) << 32;
                if let Starts::Think { pause: of_slot, ready } = &mut self.starts {
                    *of_slot = pause;
                    ready.extend((0..self.depth).map(|_| first));
                }
            }
        }
    }

    /// Start `j` of lane `k` is `j * lanes + k` of all; each lane draws its share of random
    /// arrivals.
    fn begin_rate(&mut self, pace: &LanePace, rate: &RateSpec, ticks_per_nano: f64) {
        let from = pace.anchor.ticks.load(Relaxed);
        if let Some(response) = &mut self.response {
            response.begin(from);
        }
        self.record.window = Some((pace.anchor.nanos.load(Relaxed), 0));
        let (lane, lanes) = (u64::from(pace.lane), u64::from(pace.lanes.max(1)));
        let gap = 1e9 / rate.per_second * ticks_per_nano;
        let after = |nanos: f64| from.saturating_add((nanos * ticks_per_nano) as u64);
        let nanos = rate.nanos as f64;
        let last = if rate.by_work { 2.0 * nanos } else { nanos };
        self.window_end = if rate.by_work { u64::MAX } else { after(nanos) };
        self.give_up = after(last + (nanos / 10.0).max(MIN_GRACE as f64));
        self.due = u128::from(from) << 32;
        let all = (rate.per_second * nanos / 1e9).round() as u64;
        let own = all / lanes + u64::from(lane < all % lanes);
        self.left = if rate.by_work { u64::MAX } else { own };
        match rate.arrival {
            Arrival::Steady => {
                let part = |lanes: u64| (gap * lanes as f64 * 2f64.powi(32)) as u128;
                self.starts = Starts::Steady(part(lanes));
                self.due += part(lane);
            }
            Arrival::Poisson => {
                let trial = (nanos * ticks_per_nano, own);
                let seed = mix(rate.seed ^ mix(lane));
                let arrivals = Arrivals { left: trial, trial, seed, drawn: 0, gaps: [0; GAPS] };
                self.starts = Starts::Poisson(arrivals);
                self.draw_next();
            }
        }
        if lane >= lanes {
            self.left = 0;
        }
    }

    /// Sets the next intended start.
    #[inline(always)]
    fn draw_next(&mut self) {
        match &mut self.starts {
            Starts::Steady(gap) => self.due += *gap,
            Starts::Poisson(arrivals) => self.due += u128::from(arrivals.draw()) << 32,
            Starts::Think { ready, .. } => {
                ready.pop_front();
                self.due = ready.front().map_or(u128::MAX, |due| u128::from(*due) << 32);
            }
        }
    }

    #[inline(always)]
    fn due(&self) -> u64 {
        (self.due >> 32) as u64
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns whether the loop is open: starts do not wait for the end of others.
    fn is_open(&self) -> bool {
        self.response.is_some()
    }

    /// Waits until the next operation of a lane without any in flight is due, and returns when it
    /// starts; `None` if none follows, or the stop flag is set. The lane is idle since `last`.
    #[inline(always)]
    pub fn wait(&mut self, timer: &impl Timer, last: u64, stop: &AtomicBool) -> Option<u64> {
        if self.granted.is_some() {
            return self.granted.take();
        }
        if last >= self.compare_at {
            self.compare_clocks(timer);
        }
        if self.is_over() {
            return None;
        }
        if last < self.due() {
            return self.wait_for_due(timer, stop);
        }
        self.held = self.is_open();
        if last >= self.give_up {
            self.leave_rest();
            return None;
        }
        Some(last)
    }

    #[inline(never)]
    fn wait_for_due(&mut self, timer: &impl Timer, stop: &AtomicBool) -> Option<u64> {
        let now = timer.now();
        // Busy until now, with what comes after an operation.
        self.held = now >= self.due() && self.is_open();
        self.wait_from(now, timer, stop)
    }

    /// Waits as [`Pacer::wait`] does in a lane with a depth, before its next start is due.
    pub fn wait_idle(&mut self, timer: &impl Timer, stop: &AtomicBool) -> bool {
        let now = timer.now();
        match self.is_ready(timer, now) {
            Pending::Over => false,
            Pending::Now => true,
            Pending::At(_) => {
                self.granted = self.wait_from(now, timer, stop);
                self.granted.is_some()
            }
        }
    }

    /// Sleeps, then spins until the next start is due.
    fn wait_from(&mut self, mut now: u64, timer: &impl Timer, stop: &AtomicBool) -> Option<u64> {
        loop {
            let left = timer.nanos(now, self.due());
            if stop.load(Relaxed) {
                return None;
            }
            if left <= self.margin {
                break;
            }
            now = self.sleep(timer, left - self.margin);
        }
        let (began, due) = (now, self.due());
        while now < due {
            if stop.load(Relaxed) {
                return None;
            }
            std::hint::spin_loop();
            now = timer.now();
        }
        self.counts.spin += now - began;
        Some(now)
    }

    /// Sleeps for some nanoseconds, at most a slice; returns the ticks.
    fn sleep(&mut self, timer: &impl Timer, nanos: u64) -> u64 {
        let wake = timer.monotonic() + nanos.min(SLICE);
        timer.sleep_until(wake);
        let late = timer.monotonic().checked_sub(wake);
        self.record.waits += 1;
        let now = timer.now();
        if let Some(late) = late {
            self.record_wake(late, nanos <= SLICE && now >= self.due());
        }
        self.compare_clocks(timer);
        now
    }

    /// Records how late the kernel returned; a wake after the start makes the spin longer. No spin
    /// helps where others have the CPU, which takes longer than any wake.
    fn record_wake(&mut self, late: u64, missed: bool) {
        self.record.wakes.record(late);
        if self.spins && late <= MAX_MARGIN {
            let longer = self.margin * 2;
            self.margin = if missed { longer } else { self.margin - self.margin / 128 };
            self.margin = self.margin.clamp(MIN_MARGIN, MAX_MARGIN);
        }
    }

    /// Returns whether the next operation of a lane with a depth is due.
    pub fn is_ready(&mut self, timer: &impl Timer, now: u64) -> Pending {
        if self.granted.is_some() {
            return Pending::Now;
        }
        if now >= self.compare_at {
            self.compare_clocks(timer);
        }
        if self.is_over() {
            return Pending::Over;
        }
        let due = self.due();
        if now < due {
            self.held = false;
            return Pending::At(due);
        }
        if now >= self.give_up {
            self.leave_rest();
            return Pending::Over;
        }
        self.granted = Some(now);
        self.held = due < self.full_until && self.is_open();
        Pending::Now
    }

    /// Returns how long a lane with operations in flight, and a free slot or none, waits for one of
    /// them.
    pub fn limit(&mut self, timer: &impl Timer, has_free: bool) -> Limit {
        if !has_free || self.is_over() || self.due == u128::MAX {
            return Limit::Unlimited;
        }
        self.asked = timer.now();
        match timer.nanos(self.asked, self.due()) {
            0 => Limit::Poll,
            left if left > self.margin => Limit::Nanos((left - self.margin).min(SLICE)),
            _ => Limit::Poll,
        }
    }

    /// Notes that the lane waited; `in_vain`: no operation had ended.
    pub fn waited(&mut self, timer: &impl Timer, limit: Limit, in_vain: bool) {
        let now = timer.now();
        let nanos = timer.nanos(self.asked, now);
        self.record.waits += u64::from(in_vain);
        match limit {
            Limit::Unlimited => {}
            Limit::Poll => self.counts.spin += now.saturating_sub(self.asked),
            Limit::Nanos(most) => {
                if let Some(late) = nanos.checked_sub(most).filter(|_| in_vain) {
                    self.record_wake(late, most < SLICE && now >= self.due());
                }
            }
        }
    }

    /// Notes that the next operation starts, in this slot.
    #[inline(always)]
    pub fn take(&mut self, slot: u32, start: u64) {
        let due = self.due();
        self.due_of_slot[slot as usize] = due;
        let late = start.saturating_sub(due);
        if self.held {
            self.record.held += 1;
            self.counts.held += u128::from(late);
            self.response.iter_mut().for_each(Latencies::hold);
        } else {
            self.counts.lag += u128::from(late);
        }
        self.counts.most_late = self.counts.most_late.max(late);
        self.record.started += 1;
        self.last_start = start;
        self.in_flight += 1;
        self.left -= 1;
        self.draw_next();
    }

    /// Notes that the operation in this slot ended; returns whether the response times were
    /// collected, which takes a while.
    #[inline(always)]
    pub fn end(&mut self, timer: &impl Timer, slot: u32, now: u64) -> bool {
        let mut collected = false;
        if self.in_flight == self.depth {
            self.full_until = now;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(response) = &mut self.response {
            collected = now >= response.boundary();
            if collected {
                response.collect(now);
            }
            response.record(timer.nanos(self.due_of_slot[slot as usize], now));
        }
        if let Starts::Think { pause, ready } = &mut self.starts {
            ready.push_back(now.saturating_add(*pause));
            self.due = ready.front().map_or(u128::MAX, |due| u128::from(*due) << 32);
        }
        collected
    }

    /// Leaves what is late for too long.
    #[cold]
    fn leave_rest(&mut self) {
        // The trial knows how much of its work is left.
        self.record.left_work = self.window_end == u64::MAX;
        self.record.unstarted = if self.record.left_work { 0 } else { self.left };
        self.left = 0;
    }

    /// Moves all times if one of the clocks has jumped since the last comparison: the machine was
    /// suspended, or the counter was reset.
    #[cold]
    #[inline(never)]
    fn compare_clocks(&mut self, timer: &impl Timer) {
        let Some(clocks) = try_both(timer) else { return };
        let ((ticks_then, nanos_then), (ticks, nanos)) = (self.clocks, clocks);
        self.clocks = clocks;
        self.compare_at = ticks.saturating_add((SLICE as f64 * timer.ticks_per_nano()) as u64);
        let forward = timer.nanos(ticks_then, ticks) as i64;
        let by_ticks = forward - timer.nanos(ticks, ticks_then) as i64;
        let by_nanos = nanos.saturating_sub(nanos_then) as i64;
        let jump = by_ticks.saturating_sub(by_nanos);
        if jump.unsigned_abs() <= MIN_JUMP + by_nanos.unsigned_abs() / 100 {
            return;
        }
        self.record.jumped = self.record.jumped.saturating_add(jump.unsigned_abs());
        let ticks = (jump as f64 * timer.ticks_per_nano()) as i64;
        let by = |time: &mut u64| {
            if *time < u64::MAX {
                *time = time.saturating_add_signed(ticks);
            }
        };
        [&mut self.window_end, &mut self.give_up].into_iter().for_each(by);
        self.due_of_slot.iter_mut().for_each(by);
        if let Starts::Think { ready, .. } = &mut self.starts {
            ready.iter_mut().for_each(by);
        }
        if self.due < u128::MAX {
            self.due = self.due.saturating_add_signed(i128::from(ticks) << 32);
        }
    }

    /// Sleeps until the trial ends, for a lane that has no more operations, so that what is
    /// measured around the trial covers it.
    pub fn rest(&mut self, timer: &impl Timer, stop: &AtomicBool) {
        let Some((begin, _)) = self.record.window else { return };
        // In a lane that ends with its work, until the start after its last.
        let end = |pacer: &Pacer| match pacer.window_end {
            u64::MAX if pacer.left > 0 => pacer.due(),
            u64::MAX => pacer.last_start,
            end => end,
        };
        let mut now = timer.now();
        while now < end(self) && !stop.load(Relaxed) {
            let left = timer.nanos(now, end(self));
            timer.sleep_until(timer.monotonic() + left.clamp(1, SLICE));
            self.compare_clocks(timer);
            now = timer.now();
        }
        let (now, nanos) = read_both(timer);
        self.record.complete = self.is_over() && now >= end(self);
        let over = if now < end(self) { now } else { end(self).max(self.last_start) };
        let since = timer.nanos(over, now);
        self.record.window = Some((begin, nanos.saturating_sub(since).max(begin)));
    }

    /// Returns when the pace began and ended on CLOCK_MONOTONIC, nanoseconds; `None` without a
    /// rate.
    pub fn window(&self) -> Option<(u64, u64)> {
        self.record.window
    }

    /// Returns the record.
    pub fn finish(self, timer: &impl Timer) -> LanePaced {
        let nanos = |ticks| timer.nanos(0, ticks);
        // A lane that falls ever further behind exceeds 64 bits of ticks within minutes.
        let sum = |ticks: u128| (ticks as f64 / timer.ticks_per_nano()) as u64;
        let response = self.response.map(Latencies::finish);
        let (response, log_end) = response.map_or((None, None), |(all, end)| (Some(all), end));
        LanePaced {
            held_nanos: sum(self.counts.held),
            most_late: nanos(self.counts.most_late),
            start_lag: sum(self.counts.lag),
            spin_nanos: nanos(self.counts.spin),
            response,
            log_end,
            ..self.record
        }
    }
}

/// Reads the ticks and CLOCK_MONOTONIC, at one time if possible.
fn read_both(timer: &impl Timer) -> (u64, u64) {
    try_both(timer).unwrap_or_else(|| (timer.now(), timer.monotonic()))
}

/// Reads both clocks at one time; `None` if the thread was interrupted in between.
fn try_both(timer: &impl Timer) -> Option<(u64, u64)> {
    const MOST: u64 = 50_000;
    (0..3).find_map(|_| {
        let before = timer.now();
        let nanos = timer.monotonic();
        (timer.nanos(before, timer.now()) < MOST).then_some((before, nanos))
    })
}

#[cfg(test)]
mod tests;

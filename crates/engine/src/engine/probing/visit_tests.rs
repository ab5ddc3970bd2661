//! How a visit handles a gauge: how it calibrates, how often it measures, how it ends.

use super::*;

/// A probe whose operations take a fixed time each; `opening` is the time it takes to open.
struct Slow {
    each: Duration,
    opening: Duration,
    most: u64,
    fails: bool,
    /// It ignores a stop while it opens.
    deaf: bool,
}

impl Slow {
    fn open(&self, site: &ProbeContext) -> Opened {
        if self.deaf {
            loop {
                std::thread::park();
            }
        }
        spend(self.opening, site)?;
        let Slow { each, most, fails, .. } = *self;
        Ok(Box::new(Work { each, most, fails, site: site.clone(), counted: 0 }))
    }
}

struct Work {
    each: Duration,
    most: u64,
    fails: bool,
    site: ProbeContext,
    counted: u64,
}

fn spend(time: Duration, site: &ProbeContext) -> Result<(), ProbeError> {
    let begin = Instant::now();
    while begin.elapsed() < time {
        site.check_stop()?;
    }
    Ok(())
}

impl Gauge for Work {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        self.counted += 1;
        if self.fails {
            return Err(ProbeError::Missing("no such thing here".into()));
        }
        let begin = Instant::now();
        spend(self.each.saturating_mul(count as u32), &self.site)?;
        Ok(BatchTime {
            nanos: begin.elapsed().as_nanos() as u64,
            amount: count as f64,
            ..BatchTime::default()
        })
    }
    fn max_batch(&self) -> u64 {
        self.most
    }
    fn evidence(&self) -> Vec<String> {
        vec![format!("{} batches", self.counted)]
    }
}

fn request(slow: Slow) -> VisitRequest {
    VisitRequest {
        open: Arc::new(move |site: &ProbeContext| slow.open(site)),
        count: None,
        remaining: 11,
        time: Duration::from_millis(5),
    }
}

fn slow() -> Slow {
    Slow {
        each: Duration::from_micros(100),
        opening: Duration::ZERO,
        most: u64::MAX,
        fails: false,
        deaf: false,
    }
}

fn site() -> ProbeContext {
    ProbeContext::collect(None, None)
}

fn done(request: &VisitRequest) -> ProbeVisit {
    visit(request, &site(), &|| None).unwrap_or_else(|_| panic!("it fails"))
}

#[test]
fn batches_take_their_time_once() {
    let visit = done(&request(slow()));
    assert!((1..=200).contains(&visit.count), "{}", visit.count);
    assert!(visit.batches.iter().all(|batch| batch.nanos >= visit.count * 100_000));
}

/// Returns the count for 5 ms if each operation takes 0.1 ms and the first batch loses a CPU, and
/// the counts of all batches.
fn fitted(max: u64, lost: Duration) -> (u64, Vec<u64>) {
    let mut counts = Vec::new();
    let count = fit_count(max, Duration::from_millis(5), &mut |count| {
        let lost = if counts.is_empty() { lost } else { Duration::ZERO };
        counts.push(count);
        Ok(Duration::from_micros(100) * count as u32 + lost)
    });
    (count.unwrap_or_else(|_| panic!("nothing fails")), counts)
}

#[test]
fn long_openings_have_several_batches() {
    let several = |millis| batches_of_visit(&request(slow()), Duration::from_millis(millis));
    assert_eq!([0, 5, 6, 54, 100].map(several), [1, 1, 2, 11, 11]);
}

#[test]
fn counts_fit_the_time() {
    assert_eq!(fitted(u64::MAX, Duration::ZERO), (56, vec![1, 56, 56]));
    assert_eq!(fitted(7, Duration::ZERO), (7, vec![1, 7]));
    assert_eq!(fitted(0, Duration::ZERO), (1, vec![1]));
}

#[test]
fn lost_cpu_does_not_set_count() {
    assert_eq!(fitted(u64::MAX, Duration::from_millis(20)), (56, vec![1, 1, 56, 56]));
}

#[test]
fn known_count_is_not_recalibrated() {
    let visit = done(&VisitRequest { count: Some(3), ..request(slow()) });
    assert_eq!((visit.count, visit.evidence), (3, vec!["1 batches".to_string()]));
}

#[test]
fn slow_cells_repeat_within_bounds() {
    let dear = Slow { opening: Duration::from_millis(100), ..slow() };
    let found = done(&VisitRequest { count: Some(1), ..request(dear) }).batches.len();
    assert!((5..=11).contains(&found), "{found}");
    // Long batches leave the other cells their turn.
    let long =
        Slow { opening: Duration::from_millis(100), each: Duration::from_millis(40), ..slow() };
    let found = done(&VisitRequest { count: Some(1), ..request(long) }).batches.len();
    assert!((1..=3).contains(&found), "{found}");
    let dearer = Slow { opening: Duration::from_millis(100), ..slow() };
    assert_eq!(
        done(&VisitRequest { count: Some(1), remaining: 4, ..request(dearer) }).batches.len(),
        4
    );
}

#[test]
fn batches_respect_the_gauge_maximum() {
    let limited =
        |most| VisitRequest { time: Duration::from_secs(60), ..request(Slow { most, ..slow() }) };
    assert_eq!(done(&limited(7)).count, 7);
    assert_eq!(done(&limited(0)).count, 1);
}

#[test]
fn a_refusal_differs_from_a_stop() {
    match visit(&request(Slow { fails: true, ..slow() }), &site(), &|| None) {
        Err(Failure::Cell(why)) => assert_eq!(why, "no such thing here"),
        _ => panic!("it must fail"),
    }
    let endless = Slow { each: Duration::from_secs(3600), ..slow() };
    assert!(matches!(visit(&request(endless), &site(), &|| Some(Cut::End)), Err(Failure::Stopped)));
}

#[test]
fn hanging_visits_are_abandoned() {
    let deaf = Slow { deaf: true, ..slow() };
    assert!(matches!(visit(&request(deaf), &site(), &|| Some(Cut::End)), Err(Failure::Abandoned)));
}

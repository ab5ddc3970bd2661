use proptest::prelude::*;

use super::*;
use crate::stats::testing::Rng;

type Draw = fn(&mut Rng) -> f64;

/// Shapes with the spread seen on real machines, 2 to 10 %. Values are rates, so the skewed ones
/// have their tail at the low end.
const SHAPES: &[(&str, Draw)] = &[
    ("normal, 2 %", |r| 1.0 + 0.02 * r.normal()),
    ("normal, 10 %", |r| (1.0 + 0.1 * r.normal()).max(0.1)),
    ("skewed, 2 %", |r| 1.0 / (1.0 - 0.02 * r.uniform().ln())),
    ("skewed, 10 %", |r| 1.0 / (1.0 - 0.1 * r.uniform().ln())),
    ("log-normal, 5 %", |r| (0.05 * r.normal()).exp()),
    ("two modes alike, 5 %", |r| if r.uniform() < 0.5 { 1.0 } else { 0.9 } + 0.01 * r.normal()),
    (
        "two modes, one in five, 8 %",
        |r| if r.uniform() < 0.8 { 1.0 } else { 0.8 } + 0.01 * r.normal(),
    ),
    (
        "two modes, one in ten, 6 %",
        |r| if r.uniform() < 0.9 { 1.0 } else { 0.8 } + 0.02 * r.normal(),
    ),
    ("heavy tails, 5 %", |r| (0.03 * r.student3()).exp()),
];

fn summary(rng: &mut Rng, n: usize, draw: impl Fn(&mut Rng) -> f64) -> Summary {
    let values: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
    Summary::from_values(&values).unwrap()
}

/// Returns the maximum of that many that may be called different if 5 % are: three standard errors
/// more.
fn most(cells: usize) -> usize {
    let cells = cells as f64;
    (cells * ERROR + 3.0 * (cells * ERROR * (1.0 - ERROR)).sqrt()) as usize
}

#[test]
fn equal_distributions_are_seldom_called_different() {
    let mut rng = Rng::new(5);
    let cells = 1000;
    for (n, m) in [(5, 5), (5, 7), (6, 6), (7, 7), (5, 20), (10, 10), (20, 20), (50, 50)] {
        for (name, draw) in SHAPES {
            let different = (0..cells).filter(|_| {
                let (of, base) = (summary(&mut rng, n, draw), summary(&mut rng, m, draw));
                Ratio::from_summaries(&of, &base).unwrap().verdict() != Some(Ordering::Equal)
            });
            let different = different.count();
            assert!(different <= most(cells), "{name}, {n} and {m} trials: {different} of {cells}");
        }
    }
}

#[test]
fn a_difference_is_found() {
    let mut rng = Rng::new(6);
    let cells = 1000;
    for (n, found) in [(5, 750), (6, 860), (7, 920), (10, 970)] {
        let mut held = 0;
        let faster = (0..cells).filter(|_| {
            let of = summary(&mut rng, n, |r| 1.05 * (1.0 + 0.02 * r.normal()));
            let ratio =
                Ratio::from_summaries(&of, &summary(&mut rng, n, |r| 1.0 + 0.02 * r.normal()))
                    .unwrap();
            let (low, high) = ratio.interval().unwrap();
            held += usize::from(low <= 1.05 && 1.05 <= high);
            ratio.verdict() == Some(Ordering::Greater)
        });
        let faster = faster.count();
        assert!(faster >= found, "{n} trials: {faster} of {cells}");
        assert!(
            cells - held <= most(cells),
            "{n} trials: the true ratio is in {held} of {cells} intervals"
        );
    }
}

#[test]
fn scatter_alone_is_not_faster() {
    let mut rng = Rng::new(7);
    let cells = 1000;
    for (n, m) in [(5, 5), (7, 7), (5, 20), (5, 50)] {
        let different = (0..cells).filter(|_| {
            let wide = summary(&mut rng, n, |r| (1.0 + 0.1 * r.normal()).max(0.1));
            Ratio::from_summaries(&wide, &summary(&mut rng, m, |r| 1.0 + 0.01 * r.normal()))
                .unwrap()
                .verdict()
                != Some(Ordering::Equal)
        });
        // The interval of a median of 5 values by itself misses it in 6.25 % of cases.
        assert!(different.count() <= 90, "{n} and {m} trials");
    }
}

#[test]
fn mean_ratios_narrow_the_interval() {
    let one = Ratio { ratio: 1.1, low: Some(1.0), high: Some(1.21) };
    let mean = Ratio::mean(&[one; 4]).unwrap();
    assert!((mean.ratio - 1.1).abs() < 1e-12);
    assert!(
        (mean.low.unwrap() - 1.1 / 1.1f64.sqrt()).abs() < 1e-12 && mean.high.unwrap() < 1.16,
        "{mean:?}"
    );
    assert_eq!(Ratio::mean(&[one, Ratio { low: None, ..one }]).unwrap().interval(), None);
    assert_eq!(Ratio::mean(&[]), None);
    assert!((one.inverse().inverse().ratio - 1.1).abs() < 1e-12);
}

#[test]
fn under_five_trials_nothing_is_said() {
    let (few, many) = (
        Summary::from_values(&[1.0, 1.1, 1.2, 1.3]).unwrap(),
        Summary::from_values(&[9.0; 9]).unwrap(),
    );
    for (of, base) in [(&few, &many), (&many, &few)] {
        let ratio = Ratio::from_summaries(of, base).unwrap();
        assert_eq!((ratio.interval(), ratio.verdict()), (None, None));
    }
    assert_eq!(Ratio::from_summaries(&many, &many).unwrap().verdict(), Some(Ordering::Equal));
    assert_eq!(Ratio::from_summaries(&Summary::from_values(&[0.0; 5]).unwrap(), &many), None);
}

#[test]
fn intervals_invert_with_their_ratio() {
    let faster = Ratio { ratio: 1.5, low: Some(1.4), high: Some(1.6) };
    let reaching = faster.reaching(1.4f64.ln() + 0.01);
    assert_eq!((reaching.verdict(), reaching.high), (Some(Ordering::Equal), Some(1.6)));
    let back = reaching.not_reaching(1.4f64.ln() + 0.01);
    assert!((back.low.unwrap() - 1.4).abs() < 1e-9 && back.high == Some(1.6), "{back:?}");
    let slower = faster.inverse();
    assert_eq!(slower.reaching(-0.3).verdict(), Some(Ordering::Less));
    assert_eq!(slower.reaching(-0.4).verdict(), Some(Ordering::Equal));
    assert_eq!(slower.reaching(-0.4).low, slower.low);
}

#[test]
fn chance_gives_some_of_many() {
    assert!(
        may_be_chance(0, 0) && may_be_chance(1, 1) && may_be_chance(1, 24) && may_be_chance(3, 24)
    );
    assert!(!may_be_chance(2, 2) && !may_be_chance(4, 24) && !may_be_chance(50_000, 50_000));
    assert!(may_be_chance(2500, 50_000) && !may_be_chance(2600, 50_000));
}

proptest! {
    #[test]
    fn any_ratio_is_sound(a in prop::collection::vec(any::<f64>(), 1..9), b in prop::collection::vec(any::<f64>(), 1..9)) {
        let (Some(a), Some(b)) = (Summary::from_values(&a), Summary::from_values(&b)) else { return Ok(()) };
        let Some(ratio) = Ratio::from_summaries(&a, &b) else { return Ok(()) };
        prop_assert!(ratio.ratio.is_finite() && ratio.ratio > 0.0);
        if let Some((low, high)) = ratio.interval() {
            prop_assert!(0.0 < low && low <= ratio.ratio && ratio.ratio <= high && high.is_finite());
        }
    }
}

//! Seeded random values for the simulations: the same ones on every machine.

/// SplitMix64 (Steele, Lea, Flood 2014): tiny, and good enough to check coverage.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws from (0, 1), both ends excluded.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Draws with mean 0 and standard deviation 1 (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Draws from Student's t with 3 degrees of freedom: heavy tails, finite variance.
    pub fn student3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

/// A distribution by name, with its true median.
pub struct Shape {
    pub name: &'static str,
    pub median: f64,
    pub draw: fn(&mut Rng) -> f64,
}

/// One mode each: symmetric, skewed, flat, and heavy-tailed. All of them vary by far more than 15 %
/// of their median.
pub const SHAPES: &[Shape] = &[
    Shape { name: "normal", median: 3.0, draw: |r| 3.0 + r.normal() },
    Shape { name: "log-normal", median: 1.0, draw: |r| r.normal().exp() },
    Shape { name: "uniform", median: 0.5, draw: Rng::uniform },
    Shape { name: "exponential", median: std::f64::consts::LN_2, draw: |r| -r.uniform().ln() },
    Shape { name: "student t3", median: 2.0, draw: |r| 2.0 + r.student3() },
    Shape {
        name: "cauchy",
        median: 5.0,
        draw: |r| 5.0 + (std::f64::consts::PI * (r.uniform() - 0.5)).tan(),
    },
];

impl Shape {
    pub fn values(&self, rng: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| (self.draw)(rng)).collect()
    }
}

//! Seeded draws: the same on every machine.

/// Knuth's MMIX generator.
pub struct Generator(u64);

impl Generator {
    pub fn new(seed: u64) -> Self {
        let mut generator = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Neighbouring seeds begin alike.
        for _ in 0..8 {
            generator.uniform();
        }
        generator
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = u32::try_from(self.0 >> 32).unwrap_or_default();
        (f64::from(high) + 0.5) / 4_294_967_296.0
    }

    /// Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// How the trials of one run scatter around the truth, as log ratios.
#[derive(Clone, Copy)]
pub enum Noise {
    /// Normal, with this deviation.
    Normal(f64),
    /// Student's t with three degrees of freedom, scaled to this deviation.
    Heavy(f64),
    /// Normal with this deviation, and one trial in ten 10 % slower: the typical trial is the truth.
    Slow(f64),
    /// The same, and the mean of all is the truth.
    SlowAroundMean(f64),
    /// Normal with the first deviation, and all trials of a run shifted together by the second.
    Session(f64, f64),
    /// Each trial's deviation is half the one before: normal, of this deviation in all.
    Correlated(f64),
    /// As likely above the truth by the first as below it; normal with the second besides.
    TwoLevels(f64, f64),
    /// Each trial better than the one before by the first, the first of them the truth; normal with the
    /// second besides.
    Drift(f64, f64),
    /// Each trial worse than the one before by the first, as of a machine that warms up; the eighth, when it is warm,
    /// the truth; normal with the second besides.
    Slowing(f64, f64),
}

/// The trial from which on a machine is warm.
const WARM: usize = 8;

/// One trial in ten that is 10 % slower.
const SLOW: (f64, f64) = (0.1, -0.105_360_515_657_826_28);

impl Noise {
    /// The trials of one run.
    pub fn run(self, trials: usize, generator: &mut Generator) -> Vec<f64> {
        let session = match self {
            Self::Session(_, session) => session * generator.normal(),
            _ => 0.0,
        };
        let mut before = generator.normal();
        (0..trials)
            .map(|trial| match self {
                Self::Normal(deviation) => deviation * generator.normal(),
                Self::Heavy(deviation) => {
                    let square: f64 = (0..3).map(|_| generator.normal().powi(2)).sum();
                    let student = generator.normal() / (square / 3.0).sqrt();
                    deviation * student / 3.0_f64.sqrt()
                }
                Self::Slow(deviation) => deviation * generator.normal() + slow(generator),
                Self::SlowAroundMean(deviation) => {
                    deviation * generator.normal() + slow(generator) - SLOW.0 * SLOW.1
                }
                Self::TwoLevels(level, deviation) => {
                    let side = if generator.uniform() < 0.5 { -level } else { level };
                    side + deviation * generator.normal()
                }
                Self::Drift(step, deviation) => {
                    let before = f64::from(u32::try_from(trial).unwrap_or(u32::MAX));
                    before * step + deviation * generator.normal()
                }
                Self::Slowing(step, deviation) => {
                    let left = WARM.saturating_sub(trial + 1);
                    let left = f64::from(u32::try_from(left).unwrap_or_default());
                    left * step + deviation * generator.normal()
                }
                Self::Session(deviation, _) => session + deviation * generator.normal(),
                Self::Correlated(deviation) => {
                    before = 0.5 * before + 0.75_f64.sqrt() * generator.normal();
                    deviation * before
                }
            })
            .collect()
    }
}

fn slow(generator: &mut Generator) -> f64 {
    if generator.uniform() < SLOW.0 { SLOW.1 } else { 0.0 }
}

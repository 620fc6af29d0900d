//! One sample against another: faster, slower, no difference shown.

use retrial_recipe::model::{Aggregate, Better};
use retrial_stats::{Claim, Decision, Difference, Sample, TrialVariance};

use super::noise::{Generator, Noise};
use super::table::{Table, share};

const DRAWS: u32 = 10_000;

/// How two samples are taken.
#[derive(Clone, Copy)]
struct Design {
    baseline: Noise,
    candidate: Noise,
    /// What both trials of a pair have in common.
    shared: f64,
    paired: bool,
    /// Assumed of one trial.
    assumed: Option<f64>,
    /// Other cells of three trials that are compared with the same baseline.
    others: usize,
}

impl Design {
    fn alike(noise: f64) -> Self {
        Self {
            baseline: Noise::Normal(noise),
            candidate: Noise::Normal(noise),
            shared: 0.0,
            paired: false,
            assumed: Some(0.008),
            others: 0,
        }
    }

    /// With a noise that is as large as assumed.
    fn known_noise(noise: f64) -> Self {
        Self { assumed: Some(noise), ..Self::alike(noise) }
    }

    /// Share in which a 95 % interval leaves 1 out.
    fn shown(self, truth: f64, trials: (usize, usize), seed: u64) -> f64 {
        self.share(truth, trials, seed, |difference| {
            let bounds = difference.bounds(0.025);
            bounds.is_some_and(|(lower, upper)| lower > 0.0 || upper < 0.0)
        })
    }

    fn share(
        self,
        truth: f64,
        trials: (usize, usize),
        seed: u64,
        counts: impl Fn(Difference) -> bool,
    ) -> f64 {
        let mut generator = Generator::new(seed + trials.0 as u64 * 16 + trials.1 as u64);
        share(DRAWS, || {
            let drift: Vec<f64> =
                (0..trials.0.max(trials.1)).map(|_| self.shared * generator.normal()).collect();
            let mut take = |noise: Noise, truth: f64, trials: usize| -> Vec<f64> {
                let logs = noise.run(trials, &mut generator);
                let both = logs.iter().zip(&drift);
                both.map(|(log, drift)| 100.0 * truth * (log + drift).exp()).collect()
            };
            let baseline = take(self.baseline, 1.0, trials.0);
            let candidate = take(self.candidate, truth, trials.1);
            let sample = |values| Sample {
                values,
                noise: self.assumed,
                is_noise_stated: false,
                rounding_error: 0.0,
            };
            let others: Vec<TrialVariance> = (0..self.others)
                .filter_map(|_| {
                    let trials = take(self.baseline, 1.0, 3);
                    TrialVariance::from_trials(&trials)
                })
                .collect();
            let (a, b) = (sample(&candidate), sample(&baseline));
            let difference = if self.paired {
                Difference::between_pairs(a, b, Better::Higher, Aggregate::Mean, &others)
            } else {
                Some(Difference::between_samples(a, b, Better::Higher, Aggregate::Mean, &others))
            };
            difference.is_some_and(&counts)
        })
    }
}

/// Truly equal: a difference that is shown is none.
pub fn equal() -> Table {
    let mut table = Table::new(
        "equal",
        &["truly equal", "1 and 1 trials", "3 and 3", "5 and 5", "8 and 8", "3 and 8"],
    );
    let sizes = [(1, 1), (3, 3), (5, 5), (8, 8), (3, 8)];
    let drifting = Design { shared: 0.02, ..Design::alike(0.005) };
    let designs = [
        ("0.8 % each", Design::alike(0.008)),
        ("1.8 % each, 0.8 % assumed, as of every benchmark before", Design::alike(0.018)),
        ("1.8 % each, 1.8 % assumed", Design::known_noise(0.018)),
        ("0.5 % and 2 %", Design { candidate: Noise::Normal(0.02), ..Design::alike(0.005) }),
        (
            "Student's t with 3 degrees of freedom, 1 % each",
            Design {
                baseline: Noise::Heavy(0.01),
                candidate: Noise::Heavy(0.01),
                ..Design::alike(0.01)
            },
        ),
        (
            "0.3 % within a session, 1 % between sessions, one session each",
            Design {
                baseline: Noise::Session(0.003, 0.01),
                candidate: Noise::Session(0.003, 0.01),
                ..Design::alike(0.01)
            },
        ),
        ("0.5 % each and 2 % shared, paired", Design { paired: true, ..drifting }),
    ];
    for (name, design) in designs {
        let shares = sizes
            .into_iter()
            .map(|size| (!design.paired || size.0 == size.1).then(|| design.shown(1.0, size, 600)))
            .collect();
        table.row(name, shares);
    }
    table
}

/// One trial against three, truly equal: a difference that is shown is none.
pub fn single() -> Table {
    let mut table = Table::new(
        "single",
        &["one trial and three, truly equal", "alone", "2 other cells", "5", "10"],
    );
    let unknown = |noise| Design { assumed: None, ..Design::alike(noise) };
    let designs = [
        ("2 % each, none assumed", unknown(0.02)),
        (
            "2 % each, 0.5 % assumed of every benchmark",
            Design { assumed: Some(0.005), ..unknown(0.02) },
        ),
        ("0.3 % each, 0.8 % assumed of every benchmark", Design::alike(0.003)),
        (
            "the baseline and others 0.5 %, the single one 2 %",
            Design { candidate: Noise::Normal(0.02), ..unknown(0.005) },
        ),
    ];
    for (name, design) in designs {
        let shares =
            [0, 2, 5, 10].map(|others| Some(Design { others, ..design }.shown(1.0, (3, 1), 1500)));
        table.row(name, shares.to_vec());
    }
    table
}

/// 2 % faster: share in which that is shown.
pub fn power() -> Table {
    let mut table =
        Table::new("faster", &["2 % faster", "1 and 1 trials", "3 and 3", "5 and 5", "8 and 8"]);
    let sizes = [(1, 1), (3, 3), (5, 5), (8, 8)];
    let drifting = Design { shared: 0.02, ..Design::alike(0.005) };
    let designs = [
        ("0.8 % each", Design::alike(0.008)),
        ("1.8 % each", Design::alike(0.018)),
        ("0.5 % each and 2 % shared, unpaired", drifting),
        ("0.5 % each and 2 % shared, paired", Design { paired: true, ..drifting }),
    ];
    for (name, design) in designs {
        let shares = sizes.into_iter().map(|size| Some(design.shown(1.02, size, 700)));
        table.row(name, shares.collect());
    }
    table
}

/// 2 % slower, exactly on the limit of `--fail-if slower:2%`: share in which it is ruled out; and truly
/// equal.
pub fn fail_if() -> Table {
    let mut table = Table::new(
        "fail-if",
        &[
            "`--fail-if slower:2%` passes",
            "1 and 1 trials",
            "2 and 2",
            "3 and 3",
            "5 and 5",
            "8 and 8",
        ],
    );
    let designs = [
        ("0.8 % each", Design::alike(0.008)),
        ("1.8 % each, 0.8 % assumed, as of every benchmark before", Design::alike(0.018)),
        ("1.8 % each, 1.8 % assumed", Design::known_noise(0.018)),
        ("0.3 % each, 0.8 % assumed, as of every benchmark before", Design::alike(0.003)),
        ("0.3 % each, 0.3 % assumed", Design::known_noise(0.003)),
    ];
    for (truth, name) in [(0.98, "2 % slower"), (1.0, "truly equal")] {
        for (label, design) in designs {
            let passes = |difference: Difference| {
                difference.decide(Claim::NotWorse, 0.02, 0.05) == Decision::Holds
            };
            let share_of = |trials| Some(design.share(truth, (trials, trials), 1000, passes));
            let shares = [1, 2, 3, 5, 8].into_iter().map(share_of).collect();
            table.row(format!("{name}, {label}"), shares);
        }
    }
    table
}

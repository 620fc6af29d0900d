//! One figure against a published one that is exact: power, error, heavy tails.

use retrial_recipe::model::{Aggregate, Better};
use retrial_stats::{
    AcceptanceRegion, Claim, Decision, Estimate, ReferenceComparison, student_quantile,
};

use super::noise::{Generator, Noise};
use super::table::{Table, share};

const TRIALS: [usize; 4] = [2, 3, 5, 8];
const DRAWS: u32 = 10_000;
/// The noise of most tables: as observed across submitters in MLPerf Inference v5.1.
const NOISE: f64 = 0.018;

fn estimate(logs: &[f64], truth: f64, aggregate: Aggregate, noise: Option<f64>) -> Estimate {
    let values: Vec<f64> = logs.iter().map(|log| 100.0 * truth * log.exp()).collect();
    let comparison = ReferenceComparison {
        reference: 100.0,
        sigma: 0.0,
        better: Better::Higher,
        aggregate,
        noise,
        rounding_error: 0.0,
        typical: true,
    };
    Estimate::from_trials(&values, &comparison)
}

/// Share of runs in which the lower bound clears the margin.
fn reproduced(
    noise: Noise,
    truth: f64,
    margin: f64,
    aggregate: Aggregate,
    trials: usize,
) -> Option<f64> {
    if aggregate == Aggregate::Olympic && trials < 3 {
        return None;
    }
    let mut generator = Generator::new(trials as u64);
    Some(share(DRAWS, || {
        let logs = noise.run(trials, &mut generator);
        let bounds = estimate(&logs, truth, aggregate, None).bounds(0.05);
        bounds.is_some_and(|(lower, _)| lower >= (1.0 - margin).ln())
    }))
}

fn of_trials(share_of: impl Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
    TRIALS.into_iter().map(share_of).collect()
}

const HEAD: [&str; 4] = ["2 trials", "3", "5", "8"];

fn head(first: &'static str) -> Vec<&'static str> {
    std::iter::once(first).chain(HEAD).collect()
}

/// Truly equal, the mean of the trials.
pub fn power() -> Table {
    let mut table = Table::new("power", &head("noise of one trial, margin"));
    for (noise, margin) in [(0.004, 0.02), (0.01, 0.02), (0.018, 0.02), (0.018, 0.05)] {
        let label = format!("{:.1} %, {:.0} %", noise * 100.0, margin * 100.0);
        let share_of =
            |trials| reproduced(Noise::Normal(noise), 1.0, margin, Aggregate::Mean, trials);
        table.row(label, of_trials(share_of));
    }
    table
}

const AGGREGATES: [(&str, Aggregate); 3] = [
    ("mean", Aggregate::Mean),
    ("median", Aggregate::Median),
    ("Olympic mean", Aggregate::Olympic),
];

/// The truth exactly on the margin: share that is called reproduced.
pub fn error() -> Table {
    let mut table = Table::new("error", &head("aggregated by"));
    for (name, aggregate) in AGGREGATES {
        let share_of = |trials| reproduced(Noise::Normal(NOISE), 0.95, 0.05, aggregate, trials);
        table.row(name, of_trials(share_of));
    }
    table
}

/// The truth exactly on the margin: share that is called not reproduced.
pub fn worse() -> Table {
    let mut table = Table::new("worse", &head("aggregated by"));
    for (name, aggregate) in AGGREGATES {
        let share_of = |trials: usize| {
            let mut generator = Generator::new(100 + trials as u64);
            (aggregate != Aggregate::Olympic || trials > 2).then(|| {
                share(DRAWS, || {
                    let logs = Noise::Normal(NOISE).run(trials, &mut generator);
                    let bounds = estimate(&logs, 0.95, aggregate, None).bounds(0.05);
                    bounds.is_some_and(|(_, upper)| upper < 0.95_f64.ln())
                })
            })
        };
        table.row(name, of_trials(share_of));
    }
    table
}

/// One trial with the assumed noise, whatever its real one.
pub fn assumed() -> Table {
    let real = [0.004, 0.008, 0.012, 0.018];
    let mut table =
        Table::new("assumed", &["real noise of one trial", "0.4 %", "0.8 %", "1.2 %", "1.8 %"]);
    let share_of = |truth: f64, margin: f64| -> Vec<Option<f64>> {
        real.iter()
            .map(|real| {
                let mut generator = Generator::new(200);
                Some(share(DRAWS, || {
                    let logs = Noise::Normal(*real).run(1, &mut generator);
                    let estimate = estimate(&logs, truth, Aggregate::Mean, Some(0.008));
                    let bounds = estimate.bounds(0.05);
                    bounds.is_some_and(|(lower, _)| lower >= (1.0 - margin).ln())
                }))
            })
            .collect()
    };
    table.row("reproduced, the truth on the margin", share_of(0.95, 0.05));
    table.row("reproduced, truly equal, margin 5 %", share_of(1.0, 0.05));
    table.row("reproduced, truly equal, margin 2 %", share_of(1.0, 0.02));
    table
}

/// The truth on the margin, and noise that is not normal.
pub fn tails() -> Table {
    let mut table = Table::new("tails", &head("noise, aggregated by"));
    let noises = [
        ("Student's t with 3 degrees of freedom", Noise::Heavy(NOISE)),
        ("one trial in ten 10 % slower, the typical trial on the margin", Noise::Slow(0.004)),
        ("one trial in ten 10 % slower, the mean on the margin", Noise::SlowAroundMean(0.004)),
        ("neighbours correlated by 0.5", Noise::Correlated(NOISE)),
        ("0.3 % within a session, 1 % between sessions", Noise::Session(0.003, 0.01)),
    ];
    for (label, noise) in noises {
        for (name, aggregate) in AGGREGATES {
            let share_of = |trials| reproduced(noise, 0.95, 0.05, aggregate, trials);
            table.row(format!("{label}: {name}"), of_trials(share_of));
        }
    }
    table
}

/// The assumed noise of one trial by default.
const ASSUMED: f64 = 0.008;

/// How trials may scatter, and what is assumed of one.
const CASES: [(&str, Noise, f64); 11] = [
    ("normal, 0.8 %", Noise::Normal(0.008), ASSUMED),
    ("normal, 1.8 %", Noise::Normal(0.018), ASSUMED),
    ("normal, 1.8 %, as the benchmark's pairs say", Noise::Normal(0.018), 0.018),
    ("two levels, ±2 %", Noise::TwoLevels(0.02, 0.002), ASSUMED),
    (
        "each trial 0.5 % better than the one before, 0.4 % normal",
        Noise::Drift(0.005, 0.004),
        ASSUMED,
    ),
    (
        "each trial 0.5 % better than the one before, 0.8 % normal",
        Noise::Drift(0.005, 0.008),
        ASSUMED,
    ),
    (
        "each trial 0.5 % slower than the one before, 0.4 % normal",
        Noise::Slowing(0.005, 0.004),
        ASSUMED,
    ),
    (
        "each trial 0.5 % slower than the one before, 0.8 % normal",
        Noise::Slowing(0.005, 0.008),
        ASSUMED,
    ),
    ("neighbours correlated by 0.5, 0.8 %", Noise::Correlated(0.008), ASSUMED),
    ("0.3 % within a session, 1 % between sessions", Noise::Session(0.003, 0.01), ASSUMED),
    ("one trial in ten 10 % slower, 0.8 % normal", Noise::Slow(0.008), ASSUMED),
];

/// Share of runs that are called reproduced, by Student's t alone as it was before, and by the method of
/// verdicts.
fn cases(name: &'static str, truth: f64, margin: f64) -> Table {
    let mut table = Table::new(name, &["trials scatter", "1 trial", "2", "3", "5", "8"]);
    for (label, noise, assumed) in CASES {
        for alone in [true, false] {
            let share_of = |trials: usize| {
                let mut generator = Generator::new(800 + trials as u64);
                Some(share(DRAWS, || {
                    let logs = noise.run(trials, &mut generator);
                    let lower = if alone {
                        t_alone(&logs) + truth.ln()
                    } else {
                        let estimate = estimate(&logs, truth, Aggregate::Mean, Some(assumed));
                        let bounds = estimate.bounds(0.05);
                        bounds.map_or(f64::NEG_INFINITY, |(lower, _)| lower)
                    };
                    lower >= (1.0 - margin).ln()
                }))
            };
            let method = if alone { "t alone" } else { "**now**" };
            let shares = [1, 2, 3, 5, 8].into_iter().map(share_of).collect();
            table.row(format!("{label}: {method}"), shares);
        }
    }
    table
}

/// The lower bound that Student's t gives of trials that are taken as they are.
fn t_alone(logs: &[f64]) -> f64 {
    let count = f64::from(u32::try_from(logs.len()).unwrap_or(u32::MAX));
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let half = if logs.len() == 1 {
        student_quantile(0.05, f64::INFINITY) * ASSUMED
    } else {
        student_quantile(0.05, count - 1.0) * (squares / (count - 1.0) / count).sqrt()
    };
    mean - half
}

/// The truth on the margin.
pub fn cases_error() -> Table {
    cases("cases-error", 0.95, 0.05)
}

/// The truth on the margin: share that is called not reproduced.
pub fn cases_worse() -> Table {
    let mut table = Table::new("cases-worse", &["trials scatter", "1 trial", "2", "3", "5", "8"]);
    for (label, noise, assumed) in CASES {
        let share_of = |trials: usize| {
            let mut generator = Generator::new(850 + trials as u64);
            Some(share(DRAWS, || {
                let logs = noise.run(trials, &mut generator);
                let estimate = estimate(&logs, 0.95, Aggregate::Mean, Some(assumed));
                let bounds = estimate.bounds(0.05);
                bounds.is_some_and(|(_, upper)| upper < 0.95_f64.ln())
            }))
        };
        table.row(label, [1, 2, 3, 5, 8].into_iter().map(share_of).collect());
    }
    table
}

/// Truly equal.
pub fn cases_power() -> Table {
    cases("cases-power", 1.0, 0.05)
}

/// A true 94.7, printed as whole units, against a published 100 and a margin of 5 %.
pub fn printed() -> Table {
    let mut table = Table::new("printed", &["noise of one trial", "1 trial", "3", "5", "8"]);
    for noise in [0.0005, 0.002, 0.005] {
        for half_digit in [0.0, 0.5] {
            let share_of = |trials: usize| {
                let mut generator = Generator::new(900 + trials as u64);
                Some(share(DRAWS, || {
                    let logs = Noise::Normal(noise).run(trials, &mut generator);
                    let values = logs.iter().map(|log| (94.7 * log.exp()).round());
                    let comparison = ReferenceComparison {
                        reference: 100.0,
                        sigma: 0.0,
                        better: Better::Higher,
                        aggregate: Aggregate::Mean,
                        noise: Some(noise),
                        rounding_error: half_digit / 95.0,
                        typical: true,
                    };
                    let estimate = Estimate::from_trials(&values.collect::<Vec<_>>(), &comparison);
                    let region = AcceptanceRegion::new(Claim::NotWorse, 0.05);
                    let bounds = estimate.bounds(0.05);
                    bounds.is_some_and(|(lower, upper)| {
                        region.decide(lower, upper) == Decision::Holds
                    })
                }))
            };
            let method = if half_digit > 0.0 { "**now**" } else { "taken as exact" };
            let label = format!("{} %: {method}", noise * 100.0);
            table.row(label, [1, 3, 5, 8].into_iter().map(share_of).collect());
        }
    }
    table
}

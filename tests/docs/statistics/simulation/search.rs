//! A search for the change between two neighbours, against sweeps over all positions.

use retrial_stats::Better;
use retrial_stats::search::{ChangeCriterion, ChangeSearch, Observation, SearchStep};

use super::noise::{Generator, Noise};
use super::table::{Table, share};

const SEARCHES: u32 = 1_000;
const DROPS: [f64; 3] = [0.03, 0.05, 0.10];
const HEAD: [&str; 3] = ["3 % slower", "5 % slower", "10 % slower"];
const NOISES: [f64; 4] = [0.005, 0.01, 0.02, 0.03];
const POSITIONS: [usize; 3] = [8, 32, 64];

/// The log of the true figure at each position.
type Truth = Vec<f64>;

fn one_drop(positions: usize, drop: f64, generator: &mut Generator) -> (Truth, usize) {
    let before = place(positions - 1, generator);
    let level = |position| {
        if position <= before { 0.0 } else { (1.0 - drop).ln() }
    };
    ((0..positions).map(level).collect(), before)
}

/// One of so many, from 0.
fn place(count: usize, generator: &mut Generator) -> usize {
    let mut at = generator.uniform();
    let part = 1.0 / f64::from(u32::try_from(count).unwrap_or(1));
    (0..count - 1)
        .find(|_| {
            at -= part;
            at < 0.0
        })
        .unwrap_or(count - 1)
}

/// The pair that a search names, and its trials; `drift` is by how much each trial is slower than the one before.
fn search(
    truth: &Truth,
    noise: Noise,
    drift: f64,
    generator: &mut Generator,
) -> (Option<usize>, u32) {
    let search = ChangeSearch {
        positions: truth.len(),
        change: ChangeCriterion::Slower { better: Better::Higher, margin: 0.0 },
        alpha: 0.05,
        max_trials: 600,
        rounding_error: 0.0,
    };
    let mut trials = Vec::new();
    let mut count = 0;
    loop {
        match search.next_step(&trials) {
            SearchStep::Measure(position) => {
                let log = truth[position] + noise.run(1, generator)[0] - drift * f64::from(count);
                trials.push(Observation { position, value: 100.0 * log.exp() });
                count += 1;
            }
            SearchStep::Found(found) => return (Some(found.before), count),
            SearchStep::NoDifference | SearchStep::EndsUndecided | SearchStep::Undecided { .. } => {
                return (None, count);
            }
        }
    }
}

/// The share of right pairs, and the mean number of trials.
fn searches(positions: usize, noise: Noise, drop: f64, drift: f64) -> (f64, f64) {
    let mut generator = Generator::new(1700 + positions as u64);
    let mut trials = 0;
    let right = share(SEARCHES, || {
        let (truth, before) = one_drop(positions, drop, &mut generator);
        let (found, used) = search(&truth, noise, drift, &mut generator);
        trials += used;
        found == Some(before)
    });
    (right, f64::from(trials) / f64::from(SEARCHES))
}

/// Trials of a sweep that takes the fewest of each position with which the step that fits best is the
/// right one in 95 % of sweeps.
fn sweep(positions: usize, deviation: f64, drop: f64) -> f64 {
    let mut generator = Generator::new(1800 + positions as u64);
    let each = (1..100_u32).find(|each| {
        let of_mean = deviation / f64::from(*each).sqrt();
        let right = share(SEARCHES, || {
            let (truth, before) = one_drop(positions, drop, &mut generator);
            let means: Vec<f64> =
                truth.iter().map(|log| log + of_mean * generator.normal()).collect();
            best_step(&means) == before
        });
        right >= 0.95
    });
    f64::from(each.unwrap_or(100)) * f64::from(u32::try_from(positions).unwrap_or(1))
}

/// The place at which one step explains most of the scatter.
fn best_step(means: &[f64]) -> usize {
    let count = |part: &[f64]| f64::from(u32::try_from(part.len()).unwrap_or(1));
    let explained = |place: &usize| {
        let (before, behind) = means.split_at(place + 1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / count(part);
        let step = (mean(before) - mean(behind)).max(0.0);
        count(before) * count(behind) * step * step
    };
    let places = 0..means.len() - 1;
    let best = places.max_by(|a, b| explained(a).total_cmp(&explained(b)));
    best.unwrap_or(0)
}

fn label(positions: usize, noise: f64) -> String {
    format!("{positions} releases, noise {} %", noise * 100.0)
}

/// How often the right neighbours are named, and with which part of a sweep's trials.
pub fn one_change() -> [Table; 2] {
    let head: Vec<&str> = [""].into_iter().chain(HEAD).collect();
    let mut right = Table::new("search-right", &head);
    let mut trials = Table::new("search-trials", &head);
    for positions in POSITIONS {
        for noise in NOISES {
            let pairs = DROPS.map(|drop| {
                let (right, used) = searches(positions, Noise::Normal(noise), drop, 0.0);
                (right, used / sweep(positions, noise, drop))
            });
            right.row(label(positions, noise), pairs.map(|pair| Some(pair.0)).to_vec());
            trials.row(label(positions, noise), pairs.map(|pair| Some(pair.1)).to_vec());
        }
    }
    [right, trials]
}

/// Trials that are not as the search takes them to be; 32 releases.
pub fn cases() -> Table {
    let head: Vec<&str> = ["32 releases"].into_iter().chain(HEAD).collect();
    let mut table = Table::new("search-cases", &head);
    let noises = [
        ("normal, 1 %", Noise::Normal(0.01), 0.0),
        ("Student's t with 3 degrees of freedom, 1 %", Noise::Heavy(0.01), 0.0),
        ("each trial 0.05 % slower than the one before, 1 % normal", Noise::Normal(0.01), 0.0005),
        ("one trial in ten 10 % slower, 1 % normal", Noise::Slow(0.01), 0.0),
    ];
    for (name, noise, drift) in noises {
        let right = DROPS.map(|drop| Some(searches(32, noise, drop, drift).0));
        table.row(name, right.to_vec());
    }
    let two = DROPS.map(|drop| Some(one_of_two(drop)));
    table.row("two changes of this size, 1 %: one of them is named", two.to_vec());
    table.row("no change, 1 %: a pair is named", vec![Some(named_without_change()), None, None]);
    table
}

fn one_of_two(drop: f64) -> f64 {
    let mut generator = Generator::new(1900);
    share(SEARCHES, || {
        let (first, first_drop) = one_drop(32, drop, &mut generator);
        let (second, second_drop) = one_drop(32, drop, &mut generator);
        let truth: Truth = first.iter().zip(second).map(|(a, b)| a + b).collect();
        let found = search(&truth, Noise::Normal(0.01), 0.0, &mut generator).0;
        found == Some(first_drop) || found == Some(second_drop)
    })
}

fn named_without_change() -> f64 {
    let mut generator = Generator::new(2000);
    share(SEARCHES, || {
        let truth = vec![0.0; 32];
        search(&truth, Noise::Normal(0.01), 0.0, &mut generator).0.is_some()
    })
}

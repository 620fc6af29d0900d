//! One sample's scatter against another's: more consistent, or not shown.

use retrial_stats::{Claim, Decision, Difference, Scatter};

use super::noise::{Generator, Noise};
use super::table::{Table, share};

const DRAWS: u32 = 4_000;
const SIZES: [(usize, usize); 5] = [(5, 5), (8, 8), (12, 12), (20, 20), (5, 10)];
const HEAD: [&str; 5] = ["5 and 5 trials", "8 and 8", "12 and 12", "20 and 20", "5 and 10"];

/// Share in which the first is called more consistent at 95 %, where the second scatters `times` as much.
fn shown(noise: Noise, times: f64, sizes: (usize, usize)) -> f64 {
    let seed = 1300 + sizes.0 as u64 * 32 + sizes.1 as u64;
    let mut generator = Generator::new(seed);
    share(DRAWS, || {
        let mut trials = |count, factor: f64| -> Vec<f64> {
            let logs = noise.run(count, &mut generator);
            logs.into_iter().map(|log| (factor * log).exp()).collect()
        };
        let calm = Scatter::from_trials(&trials(sizes.0, 1.0), 0.0);
        let loose = Scatter::from_trials(&trials(sizes.1, times), 0.0);
        let both = calm.zip(loose);
        both.is_some_and(|(calm, loose)| {
            Difference::between_scatters(&calm, &loose).decide(Claim::Better, 0.0, 0.05)
                == Decision::Holds
        })
    })
}

fn table(name: &'static str, label: &str, times: f64) -> Table {
    let head: Vec<&str> = [label].into_iter().chain(HEAD).collect();
    let mut table = Table::new(name, &head);
    let noises = [
        ("normal", Noise::Normal(0.01)),
        ("Student's t with 3 degrees of freedom", Noise::Heavy(0.01)),
        ("one trial in ten 10 % slower, 1 % besides", Noise::Slow(0.01)),
        ("two levels 2 % apart, 0.2 % besides", Noise::TwoLevels(0.01, 0.002)),
        ("each like the one before", Noise::Correlated(0.01)),
    ];
    for (name, noise) in noises {
        let shares = SIZES.map(|sizes| Some(shown(noise, times, sizes)));
        table.row(name, shares.to_vec());
    }
    table
}

/// As consistent: every share is an error.
pub fn error() -> Table {
    table("consistent-error", "equally consistent", 1.0)
}

/// The other scatters three times as much.
pub fn power() -> Table {
    table("consistent-power", "three times as consistent", 3.0)
}

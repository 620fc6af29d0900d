//! Published figures, judged against one another.

use rstest::rstest;

use super::build::*;
use crate::verdict::{Outcome, judge};

/// What AMD's v4.1 guide printed, against what AMD had submitted on the same system, and other
/// submissions of the same GPU, one run each.
#[rstest]
// 'matches the result in the submission'
#[case(23_545.5, 23_514.8, true, Outcome::Reproduced)]
// 'comparable to the result in the submission': 3.2 % under it, more than the 2 % of one system, and
// than runs of this benchmark on one system are apart.
#[case(20_360.1, 21_028.2, true, Outcome::NotReproduced)]
#[case(20_360.1, 21_028.2, false, Outcome::Reproduced)]
// Dell's 8xMI300X against AMD's: 3.6 % and 5.4 % under.
#[case(22_677.6, 23_514.8, false, Outcome::Reproduced)]
#[case(19_886.1, 21_028.2, false, Outcome::Inconclusive)]
// v5.1, two systems of 8xMI325X: the same but for 0.1 %.
#[case(34_555.0, 34_520.4, true, Outcome::Reproduced)]
// The next GPU's figure is not to be had on this one.
#[case(27_803.9, 34_520.4, false, Outcome::NotReproduced)]
fn pairs(
    #[case] measured: f64,
    #[case] published: f64,
    #[case] same_sku: bool,
    #[case] expected: Outcome,
) {
    let mut context = context();
    context.same_sku = same_sku;
    let verdict = judge(&context, &[offline(&[measured]).expecting(TOKENS, official(published))]);
    assert_eq!(verdict.outcome, expected, "{}", verdict.results[0].sentence);
}

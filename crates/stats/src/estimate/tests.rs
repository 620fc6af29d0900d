//! Quantiles against printed tables, and the rule's power and error by seeded simulation.

use rstest::rstest;

use super::*;

/// Knuth's MMIX generator: the same draws on every machine.
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = u32::try_from(self.0 >> 32).unwrap();
        (f64::from(high) + 0.5) / 4_294_967_296.0
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Student's t with three degrees of freedom, scaled to unit variance: heavy tails.
    fn heavy(&mut self) -> f64 {
        let square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (square / 3.0).sqrt() / 3.0_f64.sqrt()
    }
}

fn comparison(aggregate: Aggregate) -> ReferenceComparison {
    ReferenceComparison {
        reference: 100.0,
        sigma: 0.0,
        better: Better::Higher,
        aggregate,
        noise: None,
        rounding_error: 0.0,
        typical: true,
    }
}

/// Share of `draws` in which the lower bound clears `margin`.
fn share_reproduced(
    aggregate: Aggregate,
    truth: f64,
    margin: f64,
    trials: u32,
    draw: &mut dyn FnMut() -> f64,
) -> f64 {
    let draws = 8_000;
    let reproduced = (0..draws)
        .filter(|_| {
            let values: Vec<f64> = (0..trials).map(|_| 100.0 * truth * draw().exp()).collect();
            let estimate = Estimate::from_trials(&values, &comparison(aggregate));
            estimate.bounds(0.05).is_some_and(|(lower, _)| lower >= (1.0 - margin).ln())
        })
        .count();
    f64::from(u32::try_from(reproduced).unwrap()) / f64::from(draws)
}

#[rstest]
#[case(0.05, 1.0, 6.313_752)]
#[case(0.05, 2.0, 2.919_986)]
#[case(0.05, 4.0, 2.131_847)]
#[case(0.05, 7.0, 1.894_579)]
#[case(0.025, 10.0, 2.228_139)]
#[case(0.01, 30.0, 2.457_262)]
#[case(0.05, f64::INFINITY, 1.644_854)]
#[case(0.05, 1e9, 1.644_854)]
#[case(0.5, 3.0, 0.0)]
fn quantiles_match_the_tables(#[case] alpha: f64, #[case] degrees: f64, #[case] expected: f64) {
    assert!(
        (student_quantile(alpha, degrees) - expected).abs() < 1e-5,
        "{}",
        student_quantile(alpha, degrees)
    );
}

/// The table of power when truly equal, within 0.03; of eight trials, 7 % count as one for their
/// order.
#[rstest]
#[case(0.004, 0.02, [0.73, 1.0, 1.0, 1.0])]
#[case(0.010, 0.02, [0.34, 0.71, 0.95, 0.98])]
#[case(0.018, 0.02, [0.19, 0.36, 0.62, 0.83])]
#[case(0.018, 0.05, [0.46, 0.90, 1.0, 1.0])]
fn power_matches_the_documented_table(
    #[case] noise: f64,
    #[case] margin: f64,
    #[case] expected: [f64; 4],
) {
    for (trials, expected) in [2, 3, 5, 8].into_iter().zip(expected) {
        let mut generator = Generator(u64::from(trials));
        let mut draw = || noise * generator.normal();
        let actual = share_reproduced(Aggregate::Mean, 1.0, margin, trials, &mut draw);
        assert!((actual - expected).abs() <= 0.03, "{trials} trials: {actual}, not {expected}");
    }
}

/// A truth exactly on the margin passes in at most one of twenty (and what chance adds to 8,000).
#[rstest]
fn false_reproductions_at_the_margin(
    #[values(Aggregate::Mean, Aggregate::Median, Aggregate::Olympic)] aggregate: Aggregate,
    #[values(3, 4, 5, 8)] trials: u32,
) {
    let mut generator = Generator(41 + u64::from(trials));
    let mut draw = || 0.018 * generator.normal();
    let actual = share_reproduced(aggregate, 0.95, 0.05, trials, &mut draw);
    let chance = 2.6 * (0.05_f64 * 0.95 / 8_000.0).sqrt();
    // Median and winsorized errors are asymptotic: of few trials they are a little off.
    let slack = if aggregate == Aggregate::Mean { 0.0 } else { 0.015 };
    assert!(actual <= 0.05 + chance + slack, "{aggregate:?} of {trials}: {actual}");
}

/// Heavy tails make the t bound careful, not careless: wide samples widen it.
#[rstest]
fn heavy_tails_do_not_help_to_pass(#[values(3, 5, 8)] trials: u32) {
    let mut generator = Generator(7 + u64::from(trials));
    let mut draw = || 0.018 * generator.heavy();
    let actual = share_reproduced(Aggregate::Mean, 0.95, 0.05, trials, &mut draw);
    assert!(actual <= 0.06, "{trials}: {actual}");
}

#[rstest]
#[case(&[100.0], Aggregate::Mean, 100.0)]
#[case(&[90.0, 110.0], Aggregate::Mean, 99.498_743_7)]
#[case(&[1.0, 2.0, 30.0], Aggregate::Median, 2.0)]
#[case(&[4.0, 1.0, 9.0, 30.0], Aggregate::Median, 6.0)]
#[case(&[1.0, 2.0, 30.0], Aggregate::Olympic, 2.0)]
#[case(&[5.0, 1.0, 2.0, 30.0, 3.0], Aggregate::Olympic, 10.0 / 3.0)]
fn aggregates_match_their_definitions(
    #[case] values: &[f64],
    #[case] how: Aggregate,
    #[case] expected: f64,
) {
    let actual = aggregate_trials(values, how).unwrap();
    assert!((actual - expected).abs() < 1e-6, "{actual}");
}

#[rstest]
#[case(&[])]
#[case(&[0.0])]
#[case(&[1.0, -1.0])]
#[case(&[1.0, f64::NAN])]
fn values_without_a_logarithm_have_no_aggregate(#[case] values: &[f64]) {
    assert_eq!(aggregate_trials(values, Aggregate::Mean), None);
}

#[test]
fn extreme_values_have_finite_bounds() {
    for how in [Aggregate::Mean, Aggregate::Median, Aggregate::Olympic] {
        assert!(aggregate_trials(&[f64::MAX; 3], how).unwrap().is_finite());
        let far = [f64::MAX, f64::MIN_POSITIVE, f64::MAX, 1.0];
        let estimate = Estimate::from_trials(&far, &comparison(how));
        let (lower, upper) = estimate.bounds(0.05).unwrap();
        assert!(lower.is_finite() && upper.is_finite());
    }
}

/// Ranks of the sign test at 5 %, as in any table of it.
#[rstest]
#[case(4, None)]
#[case(5, Some(0))]
#[case(7, Some(0))]
#[case(8, Some(1))]
#[case(11, Some(2))]
fn median_bound_ranks_match_the_sign_test(#[case] count: usize, #[case] expected: Option<usize>) {
    assert_eq!(median_bound_rank(count, 0.05), expected);
}

/// Two that are near each other are as noisy as assumed; two that are far apart need a third.
#[rstest]
#[case(&[99.0, 99.0], Some(0.008), Some(6.313_752 * 0.008 / std::f64::consts::SQRT_2))]
#[case(&[99.0, 100.5], Some(0.008), Some(6.313_752 * 0.008 / std::f64::consts::SQRT_2))]
#[case(&[99.0, 100.5], None, Some(6.313_752 * 0.010_633 / std::f64::consts::SQRT_2))]
#[case(&[99.0, 101.5], Some(0.008), None)]
#[case(&[99.0, 101.5], Some(0.0), Some(6.313_752 * 0.017_634 / std::f64::consts::SQRT_2))]
fn two_trials_are_as_noisy_as_assumed_or_too_few(
    #[case] values: &[f64],
    #[case] noise: Option<f64>,
    #[case] half: Option<f64>,
) {
    let of = |noise| ReferenceComparison { noise, ..comparison(Aggregate::Mean) };
    let estimate = Estimate::from_trials(values, &of(noise));
    let actual = estimate.bounds(0.05).map(|(lower, _)| estimate.center - lower);
    assert_eq!(actual.is_some(), half.is_some());
    let apart = actual.unwrap_or_default() - half.unwrap_or_default();
    assert!(apart.abs() < 1e-5, "{actual:?}");
}

#[test]
fn drifting_trials_count_as_one() {
    let drifting = [99.0, 99.5, 100.0, 100.5, 101.0];
    let mixed = [100.0, 99.0, 101.0, 99.5, 100.5];
    let width = |values: &[f64], aggregate| {
        let estimate = Estimate::from_trials(values, &comparison(aggregate));
        estimate.center - estimate.bounds(0.05).unwrap().0
    };
    let (one, other) = (width(&drifting, Aggregate::Mean), width(&mixed, Aggregate::Mean));
    assert!((one - 5.0_f64.sqrt() * other).abs() < 1e-9, "{one} {other}");
    // Training runs are read in the order of their files, which is no order of time.
    let (one, other) = (width(&drifting, Aggregate::Olympic), width(&mixed, Aggregate::Olympic));
    assert!((one - other).abs() < 1e-9, "{one} {other}");
}

#[test]
fn rare_slow_trials_do_not_move_the_median() {
    let values = [100.0, 90.0, 100.2, 99.9, 100.1];
    let estimate = Estimate::from_trials(&values, &comparison(Aggregate::Mean));
    assert_eq!((estimate.slow.as_slice(), estimate.aggregate), (&[1][..], Aggregate::Median));
    assert!(estimate.center.abs() < 1e-12, "{}", estimate.center);
    assert!(estimate.bounds(0.05).unwrap().0 > 0.995_f64.ln());
}

#[test]
fn bounds_are_not_finer_than_the_printed_precision() {
    let printed = ReferenceComparison { rounding_error: 0.5 / 95.0, ..comparison(Aggregate::Mean) };
    for values in [&[95.0; 1][..], &[95.0; 3]] {
        let assumed = ReferenceComparison { noise: Some(0.001), ..printed };
        let (lower, upper) = Estimate::from_trials(values, &assumed).bounds(0.05).unwrap();
        assert!(lower < 0.946_f64.ln() && upper > 0.954_f64.ln());
    }
}

#[test]
fn a_reference_with_a_deviation_has_more_degrees_of_freedom() {
    let values = [99.0, 101.0];
    let exact = Estimate::from_trials(&values, &comparison(Aggregate::Mean));
    let vague = Estimate::from_trials(
        &values,
        &ReferenceComparison { sigma: 0.05, ..comparison(Aggregate::Mean) },
    );
    let width = |estimate: &Estimate| estimate.center - estimate.bounds(0.05).unwrap().0;
    // 6.31 × 1 % alone; 1.7 × 5.1 % together, not 6.31 × 5.1 %.
    assert!((width(&exact) - 0.0631).abs() < 0.001, "{}", width(&exact));
    assert!(width(&vague) < 0.09, "{}", width(&vague));
}

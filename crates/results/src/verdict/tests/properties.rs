//! What holds for any evidence.

use proptest::prelude::*;

use super::build::*;
use crate::verdict::{Evidence, Outcome, StatedValidity, Verdict, judge};
use retrial_recipe::model::{Aggregate, Better, Expectation, FigureSource, Limit, Mode};

fn aggregates() -> impl Strategy<Value = Aggregate> {
    prop_oneof![Just(Aggregate::Mean), Just(Aggregate::Median), Just(Aggregate::Olympic)]
}

fn direction() -> impl Strategy<Value = Better> {
    prop_oneof![Just(Better::Higher), Just(Better::Lower)]
}

fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::NotReproduced => 0,
        Outcome::Inconclusive => 1,
        Outcome::Reproduced => 2,
        other => unreachable!("{other}"),
    }
}

prop_compose! {
    fn evidence()(
        values in prop::collection::vec(prop_oneof![prop::num::f64::ANY, 1e-3_f64..1e6], 0..9),
        published in prop_oneof![prop::num::f64::ANY, 1e-3_f64..1e6],
        optional in prop::array::uniform6(prop::option::of(prop_oneof![prop::num::f64::ANY, 0.0_f64..0.2])),
        aggregate in aggregates(),
        better in direction(),
        mode in prop_oneof![Just(Mode::Performance), Just(Mode::Accuracy), Just(Mode::Compliance)],
        looks in 0_u32..5,
        valid in any::<bool>(),
    ) -> Evidence {
        let [sigma, noise, margin, min, below, target] = optional;
        let mut evidence = offline(&values);
        evidence.plan.mode = mode;
        evidence.stages = (1..=looks).collect();
        evidence.plan.target_qps = target;
        for trial in &mut evidence.trials {
            trial.validity = if valid { StatedValidity::Valid } else { StatedValidity::NotStated };
        }
        let meta = FigureSource { better, aggregate, noise, ..source() };
        let published = Expectation { sigma, noise, margin, ..official(published) };
        let limit = Limit { min, max: None, below };
        evidence.with_source(TOKENS, meta).expecting(TOKENS, published).limited(TOKENS, limit)
    }
}

proptest! {
    /// JSON has no NaN: what is written is read again, whatever came in.
    #[test]
    fn any_verdict_round_trips_through_json(all in prop::collection::vec(evidence(), 0..4)) {
        let verdict = judge(&context(), &all);
        let json = serde_json::to_string(&verdict).unwrap();
        let again: Verdict = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(again.outcome, verdict.outcome);
        prop_assert_eq!(again.exit_code, verdict.exit_code);
        prop_assert_eq!(again.results.len(), verdict.results.len());
    }

    #[test]
    fn one_trial_is_never_judged_worse_for_being_better(
        value in 80.0_f64..110.0, better in 1.0_f64..1.2, way in direction(),
    ) {
        let meta = FigureSource { better: way, noise: Some(0.01), ..source() };
        let improved = match way {
            Better::Higher => value * better,
            Better::Lower => value / better,
        };
        let judged = |value| {
            let evidence = offline(&[value]).with_source(TOKENS, meta.clone());
            rank(judge(&context(), &[evidence.expecting(TOKENS, official(100.0))]).outcome)
        };
        prop_assert!(judged(value) <= judged(improved));
    }

    /// Trials that are all better by one factor have the same spread: t is monotone in that.
    #[test]
    fn faster_trials_are_never_judged_worse(
        values in prop::collection::vec(85.0_f64..110.0, 1..9),
        factor in 1.0_f64..1.2,
        aggregate in aggregates(),
    ) {
        let meta = FigureSource { aggregate, noise: Some(0.01), ..source() };
        let judged = |values: &[f64]| {
            let evidence = offline(values).with_source(TOKENS, meta.clone());
            rank(judge(&context(), &[evidence.expecting(TOKENS, official(100.0))]).outcome)
        };
        let faster: Vec<f64> = values.iter().map(|value| value * factor).collect();
        prop_assert!(judged(&values) <= judged(&faster));
    }

    /// Latency and its reciprocal are one formula.
    #[test]
    fn higher_and_lower_are_mirrored(values in prop::collection::vec(85.0_f64..110.0, 1..9)) {
        let judged = |better, values: Vec<f64>, published: f64| {
            let meta = FigureSource { better, noise: Some(0.01), ..source() };
            let evidence = offline(&values).with_source(TOKENS, meta);
            let verdict = judge(&context(), &[evidence.expecting(TOKENS, official(published))]);
            (verdict.outcome, verdict.results[0].ratio.unwrap())
        };
        let rate = judged(Better::Higher, values.clone(), 100.0);
        let time = judged(Better::Lower, values.iter().map(|value| 1.0 / value).collect(), 0.01);
        prop_assert_eq!(rate.0, time.0);
        prop_assert!((rate.1 - time.1).abs() < 1e-9);
    }

    #[test]
    fn the_order_of_scenarios_does_not_matter(all in prop::collection::vec(evidence(), 1..4)) {
        let mut turned = all.clone();
        turned.reverse();
        prop_assert_eq!(judge(&context(), &all).exit_code, judge(&context(), &turned).exit_code);
    }
}

//! The version of `LoadGen` against the round: a round's seeds are drawn after the `LoadGen` of the rounds
//! before, so that a newer one with them chose its seeds itself.

use crate::check::{Rule, RuleCheck};
use crate::loadgen::RunSettings;
use crate::rounds::InferenceRules;

/// Major and minor version, which rounds have too.
type RoundVersion = (u32, u32);

/// Checks that `LoadGen` is not of a later round; that it is of a much earlier one is a warning.
pub(super) fn check_loadgen_version(
    rules: &InferenceRules,
    run: &RunSettings,
) -> Option<RuleCheck> {
    let logged = run.loadgen_version.as_deref()?.split_whitespace().next()?;
    let version = parse_version(logged)?;
    let round = parse_version(rules.round.trim_start_matches(['v', 'V']))?;
    let rule = Rule::of_entries("LoadGen's version", ["loadgen_version"]);
    if version > round {
        let (major, minor) = round;
        let required = format!("{major}.{minor} or older, with the seeds of {}", rules.round);
        return Some(RuleCheck::violation(rule, logged, required));
    }
    let oldest = rules.oldest_loadgen.as_deref()?;
    let required = format!("{oldest} or newer, in {}", rules.round);
    Some(if version < parse_version(oldest)? {
        RuleCheck::warning(rule, logged, required)
    } else {
        RuleCheck::new(rule, logged, required, true)
    })
}

/// `5.0.25` and `4.1`, by their first two numbers.
fn parse_version(text: &str) -> Option<RoundVersion> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::loadgen::TestScenario;
    use crate::rounds::built_in_rounds;

    #[rstest]
    #[case("v5.1", "5.1.0 @ b9ed3c7fec", Some((true, false)))]
    #[case("v5.1", "5.0.25 @ 1bc3e998cb", Some((true, false)))]
    #[case("v5.1", "4.1 @ 379ee5345a", Some((true, true)))]
    #[case("v4.1", "4.0 @ e34bdc6e82", Some((true, true)))]
    #[case("v4.1", "5.0.25 @ 1bc3e998cb", Some((false, false)))]
    #[case("v5.1", "6.0.14", Some((false, false)))]
    #[case("v6.0", "6.0.14", Some((true, false)))]
    #[case("v5.1", "NA", None)]
    fn a_newer_loadgen_is_a_violation_and_a_much_older_one_a_warning(
        #[case] round: &str,
        #[case] version: &str,
        #[case] expected: Option<(bool, bool)>,
    ) {
        let rules = built_in_rounds().benchmark_rules(
            "mlperf-inference",
            round,
            "resnet",
            &"Offline".into(),
        );
        let run = RunSettings {
            scenario: Some(TestScenario::Offline),
            loadgen_version: Some(version.to_owned()),
            ..RunSettings::default()
        };
        let check = check_loadgen_version(&rules.unwrap(), &run);
        assert_eq!(check.map(|check| (check.passed, check.warning)), expected);
    }
}

//! Sentences to parts, and what is wrong with those that say nothing.

use rstest::rstest;

use super::*;
use crate::tests::cells::planned;
use retrial_recipe::model;

const BATCH: &str = "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rocm: [6.4.1, 7.0.0, 7.1.1]\n  backend: [rocm, migraphx]\nothers: { rtx4090: { runs: [20260101-x] } }\nclaims:\n";

fn claim(text: &str) -> Result<BatchClaim, String> {
    let plan = planned(&format!("{BATCH}  - {text}\n"));
    plan.map(|plan| plan.claims[0].clone()).map_err(|problems| problems.render(false))
}

/// `a > b` for each part.
fn pairs(text: &str) -> String {
    let claim = claim(text).unwrap_or_else(|problem| panic!("{problem}"));
    let pairs = claim.parts.iter().map(|part| {
        let baseline = part.baseline.clone().unwrap_or_default();
        let short = |name: &str| name.replace("rocm=", "").replace("backend=", "");
        let cell = part.of.to_string();
        let gap = part.gap_to.as_ref();
        let gap = gap.map_or_else(String::new, |gap| format!(" to {}", short(gap)));
        let from = part.from.as_ref();
        let from = from.map_or_else(String::new, |[from_candidate, from_baseline]| {
            format!(" from {} and {}", short(from_candidate), short(from_baseline))
        });
        let candidate = short(&part.candidate);
        let line = format!("{candidate} > {}{gap}{from}", short(&baseline));
        if cell.is_empty() { line } else { format!("{line} [{cell}]") }
    });
    pairs.collect::<Vec<_>>().join("; ")
}

#[rstest]
#[case("rocm 7.1.1 + migraphx is faster than 6.4.1 + migraphx", "7.1.1,migraphx > 6.4.1,migraphx")]
#[case(
    "7.0.0 is faster than 6.4.1.",
    "7.0.0,rocm > 6.4.1,rocm [backend=rocm]; 7.0.0,migraphx > 6.4.1,migraphx [backend=migraphx]"
)]
// One of the pairs is omitted: 7.1.1 has no backend rocm.
#[case("7.1.1 is faster than 6.4.1", "7.1.1,migraphx > 6.4.1,migraphx")]
#[case("7.1.1 + migraphx is faster than 6.4.1", "7.1.1,migraphx > 6.4.1,migraphx")]
#[case("6.4.1 + rocm is slower than 7.1.1 + migraphx by 10%", "7.1.1,migraphx > 6.4.1,rocm")]
#[case(
    "rocm=7.1.1,backend=migraphx is as fast as rtx4090 to within 5 %",
    "7.1.1,migraphx > rtx4090"
)]
#[case("rtx4090 is faster than 7.1.1", "rtx4090 > 7.1.1,migraphx")]
#[case(
    "the gap to rtx4090 is smaller with 7.1.1 + migraphx than with 6.4.1 + rocm",
    "7.1.1,migraphx > 6.4.1,rocm to rtx4090"
)]
#[case(
    "The gap to 7.1.1 is larger with 6.4.1 + migraphx than with 7.0.0 + migraphx by 20% in offline",
    "7.0.0,migraphx > 6.4.1,migraphx to 7.1.1,migraphx"
)]
#[case(
    "the gain from 6.4.1 to 7.0.0 is larger with migraphx than with backend rocm",
    "7.0.0,migraphx > 7.0.0,rocm from 6.4.1,migraphx and 6.4.1,rocm"
)]
#[case(
    "the gain from 7.0.0 to rtx4090 is smaller with backend rocm than with migraphx",
    "rtx4090 > rtx4090 from 7.0.0,migraphx and 7.0.0,rocm"
)]
#[case(
    "the gain from backend rocm to migraphx is larger with 7.0.0 than with 6.4.1",
    "7.0.0,migraphx > 6.4.1,migraphx from 7.0.0,rocm and 6.4.1,rocm"
)]
#[case(
    "7.0.0 is less consistent than 6.4.1 in offline",
    "6.4.1,rocm > 7.0.0,rocm [backend=rocm]; 6.4.1,migraphx > 7.0.0,migraphx [backend=migraphx]"
)]
#[case(
    "backend migraphx is accurate",
    "6.4.1,migraphx >  [rocm=6.4.1]; 7.0.0,migraphx >  [rocm=7.0.0]; 7.1.1,migraphx >  [rocm=7.1.1]"
)]
#[case(
    "6.4.1 + \"migraphx\" is as accurate as 6.4.1 + backend rocm",
    "6.4.1,migraphx > 6.4.1,rocm"
)]
fn claims_select_pairs(#[case] text: &str, #[case] expected: &str) {
    let quoted = text.replace('\'', "''");
    assert_eq!(pairs(&format!("'{quoted}'")), expected);
}

#[rstest]
#[case("7.0.0 is faster than 6.4.1", model::Claim::Better, 0.0)]
#[case("7.0.0 is faster than 6.4.1 by 10%", model::Claim::Better, 0.1 / 1.1)]
#[case("7.0.0 is faster than 6.4.1 by 150 %", model::Claim::Better, 0.6)]
#[case("7.0.0 is slower than 6.4.1 by 10%", model::Claim::Better, 0.1)]
#[case("7.0.0 is not slower than 6.4.1", model::Claim::NotWorse, 0.02)]
#[case("7.0.0 is not slower than 6.4.1 by more than 1%", model::Claim::NotWorse, 0.01)]
#[case("7.0.0 is as fast as 6.4.1", model::Claim::Equivalent, 0.02)]
#[case("7.0.0 is as fast as 6.4.1 to within 0.05", model::Claim::Equivalent, 0.05)]
#[case(
    "7.0.0 is as fast as 6.4.1 within 5% in offline samples_per_second",
    model::Claim::Equivalent,
    0.05
)]
#[case(
    "the gap to rtx4090 is smaller with 7.0.0 than with 6.4.1 by 25%",
    model::Claim::Better,
    0.25
)]
#[case("7.0.0 is more consistent than 6.4.1 by 100%", model::Claim::Better, 0.5)]
#[case("7.0.0 is as consistent as 6.4.1", model::Claim::Equivalent, 0.5)]
#[case("7.0.0 is not less consistent than 6.4.1 by more than 20%", model::Claim::NotWorse, 0.2)]
#[case(
    "the gain from 6.4.1 to 7.0.0 is larger with migraphx than with backend rocm by 25%",
    model::Claim::Better,
    0.2
)]
fn claims_state_an_assertion_and_a_margin(
    #[case] text: &str,
    #[case] expected: model::Claim,
    #[case] margin: f64,
) {
    let (claim, required) = claim(text).unwrap().assertion.required_ratio().unwrap();
    assert_eq!(claim, expected);
    assert!((required - margin).abs() < 1e-12, "{required}");
}

#[test]
fn an_exception_negates_the_claim_and_keeps_its_parts() {
    let exception = claim("7.0.0 is not always faster than 6.4.1 by 10%").unwrap();
    let rule = claim("7.0.0 is faster than 6.4.1 by 10%").unwrap();
    assert!(exception.not_always && !rule.not_always);
    assert_eq!(exception.assertion, rule.assertion);
    assert_eq!(exception.parts, rule.parts);
    let accuracy = claim("7.0.0 is not always accurate").unwrap();
    assert!(accuracy.not_always);
    assert_eq!(accuracy.assertion, Assertion::Accurate);
}

#[test]
fn scenario_and_figure() {
    let both = claim("7.0.0 is faster than 6.4.1 by 2% in Offline latency_p99_ms").unwrap();
    assert_eq!(both.scenario.as_deref(), Some("offline"));
    assert_eq!(both.figure.as_deref(), Some("latency_p99_ms"));
    let figure = claim("7.0.0 is faster than 6.4.1 in tokens_per_second by 2%").unwrap();
    assert_eq!((figure.scenario, figure.figure.as_deref()), (None, Some("tokens_per_second")));
}

#[test]
fn malformed_claims_are_reported() {
    let all = [
        "7.1.1 is quicker than 6.4.1",
        "7.1.1 is faster then 6.4.1",
        "rocm has improved",
        "7.1.2 is faster than 6.4.1",
        "7.1.1 + rocm is faster than 6.4.1",
        "migraphy is faster than backend rocm",
        "7.1.1 migraphx is faster than 6.4.1",
        "7.1.1 is faster than 7.1.1",
        "7.1.1 is faster than rtx409",
        "7.1.1 is faster than rtx4090 + migraphx",
        "7.1.1 is faster than 6.4.1 by lots",
        "7.1.1 is faster than 6.4.1 by 5",
        "kind other is faster than kind one",
        "other is faster than one",
        "7.1.1 is faster than 6.4.1 to within 5%",
        "7.1.1 is faster than 6.4.1 in offlin",
        "7.1.1 is faster than",
        "the gap to rtx4090 shrinks",
        "the gap to 6.4.1 is smaller with 7.1.1 + migraphx than with 7.0.0 + rocm",
        "the gain to 7.1.1 is larger with migraphx than with backend rocm",
        "the gain from 6.4.1 to 7.0.0 is larger with migraphx",
        "the gain from 6.4.1 to 7.0.0 is larger with migraphx than with backend migraphx",
        "the gain from 6.4.1 to 7.0.0 is larger with migraphx than with rtx4090",
    ];
    let parsed: Vec<String> = all
        .iter()
        .map(|text| claim(text).map_or_else(|problem| problem, |claim| format!("{claim:?}")))
        .collect();
    insta::assert_snapshot!(parsed.join("\n"));
}

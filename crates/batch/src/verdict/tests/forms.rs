//! Claims on consistency, on exceptions and on gains.

use super::*;

const CALM: [f64; 6] = [100.1, 99.9, 100.2, 99.8, 100.0, 100.3];
const LOOSE: [f64; 6] = [103.0, 97.0, 106.0, 94.5, 100.0, 104.0];

fn render(verdict: &BatchVerdict) -> String {
    let claims = verdict.claims.iter();
    let lines =
        claims.map(|claim| format!("{}: {}\n  {}", claim.claim, claim.outcome, claim.sentence));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn consistency_is_judged_by_scatter() {
    let claims = [
        "7.1.1 is more consistent than 6.4.1",
        "7.1.1 is more consistent than 6.4.1 by 50%",
        "6.4.1 is more consistent than 7.1.1",
        "7.1.1 is less consistent than 6.4.1",
        "7.1.1 is more consistent than rtx4090",
    ];
    let verdict = two(&claims, &LOOSE, &CALM);
    insta::assert_snapshot!(render(&verdict), @r#"
7.1.1 is more consistent than 6.4.1: supported
  Offline tokens_per_second: rocm=7.1.1's trials scatter by 0.164 %, rocm=6.4.1's by 3.909 %: the other's is at least 9.312 times its own (95 %, 6 trials each).
7.1.1 is more consistent than 6.4.1 by 50%: supported
  Offline tokens_per_second: rocm=7.1.1's trials scatter by 0.164 %, rocm=6.4.1's by 3.909 %: the other's is at least 9.312 times its own (95 %, 6 trials each).
6.4.1 is more consistent than 7.1.1: contradicted
  Offline tokens_per_second: rocm=6.4.1's trials scatter by 3.909 %, rocm=7.1.1's by 0.164 %: the other's is at most 0.107 times its own (95 %, 6 trials each); above 1.000 required.
7.1.1 is less consistent than 6.4.1: contradicted
  Offline tokens_per_second: rocm=6.4.1's trials scatter by 3.909 %, rocm=7.1.1's by 0.164 %: the other's is at most 0.107 times its own (95 %, 6 trials each); above 1.000 required.
7.1.1 is more consistent than rtx4090: not decided
  Offline tokens_per_second: rocm=7.1.1's trials scatter by 0.164 %, rtx4090's by 0.335 %: the other's is at least 0.672 times its own (95 %, 6 and 5 trials); above 1.000 required; one more trial of each would decide.
"#);
    let part = &verdict.claims[0].parts[0];
    assert_eq!(part.statistic, Statistic::Scatter);
    assert_eq!(part.unit, "%");
    assert!((part.candidate.value.unwrap() - 0.16).abs() < 0.05);
    // Four trials each, or a drift, show nothing.
    let verdict = two(&claims[..1], &LOOSE[..4], &CALM[..4]);
    insta::assert_snapshot!(render(&verdict), @r#"
7.1.1 is more consistent than 6.4.1: not decided
  Offline tokens_per_second: rocm=7.1.1's trials scatter by 0.173 %, rocm=6.4.1's by 5.048 %: at least one more trial of each is needed.
"#);
    let drift = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
    let verdict = two(&claims[..1], &drift, &CALM);
    insta::assert_snapshot!(render(&verdict), @r#"
7.1.1 is more consistent than 6.4.1: not decided
  Offline tokens_per_second: rocm=7.1.1's trials scatter by 0.164 %, rocm=6.4.1's by 1.603 %: the trials depend on their order: independent ones are needed.
"#);
}

fn cards(claims: &[&str], values: [&[f64]; 4]) -> BatchVerdict {
    let plan = planned(&["rocm=6.4.1,7.1.1", "gpu=w7900,r9700"], claims, INTERLEAVED);
    let names = [
        "rocm=6.4.1,gpu=w7900",
        "rocm=6.4.1,gpu=r9700",
        "rocm=7.1.1,gpu=w7900",
        "rocm=7.1.1,gpu=r9700",
    ];
    let cells: Vec<SubjectEvidence> =
        names.into_iter().zip(values).map(|(name, values)| cell(name, values)).collect();
    judge_batch(None, &plan, &cells, &[])
}

#[test]
fn an_exception_needs_one_part_that_does_not_hold() {
    let claims =
        ["7.1.1 is not always faster than 6.4.1", "7.1.1 is not always faster than 6.4.1 by 30%"];
    let slower: Vec<f64> = SLOW.iter().map(|value| value * 0.9).collect();
    let mixed = cards(&claims, [&SLOW, &SLOW, &FAST, &slower]);
    insta::assert_snapshot!(render(&mixed), @r#"
7.1.1 is not always faster than 6.4.1: supported
  1 of 2 parts are exceptions. Offline tokens_per_second (gpu=r9700): 0.900 × (89.9977 against 99.9975 tokens/s), at most 0.901 × (95 %, 5 pairs of trials); above 1.000 would not be an exception.
7.1.1 is not always faster than 6.4.1 by 30%: supported
  2 of 2 parts are exceptions. Offline tokens_per_second (gpu=w7900): 1.201 × (120.097 against 99.9975 tokens/s), at most 1.203 × (95 %, 5 pairs of trials); above 1.300 would not be an exception.
"#);
    let none = cards(&claims[..1], [&SLOW, &SLOW, &FAST, &FASTEST]);
    insta::assert_snapshot!(render(&none), @r#"
7.1.1 is not always faster than 6.4.1: contradicted
  No part is an exception. Offline tokens_per_second (gpu=w7900): 1.201 × (120.097 against 99.9975 tokens/s), at least 1.200 × (95 %, 5 pairs of trials); above 1.000 would not be an exception.
"#);
    let open = cards(&claims[..1], [&SLOW, &SLOW, &FAST, &SLOW]);
    insta::assert_snapshot!(render(&open), @r#"
7.1.1 is not always faster than 6.4.1: not decided
  No exception is shown, 1 of 2 parts undecided. Offline tokens_per_second (gpu=r9700): 1.000 × (99.9975 against 99.9975 tokens/s), at most 1.001 × (95 %, 5 pairs of trials); above 1.000 would not be an exception; one more trial of each would decide.
"#);
}

#[test]
fn gains_are_compared_with_each_other() {
    let claims = [
        "the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700",
        "the gain from 6.4.1 to 7.1.1 is smaller with w7900 than with r9700",
        "the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700 by 50%",
    ];
    let half: Vec<f64> = SLOW.iter().map(|value| value * 0.5).collect();
    let third = [75.0, 75.3, 74.8, 75.1, 74.9];
    // From 100 to 200, and from 50 to 75.
    let verdict = cards(&claims, [&SLOW, &half, &FASTEST, &third]);
    insta::assert_snapshot!(render(&verdict), @r#"
the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700: supported
  Offline gain in tokens_per_second: 2.000 from rocm=6.4.1,gpu=w7900 to rocm=7.1.1,gpu=w7900, and 1.500 from rocm=6.4.1,gpu=r9700 to rocm=7.1.1,gpu=r9700: their ratio is at least 1.325 (95 %, 5 and 5 trials at the end of each step).
the gain from 6.4.1 to 7.1.1 is smaller with w7900 than with r9700: contradicted
  Offline gain in tokens_per_second: 1.500 from rocm=6.4.1,gpu=r9700 to rocm=7.1.1,gpu=r9700, and 2.000 from rocm=6.4.1,gpu=w7900 to rocm=7.1.1,gpu=w7900: their ratio is at most 0.754 (95 %, 5 and 5 trials at the end of each step); above 1.000 required.
the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700 by 50%: contradicted
  Offline gain in tokens_per_second: 2.000 from rocm=6.4.1,gpu=w7900 to rocm=7.1.1,gpu=w7900, and 1.500 from rocm=6.4.1,gpu=r9700 to rocm=7.1.1,gpu=r9700: their ratio is at most 1.340 (95 %, 5 and 5 trials at the end of each step); above 1.500 required.
"#);
    let part = &verdict.claims[0].parts[0];
    assert_eq!(part.gaps.len(), 2);
    assert!((part.ratio.unwrap() - 4.0 / 3.0).abs() < 0.01);
    let single = cards(&claims[..1], [&SLOW, &half[..1], &FASTEST, &third[..1]]);
    insta::assert_snapshot!(render(&single), @r#"
the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700: supported
  Offline gain in tokens_per_second: 2.000 from rocm=6.4.1,gpu=w7900 to rocm=7.1.1,gpu=w7900, and 1.500 from rocm=6.4.1,gpu=r9700 to rocm=7.1.1,gpu=r9700: their ratio is at least 1.323 (95 %, 5 and 1 trials at the end of each step).
"#);
}

#[test]
fn a_not_always_accurate_claim() {
    let claims = ["6.4.1 is not always accurate", "7.1.1 is not always accurate"];
    let plan = planned(&["rocm=6.4.1,7.1.1"], &claims, INTERLEAVED);
    let cells =
        [with_accuracy("rocm=6.4.1", &SLOW, 43.0), with_accuracy("rocm=7.1.1", &FAST, 44.4)];
    let verdict = judge_batch(None, &plan, &cells, &[]);
    insta::assert_snapshot!(render(&verdict), @r#"
6.4.1 is not always accurate: supported
  rocm=6.4.1 Offline: not accurate: ROUGE1 43; required at least 44.
7.1.1 is not always accurate: contradicted
  rocm=7.1.1 Offline: accurate: ROUGE1 44.4; required at least 44.
"#);
    let plan = planned(&["rocm=6.4.1,7.1.1"], &claims[..1], INTERLEAVED);
    let unmeasured = [cell("rocm=6.4.1", &SLOW), cell("rocm=7.1.1", &FAST)];
    insta::assert_snapshot!(render(&judge_batch(None, &plan, &unmeasured, &[])), @r#"
6.4.1 is not always accurate: not decided
  Not compared: its accuracy was not measured.
"#);
}

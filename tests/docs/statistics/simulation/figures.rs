//! Whole verdicts: stages, several figures, equivalence.

use retrial_recipe::model::{
    Aggregate, Better, Claim, Expectation, ExpectationKind, FigureLocator, FigureSource,
    MatchSelection, Mode,
};
use retrial_results::verdict::{
    Evidence, FigureValue, Outcome, RunContext, StageDecision, TrialEvidence, decide_stage, judge,
};

use super::noise::{Generator, Noise};
use super::table::{Table, share};

const DRAWS: u32 = 6_000;
const NOISE: Noise = Noise::Normal(0.018);
const FIGURE: &str = "speed";

fn evidence(logs: &[f64], truth: f64, claim: Claim, aggregate: Aggregate) -> Evidence {
    let mut evidence = Evidence::new("case", Mode::Performance);
    let published = Expectation {
        value: 100.0,
        kind: ExpectationKind::Official,
        source: None,
        sigma: None,
        noise: None,
        margin: Some(0.05),
        claim,
    };
    evidence.plan.expect = vec![(FIGURE.to_owned(), vec![published])];
    let source = FigureSource {
        find: FigureLocator::Pattern { expression: String::new(), below: None, until: None },
        file: None,
        by: Vec::new(),
        unit: None,
        label: None,
        better: Better::Higher,
        take: Some(MatchSelection::Last),
        skip: None,
        aggregate,
        noise: None,
    };
    evidence.plan.figures.push((FIGURE.to_owned(), source));
    evidence.trials = (1..)
        .zip(logs)
        .map(|(number, log)| {
            let mut trial = TrialEvidence::new_finished(number, format!("run_{number}"));
            let value = FigureValue::new(100.0 * truth * log.exp(), "items/s");
            trial.figures.insert(FIGURE.to_owned(), value);
            trial
        })
        .collect();
    evidence
}

/// `trials: {min: 3, max: 8}`: how a run ends, and how many trials it took.
fn staged(truth: f64, aggregate: Aggregate, generator: &mut Generator) -> (Outcome, usize) {
    let stages = [3, 5, 8];
    let logs = NOISE.run(8, generator);
    for (stage, trials) in stages.into_iter().enumerate() {
        let mut so_far = evidence(&logs[..trials], truth, Claim::NotWorse, aggregate);
        so_far.stages = vec![3, 5, 8];
        if let StageDecision::Stop { .. } = decide_stage(&RunContext::default(), &so_far, stage) {
            return (judge(&RunContext::default(), &[so_far]).outcome, trials);
        }
    }
    unreachable!("the last stage stops")
}

/// Stages 3, 5, 8 with the error split, next to three and eight trials at once.
pub fn stages() -> Table {
    let mut table = Table::new(
        "stages",
        &[
            "stages 3, 5, 8",
            "reproduced, the truth on the margin",
            "not reproduced, the truth on the margin",
            "reproduced, truly equal",
            "share of 8 trials used, truly equal",
        ],
    );
    let aggregates = [
        ("mean", Aggregate::Mean),
        ("median", Aggregate::Median),
        ("Olympic mean", Aggregate::Olympic),
    ];
    for (name, aggregate) in aggregates {
        let ends = |truth, expected| {
            let mut generator = Generator::new(300);
            share(DRAWS, || staged(truth, aggregate, &mut generator).0 == expected)
        };
        let mut generator = Generator::new(301);
        let used: usize = (0..DRAWS).map(|_| staged(1.0, aggregate, &mut generator).1).sum();
        let used = f64::from(u32::try_from(used).unwrap_or(u32::MAX)) / f64::from(DRAWS) / 8.0;
        table.row(
            name,
            vec![
                Some(ends(0.95, Outcome::Reproduced)),
                Some(ends(0.95, Outcome::NotReproduced)),
                Some(ends(1.0, Outcome::Reproduced)),
                Some(used),
            ],
        );
    }
    table
}

/// Several figures, all exactly on the margin: a run that is called not reproduced is so wrongly.
pub fn holm() -> Table {
    let mut table = Table::new("holm", &["figures", "1", "3", "10", "30"]);
    let counts = [1_usize, 3, 10, 30];
    let run = |count: usize, generator: &mut Generator| -> Vec<Evidence> {
        (0..count)
            .map(|number| {
                let logs = NOISE.run(3, generator);
                let mut case = evidence(&logs, 0.95, Claim::NotWorse, Aggregate::Mean);
                case.plan.scenario = format!("case {number}").into();
                case
            })
            .collect()
    };
    let shares = |wrong: &dyn Fn(&[Evidence]) -> bool| -> Vec<Option<f64>> {
        counts
            .iter()
            .map(|count| {
                let mut generator = Generator::new(400 + *count as u64);
                let draws = DRAWS / u32::try_from(*count).unwrap_or(1).clamp(1, 8);
                Some(share(draws, || wrong(&run(*count, &mut generator))))
            })
            .collect()
    };
    let is_worse = |evidence: &[Evidence]| {
        judge(&RunContext::default(), evidence).outcome == Outcome::NotReproduced
    };
    table.row("not reproduced (Holm)", shares(&is_worse));
    table.row(
        "without correction",
        shares(&|evidence| {
            let mut all = evidence.iter();
            all.any(|figure| is_worse(std::slice::from_ref(figure)))
        }),
    );
    table.row(
        "reproduced (all must hold)",
        shares(&|evidence| judge(&RunContext::default(), evidence).outcome == Outcome::Reproduced),
    );
    table
}

/// `claim: equivalent` with a margin of 5 %.
pub fn equivalence() -> Table {
    let mut table = Table::new("equivalence", &["the truth", "2 trials", "3", "5", "8"]);
    let truths = [
        ("on the lower edge, 0.950", 0.95),
        ("on the upper edge, 1.053", 1.0 / 0.95),
        ("equal", 1.0),
    ];
    for (name, truth) in truths {
        let share_of = |trials: usize| {
            let mut generator = Generator::new(500 + trials as u64);
            Some(share(DRAWS, || {
                let logs = NOISE.run(trials, &mut generator);
                let figure = evidence(&logs, truth, Claim::Equivalent, Aggregate::Mean);
                judge(&RunContext::default(), &[figure]).outcome == Outcome::Reproduced
            }))
        };
        table.row(name, [2, 3, 5, 8].into_iter().map(share_of).collect());
    }
    table
}

//! Evidence that reads like a sentence.

use crate::verdict::{Evidence, FigureValue, RunContext, StatedValidity, TrialEvidence};
use retrial_recipe::model::{
    Aggregate, Better, Claim, Expectation, ExpectationKind, FigureLocator, FigureSource, Limit,
    Mode, Submission,
};

pub const TOKENS: &str = "tokens_per_second";

/// Returns the context of a recipe for one of `MLPerf`'s results.
pub fn context() -> RunContext {
    RunContext {
        submission: Submission {
            suite: "mlperf-inference".to_owned(),
            submitter: Some("AMD".to_owned()),
            system: Some("8xMI355X".to_owned()),
            benchmark: "llama2-70b-99".to_owned(),
            ..Submission::default()
        },
        ..RunContext::default()
    }
}

/// Returns the context of a recipe of another suite: accuracy is not required, and no noise is assumed.
pub fn context_of_other_suite() -> RunContext {
    let mut context = context();
    context.submission.suite = "own".to_owned();
    context
}

pub fn official(value: f64) -> Expectation {
    Expectation {
        value,
        kind: ExpectationKind::Official,
        source: Some("6.0-0002".to_owned()),
        sigma: None,
        noise: None,
        margin: None,
        claim: Claim::NotWorse,
    }
}

/// `LoadGen`'s Offline in performance mode, valid, with one trial per value of [`TOKENS`].
pub fn offline(values: &[f64]) -> Evidence {
    loadgen("Offline", TOKENS, "tokens/s", values)
}

pub fn loadgen(scenario: &str, figure: &str, unit: &str, values: &[f64]) -> Evidence {
    let mut evidence = own(scenario, figure, unit, values);
    evidence.plan.loadgen = true;
    evidence.published_metric = Some(figure.to_owned());
    for trial in &mut evidence.trials {
        trial.validity = StatedValidity::Valid;
    }
    evidence
}

/// Returns a case of a suite of one's own.
pub fn own(scenario: &str, figure: &str, unit: &str, values: &[f64]) -> Evidence {
    let mut evidence = Evidence::new(scenario, Mode::Performance);
    evidence.trials = (1..)
        .zip(values)
        .map(|(number, value)| {
            let path = format!("results/{scenario}/performance/run_{number}");
            let mut trial = TrialEvidence::new_finished(number, path);
            trial.figures.insert(figure.to_owned(), FigureValue::new(*value, unit));
            trial
        })
        .collect();
    evidence
}

/// Returns an accuracy result of one trial.
pub fn accuracy(scenario: &str, figure: &str, value: f64) -> Evidence {
    let mut evidence = own(scenario, figure, "", &[value]);
    evidence.plan.mode = Mode::Accuracy;
    evidence.path = format!("results/{scenario}/accuracy");
    evidence.plan.loadgen = true;
    evidence
}

/// Returns a recipe's own figure with default settings.
pub fn source() -> FigureSource {
    FigureSource {
        find: FigureLocator::Pattern { expression: String::new(), below: None, until: None },
        file: None,
        by: Vec::new(),
        unit: None,
        label: None,
        better: Better::default(),
        take: None,
        skip: None,
        aggregate: Aggregate::default(),
        noise: None,
    }
}

impl Evidence {
    pub fn expecting(mut self, figure: &str, expectation: Expectation) -> Self {
        match self.plan.expect.iter_mut().find(|(name, _)| name == figure) {
            Some((_, list)) => list.push(expectation),
            None => self.plan.expect.push((figure.to_owned(), vec![expectation])),
        }
        self
    }

    pub fn limited(mut self, figure: &str, limit: Limit) -> Self {
        self.plan.limits.push((figure.to_owned(), limit));
        self
    }

    pub fn with_source(mut self, figure: &str, source: FigureSource) -> Self {
        self.plan.figures.push((figure.to_owned(), source));
        self
    }

    pub fn with_figure(mut self, figure: &str, value: f64, unit: &str) -> Self {
        for trial in &mut self.trials {
            trial.figures.insert(figure.to_owned(), FigureValue::new(value, unit));
        }
        self
    }

    pub fn looked_at_after(mut self, stages: &[u32]) -> Self {
        self.stages = stages.to_vec();
        self
    }
}

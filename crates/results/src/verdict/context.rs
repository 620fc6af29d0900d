//! The context of a whole run, whatever its scenarios measured.

use std::collections::BTreeMap;

use super::{Qualifier, QualifierKind};
use retrial_document::measures::format::join_first;
use retrial_mlperf::ScenarioName;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureClaim, JudgeRules, Mode, Submission};

/// The margin where nothing else is said.
pub(crate) const DEFAULT_MARGIN: f64 = 0.05;
/// The margin on the same SKU: `MLPerf`'s audit guideline calls 2 % materially different.
pub(crate) const DEFAULT_MARGIN_SAME_SKU: f64 = 0.02;
/// The margins of a client that loads a server: those of `MLPerf` Endpoints, between systems and on the same one. Of 518
/// pairs of published runs of one configuration, 96 % are within 10 %.
const CLIENT_MARGIN: f64 = 0.1;
const CLIENT_MARGIN_SAME_SKU: f64 = 0.05;

/// The largest number of excluded measurements that a qualifier names.
const MAX_NAMED_MEASUREMENTS: usize = 3;

/// The context of a whole run: its submission, rules, qualifiers and warnings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunContext {
    /// The submission whose figures are judged.
    pub submission: Submission,
    /// What the recipe claims of two figures of the run.
    pub claims: Vec<FigureClaim>,
    /// The recipe's rules of judgement.
    pub rules: JudgeRules,
    /// Chosen value of each variant axis.
    pub variant: BTreeMap<String, String>,
    /// Qualifiers of the whole run: `modified`, `other hardware`, `unpinned image`.
    pub qualifiers: Vec<Qualifier>,
    /// Qualifiers of the execution: `--skip`, an interruption. They do not say what else was measured, so
    /// they explain no figure that is far better than published.
    pub execution: Vec<Qualifier>,
    /// The qualifier of a run of a part of the recipe. It limits the verdict on the whole, and no result.
    pub part: Option<Qualifier>,
    /// Settings of the host that may have reduced speed or reliability.
    pub warnings: Vec<String>,
    /// Parts of the evidence that cannot be read: nothing is decided without them.
    pub unreadable: Vec<String>,
    /// The recipe's system and the host are the same SKU.
    pub same_sku: bool,
    /// `--require-accuracy`: performance without accuracy is inconclusive.
    pub require_accuracy: bool,
    /// The scenarios (spelled as in the evidence) whose accuracy the recipe can measure, whether or
    /// not this run did.
    pub accuracy_scenarios: Vec<ScenarioName>,
    /// Number of published performance figures that the run has in all, for the error that is shared
    /// between them while it runs; 0: those of the evidence at hand.
    pub published_figures: usize,
}

impl From<&Plan> for RunContext {
    fn from(plan: &Plan) -> Self {
        let measured_in = |mode: Mode| {
            let measurements = plan.measurements.iter();
            measurements.filter(move |measured| measured.mode == mode)
        };
        let accuracy = measured_in(Mode::Accuracy);
        let performance = measured_in(Mode::Performance);
        Self {
            submission: plan.submission.clone(),
            claims: plan.claims.clone(),
            rules: plan.judge.clone(),
            variant: plan.variant.clone(),
            require_accuracy: plan.require_accuracy,
            accuracy_scenarios: accuracy
                .map(|measured| &measured.scenario)
                .chain(&plan.excluded_accuracy)
                .cloned()
                .collect(),
            published_figures: performance.map(|measured| measured.expect.len()).sum(),
            qualifiers: settings_qualifiers(plan, |_| None),
            execution: qualifiers_of_changes(plan.changing_options()),
            // A smoke test is always one of a part.
            part: qualifier_of_part(&plan.excluded).filter(|_| !plan.smoke_test),
            ..Self::default()
        }
    }
}

impl RunContext {
    /// Returns the margin of a measurement's performance figures that state none of their own.
    pub(crate) fn performance_margin(&self, plan: &MeasurementPlan) -> f64 {
        let default = match (&plan.client, self.same_sku) {
            (None, false) => DEFAULT_MARGIN,
            (None, true) => DEFAULT_MARGIN_SAME_SKU,
            (Some(_), false) => CLIENT_MARGIN,
            (Some(_), true) => CLIENT_MARGIN_SAME_SKU,
        };
        self.rules.margin.filter(|margin| is_usable_margin(*margin)).unwrap_or(default)
    }

    /// Returns the one-sided error of one of `looks` analyses of the evidence.
    pub(crate) fn error_per_analysis(&self, looks: usize) -> f64 {
        let confidence = self.rules.confidence;
        let confidence = if confidence > 0.5 && confidence < 1.0 {
            confidence
        } else {
            JudgeRules::default().confidence
        };
        (1.0 - confidence) / f64::from(u32::try_from(looks.max(1)).unwrap_or(u32::MAX))
    }

    /// Returns whether the run was only tried: nothing of it is compared with published figures.
    pub(crate) fn is_smoke_test(&self) -> bool {
        let mut qualifiers = self.execution.iter();
        qualifiers.any(|qualifier| qualifier.kind == QualifierKind::SmokeTest)
    }

    /// `MLPerf` Inference asks for accuracy in every scenario.
    pub(crate) fn is_mlperf_inference(&self) -> bool {
        self.submission.suite.starts_with("mlperf-inference")
    }
}

/// Returns the qualifiers of params and images that the command line set. `ran` returns the digest of an image that
/// ran, by the name of its setting.
pub(crate) fn settings_qualifiers(
    plan: &Plan,
    ran: impl Fn(&str) -> Option<String>,
) -> Vec<Qualifier> {
    let images = plan.replaced_images(ran);
    let settings = plan.changed_settings().into_iter().chain(plan.describe_base());
    qualifiers_of_changes(settings.chain(images))
}

/// Returns the qualifier of results from which some were excluded by the user; none if none was.
pub(crate) fn qualifier_of_part(excluded: &[String]) -> Option<Qualifier> {
    let reason = || format!("without {}", join_first(excluded, MAX_NAMED_MEASUREMENTS));
    (!excluded.is_empty()).then(|| Qualifier::new(QualifierKind::InPart, reason()))
}

fn qualifiers_of_changes(changes: impl IntoIterator<Item = String>) -> Vec<Qualifier> {
    changes.into_iter().map(Qualifier::from_change).collect()
}

/// Returns whether a margin is usable. One of 1 would call anything reproduced; a negative one asks for more.
pub(crate) fn is_usable_margin(margin: f64) -> bool {
    margin.is_finite() && margin < 1.0
}

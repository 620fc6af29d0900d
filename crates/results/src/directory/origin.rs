//! Checks whether results are of the system, size and benchmark of a recipe's published figures, by their
//! path in a submission tree and the description of their system.

use std::path::{Path, PathBuf};

use super::error::JudgeError;
use crate::evidence::result_path::ResultPath;
use crate::evidence::training;
use crate::evidence::tree::accelerators::Accelerators;
use crate::evidence::tree::read_description;
use crate::verdict::{Qualifier, QualifierKind};
use retrial_mlperf::rounds::Rounds;
use retrial_plan::Plan;

/// The origin of results, as their submission tree states it.
pub(super) struct SubmissionOrigin {
    folder: PathBuf,
    benchmark: String,
    system: String,
    accelerators: Option<u64>,
}

impl SubmissionOrigin {
    /// The origin of inference results; none outside a submission tree.
    pub fn from_inference(place: &ResultPath) -> Option<Self> {
        let submission = place.submission();
        let system = submission.system?;
        Some(Self {
            accelerators: count_accelerators(place.group.ancestors().nth(3)?, &system),
            folder: place.group.clone(),
            benchmark: submission.benchmark,
            system,
        })
    }

    /// The origin of one training result; none outside a submission tree.
    pub fn from_training(folder: &Path) -> Option<Self> {
        let results = training::find_training_trees(folder).ok()??.results;
        let [result] = &results[..] else {
            return None;
        };
        Some(Self {
            accelerators: count_accelerators(&result.root.join(&result.submitter), &result.system),
            folder: folder.to_owned(),
            benchmark: result.benchmark.clone(),
            system: result.system.clone(),
        })
    }

    /// Returns a qualifier if they are of another system than the recipe's figures.
    ///
    /// # Errors
    /// If they are, and the comparison is not forced.
    pub fn system_qualifiers(
        &self,
        plan: &Plan,
        rounds: &Rounds,
        force: bool,
    ) -> Result<Vec<Qualifier>, JudgeError> {
        let differences = self.describe_differences(plan, rounds);
        if differences.is_empty() {
            return Ok(Vec::new());
        }
        let differences = differences.join(", ");
        if force {
            return Ok(vec![Qualifier::new(QualifierKind::Modified, differences)]);
        }
        Err(JudgeError::OtherSystem { folder: self.folder.clone(), differences })
    }

    /// Names what differs: `system 87xMI355X (recipe: 8xMI355X)`.
    fn describe_differences(&self, plan: &Plan, rounds: &Rounds) -> Vec<String> {
        let published = &plan.submission;
        let official = |name: &str| {
            let published_round = published.round.as_ref();
            let round = published_round.and_then(|round| rounds.get(&published.suite, round));
            let benchmark = round.and_then(|round| round.find_benchmark(name));
            let official_name = benchmark.map_or(name, |(official, _)| official);
            // A result is submitted as -99 and as -99.9 with the same logs.
            let name = official_name.trim_end_matches("-99.9").trim_end_matches("-99");
            name.to_owned()
        };
        let mut differences = Vec::new();
        let mut different = |property: &str, actual: &str, published: &str| {
            differences.push(format!("{property} {actual} (recipe: {published})"));
        };
        if official(&self.benchmark) != official(&published.benchmark) {
            different("benchmark", &self.benchmark, &published.benchmark);
        }
        if let Some(system) = &published.system
            && *system != self.system
        {
            different("system", &self.system, system);
        }
        if let (Some(actual), Some(published)) = (self.accelerators, published_gpus(plan))
            && actual != u64::from(published)
        {
            different("accelerators", &actual.to_string(), &published.to_string());
        }
        differences
    }
}

/// How many accelerators the system's description counts, over all nodes.
fn count_accelerators(submitter: &Path, system: &str) -> Option<u64> {
    let described = read_description(submitter, system).ok()?;
    Accelerators::from_description(&described)?.total.map(u64::from)
}

/// How many GPUs a recipe's figures were published on, over all nodes.
fn published_gpus(plan: &Plan) -> Option<u32> {
    let gpus_per_node = plan.requires.gpus.as_ref()?.count;
    Some(match plan.nodes {
        Some(nodes) => nodes.gpus.unwrap_or(nodes.count * gpus_per_node),
        None => gpus_per_node,
    })
}

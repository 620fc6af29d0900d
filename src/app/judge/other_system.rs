//! Whether results are of the system, size and benchmark that a recipe's figures were published on,
//! by their path in a submission tree and the description of their system.

use std::path::{Path, PathBuf};

use crate::app::failure::Failure;
use crate::import::Accelerators;
use crate::plan::Plan;
use crate::results::evidence::result_path::ResultPath;
use crate::results::evidence::training;
use crate::results::evidence::tree::description;
use crate::results::verdict::{Qualifier, QualifierKind};
use retrial_mlperf::rounds::Rounds;

/// What a submission tree says of results in it.
pub struct Origin {
    folder: PathBuf,
    benchmark: String,
    system: String,
    accelerators: Option<u64>,
}

impl Origin {
    /// Of inference results; nothing where they lie in no submission tree.
    pub fn of_inference(place: &ResultPath) -> Option<Self> {
        let found = place.submission();
        let system = found.system?;
        Some(Self {
            accelerators: accelerators(place.group.ancestors().nth(3)?, &system),
            folder: place.group.clone(),
            benchmark: found.benchmark,
            system,
        })
    }

    /// Of the logs of one training result; nothing where they lie in no submission tree.
    pub fn of_training(folder: &Path) -> Option<Self> {
        let found = training::find(folder).ok()??.results;
        let [one] = &found[..] else {
            return None;
        };
        Some(Self {
            accelerators: accelerators(&one.root.join(&one.submitter), &one.system),
            folder: folder.to_owned(),
            benchmark: one.benchmark.clone(),
            system: one.system.clone(),
        })
    }

    /// That they are of another system than the recipe's figures, if they are.
    ///
    /// # Errors
    /// Where they are, and the comparison is not forced.
    pub fn modified(
        &self,
        plan: &Plan,
        rounds: &Rounds,
        force: bool,
    ) -> Result<Vec<Qualifier>, Failure> {
        let differences = self.differences(plan, rounds);
        if differences.is_empty() {
            return Ok(Vec::new());
        }
        let reason = differences.join(", ");
        if force {
            return Ok(vec![Qualifier::new(QualifierKind::Modified, reason)]);
        }
        Err(Failure::usage(format!(
            "{} differs from the system of the recipe's figures: {reason}\n  \
             compare anyway, as `modified`: --force",
            self.folder.display(),
        )))
    }

    /// Names what differs: `system 87xMI355X (recipe: 8xMI355X)`.
    fn differences(&self, plan: &Plan, rounds: &Rounds) -> Vec<String> {
        let published = &plan.submission;
        let official = |name: &str| {
            let round = published.round.as_ref();
            let round = round.and_then(|round| rounds.get(&published.suite, round));
            let known = round.and_then(|round| round.benchmark(name));
            let name = known.map_or(name, |(official, _)| official);
            // A result is submitted as -99 and as -99.9 with the same logs.
            let name = name.trim_end_matches("-99.9").trim_end_matches("-99");
            name.to_owned()
        };
        let mut differences = Vec::new();
        let mut different = |what: &str, found: &str, published: &str| {
            differences.push(format!("{what} {found} (recipe: {published})"));
        };
        if official(&self.benchmark) != official(&published.benchmark) {
            different("benchmark", &self.benchmark, &published.benchmark);
        }
        if let Some(known) = &published.system
            && *known != self.system
        {
            different("system", &self.system, known);
        }
        if let (Some(found), Some(published)) = (self.accelerators, published_gpus(plan))
            && found != u64::from(published)
        {
            different("accelerators", &found.to_string(), &published.to_string());
        }
        differences
    }
}

/// How many accelerators the system's description counts, over all nodes.
fn accelerators(submitter: &Path, system: &str) -> Option<u64> {
    let described = description(submitter, system).ok()?;
    Accelerators::of(&described)?.total.map(u64::from)
}

/// How many GPUs a recipe's figures were published on, over all nodes.
fn published_gpus(plan: &Plan) -> Option<u32> {
    let of_one = plan.requires.gpus.as_ref()?.count;
    Some(match plan.nodes {
        Some(nodes) => nodes.gpus.unwrap_or(nodes.count * of_one),
        None => of_one,
    })
}

//! The images, models, time and disk that a batch needs, as far as its recipes state them. The caller adds what the
//! host has already.

use std::hash::Hash;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;

use super::{BatchPlan, RunOrder, TrialRun};
use retrial_recipe::model::{Image, ModelSource, Recipe};

/// The resources that a batch needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchEstimate {
    /// Each image once, in the order in which they are needed first.
    pub images: Vec<ImageNeed>,
    /// Each model of the hub once.
    pub models: Vec<ModelNeed>,
    pub runs: usize,
    /// The known total time of the runs in seconds, without downloads and with the requested parallelism: as earlier
    /// runs took here, or as the recipes state for the published hardware.
    pub seconds: Option<u64>,
    /// Runs whose time is that of an earlier run.
    pub by_earlier_runs: usize,
    /// Runs whose recipes do not say how long they take.
    pub without_duration: usize,
    /// The largest disk requirement of a recipe, bytes.
    pub disk: Option<u64>,
}

/// An image, and how many cells need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImageNeed {
    #[serde(flatten)]
    pub source: ImageSource,
    pub cells: usize,
    /// The largest disk requirement of the recipes that use it, bytes.
    pub disk: Option<u64>,
    /// Its size on the engine's disk in bytes, if the engine has it.
    pub size: Option<u64>,
    /// Whether the engine has it; none if no engine was queried.
    pub here: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// Pulled from a registry.
    Pulled {
        /// The image reference, with its digest if it has one.
        reference: String,
    },
    /// Built from a Dockerfile.
    Built {
        /// Context and Dockerfile, with build arguments: `lab/Dockerfile (VERSION=1.17)`.
        from: String,
    },
}

/// A model, and how many cells need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelNeed {
    /// The repository on the hub: `owner/name`.
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    pub cells: usize,
}

/// A cell's recipe, as far as an estimate depends on it.
#[derive(Debug, Clone)]
pub struct ResolvedCell {
    /// The recipe, resolved with the cell's settings.
    pub recipe: Recipe,
    /// The duration of an earlier run of it on this host.
    pub earlier_duration: Option<Duration>,
}

impl BatchEstimate {
    /// Estimates a plan by the recipes of its cells, in their order.
    pub fn new(plan: &BatchPlan, cells: &[ResolvedCell]) -> Self {
        let images =
            count_distinct(cells.iter().map(|cell| ImageSource::from_image(&cell.recipe.image)));
        let models = cells.iter().flat_map(|cell| &cell.recipe.models);
        let hub_models = models.filter_map(|(_, model)| match &model.source {
            ModelSource::Hub { repository, revision, .. } => {
                Some((repository.clone(), revision.clone()))
            }
            _ => None,
        });
        let models = count_distinct(hub_models);
        let runs = plan.schedule.trial_runs.len();
        let trial_runs = || plan.schedule.trial_runs.iter();
        let here = |trial_run: &TrialRun| cells.get(trial_run.cell)?.earlier_duration;
        let durations: Vec<Option<Duration>> = trial_runs()
            .map(|run| here(run).or(cells.get(run.cell)?.recipe.expected_duration))
            .collect();
        let estimated: Vec<Duration> = durations.iter().flatten().copied().collect();
        let total: Duration = estimated.iter().sum();
        let at_once = u64::from(plan.execution.parallel.max(1));
        Self {
            images: images
                .map(|(source, count)| {
                    let recipes = cells.iter().map(|cell| &cell.recipe);
                    let recipes =
                        recipes.filter(|recipe| ImageSource::from_image(&recipe.image) == source);
                    let disk = recipes.filter_map(|recipe| recipe.requires.disk).max();
                    ImageNeed { source, cells: count, disk, size: None, here: None }
                })
                .collect(),
            models: models
                .map(|((repository, revision), cells)| ModelNeed { repository, revision, cells })
                .collect(),
            runs,
            seconds: (!estimated.is_empty()).then(|| total.as_secs() / at_once),
            by_earlier_runs: trial_runs().filter_map(here).count(),
            without_duration: durations.len() - estimated.len(),
            disk: cells.iter().filter_map(|cell| cell.recipe.requires.disk).max(),
        }
    }
}

impl ImageSource {
    fn from_image(image: &Image) -> Self {
        match image {
            Image::Pull { .. } => Self::Pulled { reference: image.reference().unwrap_or_default() },
            Image::Build(_) => Self::Built { from: image.to_string() },
        }
    }
}

fn count_distinct<T: Hash + Eq>(
    items: impl Iterator<Item = T>,
) -> impl Iterator<Item = (T, usize)> {
    let mut counts: IndexMap<T, usize> = IndexMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts.into_iter()
}

impl RunOrder {
    /// The order of a few cells, in letters: `A B C, C B A, A B C`.
    pub fn describe_in_letters(self, cells: usize, trials: u32) -> String {
        let letters: Vec<&str> = ["A", "B", "C"].into_iter().take(cells).collect();
        let turned: Vec<&str> = letters.iter().rev().copied().collect();
        let (more_there, more_back) = if cells > 3 { (" …", "… ") } else { ("", "") };
        let there = format!("{}{more_there}", letters.join(" "));
        let back = format!("{more_back}{}", turned.join(" "));
        let more_trials = trials > 3;
        let (parts, more): (Vec<String>, bool) = match self {
            Self::Interleaved => {
                let rounds = (0..trials.min(3)).map(|round| [&there, &back][round as usize % 2]);
                (rounds.cloned().collect(), more_trials)
            }
            Self::Grouped => {
                let each = letters.iter().map(|letter| {
                    let all = vec![*letter; trials.min(3) as usize].join(" ");
                    format!("{all}{}", if more_trials { " …" } else { "" })
                });
                (each.collect(), cells > 3)
            }
        };
        format!("{}{}", parts.join(", "), if more { ", …" } else { "" })
    }
}

//! The round of a tree, by its seeds, which are drawn again for each round.

use std::cmp::Reverse;

use indexmap::IndexMap;
use rayon::prelude::*;

use super::{ScenarioFolder, ScenarioPart, SubmissionTrees};
use crate::evidence::{endpoints, folder};
use retrial_mlperf::rounds::{Round, Rounds};
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;

/// The round of a tree, and how many of its results have whose seeds.
#[derive(Debug, Clone)]
pub struct TreeRound<'a> {
    /// The round that most results are of.
    pub round: &'a Round,
    /// Rounds and their numbers of results, the most first.
    pub counts: Vec<(&'a str, usize)>,
}

/// Returns the round whose seeds are in most of the tree's results. A result with other seeds is then
/// judged by this round, and violates its rule.
pub fn find_round_of_tree<'a>(
    trees: &SubmissionTrees,
    rounds: &'a Rounds,
) -> Option<TreeRound<'a>> {
    let places: Vec<&ScenarioFolder> =
        trees.benchmarks.iter().flat_map(|benchmark| &benchmark.scenarios).collect();
    let found = places.par_iter().filter_map(|place| {
        round_of_logs(place, rounds).or_else(|| round_of_endpoint(place, rounds))
    });
    let mut counts: IndexMap<&str, (&Round, usize)> = IndexMap::new();
    for round in found.collect::<Vec<_>>() {
        counts.entry(&round.round).or_insert((round, 0)).1 += 1;
    }
    // Of equals the first in the tree's order.
    counts.sort_by_cached_key(|_, (_, count)| Reverse(*count));
    let (_, &(round, _)) = counts.first()?;
    Some(TreeRound {
        round,
        counts: counts.iter().map(|(name, (_, count))| (*name, *count)).collect(),
    })
}

/// Returns the round whose seeds are in the first log of a place.
fn round_of_logs<'a>(place: &ScenarioFolder, rounds: &'a Rounds) -> Option<&'a Round> {
    let root = &place.submitter.root;
    let mut folders = vec![place.results_path().join(PERFORMANCE_RUN)];
    if let Some(ScenarioPart::Test(test)) = &place.requested_part {
        let tests = place.compliance_paths().map(|at| at.join(test).join(PERFORMANCE_RUN));
        folders.extend(tests);
    }
    folders.iter().find_map(|at| {
        let summary = folder::read_summary(root, at).ok();
        let parameters = match summary {
            Some(summary) => summary.parameters,
            None => folder::read_detail_log(root, at).ok()?.parameters,
        };
        rounds.find_by_seeds(&parameters)
    })
}

/// Returns the round of an endpoint, whose configuration has two of the three seeds.
fn round_of_endpoint<'a>(place: &ScenarioFolder, rounds: &'a Rounds) -> Option<&'a Round> {
    let folder = place.results_folder();
    if !endpoints::has_results(&folder) {
        return None;
    }
    let settings = endpoints::read_performance(&folder).ok()?.settings;
    let (sample_index, schedule) = (settings.sample_index_rng_seed?, settings.schedule_rng_seed?);
    rounds
        .iter()
        .find(|round| round.seeds.sample_index == sample_index && round.seeds.schedule == schedule)
}

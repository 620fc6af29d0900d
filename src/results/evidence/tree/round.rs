//! Which round a tree is of: its seeds tell, which are drawn anew for each.

use super::{Part, ScenarioFolder, SubmissionTrees};
use crate::results::evidence::{endpoints, folder};
use retrial_mlperf::rounds::{Round, Rounds};

/// The round whose seeds stand in the first log of the tree that has any round's. A result with
/// other seeds is then judged by this round, and breaks its rule.
#[must_use]
pub fn of_tree<'a>(found: &SubmissionTrees, rounds: &'a Rounds) -> Option<&'a Round> {
    let places = || {
        found
            .benchmarks
            .iter()
            .flat_map(|benchmark| &benchmark.scenarios)
    };
    let logged = places().find_map(|place| {
        let root = &place.submitter.root;
        let results = place.results();
        let mut folders = vec![results.join("performance/run_1")];
        if let Some(Part::Test(test)) = &place.only {
            let tests = place
                .compliance()
                .map(|at| at.join(test).join("performance/run_1"));
            folders.extend(tests);
        }
        folders.iter().find_map(|at| {
            let summary = folder::summary_at(root, at).ok();
            let parameters = match summary {
                Some(summary) => summary.parameters,
                None => folder::detail_at(root, at).ok()?.parameters,
            };
            rounds.by_seeds(&parameters)
        })
    });
    logged.or_else(|| places().find_map(|place| of_endpoint(place, rounds)))
}

/// An endpoint's configuration has two of the three seeds.
fn of_endpoint<'a>(place: &ScenarioFolder, rounds: &'a Rounds) -> Option<&'a Round> {
    let folder = place.submitter.root.join(place.results());
    if !endpoints::is_there(&folder) {
        return None;
    }
    let settings = endpoints::performance(&folder).ok()?.settings;
    let (sample_index, schedule) = (settings.sample_index_rng_seed?, settings.schedule_rng_seed?);
    rounds
        .iter()
        .find(|round| round.seeds.sample_index == sample_index && round.seeds.schedule == schedule)
}

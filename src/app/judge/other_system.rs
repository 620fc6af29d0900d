//! Whether results are of the system, size and benchmark that a recipe's figures were published on,
//! by their path in a submission tree and the description of their system.

use std::path::Path;

use serde_json::Value;

use crate::plan::Plan;
use crate::results::evidence::result_path::ResultPath;
use crate::results::evidence::tree::description;
use retrial_mlperf::rounds::Rounds;

/// Names what differs: `system 87xMI355X (recipe: 8xMI355X)`. Nothing where the results lie in no
/// submission tree.
#[must_use]
pub fn differences(plan: &Plan, place: &ResultPath, rounds: &Rounds) -> Vec<String> {
    let found = place.submission();
    let Some(system) = &found.system else {
        return Vec::new();
    };
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
    if official(&found.benchmark) != official(&published.benchmark) {
        different("benchmark", &found.benchmark, &published.benchmark);
    }
    let other = published.system.as_ref().filter(|known| *known != system);
    if let Some(known) = other {
        different("system", system, known);
    }
    let published = plan.requires.gpus.as_ref().map(|gpus| gpus.count);
    if let (Some(found), Some(published)) = (accelerators(&place.group, system), published)
        && found != u64::from(published)
    {
        different("accelerators", &found.to_string(), &published.to_string());
    }
    differences
}

/// How many accelerators the system's description counts, over all nodes.
fn accelerators(group: &Path, system: &str) -> Option<u64> {
    let submitter = group.ancestors().nth(3)?;
    let described = description(submitter, system).ok()?;
    let count = |name: &str| match described.get(name)? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    };
    Some(count("number_of_nodes")? * count("accelerators_per_node")?)
}

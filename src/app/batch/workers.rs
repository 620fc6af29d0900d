//! GPUs of their own for runs that are executed at the same time.

use crate::app::failure::Failure;
use retrial_host::assign::parse_index_range;
use retrial_host::model::HostView;
use retrial_plan::Plan;

/// Returns the GPUs of each worker in the syntax of `--gpus`. A single worker has all that the batch may use.
pub fn assign_gpus_to_workers(
    workers: usize,
    chosen: &[String],
    plans: &[&Plan],
    host: &HostView,
) -> Result<Vec<Vec<String>>, Failure> {
    if workers < 2 {
        return Ok(vec![chosen.to_vec()]);
    }
    let mut requests = Vec::new();
    for plan in plans {
        let Some(request) = &plan.requires.gpus else {
            return Err(Failure::usage(format!(
                "--parallel needs runs with their own GPUs, but {} requires none: the runs would compete for processors",
                plan.recipe
            )));
        };
        requests.push(request);
    }
    let not_apart =
        |plan: &&&Plan| plan.assigned_gpus.as_ref().is_none_or(|assigned| !assigned.isolated);
    if let Some(plan) = plans.iter().find(not_apart) {
        return Err(Failure::usage(format!("--parallel: the container of {} can reach every GPU of this host, so that runs cannot be isolated", plan.recipe)).with_help("remove its privileges: --least-privilege"));
    }
    let usable: Vec<String> = if chosen.is_empty() {
        let all = host.gpus.iter().filter(|gpu| !gpu.masked);
        let fits = all.filter(|gpu| {
            requests
                .iter()
                .all(|request| request.vendor == gpu.vendor && request.accepts_model(&gpu.model))
        });
        let mut addresses: Vec<String> = fits.map(|gpu| gpu.pci.clone()).collect();
        addresses.dedup();
        addresses
    } else {
        chosen.iter().flat_map(|word| expand_gpu_range(word)).collect()
    };
    let counts = requests.iter().map(|request| request.count as usize);
    let count = counts.max().unwrap_or(1).max(1);
    if usable.len() < workers * count {
        return Err(Failure::host(format!(
            "--parallel {workers}: each run requires {count} of the GPUs, and {} can be used: at most {} at once",
            usable.len(),
            usable.len() / count
        )));
    }
    let groups = usable.chunks(count).take(workers);
    Ok(groups.map(<[String]>::to_vec).collect())
}

/// `0-3` is four GPUs.
fn expand_gpu_range(word: &str) -> Vec<String> {
    match parse_index_range(word) {
        Some((first, last)) => (first..=last).map(|index| index.to_string()).collect(),
        None => vec![word.to_owned()],
    }
}

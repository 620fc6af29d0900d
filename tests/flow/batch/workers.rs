//! Several runs at once, each on its own GPUs: a planted host.

use std::collections::BTreeMap;

use super::{Batches, varied};
use crate::lab::Lab;
use crate::watching::Host;

const TWO: &str = "requires: { gpus: { vendor: amd, models: [MI355X], count: 2 } }\n";

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn rounds_run_in_parallel_on_disjoint_gpus() {
    let lab = Lab::new();
    let host = Host::plant();
    // Each run ends only when two have begun: one after the other, it would wait in vain.
    let waits = "for i in $(seq 1 600); do test ! -e /beside/go-on || break; sleep 0.05; done";
    let keys = format!("{TWO}container: {{ mounts: [{}:/beside:ro] }}\n", lab.path("").display());
    let lab = lab.recipe(&varied(&keys, waits));
    let asks = ["--trials", "2", "--parallel", "2", "--allow", "mounts", "--telemetry", "off"];
    let mut arguments = vec!["--root", host.root()];
    arguments.extend(asks);
    let mut batch = lab.start_batch(&arguments);
    lab.until("two runs measure", |lab| {
        let journals = lab.of_runs("journal.jsonl");
        let measuring = journals.iter().filter(|(_, journal)| {
            journal.contains("\"main-performance\"") && !journal.contains("run_ended")
        });
        measuring.count() == 2
    });
    std::fs::write(lab.path("go-on"), "").unwrap();
    batch.end().expect_exit(0).prints("2 at once").prints("on GPUs");
    let started = lab.happened("trial_run_started");
    let mut gpus: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for started in &started {
        let own = started["gpus"].as_array().unwrap().iter();
        let own: Vec<String> = own.map(|gpu| gpu.as_str().unwrap().to_owned()).collect();
        assert_eq!(own.len(), 2, "{started}");
        let round = gpus.entry(started["trial"].as_u64().unwrap());
        // A round is compared in pairs: all of it on the same GPUs.
        assert_eq!(round.or_insert_with(|| own.clone()), &own);
    }
    assert!(gpus[&1].iter().all(|gpu| !gpus[&2].contains(gpu)), "{gpus:?}");
    // The record states which runs were concurrent.
    assert_eq!(started[1]["concurrent_runs"][0], started[0]["run"]);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn runs_without_their_own_gpus_are_not_parallel() {
    let lab = Lab::new();
    let lab = lab.recipe(&varied("", ""));
    lab.batch(&["--trials", "2", "--parallel", "2"])
        .expect_exit(2)
        .prints("--parallel needs runs with their own GPUs");
    let host = Host::plant();
    let lab = Lab::new().recipe(&varied(TWO, ""));
    lab.batch(&["--root", host.root(), "--trials", "9", "--parallel", "5"])
        .expect_exit(3)
        .prints("at most 4 at once");
}

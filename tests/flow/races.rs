//! A service exchanges a directory with a link to `/` while others that mount it are started: none ever has the host's
//! root, and none is refused. `RETRIAL_STARTS=100` starts as many; a run has four minutes.

use std::fs;

use crate::lab::{Lab, case, recipe_with};

/// Exchanges a directory with a link, as fast as a shell can.
const SWAP: &str =
    "cd /own; echo swapping; while :; do mv sub aside; ln -s / sub; : ; rm sub; mv aside sub; done";

/// Looks for a file that only the host's root has.
const LOOK: &str = "test -e /sub/file && test ! -e /sub/etc && echo serving && exec sleep 100";

#[test]
#[ignore = "needs the lab"]
fn a_service_that_swaps_a_directory_never_leads_another_container_out_of_it() {
    let starts = std::env::var("RETRIAL_STARTS").unwrap_or_else(|_| "20".to_owned());
    let lab = Lab::new().file("own/sub/file", "");
    let services = format!(
        "services:\n  swapper: {{ run: '{SWAP}', scope: run, ready: {{ log: swapping }}, container: {{ mounts: [\"./own:/own\"] }} }}\n  server: {{ run: '{LOOK}', ready: {{ log: serving }}, container: {{ mounts: [\"./own/sub:/sub\"] }} }}"
    );
    let needs = format!("needs: [swapper, server]\ntrials: {starts}");
    let lab = lab.recipe(&recipe_with(&services, &case("main", "true", &needs)));
    lab.run(&[]).expect_exit(0);
    let steps = fs::read_dir(lab.the_run().join("steps")).unwrap();
    let names = steps.map(|step| step.unwrap().file_name().into_string().unwrap());
    let started = names.filter(|name| name.contains("start-server")).count();
    assert_eq!(started.to_string(), starts);
}

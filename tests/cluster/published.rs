//! The recipe for 87 GPUs on 11 nodes of the lab's cluster, each with a simulated host and an engine of its own,
//! against a stand-in of the vendor's image that prints what was published.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use crate::support::cluster::Cluster;
use crate::support::needs::make_simulated_gpus;

const RECIPE: &str = "mlperf-inference/v6.0/amd/llama2-70b-87x-mi355x";
const IMAGE: &str = "rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0";

/// Runs the recipe with the first node as its head, but for the model, which is 36 GiB.
fn run(cluster: &Cluster, options: &[&str]) -> Output {
    let home = cluster.directory.join("shared/home");
    let others: Vec<String> = (2..=11).map(|node| format!("n{node}")).collect();
    let others = format!("ssh:{}", others.join(","));
    let run = ["run", RECIPE, "--skip", "fetch-llama2", "--nodes", &others];
    let program = [env!("CARGO_BIN_EXE_retrial"), "--root", "/run/retrial-host"];
    let directories = ["--home", home.to_str().unwrap(), "--cache", "/tmp/cache"];
    let head = [&["node", "n1"][..], &program, &directories].concat();
    cluster.script(&[&head[..], &run, options].concat())
}

fn shell(command: &str) {
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success());
}

/// Eleven nodes with the stand-in's image, of which a real one would not fit on this machine's disk.
fn cluster() -> Cluster {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hosts = root.join("tests/fixtures/hosts/mi355x-8");
    let options = ["--nodes", "11", "--gpus-last", "7", "--hosts", hosts.to_str().unwrap()];
    let cluster = Cluster::own("published", &options);
    make_simulated_gpus();
    shell(&format!("{}/tests/standins/build >/dev/null", root.display()));
    let pull = format!("docker pull -q {IMAGE}");
    cluster.lab(&["in", "srun", "-N11", "sh", "-c", &pull]);
    cluster
}

#[test]
#[ignore = "takes 85 s on two cores: by hand, `cargo nextest run --test cluster published --run-ignored all`"]
fn published_figures_of_87_gpus_are_reproduced_on_11_nodes() {
    let cluster = cluster();
    // All scenarios take 22 s: tests/standins/README.md.
    let output = run(&cluster, &["--scenario", "server", "--quiet"]);
    let page = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("1,016,375 tokens/s  1,016,380  1.000  ≥ 0.998  ✓ reproduced"), "{page}");
    assert!(
        page.contains(
            "✓ reproduced (in part, modified, simulated host): All 4 published figures hold."
        ),
        "{page}"
    );

    // A node that lacks a GPU more.
    let host = |node: &str| cluster.directory.join(node).join("run/retrial-host");
    let (fewer, more) = (host("n11"), host("n10"));
    shell(&format!("rm -rf {0}/sys && cp -a {1}/sys {0}/sys", more.display(), fewer.display()));
    let short = ["--scenario", "server", "--mode", "performance", "--quiet"];
    let refused = run(&cluster, &short);
    assert_eq!(refused.status.code(), Some(3));
    let problem = String::from_utf8_lossy(&refused.stderr);
    assert!(problem.contains("86 GPUs on 11 machines, required 87"), "{problem}");
    let forced = run(&cluster, &[&short[..], &["--force"]].concat());
    let page = String::from_utf8_lossy(&forced.stdout).replace("\n ", "");
    assert_eq!(forced.status.code(), Some(0), "{page}");
    assert!(page.contains("modified: 86 GPUs on 11 machines, required 87"), "{page}");
}

//! The whole way: a recipe's model in a container, and the Python client on the same cache.

use std::process::Command;

use super::client::{Client, good};
use crate::hub::{Content, Hub, Repository};

#[test]
#[ignore = "needs the lab"]
fn a_run_and_python_share_a_model() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    let name = "amd/shared";
    let model = Content::generated(7, 2_000_000);
    hub.add(
        Repository::new(name).file("config.json", "{}").lfs("sub/model.safetensors", model.clone()),
    );
    let directory = tempfile::tempdir().unwrap();
    let recipe = directory.path().join("recipe.yaml");
    let text = format!(
        "schema: 1\ntitle: A model of the hub\nsubmission: {{ suite: flow, benchmark: hub }}\nimage: debian:bookworm-slim\nmodels:\n  shared:\n    source: {{ hub: {name}, revision: main }}\n    mount: /model\nscenarios:\n  case:\n    performance:\n      run: |\n        echo '{}  /model/sub/model.safetensors' | sha256sum -c\n        test -f /model/config.json\n        echo 'speed: 1.0'\n      figures:\n        speed: {{ pattern: 'speed: ([0-9.]+)', unit: x }}\n",
        model.sha256()
    );
    std::fs::write(&recipe, text).unwrap();
    let run = |extra: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
        command
            .arg("run")
            .arg(directory.path())
            .env("RETRIAL_HOME", directory.path().join("home"))
            .env("HF_ENDPOINT", hub.endpoint())
            .env("HF_HOME", client.home.path())
            .env_remove("HF_TOKEN")
            .envs(extra.iter().copied());
        good(&command.output().unwrap())
    };
    run(&[]);
    assert_eq!(hub.downloads(name, "sub/model.safetensors"), 1);
    hub.forget();
    client.script(&[("HF_HUB_OFFLINE", "1")], &format!("print(snapshot_download('{name}'))"));
    run(&[("HF_HUB_OFFLINE", "1")]);
    assert_eq!(hub.requests().len(), 0);
    // Its digests, held against the hub's.
    client.script(
        &[],
        &format!(
            "
result = HfApi().verify_repo_checksums('{name}')
assert result.checked_count == 2 and not result.mismatches, result
assert not result.missing_paths and not result.extra_paths, result
"
        ),
    );
}

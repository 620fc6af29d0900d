//! Files of runs as resources.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::client::Client;
use crate::lab::Lab;

#[test]
#[ignore = "needs the lab"]
fn the_files_of_a_run_are_resources_and_nothing_else_is() {
    let lab = Lab::new().measures("true");
    lab.run(&[]).expect_exit(0);
    let (id, run) = (lab.id(), lab.the_run());
    fs::write(lab.home_path().join("secret"), "secret").unwrap();
    fs::write(run.join("control/secret"), "secret").unwrap();
    symlink("../../secret", run.join("link")).unwrap();
    symlink("../..", run.join("up")).unwrap();
    symlink(&id, lab.home_path().join("runs/alias")).unwrap();
    let too_long = fs::File::create(run.join("long")).unwrap();
    too_long.set_len((1 << 20) + 1).unwrap();
    fs::write(run.join("a b%"), "blank").unwrap();
    let mut client = Client::connect(&lab, &[]);

    let listed = client.ask(json!(["list_resources"]));
    let listed = listed["resources"].as_array().unwrap();
    assert!(listed.iter().any(|one| one["uri"] == format!("retrial://runs/{id}")), "{listed:?}");
    let files = client.read(&format!("retrial://runs/{id}")).unwrap();
    let files: Value = serde_json::from_str(&files).unwrap();
    let addresses = files["files"].as_array().unwrap().iter().map(|file| file["uri"].as_str());
    let addresses: Vec<&str> = addresses.map(Option::unwrap).collect();
    let has = |name: &str| addresses.contains(&format!("retrial://runs/{id}/{name}").as_str());
    assert!(has("verdict.json") && has("a%20b%25") && !has("link"), "{addresses:?}");
    assert!(!addresses.iter().any(|address| address.contains("/control")), "{addresses:?}");
    let verdict = client.read(&format!("retrial://runs/{id}/verdict.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&verdict).unwrap()["outcome"], "reproduced");
    assert_eq!(client.read(&format!("retrial://runs/{id}/a%20b%25")).unwrap(), "blank");

    for path in [
        format!("{id}/link"),
        format!("{id}/up/secret"),
        format!("{id}/../../secret"),
        format!("{id}/%2e%2e/%2e%2e/secret"),
        format!("{id}/control/secret"),
        format!("{id}/./control/secret"),
        format!("{id}//{}/secret", lab.home_path().display()),
        "../secret".to_owned(),
        "%2e%2e/secret".to_owned(),
        "..".to_owned(),
        ".".to_owned(),
        format!("./{id}/control/secret"),
        format!("./{id}/verdict.json"),
        "alias".to_owned(),
        "alias/verdict.json".to_owned(),
        String::new(),
        format!("{id}/long"),
        format!("{id}/results"),
    ] {
        let read = client.read(&format!("retrial://runs/{path}"));
        assert!(read.is_err(), "{path}: {read:?}");
    }
    for address in
        [format!("file://{}/secret", lab.home_path().display()), format!("retrial://batches/{id}")]
    {
        assert!(client.read(&address).is_err(), "{address}");
    }
}

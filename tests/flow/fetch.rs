//! A run that fetches a model of the hub: interrupted, killed, refused, and which commit it keeps.

use std::path::PathBuf;

use crate::hub::{Access, At, Content, Fault, Hub, Repository};
use crate::lab::{Lab, case, recipe_with};

const NAME: &str = "owner/model";
const FILE: &str = "model-00001-of-00002.safetensors";
const SIZE: u64 = 4 << 20;
const STEP: &str = "fetch-tiny";

fn lab(hub: &Hub) -> Lab {
    let keys = "models:\n  tiny: { source: { hub: owner/model }, mount: /model }\n";
    let lab = Lab::new().recipe(&recipe_with(keys, &case("main", "true", "")));
    let cache = lab.path("hub").display().to_string();
    lab.env("HF_ENDPOINT", hub.endpoint())
        .env("HF_HUB_CACHE", &cache)
        .env("HF_TOKEN_PATH", "/nowhere/token")
        .env("HF_HUB_OFFLINE", "0")
}

fn model() -> Repository {
    Repository::sharded(NAME, 2, SIZE)
}

/// What has arrived of the file so far.
fn part(lab: &Lab) -> PathBuf {
    let name = Content::generated(1, SIZE).sha256().to_owned() + ".incomplete";
    lab.path("hub/models--owner--model/blobs").join(name)
}

fn until_arrived(lab: &Lab, bytes: u64) {
    lab.until("the file has begun to arrive", |lab| {
        std::fs::metadata(part(lab)).is_ok_and(|part| part.len() >= bytes)
    });
}

#[test]
#[ignore = "needs the lab"]
fn fetched_files_are_reported_and_the_commit_recorded() {
    let hub = Hub::start();
    let commit = hub.add(model());
    let lab = lab(&hub);
    let doctor = || lab.retrial(&["doctor", "./recipe.yaml"]);
    doctor().prints("the hub serves it: 5 files, 8.00 MiB\n");
    lab.run(&[]).expect_exit(0).prints("5 files, 8.00 MiB, 8.00 MiB fetched");
    doctor().prints("5 files, 8.00 MiB, all of it cached");
    let host: serde_json::Value = serde_json::from_str(&lab.text("host.json")).unwrap();
    assert_eq!(host["models"]["tiny"]["commit"], commit.as_str());
    assert_eq!(host["models"]["tiny"]["revision"], "main");
    assert_eq!(lab.count(STEP, "model_resolved"), 1);
    assert_eq!(lab.count(STEP, "model"), 1);
    assert_eq!(lab.count(STEP, "transfer"), 0, "ticks are not kept");
    std::fs::remove_dir_all(lab.home_path()).unwrap();
    lab.run(&[]).expect_exit(0).prints("all of it cached");
    assert_eq!(hub.downloads(NAME, FILE), 1);
}

#[test]
#[ignore = "needs the lab"]
fn an_interrupted_fetch_resumes_with_the_same_commit() {
    for killed in [false, true] {
        let hub = Hub::start();
        let commit = hub.add(model());
        hub.fault(Fault::Stall(1_000_000), &At::bytes(NAME, FILE), 1);
        let lab = lab(&hub);
        let mut going = lab.start(&[]);
        until_arrived(&lab, 1_000_000);
        if killed {
            going.kill();
        } else {
            going.signal("INT");
            going.end().expect_exit(130).prints("retrial resume");
        }
        assert_eq!(std::fs::metadata(part(&lab)).unwrap().len(), 1_000_000);
        hub.release();
        // The branch moves on meanwhile.
        hub.add(model().file("config.json", "{\"other\": 1}\n"));
        hub.forget();
        lab.retrial(&["resume", "last"]).expect_exit(0);
        assert_eq!(hub.sent(NAME, FILE), SIZE - 1_000_000);
        let host: serde_json::Value = serde_json::from_str(&lab.text("host.json")).unwrap();
        assert_eq!(host["models"]["tiny"]["commit"], commit.as_str());
        assert_eq!(lab.count(STEP, "model_resolved"), 1);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_gated_model_error_names_the_page_to_visit() {
    let hub = Hub::start();
    hub.add(model().access(Access::Gated(vec!["me".to_owned()])));
    hub.account("me", "hf_mine");
    let lab = lab(&hub);
    let page = format!("visit {}/{NAME} and request access", hub.endpoint());
    lab.run(&[]).expect_exit(3).prints(&page).prints("HF_TOKEN").prints("there is no token");
    let lab = lab.env("HF_TOKEN", "hf_mine");
    // No step began: a refusal of the hub is reported before an image is pulled.
    assert_eq!(lab.runs().len(), 0);
    lab.run(&[]).expect_exit(0).does_not_print("hf_mine");
    assert!(Lab::files_with(lab.home_path(), "hf_mine").is_empty());
}

//! Models of the hub in the container: real files that cannot be written, fetched once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::hub::{At, Content, Fault, Hub, Place, Repository};
use crate::lab::{Lab, case, image, recipe_with};

/// A hub with one model, and a lab whose cache begins empty.
fn with_model(model: &str, commands: &str) -> (Hub, Lab, String) {
    let hub = Hub::start();
    let commit = hub.add(
        Repository::new("lab/tiny")
            .file("config.json", "{\"layers\": 2}")
            .file("tokenizer/vocab.txt", "one two")
            .lfs("model.safetensors", Content::generated(1, 3 << 20)),
    );
    let keys = format!(
        "image: {}\nmodels: {{ tiny: {{ source: {{ hub: lab/tiny }}, {model} }} }}",
        image("busybox")
    );
    let lab = Lab::new().recipe(&recipe_with(&keys, &case("main", commands, "")));
    let cache = lab.path("hf").display().to_string();
    let lab = lab.env("HF_ENDPOINT", hub.endpoint()).env("HF_HOME", &cache);
    (hub, lab, commit)
}

const LOOK: &str = "cd /model
find . -type l | sed 's/^/link /'
cat config.json tokenizer/vocab.txt; echo
sha256sum model.safetensors
touch x 2>&1 || echo 'no new files'
echo x 2>/dev/null >>config.json || echo 'no changes'
echo commit ${{ models.tiny.commit }}";

#[test]
#[ignore = "needs the lab"]
fn models_are_read_only_regular_files_fetched_once() {
    let (hub, lab, commit) = with_model("mount: /model", LOOK);
    lab.run(&[]).expect_exit(0);
    let output = lab.output("04-main-performance");
    let content = Content::generated(1, 3 << 20);
    let hash = content.sha256();
    for line in [
        "{\"layers\": 2}one two",
        &format!("{hash}  model.safetensors"),
        "no new files",
        "no changes",
        &format!("commit {commit}"),
    ] {
        assert!(output.contains(line), "no {line} in {output}");
    }
    assert!(!output.contains("link "), "{output}");
    let host: serde_json::Value = serde_json::from_str(&lab.text("host.json")).unwrap();
    assert_eq!(host["models"]["tiny"]["commit"], commit.as_str());

    let downloads = hub.downloads("lab/tiny", "model.safetensors");
    assert_eq!(downloads, 1);
    lab.run(&[]).expect_exit(0);
    assert_eq!(hub.downloads("lab/tiny", "model.safetensors"), 1);
    assert_eq!(lab.runs().len(), 2);

    // One view for both, of the cache's own bytes.
    let views = lab.path("hf/hub/models--lab--tiny/retrial");
    let views: Vec<_> = fs::read_dir(views).unwrap().collect();
    assert_eq!(views.len(), 1);
    let view = views[0].as_ref().unwrap().path();
    let status = fs::metadata(view.join("model.safetensors")).unwrap();
    assert_eq!(status.nlink(), 2);
}

/// The check before the run leaves a busy hub to the download, which waits.
#[test]
#[ignore = "needs the lab"]
fn a_hub_that_is_busy_is_asked_again() {
    for fault in [Fault::Busy(1), Fault::Unavailable(1)] {
        let (hub, lab, _) = with_model("mount: /model", LOOK);
        hub.fault(fault, &At::file(Place::Resolve, "lab/tiny", "config.json"), 1);
        lab.run(&[]).expect_exit(0).does_not_print("cannot be reached");
        assert!(hub.requests().len() > 3);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_commit_that_no_step_fetches_is_refused() {
    let (hub, lab, commit) = with_model("mount: /model", LOOK);
    lab.run(&["--skip", "fetch-tiny"])
        .expect_exit(2)
        .prints("main-performance uses models.tiny.commit");
    assert!(hub.requests().is_empty());
    let text = fs::read_to_string(lab.path("recipe.yaml")).unwrap();
    let pinned = format!("hub: lab/tiny, revision: {commit}");
    let lab = lab.recipe(&text.replace("hub: lab/tiny", &pinned));
    lab.retrial(&["plan", "./recipe.yaml", "--skip", "fetch-tiny"])
        .expect_exit(0)
        .prints(&format!("echo commit {commit}"));
}

#[test]
#[ignore = "needs the lab"]
fn a_modified_view_is_not_mounted() {
    let (_hub, lab, _) = with_model("mount: /model", LOOK);
    lab.run(&[]).expect_exit(0);
    let views = lab.path("hf/hub/models--lab--tiny/retrial");
    let view = fs::read_dir(&views).unwrap().next().unwrap().unwrap().path();
    fs::write(view.join("extra.bin"), "?").unwrap();
    lab.run(&[])
        .expect_exit(3)
        .prints("was changed: remove the directory")
        .prints(view.to_str().unwrap());
    fs::remove_dir_all(view).unwrap();
    lab.run(&[]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn writes_next_to_a_model_leave_the_cache_unchanged() {
    let commands = "mkdir -p /model/quantized
cp /model/model.safetensors /model/quantized/
echo x 2>/dev/null >/model/config.json || echo 'no changes'
ls /model";
    let (_hub, lab, commit) = with_model("mount: /model, writable: [quantized]", commands);
    lab.run(&[]).expect_exit(0);
    let output = lab.output("04-main-performance");
    assert!(
        output.contains("no changes\nconfig.json\nmodel.safetensors\nquantized\ntokenizer\n"),
        "{output}"
    );
    let repository = lab.path("hf/hub/models--lab--tiny");
    assert!(!repository.join("retrial").exists());
    let blob = repository.join(format!("snapshots/{commit}/config.json"));
    assert_eq!(fs::read_to_string(blob).unwrap(), "{\"layers\": 2}");
}

#[test]
#[ignore = "needs the lab"]
fn mounted_as_the_hub_cache_at_the_commit_of_the_run() {
    let commands = "env | grep ^HF_ | sort
cd $HF_HUB_CACHE/models--lab--tiny
cat refs/main; echo
cat snapshots/$(cat refs/main)/config.json";
    let (hub, lab, commit) = with_model("as: hub-cache", commands);
    lab.run(&[]).expect_exit(0);
    let output = lab.output("04-main-performance");
    assert!(
        output.contains(&format!(
            "HF_HUB_CACHE=/hub-cache\nHF_HUB_OFFLINE=1\n{commit}\n{{\"layers\": 2}}"
        )),
        "{output}"
    );
    drop(hub);
}

#[rstest::rstest]
#[case::model(
    "models: { own: { source: { path: NOWHERE }, mount: /model } }",
    "model own: no such directory; required: NOWHERE"
)]
#[case::mount(
    "container: { mounts: ['NOWHERE:/model'] }",
    "mount /model: no such file or directory; required: NOWHERE"
)]
#[ignore = "needs the lab"]
fn a_missing_host_path_is_reported_before_fetching(#[case] keys: &str, #[case] message: &str) {
    let lab = Lab::new();
    let nowhere = lab.path("nowhere");
    let there = |text: &str| text.replace("NOWHERE", nowhere.to_str().unwrap());
    let (keys, message) = (there(keys), there(message));
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "ls /model", "")));
    lab.retrial(&["plan", "./recipe.yaml"]).expect_exit(0).prints(&message);
    lab.run(&["--allow", "mounts"]).expect_exit(3).prints(&message);
    assert!(lab.runs().is_empty());
    fs::create_dir(&nowhere).unwrap();
    fs::write(Path::new(&nowhere).join("weights"), "w").unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    assert!(lab.output("03-main-performance").contains("weights"));
}

#[test]
#[ignore = "needs the lab"]
fn an_image_without_room_is_refused_before_anything_is_done() {
    let lab = Lab::new();
    let keys = format!("image: {}\nrequires: {{ disk: 900 TiB }}", image("never-pulled"));
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    lab.run(&[]).expect_exit(3).prints("disk for images: ").prints("900 TiB");
    assert!(lab.runs().is_empty());
    // It is pulled then, and there is none.
    lab.run(&["--force"]).expect_exit(3).prints("pull failed").prints("warning: ");
}

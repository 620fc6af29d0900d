//! `--remove-images`: what the batch itself pulled is removed when nothing of it needs it any more, and nothing else.

use super::Batches;
use crate::lab::{Lab, case, image, recipe_with};

/// An engine's images, and a recipe whose image is a param.
fn lab() -> Lab {
    let keys = "params:\n  image: { type: string }\nimage: ${{ params.image }}\n";
    Lab::new().recipe(&recipe_with(keys, &case("main", "echo 1", "")))
}

/// Images in a repository of the lab's registry that only this test has, one for each tag.
pub(super) fn published_as(lab: &Lab, test: &str, tags: &[&str]) -> Vec<String> {
    let registry = std::env::var("RETRIAL_LAB_REGISTRY").unwrap();
    let id = std::process::id();
    let names = tags.iter().map(|tag| format!("{registry}/retrial-lab/{test}-{id}:{tag}"));
    names.inspect(|name| lab.publish("busybox", name)).collect()
}

pub(super) fn has_image(lab: &Lab, name: &str) -> bool {
    lab.docker_command(&["image", "inspect", name]).output().unwrap().status.success()
}

#[test]
#[ignore = "needs the lab"]
fn images_are_removed_after_their_last_trial() {
    let lab = lab();
    let names = published_as(&lab, "removed", &["1", "2", "3"]);
    // One that was there before is not the batch's.
    lab.docker(&["pull", "--quiet", &names[2]]);
    let vary = format!("image={}", names.join(","));
    let arguments =
        ["batch", "./recipe.yaml", "--vary", &vary, "--trials", "2", "--remove-images", "--order"];
    lab.retrial(&[&arguments[..], &["grouped"]].concat()).expect_exit(0).prints("removed: ");
    let present: Vec<bool> = names.iter().map(|name| has_image(&lab, name)).collect();
    assert_eq!(present, [false, false, true]);
    let events: Vec<String> = lab
        .batch_journal()
        .iter()
        .filter_map(|event| match event["event"].as_str()? {
            "image_removed" => Some(format!("removed {}", event["image"].as_str()?)),
            "trial_run_started" => Some("run".to_owned()),
            _ => None,
        })
        .collect();
    let removed = |at: usize| format!("removed {}", names[at]);
    assert_eq!(events, ["run", "run", &removed(0), "run", "run", &removed(1), "run", "run"]);
    lab.docker(&["rmi", &names[2]]);
}

#[test]
#[ignore = "needs the lab"]
fn an_image_that_something_else_uses_is_kept() {
    let lab = lab();
    let names = published_as(&lab, "kept", &["1"]);
    // With another name of the same image, only this name would go.
    let container = lab.docker(&["create", &image("busybox")]);
    lab.docker(&["commit", &container, &names[0]]);
    lab.docker(&["push", "--quiet", &names[0]]);
    lab.docker(&["rm", &container]);
    lab.docker(&["rmi", &names[0]]);
    let vary = format!("image={},{}", names[0], image("busybox"));
    let arguments =
        ["batch", "./recipe.yaml", "--vary", &vary, "--remove-images", "--keep", "always"];
    lab.retrial(&arguments).expect_exit(0).prints("kept, since something else uses it");
    assert!(has_image(&lab, &names[0]));
    lab.retrial(&["clean", "--all"]).expect_exit(0);
    lab.docker(&["rmi", &names[0]]);
}

#[test]
#[ignore = "needs the lab"]
fn an_image_of_the_engine_needs_no_registry() {
    let lab = lab();
    // Neither the name nor the registry exists.
    let names = ["registry.invalid/mirrored/one:1", "registry.invalid/mirrored/two:1"];
    for name in names {
        lab.docker(&["tag", &image("busybox"), name]);
    }
    let vary = format!("image={}", names.join(","));
    lab.retrial(&["batch", "./recipe.yaml", "--vary", &vary]).expect_exit(0);
    for name in names {
        lab.docker(&["rmi", name]);
    }
}

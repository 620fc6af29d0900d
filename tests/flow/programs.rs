//! What programs read with `--output json`, and the programs that Retrial starts for a person.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::lab::{Lab, case, recipe_with};

/// The documents of an output, a line each.
#[track_caller]
fn documents(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
#[ignore = "needs the lab"]
fn logs_and_stop_are_json_where_requested() {
    let lab = Lab::new().measures("echo one; echo 'two \"quoted\"'");
    lab.run(&[]).expect_exit(0);
    let done = lab.retrial(&["logs", "last", "--output", "json"]);
    let lines = documents(&done.expect_exit(0).out);
    for line in ["one", "two \"quoted\""] {
        let expected = json!({ "step": "main-performance", "line": line });
        assert!(lines.contains(&expected), "{expected} is not in {lines:#?}");
    }
    let done = lab.retrial(&["stop", "last", "--output", "json"]);
    let expected = json!({ "id": lab.id(), "result": "already-ended" });
    assert_eq!(documents(&done.expect_exit(0).out), [expected]);
}

#[test]
#[ignore = "needs the lab"]
fn a_new_recipe_is_named_with_its_notes() {
    let lab = Lab::new().file("line.txt", "docker run --rm debian:12 true\n");
    let arguments = ["new", "own.yaml", "--from", "line.txt", "--output", "json"];
    let done = lab.retrial(&arguments).expect_exit(0);
    let printed: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(printed["path"], "./own.yaml");
    let notes = printed["notes"].to_string();
    assert!(notes.contains("--rm"), "{notes}");
    assert!(lab.path("own.yaml").is_file());
}

#[test]
#[ignore = "needs the lab"]
fn a_page_is_opened_in_the_browser() {
    let lab = Lab::new().measures("true");
    lab.run(&[]).expect_exit(0);
    let programs = lab.path("programs");
    let lab = lab.file(
        "programs/xdg-open",
        "#!/bin/sh\necho \"$1\" >\"$0.new\" && mv \"$0.new\" \"$0.opened\"\n",
    );
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(programs.join("xdg-open"), executable).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let lab = lab.env("PATH", &path);
    lab.retrial(&["report", "last", "--to", "page.html", "--open"]).expect_exit(0);
    let opened = programs.join("xdg-open.opened");
    lab.until("the browser has the page", |_| opened.is_file());
    let page = fs::read_to_string(&opened).unwrap();
    assert_eq!(page.trim(), "page.html");
    lab.retrial(&["report", "last", "--to", "programs"])
        .expect_exit(0)
        .prints("programs/report.html");
    assert!(programs.join("report.html").is_file());
    lab.retrial(&["report", "last", "--to", "-", "--open"])
        .expect_exit(2)
        .prints("--open needs a page in a file");
}

#[test]
#[ignore = "needs the lab"]
fn a_lock_holds_what_a_registry_has_if_another_image_is_the_engines_own() {
    let lab = Lab::new();
    let tag = format!("retrial-test-local-{}:1", std::process::id());
    lab.docker(&["tag", "debian:bookworm-slim", &tag]);
    let published = crate::lab::image("busybox");
    let variants = format!(
        "variants: {{ kind: {{ own: {{ image: '{tag}' }}, published: {{ image: '{published}' }} }} }}"
    );
    let lab = lab.recipe(&recipe_with(&variants, &case("main", "true", "")));
    let done = lab.retrial(&["lock", "./recipe.yaml", "--output", "json"]);
    lab.docker(&["rmi", &tag]);
    let done =
        done.expect_exit(0).prints("only this engine has it, without a digest: the rest is locked");
    let printed: Value = serde_json::from_str(&done.out).unwrap();
    let images = printed["images"].as_object().unwrap();
    assert!(images[&published].as_str().unwrap().contains("sha256:"));
    assert!(!images.contains_key(&tag), "{images:#?}");
}

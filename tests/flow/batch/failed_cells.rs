//! Cells that fail by themselves: the others go on, and every form of the result says why.

use serde_json::Value;

use super::Batches;
use crate::lab::{Done, Lab, case, image, recipe_with};
use crate::watching::Host;

/// A recipe whose image is a param.
fn of_images(commands: &str) -> String {
    let keys = "params:\n  image: { type: string }\n  word: { type: string, default: none }\nimage: ${{ params.image }}\n";
    recipe_with(keys, &case("main", commands, ""))
}

fn missing_image() -> String {
    format!("{}:no-such-tag", image("busybox").trim_end_matches(":1"))
}

fn batch(lab: &Lab, vary: &str, more: &[&str]) -> Done {
    let arguments = [&["batch", "./recipe.yaml", "--vary", vary], more].concat();
    lab.start_retrial(&arguments).end()
}

/// The kind of each cell's failure, in the order of the cells.
fn failures(verdict: &Value) -> Vec<Value> {
    let cells = verdict["cells"].as_array().unwrap().iter();
    cells.map(|cell| cell["failure"]["kind"].clone()).collect()
}

#[test]
#[ignore = "needs the lab"]
fn a_tag_that_does_not_exist_fails_only_its_cell() {
    let (known, unknown) = (image("busybox"), missing_image());
    let lab = Lab::new().recipe(&of_images("echo 1"));
    let vary = format!("image={unknown},{known}");
    let claim = format!("{unknown} is faster than {known}");
    let done = batch(&lab, &vary, &["--trials", "2", "--claim", &claim]);
    let done = done.expect_exit(3).prints("no such tag").prints("1 reproduced, 1 no such tag");
    assert!(done.out.contains("has no result: no such tag"), "{}", done.out);
    assert_eq!(done.out.matches("there is no image").count(), 1, "{}", done.out);
    // Neither is its cell started, nor tried again.
    assert_eq!(lab.started_runs().len(), 2);
    let verdict = lab.batch_verdict();
    assert_eq!(failures(&verdict), [Value::from("no_such_tag"), Value::Null]);
    assert_eq!(verdict["cells"][0]["failure"]["image"], unknown);
    assert_eq!(verdict["cells"][0]["outcome"], "failed");
    assert_eq!(verdict["claims"][0]["outcome"], "not decided");
    let id = lab.batch_id();
    let junit = lab.retrial(&["report", &id, "--output", "junit"]).out;
    assert!(junit.contains(r#"type="no such tag""#), "{junit}");
    let page = lab.retrial(&["report", &id, "--output", "html"]).out;
    assert!(page.contains("no such tag"), "{page}");
    // A batch that is resumed asks again: the tag may exist by now.
    lab.retrial(&["resume", &id]).expect_exit(3).prints("reused: 2 runs of 4");
    assert_eq!(lab.started_runs().len(), 2);
}

#[test]
#[ignore = "needs the lab"]
fn an_image_that_cannot_be_built_fails_only_its_cell() {
    let keys = "variants:\n  base:\n    good: {}\n    bad: { image: { build: { context: image, args: { STATUS: \"1\" } } } }\ndefault: { base: good }\nimage: { build: { context: image, args: { STATUS: \"0\" } } }\n";
    let dockerfile = format!("FROM {}\nARG STATUS\nRUN exit $STATUS\n", image("busybox"));
    let recipe = recipe_with(keys, &case("main", "echo 1", ""));
    let lab = Lab::new().recipe(&recipe).file("image/Dockerfile", &dockerfile);
    let done = batch(&lab, "base=bad,good", &["--trials", "2"]);
    done.expect_exit(3).prints("build failed").prints("1 reproduced, 1 build failed");
    // It is built once.
    assert_eq!(lab.started_runs().len(), 3);
    assert_eq!(failures(&lab.batch_verdict()), [Value::from("build_failed"), Value::Null]);
}

#[test]
#[ignore = "needs the lab"]
fn a_program_that_crashes_at_once_fails_only_its_cell() {
    let commands =
        "test ${{ params.word }} != one || { echo 'ImportError: no librocm.so'; exit 1; }\necho 1";
    let lab = Lab::new().recipe(&of_images(commands));
    let set = format!("image={}", image("busybox"));
    let done = batch(&lab, "word=one,two", &["--set", &set]);
    done.expect_exit(3).prints("does not run").prints("ImportError");
    assert_eq!(failures(&lab.batch_verdict()), [Value::from("does_not_run"), Value::Null]);
}

#[test]
#[ignore = "needs the lab"]
fn a_search_skips_a_value_without_an_image() {
    let lab = Lab::new().recipe(&of_images("echo 1"));
    let values = format!("{},{},{}", missing_image(), image("busybox"), image("nonroot"));
    let arguments = ["bisect", "./recipe.yaml", "--along", "image", "--values", &values];
    let done = lab.retrial(&arguments).expect_exit(5).prints("is an end of the search");
    assert!(done.out.contains("no such tag"), "{}", done.out);
}

#[test]
#[ignore = "needs the lab"]
fn an_image_without_code_for_the_gpus_fails_only_its_cell() {
    let host = Host::plant();
    let keys = "params:\n  image: { type: string }\nimage: ${{ params.image }}\nrequires: { gpus: { vendor: amd, count: 1 } }\n";
    let lab = Lab::new().recipe(&recipe_with(keys, &case("main", "echo 1", "")));
    // By their names, a release without code for gfx950, and one with it.
    let names = ["rocm6.2", "rocm7.2"]
        .map(|tag| format!("{}:{tag}", image("busybox").trim_end_matches(":1")));
    for name in &names {
        lab.docker(&["tag", &image("busybox"), name]);
    }
    let more = ["--trials", "2", "--root", host.root()];
    let done = batch(&lab, &format!("image={}", names.join(",")), &more);
    done.expect_exit(3).prints("does not support gfx950");
    let verdict = lab.batch_verdict();
    assert_eq!(failures(&verdict), [Value::from("unsupported_gpu"), Value::Null]);
    assert_eq!(lab.started_runs().len(), 2);
    for name in &names {
        lab.docker(&["rmi", name]);
    }
}

//! Directories that are filled once and kept for later runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::lab::{Lab, case, image, recipe_with};

/// A recipe whose dataset is kept; what it fills it with, what more it says, and what is measured.
fn keeps(image: &str, commands: &str, more: &str, measured: &str) -> String {
    let indent = |text: &str| text.replace('\n', "\n      ");
    let keys = format!(
        "{image}\ndatasets:\n  data:\n    run: |\n      {}\n    {}",
        indent(commands),
        more.replace('\n', "\n    ")
    );
    recipe_with(&keys, &case("main", measured, ""))
}

const KEEP: &str = "keep: { path: /data, key: data }";
const DOWNLOAD: &str = "echo downloading; echo content >/data/file";

/// The SHA-256 of `content\n`.
const HASH: &str = "434728a410a78f56fc1b5899c3593436e61ab0c731e9072d95e96db290205e53";

fn listed(size: u64, hash: &str) -> String {
    format!(
        "keep: {{ path: /data, key: data, files: {{ file: {{ size: {size}, sha256: {hash} }} }} }}"
    )
}

/// Directories below the cache that are kept, whole.
fn kept(cache: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let keys = below(&cache.join("kept")).into_iter();
    let names = keys
        .filter(|key| !key.ends_with(".locks"))
        .flat_map(|key| below(&key));
    names
        .map(|name| name.join("current/content"))
        .filter(|content| content.is_dir())
        .collect()
}

/// What was decided in the step, last.
fn decision(lab: &Lab) -> String {
    let journal = lab.journal().into_iter();
    let mut decisions = journal
        .filter(|entry| entry["name"] == "dataset-data" && entry["event"] == "decided")
        .map(|entry| entry["decision"].as_str().unwrap().to_owned());
    decisions.next_back().unwrap_or_default()
}

/// Another home with the same cache.
fn beside(lab: &Lab) -> Lab {
    let cache = lab.path("cache");
    Lab::new()
        .unwrap()
        .env("RETRIAL_CACHE", cache.to_str().unwrap())
}

#[test]
fn a_directory_is_filled_once_and_mounted_read_only() {
    let Some(lab) = Lab::new() else { return };
    let measured = "cat /data/file\n(echo spoiled >/data/file) 2>/dev/null || echo read-only\nawk '$2 == \"/data\" {print $4}' /proc/mounts | cut -d, -f1";
    let text = keeps("", DOWNLOAD, KEEP, measured);
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), "downloading\n");
    assert!(
        decision(&lab).starts_with("filled data/"),
        "{}",
        decision(&lab)
    );
    let seen = "content\nread-only\nro\nspeed: 42.5 MB/s\n";
    assert_eq!(lab.output("04-main-performance"), seen);
    assert_eq!(lab.containers(), [""; 0]);

    let second = beside(&lab).recipe(&text);
    second.run(&[]).expect_exit(0);
    let decided = decision(&second);
    assert!(decided.starts_with("kept already as data/"), "{decided}");
    assert!(decided.contains(&lab.id()), "{decided}");
    assert_eq!(second.output("04-main-performance"), seen);
    let output = second.the_run().join("steps/02-dataset-data/output.log");
    assert!(!output.exists(), "the command did not run again");
    let plan = second.retrial(&["plan", "./recipe.yaml"]).expect_exit(0);
    plan.says("02 dataset-data  [unless kept as data]")
        .says("data at /data (read-only)");
}

#[test]
fn it_begins_with_what_the_image_has_and_belongs_to_that_image() {
    let Some(lab) = Lab::new() else { return };
    let nonce = std::process::id();
    let build = "image: { build: { context: ., dockerfile: Dockerfile } }";
    let dockerfile = |version: &str| {
        format!(
            "FROM debian:bookworm-slim\nRUN mkdir -p /data/deep && echo {version} {nonce} >/data/deep/seed && ln -s deep/seed /data/link && chown -R 1234 /data/deep\n"
        )
    };
    let commands = "stat -c %u /data/deep/seed; cat /data/link; echo more >/data/more";
    let measured = "ls /data; cat /data/link";
    let text = keeps(build, commands, KEEP, measured);
    let lab = lab.recipe(&text).beside("Dockerfile", &dockerfile("one"));
    lab.run(&[]).expect_exit(0);
    assert_eq!(
        lab.output("02-dataset-data"),
        format!("1234\none {nonce}\n")
    );
    let seen = format!("deep\nlink\nmore\none {nonce}\nspeed: 42.5 MB/s\n");
    assert_eq!(lab.output("04-main-performance"), seen);

    let other = beside(&lab)
        .recipe(&text)
        .beside("Dockerfile", &dockerfile("two"));
    other.run(&[]).expect_exit(0);
    assert!(
        decision(&other).starts_with("filled"),
        "{}",
        decision(&other)
    );
    assert!(other.output("04-main-performance").contains("two"));
    assert_eq!(kept(&lab.path("cache")).len(), 2);
}

#[test]
fn what_is_listed_whole_is_shared_over_images() {
    let Some(lab) = Lab::new() else { return };
    let text = |image: &str| keeps(image, DOWNLOAD, &listed(8, HASH), "cat /data/file");
    let lab = lab.recipe(&text(""));
    lab.run(&[]).expect_exit(0);
    let other = beside(&lab).recipe(&text(&format!("image: {}", image("busybox"))));
    other.run(&[]).expect_exit(0);
    assert!(
        decision(&other).starts_with("kept already"),
        "{}",
        decision(&other)
    );
    assert_eq!(kept(&lab.path("cache")).len(), 1);
}

#[test]
fn what_is_not_as_listed_is_not_kept() {
    let Some(lab) = Lab::new() else { return };
    for (listed, said) in [
        (listed(8, &HASH.replace('4', "5")), "has the SHA-256"),
        (listed(9, HASH), "file has 8 bytes; the recipe says 9"),
        (
            "keep: { path: /data, key: data, files: { absent: { size: 1 } } }".to_owned(),
            "absent is not there",
        ),
    ] {
        let lab = Lab::new()
            .unwrap()
            .recipe(&keeps("", DOWNLOAD, &listed, "true"));
        lab.run(&[])
            .expect_exit(4)
            .says(said)
            .says("nothing of it was kept");
        assert!(kept(&lab.path("cache")).is_empty());
        assert!(Lab::files_with(&lab.path("cache"), "content").is_empty());
        assert_eq!(lab.containers(), [""; 0]);
    }
    let lab = lab.recipe(&keeps("", "echo half >/data/file; exit 3", KEEP, "true"));
    lab.run(&[]).expect_exit(4).says("exit code 3");
    assert!(kept(&lab.path("cache")).is_empty());
}

#[test]
fn a_fill_that_was_killed_is_taken_up_or_done_anew() {
    let Some(lab) = Lab::new() else { return };
    let commands = "echo half >/data/file; cat /proc/sys/kernel/random/uuid; echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done; echo content >/data/file";
    let text = keeps("", commands, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    let going = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    going.kill();
    assert!(kept(&lab.path("cache")).is_empty());
    let begun = lab.output("02-dataset-data");

    // Taken up where it stands.
    let mut resumed = lab.start_retrial(&["resume", "last"]);
    lab.until("it is followed", |lab| {
        lab.count("dataset-data", "step_followed") > 0
    });
    fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    resumed.end().expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), begun, "the same process");
    assert_eq!(
        lab.output("04-main-performance"),
        "content\nspeed: 42.5 MB/s\n"
    );
    assert_eq!(lab.containers(), [""; 0]);

    // Another run finds no half of it, and fills it anew.
    let lab = Lab::new().unwrap().recipe(&text);
    let going = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    going.kill();
    lab.docker(&["rm", "-f", &lab.container()]);
    let other = beside(&lab).recipe(&text);
    let mut going = other.start(&[]);
    other.until_printed("02-dataset-data", "going");
    fs::write(other.the_run().join("control/go-on"), "").unwrap();
    going.end().expect_exit(0);
    assert!(
        decision(&other).starts_with("filled"),
        "{}",
        decision(&other)
    );
    assert_eq!(
        other.output("04-main-performance"),
        "content\nspeed: 42.5 MB/s\n"
    );
    // And the first one, resumed, takes that.
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(
        decision(&lab).starts_with("kept already"),
        "{}",
        decision(&lab)
    );
    assert_eq!(kept(&lab.path("cache")).len(), 1);
    assert!(Lab::files_with(&lab.path("cache"), "half").is_empty());
}

/// Killed at every event of the journal, and resumed each time.
#[test]
fn a_fill_can_be_killed_at_any_moment() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "cat /data/file"));
    let mut seen = 0;
    let mut going = lab.start(&[]);
    loop {
        lab.until("something happened", |lab| lab.journal().len() > seen);
        let journal = lab.journal();
        if journal.last().unwrap()["event"] == "run_ended" {
            break;
        }
        seen = journal.len();
        // One that comes far in one go is let go on.
        if seen < 60 {
            going.kill();
            seen = lab.journal().len();
            going = lab.start_retrial(&["resume", "last"]);
        }
    }
    going.end().expect_exit(0);
    assert_eq!(
        lab.output("04-main-performance"),
        "content\nspeed: 42.5 MB/s\n"
    );
    assert_eq!(kept(&lab.path("cache")).len(), 1);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
fn what_is_not_whole_any_more_is_filled_anew() {
    let Some(lab) = Lab::new() else { return };
    let text = keeps("", DOWNLOAD, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    let file = kept(&lab.path("cache"))[0].join("file");

    // Longer; the same length and another time; nothing but another time.
    for (spoiled, said) in [
        (Some("content and more\n"), "file has 17 bytes; it had 8"),
        (Some("contenT\n"), "the content of file is not what it was"),
        (None, ""),
    ] {
        fs::write(&file, spoiled.unwrap_or("content\n")).unwrap();
        let again = beside(&lab).recipe(&text);
        let done = again.run(&[]).expect_exit(0);
        if spoiled.is_some() {
            done.says(said).says("filled anew");
            assert_eq!(again.output("02-dataset-data"), "downloading\n");
        } else {
            assert!(decision(&again).starts_with("kept already"));
        }
        assert_eq!(
            again.output("04-main-performance"),
            "content\nspeed: 42.5 MB/s\n"
        );
    }

    // What only a look at every byte can tell.
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "CONTENT\n").unwrap();
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(modified).unwrap();
    let again = beside(&lab).recipe(&text);
    again
        .run(&["--verify-kept"])
        .expect_exit(0)
        .says("the content of file is not what it was");
    assert_eq!(
        again.output("04-main-performance"),
        "content\nspeed: 42.5 MB/s\n"
    );
}

#[test]
fn two_runs_share_the_work() {
    let Some(lab) = Lab::new() else { return };
    let commands = "echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done; echo content >/data/file";
    let text = keeps("", commands, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    let mut first = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    let other = beside(&lab).recipe(&text);
    let mut second = other.start(&[]);
    other.until("it waits", |other| decision(other).starts_with("waits for"));
    assert!(decision(&other).contains(&lab.id()), "{}", decision(&other));
    fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    first.end().expect_exit(0);
    second.end().expect_exit(0);
    assert!(decision(&other).starts_with("kept already"));
    assert!(!other.the_run().join("steps/02-dataset-data").exists());
}

#[test]
fn a_waiting_run_can_be_stopped() {
    let Some(lab) = Lab::new() else { return };
    let commands = "echo going; sleep 60";
    let text = keeps("", commands, KEEP, "true");
    let lab = lab.recipe(&text);
    let mut first = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    let other = beside(&lab).recipe(&text);
    let mut second = other.start(&[]);
    other.until("it waits", |other| decision(other).starts_with("waits for"));
    second.signal("INT");
    second.end().expect_exit(130);
    first.signal("INT");
    first.end().expect_exit(130);
    assert_eq!(lab.containers(), [""; 0]);
    assert!(kept(&lab.path("cache")).is_empty());
    let left = fs::read_dir(lab.path("cache/kept/data")).unwrap();
    assert_eq!(left.count(), 0, "nothing of it is left");
}

#[test]
fn a_writable_one_stays_so_and_any_user_of_the_image_writes() {
    let Some(lab) = Lab::new() else { return };
    let nonroot = format!("image: {}", image("nonroot"));
    let more = format!("{KEEP}\nwritable: true");
    let commands = "id -u; echo one >/data/file; mkdir /data/sub; chmod 700 /data/sub; touch /data/sub/x; chmod 0 /data/sub/x";
    let measured = "id -u; echo more >>/data/file; cat /data/file; cat /data/sub/x";
    let text = keeps(&nonroot, commands, &more, measured);
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), "1000\n");
    assert_eq!(
        lab.output("04-main-performance"),
        "1000\none\nmore\nspeed: 42.5 MB/s\n"
    );
    let again = beside(&lab).recipe(&text);
    again.run(&[]).expect_exit(0);
    assert!(decision(&again).starts_with("kept already"));
    assert!(
        again
            .output("04-main-performance")
            .starts_with("1000\none\nmore\nmore\n")
    );
}

/// As v4.1's quantization does: a part of the model's directory is made by a step.
#[test]
fn a_directory_inside_a_model_can_be_kept() {
    let Some(lab) = Lab::new() else { return };
    let keys = "models:\n  weights: { source: { path: MODEL }, mount: /model, writable: [quantized] }\nsetup:\n  quantize:\n    run: tr a-z A-Z </model/weights >/model/quantized/weights\n    keep: { path: /model/quantized, key: quantized }";
    let model = lab.path("model");
    fs::create_dir(&model).unwrap();
    fs::write(model.join("weights"), "abc\n").unwrap();
    let keys = keys.replace("MODEL", model.to_str().unwrap());
    let text = recipe_with(
        &keys,
        &case("main", "cat /model/weights /model/quantized/weights", ""),
    );
    let lab = lab.recipe(&text);
    for _ in 0..2 {
        lab.run(&["--allow", "mounts"]).expect_exit(0);
    }
    for run in lab.runs() {
        let output = fs::read_to_string(run.join("steps/04-main-performance/output.log")).unwrap();
        assert_eq!(output, "abc\nABC\nspeed: 42.5 MB/s\n");
    }
    assert_eq!(kept(&lab.path("cache")).len(), 1);
    // Of another model it would be another one.
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("weights"), "xyz\n").unwrap();
    let lab = lab.recipe(&text.replace(model.to_str().unwrap(), other.to_str().unwrap()));
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    assert_eq!(kept(&lab.path("cache")).len(), 2);
}

#[test]
fn what_is_kept_is_told_and_removed() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "true"));
    lab.retrial(&["clean", "--kept"])
        .expect_exit(0)
        .says("nothing is kept");
    lab.run(&[]).expect_exit(0);
    let id = lab.id();
    lab.retrial(&["clean", "--kept"])
        .expect_exit(0)
        .says("data/")
        .says("KiB")
        .says(&id);
    lab.retrial(&["clean", "--kept", "other"]).expect_exit(2);
    lab.retrial(&["clean", "--kept", "data", "--dry-run"])
        .expect_exit(0)
        .says("would remove data/");
    assert_eq!(kept(&lab.path("cache")).len(), 1);
    lab.retrial(&["clean", "--kept", "data"])
        .expect_exit(0)
        .says("removed data/");
    assert!(kept(&lab.path("cache")).is_empty());
}

#[test]
fn what_a_container_has_mounted_is_not_removed() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "echo going; sleep 60"));
    let mut going = lab.start(&[]);
    lab.until_printed("04-main-performance", "going");
    lab.retrial(&["clean", "--kept", "data"])
        .expect_exit(0)
        .says("left alone");
    assert_eq!(kept(&lab.path("cache")).len(), 1);
    going.signal("INT");
    going.end().expect_exit(130);
}

/// The script does the same, and finds what the run kept.
#[test]
fn the_shell_plan_does_the_same() {
    let Some(lab) = Lab::new() else { return };
    let text = keeps("", DOWNLOAD, &listed(8, HASH), "cat /data/file");
    let lab = lab.recipe(&text);
    let script = |lab: &Lab| {
        let plan = lab.retrial(&["plan", "./recipe.yaml", "--format", "shell"]);
        let name = format!("flow-kept-{}", std::process::id());
        let text = plan
            .expect_exit(0)
            .out
            .replace(" recipe", &format!(" {name}"));
        let output = std::process::Command::new("sh")
            .args(["-c", &text])
            .current_dir(lab.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}\n---\n{said}\n{errors}");
        said
    };
    let said = script(&lab);
    assert!(
        said.contains("downloading\n") && said.contains("content\n"),
        "{said}"
    );
    assert!(!script(&lab).contains("downloading"), "it is kept");
    // What nobody wrote down is looked at before it is taken over.
    lab.run(&[]).expect_exit(0);
    assert!(decision(&lab).starts_with("kept already"));
    lab.retrial(&["clean", "--kept", "data"]).expect_exit(0);
    let again = beside(&lab).recipe(&text);
    again.run(&[]).expect_exit(0);
    assert!(decision(&again).starts_with("filled"));
    assert!(
        !script(&lab).contains("downloading"),
        "what `run` keeps, too"
    );
}

#[test]
fn a_container_that_failed_to_fill_can_be_looked_into() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.recipe(&keeps("", "echo half >/data/file; exit 3", KEEP, "true"));
    lab.run(&["--keep", "on-failure"])
        .expect_exit(4)
        .says("retrial shell");
    let seen = lab.docker(&["exec", &lab.container(), "cat", "/data/file"]);
    assert_eq!(seen, "half");
    lab.retrial(&["clean", "last"]).expect_exit(0);
    assert_eq!(lab.containers(), [""; 0]);
}

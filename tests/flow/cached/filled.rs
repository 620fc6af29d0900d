//! Populating a cached directory: checked, killed, populated again.

use std::fs;

use super::{DOWNLOAD, HASH, KEEP, cached, decision, keeps, listed, sharing_cache};
use crate::lab::{Lab, image};

#[test]
#[ignore = "needs the lab"]
fn a_directory_is_populated_once_and_mounted_read_only() {
    let lab = Lab::new();
    let measured = "cat /data/file\n(echo spoiled >/data/file) 2>/dev/null || echo read-only\nawk '$2 == \"/data\" {print $4}' /proc/mounts | cut -d, -f1";
    let text = keeps("", DOWNLOAD, KEEP, measured);
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), "downloading\n");
    assert!(decision(&lab).starts_with("populated data/"), "{}", decision(&lab));
    let printed = "content\nread-only\nro\nspeed: 42.5 MB/s\n";
    assert_eq!(lab.output("04-main-performance"), printed);
    assert_eq!(lab.containers(), [""; 0]);

    let second = sharing_cache(&lab).recipe(&text);
    second.run(&[]).expect_exit(0);
    let decided = decision(&second);
    assert!(decided.starts_with("cache hit: data/"), "{decided}");
    assert!(decided.contains(&lab.id()), "{decided}");
    assert_eq!(second.output("04-main-performance"), printed);
    let output = second.the_run().join("steps/02-dataset-data/output.log");
    assert!(!output.exists(), "the command did not run again");
    let plan = second.retrial(&["plan", "./recipe.yaml"]).expect_exit(0);
    plan.prints("02 dataset-data  [unless cached as data]").prints("data:/data:ro");
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_starts_with_image_content_and_is_per_image() {
    let lab = Lab::new();
    let nonce = std::process::id();
    let build = "image: { build: { context: image, dockerfile: Dockerfile } }";
    let dockerfile = |version: &str| {
        format!(
            "FROM debian:bookworm-slim\nRUN mkdir -p /data/deep && echo {version} {nonce} >/data/deep/seed && ln -s deep/seed /data/link && chown -R 1234 /data/deep\n"
        )
    };
    let commands = "stat -c %u /data/deep/seed; cat /data/link; echo more >/data/more";
    let measured = "ls /data; cat /data/link";
    let text = keeps(build, commands, KEEP, measured);
    let lab = lab.recipe(&text).file("image/Dockerfile", &dockerfile("one"));
    lab.run(&[]).expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), format!("1234\none {nonce}\n"));
    let printed = format!("deep\nlink\nmore\none {nonce}\nspeed: 42.5 MB/s\n");
    assert_eq!(lab.output("04-main-performance"), printed);

    let other = sharing_cache(&lab).recipe(&text).file("image/Dockerfile", &dockerfile("two"));
    other.run(&[]).expect_exit(0);
    assert!(decision(&other).starts_with("populated"), "{}", decision(&other));
    assert!(other.output("04-main-performance").contains("two"));
    assert_eq!(cached(&lab.path("cache")).len(), 2);
}

#[test]
#[ignore = "needs the lab"]
fn fully_listed_directories_are_shared_between_images() {
    let lab = Lab::new();
    let text = |image: &str| keeps(image, DOWNLOAD, &listed(8, HASH), "cat /data/file");
    let lab = lab.recipe(&text(""));
    lab.run(&[]).expect_exit(0);
    let other = sharing_cache(&lab).recipe(&text(&format!("image: {}", image("busybox"))));
    other.run(&[]).expect_exit(0);
    assert!(decision(&other).starts_with("cache hit"), "{}", decision(&other));
    assert_eq!(cached(&lab.path("cache")).len(), 1);
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_that_differs_from_the_list_is_not_cached() {
    let lab = Lab::new();
    for (listed, message) in [
        (listed(8, &HASH.replace('4', "5")), "has the SHA-256"),
        (listed(9, HASH), "file has 8 bytes; the recipe requires 9"),
        (
            "cache: { path: /data, key: data, files: { absent: { size: 1 } } }".to_owned(),
            "absent is missing",
        ),
    ] {
        let lab = Lab::new().recipe(&keeps("", DOWNLOAD, &listed, "true"));
        lab.run(&[]).expect_exit(4).prints(message).prints("nothing of it is cached");
        assert!(cached(&lab.path("cache")).is_empty());
        assert!(Lab::files_with(&lab.path("cache"), "content").is_empty());
        assert_eq!(lab.containers(), [""; 0]);
    }
    let lab = lab.recipe(&keeps("", "echo half >/data/file; exit 3", KEEP, "true"));
    lab.run(&[]).expect_exit(4).prints("exit code 3");
    assert!(cached(&lab.path("cache")).is_empty());
}

#[test]
#[ignore = "needs the lab"]
fn a_killed_population_is_reattached_or_repeated() {
    let lab = Lab::new();
    let commands = "echo half >/data/file; cat /proc/sys/kernel/random/uuid; echo going; for i in $(seq 1 600); do test ! -e /.retrial/go-on || break; sleep 0.05; done; echo content >/data/file";
    let text = keeps("", commands, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    let going = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    going.kill();
    assert!(cached(&lab.path("cache")).is_empty());
    let begun = lab.output("02-dataset-data");

    // It resumes where it was killed.
    let mut resumed = lab.start_retrial(&["resume", "last"]);
    lab.until("it is followed", |lab| lab.count("dataset-data", "step_reattached") > 0);
    fs::write(lab.the_run().join("control/go-on"), "").unwrap();
    resumed.end().expect_exit(0);
    assert_eq!(lab.output("02-dataset-data"), begun, "the same process");
    assert_eq!(lab.output("04-main-performance"), "content\nspeed: 42.5 MB/s\n");
    assert_eq!(lab.containers(), [""; 0]);

    // Another run finds no partial content, and populates it again.
    let lab = Lab::new().recipe(&text);
    let going = lab.start(&[]);
    lab.until_printed("02-dataset-data", "going");
    going.kill();
    lab.docker(&["rm", "-f", &lab.container()]);
    let other = sharing_cache(&lab).recipe(&text);
    let mut going = other.start(&[]);
    other.until_printed("02-dataset-data", "going");
    fs::write(other.the_run().join("control/go-on"), "").unwrap();
    going.end().expect_exit(0);
    assert!(decision(&other).starts_with("populated"), "{}", decision(&other));
    assert_eq!(other.output("04-main-performance"), "content\nspeed: 42.5 MB/s\n");
    // And the first one, resumed, takes that.
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(decision(&lab).starts_with("cache hit"), "{}", decision(&lab));
    assert_eq!(cached(&lab.path("cache")).len(), 1);
    assert!(Lab::files_with(&lab.path("cache"), "half").is_empty());
}

/// Killed at every event of the journal, and resumed each time.
#[test]
#[ignore = "needs the lab"]
fn populating_can_be_killed_at_any_moment() {
    let lab = Lab::new();
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "cat /data/file"));
    let mut events = 0;
    let mut going = lab.start(&[]);
    loop {
        lab.until("something happened", |lab| lab.journal().len() > events);
        let journal = lab.journal();
        if journal.last().unwrap()["event"] == "run_ended" {
            break;
        }
        events = journal.len();
        // A run that gets far without a kill may continue.
        if events < 60 {
            going.kill();
            events = lab.journal().len();
            going = lab.start_retrial(&["resume", "last"]);
        }
    }
    going.end().expect_exit(0);
    assert_eq!(lab.output("04-main-performance"), "content\nspeed: 42.5 MB/s\n");
    assert_eq!(cached(&lab.path("cache")).len(), 1);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs the lab"]
fn a_changed_directory_is_populated_again() {
    let lab = Lab::new();
    let text = keeps("", DOWNLOAD, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    let file = cached(&lab.path("cache"))[0].join("file");

    // Longer; the same length and another time; nothing but another time.
    for (spoiled, message) in [
        (Some("content and more\n"), "file has 17 bytes; it had 8"),
        (Some("contenT\n"), "the content of file changed"),
        (None, ""),
    ] {
        fs::write(&file, spoiled.unwrap_or("content\n")).unwrap();
        let again = sharing_cache(&lab).recipe(&text);
        let done = again.run(&[]).expect_exit(0);
        if spoiled.is_some() {
            done.prints(message).prints("populating it again");
            assert_eq!(again.output("02-dataset-data"), "downloading\n");
        } else {
            assert!(decision(&again).starts_with("cache hit"));
        }
        assert_eq!(again.output("04-main-performance"), "content\nspeed: 42.5 MB/s\n");
    }

    // Only reading every byte can detect this.
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "CONTENT\n").unwrap();
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(modified).unwrap();
    let again = sharing_cache(&lab).recipe(&text);
    again.run(&["--verify-cache"]).expect_exit(0).prints("the content of file changed");
    assert_eq!(again.output("04-main-performance"), "content\nspeed: 42.5 MB/s\n");
}

//! A cache carries nothing from one recipe into another that trusts different files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DOWNLOAD, HASH, KEEP, cached, decision, keeps, listed, sharing_cache};
use crate::lab::{Lab, case, recipe_with};

/// A recipe whose data set is the work of a companion file.
const BY_COMPANION: &str = "files: { tools/get.sh: /tools/get.sh }";

fn populated_by(lab: Lab, script: &str) -> Lab {
    let text = keeps(BY_COMPANION, "sh /tools/get.sh", KEEP, "cat /data/file");
    lab.recipe(&text).file("tools/get.sh", script)
}

/// The only directory of the key `data`, with all that belongs to it.
fn directory(cache: &Path) -> PathBuf {
    let content = cached(cache).remove(0);
    content.ancestors().nth(2).unwrap().to_owned()
}

#[test]
#[ignore = "needs the lab"]
fn unlisted_files_are_not_cached_with_a_complete_list() {
    for (extra, named) in [
        ("echo 'echo poison' >/data/x.sh", "x.sh"),
        ("ln -s /etc/passwd /data/link", "link"),
        ("mkdir -p /data/deep/empty", "deep"),
    ] {
        let lab = Lab::new();
        let commands = format!("{DOWNLOAD}; {extra}");
        let evil = lab.recipe(&keeps("", &commands, &listed(8, HASH), "true"));
        evil.run(&[]).expect_exit(4).prints(&format!("the recipe does not list {named}"));
        let trusted = sharing_cache(&evil);
        let trusted = trusted.recipe(&keeps("", DOWNLOAD, &listed(8, HASH), "ls /data"));
        trusted.run(&[]).expect_exit(0);
        let printed = "file\nspeed: 42.5 MB/s\n";
        assert_eq!(trusted.output("04-main-performance"), printed);
    }
}

/// An image with a program of the attacker in place of one that the step calls.
#[test]
#[ignore = "needs the lab"]
fn an_image_cannot_smuggle_a_file_into_a_listed_directory() {
    let lab = Lab::new();
    let build = "image: { build: { context: image, dockerfile: Dockerfile } }";
    let dockerfile =
        "FROM debian:bookworm-slim\nRUN mkdir /data && echo 'echo poison' >/data/x.sh\n";
    let evil = lab
        .recipe(&keeps(build, DOWNLOAD, &listed(8, HASH), "true"))
        .file("image/Dockerfile", dockerfile);
    evil.run(&[]).expect_exit(4).prints("does not list x.sh");
    let sources = "[ ! -e /data/x.sh ] || . /data/x.sh";
    let trusted = sharing_cache(&evil).recipe(&keeps("", DOWNLOAD, &listed(8, HASH), sources));
    trusted.run(&[]).expect_exit(0);
    assert_eq!(trusted.output("04-main-performance"), "speed: 42.5 MB/s\n");
}

#[test]
#[ignore = "needs the lab"]
fn a_listed_directory_with_an_added_entry_is_populated_again() {
    type Change = fn(&Path);
    let changes: [(Change, &str); 6] = [
        (|content| fs::write(content.join("x.sh"), "echo poison").unwrap(), "x.sh was added"),
        (|content| symlink("file", content.join("link")).unwrap(), "its links changed"),
        (
            |content| {
                fs::rename(content.join("file"), content.join("../file")).unwrap();
                symlink("../file", content.join("file")).unwrap();
            },
            "file is missing",
        ),
        (
            |content| {
                let mut pipe = Command::new("mkfifo");
                let made = pipe.arg(content.join("pipe")).status().unwrap();
                assert!(made.success());
            },
            "pipe is a pipe",
        ),
        (
            |content| {
                let mode = fs::Permissions::from_mode(0o4755);
                fs::set_permissions(content.join("file"), mode).unwrap();
            },
            "file runs as its owner",
        ),
        (
            |content| {
                fs::rename(content, content.with_file_name("real")).unwrap();
                symlink("real", content).unwrap();
            },
            "it is not a directory",
        ),
    ];
    let text = keeps("", DOWNLOAD, &listed(8, HASH), "cat /data/file; ls /data");
    let lab = Lab::new();
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    for (change, message) in changes {
        change(&directory(&lab.path("cache")).join("current/content"));
        let again = sharing_cache(&lab).recipe(&text);
        again.run(&[]).expect_exit(0).prints(message);
        let printed = "content\nfile\nspeed: 42.5 MB/s\n";
        assert_eq!(again.output("04-main-performance"), printed);
    }
}

/// Sizes and times are those of before: only the time of change, which cannot be set, differs.
#[test]
#[ignore = "needs the lab"]
fn a_forged_time_does_not_hide_a_changed_file() {
    let lab = Lab::new();
    let text = keeps("", DOWNLOAD, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    let file = cached(&lab.path("cache"))[0].join("file");
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "POISON!\n").unwrap();
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(modified).unwrap();
    let again = sharing_cache(&lab).recipe(&text);
    again.run(&[]).expect_exit(0).prints("the content of file changed");
    let printed = "content\nspeed: 42.5 MB/s\n";
    assert_eq!(again.output("04-main-performance"), printed);
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_is_that_of_the_files_that_populated_it() {
    let lab = Lab::new();
    let evil = populated_by(lab, "echo poison >/data/file");
    evil.run(&[]).expect_exit(0);
    let trusted = populated_by(sharing_cache(&evil), "echo content >/data/file");
    trusted.run(&[]).expect_exit(0);
    assert!(decision(&trusted).starts_with("populated"));
    let printed = "content\nspeed: 42.5 MB/s\n";
    assert_eq!(trusted.output("04-main-performance"), printed);
    // With the same files elsewhere it is the same one.
    let moved = populated_by(sharing_cache(&evil), "echo content >/data/file");
    moved.run(&[]).expect_exit(0);
    assert!(decision(&moved).starts_with("cache hit"));
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_is_that_of_the_container_that_populated_it() {
    for container in [
        "container: { env: { SOURCE: poison } }",
        "container: { env: { PATH: '/evil:/usr/bin:/bin' } }",
        "container: { network: none }",
        "container: { user: '1000' }",
    ] {
        let lab = Lab::new();
        let commands = "echo ${SOURCE:-content} >/data/file";
        let evil = lab.recipe(&keeps(container, commands, KEEP, "cat /data/file"));
        evil.run(&[]).expect_exit(0);
        let trusted = sharing_cache(&evil).recipe(&keeps("", commands, KEEP, "cat /data/file"));
        trusted.run(&[]).expect_exit(0);
        assert!(decision(&trusted).starts_with("populated"), "{container}");
        let printed = "content\nspeed: 42.5 MB/s\n";
        assert_eq!(trusted.output("04-main-performance"), printed);
    }
}

/// Steps may write to it later, so that the command that populates it says too little.
#[test]
#[ignore = "needs the lab"]
fn a_writable_directory_belongs_to_one_recipe() {
    let lab = Lab::new();
    let more = format!("{KEEP}\nwritable: true");
    let evil = lab.recipe(&keeps("", DOWNLOAD, &more, "echo poison >/data/file"));
    evil.run(&[]).expect_exit(0);
    let trusted = sharing_cache(&evil).recipe(&keeps("", DOWNLOAD, &more, "cat /data/file"));
    trusted.run(&[]).expect_exit(0);
    let printed = "content\nspeed: 42.5 MB/s\n";
    assert_eq!(trusted.output("04-main-performance"), printed);
}

/// As if the names of two directories were equal: their whole identities differ.
#[test]
#[ignore = "needs the lab"]
fn directories_whose_names_collide_are_different_ones() {
    let lab = Lab::new();
    let trusted = keeps("", DOWNLOAD, KEEP, "cat /data/file");
    let lab = lab.recipe(&trusted);
    lab.run(&[]).expect_exit(0);
    let name = directory(&lab.path("cache"));
    fs::remove_dir_all(&name).unwrap();
    let evil = sharing_cache(&lab).recipe(&keeps("", "echo poison >/data/file", KEEP, "true"));
    evil.run(&[]).expect_exit(0);
    fs::rename(directory(&lab.path("cache")), &name).unwrap();

    let mut others = [sharing_cache(&lab), sharing_cache(&lab)].map(|lab| lab.recipe(&trusted));
    for (other, decided) in others.iter_mut().zip(["populated", "cache hit"]) {
        other.run(&[]).expect_exit(0);
        assert!(decision(other).starts_with(decided), "{}", decision(other));
        let printed = "content\nspeed: 42.5 MB/s\n";
        assert_eq!(other.output("04-main-performance"), printed);
    }
    assert_eq!(cached(&lab.path("cache")).len(), 2);
    lab.retrial(&["clean", "--cached", "data"]).expect_exit(0);
    assert!(cached(&lab.path("cache")).is_empty());
}

/// A directory of another version has no identity: nothing of it is used, and `clean` removes it.
#[test]
#[ignore = "needs the lab"]
fn a_directory_without_an_identity_is_never_a_hit() {
    let lab = Lab::new();
    let text = keeps("", DOWNLOAD, KEEP, "cat /data/file");
    let lab = lab.recipe(&text);
    lab.run(&[]).expect_exit(0);
    let current = directory(&lab.path("cache")).join("current");
    fs::remove_file(current.join("identity")).unwrap();
    fs::write(current.join("content/file"), "poison\n").unwrap();
    let again = sharing_cache(&lab).recipe(&text);
    again.run(&[]).expect_exit(0);
    let printed = "content\nspeed: 42.5 MB/s\n";
    assert_eq!(again.output("04-main-performance"), printed);
    lab.retrial(&["clean", "--cached", "data"]).expect_exit(0);
    assert!(cached(&lab.path("cache")).is_empty());
}

#[test]
#[ignore = "needs the lab"]
fn a_cache_mount_is_that_of_the_recipes_files() {
    let compiles = |lab: Lab, script: &str| {
        let keys =
            format!("{BY_COMPANION}\ncontainer: {{ cache_mounts: {{ kernels: /kernels }} }}");
        let text = recipe_with(&keys, &case("main", "sh /tools/get.sh", ""));
        lab.recipe(&text).file("tools/get.sh", script)
    };
    let lab = Lab::new();
    let evil = compiles(lab, "echo poison >/kernels/kernel");
    evil.run(&[]).expect_exit(0);
    let trusted = compiles(sharing_cache(&evil), "cat /kernels/kernel || echo fresh");
    trusted.run(&[]).expect_exit(0).prints("nothing to reuse");
    assert!(trusted.output("03-main-performance").contains("fresh\n"));
}

/// The script of a shell plan checks the same.
#[test]
#[ignore = "needs the lab"]
fn a_shell_plan_caches_no_unlisted_files() {
    let lab = Lab::new();
    let script = |lab: &Lab| {
        let plan = lab.retrial(&["plan", "./recipe.yaml", "--format", "shell"]);
        let name = format!("flow-trust-{}", std::process::id());
        let text = plan.expect_exit(0).out;
        lab.script(&text.replace(" recipe", &format!(" {name}")))
    };
    let commands = format!("{DOWNLOAD}; echo 'echo poison' >/data/x.sh");
    let lab = lab.recipe(&keeps("", &commands, &listed(8, HASH), "true"));
    let output = script(&lab);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("does not list ./x.sh"), "{errors}");
    assert!(cached(&lab.path("cache")).is_empty());
    lab.docker(&["rm", "-f", &format!("flow-trust-{}-fill", std::process::id())]);

    // Without a list, what it caches is its own.
    let lab = lab.recipe(&keeps("", DOWNLOAD, KEEP, "cat /data/file"));
    assert!(script(&lab).status.success());
    lab.run(&[]).expect_exit(0);
    assert!(decision(&lab).starts_with("populated"));
}

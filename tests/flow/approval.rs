//! Approval covers what containers of every kind are given, and what the engine mounts is what was approved.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::disk::Small;
use crate::lab::{Lab, case, image, recipe_with};

/// A service in a container of its own, and a measurement that needs it.
fn served(run: &str, container: &str) -> String {
    let service = format!(
        "services:\n  server: {{ run: '{run}; echo serving; exec sleep 100', ready: {{ log: serving }}, container: {{ {container} }} }}"
    );
    recipe_with(&service, &case("main", "true", "needs: [server]"))
}

/// A data set whose container has the recipe's directory, and a container that mounts a directory in it.
fn replaced_by(target: &str, before: &str) -> String {
    let commands = format!("{before}rm -rf /own/sub; ln -s {target} /own/sub; echo x >/set/x");
    let keys = format!(
        "container: {{ network: host, mounts: ['./own:/own', './own/sub:/sub'] }}\ndatasets:\n  set: {{ run: '{commands}', cache: {{ key: set, path: /set }} }}"
    );
    recipe_with(&keys, &case("main", "ls /sub; touch /sub/written", ""))
}

#[test]
#[ignore = "needs the lab"]
fn a_link_that_a_service_mounts_needs_approval() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), lab.path("data")).unwrap();
    let lab = lab.recipe(&served("touch /data/written", "mounts: [\"./data:/data\"]"));
    let leads = format!("a link to {}", outside.path().display());
    lab.run(&[]).expect_exit(2).prints("--allow mounts").prints(&leads);
    assert!(lab.runs().is_empty(), "nothing was started");
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    assert!(outside.path().join("written").exists(), "it was approved as what it is");
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_that_a_data_set_replaces_by_a_link_is_one_of_its_copy() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(lab.path("own/sub")).unwrap();
    let lab = lab.recipe(&replaced_by(&outside.path().display().to_string(), ""));
    lab.run(&[]).expect_exit(0);
    assert!(!outside.path().join("written").exists());
    assert!(lab.the_run().join("writable/own%2Fsub/written").is_file());
    assert!(lab.path("own/sub").read_dir().unwrap().next().is_none(), "the recipe's is unchanged");
}

#[test]
#[ignore = "needs the lab"]
fn a_link_that_leads_elsewhere_after_approval_is_refused() {
    let lab = Lab::new();
    let (approved, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    symlink(approved.path(), &link).unwrap();
    let setup = "setup:\n  wait: { on: host, run: 'while [ ! -e go ]; do sleep 0.1; done' }";
    let keys = format!("container: {{ mounts: ['{}:/own'] }}\n{setup}", link.display());
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "touch /own/written", "")));
    let mut going = lab.start(&["--allow", "mounts,host"]);
    lab.until_begun("setup-wait");
    fs::remove_file(&link).unwrap();
    symlink(other.path(), &link).unwrap();
    let waits = |lab: &Lab| lab.the_run().join("host/files").is_dir();
    lab.until("the step waits", waits);
    fs::write(lab.the_run().join("host/files/go"), "").unwrap();
    going.end().expect_exit(2).prints("which was not approved");
    assert!(!other.path().join("written").exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_path_below_a_directory_that_a_container_writes_is_refused() {
    let lab = Lab::new();
    let data = tempfile::tempdir().unwrap();
    fs::create_dir(data.path().join("sub")).unwrap();
    let data = data.path().display();
    let text = |outer: &str, inner: &str| {
        let keys = format!("container: {{ mounts: ['{outer}:/outer'] }}");
        let service = served("true", &format!("mounts: ['{inner}:/inner']"));
        service.replacen("services:", &format!("{keys}\nservices:"), 1)
    };
    let below = format!("{data}/sub");
    let lab = lab.recipe(&text(&data.to_string(), &below));
    let refused = lab.run(&["--allow", "mounts"]).expect_exit(2);
    refused.prints("which a container of this run can write");
    // The same directory twice, and a part of one that is only read.
    let outer = data.to_string();
    for allowed in [text(&outer, &outer), text(&outer, &below).replace(":/outer'", ":/outer:ro'")] {
        fs::write(lab.path("recipe.yaml"), allowed).unwrap();
        lab.run(&["--allow", "mounts"]).expect_exit(0);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_path_that_another_user_can_replace_is_refused() {
    let lab = Lab::new();
    let shared = tempfile::tempdir().unwrap();
    fs::create_dir(shared.path().join("data")).unwrap();
    let data = shared.path().join("data");
    let keys = format!("container: {{ mounts: ['{}:/data'] }}", data.display());
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o777)).unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("in whose place they could put a link");
    fs::create_dir_all(lab.path("cache/directories/x")).unwrap();
    let cached = keys.replace(
        &data.display().to_string(),
        &lab.path("cache/directories/x").display().to_string(),
    );
    fs::write(lab.path("recipe.yaml"), recipe_with(&cached, &case("main", "true", ""))).unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("which containers can write");
    // Retrial's own: another container's control directory could become a link.
    let own = keys
        .replace(&data.display().to_string(), &lab.home_path().join("runs").display().to_string());
    fs::create_dir_all(lab.home_path().join("runs")).unwrap();
    fs::write(lab.path("recipe.yaml"), recipe_with(&own, &case("main", "true", ""))).unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("in a directory of Retrial's own");
    // Approvals are remembered there.
    let above = keys.replace(&data.display().to_string(), &lab.path("").display().to_string());
    fs::write(lab.path("recipe.yaml"), recipe_with(&above, &case("main", "true", ""))).unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("it could replace it");
    // A link that another user can replace.
    let private = tempfile::tempdir().unwrap();
    symlink(private.path(), shared.path().join("link")).unwrap();
    let linked = keys.replace("/data:", "/link:");
    fs::write(lab.path("recipe.yaml"), recipe_with(&linked, &case("main", "true", ""))).unwrap();
    lab.run(&["--allow", "mounts"]).expect_exit(2).prints("in whose place they could put a link");
    fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    lab.run(&[]).expect_exit(2).prints("other users can write it");
    // Only what was approved once is approved: others may have changed it since.
    for _ in 0..2 {
        let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
        asked.press("y\n");
        asked.end().expect_exit(0);
        lab.run(&[]).expect_exit(2);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_run_has_a_copy_of_the_recipes_files() {
    let lab = Lab::new();
    let lab = lab.file("own/figure", "42").file("tool.sh", "cat /own/figure\n").file("one", "");
    fs::set_permissions(lab.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let keys = "files: { tool.sh: /tool.sh }\ncontainer: { mounts: ['./own:/own', './one:/one'] }";
    let first = "echo going; while [ ! -e /own/go ]; do sleep 0.1; done";
    let second = "test -x /tool.sh; ! echo x 2>/dev/null >/tool.sh; echo 43 >>/own/figure; echo x >/one; /tool.sh";
    let cases = case("first", first, "") + &case("second", second, "");
    let lab = lab.recipe(&recipe_with(keys, &cases));
    let going = lab.start(&[]);
    lab.until_printed("03-first-performance", "going");
    going.kill();
    // A resumed run has its own copy, whatever happened to the recipe's files.
    fs::write(lab.path("tool.sh"), "exit 1\n").unwrap();
    fs::remove_dir_all(lab.path("own")).unwrap();
    let run = lab.the_run();
    fs::write(run.join("writable/own/go"), "").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(lab.output("04-second-performance").starts_with("4243\n"));
    assert_eq!(fs::read_to_string(run.join("companions/own/figure")).unwrap(), "42");
    assert_eq!(fs::read_to_string(run.join("writable/one")).unwrap(), "x\n");
}

#[test]
#[ignore = "needs the lab"]
fn a_changed_copy_is_not_used() {
    let lab = Lab::new().file("tool.sh", "true\n");
    let keys = "files: { tool.sh: /tool.sh }";
    let waits = "echo going; sleep 60";
    let lab = lab.recipe(&recipe_with(keys, &case("main", waits, "")));
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    fs::write(lab.the_run().join("companions/tool.sh"), "false\n").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(3).prints("not those that were approved");
}

#[test]
#[ignore = "needs the lab"]
fn a_container_leaves_no_set_user_id_file_and_no_device() {
    let lab = Lab::new();
    fs::create_dir(lab.path("own")).unwrap();
    let data = lab.path("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("before"), "").unwrap();
    fs::set_permissions(data.join("before"), fs::Permissions::from_mode(0o4755)).unwrap();
    // The file system's times have seconds.
    std::thread::sleep(Duration::from_secs(2));
    let commands = "for in in /own /data; do cp /bin/sh $in/sh; chmod 4755 $in/sh; mknod $in/null c 1 3; touch $in/x; done";
    let keys = format!("container: {{ mounts: ['./own:/own', '{}:/data'] }}", data.display());
    let lab = lab.recipe(&recipe_with(&keys, &case("main", commands, "")));
    let done = lab.run(&["--allow", "mounts"]).expect_exit(0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o6000;
    for directory in [lab.the_run().join("writable/own"), data.clone()] {
        let path = directory.join("sh");
        assert_eq!(mode(&path), 0, "{}", path.display());
        assert!(directory.join("x").exists() && !directory.join("null").exists());
        let text = path.display().to_string();
        assert!(lab.text("journal.jsonl").contains(&text), "{text}: {done:?}");
    }
    assert_eq!(mode(&data.join("before")), 0o4000, "another program's");
}

/// What is in them decides what runs: settings that approve, sites, control directories.
#[test]
#[ignore = "needs the lab"]
fn no_container_can_write_what_retrial_trusts() {
    let own = tempfile::tempdir().unwrap();
    let own = own.path().display().to_string();
    let (configuration, scratch) = (format!("{own}/settings"), format!("{own}/scratch/control"));
    for directory in [format!("{configuration}/retrial/sites"), scratch.clone()] {
        fs::create_dir_all(directory).unwrap();
    }
    let lab = Lab::new()
        .env("XDG_CONFIG_HOME", &configuration)
        .env("RETRIAL_SCRATCH", &scratch)
        .recipe("");
    let run = |mount: &str| {
        let keys = format!("container: {{ mounts: ['{mount}'] }}");
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.run(&["--allow", "mounts"])
    };
    let caches = lab.path("cache").display().to_string();
    fs::create_dir_all(&caches).unwrap();
    for within in ["settings/retrial", "settings/retrial/sites", "scratch/control"] {
        run(&format!("{own}/{within}:/own"))
            .expect_exit(2)
            .prints("in a directory of Retrial's own, which containers can write");
    }
    run(&format!("{caches}:/own")).expect_exit(2).prints("which containers can write");
    for above in ["", "/settings", "/scratch"] {
        run(&format!("{own}{above}:/own")).expect_exit(2).prints("it could replace it");
    }
    run(&format!("{own}/settings/retrial:/own:ro")).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn the_recipes_directory_and_private_directories_need_approval() {
    let lab = Lab::new().file("data/x", "");
    let with = |source: &str| {
        let keys = format!("container: {{ mounts: ['{source}:/own:ro'] }}");
        recipe_with(&keys, &case("main", "true", ""))
    };
    let lab = lab.recipe(&with("./"));
    lab.run(&[]).expect_exit(2).prints("the recipe's directory itself").prints("--allow mounts");
    fs::write(lab.path("recipe.yaml"), with("./data")).unwrap();
    lab.run(&[]).expect_exit(0);
    fs::create_dir(lab.path("data/.git")).unwrap();
    lab.run(&[]).expect_exit(2).prints("with a Git repository");
    fs::remove_dir(lab.path("data/.git")).unwrap();
    let root = lab.path("").display().to_string();
    let lab = lab.env("HOME", root.trim_end_matches('/'));
    lab.run(&[]).expect_exit(2).prints("in the home directory");
    fs::write(lab.path("recipe.yaml"), with("./cache")).unwrap();
    fs::create_dir_all(lab.path("cache")).unwrap();
    let lab = lab.env("HOME", "/nonexistent");
    lab.run(&[]).expect_exit(2).prints("in a directory of Retrial's own");
    // A home that is next to the recipe.
    fs::create_dir_all(lab.path("user/.ssh")).unwrap();
    fs::write(lab.path("recipe.yaml"), with("./user/.ssh")).unwrap();
    let lab = lab.env("HOME", &format!("{root}user"));
    lab.run(&[]).expect_exit(2).prints("in the home directory");
}

/// Whoever writes into a pipe need not be who owns it.
#[test]
#[ignore = "needs the lab"]
fn a_pipe_is_no_recipe() {
    let lab = Lab::new().measures("true");
    let made = lab.script("mkfifo pipe.yaml; (cat recipe.yaml >pipe.yaml &) ; retrial run ./pipe.yaml 2>&1; cat pipe.yaml >/dev/null & sleep 0.2");
    let text = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(text.contains("neither a file nor a directory"), "{text}");
    assert_eq!(lab.runs(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
#[ignore = "needs the lab"]
fn a_stream_has_no_files() {
    let lab = Lab::new().file("x.sh", "true\n");
    let keys = "files: { x.sh: /x.sh }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    for command in ["retrial run /dev/stdin", "retrial run /dev/stdin <recipe.yaml"] {
        let done = lab.script(&format!("cat recipe.yaml | {command} 2>&1"));
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("no such file next to the recipe"), "{text}");
    }
    let mount = recipe_with("container: { mounts: ['./x.sh:/x'] }", &case("main", "true", ""));
    fs::write(lab.path("recipe.yaml"), mount).unwrap();
    let done = lab.script("cat recipe.yaml | retrial run /dev/stdin 2>&1");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.contains("is a stream, and has no files next to it"), "{text}");
}

#[test]
#[ignore = "needs the lab"]
fn a_name_prints_no_line_of_its_own_in_the_question() {
    let lab = Lab::new();
    let keys = "container: { mounts: [\"/etc/x\\n  host  nothing:/x:ro\"] }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    let done = lab.run(&["--force"]).expect_exit(2);
    assert!(!done.err.lines().any(|line| line.trim_start().starts_with("host  ")), "{}", done.err);
}

#[test]
#[ignore = "needs the lab"]
fn an_approval_ends_when_code_moves_or_becomes_executable_or_a_link() {
    let lab = Lab::new();
    let text = served("true", "privileged: true, mounts: ['./scripts:/scripts:ro']");
    let lab = lab.recipe(&text);
    let lay_out = || {
        let _ = fs::remove_dir_all(lab.path("scripts"));
        fs::create_dir(lab.path("scripts")).unwrap();
        fs::write(lab.path("scripts/a.sh"), "echo 1\necho 2\n").unwrap();
        fs::write(lab.path("scripts/b.sh"), "").unwrap();
    };
    lay_out();
    let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
    asked.press("y\n");
    asked.end().expect_exit(0);
    lab.run(&[]).expect_exit(0);
    let changes: [&dyn Fn(); 3] = [
        &|| {
            fs::write(lab.path("scripts/a.sh"), "echo 1\n").unwrap();
            fs::write(lab.path("scripts/b.sh"), "echo 2\n").unwrap();
        },
        &|| {
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(lab.path("scripts/b.sh"), executable).unwrap();
        },
        &|| {
            fs::remove_file(lab.path("scripts/b.sh")).unwrap();
            symlink("a.sh", lab.path("scripts/b.sh")).unwrap();
        },
    ];
    for change in changes {
        lay_out();
        change();
        lab.run(&[]).expect_exit(2).prints("--allow privileged");
    }
    lay_out();
    lab.run(&[]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_path_through_a_link_in_the_recipes_directory_is_refused() {
    let lab = Lab::new();
    let dockerfile = "FROM debian:bookworm-slim\nCOPY figure /built/figure\n";
    let lab = lab.file("real/figure", "42").file("real/Dockerfile", dockerfile);
    let lab = lab.file("mid/deep/x", "").file("etc/x", "a decoy");
    symlink("real", lab.path("link")).unwrap();
    symlink("missing", lab.path("dangling")).unwrap();
    // In a copy that is less deep it would lead elsewhere.
    symlink("../etc", lab.path("mid/deep/etc")).unwrap();
    symlink("mid/deep", lab.path("near")).unwrap();
    let own = |path: &str| format!("container: {{ network: host, mounts: ['{path}:/m:ro'] }}");
    let build = "image: { build: { context: link } }".to_owned();
    let host =
        "setup:\n  tool: { on: host, run: '\"$RETRIAL_RECIPE_DIR/link/figure\"' }".to_owned();
    let files = "files: { link/figure: /figure }".to_owned();
    let paths = ["./link", "./link/figure", "./near/etc", "./dangling"].map(own);
    for keys in paths.into_iter().chain([build, host, files]) {
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        let allowed = ["--allow", "mounts,host", "--force"];
        lab.run(&allowed).expect_exit(2).prints("is a link, or is reached through one");
    }
    let keys = own("./real");
    fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
    lab.run(&[]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_build_context_that_leads_out_of_the_recipes_directory_is_not_sent() {
    let lab = Lab::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("id_ed25519"), "private").unwrap();
    let dockerfile = "FROM debian:bookworm-slim\nCOPY id_ed25519 /stolen\nRUN cat /stolen\n";
    fs::write(outside.path().join("Dockerfile"), dockerfile).unwrap();
    symlink(outside.path(), lab.path("context")).unwrap();
    let keys = "image: { build: { context: context } }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "cat /stolen", "")));
    lab.run(&[]).expect_exit(2).prints("build context").prints("--allow mounts");
    // A Dockerfile by itself, in a directory that stays inside.
    fs::remove_file(lab.path("context")).unwrap();
    fs::create_dir(lab.path("context")).unwrap();
    symlink(outside.path().join("Dockerfile"), lab.path("context/Dockerfile")).unwrap();
    lab.run(&[]).expect_exit(3).prints("leads out of the build context");
}

#[test]
#[ignore = "needs the lab"]
fn a_services_companions_must_belong_to_the_user() {
    let lab = Lab::new();
    let lab = lab.file("scripts/x.sh", "true\n");
    fs::set_permissions(lab.path("scripts"), fs::Permissions::from_mode(0o777)).unwrap();
    for mode in ["", ":ro"] {
        let container = format!("privileged: true, mounts: [\"./scripts:/scripts{mode}\"]");
        let text = served("sh /scripts/x.sh", &container);
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        lab.run(&["--allow", "privileged"])
            .expect_exit(2)
            .prints("scripts is writable by other users");
    }
}

#[test]
#[ignore = "needs the lab"]
fn templates_are_files_of_the_user() {
    let base = "schema: 1\ncontainer: { privileged: true }\n";
    let lab = Lab::new().file("other/base.yaml", base).file("templates/base.yaml", base);
    let recipe = format!("extends: base\n{}", recipe_with("", &case("main", "true", "")));
    let lab = lab.recipe(&recipe);
    let template = lab.path("templates/base.yaml");
    let allowed = ["--allow", "privileged,sys-admin"];
    fs::set_permissions(&template, fs::Permissions::from_mode(0o666)).unwrap();
    lab.run(&allowed).expect_exit(2).prints("is writable by other users");
    // Also of a recipe that is among them.
    fs::write(lab.path("templates/own.yaml"), &recipe).unwrap();
    let own = ["run", "templates/own.yaml", "--allow", "privileged,sys-admin"];
    lab.retrial(&own).expect_exit(2).prints("is writable by other users");
    fs::set_permissions(&template, fs::Permissions::from_mode(0o644)).unwrap();
    lab.run(&allowed).expect_exit(0);
    fs::remove_file(&template).unwrap();
    symlink("../other/base.yaml", &template).unwrap();
    lab.run(&allowed).expect_exit(2).prints("it is a link, or is reached through one");
}

#[test]
#[ignore = "needs the lab"]
fn an_approval_ends_when_the_lock_changes() {
    let lab = Lab::new();
    let keys = format!("image: {}\ncontainer: {{ privileged: true }}", image("busybox"));
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    lab.retrial(&["lock", "./recipe.yaml"]).expect_exit(0);
    let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
    asked.press("y\n");
    asked.end().expect_exit(0);
    lab.run(&[]).expect_exit(0);
    lab.run(&["--lock", "none"]).expect_exit(2).prints("--allow privileged");
    fs::remove_file(lab.path("recipe.lock.yaml")).unwrap();
    lab.run(&[]).expect_exit(2).prints("--allow privileged");
}

#[test]
#[ignore = "needs the lab"]
fn an_approval_ends_when_a_services_companion_changes() {
    let lab = Lab::new();
    for mode in ["", ":ro"] {
        let container = format!("privileged: true, mounts: [\"./scripts:/scripts{mode}\"]");
        fs::create_dir_all(lab.path("scripts")).unwrap();
        fs::write(lab.path("scripts/x.sh"), "true\n").unwrap();
        let text = served("sh /scripts/x.sh", &container);
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
        asked.press("y\n");
        asked.end().expect_exit(0);
        lab.run(&[]).expect_exit(0);
        fs::write(lab.path("scripts/x.sh"), "echo changed\n").unwrap();
        lab.run(&[]).expect_exit(2).prints("--allow privileged");
    }
}

#[test]
#[ignore = "needs the lab"]
fn other_containers_and_the_hosts_settings_need_approval() {
    let lab = Lab::new();
    for (flags, privilege) in [
        ("network: 'container:other'", "namespaces"),
        ("ipc: 'container:other'", "namespaces"),
        ("network: host, cap_add: [SYS_TIME, NET_ADMIN, SYS_BOOT, SYSLOG]", "capabilities"),
        ("security_opt: [writable-cgroups=true]", "security-options"),
    ] {
        let text = recipe_with(&format!("container: {{ {flags} }}"), &case("main", "true", ""));
        fs::write(lab.path("recipe.yaml"), text).unwrap();
        lab.run(&[]).expect_exit(2).prints(&format!("--allow {privilege}"));
        if flags.contains("network") {
            continue;
        }
        fs::write(lab.path("recipe.yaml"), served("true", flags)).unwrap();
        lab.run(&[])
            .expect_exit(2)
            .prints(&format!("--allow {privilege}"))
            .prints("services.server.container");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_token_is_given_only_with_approval() {
    let lab = Lab::new();
    let commands = "test -z \"$HF_TOKEN\" || echo given";
    let text = recipe_with("secrets: [HF_TOKEN]", &case("main", commands, ""));
    let unset = lab.recipe(&text);
    unset.run(&[]).expect_exit(0).prints("HF_TOKEN is not set");
    let lab = unset.env("HF_TOKEN", "hf_abcdefghijk");
    lab.run(&[]).expect_exit(2).prints("asks for secrets of yours").prints("--allow secrets");
    lab.run(&["--allow", "secrets"]).expect_exit(0);
    lab.run(&["--secret", "HF_TOKEN"]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_token_that_was_not_set_at_the_start_is_not_given_to_a_resumed_run() {
    let lab = Lab::new();
    let first = "echo going; while [ ! -e /own/go ]; do sleep 0.1; done";
    let second = "test -z \"$HF_TOKEN\" || echo given";
    let cases = case("first", first, "") + &case("second", second, "");
    let keys = "secrets: [HF_TOKEN]\ncontainer: { network: host, mounts: ['./own:/own'] }";
    fs::create_dir(lab.path("own")).unwrap();
    let lab = lab.recipe(&recipe_with(keys, &cases));
    let going = lab.start(&[]);
    lab.until_printed("03-first-performance", "going");
    going.kill();
    fs::write(lab.the_run().join("writable/own/go"), "").unwrap();
    let lab = lab.env("HF_TOKEN", "hf_abcdefghijk");
    lab.retrial(&["resume", "last"]).expect_exit(0);
    assert!(!lab.output("04-second-performance").contains("given"));
}

#[test]
#[ignore = "needs the lab"]
fn a_batch_that_gives_a_built_in_recipe_parameters_needs_approval() {
    let lab = Lab::new();
    let recipe = "recipe: training-benchmarks/amd/mi350x/qwen3-8b-madengine";
    let written = lab.path("written");
    let set = format!(
        "set: {{ by: madengine, mad: {}, revision: \"x' ; touch {} ; : '\" }}",
        lab.path("mad").display(),
        written.display()
    );
    fs::write(lab.path("batch.yaml"), format!("schema: 1\ntitle: t\n{recipe}\ntrials: 1\n{set}\nvary: {{ image: {{ a: debian:bookworm-slim }} }}\n")).unwrap();
    lab.retrial(&["batch", "batch.yaml", "--force"])
        .expect_exit(2)
        .prints("needs root-equivalent privileges")
        .prints("--allow host")
        .prints("set by")
        .prints("; touch ");
    assert!(!written.exists());
}

#[test]
#[ignore = "needs the lab"]
fn a_run_of_another_home_is_not_stopped() {
    let lab = Lab::new().recipe(&recipe_with("", &case("main", "true", "")));
    lab.run(&["--keep", "always"]).expect_exit(0);
    let copy = lab.path("copied");
    let copied = std::process::Command::new("cp").arg("-a").arg(lab.the_run()).arg(&copy).status();
    assert!(copied.unwrap().success());
    let copy = copy.display().to_string();
    for command in [["stop", &copy], ["shell", &copy], ["resume", &copy]] {
        lab.retrial(&command).expect_exit(2).prints("is not a run of");
    }
    // What a container or an archive brought into a run is none of this home either.
    let nested = lab.the_run().join("results/nested");
    fs::rename(&copy, &nested).unwrap();
    let nested = nested.display().to_string();
    lab.retrial(&["stop", &nested]).expect_exit(2).prints("is not a run of");
    lab.retrial(&["clean", "--all"]).expect_exit(0);
}

/// What containers share without a mount of the recipe's: memory, and the hub's cache.
#[test]
#[ignore = "needs the lab"]
fn what_a_container_can_replace_without_a_mount_is_refused() {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let lab = Lab::new();
    let shared = |ipc: &str| {
        let mount = memory.path().display();
        let keys = format!("container: {{ ipc: {ipc}, mounts: ['{mount}:/m:ro'] }}");
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.run(&["--allow", "mounts"])
    };
    shared("host").expect_exit(2).prints("which a container of this run can write");
    shared("private").expect_exit(0);
    let cache = lab.path("hub").display().to_string();
    fs::create_dir_all(format!("{cache}/models--a--b")).unwrap();
    let model = "models: { m: { source: { hub: a/b, revision: main }, mount: /m } }";
    let lab = lab.env("HF_HUB_CACHE", &cache);
    for source in [format!("{cache}/models--a--b"), cache] {
        let keys = format!("{model}\ncontainer: {{ mounts: ['{source}:/hub'] }}");
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.run(&["--allow", "mounts"]).expect_exit(2).prints("is in the hub's cache");
    }
}

/// Its plan was approved by nobody here, whatever files an archive brings.
#[test]
#[ignore = "needs root and the lab"]
fn an_imported_run_is_only_read() {
    let data = tempfile::tempdir().unwrap();
    let keys = format!("container: {{ mounts: ['{}:/data'] }}", data.path().display());
    let lab = Lab::new().recipe(&recipe_with(&keys, &case("main", "true", "")));
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    let (run, id) = (lab.the_run(), lab.id());
    // As of a job that is not over.
    fs::write(run.join("site-request.json"), "{}").unwrap();
    let journal = lab.text("journal.jsonl");
    let steps: Vec<&str> = journal.lines().take(4).collect();
    fs::write(run.join("journal.jsonl"), steps.join("\n") + "\n").unwrap();
    let other = Lab::new().env("SUDO_USER", "").env("USER", "flow");
    other.retrial(&["runs", "import", &run.display().to_string()]).expect_exit(0);
    for command in ["attach", "resume", "stop", "shell"] {
        other.retrial(&[command, &id]).expect_exit(2).prints("its plan was not approved here");
    }
    other.retrial(&["resume", "--in-job", &id]).expect_exit(2);
    // An image's own labels may name it.
    let tool = data.path().join("tool");
    fs::write(&tool, "").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o4755)).unwrap();
    let name = format!("retrial-flow-imported-{}", std::process::id());
    let run_label = format!("io.retrial.run={id}");
    let labels = ["--label", &run_label, "--label", "io.retrial.user=flow"];
    let image = image("busybox");
    other.docker(&[&["create", "--name", &name][..], &labels, &[&image, "true"]].concat());
    let cleaned = other.retrial(&["clean", &id, "--all"]).expect_exit(0);
    cleaned.prints(&format!("removed {name}"));
    assert_eq!(fs::metadata(&tool).unwrap().permissions().mode() & 0o7000, 0o4000);
}

/// Its plan would run as the one who resumes it.
#[test]
#[ignore = "needs root and the lab"]
fn a_run_of_another_user_is_not_resumed() {
    let lab = Lab::new().recipe(&recipe_with("", &case("main", "true", "")));
    lab.run(&["--keep", "always"]).expect_exit(0);
    let (run, id) = (lab.the_run(), lab.id());
    std::os::unix::fs::chown(&run, Some(12345), None).unwrap();
    for command in ["resume", "stop", "shell"] {
        let refused = lab.retrial(&[command, &id]).expect_exit(2);
        refused.prints("belongs to another user (uid 12345)").prints("would run as you");
    }
    lab.retrial(&["judge", &id]).expect_exit(0);
    std::os::unix::fs::chown(&run, Some(0), None).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = lab.retrial(&["resume", &id]).expect_exit(2);
    refused.prints("is writable by other users (mode 0777)");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    // Another run could take its place.
    fs::set_permissions(lab.home_path(), fs::Permissions::from_mode(0o777)).unwrap();
    lab.retrial(&["resume", &id]).expect_exit(2).prints("would run as you");
    lab.retrial(&["clean", "--all"]).expect_exit(0);
}

/// The copy of a recipe's files is there, and what steps fill.
#[test]
#[ignore = "needs the lab"]
fn nothing_runs_with_privileges_in_a_home_or_a_cache_that_others_can_replace() {
    let shared = tempfile::tempdir().unwrap();
    let lab = Lab::new().home(&shared.path().join("home")).file("files/x", "");
    let keys = "container: { cap_add: [SYS_TIME], mounts: ['./files:/files'] }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = lab.run(&["--allow", "capabilities"]).expect_exit(2);
    refused.prints("is writable by other users (mode 0777)").prints("is taken from it");
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    lab.run(&["--allow", "capabilities"]).expect_exit(0);
    let public = lab.path("public");
    fs::create_dir(&public).unwrap();
    fs::set_permissions(&public, fs::Permissions::from_mode(0o777)).unwrap();
    let lab = lab.env("RETRIAL_CACHE", public.join("cache").to_str().unwrap());
    lab.run(&["--allow", "capabilities"]).expect_exit(0);
    let cached = "container: { cap_add: [SYS_TIME], cache_mounts: { x: /x } }";
    let lab = lab.recipe(&recipe_with(cached, &case("main", "true", "")));
    lab.run(&["--allow", "capabilities"]).expect_exit(2).prints("is taken from it");
}

fn bind((from, to): (PathBuf, PathBuf)) -> Small {
    fs::create_dir_all(&to).unwrap();
    assert!(Command::new("mount").arg("--bind").args([&from, &to]).status().unwrap().success());
    Small(to)
}

/// Its value is not known when the plan is made, also on one machine.
#[test]
#[ignore = "needs the lab"]
fn a_file_named_by_an_expression_is_found_during_the_run() {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let lab = Lab::new().file(&format!("d/{name}/x"), "figures");
    let keys =
        "nodes: { count: 1 }\ncontainer: { mounts: [\"./d/${{ node.name }}:/x:ro\"] }".to_owned();
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "cat /x/x", "")));
    lab.run(&[]).expect_exit(0);
    fs::rename(lab.path("d").join(name), lab.path("d/other")).unwrap();
    lab.run(&[]).expect_exit(2).prints("does not exist");
    fs::remove_dir_all(lab.path("d")).unwrap();
    lab.run(&[]).expect_exit(3).prints("no such file or directory");
}

/// What was approved may be another thing by then.
#[test]
#[ignore = "needs root and the lab"]
fn a_resumed_run_looks_at_its_paths_again() {
    let lab = Lab::new();
    let shared = tempfile::tempdir().unwrap();
    let [data, below] = ["data", "data/below"].map(|name| shared.path().join(name));
    fs::create_dir_all(&below).unwrap();
    let keys = format!("container: {{ mounts: ['{}:/data:ro'] }}", data.display());
    let wait = "echo going; while [ ! -e /data/go ]; do sleep 0.1; done";
    let lab = lab.recipe(&recipe_with(&keys, &case("main", wait, "")));
    let going = lab.start(&["--allow", "mounts"]);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    let allow_all = |mode| fs::set_permissions(shared.path(), fs::Permissions::from_mode(mode));
    allow_all(0o777).unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(2).prints("in whose place they could put a link");
    allow_all(0o755).unwrap();
    let other = tempfile::tempdir().unwrap();
    let mounted = bind((other.path().to_owned(), below));
    lab.retrial(&["resume", "last"]).expect_exit(2).prints("writable in file systems below it");
    drop(mounted);
    fs::write(data.join("go"), "").unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn the_question_shows_what_decides_what_a_host_command_does() {
    let step = "setup:\n  a: { on: host, run: 'true', shell: [bash, -c, 'id; exec bash -c \"$1\"', x], env: { BASH_ENV: /own } }";
    let lab = Lab::new().recipe(&recipe_with(step, &case("main", "true", "")));
    let done = lab.run(&[]).expect_exit(2);
    for line in ["| shell [\"bash\", \"-c\", \"id; exec", "| env BASH_ENV=\"/own\"", "| true"] {
        assert!(done.err.contains(line), "{}", done.err);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_device_outside_of_dev_is_refused() {
    let lab = Lab::new();
    symlink("/dev/null", lab.path("gpu")).unwrap();
    let keys = format!("container: {{ devices: ['{}:/dev/x'] }}", lab.path("gpu").display());
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    lab.run(&["--allow", "dev-mem"]).expect_exit(2).prints("is not below /dev");
}

/// As a link is.
#[test]
#[ignore = "needs root and the lab"]
fn a_bind_mount_next_to_the_recipe_needs_approval() {
    let lab = Lab::new().file("user/.ssh/key", "private").file("d/x", "");
    let mounted = |source: &str| {
        let keys = format!("container: {{ mounts: ['{source}:/own:ro'] }}");
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "cat /own/key", "")))
            .unwrap();
        lab.run(&[]).expect_exit(2).prints("--allow mounts")
    };
    let part = bind((lab.path("user/.ssh"), lab.path("d/keys")));
    for source in ["./d", "./d/keys"] {
        mounted(source).prints("with what is mounted at");
    }
    lab.run(&["--allow", "mounts"]).expect_exit(0);
    drop(part);
    // What is private is so by its second path.
    let home = lab.path("user").display().to_string();
    let lab = lab.env("HOME", &home);
    let _user = bind((lab.path("user"), lab.path("other/user")));
    let _etc = bind(("/etc".into(), lab.path("other/etc")));
    let recipe = |source: &str| {
        let keys = format!("container: {{ mounts: ['{source}:/own:ro'] }}");
        recipe_with(&keys, &case("main", "true", ""))
    };
    for (directory, source, reason) in [
        ("", "./other/user/.ssh", "in the home directory"),
        ("", "./other/etc/ssh", "in /etc"),
        ("other/user", "./.ssh", "in the home directory"),
    ] {
        let path = lab.path(directory).join("recipe.yaml");
        fs::write(&path, recipe(source)).unwrap();
        lab.retrial(&["run", &path.display().to_string()]).expect_exit(2).prints(reason);
    }
}

/// Others cannot replace a bind mount itself, whoever can write where it comes from.
#[test]
#[ignore = "needs root and the lab"]
fn what_others_can_replace_below_a_bind_mount_is_refused() {
    let lab = Lab::new();
    let shared = tempfile::tempdir().unwrap();
    fs::create_dir(shared.path().join("data")).unwrap();
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let _mounts = [
        bind((shared.path().to_owned(), lab.path("alias"))),
        bind((shared.path().join("data"), lab.path("data"))),
    ];
    let run = |source: &str| {
        let keys = format!("container: {{ mounts: ['{}:/x'] }}", lab.path(source).display());
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.run(&["--allow", "mounts"])
    };
    run("alias/data").expect_exit(2).prints("in whose place they could put a link");
    run("data").expect_exit(0);
}

/// Another command line has another home, which approves and resumes as this one does.
#[test]
#[ignore = "needs the lab"]
fn no_container_can_write_another_home_of_the_user() {
    let lab = Lab::new().file("default/retrial/x", "").file("third/approvals.json", "{}");
    let lab = lab.file("third/runs/x", "");
    let (default, usual) = (lab.path("default"), lab.home_path().display().to_string());
    let lab = lab.env("XDG_DATA_HOME", &default.display().to_string());
    let home = tempfile::tempdir().unwrap();
    let home = home.path().display().to_string();
    let run = |source: &str| {
        let keys = format!("container: {{ mounts: ['{source}:/own'] }}");
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.retrial(&["--home", &home, "run", "./recipe.yaml", "--allow", "mounts"])
    };
    fs::create_dir_all(&usual).unwrap();
    let third = lab.path("third").display().to_string();
    let default = default.display();
    for source in [format!("{default}/retrial"), usual, format!("{third}/runs"), third] {
        run(&source).expect_exit(2).prints("in a directory of Retrial's own");
    }
    run(&default.to_string()).expect_exit(2).prints("it could replace it");
}

/// By its second path a container could write what approves it.
#[test]
#[ignore = "needs root and the lab"]
fn a_bind_mount_of_a_directory_is_the_directory() {
    let lab = Lab::new();
    let (home, alias) = (lab.home_path().to_owned(), lab.path("alias"));
    for directory in [&home, &alias, &lab.path("work/sub"), &lab.path("second")] {
        fs::create_dir_all(directory).unwrap();
    }
    let _mounts = [(home, alias), (lab.path("work"), lab.path("second"))].map(bind);
    let run = |mounts: &[&str]| {
        let at = |mount: &&str| format!("'{}'", lab.path(mount).display());
        let mounts: Vec<String> = mounts.iter().map(at).collect();
        let keys = format!("container: {{ mounts: [{}] }}", mounts.join(", "));
        fs::write(lab.path("recipe.yaml"), recipe_with(&keys, &case("main", "true", ""))).unwrap();
        lab.run(&["--allow", "mounts"])
    };
    run(&["work:/a", "second:/b"]).expect_exit(0);
    run(&["alias:/own"]).expect_exit(2).prints("is in a directory of Retrial's own");
    run(&["alias/runs:/own"]).expect_exit(2).prints("is in a directory of Retrial's own");
    // Of a part, too: no directory above it has the home's inode.
    fs::create_dir_all(lab.path("runs")).unwrap();
    let _part = bind((lab.home_path().join("runs"), lab.path("runs")));
    run(&["runs:/own"]).expect_exit(2).prints("is in a directory of Retrial's own");
    run(&["work:/a", "second/sub:/b"])
        .expect_exit(2)
        .prints("which a container of this run can write");
}

/// Also of a recipe without a directory of its own.
#[test]
#[ignore = "needs the lab"]
fn a_mount_that_others_can_write_is_asked_for_each_time_of_a_stream() {
    let shared = tempfile::tempdir().unwrap();
    fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let keys = format!("container: {{ mounts: ['{}:/x:ro'] }}", shared.path().display());
    let lab = Lab::new().recipe(&recipe_with(&keys, &case("main", "true", "")));
    let done = lab.script("cat recipe.yaml | retrial run /dev/stdin 2>&1");
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(printed.contains("other users can write it"), "{printed}");
}

/// Of the files, wherever a link or a batch that names them is.
#[test]
#[ignore = "needs the lab"]
fn the_configuration_allows_only_what_is_below_its_directory() {
    let keys = "params: { word: { type: string, default: a } }\nsetup: { own: { on: host, run: '\"$RETRIAL_RECIPE_DIR/own.sh\" ${{ params.word }}' } }";
    let text = recipe_with(keys, &case("main", "true", ""));
    let lab = Lab::new();
    let configuration = format!("allow: {{ {}: [host] }}\n", lab.path("trusted").display());
    let lab = lab.file("settings/retrial/config.yaml", &configuration);
    let lab = lab.file("trusted/recipe.yaml", &text).file("other/recipe.yaml", &text);
    for directory in ["trusted", "other"] {
        let script = lab.path(directory).join("own.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink("../trusted/recipe.yaml", lab.path("other/link.yaml")).unwrap();
    symlink("../other/recipe.yaml", lab.path("trusted/link.yaml")).unwrap();
    let batch = "schema: 1\ntitle: t\nrecipe: ../other/recipe.yaml\ntrials: 1\nvary: { image: { a: debian:bookworm-slim } }\n";
    let lab = lab.file("trusted/batch.yaml", batch);
    let settings = lab.path("settings").display().to_string();
    let lab = lab.env("XDG_CONFIG_HOME", &settings);
    lab.retrial(&["run", "trusted/recipe.yaml"]).expect_exit(0);
    let set = ["--set", "word=b"];
    lab.retrial(&[&["run", "trusted/recipe.yaml"], &set[..]].concat()).expect_exit(0);
    // Of a program, whose author could write any command.
    let by_program = [&["run", "trusted/recipe.yaml", "--untrusted-settings"], &set[..]].concat();
    lab.retrial(&by_program).expect_exit(2).prints("--allow host");
    for command in [
        ["run", "other/recipe.yaml"],
        ["run", "other/link.yaml"],
        ["run", "trusted/link.yaml"],
        ["batch", "trusted/batch.yaml"],
    ] {
        lab.retrial(&command).expect_exit(2).prints("--allow host");
    }
}

/// What it allowed when a batch was started is not kept with the batch.
#[test]
#[ignore = "needs the lab"]
fn the_configuration_allows_only_as_long_as_it_does() {
    let keys = "setup: { own: { on: host, run: 'true' } }";
    let text = recipe_with(keys, &case("main", "echo going; sleep 3", ""));
    let lab = Lab::new().recipe(&text);
    let file = "settings/retrial/config.yaml";
    let allow = format!("allow: {{ {}: [host] }}\n", lab.path("").display());
    let settings = lab.path("settings").display().to_string();
    let lab = lab.file(file, &allow).env("XDG_CONFIG_HOME", &settings);
    let vary = "image=debian:bookworm-slim";
    let mut batch = lab.start_retrial(&["batch", "./recipe.yaml", "--vary", vary, "--trials", "2"]);
    lab.until_printed("04-main-performance", "going");
    batch.signal("INT");
    batch.end().expect_exit(130);
    fs::remove_file(lab.path(file)).unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(2).prints("--allow host");
    fs::write(lab.path(file), &allow).unwrap();
    lab.retrial(&["resume", "last"]).expect_exit(0);
}

/// Next to the working directory itself.
#[test]
#[ignore = "needs the lab"]
fn a_recipe_is_named_without_a_directory() {
    let keys = "container: { mounts: ['/etc/hostname:/x:ro'] }";
    let lab = Lab::new().recipe(&recipe_with(keys, &case("main", "true", "")));
    lab.retrial(&["run", "recipe.yaml"]).expect_exit(2).prints("--allow mounts");
    lab.retrial(&["run", "recipe.yaml", "--allow", "mounts"]).expect_exit(0);
}

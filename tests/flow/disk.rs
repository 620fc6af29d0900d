//! A full disk: it is reported, no partial file counts as complete, and the run resumes with free space.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::{Lab, case, recipe_with};

/// A file system of its own.
pub struct Small(pub PathBuf);

impl Small {
    /// Mounts one, which takes root.
    pub fn mount(at: PathBuf, size: &str) -> Self {
        std::fs::create_dir_all(&at).unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(&at)
            .status();
        assert!(status.unwrap().success(), "mounting takes root");
        Self(at)
    }

    pub fn grow(&self, size: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,size={size}")])
            .arg(&self.0)
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
#[ignore = "needs the lab"]
fn too_little_is_warned_of_before_the_first_step() {
    let lab = Lab::new();
    let keys = "requires: { disk: 900 TiB, memory: 90 TiB }";
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    // Nothing is fetched: what is there may be enough.
    let done = lab.run(&[]).expect_exit(0);
    let at = |text: &str| {
        let found = done.err.find(text);
        found.unwrap_or_else(|| panic!("not printed: {text}: {done:?}"))
    };
    let first_step = at("01 pull");
    assert!(at("required: 900 TiB") < first_step, "{done:?}");
    assert!(at("required: 90 TiB") < first_step, "{done:?}");
}

#[test]
#[ignore = "needs root and the lab"]
fn while_a_step_prints() {
    let lab = Lab::new();
    let commands = "test -e /ready || { touch /ready; echo big; }\nhead -c 3m /dev/zero | tr '\\0' 'x' | fold -w 100";
    let small = Small::mount(lab.path("small"), "2m");
    let lab = lab.recipe(&recipe_with("", &case("main", commands, ""))).home(&small.0);
    let done = lab.run(&[]).expect_exit(3);
    assert!(done.err.contains("full") || done.err.contains("No space left"), "{done:?}");
    assert!(done.err.contains("free some space"), "{done:?}");
    assert!(
        lab.containers().iter().all(|container| !container.contains("running")),
        "{:?}",
        lab.containers()
    );
    small.grow("50m");
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert!(lab.output("03-main-performance").len() > 3_000_000);
    assert_eq!(lab.containers(), [""; 0]);
    drop(lab);
}

#[test]
#[ignore = "needs root and the lab"]
fn while_nothing_follows_a_step() {
    let lab = Lab::new();
    let commands = "echo begun; sleep 1; head -c 3m /dev/zero | tr '\\0' 'x' | fold -w 100";
    let small = Small::mount(lab.path("small"), "2m");
    let lab = lab.recipe(&recipe_with("", &case("main", commands, ""))).home(&small.0);
    let going = lab.start(&[]);
    lab.until_printed("03-main-performance", "begun");
    going.kill();
    let exit = |lab: &Lab| lab.runs()[0].join("control/steps/03-main-performance/exit");
    lab.until("the step has ended", |lab| {
        std::fs::read_to_string(exit(lab)).is_ok_and(|exit| exit.ends_with('\n'))
    });
    small.grow("50m");
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert!(lab.output("03-main-performance").len() > 3_000_000);
    assert_eq!(lab.containers(), [""; 0]);
    drop(lab);
}

#[test]
#[ignore = "needs root and the lab"]
fn while_results_are_fetched() {
    let lab = Lab::new();
    let commands =
        "cat /proc/sys/kernel/random/uuid; mkdir /results; head -c 6m /dev/urandom >/results/big";
    let small = Small::mount(lab.path("small"), "4m");
    let lab =
        lab.recipe(&recipe_with("", &case("main", commands, "results: /results"))).home(&small.0);
    lab.run(&[]).expect_exit(3).prints("free some space");
    assert!(!lab.the_run().join("results/main/performance/run_1").exists());
    let containers = lab.containers();
    assert!(
        containers.len() == 1 && containers[0].ends_with("exited"),
        "{containers:?}: the results are still there"
    );
    small.grow("50m");
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert_eq!(lab.count("main-performance", "step_started"), 1, "not measured again");
    assert_eq!(
        std::fs::metadata(lab.the_run().join("results/main/performance/run_1/big")).unwrap().len(),
        6 << 20
    );
    assert_eq!(lab.containers(), [""; 0]);
    drop(lab);
}

#[test]
#[ignore = "needs the lab"]
fn for_several_images_together() {
    let lab = Lab::new();
    let root = lab.docker(&["info", "--format", "{{.DockerRootDir}}"]);
    let df = Command::new("df").args(["--output=avail", "-B1", root.trim()]).output().unwrap();
    let text = String::from_utf8_lossy(&df.stdout).into_owned();
    let free: u64 = text
        .lines()
        .nth(1)
        .and_then(|line| line.trim().parse().ok())
        .expect("the engine's disk is one of this machine");
    // Of a registry that wants a password: whether they exist is found when they are pulled.
    let registry = std::env::var("RETRIAL_LAB_PRIVATE_REGISTRY").unwrap();
    let recipe = |name: &str| {
        let keys = format!(
            "image: {registry}/retrial-lab/{name}:1\nrequires: {{ disk: {} }}",
            free / 10 * 6
        );
        recipe_with(&keys, &case("main", "", ""))
    };
    let lab = lab
        .file("one.yaml", &recipe("none-one"))
        .file("two.yaml", &recipe("none-two"))
        .file("batch.yaml", "schema: 1\ntitle: Two\nrecipes: [./one.yaml, ./two.yaml]\n");
    lab.retrial(&["batch", "./batch.yaml"])
        .expect_exit(3)
        .prints("is free where the engine keeps images")
        .prints("and 2 images require");
    assert!(lab.runs().is_empty());
}

#[test]
#[ignore = "needs the lab"]
fn a_limit_on_the_size_of_files_is_named() {
    let lab = Lab::new().measures("echo going");
    let script = format!("ulimit -f 1; {} run recipe.yaml 2>&1", env!("CARGO_BIN_EXE_retrial"));
    let output = lab.script(&script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("ulimit -f unlimited"), "{text}");
}

/// A file system of its own whose disk may fail: it is read-only then, as the kernel makes it.
pub struct Failing {
    image: PathBuf,
    pub mount: PathBuf,
}

impl Failing {
    /// Makes and mounts one in a directory, which takes root.
    pub fn create(inside: &Path) -> Self {
        let this = Self { image: inside.join("disk.img"), mount: inside.join("disk") };
        std::fs::create_dir_all(&this.mount).unwrap();
        std::fs::File::create(&this.image).unwrap().set_len(64 << 20).unwrap();
        run_as_root("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), this.image.as_ref()], 0);
        this.mount();
        this
    }

    fn mount(&self) {
        let options = ["-o".as_ref(), "loop,errors=remount-ro".as_ref()];
        let paths = [self.image.as_ref(), self.mount.as_ref()];
        run_as_root("mount", &[&options[..], &paths[..]].concat(), 0);
    }

    fn device(&self) -> String {
        let output = Command::new("findmnt").args(["-no", "SOURCE"]).arg(&self.mount).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    }

    /// Fails the disk.
    pub fn fail(&self) {
        let device = self.device();
        let name = device.trim_start_matches("/dev/");
        std::fs::write(format!("/sys/fs/ext4/{name}/trigger_fs_error"), "a test").unwrap();
    }

    /// Repairs it, and mounts it again.
    pub fn repair(&mut self) {
        run_as_root("blockdev", &["--flushbufs".as_ref(), self.device().as_ref()], 0);
        run_as_root("umount", &[self.mount.as_ref()], 0);
        // Another mount namespace may still hold the failed one, and the same image would be mounted as it is there.
        let failed = std::mem::replace(&mut self.image, self.mount.with_extension("repaired.img"));
        run_as_root("cp", &["--sparse=always".as_ref(), failed.as_ref(), self.image.as_ref()], 0);
        run_as_root("e2fsck", &["-fy".as_ref(), self.image.as_ref()], 1);
        self.mount();
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.mount).status();
    }
}

fn run_as_root(program: &str, arguments: &[&OsStr], greatest_code: i32) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let is_well = output.status.code().is_some_and(|code| code <= greatest_code);
    assert!(is_well, "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

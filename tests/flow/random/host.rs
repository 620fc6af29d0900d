//! Changes of the host while a run goes on: steps of its clock, another directory in the place of a mounted one.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{Tally, counted, finish, is_whole, measured_twice, moment, recorded};
use crate::lab::Lab;

/// A library that steps the wall clock of the program that loads it by the size of a file less one day, seconds: the
/// clock of the kernel is everybody's.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    const char *file = getenv("CLOCK_STEP");
    struct stat status;
    if (clock == CLOCK_REALTIME && file && stat(file, &status) == 0)
        time->tv_sec += status.st_size - 86400;
    return result;
}
"#;

fn build_clock(lab: &Lab) -> PathBuf {
    let (source, library) = (lab.path("clock.c"), lab.path("clock.so"));
    fs::write(&source, CLOCK).unwrap();
    let mut compiler = Command::new("cc");
    let done = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(done.status().expect("a C compiler").success());
    library
}

#[test]
#[ignore = "needs the lab"]
fn by_a_step_of_the_clock() {
    Tally::new("a step of the clock by up to a day", 10).run(|chance| {
        let lab = counted(Lab::new());
        let (library, step) = (build_clock(&lab), lab.path("step"));
        let lab = lab.env("LD_PRELOAD", library.to_str().unwrap());
        let lab = lab.env("CLOCK_STEP", step.to_str().unwrap());
        let mut going = lab.start(&[]);
        let steps = chance.usize(1..=4);
        for _ in 0..steps {
            moment(chance, 1000);
            File::create(&step).unwrap().set_len(chance.u64(..2 * 86_400)).unwrap();
        }
        going.end().expect_exit(0).prints("reproduced");
        is_whole(&lab);
        steps
    });
}

/// A measurement that lists a directory next to the recipe and one of the host, each with a link that can take its
/// place.
struct Exchanged {
    lab: Lab,
    /// A directory, and the link.
    pairs: [(PathBuf, PathBuf); 2],
}

impl Exchanged {
    fn new() -> Self {
        let lab =
            Lab::new().file("own/file", "").file("data/file", "").file("foreign/foreign-file", "");
        let paths = |name: &str| (lab.path(name), lab.path(&format!("{name}-link")));
        let pairs = [paths("own"), paths("data")];
        for (_, link) in &pairs {
            symlink(lab.path("foreign"), link).unwrap();
        }
        let mounts = format!("mounts: ['./own:/own', '{}:/data']", lab.path("data").display());
        let keys = format!(
            "container: {{ network: host, {mounts} }}\nservices:\n  server: {{ run: 'ls /own /data; echo serving; exec sleep 100', ready: {{ log: serving }}, container: {{ {mounts} }} }}"
        );
        let recipe = measured_twice(&keys, "needs: [server]", "ls /own /data");
        Self { lab: lab.recipe(&recipe), pairs }
    }

    fn exchange(&self) {
        for (directory, link) in &self.pairs {
            renameat_with(CWD, directory, CWD, link, RenameFlags::EXCHANGE).unwrap();
        }
    }
}

#[test]
#[ignore = "needs the lab"]
fn by_directories_that_are_exchanged() {
    Tally::new("`kill -9`, then links in place of mounted directories", 10).run(|chance| {
        let exchanged = Exchanged::new();
        let lab = &exchanged.lab;
        let going = lab.start(&["--allow", "mounts"]);
        // What was approved is known by then.
        lab.until("the run is recorded", |lab| !recorded(lab).is_empty());
        moment(chance, 2000);
        going.kill();
        exchanged.exchange();
        let refused = lab.retrial(&["resume", "last"]);
        assert!(matches!(refused.code, Some(0 | 2)), "{refused:?}");
        exchanged.exchange();
        finish(lab);
        is_whole(lab);
        let steps = recorded(lab)[0].join("steps");
        assert!(Lab::files_with(&steps, "foreign-file").is_empty());
        1
    });
}

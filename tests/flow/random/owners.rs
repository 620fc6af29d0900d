//! Another user who puts something else in the place of a file as soon as it is read, so that whoever checks its name
//! finds a file of root.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fastrand::Rng;

use super::Tally;
use crate::lab::{Lab, case, recipe_with};

const OTHER_USER: u32 = 65534;

/// Replaces a path by another one at events of a file, from the given one on: once, or each time if they are exchanged.
const REPLACE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
int main(int count, char **words) {
    char events[4096];
    int watch = inotify_init();
    if (count != 7 || inotify_add_watch(watch, words[1], atoi(words[2])) < 0) return 1;
    puts("watching");
    fflush(stdout);
    for (int seen = 0; read(watch, events, sizeof events) > 0; seen++)
        if (seen >= atoi(words[3])) renameat2(AT_FDCWD, words[4], AT_FDCWD, words[5], atoi(words[6]));
    return 0;
}
"#;

/// `IN_OPEN`, `IN_ACCESS` and `IN_CLOSE_NOWRITE` of inotify(7).
const EVENTS: [u32; 3] = [0x20, 0x1, 0x10];
const RENAME_EXCHANGE: u32 = 2;

/// A command that must not do what the other user's file says, and how that is replaced.
struct Race {
    lab: Lab,
    command: Vec<String>,
    watched: PathBuf,
    from: PathBuf,
    to: PathBuf,
    flags: u32,
}

impl Race {
    /// A file of the other user in a sticky directory, to which a link of root's leads, and a file of root in a directory
    /// that everybody can write.
    fn of_file(lab: Lab, link: &str, command: &[&str], theirs: &str, ours: &str) -> Self {
        let (sticky, public) = (lab.path("sticky"), lab.path("public"));
        for (directory, mode) in [(&sticky, 0o1777), (&public, 0o777)] {
            fs::create_dir(directory).unwrap();
            fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
        }
        let (to, from) = (sticky.join("x.yaml"), public.join("f"));
        fs::write(&to, theirs).unwrap();
        fs::write(&from, ours).unwrap();
        chown(&to, Some(OTHER_USER), None).unwrap();
        fs::create_dir_all(lab.path(link).parent().unwrap()).unwrap();
        symlink(&to, lab.path(link)).unwrap();
        Self::new(lab, command, to.clone(), (from, to), 0)
    }

    fn new(
        lab: Lab,
        command: &[&str],
        watched: PathBuf,
        (from, to): (PathBuf, PathBuf),
        flags: u32,
    ) -> Self {
        fs::set_permissions(lab.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { lab, command, watched, from, to, flags }
    }

    fn recipe() -> Self {
        let lab = Lab::new();
        let theirs = on_host(&touch(&lab));
        Self::of_file(
            lab,
            "own/recipe.yaml",
            &["run", "own/recipe.yaml", "--allow", "host"],
            &theirs,
            &on_host("true"),
        )
    }

    fn batch() -> Self {
        let keys = "params: { word: { type: string, default: 'true' } }\nsetup: { own: { on: host, run: '${{ params.word }}' } }";
        let lab = Lab::new().file("own/recipe.yaml", &recipe_with(keys, &case("main", "true", "")));
        let batch = |word: &str| {
            let recipe = lab.path("own/recipe.yaml");
            format!(
                "schema: 1\ntitle: t\nrecipe: {}\ntrials: 1\nset: {{ word: '{word}' }}\nvary: {{ image: {{ a: debian:bookworm-slim }} }}\n",
                recipe.display()
            )
        };
        let (theirs, ours) = (batch(&touch(&lab)), batch("true"));
        let command = ["batch", "own/batch.yaml", "--allow", "host"];
        Self::of_file(lab, "own/batch.yaml", &command, &theirs, &ours)
    }

    fn configuration() -> Self {
        let lab = with_recipe(Lab::new());
        let theirs = format!("allow: {{ {}: [host] }}\n", lab.path("own").display());
        let settings = lab.path("settings").display().to_string();
        let lab = lab.env("XDG_CONFIG_HOME", &settings);
        let link = "settings/retrial/config.yaml";
        Self::of_file(lab, link, &["run", "own/recipe.yaml"], &theirs, "trials: 1\n")
    }

    fn approvals() -> Self {
        let lab = with_recipe(Lab::new());
        {
            let mut asked = lab.start_in_terminal(&["run", "own/recipe.yaml"]);
            asked.press("y\n");
            asked.end().expect_exit(0);
        }
        fs::remove_file(lab.path("proof")).unwrap();
        let file = lab.home_path().join("approvals.json");
        let theirs = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        Self::of_file(lab, "home/approvals.json", &["run", "own/recipe.yaml"], &theirs, "{}")
    }

    /// A directory of the other user, and one of root or a link to it.
    fn directory(is_link: bool) -> Self {
        let lab = Lab::new();
        let (theirs, ours) = (on_host(&touch(&lab)), on_host("true"));
        let allow = format!("allow: {{ {}: [host] }}\n", lab.path("own").display());
        let lab = lab.file("public/a/recipe.yaml", &theirs).file("public/b/recipe.yaml", &ours);
        let lab = lab.file("own/recipe.yaml", &ours).file("settings/retrial/config.yaml", &allow);
        let settings = lab.path("settings").display().to_string();
        let lab = lab.env("XDG_CONFIG_HOME", &settings);
        for path in ["public/a", "public/a/recipe.yaml"] {
            chown(lab.path(path), Some(OTHER_USER), None).unwrap();
        }
        symlink("../own", lab.path("public/link")).unwrap();
        fs::set_permissions(lab.path("public"), fs::Permissions::from_mode(0o777)).unwrap();
        let other = if is_link { "public/link" } else { "public/b" };
        let pair = (lab.path("public/a"), lab.path(other));
        let watched = lab.path("public/a/recipe.yaml");
        let command: &[&str] = if is_link { &[] } else { &["--allow", "host"] };
        let command = [&["run", "public/a"], command].concat();
        Self::new(lab, &command, watched, pair, RENAME_EXCHANGE)
    }

    fn start(&self, program: &Path, chance: &mut Rng) -> Child {
        let numbers = [EVENTS[chance.usize(..EVENTS.len())], chance.u32(..3)];
        let mut other = Command::new(program);
        other.uid(OTHER_USER).gid(OTHER_USER).stdout(Stdio::piped()).arg(&self.watched);
        other.args(numbers.map(|number| number.to_string())).args([&self.from, &self.to]);
        let mut other = other.arg(self.flags.to_string()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(other.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "watching\n");
        other
    }
}

fn touch(lab: &Lab) -> String {
    format!("touch {}", lab.path("proof").display())
}

fn on_host(run: &str) -> String {
    let keys = format!("setup: {{ own: {{ on: host, run: '{run}' }} }}");
    recipe_with(&keys, &case("main", "true", ""))
}

/// A recipe of root's, in which the command on the host is a file.
fn with_recipe(lab: Lab) -> Lab {
    let script = format!("#!/bin/sh\n{}\n", touch(&lab));
    let lab = lab.file("own/recipe.yaml", &on_host("\"$RETRIAL_RECIPE_DIR/touch.sh\""));
    let lab = lab.file("own/touch.sh", &script);
    fs::set_permissions(lab.path("own/touch.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    lab
}

#[test]
#[ignore = "needs root and the lab"]
fn by_another_user_who_replaces_files() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (source, program) = (directory.path().join("replace.c"), directory.path().join("replace"));
    fs::write(&source, REPLACE).unwrap();
    let compiled = Command::new("cc").arg("-o").args([&program, &source]).status();
    assert!(compiled.expect("a C compiler").success());
    Tally::new("files that another user replaces when they are read", 100).run(|chance| {
        let race = match chance.u8(..6) {
            0 => Race::recipe(),
            1 => Race::batch(),
            2 => Race::configuration(),
            3 => Race::approvals(),
            kind => Race::directory(kind == 4),
        };
        let mut other = race.start(&program, chance);
        let command: Vec<&str> = race.command.iter().map(String::as_str).collect();
        let done = race.lab.retrial(&command);
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(matches!(done.code, Some(0 | 2)), "{done:?}");
        assert!(!race.lab.path("proof").exists(), "{command:?} {done:?}");
        1
    });
}

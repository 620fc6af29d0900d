//! `retrial new` in a terminal: its questions, the recipe, and when it does not ask. `script` is the terminal.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::support::terminal::terminal_command;
use crate::support::wait::wait_until;

/// `retrial` in a terminal of its own.
struct Session {
    child: Child,
    screen: File,
    /// The bytes of the screen that were searched for a question.
    answered: usize,
}

impl Session {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let screen = tempfile::tempfile().unwrap();
        let child = terminal_command(arguments)
            .current_dir(directory)
            .stdout(screen.try_clone().unwrap())
            .spawn()
            .unwrap();
        Self { child, screen, answered: 0 }
    }

    fn screen(&self) -> String {
        // A read at a place leaves the one at which `script` writes.
        let length = self.screen.metadata().unwrap().len();
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        self.screen.read_exact_at(&mut bytes, 0).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits for a text behind the last answer.
    fn expect(&mut self, text: &str) -> &mut Self {
        wait_until(text, || {
            let screen = self.screen();
            screen[self.answered..].contains(text)
        });
        self
    }

    /// Answers the question that has this text.
    fn answer(&mut self, question: &str, keys: &str) -> &mut Self {
        self.expect(question);
        self.answered = self.screen().len();
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(keys.as_bytes()).unwrap();
        self
    }

    fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

/// Runs `retrial` without a terminal, and returns its exit code and standard error.
fn retrial(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

const IMAGE: &str = "image, or the guide's `docker run` lines";
const LOG: &str = "output that has the figure";

#[test]
fn answers_make_a_recipe_that_passes_the_check() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session::start(directory.path(), &["new", "mine.yaml"]);
    session
        .answer(IMAGE, "debian:12\n")
        .answer("command: ", "./bench --size 8\n")
        .answer("name of the figure [speed]: ", "throughput\n")
        .answer(LOG, "warmup 3\n\nthroughput: 1,012 images/s\n\n")
        .answer("[throughput: ${number}]: ", "thruput ${number}\n")
        .expect("throughput is not found")
        .answer("[throughput: ${number}]: ", "\n")
        .expect("found throughput = 1,012")
        .answer("published throughput", "fast\n")
        .expect("`fast` is not read: it is no number")
        .answer("published throughput", "1000 images/s\n")
        .expect("101.2 % of the published 1000")
        .answer("another figure", "\n")
        .answer("where it was published", "https://example.org/blog\n");
    assert!(session.wait().success(), "{}", session.screen());
    let text = fs::read_to_string(directory.path().join("mine.yaml")).unwrap();
    for part in [
        "image: \"debian:12\"",
        "run: \"./bench --size 8\"",
        "pattern: \"throughput: ${number}\"",
        "unit: images/s",
        "value: 1000",
        "- \"https://example.org/blog\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("incomplete"), "{text}");
    let (code, stderr) = retrial(directory.path(), &["check", "mine.yaml"]);
    assert_eq!(code, Some(0), "{stderr}");
}

/// If a line states everything except the number of GPUs, only that is asked for.
#[test]
fn only_what_is_missing_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let line = [
        "new",
        "gpus.yaml",
        "--from",
        "docker run --gpus all a/b:1 python3 bench.py",
        "--figure",
        "speed=speed: ${number}",
        "--expect",
        "none",
    ];
    let mut session = Session::start(directory.path(), &line);
    session
        .answer("gpus: ", "all\n")
        .expect("`all` is not a whole number")
        .answer("gpus: ", "default: 8\n");
    assert!(session.wait().success(), "{}", session.screen());
    let screen = session.screen();
    assert!(!screen.contains("published"), "{screen}");
    let text = fs::read_to_string(directory.path().join("gpus.yaml")).unwrap();
    assert!(text.contains("default: 8") && !text.contains("incomplete"), "{text}");

    // The same answers on the command line.
    let set = [&["new", "set.yaml"], &line[2..], &["--set", "gpus=8"]].concat();
    let (code, stderr) = retrial(directory.path(), &set);
    assert_eq!(code, Some(0), "{stderr}");
    let of_options = fs::read_to_string(directory.path().join("set.yaml")).unwrap();
    assert_eq!(of_options.replace("set", "gpus"), text.replace("set", "gpus"));
}

/// A file of command lines, and a path of a missing one.
#[test]
fn a_path_in_place_of_the_image_is_a_file_of_lines() {
    let directory = tempfile::tempdir().unwrap();
    let guide = "```\ndocker run debian:12 ./bench --size 8\n```\n";
    fs::write(directory.path().join("guide.md"), guide).unwrap();
    let mut session = Session::start(directory.path(), &["new", "mine.yaml"]);
    session
        .answer(IMAGE, "./missing.md\n")
        .expect("failed to read ./missing.md: No such file")
        .answer(IMAGE, "guide.md\n")
        .answer("name of the figure", "\n")
        .answer(LOG, "\n")
        .answer("pattern of speed", "\n");
    assert!(session.wait().success(), "{}", session.screen());
    let text = fs::read_to_string(directory.path().join("mine.yaml")).unwrap();
    for part in ["image: \"debian:12\"", "./bench --size 8"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_empty_first_answer_writes_the_commented_example() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = Session::start(directory.path(), &["new", "example.yaml"]);
    session.answer(IMAGE, "\n");
    assert!(session.wait().success(), "{}", session.screen());
    let text = fs::read_to_string(directory.path().join("example.yaml")).unwrap();
    assert!(text.starts_with("# A recipe:"), "{text}");
}

/// Ctrl-C, and Ctrl-D.
#[test]
fn an_end_without_an_answer_writes_nothing() {
    for (key, code) in [("\u{3}", 130), ("\u{4}", 130)] {
        let directory = tempfile::tempdir().unwrap();
        let mut session = Session::start(directory.path(), &["new", "never.yaml"]);
        session.answer(IMAGE, "debian:12\n").answer("command: ", key);
        assert_eq!(session.wait().code(), Some(code), "{}", session.screen());
        let written = fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(written, 0);
    }
}

/// Of a page with several commands one is chosen by its number.
#[test]
fn a_page_with_several_commands_asks_which() {
    let directory = tempfile::tempdir().unwrap();
    let page = "# Small\n```bash\ndocker run debian:12 ./bench small\n```\n\
                # Large\n```bash\ndocker run debian:12 ./bench large\n```\n";
    fs::write(directory.path().join("README.md"), page).unwrap();
    let options = ["--figure", "speed=speed: ${number}", "--expect", "none"];
    let from = |name| [&["new", name, "--from", "README.md"], &options[..]].concat();
    let mut session = Session::start(directory.path(), &from("large.yaml"));
    session
        .expect("  1  line 3  Small: docker run debian:12 ./bench small")
        .expect("  2  line 7  Large: docker run debian:12 ./bench large")
        .answer("number of the command", "2\n");
    assert!(session.wait().success(), "{}", session.screen());
    let text = fs::read_to_string(directory.path().join("large.yaml")).unwrap();
    assert!(text.contains("./bench large") && !text.contains("small"), "{text}");
    for answer in ["3\n", "large\n", "0\n"] {
        let mut session = Session::start(directory.path(), &from("none.yaml"));
        session.answer("number of the command", answer);
        assert_eq!(session.wait().code(), Some(2), "{answer}");
        assert!(session.screen().contains("choose one: --from README.md:3, or --step N"));
        assert!(!directory.path().join("none.yaml").exists());
    }
    let (code, stderr) = retrial(directory.path(), &from("none.yaml"));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("README.md has 2 commands to choose from"), "{stderr}");
}

/// With `--no-input` and in a pipe, missing items are in the recipe.
#[test]
fn without_input_nothing_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let from = ["--from", "docker run --gpus all debian:12 ./bench"];
    let with = |name: &'static str, more: &[&'static str]| [&["new", name], more, &from].concat();
    let mut session = Session::start(directory.path(), &with("terminal.yaml", &["--no-input"]));
    assert!(session.wait().success(), "{}", session.screen());
    let screen = session.screen();
    assert!(screen.contains("4 lines of `incomplete`"), "{screen}");
    let (code, stderr) = retrial(directory.path(), &with("pipe.yaml", &[]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("4 lines of `incomplete`"), "{stderr}");
    let (code, stderr) = retrial(directory.path(), &["new", "starter.yaml"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("image"), "{stderr}");
}

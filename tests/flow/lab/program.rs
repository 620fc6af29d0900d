//! The program while it runs, and how it ended.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::{Lab, PATIENCE};

/// The program at work.
pub struct Going<'a> {
    _lab: &'a Lab,
    child: Child,
    out: fs::File,
    err: fs::File,
}

impl<'a> Going<'a> {
    pub(super) fn new(lab: &'a Lab, child: Child, out: fs::File, err: fs::File) -> Self {
        Self { _lab: lab, child, out, err }
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// Types keys in its terminal.
    pub fn press(&mut self, keys: &str) {
        use std::io::Write;
        let terminal = self.child.stdin.as_mut().unwrap();
        terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Kills it, as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Returns whether it has printed a text, on either stream.
    pub fn printed(&self, text: &str) -> bool {
        [read_all(&self.out), read_all(&self.err)].iter().any(|printed| printed.contains(text))
    }

    /// Its end.
    pub fn end(&mut self) -> Done {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if since.elapsed() > PATIENCE * 4 {
                let _ = self.child.kill();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        Done { code: status.code(), out: read_all(&self.out), err: read_all(&self.err) }
    }
}

/// Reads a file from its start, whatever else writes to it.
pub(super) fn read_all(file: &fs::File) -> String {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
    file.read_exact_at(&mut bytes, 0).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How the program ended.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    fn has_printed(&self, text: &str) -> bool {
        let unwrap = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = unwrap(text);
        [&self.out, &self.err].iter().any(|printed| unwrap(printed).contains(&text))
    }

    /// Asserts its exit code.
    #[track_caller]
    pub fn expect_exit(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }

    /// Asserts that it printed this text, on either stream, wherever its lines break.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        let printed = self.has_printed(text);
        assert!(printed, "not printed: {text}\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }

    /// Asserts that it did not print this text.
    #[track_caller]
    pub fn does_not_print(self, text: &str) -> Self {
        let printed = self.out.contains(text) || self.err.contains(text);
        assert!(!printed, "printed: {text}\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }
}

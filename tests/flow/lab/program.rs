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
        Self {
            _lab: lab,
            child,
            out,
            err,
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
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

    /// Its end.
    pub fn end(&mut self) -> Done {
        use std::io::{Read, Seek};
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
        let read = |file: &mut fs::File| {
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Done {
            code: status.code(),
            out: read(&mut self.out),
            err: read(&mut self.err),
        }
    }
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
    /// Asserts its exit code.
    #[track_caller]
    pub fn expect_exit(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "\n--- out\n{}\n--- err\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that it printed this text, on either stream.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        let printed = self.out.contains(text) || self.err.contains(text);
        assert!(
            printed,
            "not printed: {text}\n--- out\n{}\n--- err\n{}",
            self.out, self.err
        );
        self
    }

    /// Asserts that it did not print this text.
    #[track_caller]
    pub fn does_not_print(self, text: &str) -> Self {
        let printed = self.out.contains(text) || self.err.contains(text);
        assert!(
            !printed,
            "printed: {text}\n--- out\n{}\n--- err\n{}",
            self.out, self.err
        );
        self
    }
}

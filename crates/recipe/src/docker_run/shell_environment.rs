//! The environment of the shell in which a guide is followed.

use std::io;

/// The environment of the shell in which a guide is followed.
pub trait ShellEnvironment {
    /// Returns the value of an environment variable.
    fn variable_value(&self, name: &str) -> Option<String>;
    /// Returns the text of a file, for `--env-file`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read_file(&self, path: &str) -> io::Result<String>;
}

/// An environment without variables and files.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyEnvironment;

impl ShellEnvironment for EmptyEnvironment {
    fn variable_value(&self, _name: &str) -> Option<String> {
        None
    }

    fn read_file(&self, _path: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

//! The shell in which a guide is followed.

/// What the shell in which the guide is followed knows.
pub trait Surroundings {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The text of a file, for `--env-file`; or why it cannot be read.
    ///
    /// # Errors
    /// A sentence.
    fn file(&self, path: &str) -> Result<String, String>;
}

/// A shell that knows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files here".to_owned())
    }
}

//! The environment of the shell in which a guide is followed.

/// The environment of the shell in which a guide is followed.
pub trait ShellEnvironment {
    /// Returns the value of an environment variable.
    fn variable_value(&self, name: &str) -> Option<String>;
    /// Returns the text of a file, for `--env-file`.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn read_file(&self, path: &str) -> Result<String, String>;
}

/// An environment without variables and files.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyEnvironment;

impl ShellEnvironment for EmptyEnvironment {
    fn variable_value(&self, _name: &str) -> Option<String> {
        None
    }

    fn read_file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files here".to_owned())
    }
}

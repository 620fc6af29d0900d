//! The environment of the shell in which a guide is followed.

use std::io;

/// The program that the containers of an image start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageProgram {
    /// The program, before the words behind the image.
    pub entrypoint: Vec<String>,
    /// The default arguments, if a command line has none behind the image.
    pub command: Vec<String>,
}

/// The environment of the shell in which a guide is followed.
pub trait ShellEnvironment {
    fn variable_value(&self, name: &str) -> Option<String>;
    /// Returns the text of a file, for `--env-file`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read_file(&self, path: &str) -> io::Result<String>;
    fn user_id(&self) -> Option<u32> {
        None
    }
    /// Returns the number of this user's group.
    fn group_id(&self) -> Option<u32> {
        None
    }
    /// Returns the number of a group of this host.
    fn group_id_of(&self, _name: &str) -> Option<u32> {
        None
    }
    fn host_name(&self) -> Option<String> {
        None
    }
    /// Returns the program that an image starts, if the engine has the image.
    fn image_program(&self, _image: &str) -> Option<ImageProgram> {
        None
    }
    /// Returns the number of processors that a process may use.
    fn processors(&self) -> Option<usize> {
        None
    }
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

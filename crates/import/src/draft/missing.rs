//! What a guide does not say: questions to its reader, each with the place of the answer.

use std::fmt;

/// A part of a recipe that a guide does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub place: MissingPlace,
    /// What to write there, with an example.
    pub text: String,
}

/// Where a missing part of a recipe belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingPlace {
    /// The container's flags.
    Container,
    /// A param's default.
    Param(String),
    /// A key of the guide's service.
    Service(&'static str),
    /// A key of the measurement.
    Measurement(&'static str),
    Submission,
}

/// The name of the service of a guide's server.
pub const SERVER_NAME: &str = "server";

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            MissingPlace::Container => formatter.write_str("container")?,
            MissingPlace::Param(name) => write!(formatter, "params.{name}")?,
            MissingPlace::Service(key) => write!(formatter, "services.{SERVER_NAME}.{key}")?,
            MissingPlace::Measurement(key) => {
                write!(formatter, "scenarios.my-case.performance.{key}")?;
            }
            MissingPlace::Submission => formatter.write_str("submission")?,
        }
        write!(formatter, ": {}", self.text)
    }
}

/// The command of a guide that has no measured command.
pub const PLACEHOLDER_COMMAND: &str =
    "echo 'write the command that the guide runs in the container' >&2\nexit 1\n";

/// Returns what an image runs with these arguments, in words.
pub fn describe_entrypoint(arguments: &str) -> String {
    if arguments.is_empty() {
        "the image's entrypoint and command".to_owned()
    } else {
        format!("the image's entrypoint, then `{arguments}`")
    }
}

/// Returns a text on one line, shortened.
pub fn shorten(text: &str, length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= length {
        return line;
    }
    let start: String = line.chars().take(length).collect();
    format!("{}…", start.trim_end())
}

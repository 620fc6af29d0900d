//! From a vendor's `docker run …` to a recipe.
//!
//! ```text
//! block of a guide ──words──▶ commands ──line──▶ flags, image, command ──translate──▶ recipe (YAML)
//! ```
//!
//! Nothing is lost silently: a flag has a key of the recipe, or is dropped with a note why it
//! makes no difference, or is refused by name. What the shell would have put in ([`Surroundings`])
//! becomes a param of the recipe.

mod error;
mod flags;
mod guide;
mod line;
mod mounts;
mod nodes;
mod parts;
mod secret;
mod text;
mod translate;
mod words;

pub use error::DockerRunError;
pub use flags::{FLAGS, Flag, Treatment};
pub use line::{Given, Line, line};
pub use nodes::{list, map, plain, text as text_node};
pub use words::{Piece, Word, commands};

use retrial_document::Node;

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

/// A recipe, and its differences from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The recipe's text; it has the notes as comments.
    pub recipe: String,
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
}

/// What a `docker run` says of a recipe, to be written together with what it does not say.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
    /// The image's reference.
    pub image: String,
    /// Keys of a recipe: params, container, secrets, setup.
    pub keys: Vec<(&'static str, Node)>,
    /// The command that is measured, with its further keys, where the block has one.
    pub measured: Option<Vec<(&'static str, Node)>>,
}

/// Reads the block of a guide that has a `docker run` in it, for a recipe that says more.
///
/// # Errors
/// What has no meaning in a recipe, everything at once.
pub fn draft(block: &str, surroundings: &dyn Surroundings) -> Result<Draft, Vec<DockerRunError>> {
    let commands = commands(block).map_err(|error| vec![error])?;
    let (run, guide) = guide::guide(&commands)?;
    Ok(text::draft(translate::parts(&run, guide, surroundings)?))
}

/// Reads the block of a guide that has a `docker run` in it. `name` becomes the recipe's title.
///
/// # Errors
/// What has no meaning in a recipe, everything at once.
pub fn read(
    name: &str,
    block: &str,
    surroundings: &dyn Surroundings,
) -> Result<Reading, Vec<DockerRunError>> {
    let commands = commands(block).map_err(|error| vec![error])?;
    let (run, guide) = guide::guide(&commands)?;
    let parts = translate::parts(&run, guide, surroundings)?;
    let recipe = text::recipe(name, &parts);
    Ok(Reading {
        recipe,
        notes: parts.notes,
    })
}

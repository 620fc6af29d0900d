//! Converts a vendor's `docker run …` into a recipe.
//!
//! ```text
//! block of a guide ──words──▶ commands ──line──▶ flags, image, command ──translate──▶ recipe (YAML)
//! ```
//!
//! Nothing is lost silently: a flag has a key of the recipe, or is dropped with a note why it
//! makes no difference, or is refused by name. What the shell would have put in ([`ShellEnvironment`])
//! becomes a param of the recipe.

mod error;
mod flags;
mod guide;
mod line;
mod mounts;
mod nodes;
mod parts;
mod secret;
mod surroundings;
mod text;
mod translate;
mod words;

pub use error::DockerRunError;
pub use flags::{DockerFlag, FLAGS, FlagTreatment};
pub use line::{DockerRunCommand, FlagValue, line};
pub use nodes::{list, map, plain, text as text_node};
pub use surroundings::{EmptyEnvironment, ShellEnvironment};
pub use text::DockerRunDraft;
pub use words::{ShellWord, ShellWordPart, commands};

/// A recipe, and its differences from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerRunRecipe {
    /// The recipe's text; it has the notes as comments.
    pub recipe: String,
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
}

/// Converts the block of a guide into the keys of a recipe, to which the caller adds others.
///
/// # Errors
/// Returns everything that a recipe cannot express.
pub fn draft(
    block: &str,
    surroundings: &dyn ShellEnvironment,
) -> Result<DockerRunDraft, Vec<DockerRunError>> {
    let commands = commands(block).map_err(|error| vec![error])?;
    let (run, guide) = guide::guide(&commands)?;
    Ok(text::draft(translate::parts(&run, guide, surroundings)?))
}

/// Converts the block of a guide into a recipe's text. `name` becomes the recipe's title.
///
/// # Errors
/// Returns everything that a recipe cannot express.
pub fn read(
    name: &str,
    block: &str,
    surroundings: &dyn ShellEnvironment,
) -> Result<DockerRunRecipe, Vec<DockerRunError>> {
    let draft = draft(block, surroundings)?;
    Ok(DockerRunRecipe {
        recipe: text::recipe(name, &draft),
        notes: draft.notes,
    })
}

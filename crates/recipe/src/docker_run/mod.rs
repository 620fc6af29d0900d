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
mod shell_environment;
mod text;
mod translate;
mod value_error;
mod words;

pub use error::DockerRunError;
pub use flags::{DOCKER_RUN_FLAGS, DockerFlag, FlagTreatment};
pub use line::{DockerRunCommand, FlagValue, parse_line};
pub use nodes::{list_node, map_node, plain_node, text_node};
pub use shell_environment::{EmptyEnvironment, ShellEnvironment};
pub use text::DockerRunDraft;
pub use value_error::FlagValueError;
pub use words::{ShellWord, ShellWordPart, split_commands};

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
pub fn draft_from_block(
    block: &str,
    surroundings: &dyn ShellEnvironment,
) -> Result<DockerRunDraft, Vec<DockerRunError>> {
    let commands = split_commands(block).map_err(|error| vec![error])?;
    let (run, guide) = guide::sort_commands(&commands)?;
    Ok(text::build_draft(translate::collect_parts(
        &run,
        guide,
        surroundings,
    )?))
}

/// Converts the block of a guide into a recipe's text. `name` becomes the recipe's title.
///
/// # Errors
/// Returns everything that a recipe cannot express.
pub fn recipe_from_block(
    name: &str,
    block: &str,
    surroundings: &dyn ShellEnvironment,
) -> Result<DockerRunRecipe, Vec<DockerRunError>> {
    let draft = draft_from_block(block, surroundings)?;
    Ok(DockerRunRecipe {
        recipe: text::render_recipe(name, &draft),
        notes: draft.notes,
    })
}

//! Converts a vendor's `docker run …` into a recipe.
//!
//! ```text
//! block of a guide ──block──▶ text ──brush-parser──▶ tree ──shell, expand──▶ commands ──line──▶ flags ──translate──▶ recipe
//! ```
//!
//! Nothing is lost silently: a flag has a key of the recipe, or is dropped with a note why it
//! makes no difference, or is refused by name and place. What the shell would have put in ([`ShellEnvironment`])
//! becomes a param of the recipe. What the block does not say is a line of `incomplete`.

mod answer;
mod block;
mod collect;
mod commands;
mod container;
mod continuation;
mod execute;
mod expand;
mod flags;
mod foreign;
mod gpu_choices;
mod gpu_options;
mod gpus;
mod grammar;
mod images;
mod join;
mod line;
mod markdown;
mod measured;
mod mounts;
mod parts;
mod program_words;
mod programs;
mod read_kind;
mod script_variables;
mod secret;
mod servers;
mod shell;
mod shell_environment;
mod shells;
mod shown_text;
mod substitutions;
mod syntax;
mod text;
mod transcript;
mod translate;
mod tree;
mod typography;
mod value_error;
mod values;
mod variables;
mod wrappers;

pub use answer::AnswerError;
pub use flags::{FlagArity, FlagTreatment, LineFlag, Meaning, docker_run_flags};
pub use markdown::shell_blocks;
pub use measured::{MeasuredFigures, is_json_path};
pub use parts::{MissingPart, MissingPlace};
pub use shell_environment::{EmptyEnvironment, ImageProgram, ShellEnvironment};
pub use text::DockerRunDraft;

use crate::Diagnostics;
use block::Block;

/// A recipe, and its differences from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerRunRecipe {
    /// The recipe's text; it has the notes as comments.
    pub recipe: String,
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
    /// What the block does not say, a line each, as `incomplete` has it.
    pub incomplete: Vec<String>,
}

/// Converts the block of a guide into the keys of a recipe, to which the caller adds others. `path` is what places in
/// it are called.
///
/// # Errors
/// Returns everything that a recipe cannot express, each with its place.
pub fn draft_from_block(
    path: &str,
    block: &str,
    environment: &dyn ShellEnvironment,
) -> Result<DockerRunDraft, Diagnostics> {
    let prepared = Block::prepare(path, block)?;
    let shell = shell::follow(&prepared, environment);
    let place = prepared.span(0..1);
    let parts = collect::collect_parts(shell, block, &place).and_then(text::build_draft);
    parts.map_err(|mut problems| {
        problems.sort_by_place(path);
        problems
    })
}

/// Converts the block of a guide into a recipe's text. `name` becomes the recipe's title, `path` is what places in the
/// block are called.
///
/// # Errors
/// Returns everything that a recipe cannot express, each with its place.
pub fn recipe_from_block(
    name: &str,
    path: &str,
    block: &str,
    environment: &dyn ShellEnvironment,
    figures: &MeasuredFigures,
) -> Result<DockerRunRecipe, Diagnostics> {
    let draft = draft_from_block(path, block, environment)?;
    Ok(recipe_from_draft(name, draft, figures))
}

/// Writes a draft as a recipe with these figures.
pub fn recipe_from_draft(
    name: &str,
    draft: DockerRunDraft,
    figures: &MeasuredFigures,
) -> DockerRunRecipe {
    let notes = draft.notes.clone();
    let (recipe, incomplete) = text::render_recipe(name, draft, figures);
    DockerRunRecipe { recipe, notes, incomplete }
}

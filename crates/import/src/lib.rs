//! A guide's command lines as a recipe.
//!
//! ```text
//! page ──▶ blocks ──▶ commands with places ──▶ lines of containers ──▶ keys, questions, notes
//!  page               shell                    programs               draft
//! ```
//!
//! The text stays the guide's: what is typed in a container, and every argument behind an image, is kept as its author
//! wrote it. Only what leaves the host's shell for the recipe is understood. Nothing comes from the machine that imports,
//! and nothing is lost silently: a flag has a key of the recipe, makes no difference, or is refused by name and place;
//! what the guide leaves to its reader is a question.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod choose;
mod draft;
mod page;
mod programs;
mod shell;

pub use choose::{Candidate, Selection};
pub use draft::{
    AnswerError, Draft, FigureFinder, InvalidFinder, MeasuredFigures, Missing, MissingPlace,
    WrittenRecipe,
};
pub use page::shell_blocks;
pub use programs::{
    Companions, FlagArity, FlagTreatment, ImageProgram, LineFlag, Meaning, NoCompanions,
    docker_run_flags,
};

use retrial_document::Diagnostics;

/// Why a guide is no recipe.
#[derive(Debug)]
pub enum Refusal {
    /// What a recipe cannot express, each with its place.
    Problems(Diagnostics),
    /// The page has several commands to choose from.
    Choose(Vec<Candidate>),
}

/// Makes the draft of a recipe of a guide: a page in Markdown, or commands. `path` is what places in it are called.
///
/// # Errors
/// [`Refusal`]
pub fn draft_from_guide(
    path: &str,
    text: &str,
    selection: Selection,
    companions: &dyn Companions,
) -> Result<Draft, Refusal> {
    let page = page::Page::read(path, text);
    let blocks = choose::choose_blocks(&page, selection).map_err(Refusal::Choose)?;
    let reading = programs::read_blocks(&page, &blocks);
    draft::make_draft(&page, reading, companions).map_err(Refusal::Problems)
}

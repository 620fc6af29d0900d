//! What one key says about another: checked on a walked recipe, in which what was wrong by itself
//! is null already, so that one mistake gives one message.

mod figures;
mod host;
mod image;
mod scenarios;
mod steps;

use super::Templates;
use super::formats;
use retrial_document::{Diagnostics, Entry, Node, Span};

/// What the checks share.
pub struct Checks<'a> {
    /// The walked recipe.
    pub recipe: &'a Node,
    /// Before the walk: what was written, though it may have been wrong.
    pub written: &'a Node,
    /// A template: what is missing may come from whoever extends it.
    pub partial: bool,
    /// For companions.
    pub templates: &'a dyn Templates,
    /// What was found.
    pub problems: Diagnostics,
}

impl Checks<'_> {
    /// All checks.
    pub fn run(mut self) -> Diagnostics {
        self.image();
        self.host();
        self.steps();
        self.scenarios();
        self.problems
    }

    /// A file beside the recipe.
    fn companion(&mut self, relative: &str, span: &Span) {
        if formats::RELATIVE_PATH.mismatch(relative).is_some() {
            return;
        }
        let clean = relative.strip_prefix("./").unwrap_or(relative);
        if self.templates.companion_exists(clean) == Some(false) {
            self.problems.error(
                "missing-file",
                format!("there is no `{clean}` beside the recipe"),
                span,
                "paths are relative to the recipe's directory",
            );
        }
    }
}

/// The entries of a map under a key.
fn entries<'a>(node: &'a Node, key: &str) -> &'a [Entry] {
    node.get(key).map_or(&[], Node::entries)
}

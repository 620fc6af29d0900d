//! What one key says about another: checked on a walked recipe, in which what was wrong by itself
//! is null already, so that one mistake gives one message.

mod figures;
mod host;
mod image;
mod incomplete;
mod nodes;
mod scenarios;
mod services;
mod steps;

use super::Templates;
use super::formats;
use retrial_document::{Diagnostics, Node, Span};

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
        self.services();
        self.nodes();
        self.incomplete();
        self.problems
    }

    /// Reports a key that has no meaning where it is, unless a template's user may give it one.
    fn misplaced(&mut self, node: &Node, key: &str, message: &str, help: &str) {
        if let Some(entry) = node.entry(key).filter(|_| !self.partial) {
            self.problems
                .error("conflict", message, &entry.key_span, help);
        }
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
                format!("there is no `{clean}` next to the recipe"),
                span,
                "paths are relative to the recipe's directory",
            );
        }
    }
}

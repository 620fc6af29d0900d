//! Checks keys of a recipe against each other. They see a validated recipe, in which a wrong value is null already, so
//! that one mistake gives one message.

mod claims;
mod expectations;
mod figures;
mod host;
mod image;
mod nodes;
mod scenarios;
mod services;
mod steps;

use super::TemplateSource;
use super::formats;
use retrial_document::{Diagnostics, MapEntry, Node, Span, did_you_mean};

/// The recipe that is checked, and the problems found so far.
pub struct CheckContext<'a> {
    /// The validated recipe: expressions evaluated, wrong values null.
    pub recipe: &'a Node,
    /// The merged recipe before its validation: it may have errors.
    pub unchecked_recipe: &'a Node,
    /// A template is checked: the recipe that extends it may have the missing keys.
    pub partial: bool,
    /// Tells whether a file next to the recipe exists.
    pub templates: &'a dyn TemplateSource,
    /// The problems found so far.
    pub problems: Diagnostics,
}

impl<'a> CheckContext<'a> {
    /// Returns the modes of all scenarios, and the shared commands.
    fn modes_and_commands(&self) -> impl Iterator<Item = &'a MapEntry> + use<'a> {
        let scenarios = self.recipe.entries_at("scenarios").iter();
        let modes = scenarios.flat_map(|scenario| scenario.value.entries());
        modes.chain(self.recipe.entries_at("commands"))
    }

    /// Reports a name that is not declared.
    fn report_undeclared(
        &mut self,
        code: &'static str,
        noun: &str,
        named: &Node,
        declared: &[MapEntry],
    ) {
        let name = named.text().unwrap_or("");
        if !declared.iter().any(|entry| entry.key == name) {
            let keys = declared.iter().map(|entry| entry.key.as_str());
            let help = did_you_mean(name, keys, &format!("{noun}s"));
            let message = format!("no such {noun}: `{name}`");
            self.problems.error(code, message, &named.span, help);
        }
    }

    /// Runs all checks and returns the problems.
    pub fn run(mut self) -> Diagnostics {
        self.check_image();
        self.check_host();
        self.check_steps();
        self.check_scenarios();
        self.check_claims();
        self.check_services();
        self.check_nodes();
        self.warn_incomplete();
        self.problems
    }

    /// Warns of each line of `incomplete`: a recipe may be shown and used for judging before it can run.
    fn warn_incomplete(&mut self) {
        let items = self.recipe.items_at("incomplete").iter();
        for (item, text) in items.filter_map(|item| Some((item, item.text()?))) {
            let message = format!("to be completed: {text}");
            let help = "complete it, and remove this line; `retrial run` refuses until then";
            self.problems.warning("incomplete", message, &item.span, help);
        }
    }

    /// Reports a key that has no meaning at its place, unless a template's user may give it one.
    fn report_misplaced(&mut self, node: &Node, key: &str, message: &str, help: &str) {
        if let Some(entry) = node.entry(key).filter(|_| !self.partial) {
            self.problems.error("conflict", message, &entry.key_span, help);
        }
    }

    /// Checks a file next to the recipe.
    fn check_companion(&mut self, relative: &str, span: &Span) {
        if formats::RELATIVE_PATH.mismatch(relative).is_some() {
            return;
        }
        let clean = relative.strip_prefix("./").unwrap_or(relative);
        if self.templates.companion_exists(clean) == Some(false) {
            self.problems.error(
                "missing-file",
                format!("no such file next to the recipe: `{clean}`"),
                span,
                "paths are relative to the recipe's directory",
            );
        }
    }
}

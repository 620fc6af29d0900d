//! The parts of a recipe, as they are collected from the commands of a guide.

use retrial_document::{Diagnostic, Diagnostics, ErrorText, Node, Span};

use super::keys::ContainerKeys;
use super::missing::{Missing, MissingPlace};
use super::value_error::FlagValueError;
use crate::programs::{Companions, JobContext};
use crate::shell::{Renderer, Values, Word};

/// A variable of a step whose value is a secret: `HUGGING_FACE_HUB_TOKEN=$HF_TOKEN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretVariable {
    /// The name that the program reads.
    pub name: String,
    /// The variable of the host.
    pub secret: String,
}

/// The state of a draft that is being made.
pub struct Builder<'a> {
    pub values: Values,
    pub companions: &'a dyn Companions,
    pub files: std::collections::BTreeMap<String, String>,
    pub job: JobContext,
    pub notes: Vec<String>,
    pub problems: Diagnostics,
    pub missing: Vec<Missing>,
    /// Flags that change nothing, as they are written.
    pub dropped: Vec<String>,
    /// Secrets that commands name.
    pub secrets: Vec<String>,
    /// Secrets that the container's variables have; steps get them.
    pub secret_variables: Vec<SecretVariable>,
    pub image: String,
    pub build: Option<Node>,
    pub requires: Option<Node>,
    pub container: ContainerKeys,
}

impl<'a> Builder<'a> {
    pub fn new(reading: crate::programs::Reading, companions: &'a dyn Companions) -> Self {
        Self {
            values: reading.values,
            companions,
            files: reading.files,
            job: reading.job,
            notes: reading.notes,
            problems: reading.problems,
            missing: Vec::new(),
            dropped: Vec::new(),
            secrets: Vec::new(),
            secret_variables: Vec::new(),
            image: String::new(),
            build: None,
            requires: None,
            container: ContainerKeys::default(),
        }
    }

    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a part that the guide does not say.
    pub fn ask(&mut self, place: MissingPlace, text: impl Into<String>) {
        let missing = Missing { place, text: text.into() };
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Adds a problem of a place.
    pub fn refuse(&mut self, message: impl Into<String>, span: &Span, help: impl Into<String>) {
        let problem = Diagnostic::error("guide", message.into(), span.clone());
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.problems.push(problem.with_optional_help(help));
    }

    pub fn refuse_value(&mut self, flag: &str, word: &Word, reason: &FlagValueError) {
        if self.take(&format!("--{flag}"), word).is_none() {
            // A problem with the value was reported before.
            return;
        }
        let text = ErrorText::of(reason);
        let message = format!("--{flag} {}: {}", word.written, text.message);
        self.refuse(message, &word.span, text.help.join("; "));
    }

    pub fn renderer(&mut self) -> Renderer<'_> {
        Renderer {
            values: &mut self.values,
            problems: &mut self.problems,
            secrets: &mut self.secrets,
        }
    }

    /// Returns a word as text of the recipe; nothing if it has a problem.
    pub fn take(&mut self, flag: &str, word: &Word) -> Option<String> {
        self.renderer().value(flag, word)
    }

    /// Lets the steps have a secret under the name that the program reads.
    pub fn pass_secret(&mut self, name: &str, secret: &str) {
        self.renderer().name_secret(secret);
        let variable = SecretVariable { name: name.to_owned(), secret: secret.to_owned() };
        if !self.secret_variables.contains(&variable) {
            self.secret_variables.push(variable);
        }
    }
}

/// Returns whether a path has `..`, which a recipe does not take.
pub fn has_parent(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

//! The variables that a guide sets, and the parameters that stand for the others. Nothing is read from the shell that
//! imports.

use std::collections::{BTreeMap, BTreeSet};

use super::part::{ParamId, Part};
use super::secret::is_secret;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    String,
    Int,
    Path,
}

/// A parameter of the recipe in place of a value of the guide's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    /// As the guide writes it: `$MODEL`, `$(id -u)`, `<your model>`.
    pub written: String,
    pub kind: ParamKind,
    pub default: Option<String>,
    /// The guide's words about it.
    pub question: Option<String>,
    /// A key of the recipe names it.
    pub is_used: bool,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Scalar(Vec<Part>),
    Array(Vec<Vec<Part>>),
    /// The reader sets it; with the guide's words about it.
    Asked(Option<String>),
}

/// Variables and parameters.
#[derive(Debug, Clone)]
pub struct Values {
    variables: BTreeMap<String, Value>,
    pub exported: BTreeSet<String>,
    /// The working directory of the host's commands.
    pub directory: Vec<Part>,
    params: Vec<Param>,
    /// The variable of each parameter that stands for one.
    named: BTreeMap<String, ParamId>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            variables: BTreeMap::new(),
            exported: BTreeSet::new(),
            directory: vec![Part::Here],
            params: Vec::new(),
            named: BTreeMap::new(),
        }
    }
}

impl Values {
    pub fn param(&self, id: ParamId) -> &Param {
        &self.params[id.0]
    }

    pub fn param_mut(&mut self, id: ParamId) -> &mut Param {
        &mut self.params[id.0]
    }

    /// Returns the parameters that keys of the recipe name.
    pub fn used_params(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.is_used)
    }

    /// Returns the expression of a parameter.
    pub fn expression(&mut self, id: ParamId) -> String {
        self.params[id.0].is_used = true;
        format!("${{{{ params.{} }}}}", self.params[id.0].name)
    }

    /// Adds a parameter; `hint` becomes its name.
    pub fn add_param(
        &mut self,
        hint: &str,
        written: &str,
        default: Option<String>,
        question: Option<String>,
    ) -> ParamId {
        let same = self.params.iter().position(|param| {
            param.written == written && param.default == default && param.question == question
        });
        if let Some(same) = same {
            return ParamId(same);
        }
        self.params.push(Param {
            name: self.unused_name(hint),
            written: written.to_owned(),
            kind: ParamKind::String,
            default,
            question,
            is_used: false,
        });
        ParamId(self.params.len() - 1)
    }

    fn unused_name(&self, hint: &str) -> String {
        let fit = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let lower: String = hint.to_lowercase().chars().map(fit).collect();
        let words: Vec<&str> = lower.split('_').filter(|word| !word.is_empty()).take(5).collect();
        let name = words.join("_");
        let name = match name.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => name,
            _ => format!("value_{name}").trim_matches('_').to_owned(),
        };
        let is_free = |name: &String| self.params.iter().all(|param| param.name != *name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }

    pub fn assign(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// Forgets what commands assign that a shell may skip, and returns the names.
    pub fn forget_since(&mut self, before: &Self) -> Vec<String> {
        let is_changed = |name: &&String| before.variables.get(*name) != self.variables.get(*name);
        let names: Vec<String> = self.variables.keys().filter(is_changed).cloned().collect();
        for name in &names {
            self.assign(name, Value::Asked(None));
        }
        names
    }

    /// Returns what an expansion of a variable gives; one that the guide does not set becomes a parameter, or a secret.
    pub fn use_variable(&mut self, name: &str) -> Vec<Part> {
        match self.variables.get(name).cloned() {
            Some(Value::Scalar(parts)) if is_other_secret(name, &parts) => parts,
            _ if is_secret(name) => vec![Part::Secret(name.to_owned())],
            Some(Value::Scalar(parts)) => self.use_value(name, parts),
            Some(Value::Array(words)) => words.into_iter().next().unwrap_or_default(),
            Some(Value::Asked(question)) => vec![self.ask_for_variable(name, question)],
            None => match name {
                "PWD" => self.directory.clone(),
                "HOME" => vec![Part::Home],
                _ => vec![self.ask_for_variable(name, None)],
            },
        }
    }

    /// A plain value is the default of a parameter; others are used as they are.
    fn use_value(&mut self, name: &str, parts: Vec<Part>) -> Vec<Part> {
        let [Part::Text(text)] = &parts[..] else { return parts };
        let is_plain = !text.contains(char::is_whitespace) && !text.starts_with('-');
        let is_shell =
            text.contains(['$', '`', '"', '\'', '\\', ';', '&', '|', '<', '>', '(', ')']);
        if !is_plain || is_shell || text.is_empty() {
            return parts;
        }
        vec![Part::Param(self.param_of_variable(name, Some(text.clone()), None))]
    }

    pub fn param_of_variable(
        &mut self,
        name: &str,
        default: Option<String>,
        question: Option<String>,
    ) -> ParamId {
        let known = self.named.get(name).copied();
        if let Some(known) = known.filter(|id| self.param(*id).default == default) {
            return known;
        }
        let id = self.add_param(name, &format!("${name}"), default, question);
        self.named.insert(name.to_owned(), id);
        id
    }

    fn ask_for_variable(&mut self, name: &str, question: Option<String>) -> Part {
        Part::Param(self.param_of_variable(name, None, question))
    }
}

/// `HUGGING_FACE_HUB_TOKEN=$HF_TOKEN` is the secret of the other name.
fn is_other_secret(name: &str, parts: &[Part]) -> bool {
    matches!(parts, [Part::Secret(other)] if other != name)
}

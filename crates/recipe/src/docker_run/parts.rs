//! What the recipe will say, as it is collected; words of the shell become texts with params.

use retrial_document::quoted;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Surroundings;
use super::error::DockerRunError;
use super::secret::{is_secret, token_in};
use super::words::{Piece, Word};
use crate::quote::quote;

/// A value of the recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Numbers and truths, as they stand.
    Bare(String),
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, Value)>),
}

/// A param that stands for a variable of the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    pub name: String,
    pub variable: String,
    pub is_path: bool,
    pub default: Option<String>,
}

/// A command in the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub run: String,
    pub keys: Vec<(&'static str, Value)>,
}

/// Everything that the recipe will say.
pub(super) struct Parts<'a> {
    pub told: Vec<String>,
    pub params: Vec<Param>,
    pub image: String,
    /// NVIDIA GPUs that were asked for.
    pub gpus: Option<u32>,
    pub container: BTreeMap<&'static str, Value>,
    /// Whether `HF_TOKEN` is handed on.
    pub token: bool,
    /// In their order; the last is measured.
    pub steps: Vec<Step>,
    pub problems: Vec<DockerRunError>,
    set: BTreeMap<String, Word>,
    surroundings: &'a dyn Surroundings,
}

impl<'a> Parts<'a> {
    pub(super) fn new(set: Vec<(String, Word)>, surroundings: &'a dyn Surroundings) -> Self {
        Self {
            told: Vec::new(),
            params: Vec::new(),
            image: String::new(),
            gpus: None,
            container: BTreeMap::new(),
            token: false,
            steps: Vec::new(),
            problems: Vec::new(),
            set: set.into_iter().collect(),
            surroundings,
        }
    }

    pub(super) fn tell(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.told.contains(&text) {
            self.told.push(text);
        }
    }

    pub(super) fn surroundings(&self) -> &'a dyn Surroundings {
        self.surroundings
    }

    /// A word as a recipe says it: variables are params. `path` where such a param is one.
    pub(super) fn say(&mut self, flag: &str, word: &Word, path: bool) -> Option<String> {
        let mut said = String::new();
        for (at, piece) in word.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) if text.contains("${{") => {
                    let text = text.clone();
                    self.problems.push(DockerRunError::Expression { text });
                    return None;
                }
                Piece::Text(text) if token_in(text).is_some() => {
                    self.problems.push(DockerRunError::Token {
                        flag: flag.to_owned(),
                    });
                    return None;
                }
                Piece::Variable { name, .. } if is_secret(name) => {
                    self.problems.push(DockerRunError::Secret {
                        flag: flag.to_owned(),
                        name: name.clone(),
                    });
                    return None;
                }
                Piece::Text(text) => said.push_str(text),
                Piece::Variable { name, default } => {
                    let is_path = path && at == 0;
                    let param = self.param(name, default.as_deref(), is_path);
                    let _ = write!(said, "${{{{ params.{param} }}}}");
                }
                Piece::Here => {
                    self.problems.push(DockerRunError::Variable {
                        flag: flag.to_owned(),
                        name: "PWD".to_owned(),
                    });
                    return None;
                }
            }
        }
        Some(said)
    }

    /// A word as a command's text says it, quoted where it must be.
    pub(super) fn say_quoted(&mut self, word: &Word) -> Option<String> {
        if let Some(name) = self.secret_of(word) {
            // Left to the shell of the step, which is given the secret.
            let braced = format!("${{{name}}}");
            let bare = word.shown().replace(&braced, &format!("${name}"));
            return Some(format!(
                "\"{}\"",
                if bare.ends_with(&name) {
                    bare
                } else {
                    word.shown()
                }
            ));
        }
        let said = self.say("the command", word, false)?;
        let params = said.contains("${{ ");
        // Quotes around an expression do no harm; without them a space in its value would.
        Some(if params {
            format!("'{}'", said.replace('\'', r"'\''"))
        } else {
            quote(&said)
        })
    }

    /// The secret that a word of a command is, or holds beside plain text.
    fn secret_of(&mut self, word: &Word) -> Option<String> {
        let mut variables = word.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name.clone()),
            _ => None,
        });
        let name = variables.next().filter(|name| is_secret(name))?;
        let odd = |piece: &Piece| match piece {
            Piece::Text(text) => text.contains(['"', '\\', '`', '$']),
            Piece::Variable { default, .. } => default.is_some(),
            Piece::Here => true,
        };
        if variables.next().is_some() || word.pieces.iter().any(odd) {
            return None;
        }
        if name == "HF_TOKEN" {
            self.token = true;
        } else {
            self.tell(format!(
                "${name}: a secret; `retrial run --secret {name}` hands it on to the steps that name it"
            ));
        }
        Some(name)
    }

    /// The name of the param that stands for a variable.
    fn param(&mut self, variable: &str, default: Option<&str>, is_path: bool) -> String {
        if let Some(known) = self
            .params
            .iter_mut()
            .find(|param| param.variable == variable)
        {
            known.is_path |= is_path && usable_path(known.default.as_deref());
            return known.name.clone();
        }
        let lower = variable.to_lowercase();
        let name = lower.trim_start_matches('_').to_owned();
        let given = self
            .set
            .get(variable)
            .and_then(Word::plain)
            .map(str::to_owned);
        let default = given
            .or_else(|| default.map(str::to_owned))
            .or_else(|| self.surroundings.variable(variable));
        let is_path = is_path && usable_path(default.as_deref());
        self.params.push(Param {
            name: name.clone(),
            variable: variable.to_owned(),
            is_path,
            default,
        });
        name
    }

    pub(super) fn scalar(&mut self, key: &'static str, value: Value) {
        self.container.insert(key, value);
    }

    pub(super) fn append(&mut self, key: &'static str, text: String) {
        let list = self
            .container
            .entry(key)
            .or_insert_with(|| Value::List(Vec::new()));
        if let Value::List(list) = list {
            list.push(text);
        }
    }

    /// A later value of a name takes the place of an earlier one, as Docker has it.
    pub(super) fn put(&mut self, key: &'static str, name: String, value: Value) {
        let map = self
            .container
            .entry(key)
            .or_insert_with(|| Value::Map(Vec::new()));
        if let Value::Map(map) = map {
            map.retain(|(known, _)| *known != name);
            map.push((name, value));
        }
    }

    pub(super) fn refuse(&mut self, flag: &str, value: &str, because: impl Into<String>) {
        self.problems.push(DockerRunError::Value {
            flag: format!("--{flag}"),
            value: value.to_owned(),
            because: because.into(),
        });
    }

    /// Refuses paths that climb, which a recipe does not take; says whether it did.
    pub(super) fn refuse_climbing(&mut self, flag: &str, value: &str, paths: &[&str]) -> bool {
        let climbs = paths
            .iter()
            .any(|path| path.split('/').any(|part| part == ".."));
        if climbs {
            self.refuse(flag, value, "`..` in a path: write the path as it is meant");
        }
        climbs
    }
}

/// A param's path is absolute or stands beside the recipe; nothing is known of one without value.
fn usable_path(default: Option<&str>) -> bool {
    default.is_none_or(|path| path.starts_with('/') || path.starts_with("./"))
}

/// A text as YAML.
pub(super) fn yaml(text: &str) -> String {
    quoted(text, false)
}

/// A key as YAML.
pub(super) fn yaml_key(text: &str) -> String {
    quoted(text, true)
}

//! Collects the parts of the recipe; words of the shell become texts with params.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::error::DockerRunError;
use super::nodes::{list_node, map_node, plain_node, text_node};
use super::secret::{find_hub_token, is_secret};
use super::shell_environment::ShellEnvironment;
use super::value_error::FlagValueError;
use super::words::{ShellWord, ShellWordPart};
use crate::model::Container;
use crate::quote::shell_quote;
use retrial_document::{FieldType, Key, Keys as _, Node, Value};

/// A param that replaces a variable of the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DraftedParam {
    pub name: String,
    pub variable: String,
    pub is_path: bool,
    pub default: Option<String>,
    /// The text that the guide has instead of a value: `<path to the model>`.
    pub placeholder: Option<String>,
}

/// A command in the container.
#[derive(Debug, Clone, Default)]
pub(super) struct DraftedStep {
    pub run: String,
    pub keys: Vec<(&'static str, Node)>,
}

/// The parts of the recipe.
pub(super) struct RecipeParts<'a> {
    /// Differences from the command line.
    pub notes: Vec<String>,
    pub params: Vec<DraftedParam>,
    pub image: String,
    /// The number of NVIDIA GPUs that `--gpus` requests.
    pub gpus: Option<u32>,
    /// Keys of the container, by their position in its declaration.
    pub container: BTreeMap<usize, (&'static str, Node)>,
    /// Whether the command line passes `HF_TOKEN` to the container.
    pub passes_token: bool,
    /// The commands in their order; the last is measured.
    pub steps: Vec<DraftedStep>,
    pub problems: Vec<DockerRunError>,
    variables: BTreeMap<String, ShellWord>,
    pub surroundings: &'a dyn ShellEnvironment,
}

impl<'a> RecipeParts<'a> {
    pub(super) fn new(
        set: Vec<(String, ShellWord)>,
        surroundings: &'a dyn ShellEnvironment,
    ) -> Self {
        Self {
            notes: Vec::new(),
            params: Vec::new(),
            image: String::new(),
            gpus: None,
            container: BTreeMap::new(),
            passes_token: false,
            steps: Vec::new(),
            problems: Vec::new(),
            variables: set.into_iter().collect(),
            surroundings,
        }
    }

    /// Notes a difference from the command line, once.
    pub(super) fn add_note(&mut self, text: impl Into<String>) {
        let note = text.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns a word as text of the recipe, variables as params. `path`: such a param is a path.
    pub(super) fn expand_word(
        &mut self,
        flag: &str,
        word: &ShellWord,
        path: bool,
    ) -> Option<String> {
        let flag_name = flag.to_owned();
        let mut expanded = String::new();
        for (at, piece) in word.pieces.iter().enumerate() {
            let problem = match piece {
                ShellWordPart::Text(text) if text.contains("${{") => {
                    let text = text.clone();
                    DockerRunError::Expression { text }
                }
                ShellWordPart::Text(text) if find_hub_token(text).is_some() => {
                    DockerRunError::Token { flag: flag_name }
                }
                ShellWordPart::Variable { name, .. } if is_secret(name) => {
                    let name = name.clone();
                    DockerRunError::Secret {
                        flag: flag_name,
                        name,
                    }
                }
                ShellWordPart::WorkingDirectory => {
                    DockerRunError::WorkingDirectory { flag: flag_name }
                }
                ShellWordPart::Text(text) => {
                    expanded.push_str(text);
                    continue;
                }
                ShellWordPart::Variable { name, default } => {
                    let param = self.param_name(name, default.as_deref(), path && at == 0);
                    let _ = write!(expanded, "${{{{ params.{param} }}}}");
                    continue;
                }
            };
            self.problems.push(problem);
            return None;
        }
        Some(expanded)
    }

    /// Returns a word as a command's text, quoted where necessary.
    pub(super) fn expand_quoted(&mut self, word: &ShellWord) -> Option<String> {
        if let Some(name) = self.find_secret(word) {
            // Left to the shell of the step, which is given the secret.
            let braced = format!("${{{name}}}");
            let bare = word.to_shell_text().replace(&braced, &format!("${name}"));
            return Some(format!(
                "\"{}\"",
                if bare.ends_with(&name) {
                    bare
                } else {
                    word.to_shell_text()
                }
            ));
        }
        let expanded = self.expand_word("the command", word, false)?;
        let params = expanded.contains("${{ ");
        // Quotes around an expression do no harm; without them a space in its value would.
        Some(if params {
            format!("'{}'", expanded.replace('\'', r"'\''"))
        } else {
            shell_quote(&expanded)
        })
    }

    /// Returns the name of the secret that a word is, by itself or next to plain text.
    fn find_secret(&mut self, word: &ShellWord) -> Option<String> {
        let mut variables = word.pieces.iter().filter_map(|piece| match piece {
            ShellWordPart::Variable { name, .. } => Some(name.clone()),
            _ => None,
        });
        let name = variables.next().filter(|name| is_secret(name))?;
        let odd = |piece: &ShellWordPart| match piece {
            ShellWordPart::Text(text) => text.contains(['"', '\\', '`', '$']),
            ShellWordPart::Variable { default, .. } => default.is_some(),
            ShellWordPart::WorkingDirectory => true,
        };
        if variables.next().is_some() || word.pieces.iter().any(odd) {
            return None;
        }
        if name == "HF_TOKEN" {
            self.passes_token = true;
        } else {
            self.add_note(format!(
                "${name}: a secret; `retrial run --secret {name}` passes it to the steps that name it"
            ));
        }
        Some(name)
    }

    /// Returns the name of a variable's param, declared if need be.
    fn param_name(&mut self, variable: &str, default: Option<&str>, is_path: bool) -> String {
        if let Some(param) = self
            .params
            .iter_mut()
            .find(|param| param.variable == variable)
        {
            param.is_path |= is_path && is_usable_path(param.default.as_deref());
            return param.name.clone();
        }
        let lower = variable.to_lowercase();
        let name = lower.trim_start_matches('_').to_owned();
        let set = self
            .variables
            .get(variable)
            .and_then(ShellWord::as_plain)
            .map(str::to_owned);
        let (set, placeholder) = match set {
            Some(text) if is_placeholder(&text) => (None, Some(text)),
            set => (set, None),
        };
        let default = set
            .or_else(|| default.map(str::to_owned))
            .or_else(|| self.surroundings.variable_value(variable));
        let is_path_param = is_path && is_usable_path(default.as_deref());
        self.params.push(DraftedParam {
            name: name.clone(),
            variable: variable.to_owned(),
            is_path: is_path_param,
            default,
            placeholder,
        });
        name
    }

    /// Returns whether the container has the key of a flag.
    pub(super) fn has_flag(&self, flag: &str) -> bool {
        container_key(flag).is_some_and(|(position, _)| self.container.contains_key(&position))
    }

    /// Sets the key of a flag, as its declaration has it: a truth value, one more of a list, or the
    /// value in place of an earlier one.
    pub(super) fn set_flag(&mut self, flag: &'static str, value: String) {
        let Some((position, key)) = container_key(flag) else {
            // A flag of the table that is never read would be lost.
            return self.refuse_value(flag, &value, FlagValueError::NoKey);
        };
        let value = match key.field_type {
            FieldType::Bool | FieldType::Integer(..) | FieldType::Number => plain_node(value),
            _ => text_node(value),
        };
        let (_, node) = self
            .container
            .entry(position)
            .or_insert((key.name, list_node(Vec::new())));
        match &mut node.value {
            Value::List(items) if matches!(key.field_type, FieldType::List(..)) => {
                items.push(value);
            }
            _ => *node = value,
        }
    }

    /// Sets one name of the map that is the key of a flag. A later value of a name takes the place
    /// of an earlier one, as Docker has it.
    pub(super) fn set_map_entry(&mut self, flag: &'static str, name: &str, value: Node) {
        let Some((position, key)) = container_key(flag) else {
            return self.refuse_value(flag, name, FlagValueError::NoKey);
        };
        let empty = Node::map(Vec::new(), value.span.clone());
        let (_, node) = self.container.entry(position).or_insert((key.name, empty));
        if let Value::Map(entries) = &mut node.value {
            entries.retain(|entry| entry.key != name);
            entries.extend_from_slice(map_node([(name, value)]).entries());
        }
    }

    pub(super) fn refuse_value(&mut self, flag: &str, value: &str, reason: FlagValueError) {
        self.problems.push(DockerRunError::Value {
            flag: format!("--{flag}"),
            value: value.to_owned(),
            reason,
        });
    }

    /// Refuses paths with `..`, which a recipe does not take; returns whether it did.
    pub(super) fn refuse_parent_paths(&mut self, flag: &str, value: &str, paths: &[&str]) -> bool {
        let climbs = paths
            .iter()
            .any(|path| path.split('/').any(|part| part == ".."));
        if climbs {
            self.refuse_value(flag, value, FlagValueError::ParentPath);
        }
        climbs
    }
}

/// Whether a guide leaves a value, or a part of it, to the reader: `<path to dataset>/open_orca/`.
fn is_placeholder(text: &str) -> bool {
    let inside = text
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inside.is_some_and(|(name, _)| !name.trim().is_empty())
}

/// A param's path is absolute or next to the recipe; one without a value is unknown.
fn is_usable_path(default: Option<&str>) -> bool {
    default.is_none_or(|path| path.starts_with('/') || path.starts_with("./"))
}

/// Returns the container's key of a flag, and its position in the declaration.
fn container_key(flag: &str) -> Option<(usize, &'static Key)> {
    let name = match flag {
        "device" => "devices".to_owned(),
        "sysctl" => "sysctls".to_owned(),
        "ulimit" => "ulimits".to_owned(),
        "volume" | "mount" => "mounts".to_owned(),
        other => other.replace('-', "_"),
    };
    let mut keys = Container::OBJECT.keys().enumerate();
    keys.find(|(_, key)| key.name == name)
}

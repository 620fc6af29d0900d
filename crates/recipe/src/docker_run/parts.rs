//! The parts of a recipe, as they are collected from a block.

use std::collections::BTreeMap;
use std::fmt;

use retrial_document::{ErrorText, FieldType, Key, Keys as _, Node, Value};

use super::line::ContainerLine;
use super::shell::Shell;
use super::shells::is_shell_name;
use super::value_error::FlagValueError;
use super::values::{Values, Word};
use crate::Span;
use crate::model::Container;
use crate::quote::shell_quote;
use crate::writer::{list_node, map_node, plain_node, text_node};

/// Keys of a recipe's object, in their order.
pub(super) type WrittenKeys = Vec<(&'static str, Node)>;

/// A command in the container.
#[derive(Debug, Clone, Default)]
pub(super) struct DraftedCommand {
    /// Lines before it in its shell, each with an effect on that shell only.
    pub before: Vec<String>,
    pub run: String,
    /// The words with the values that are known.
    pub literals: Vec<String>,
    pub keys: WrittenKeys,
}

impl DraftedCommand {
    /// Returns the text that it gives to a shell of its own: `bash -c TEXT`.
    pub(super) fn inner_script(&self) -> Option<String> {
        match &self.literals[..] {
            [shell, option, script] if is_shell_name(shell) && script.contains(' ') => {
                let is_script = option.starts_with('-') && option.ends_with('c');
                is_script.then(|| script.clone())
            }
            _ => None,
        }
    }

    /// Returns whether it only prints files, which a command before it has written.
    pub(super) fn only_shows(&self) -> bool {
        let programs = ["cat", "head", "tail", "less", "more", "grep", "jq", "ls"];
        let first = self.run.split_whitespace().next();
        first.is_some_and(|first| programs.contains(&first))
    }

    /// Returns the command with the lines before it.
    pub(super) fn text(&self) -> String {
        if self.before.is_empty() {
            return self.run.clone();
        }
        format!("{}\n{}\n", self.before.join("\n"), self.run.trim_end())
    }
}

/// A part of a recipe that a block does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPart {
    pub place: MissingPlace,
    /// What to write there, with an example.
    pub text: String,
}

/// Where a missing part of a recipe belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingPlace {
    /// The container's flags.
    Container,
    /// A param's default.
    Param(String),
    /// A key of the block's service.
    Service(&'static str),
    /// A key of the measurement.
    Measurement(&'static str),
    Submission,
}

impl fmt::Display for MissingPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            MissingPlace::Container => formatter.write_str("container")?,
            MissingPlace::Param(name) => write!(formatter, "params.{name}")?,
            MissingPlace::Service(key) => write!(formatter, "services.{SERVER_NAME}.{key}")?,
            MissingPlace::Measurement(key) => {
                write!(formatter, "scenarios.my-case.performance.{key}")?;
            }
            MissingPlace::Submission => formatter.write_str("submission")?,
        }
        write!(formatter, ": {}", self.text)
    }
}

/// The name of the service of a block's first server.
pub(super) const SERVER_NAME: &str = "server";

/// A server that the measurement needs.
pub(super) struct DraftedService {
    pub keys: WrittenKeys,
    /// The words of its command, with the values that are known.
    pub words: Vec<String>,
    /// The numbers of the GPUs that it chooses.
    pub gpus: Vec<u32>,
}

impl DraftedService {
    /// Returns a server without a command, which the block does not state.
    pub(super) fn placeholder(ready: WrittenKeys) -> Self {
        let run = ("run", text_node(PLACEHOLDER_COMMAND));
        Self { keys: [run].into_iter().chain(ready).collect(), words: Vec::new(), gpus: Vec::new() }
    }
}

/// Sets a variable in the key `env` of a command.
pub(super) fn set_variable(keys: &mut WrittenKeys, name: &str, value: Node) {
    let env = keys.iter().find(|(key, _)| *key == "env");
    let others = env.map_or(&[][..], |(_, node)| node.entries());
    let others = others.iter().filter(|entry| entry.key != name);
    let others = others.map(|entry| (entry.key.clone(), entry.value.clone()));
    let variables = map_node(others.chain([(name.to_owned(), value)]));
    keys.retain(|(key, _)| *key != "env");
    keys.push(("env", variables));
}

/// The command of a block that has no measured command.
pub(super) const PLACEHOLDER_COMMAND: &str =
    "echo 'write the command that the guide runs in the container' >&2\nexit 1\n";

pub(super) struct RecipeParts<'a> {
    /// The values, notes and problems of the block.
    pub shell: Shell<'a>,
    /// The start of the block.
    pub place: Span,
    /// Work that remains, a line each.
    pub incomplete: Vec<MissingPart>,
    pub image: String,
    /// The key `build` of the image, if the block builds it.
    pub build: Option<Node>,
    pub requires: Option<Node>,
    /// Keys of the container, by their position in its declaration.
    pub container: BTreeMap<usize, (&'static str, Node)>,
    /// Whether commands are given `HF_TOKEN`.
    pub passes_token: bool,
    /// The servers, in the order in which they are started.
    pub services: Vec<DraftedService>,
    /// The GPUs that several servers choose, all of them: `0,1`.
    pub server_gpus: Option<String>,
    /// The commands in their order; the last is measured.
    pub commands: Vec<DraftedCommand>,
    /// The number of commands before the servers: those behind them need them.
    pub commands_before_server: usize,
}

impl<'a> RecipeParts<'a> {
    pub(super) fn new(shell: Shell<'a>, place: Span) -> Self {
        Self {
            shell,
            place,
            incomplete: Vec::new(),
            image: String::new(),
            build: None,
            requires: None,
            container: BTreeMap::new(),
            passes_token: false,
            services: Vec::new(),
            server_gpus: None,
            commands: Vec::new(),
            commands_before_server: 0,
        }
    }

    /// Adds a part that the block does not say.
    pub(super) fn ask(&mut self, place: MissingPlace, text: impl Into<String>) {
        let text = text.into();
        let missing = MissingPart { place, text };
        if !self.incomplete.contains(&missing) {
            self.incomplete.push(missing);
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.shell.note(note.into());
    }

    /// Returns a word with the values that are known.
    pub(super) fn literal(&self, word: &Word) -> String {
        self.shell.values.literal(&word.text)
    }

    /// Returns a word as the guide writes it.
    pub(super) fn written(&self, word: &Word) -> String {
        self.shell.values.written(&word.text)
    }

    /// Returns a word as text of the recipe; nothing if it has a problem.
    pub(super) fn take(&mut self, flag: &str, word: &Word) -> Option<String> {
        self.shell.values.take(flag, word, &mut self.shell.problems)
    }

    /// Returns a word as a command's text, quoted where necessary.
    pub(super) fn quote(&mut self, word: &Word) -> Option<String> {
        if let Some(name) = Values::secret_name(&word.text).map(str::to_owned) {
            return self.quote_secret(word, &name);
        }
        let taken = self.take("the command", word)?;
        Some(if word.is_split {
            // The shell of the step splits it, as that of the guide does.
            taken
        } else if taken.contains("${{ ") {
            // Quotes around an expression do no harm; without them a space in its value would.
            format!("'{}'", taken.replace('\'', r"'\''"))
        } else {
            shell_quote(&taken)
        })
    }

    /// Leaves a secret to the shell of the step, which is given it.
    fn quote_secret(&mut self, word: &Word, name: &str) -> Option<String> {
        let expression = format!("${{{{ secrets.{name} }}}}");
        let (before, after) = word.text.split_once(&expression)?;
        if [before, after].iter().any(|text| text.contains(['"', '\\', '`', '$'])) {
            return self.take("the command", word);
        }
        self.pass_secret(name);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        Some(if after.starts_with(is_name) {
            format!("\"{before}${{{name}}}{after}\"")
        } else {
            format!("\"{before}${name}{after}\"")
        })
    }

    /// Lets the shells of steps have a secret.
    pub(super) fn pass_secret(&mut self, name: &str) {
        if name == "HF_TOKEN" {
            self.passes_token = true;
        } else {
            self.note(format!(
                "${name}: a secret; `retrial run --secret {name}` passes it to the steps that name it"
            ));
        }
    }

    /// Returns the values of a flag of the line, as far as they are known.
    pub(super) fn flag_literals(&self, line: &ContainerLine, flag: &str) -> Vec<String> {
        let values = line.all_values(flag);
        values.map(|word| self.literal(word)).collect()
    }

    pub(super) fn command(&mut self, words: &[Word], keys: WrittenKeys) -> Option<DraftedCommand> {
        if words.iter().any(|word| matches!(&*word.text, "..." | "…")) {
            self.ask(
                MissingPlace::Measurement("run"),
                "the words that the guide leaves out (`...`)",
            );
        }
        let quoted: Vec<Option<String>> = words.iter().map(|word| self.quote(word)).collect();
        let run: Option<Vec<String>> = quoted.into_iter().collect();
        Some(DraftedCommand {
            run: run?.join(" "),
            literals: words.iter().map(|word| self.literal(word)).collect(),
            keys,
            before: Vec::new(),
        })
    }

    /// Returns whether the container has the key of a flag.
    pub(super) fn flag_node(&self, flag: &str) -> Option<&Node> {
        let (position, _) = container_key(flag)?;
        self.container.get(&position).map(|(_, node)| node)
    }

    /// Sets the key of a flag, as its declaration has it: a boolean, one more of a list, or the
    /// value in place of an earlier one.
    pub(super) fn set_flag(
        &mut self,
        flag: &'static str,
        value: &str,
    ) -> Result<(), FlagValueError> {
        // A flag of the table that is never read would be lost.
        let (position, key) = container_key(flag).ok_or(FlagValueError::NoKey)?;
        let value = match key.field_type {
            FieldType::Bool | FieldType::Integer(..) | FieldType::Number => plain_node(value),
            _ => text_node(value),
        };
        let (_, node) = self.container.entry(position).or_insert((key.name, list_node(Vec::new())));
        match &mut node.value {
            Value::List(items) if matches!(key.field_type, FieldType::List(..)) => {
                if items.iter().all(|item| item.text() != value.text()) {
                    items.push(value);
                }
            }
            _ => *node = value,
        }
        Ok(())
    }

    /// Sets one name of the map that is the key of a flag. A later value of a name takes the place
    /// of an earlier one, as Docker has it.
    pub(super) fn set_map_entry(&mut self, flag: &'static str, name: &str, value: Node) {
        let Some((position, key)) = container_key(flag) else {
            return;
        };
        let empty = Node::map(Vec::new(), value.span.clone());
        let (_, node) = self.container.entry(position).or_insert((key.name, empty));
        if let Value::Map(entries) = &mut node.value {
            entries.retain(|entry| entry.key != name);
            entries.extend_from_slice(map_node([(name, value)]).entries());
        }
    }

    /// Removes the key of a flag, and returns it.
    pub(super) fn remove_flag(&mut self, flag: &str) -> Option<Node> {
        let (position, _) = container_key(flag)?;
        self.container.remove(&position).map(|(_, node)| node)
    }

    /// Removes a variable of the container's environment.
    pub(super) fn remove_variable(&mut self, name: &str) {
        let env = container_key("env").and_then(|(position, _)| self.container.get_mut(&position));
        if let Some((_, node)) = env
            && let Value::Map(entries) = &mut node.value
        {
            entries.retain(|entry| entry.key != name);
        }
    }

    pub(super) fn refuse_value(&mut self, flag: &str, word: &Word, reason: &FlagValueError) {
        if self.take(&format!("--{flag}"), word).is_none() {
            // A problem with the value was reported before.
            return;
        }
        let text = ErrorText::of(reason);
        let message = format!("--{flag} {}: {}", self.written(word), text.message);
        self.refuse(message, word, text.help.join("; "));
    }

    /// Adds a problem of a word.
    pub(super) fn refuse(&mut self, message: String, word: &Word, help: impl Into<String>) {
        let problem = crate::Diagnostic::error("guide", message, word.span.clone());
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.shell.problems.push(problem.with_optional_help(help));
    }
}

/// Returns whether a path has `..`, which a recipe does not take.
pub(super) fn has_parent(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
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

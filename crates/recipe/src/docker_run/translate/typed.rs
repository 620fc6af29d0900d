//! Adds the commands that are typed in a container's shell. Each is a step of its own, so that a later trial does not
//! repeat the set-up; what `cd`, `export` and others do for the commands behind them is a key of those, or is repeated
//! before each.

use std::collections::BTreeSet;

use retrial_document::Node;

use super::Translator;
use super::steps::{MANAGED_REASON, is_monitor, manages_server};
use crate::docker_run::commands::GuideCommand;
use crate::docker_run::container::parse_variable;
use crate::docker_run::gpu_options::split_words;
use crate::docker_run::parts::{DraftedCommand, RecipeParts, WrittenKeys};
use crate::docker_run::script_variables::is_of_image;
use crate::docker_run::secret::is_secret;
use crate::docker_run::values::Word;
use crate::docker_run::wrappers::session_command;
use crate::formats::VARIABLE;
use crate::writer::{map_node, text_node};

/// The state of the shell in which commands are typed.
#[derive(Default)]
pub(super) struct TypedLines {
    /// The working directory, while it can be a key of a step.
    workdir: Option<String>,
    /// The variables, while they can be keys of a step.
    env: Vec<(String, Node)>,
    /// Lines with an effect on the shell that no key expresses, which every command behind them repeats.
    repeated: Vec<String>,
    /// How many of them a command has.
    used: usize,
    /// The names of variables that are assigned.
    assigned: BTreeSet<String>,
}

impl Translator {
    /// Adds a command that is typed in the container.
    pub(super) fn add_typed(
        &mut self,
        parts: &mut RecipeParts<'_>,
        command: &GuideCommand,
        changes_shell: bool,
    ) {
        let Some(written) = self.typed.settle_assignment(parts, command, changes_shell) else {
            return;
        };
        let Some(text) = parts.take("the command", &Word::new(written, &command.span)) else {
            return;
        };
        let of_session = session_command(&text).map(str::to_owned);
        let is_background = command.is_background || of_session.is_some();
        if of_session.is_some() {
            let shown = command.shown(&parts.shell.values);
            parts.note(format!(
                "`{shown}`: its command runs in the background without the terminal's session"
            ));
        }
        let text = of_session.unwrap_or(text);
        if !parts.services.is_empty() && manages_server(&text) {
            let shown = command.shown(&parts.shell.values);
            return parts.note(format!("`{shown}`: {MANAGED_REASON}"));
        }
        if is_background && is_monitor(&text) {
            let shown = command.shown(&parts.shell.values);
            return parts.note(format!(
                "`{shown}`: dropped, Retrial samples GPUs and the container itself"
            ));
        }
        if changes_shell {
            return self.typed.change(parts, text);
        }
        let drafted = self.typed.draft(text);
        self.add_drafted(parts, drafted, is_background, &command.span);
    }
}

impl TypedLines {
    /// Adds a `source` in the last line as a command; other lines at the end have no effect.
    pub(super) fn finish(&mut self, parts: &mut RecipeParts<'_>) {
        let runs_script = |line: &String| line.starts_with("source ") || line.starts_with(". ");
        let unused = &self.repeated[self.used..];
        if let Some(last) = unused.iter().rposition(runs_script) {
            let text = self.repeated.remove(self.used + last);
            self.repeated.truncate(self.used + last);
            let drafted = self.draft(text);
            return parts.commands.push(drafted);
        }
        for line in unused {
            let shown = parts.shell.values.written(line);
            parts.note(format!("`{shown}`: dropped, no command follows it"));
        }
    }

    fn draft(&mut self, run: String) -> DraftedCommand {
        self.used = self.repeated.len();
        let workdir = self.workdir.iter().map(|path| ("workdir", text_node(path)));
        let mut keys: WrittenKeys = workdir.collect();
        if !self.env.is_empty() {
            keys.push(("env", map_node(self.env.clone())));
        }
        DraftedCommand { before: self.repeated.clone(), literals: split_words(&run), run, keys }
    }

    /// Returns the text of a command, without the value of a secret, and with a param for an assigned value that the block
    /// never sets. Nothing if it only assigns a secret.
    fn settle_assignment(
        &mut self,
        parts: &mut RecipeParts<'_>,
        command: &GuideCommand,
        changes_shell: bool,
    ) -> Option<String> {
        let text = &command.text;
        let Some((name, value)) = split_assignment(text) else {
            return Some(text.clone());
        };
        if is_secret(name) {
            let word = Word::new(name, &command.span);
            if let Err(reason) = parse_variable(parts, &word) {
                parts.refuse_value("env", &word, &reason);
            }
            return (!changes_shell).then(|| with_secret_of_step(name, value));
        }
        if !changes_shell {
            return Some(text.clone());
        }
        let unset = variable_name(value).filter(|variable| {
            !self.assigned.contains(*variable)
                && !is_of_image(variable)
                && parts.flag_node("env").is_none_or(|env| env.get(variable).is_none())
        });
        self.assigned.insert(name.to_owned());
        let Some(variable) = unset.filter(|variable| *variable != name) else {
            return Some(text.clone());
        };
        parts.note(format!(
            "`{}`: a param, the block does not set ${variable} in the container",
            parts.shell.values.written(text)
        ));
        let written = format!("${variable}");
        let param = parts.shell.variable(variable, &written, None);
        Some(text.replace(value, &param))
    }

    /// Adds the effect of a command on those behind it.
    fn change(&mut self, parts: &mut RecipeParts<'_>, text: String) {
        if self.repeated.is_empty() {
            if let Some(path) = text.strip_prefix("cd ").filter(|path| is_plain(path)) {
                let of_container = || parts.flag_node("workdir")?.text().map(str::to_owned);
                let base = self.workdir.clone().or_else(of_container);
                if let Some(workdir) = resolve_directory(base.as_deref(), path) {
                    self.workdir = Some(workdir);
                    return;
                }
            }
            if let Some((name, value)) = split_assignment(&text)
                && text.starts_with("export ")
                && (is_plain(value) || is_param(value))
            {
                self.env.retain(|(other, _)| other != name);
                self.env.push((name.to_owned(), text_node(value)));
                return;
            }
        }
        let shown = parts.shell.values.written(&text);
        parts.note(format!(
            "`{shown}`: every command behind it repeats it, because steps do not share a shell"
        ));
        self.repeated.push(text);
    }
}

/// Returns the name and the value of a single assignment, exported or not.
fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let assignment = text.strip_prefix("export ").unwrap_or(text);
    let (name, value) = assignment.split_once('=')?;
    let further = value.split_whitespace().skip(1);
    let has_further = further.filter_map(|word| word.split_once('='));
    let is_single = has_further.filter(|(name, _)| VARIABLE.mismatch(name).is_none()).count() == 0;
    (is_single && VARIABLE.mismatch(name).is_none()).then_some((name, value))
}

/// Returns a command before which a secret is assigned; `value` is the text behind `NAME=`. The step is given the secret.
fn with_secret_of_step(name: &str, value: &str) -> String {
    let is_expression = value.trim_start_matches('"').starts_with("${{");
    let end = value.find("}}").filter(|_| is_expression);
    let (_, command) =
        value[end.unwrap_or(0)..].split_once(char::is_whitespace).unwrap_or_default();
    if name == "HF_TOKEN" {
        return command.to_owned();
    }
    format!("{name}=\"${name}\" {command}")
}

/// Returns the name of the variable that a value is: `$NAME`, `"${NAME}"`.
fn variable_name(value: &str) -> Option<&str> {
    let name = value.trim_matches('"').strip_prefix('$')?;
    let braced = name.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    let name = braced.unwrap_or(name);
    VARIABLE.mismatch(name).is_none().then_some(name)
}

/// Returns whether the shell does not expand a word.
fn is_plain(word: &str) -> bool {
    let special = |letter: char| letter.is_whitespace() || "$`\"'~;&|><(*?[{\\".contains(letter);
    !word.is_empty() && !word.contains(special)
}

fn is_param(text: &str) -> bool {
    text.starts_with("${{ params.") && text.find("}}") == Some(text.len() - 2)
}

/// Returns the absolute directory of a path relative to another one; none if it is unknown.
fn resolve_directory(base: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('-') {
        return None;
    }
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", base.filter(|base| base.starts_with('/'))?)
    };
    let mut names = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." if whole.contains("${{") => return None,
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    Some(format!("/{}", names.join("/")))
}

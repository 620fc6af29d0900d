//! Adds the commands of a container: steps, what is typed, and the server among them.

use retrial_document::Node;

use super::Translator;
use crate::Span;
use crate::docker_run::commands::{
    CommandInput, CommandKind, GuideCommand, changes_shell, idle_reason,
};
use crate::docker_run::container::{parse_variable, read_env_file};
use crate::docker_run::flags::FlagTreatment;
use crate::docker_run::gpus::split_words;
use crate::docker_run::line::ContainerLine;
use crate::docker_run::nodes::{map_node, text_node};
use crate::docker_run::parts::{DraftedCommand, MissingPlace, RecipeParts, WrittenKeys};
use crate::docker_run::servers::{is_server, move_ports, ready_key};
use crate::docker_run::values::Word;

/// The last line of a command's input.
const INPUT_END: &str = "END_OF_INPUT";

/// The state of the shell in which commands are typed.
#[derive(Default)]
pub(super) struct TypedLines {
    /// The working directory and the variables, while they can be keys of a step.
    keys: WrittenKeys,
    env: Vec<(String, Node)>,
    /// A command has an effect on the shell that no key has: all are one script.
    script: Option<Vec<String>>,
}

impl TypedLines {
    /// Adds the script that the typed commands are, if they are one.
    pub(super) fn finish(&mut self, parts: &mut RecipeParts<'_>) {
        if let Some(script) = self.script.take() {
            let script = script_command(&(script.join("\n") + "\n"));
            let keys = self.step_keys();
            parts.commands.push(DraftedCommand { keys, ..script });
        }
    }

    fn step_keys(&self) -> WrittenKeys {
        let mut keys = self.keys.clone();
        if !self.env.is_empty() {
            keys.push(("env", map_node(self.env.clone())));
        }
        keys
    }
}

impl Translator {
    pub(super) fn add_exec(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        if self.is_in_server(&line.image) {
            let help = "a recipe's steps run in its container, which is the client's: start the client by `docker exec`, too, or leave this line out";
            let message = "`docker exec` in the server's container, next to a client's".to_owned();
            return parts.refuse(message, &line.image, help);
        }
        let mut keys = WrittenKeys::new();
        let mut env = Vec::new();
        for option in &line.flags {
            let flag = option.flag.name;
            match flag {
                "env" | "env-file" => {
                    let variables = match flag {
                        "env" => parse_variable(parts, &option.value)
                            .map(|variable| variable.into_iter().collect()),
                        _ => read_env_file(parts, &option.value),
                    };
                    match variables {
                        Ok(variables) => env.extend(variables),
                        Err(reason) => parts.refuse_value(flag, &option.value, &reason),
                    }
                }
                "workdir" | "user" => {
                    let taken = parts.take(&format!("--{flag}"), &option.value);
                    let key = if flag == "user" { "user" } else { "workdir" };
                    keys.extend(taken.map(|text| (key, text_node(text))));
                }
                _ if option.flag.treatment != FlagTreatment::Refused => {}
                _ => {
                    let help = "a recipe's steps run one after another, in the recipe's container";
                    parts.refuse(
                        format!("docker exec --{flag}: a recipe cannot express this yet"),
                        &option.value,
                        help,
                    );
                }
            }
        }
        if !env.is_empty() {
            keys.push(("env", map_node(env)));
        }
        if let Some(script) = command.script() {
            let script = script_command(script);
            return parts.commands.push(DraftedCommand { keys, ..script });
        }
        let words: Vec<&str> = line.command.iter().map(|word| &*word.text).collect();
        if parts.server.is_some() && manages_server(&words.join(" ")) {
            let shown = parts.shell.values.written(&command.text);
            return parts.note(format!("`{shown}`: dropped, Retrial stops its services"));
        }
        if idle_reason(&line.command).is_none() {
            self.add_command(parts, &line.command, keys, command);
        }
    }

    /// Adds a command of the container: a server is a service, all others are steps.
    pub(super) fn add_command(
        &mut self,
        parts: &mut RecipeParts<'_>,
        words: &[Word],
        keys: WrittenKeys,
        command: &GuideCommand,
    ) {
        let Some(mut drafted) = parts.command(words, keys) else {
            return;
        };
        if let CommandInput::Script(input) = &command.input {
            drafted.run = format!("{} <<'{INPUT_END}'\n{input}{INPUT_END}\n", drafted.run);
        }
        let (line, is_run) = match &command.kind {
            CommandKind::Run(line) => (line, true),
            CommandKind::Exec(line) => (line, false),
            _ => return parts.commands.push(drafted),
        };
        if let Some(server) = &self.server_side {
            if server.shares_host_ports(line) {
                drafted.run = move_ports(&drafted.run, &self.published);
            }
            return self.add_drafted(parts, drafted, false, &command.span);
        }
        let is_detached = command.is_background || line.flag("detach").is_some();
        // A detached container may be a server or a benchmark: one whose ports are published, or in which others are
        // executed, is a server.
        let is_service = is_detached && (!is_run || self.is_followed);
        let is_detached = is_service || is_run && !self.published.is_empty();
        self.add_drafted(parts, drafted, is_detached, &command.span);
    }

    fn add_drafted(
        &mut self,
        parts: &mut RecipeParts<'_>,
        drafted: DraftedCommand,
        is_detached: bool,
        span: &Span,
    ) {
        if !is_detached && !is_server(&drafted.literals) {
            return parts.commands.push(drafted);
        }
        if parts.server.is_some() {
            let word = Word::new("", span);
            return parts.refuse(
                "a second server".to_owned(),
                &word,
                "write it as a further service of the recipe",
            );
        }
        let ready = ready_key(&drafted.literals, &self.published).unwrap_or_else(|| {
            parts.ask(
                MissingPlace::Service("ready"),
                "how it is known that the server is up, for example `{ port: 8000 }`",
            );
            let until = map_node([("log", text_node("ready"))]);
            vec![("ready", until)]
        });
        self.server_words.clone_from(&drafted.literals);
        let keys = [("run", text_node(drafted.run))]
            .into_iter()
            .chain(ready)
            .chain(drafted.keys);
        parts.server = Some(keys.collect());
        parts.commands_before_server = parts.commands.len();
    }

    /// Adds a command that is typed in the container. `cd` and `export` are keys of the steps behind them; everything
    /// else with an effect on the shell makes one script of all.
    pub(super) fn add_typed(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        let Some(text) = parts.take("the command", &Word::new(&*command.text, &command.span))
        else {
            return;
        };
        if parts.server.is_some() && manages_server(&text) {
            return parts.note(format!(
                "`{text}`: dropped, a service is awaited by its `ready`, and is stopped by Retrial"
            ));
        }
        if let Some(script) = &mut self.typed.script {
            return script.push(text);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_plain =
            |word: &str| !word.contains(['$', '`', '"', '\'', '~', ';', '&', '|', '>', '<', '(']);
        match words[..] {
            ["cd", path] if path.starts_with('/') && is_plain(path) => {
                self.typed.keys = vec![("workdir", text_node(path))];
            }
            ["export", assignment] if is_plain(assignment) && assignment.contains('=') => {
                let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
                self.typed.env.push((name.to_owned(), text_node(value)));
            }
            [first, ..] if changes_shell(first) => {
                let earlier = parts.commands.drain(..).map(|drafted| drafted.run);
                self.typed.script = Some(earlier.chain([text]).collect());
            }
            _ => {
                let keys = self.typed.step_keys();
                let drafted = DraftedCommand {
                    literals: split_words(&text),
                    run: text,
                    keys,
                };
                self.add_drafted(parts, drafted, command.is_background, &command.span);
            }
        }
    }
}

/// Returns whether a command only waits for a server, or stops it.
fn manages_server(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_one = !text.contains(['\n', ';', '&', '|']);
    is_one && ["sleep", "wait", "kill", "pkill", "killall", "fg", "jobs"].contains(&first)
}

/// Returns the step that a script is.
pub(super) fn script_command(script: &str) -> DraftedCommand {
    DraftedCommand {
        run: script.to_owned(),
        literals: split_words(script),
        keys: Vec::new(),
    }
}

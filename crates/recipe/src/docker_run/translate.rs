//! Makes the parts of a recipe of a block's commands: the container, its steps, its server, and what remains.

use itertools::Itertools as _;
use retrial_document::Node;

use super::commands::{CommandKind, GuideCommand, changes_shell, docker_flag, idle_reason};
use super::container::{parse_variable, translate_flags};
use super::gpus::{add_gpus, split_words};
use super::images::{add_build, add_image};
use super::line::ContainerLine;
use super::nodes::{list_node, map_node, text_node};
use super::parts::{
    DraftedCommand, MissingPart, MissingPlace, RecipeParts, SERVER_NAME, WrittenKeys,
};
use super::servers::{
    ImageArguments, is_client, is_server, move_ports, published_ports, read_image_arguments,
    ready_key,
};
use super::values::Word;
use crate::Span;

/// What is known of the block while its commands are translated.
#[derive(Default)]
pub(super) struct Translator {
    pub line: Option<ContainerLine>,
    /// Commands are executed in the container while its own runs.
    pub is_followed: bool,
    /// The ports of the line: on the host, in the container.
    published: Vec<(u16, u16)>,
    pulls: Vec<Word>,
    builds: Vec<Vec<Word>>,
    /// The server's words, with the values that are known.
    server_words: Vec<String>,
    /// The working directory and the variables of what is typed, while they can be keys of a step.
    typed_keys: WrittenKeys,
    typed_env: Vec<(String, Node)>,
    /// A typed command has an effect on the shell that no key has: all are one script.
    typed_script: Option<Vec<String>>,
    /// What has to be written in the place of the measured command.
    missing_command: Option<MissingPart>,
}

impl Translator {
    pub(super) fn add(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        match &command.kind {
            CommandKind::Run(line) if self.line.is_none() => {
                self.line = Some(line.clone());
                self.add_run(parts, line, command);
            }
            CommandKind::Exec(line) => self.add_exec(parts, line, command),
            CommandKind::Pull(image) => self.pulls.push(image.clone()),
            CommandKind::Build(words) => self.builds.push(words.clone()),
            CommandKind::Manage => {
                let shown = parts.shell.values.written(&command.text);
                parts.note(format!(
                    "`{shown}`: dropped, Retrial stops and removes its container"
                ));
            }
            CommandKind::Typed => self.add_typed(parts, command),
            CommandKind::Other => self.add_other(parts, command),
            CommandKind::Run(_) | CommandKind::Attach | CommandKind::Refused => {}
        }
    }

    fn add_run(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        add_image(parts, &line.image);
        translate_flags(parts, line, &command.directory);
        self.published = published_ports(parts, line);
        if let Some(script) = command.script() {
            return parts.commands.push(script_command(script));
        }
        let entrypoint = line.flag("entrypoint").filter(|word| !word.text.is_empty());
        let words: Vec<Word> = entrypoint
            .into_iter()
            .chain(&line.command)
            .cloned()
            .collect();
        if let Some(reason) = idle_reason(&words) {
            let shown = words.iter().map(|word| parts.written(word)).join(" ");
            parts.note(format!("`{shown}` after the image: dropped, {reason}"));
        } else if line.flag("entrypoint").is_some() {
            self.add_command(parts, &words, Vec::new(), command);
        } else {
            self.add_image_command(parts, line, command);
        }
    }

    /// Adds the words behind the image, which may be arguments of its entrypoint.
    fn add_image_command(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let image = parts.literal(&line.image);
        let literals: Vec<String> = line
            .command
            .iter()
            .map(|word| parts.literal(word))
            .collect();
        let is_interactive = command.opens_shell();
        let mut arguments = read_image_arguments(&image, &literals, is_interactive);
        if matches!(arguments, ImageArguments::OfUnknown)
            && let Some(entrypoint) = parts.shell.values.environment.image_entrypoint(&image)
        {
            arguments = ImageArguments::Of(entrypoint);
        }
        match arguments {
            ImageArguments::Command => {
                parts.note("the image's entrypoint does not run (`entrypoint: image` lets it run before Retrial's first process)");
                if !line.command.is_empty() {
                    self.add_command(parts, &line.command, Vec::new(), command);
                }
            }
            ImageArguments::Of(entrypoint) => {
                let shown = entrypoint.join(" ");
                parts.note(format!("the image's entrypoint is written as `{shown}`; `docker inspect {image}` shows that of another release"));
                let program = entrypoint
                    .iter()
                    .map(|word| line.image.with_text(word.as_str()));
                let words: Vec<Word> = program.chain(line.command.iter().cloned()).collect();
                self.add_command(parts, &words, Vec::new(), command);
            }
            ImageArguments::OfUnknown => self.ask_for_entrypoint(parts, line),
        }
    }

    fn ask_for_entrypoint(&mut self, parts: &mut RecipeParts<'_>, line: &ContainerLine) {
        let image = parts.written(&line.image);
        if let Some(flag) = line
            .command
            .iter()
            .tuple_windows()
            .find_map(|(flag, value)| docker_flag(flag, value))
        {
            parts.note(format!("`{flag}` is behind the image, where docker takes it for an argument of the image's entrypoint; a flag of docker is before it"));
        }
        // Every word is used: what is missing is the entrypoint only.
        let run = parts
            .command(&line.command, Vec::new())
            .map_or(String::new(), |drafted| drafted.run);
        let arguments = parts.shell.values.written(&run);
        let what = if arguments.is_empty() {
            "the image's own entrypoint and command".to_owned()
        } else {
            format!("the image's entrypoint and its arguments `{arguments}`")
        };
        let place = if self.published.is_empty() {
            MissingPlace::Measurement("run")
        } else {
            MissingPlace::Service("run")
        };
        let text = format!(
            "{what}; `docker inspect --format '{{{{json .Config.Entrypoint}}}} {{{{json .Config.Cmd}}}}' {image}` prints it"
        );
        self.missing_command = Some(MissingPart { place, text });
    }

    fn add_exec(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let mut keys = WrittenKeys::new();
        let mut env = Vec::new();
        for option in &line.flags {
            let flag = option.flag.name;
            match flag {
                "env" => match parse_variable(parts, &option.value) {
                    Ok(variable) => env.extend(variable),
                    Err(reason) => parts.refuse_value(flag, &option.value, &reason),
                },
                "workdir" | "user" => {
                    let taken = parts.take(&format!("--{flag}"), &option.value);
                    let key = if flag == "user" { "user" } else { "workdir" };
                    keys.extend(taken.map(|text| (key, text_node(text))));
                }
                "interactive" | "tty" | "detach-keys" | "detach" => {}
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
        if idle_reason(&line.command).is_none() {
            self.add_command(parts, &line.command, keys, command);
        }
    }

    /// Adds a command of the container: a server is a service, all others are steps.
    fn add_command(
        &mut self,
        parts: &mut RecipeParts<'_>,
        words: &[Word],
        keys: WrittenKeys,
        command: &GuideCommand,
    ) {
        let Some(drafted) = parts.command(words, keys) else {
            return;
        };
        let (line, is_run) = match &command.kind {
            CommandKind::Run(line) => (line, true),
            CommandKind::Exec(line) => (line, false),
            _ => return parts.commands.push(drafted),
        };
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
    }

    /// Adds a command that is typed in the container. `cd` and `export` are keys of the steps behind them; everything
    /// else with an effect on the shell makes one script of all.
    fn add_typed(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        let Some(text) = parts.take("the command", &Word::new(&*command.text, &command.span))
        else {
            return;
        };
        if let Some(script) = &mut self.typed_script {
            return script.push(text);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_plain =
            |word: &str| !word.contains(['$', '`', '"', '\'', '~', ';', '&', '|', '>', '<', '(']);
        match words[..] {
            ["cd", path] if path.starts_with('/') && is_plain(path) => {
                self.typed_keys = vec![("workdir", text_node(path))];
            }
            ["export", assignment] if is_plain(assignment) && assignment.contains('=') => {
                let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
                self.typed_env.push((name.to_owned(), text_node(value)));
            }
            [first, ..] if changes_shell(first) => {
                let earlier = parts.commands.drain(..).map(|drafted| drafted.run);
                self.typed_script = Some(earlier.chain([text]).collect());
            }
            _ => {
                let mut keys = self.typed_keys.clone();
                if !self.typed_env.is_empty() {
                    keys.push(("env", map_node(self.typed_env.clone())));
                }
                let drafted = DraftedCommand {
                    literals: split_words(&text),
                    run: text,
                    keys,
                };
                self.add_drafted(parts, drafted, command.is_background, &command.span);
            }
        }
    }

    fn add_other(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        let shown = parts.shell.values.written(&command.text);
        let first = shown.split_whitespace().next().unwrap_or_default();
        if matches!(first, "echo" | "printf" | "mkdir") && self.line.is_none() {
            return parts.note(format!("`{shown}`: dropped, it is run on the host before"));
        }
        if self.line.is_none() {
            return parts.note(format!(
                "`{shown}`: run it on the host before, as the guide does"
            ));
        }
        if parts.server.is_some() && is_client(&shown, &self.published) && !shown.contains("${{") {
            let moved = move_ports(&command.text, &self.published);
            let text = unprepared(&moved);
            parts.ask(MissingPlace::Measurement("run"), format!(
                "the guide runs `{}` on the host; here it runs in the server's container, whose image must have the program",
                shown.chars().take(80).collect::<String>()
            ));
            return parts.commands.push(script_command(&text));
        }
        parts.note(format!("`{shown}`: dropped; if it is typed in the container, write it as a step or a scenario's `run`"));
    }

    pub(super) fn finish(&self, parts: &mut RecipeParts<'_>, line: &ContainerLine) {
        if let Some(script) = &self.typed_script {
            let mut script = script_command(&(script.join("\n") + "\n"));
            script.keys.clone_from(&self.typed_keys);
            if !self.typed_env.is_empty() {
                script.keys.push(("env", map_node(self.typed_env.clone())));
            }
            parts.commands.push(script);
        }
        let image = parts.literal(&line.image);
        for pulled in &self.pulls {
            let literal = parts.literal(pulled);
            if literal != image && literal.trim_start_matches("docker://") != image {
                parts.note(format!("docker pull {literal}: dropped, the container is created from a different image"));
            }
        }
        for words in &self.builds {
            add_build(parts, words, &image);
        }
        let commands = parts
            .commands
            .iter()
            .map(|drafted| drafted.literals.clone());
        let commands: Vec<Vec<String>> = commands.chain([self.server_words.clone()]).collect();
        add_gpus(parts, line, &commands);
        if let Some(missing) = &self.missing_command {
            parts.incomplete.push(missing.clone());
        } else if parts.commands.is_empty() {
            let text = match parts.server {
                Some(_) => {
                    "the client that measures the server, for example `vllm bench serve …`; the template `vllm-serve` (`retrial show vllm-serve`) has a server with its client, and can be extended in the place of this service"
                }
                None => {
                    "the command that the guide runs in the container, for example `python3 bench.py`"
                }
            };
            parts.ask(MissingPlace::Measurement("run"), text);
        }
    }
}

fn script_command(script: &str) -> DraftedCommand {
    DraftedCommand {
        run: script.to_owned(),
        literals: split_words(script),
        keys: Vec::new(),
    }
}

fn unprepared(text: &str) -> String {
    super::block::unmark_placeholders(text)
}

/// Returns the list of needs of a measurement of the server.
pub(super) fn needs_server() -> Node {
    list_node(vec![text_node(SERVER_NAME)])
}

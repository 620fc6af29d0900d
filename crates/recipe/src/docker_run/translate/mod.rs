//! Makes the parts of a recipe from a block's commands: the container, its image, its GPUs, and the steps.

mod further_server;
mod host_commands;
mod service_container;
mod steps;
mod typed;

use itertools::Itertools as _;

use self::service_container::ServerSide;
use self::steps::script_command;
use self::typed::TypedLines;
use crate::docker_run::commands::{CommandKind, GuideCommand, docker_flag, idle_reason};
use crate::docker_run::container::translate_flags;
use crate::docker_run::gpu_options::find_machines;
use crate::docker_run::gpus::add_gpus;
use crate::docker_run::images::{add_build, add_image};
use crate::docker_run::line::ContainerLine;
use crate::docker_run::parts::{DraftedService, MissingPart, MissingPlace, RecipeParts};
use crate::docker_run::script_variables::settle_script_variables;
use crate::docker_run::servers::{
    ImageArguments, published_ports, read_image_arguments, ready_key,
};
use crate::docker_run::values::Word;

/// The state of a block's translation.
#[derive(Default)]
pub(super) struct Translator {
    /// The line of the recipe's container.
    line: Option<ContainerLine>,
    /// The number of containers that the block starts.
    runs: usize,
    /// Whether commands are executed in a container while its own command runs.
    is_followed: bool,
    /// The ports of the server's line: on the host, in the container.
    published: Vec<(u16, u16)>,
    /// The server, if it has a container of its own.
    server_side: Option<ServerSide>,
    /// Images that the block makes of the container.
    commits: Vec<String>,
    /// The names of the containers of further servers.
    further_names: Vec<String>,
    typed: TypedLines,
    pulls: Vec<Word>,
    builds: Vec<Vec<Word>>,
    /// What has to be written in the place of the measured command.
    missing_command: Option<MissingPart>,
}

impl Translator {
    pub(super) fn new(commands: &[GuideCommand]) -> Self {
        let is_run = |command: &&GuideCommand| matches!(command.kind, CommandKind::Run(_));
        let is_exec = |command: &GuideCommand| matches!(command.kind, CommandKind::Exec(_));
        let runs = commands.iter().filter(is_run).count();
        Self { runs, is_followed: runs > 1 || commands.iter().any(is_exec), ..Self::default() }
    }

    pub(super) fn add(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        match &command.kind {
            CommandKind::Run(line) if self.line.is_some() => {
                self.add_further_run(parts, line, command);
            }
            CommandKind::Run(line) => self.add_run(parts, line.clone(), command),
            CommandKind::Exec(line) => self.add_exec(parts, line, command),
            CommandKind::Pull(image) => self.pulls.push(image.clone()),
            CommandKind::Build(words) => self.builds.push(words.clone()),
            CommandKind::Manage(reason) => {
                let shown = command.shown(&parts.shell.values);
                parts.note(format!("`{shown}`: dropped, {reason}"));
            }
            CommandKind::Copy(source, target) => Self::add_copy(parts, command, source, target),
            CommandKind::Commit(image) => self.add_commit(parts, command, image),
            CommandKind::Typed { changes_shell } => {
                self.add_typed(parts, command, *changes_shell);
            }
            CommandKind::Other => self.add_other(parts, command),
            CommandKind::Attach | CommandKind::Refused => {}
        }
    }

    /// Adds the line of the recipe's container.
    pub(super) fn add_run(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: ContainerLine,
        command: &GuideCommand,
    ) {
        add_image(parts, &line.image);
        translate_flags(parts, &line, &command.directory);
        for remark in &line.remarks {
            parts.note(remark);
        }
        if self.server_side.is_none() {
            self.published = published_ports(parts, &line);
        }
        self.add_run_command(parts, &line, command);
        self.line = Some(line);
    }

    /// Adds the command that a line runs in its container.
    pub(super) fn add_run_command(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        if let Some(script) = command.script() {
            return parts.commands.push(script_command(script));
        }
        let entrypoint = line.flag("entrypoint").filter(|word| !word.text.is_empty());
        let words: Vec<Word> = entrypoint.into_iter().chain(&line.command).cloned().collect();
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
        let literals: Vec<String> = line.command.iter().map(|word| parts.literal(word)).collect();
        let is_interactive = command.opens_shell();
        let arguments = read_image_arguments(&image, &literals, is_interactive);
        let of_engine = (!matches!(arguments, ImageArguments::Command))
            .then(|| parts.shell.values.environment.image_program(&image))
            .flatten()
            .filter(|program| !program.entrypoint.is_empty());
        match (of_engine, arguments) {
            (Some(program), _) => {
                let shown = program.entrypoint.join(" ");
                parts.note(format!(
                    "the image's entrypoint is written as `{shown}`, which this engine's {image} has"
                ));
                let own = program.command.iter().filter(|_| line.command.is_empty());
                let words: Vec<String> = program.entrypoint.iter().chain(own).cloned().collect();
                self.add_entrypoint(parts, &words, line, command);
            }
            (None, ImageArguments::Command) => {
                parts.note("the image's entrypoint does not run (`entrypoint: image` lets it run before Retrial's first process)");
                if !line.command.is_empty() {
                    self.add_command(parts, &line.command, Vec::new(), command);
                }
            }
            (None, ImageArguments::Of(entrypoint)) => {
                let shown = entrypoint.join(" ");
                parts.note(format!("the image's entrypoint is written as `{shown}`; `docker inspect {image}` shows that of another release"));
                self.add_entrypoint(parts, &entrypoint, line, command);
            }
            (None, ImageArguments::OfUnknown) => self.ask_for_entrypoint(parts, line),
        }
    }

    /// Adds an entrypoint and its arguments as a command.
    fn add_entrypoint(
        &mut self,
        parts: &mut RecipeParts<'_>,
        entrypoint: &[String],
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let program = entrypoint.iter().map(|word| line.image.with_text(word));
        let words: Vec<Word> = program.chain(line.command.iter().cloned()).collect();
        self.add_command(parts, &words, Vec::new(), command);
    }

    fn ask_for_entrypoint(&mut self, parts: &mut RecipeParts<'_>, line: &ContainerLine) {
        let image = parts.written(&line.image);
        if let Some(flag) =
            line.command.iter().tuple_windows().find_map(|(flag, value)| docker_flag(flag, value))
        {
            parts.note(format!("`{flag}` is behind the image, where docker takes it for an argument of the image's entrypoint; a flag of docker is before it"));
        }
        // Every word is used: what is missing is the entrypoint only.
        let run =
            parts.command(&line.command, Vec::new()).map_or(String::new(), |drafted| drafted.run);
        let arguments = parts.shell.values.written(&run);
        let what = if arguments.is_empty() {
            "the image's own entrypoint and command".to_owned()
        } else {
            format!("the image's entrypoint and its arguments `{arguments}`")
        };
        let text = format!(
            "{what}; `docker inspect --format '{{{{json .Config.Entrypoint}}}} {{{{json .Config.Cmd}}}}' {image}` prints it"
        );
        let is_server = !self.published.is_empty() && self.server_side.is_none();
        if is_server && let Some(ready) = ready_key(&[], &self.published) {
            parts.services.push(DraftedService::placeholder(ready));
            parts.commands_before_server = parts.commands.len();
            parts.ask(MissingPlace::Service("run"), text);
        } else {
            let place = MissingPlace::Measurement("run");
            self.missing_command = Some(MissingPart { place, text });
        }
    }

    pub(super) fn finish(&mut self, parts: &mut RecipeParts<'_>) {
        let Some(line) = self.line.take() else {
            return;
        };
        self.typed.finish(parts);
        settle_script_variables(parts, &self.published);
        let image = parts.literal(&line.image);
        for pulled in &self.pulls {
            let literal = parts.literal(pulled);
            let is_of_server =
                self.server_side.as_ref().is_some_and(|server| server.image == literal);
            if literal != image && !is_of_server && literal.trim_start_matches("docker://") != image
            {
                parts.note(format!("docker pull {literal}: dropped, the container is created from a different image"));
            }
        }
        for words in &self.builds {
            add_build(parts, words, &image);
        }
        let commands = parts.commands.iter().map(|drafted| drafted.literals.clone());
        let of_servers = parts.services.iter().map(|server| server.words.clone());
        let commands: Vec<Vec<String>> = commands.chain(of_servers).collect();
        add_requirements(parts, &line, &commands);
        if let Some(option) = find_machines(&commands) {
            parts.ask(MissingPlace::Measurement("run"), format!(
                "`{option}`: the command is that of one of several machines; a recipe of them has `nodes`, and else it is started on one: write the options of one machine"
            ));
        }
        if let Some(processes) = &line.processes {
            let count = parts.written(processes);
            parts.ask(MissingPlace::Measurement("run"), format!(
                "srun starts {count} processes of the command, and a recipe one: start them by the image's launcher, for example `mpirun -np {count} …` or `torchrun --nproc_per_node {count} …`"
            ));
        }
        if let Some(missing) = &self.missing_command {
            parts.incomplete.push(missing.clone());
        } else if parts.commands.is_empty() {
            let text = match parts.services.len() {
                1.. => {
                    "the client that measures the server, for example `vllm bench serve …`; the template `vllm-serve` (`retrial show vllm-serve`) has a server with its client, and can be extended in the place of this service"
                }
                0 => {
                    "the command that the guide runs in the container, for example `python3 bench.py`"
                }
            };
            parts.ask(MissingPlace::Measurement("run"), text);
        }
    }
}

/// Adds the GPUs that the line requests, or the server's if it has a container of its own.
fn add_requirements(parts: &mut RecipeParts<'_>, line: &ContainerLine, commands: &[Vec<String>]) {
    let of_server = parts.requires.take();
    add_gpus(parts, line, commands);
    if of_server.is_some() {
        if parts.requires.is_none() {
            // Else the client's container would have the server's GPUs.
            let key = parts.set_flag("gpu-access", "as-written");
            debug_assert!(key.is_ok(), "the container has the key");
        }
        parts.requires = of_server;
    }
}

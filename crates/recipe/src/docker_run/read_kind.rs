//! Classifies the commands of a block: a container's start, a command in it, an image, or one that is dropped.

use super::commands::{CommandKind, GuideCommand, is_tool};
use super::flags::{DOCKER, DOCKER_CLIENT, DOCKER_EXEC, FlagTreatment, Meaning, PODMAN};
use super::foreign;
use super::line::{LineReader, parse_line};
use super::programs::SRUN;
use super::shell::Shell;
use super::shells::is_shell;
use super::values::Word;
use crate::Diagnostics;

/// Commands of docker that are dropped, each with the reason: Retrial executes them itself, or they only print.
const MANAGED: [(&[&str], &str); 5] = [
    (
        &["stop", "rm", "kill", "restart", "pause", "unpause", "prune"],
        "Retrial stops and removes its container",
    ),
    (&["start"], "Retrial starts its container"),
    (&["logs", "attach"], "Retrial follows the output, and keeps it"),
    (&["wait"], "Retrial waits for the end of each command"),
    (
        &[
            "ps", "inspect", "port", "top", "stats", "images", "info", "version", "ls", "login",
            "logout", "search", "history", "diff", "events",
        ],
        "it changes nothing in a container",
    ),
];

impl Shell<'_> {
    /// Returns the kind of a command; one that cannot be converted is rejected by name.
    pub(super) fn read_kind(&mut self, words: &[Word], command: &GuideCommand) -> CommandKind {
        let Some((name, rest)) = words.split_first() else {
            return CommandKind::Other;
        };
        if foreign::is_foreign(&name.text) {
            return self.read_foreign_kind(words, command);
        }
        if !is_tool(&name.text) {
            return CommandKind::Other;
        }
        let mut client = LineReader::new(&DOCKER_CLIENT, rest, &mut self.problems);
        client.read_flags();
        let (flags, rest) = (client.flags, client.rest.as_slice());
        for option in flags {
            self.note(format!(
                "docker --{}: dropped, DOCKER_HOST or DOCKER_CONTEXT chooses the engine",
                option.flag.name
            ));
        }
        // `docker container run` is `docker run`.
        let group = rest.first().map(|word| &*word.text);
        let is_group = matches!(group, Some("container" | "image" | "buildx" | "system"));
        let rest = &rest[usize::from(is_group)..];
        let Some((verb, arguments)) = rest.split_first() else {
            return CommandKind::Other;
        };
        let managed = MANAGED.iter().find(|(verbs, _)| verbs.contains(&&*verb.text));
        match &*verb.text {
            "run" | "create" => self.read_run(&name.text, arguments, command),
            "exec" => {
                let line = parse_line(&DOCKER_EXEC, arguments, &command.span, &mut self.problems);
                line.map_or(CommandKind::Refused, CommandKind::Exec)
            }
            "start" if attaches_terminal(arguments) => CommandKind::Attach,
            "attach" if self.runs_shell() => CommandKind::Attach,
            "pull" => arguments.last().cloned().map_or(CommandKind::Other, CommandKind::Pull),
            "build" => CommandKind::Build(arguments.to_vec()),
            "commit" => arguments.last().cloned().map_or(CommandKind::Other, CommandKind::Commit),
            "cp" => match arguments {
                [.., source, target] => CommandKind::Copy(source.clone(), target.clone()),
                _ => CommandKind::Other,
            },
            "compose" | "stack" => {
                let name = format!("{} {}", name.text, verb.text);
                let what = "starts containers from a file";
                foreign::refuse(&name, what, &command.span, &mut self.problems);
                CommandKind::Refused
            }
            _ => managed.map_or(CommandKind::Other, |(_, reason)| CommandKind::Manage(reason)),
        }
    }

    /// Returns whether the block's container runs an interactive shell.
    fn runs_shell(&self) -> bool {
        self.commands.iter().any(|command| match &command.kind {
            CommandKind::Run(line) => {
                let is_interactive = line.flag("interactive").is_some();
                is_interactive && (line.command.is_empty() || is_shell(&line.command))
            }
            _ => false,
        })
    }

    fn read_run(&mut self, name: &str, words: &[Word], command: &GuideCommand) -> CommandKind {
        let runtime = Word::new("--runtime=nvidia", &command.span);
        let wrapper = (name == "nvidia-docker").then_some(runtime);
        let all: Vec<Word> = wrapper.into_iter().chain(words.iter().cloned()).collect();
        let program = if name == "podman" { &PODMAN } else { &DOCKER };
        let line = parse_line(program, &all, &command.span, &mut self.problems);
        line.map_or(CommandKind::Refused, CommandKind::Run)
    }

    fn read_foreign_kind(&mut self, words: &[Word], command: &GuideCommand) -> CommandKind {
        if let Some(kind) = self.read_job_step(words, command) {
            return kind;
        }
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        let file = match texts[..] {
            ["apptainer" | "singularity", "pull" | "build", .., file, _]
                if !file.starts_with('-') =>
            {
                Some(file)
            }
            ["enroot", "import", "-o" | "--output", file, _] => Some(file),
            ["apptainer" | "singularity", "pull", ..] | ["enroot", "import", ..] => Some(""),
            _ => None,
        };
        match texts[..] {
            ["enroot", "create", ..] => return self.create_enroot(&words[2..]),
            ["enroot", "list" | "remove" | "version", ..] => {
                return CommandKind::Manage("Retrial removes its container");
            }
            _ => {}
        }
        let image = words.last().filter(|word| word.text.starts_with("docker://"));
        if let (Some(file), Some(image)) = (file, image) {
            let reference = image.text.trim_start_matches("docker://");
            let file = if file.is_empty() {
                foreign::default_file(texts[0], reference)
            } else {
                file.trim_start_matches("./").to_owned()
            };
            let made = self.values.literal(&image.text);
            self.job.image_files.insert(self.values.literal(&file), made);
            return CommandKind::Pull(image.with_text(reference.replace('#', "/")));
        }
        let inherited = self.inherited_variables(&command.span);
        let line = foreign::read_foreign(
            words,
            inherited,
            &self.job,
            &self.values,
            &command.span,
            &mut self.problems,
        );
        line.map_or(CommandKind::Refused, CommandKind::Run)
    }

    /// Reads a container's tool that srun starts on one machine: `srun -n1 --gpus=8 apptainer exec …`.
    fn read_job_step(&mut self, words: &[Word], command: &GuideCommand) -> Option<CommandKind> {
        let (_, options) = words.split_first().filter(|(name, _)| name.text == "srun")?;
        // Containers of Pyxis are read elsewhere, where their problems are reported.
        let mut ignored = Diagnostics::default();
        let mut reader = LineReader::new(&SRUN, options, &mut ignored);
        reader.read_flags();
        let (flags, rest) = (reader.flags, reader.rest.as_slice());
        let has = |meaning| {
            let treatment = FlagTreatment::Translated(meaning);
            let mut own = flags.iter().rev();
            own.find(|option| option.flag.treatment == treatment)
        };
        let are_several = has(Meaning::Nodes).is_some_and(|nodes| nodes.value.text != "1");
        let starts_tool = rest.first().is_some_and(|word| is_tool(&word.text));
        if ignored.has_errors() || are_several || !starts_tool || has(Meaning::Image).is_some() {
            return None;
        }
        let tasks = has(Meaning::Tasks).map(|tasks| tasks.value.clone());
        self.job.flags.extend(flags);
        let mut kind = self.read_kind(rest, command);
        if let CommandKind::Run(line) = &mut kind {
            line.processes = tasks.filter(|tasks| tasks.text != "1");
        }
        Some(kind)
    }

    /// Records the image of a container that `enroot create` makes from a file.
    fn create_enroot(&mut self, words: &[Word]) -> CommandKind {
        let texts: Vec<String> = words.iter().map(|word| self.values.literal(&word.text)).collect();
        let file = texts.last().map_or("", |file| file.trim_start_matches("./"));
        let name = texts.iter().enumerate().find_map(|(at, text)| match &**text {
            "-n" | "--name" => texts.get(at + 1).map(String::as_str),
            other => other.strip_prefix("--name="),
        });
        let stem = file.rsplit('/').next().unwrap_or(file);
        let name = name.unwrap_or(stem.trim_end_matches(".sqsh")).to_owned();
        if let Some(image) = self.job.image_files.get(file).cloned() {
            self.job.image_files.insert(name, image);
        }
        CommandKind::Manage("the container is created from the image")
    }
}

/// Whether the arguments of `docker start` connect it to the terminal.
fn attaches_terminal(arguments: &[Word]) -> bool {
    let attaches = |word: &Word| matches!(&*word.text, "-ai" | "-ia" | "-i" | "-a" | "--attach");
    arguments.iter().any(attaches)
}

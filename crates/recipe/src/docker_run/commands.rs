//! The commands of a block, by what they are for a recipe.

use super::flags::{DOCKER, DOCKER_CLIENT, DOCKER_EXEC, PODMAN};
use super::foreign;
use super::line::{ContainerLine, LineReader, parse_line};
use super::shell::Shell;
use super::values::Word;
use crate::Span;

/// A command of a block.
#[derive(Debug, Clone)]
pub(super) struct GuideCommand {
    pub kind: CommandKind,
    /// The command as written, placeholders as params.
    pub text: String,
    /// The working directory, as text of the recipe.
    pub directory: String,
    pub span: Span,
    /// `&` follows it.
    pub is_background: bool,
    /// Redirections of its output.
    pub redirects: Vec<String>,
    /// The file that its output goes to, and whether it is appended.
    pub output: Option<(String, bool)>,
    /// The variables that are assigned before it.
    pub assigned: Vec<String>,
    pub input: CommandInput,
}

/// What a command reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum CommandInput {
    #[default]
    Nothing,
    /// A script that the block has in a here-document.
    Script(String),
    /// A file, or text that only a shell can compute.
    Other,
}

/// What a command is for a recipe.
#[derive(Debug, Clone)]
pub(super) enum CommandKind {
    /// Starts a container: `docker run`.
    Run(ContainerLine),
    /// Executes a command in it: `docker exec`.
    Exec(ContainerLine),
    /// Pulls an image.
    Pull(Word),
    /// Builds an image: the words after `docker build`.
    Build(Vec<Word>),
    /// Goes into a container that runs.
    Attach,
    /// Is dropped, for this reason.
    Manage(&'static str),
    /// Copies files out of the container, or into it.
    Copy { is_out: bool },
    /// Is typed in the container's shell.
    Typed,
    /// Is run on the host.
    Other,
    /// Cannot be read; its problems are known.
    Refused,
}

impl GuideCommand {
    pub(super) fn new(kind: CommandKind, text: String, span: &Span) -> Self {
        Self {
            kind,
            text,
            directory: String::new(),
            span: span.clone(),
            is_background: false,
            redirects: Vec::new(),
            output: None,
            assigned: Vec::new(),
            input: CommandInput::Nothing,
        }
    }

    pub(super) fn is_in_container(&self) -> bool {
        matches!(self.kind, CommandKind::Run(_) | CommandKind::Exec(_))
    }

    /// Returns whether what follows is typed in the container.
    pub(super) fn opens_shell(&self) -> bool {
        let (line, is_run) = match &self.kind {
            CommandKind::Run(line) => (line, true),
            CommandKind::Exec(line) => (line, false),
            CommandKind::Attach => return true,
            _ => return false,
        };
        let is_interactive = line.flag("interactive").is_some() || line.flag("tty").is_some();
        let is_detached = self.is_background || line.flag("detach").is_some();
        let is_idle = is_shell(&line.command) || is_run && line.command.is_empty();
        is_interactive && !is_detached && is_idle && self.input == CommandInput::Nothing
    }

    /// Returns the script of the block that its shell reads.
    pub(super) fn script(&self) -> Option<&str> {
        match (&self.kind, &self.input) {
            (CommandKind::Run(line) | CommandKind::Exec(line), CommandInput::Script(script)) => {
                is_shell(&line.command).then_some(script)
            }
            _ => None,
        }
    }
}

/// Returns whether a command is a shell that waits for what is typed.
pub(super) fn is_shell(command: &[Word]) -> bool {
    let (shell, options) = match command {
        [] => return false,
        [shell, options @ ..] => (shell, options),
    };
    let name = shell.text.rsplit('/').next().unwrap_or_default();
    let waits = |option: &Word| {
        matches!(
            &*option.text,
            "-l" | "-i" | "--login" | "-il" | "-li" | "-s" | "-"
        )
    };
    ["bash", "sh", "zsh", "dash"].contains(&name) && options.iter().all(waits)
}

/// Returns whether a program starts containers.
pub(super) fn is_tool(name: &str) -> bool {
    let engines = ["docker", "podman", "nvidia-docker", "nerdctl"];
    engines.contains(&name) || foreign::is_foreign(name)
}

/// Commands of docker that Retrial executes itself, or that only show something, with the reason why each is dropped.
const MANAGED: [(&[&str], &str); 5] = [
    (
        &["stop", "rm", "kill", "restart", "pause", "unpause", "prune"],
        "Retrial stops and removes its container",
    ),
    (&["start"], "Retrial starts its container"),
    (
        &["logs", "attach"],
        "Retrial follows the output, and keeps it",
    ),
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
    /// Returns what a command is; what no recipe can be made of is refused by its name.
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
        let managed = MANAGED
            .iter()
            .find(|(verbs, _)| verbs.contains(&&*verb.text));
        match &*verb.text {
            "run" | "create" => self.read_run(&name.text, arguments, command),
            "exec" => {
                let line = parse_line(&DOCKER_EXEC, arguments, &command.span, &mut self.problems);
                line.map_or(CommandKind::Refused, CommandKind::Exec)
            }
            "start" if attaches(arguments) => CommandKind::Attach,
            "pull" => arguments
                .last()
                .cloned()
                .map_or(CommandKind::Other, CommandKind::Pull),
            "build" => CommandKind::Build(arguments.to_vec()),
            "cp" => CommandKind::Copy {
                is_out: arguments.iter().rev().nth(1).is_some_and(is_in_container),
            },
            "compose" | "stack" => {
                let name = format!("{} {}", name.text, verb.text);
                let what = "starts containers from a file";
                foreign::refuse(&name, what, &command.span, &mut self.problems);
                CommandKind::Refused
            }
            _ => managed.map_or(CommandKind::Other, |(_, reason)| {
                CommandKind::Manage(reason)
            }),
        }
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
        let image = words
            .last()
            .filter(|word| word.text.starts_with("docker://"));
        if let (Some(file), Some(image)) = (file, image) {
            let reference = image.text.trim_start_matches("docker://");
            let file = if file.is_empty() {
                foreign::default_file(texts[0], reference)
            } else {
                file.trim_start_matches("./").to_owned()
            };
            self.job.image_files.insert(file, image.text.clone());
            return CommandKind::Pull(image.with_text(reference.replace('#', "/")));
        }
        let inherited = self.inherited_variables(&command.span);
        let line = foreign::read_foreign(
            words,
            inherited,
            &self.job,
            &command.span,
            &mut self.problems,
        );
        line.map_or(CommandKind::Refused, CommandKind::Run)
    }
}

/// Whether the arguments of `docker start` connect it to the terminal.
fn attaches(arguments: &[Word]) -> bool {
    let attaches = |word: &Word| matches!(&*word.text, "-ai" | "-ia" | "-i" | "-a" | "--attach");
    arguments.iter().any(attaches)
}

/// Whether a path of `docker cp` is one of a container.
fn is_in_container(path: &Word) -> bool {
    let (container, _) = path.text.split_once(':').unwrap_or_default();
    !container.is_empty() && !container.contains('/')
}

/// Whether a typed command has an effect on the commands behind it.
pub(super) fn changes_shell(first: &str) -> bool {
    let commands = [
        "cd", "export", "source", ".", "conda", "module", "pushd", "popd", "alias", "set",
        "ulimit", "unset", "eval", "shopt",
    ];
    commands.contains(&first) || first.contains('=')
}

/// Returns the reason why a command only keeps the container running.
pub(super) fn idle_reason(words: &[Word]) -> Option<&'static str> {
    let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
    match texts[..] {
        [_] if is_shell(words) => Some("commands in the container are the recipe's steps"),
        _ if is_shell(words) => Some(
            "commands in the container are the recipe's steps (`shell: [bash, -ilc]` gives them a login shell)",
        ),
        ["sleep", "infinity" | "inf"] | ["tail", "-f", "/dev/null"] | ["cat"] => {
            Some("Retrial keeps its container")
        }
        _ => None,
    }
}

/// Returns a flag of docker behind the image, as it is written.
pub(super) fn docker_flag(flag: &Word, value: &Word) -> Option<String> {
    let starts_with_digit = value
        .text
        .starts_with(|letter: char| letter.is_ascii_digit());
    let is_one = match &*flag.text {
        "-p" | "--publish" => starts_with_digit && value.text.contains(':'),
        "-v" | "--volume" => value.text.contains(":/"),
        "--gpus" | "--shm-size" | "--ipc" | "--device" | "--network" | "--net" | "--cap-add" => {
            true
        }
        _ => false,
    };
    is_one.then(|| format!("{} {}", flag.text, value.text))
}

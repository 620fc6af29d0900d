//! The commands of a block, by what they are for a recipe.

use super::foreign;
use super::line::{ContainerLine, parse_line};
use super::values::Word;
use crate::{Diagnostics, Span};

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
    /// Stops, removes or shows a container, which Retrial does itself.
    Manage,
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

/// Returns what a command is; what no recipe can be made of is refused by its name.
pub(super) fn read_kind(
    words: &[Word],
    command: &GuideCommand,
    problems: &mut Diagnostics,
) -> CommandKind {
    let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
    let Some((name, rest)) = texts.split_first() else {
        return CommandKind::Other;
    };
    if foreign::is_foreign(name) {
        return match foreign::to_docker_words(words, &command.span, problems) {
            Some(words) => read_run(&words, command, problems),
            None => CommandKind::Refused,
        };
    }
    if !is_tool(name) {
        return CommandKind::Other;
    }
    // `docker container run` is `docker run`.
    let skipped = match rest.first() {
        Some(&("container" | "image" | "buildx")) => 2,
        _ => 1,
    };
    let arguments = words.get(skipped + 1..).unwrap_or_default();
    match texts.get(skipped).copied().unwrap_or_default() {
        "run" | "create" if *name == "nvidia-docker" => {
            let runtime = command_word("--runtime=nvidia", command);
            let all: Vec<Word> = std::iter::once(runtime)
                .chain(arguments.iter().cloned())
                .collect();
            read_run(&all, command, problems)
        }
        "run" | "create" => read_run(arguments, command, problems),
        "exec" => match parse_line(arguments, &command.span, problems) {
            Some(line) => CommandKind::Exec(line),
            None => CommandKind::Refused,
        },
        "start"
            if arguments
                .iter()
                .any(|word| matches!(&*word.text, "-ai" | "-ia" | "-i" | "-a")) =>
        {
            CommandKind::Attach
        }
        "attach" => CommandKind::Attach,
        "pull" => arguments
            .last()
            .cloned()
            .map_or(CommandKind::Other, CommandKind::Pull),
        "build" => CommandKind::Build(arguments.to_vec()),
        "start" | "stop" | "rm" | "kill" | "logs" | "wait" | "ps" | "inspect" | "port" => {
            CommandKind::Manage
        }
        "compose" | "stack" => {
            foreign::refuse(
                &format!("{name} {}", texts[skipped]),
                &command.span,
                problems,
            );
            CommandKind::Refused
        }
        _ => CommandKind::Other,
    }
}

fn read_run(words: &[Word], command: &GuideCommand, problems: &mut Diagnostics) -> CommandKind {
    parse_line(words, &command.span, problems).map_or(CommandKind::Refused, CommandKind::Run)
}

fn command_word(text: &str, command: &GuideCommand) -> Word {
    Word::new(text, &command.span)
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

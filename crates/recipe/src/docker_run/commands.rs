//! The commands of a block, by what they are for a recipe.

use brush_parser::ast;

use super::foreign;
use super::line::ContainerLine;
use super::shells::{is_shell, is_shell_name};
use super::shown_text::show_text;
use super::values::{Values, Word};
use crate::Span;

/// A command of a block.
#[derive(Debug, Clone)]
pub(super) struct GuideCommand {
    pub kind: CommandKind,
    /// The command as written, placeholders marked, or as params where it is typed.
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
    Pull(Word),
    /// Builds an image: the words after `docker build`.
    Build(Vec<Word>),
    /// Goes into a container that runs.
    Attach,
    /// A command that is dropped, with the reason.
    Manage(&'static str),
    /// Copies files into a container, or out of it: source and target.
    Copy(Word, Word),
    /// Commits a container as this image.
    Commit(Word),
    /// Is typed in the container's shell.
    Typed {
        changes_shell: bool,
    },
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

    /// Returns the command on one line, as a person reads it, without secrets.
    pub(super) fn shown(&self, values: &Values<'_>) -> String {
        show_text(&values.written(&self.text))
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

/// Returns whether a program starts containers.
pub(super) fn is_tool(name: &str) -> bool {
    let engines = ["docker", "podman", "nvidia-docker", "nerdctl"];
    engines.contains(&name) || foreign::is_foreign(name)
}

/// Commands with an effect on the commands behind them in one shell.
const SHELL_COMMANDS: [&str; 18] = [
    ".",
    "alias",
    "cd",
    "declare",
    "deactivate",
    "eval",
    "export",
    "module",
    "popd",
    "pushd",
    "readonly",
    "set",
    "shopt",
    "source",
    "typeset",
    "ulimit",
    "umask",
    "unset",
];

/// Package managers that have such commands among others.
const ENVIRONMENT_TOOLS: [&str; 4] = ["conda", "mamba", "micromamba", "pyenv"];

/// Returns whether a typed command has an effect on the commands behind it.
pub(super) fn changes_shell(pipeline: &ast::Pipeline) -> bool {
    let simple = match &pipeline.seq[..] {
        [ast::Command::Simple(simple)] => simple,
        [ast::Command::Function(_)] => return true,
        _ => return false,
    };
    let Some(name) = &simple.word_or_name else {
        // Assignments only.
        return true;
    };
    let first = simple.suffix.iter().flat_map(|suffix| &suffix.0).next();
    let switches = first.is_some_and(|argument| {
        let text = argument.to_string();
        matches!(&*text, "activate" | "deactivate" | "shell")
    });
    SHELL_COMMANDS.contains(&&*name.value) || switches && ENVIRONMENT_TOOLS.contains(&&*name.value)
}

/// Returns the reason why a command only keeps the container running.
pub(super) fn idle_reason(words: &[Word]) -> Option<&'static str> {
    let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
    match texts[..] {
        [_] if is_shell(words) => Some("commands in the container are the recipe's steps"),
        _ if is_shell(words) => Some(
            "commands in the container are the recipe's steps (`shell: [bash, -ilc]` gives them a login shell)",
        ),
        [shell, option, script, ..]
            if is_shell_name(shell) && option.starts_with('-') && option.ends_with('c') =>
        {
            is_idle_script(script).then_some(IDLE_REASON)
        }
        _ => is_idle(&texts).then_some(IDLE_REASON),
    }
}

const IDLE_REASON: &str = "Retrial keeps its container";

/// Returns whether a program only waits: `sleep infinity`, `/bin/sleep 1d`, `tail -f /dev/null`.
fn is_idle(words: &[&str]) -> bool {
    let [program, arguments @ ..] = words else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or_default();
    match (name, arguments) {
        ("sleep", [_]) | ("cat" | "pause", []) => true,
        ("tail", arguments) => arguments.last() == Some(&"/dev/null"),
        _ => false,
    }
}

/// Returns whether a script only waits: `while true; do sleep 1000; done`, `trap : TERM; sleep inf & wait`.
fn is_idle_script(script: &str) -> bool {
    let commands = script.split([';', '&', '\n']).map(|command| {
        let words = command.split_whitespace();
        let words = words.skip_while(|word| ["while", "do", "exec"].contains(word));
        words.collect::<Vec<_>>()
    });
    let (mut idles, others): (Vec<_>, Vec<_>) = commands.partition(|words| is_idle(words));
    let is_silent = |words: &Vec<&str>| match words.first() {
        None => true,
        Some(first) => ["true", ":", "done", "wait", "trap"].contains(first),
    };
    idles.pop().is_some() && others.iter().all(is_silent)
}

/// Returns a flag of docker behind the image, as it is written.
pub(super) fn docker_flag(flag: &Word, value: &Word) -> Option<String> {
    let starts_with_digit = value.text.starts_with(|letter: char| letter.is_ascii_digit());
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

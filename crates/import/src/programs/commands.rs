//! The commands of a guide, by what they are for a recipe.

use std::ops::Range;

use retrial_document::Span;

use super::line::ContainerLine;
use super::roles::Role;
use super::words::is_shell;
use crate::shell::{HereDocument, Item, Simple, Stage, Values, Word};

/// What a command is for a recipe.
#[derive(Debug, Clone)]
pub enum Action {
    /// Starts a container: `docker run`.
    Start(ContainerLine),
    /// Executes a command in it: `docker exec`.
    Exec(ContainerLine),
    /// Goes into a container that runs.
    Attach,
    Pull(Word),
    /// Builds an image: the words after `docker build`.
    Build(Vec<Word>),
    /// A command that is dropped, with the reason.
    Manage(&'static str),
    /// Copies files into a container, or out of it: source and target.
    Copy(Word, Word),
    /// Makes an image of a container.
    Commit,
    /// Is typed in the container's shell.
    Typed(Role),
    /// Is run on the host.
    Host(Role),
    /// Cannot be read; its problems are known.
    Refused,
}

/// A command of a guide.
#[derive(Debug, Clone)]
pub struct Command {
    pub action: Action,
    /// The number of its block.
    pub block: usize,
    /// Its characters in the block.
    pub range: Range<usize>,
    pub span: Span,
    /// On one line, as a person reads it, without secrets.
    pub shown: String,
    /// `&` follows it.
    pub is_background: bool,
    pub here_document: Option<HereDocument>,
}

impl Command {
    /// Returns whether what follows is typed in the container.
    pub fn opens_shell(&self, values: &Values) -> bool {
        let (line, is_run) = match &self.action {
            Action::Start(line) => (line, true),
            Action::Exec(line) => (line, false),
            Action::Attach => return true,
            _ => return false,
        };
        let is_interactive = line.flag("interactive").is_some() || line.flag("tty").is_some();
        let is_detached = self.is_background || line.flag("detach").is_some();
        let words = line.arguments.sketch(values);
        let is_idle = is_shell(&words) || is_run && words.is_empty();
        is_interactive && !is_detached && is_idle && self.here_document.is_none()
    }
}

/// Programs that start containers.
const TOOLS: [&str; 10] = [
    "docker",
    "podman",
    "nvidia-docker",
    "nerdctl",
    "srun",
    "salloc",
    "apptainer",
    "singularity",
    "enroot",
    "sbatch",
];
/// Programs that start containers and cannot be converted, each with the reason.
pub const UNSUPPORTED: [(&str, &str); 12] = [
    ("docker-compose", "starts containers from a file"),
    ("podman-compose", "starts containers from a file"),
    ("kubectl", "starts containers from a file"),
    ("helm", "starts containers from a file"),
    ("oc", "starts containers from a file"),
    ("ch-run", "is not supported"),
    ("shifter", "is not supported"),
    ("sarus", "is not supported"),
    ("udocker", "is not supported"),
    ("ctr", "is not supported"),
    ("crictl", "is not supported"),
    ("gcloud", "starts the command on another machine"),
];

/// Returns whether a program starts containers.
pub fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name) || UNSUPPORTED.iter().any(|(program, _)| *program == name)
}

/// Returns whether a command starts a container, or is in a group that does.
pub fn names_tool(item: &Item) -> bool {
    item.stages.iter().any(|stage| match stage {
        Stage::Simple(simple) => simple_names_tool(simple),
        Stage::Compound { inner, .. } => inner.iter().any(names_tool),
        Stage::Function { .. } => false,
    })
}

fn simple_names_tool(simple: &Simple) -> bool {
    let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
    let skipped = super::wrappers::find_wrappers(&words).count;
    let first = words.get(skipped).copied().unwrap_or_default();
    is_tool(first) || first == "ssh" && words.iter().any(|word| is_tool(word))
}

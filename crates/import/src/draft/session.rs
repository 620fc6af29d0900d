//! A container of a guide, and the commands in it.

use super::builder::Builder;
use super::gpu_options::Token;
use super::keys::WrittenKeys;
use crate::programs::{Command, ContainerLine, Role, published_ports};

/// How a command comes into its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is the container's own command, or a shell's that this starts.
    Own,
    Exec,
    Typed,
}

/// A command in a container.
#[derive(Debug, Clone)]
pub struct Entry {
    pub origin: Origin,
    pub role: Role,
    /// Its text in the recipe.
    pub run: String,
    pub tokens: Vec<Token>,
    pub keys: WrittenKeys,
    pub is_background: bool,
    pub shown: String,
    /// Its place: block, start and end.
    pub place: (usize, std::ops::Range<usize>),
    pub span: retrial_document::Span,
}

/// A container with its commands.
#[derive(Debug, Clone)]
pub struct Session {
    pub line: ContainerLine,
    pub entries: Vec<Entry>,
    /// The arguments of an entrypoint that is not known.
    pub unknown_entrypoint: Option<String>,
    /// It runs while other commands of the guide do.
    pub is_detached: bool,
    /// A shell is open in it in which lines are typed.
    pub is_typed: bool,
    pub starts: usize,
}

impl Session {
    pub fn new(line: &ContainerLine, command: &Command) -> Self {
        Self {
            line: line.clone(),
            entries: Vec::new(),
            unknown_entrypoint: None,
            is_detached: command.is_background || line.flag("detach").is_some(),
            is_typed: false,
            starts: 0,
        }
    }

    pub fn is_named(&self, name: &str, builder: &Builder<'_>) -> bool {
        let mut names = self.line.all_values("name");
        names.any(|own| own.sketch(&builder.values) == name)
    }

    /// A detached container's own command serves those that are executed in it, and those that use its ports.
    pub fn serve_if_detached(&mut self, is_published: bool) {
        let measures = |entry: &Entry| matches!(entry.role, Role::Measure | Role::Print);
        let is_used = is_published || self.entries.iter().skip(1).any(measures);
        if let Some(own) = self.entries.first_mut()
            && self.is_detached
            && is_used
            && own.origin == Origin::Own
            && own.role == Role::Measure
        {
            own.role = Role::Server;
        }
    }

    /// Returns whether one of its commands is measured.
    pub fn measures(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.role, Role::Measure | Role::Print))
    }

    pub fn serves(&self) -> bool {
        self.entries.iter().any(|entry| entry.role == Role::Server)
    }
}

/// Returns the ports that the line of a container publishes: on the host, in the container.
pub fn ports_of(builder: &Builder<'_>, session: &Session) -> Vec<(u16, u16)> {
    published_ports(&session.line, &builder.values)
}

//! What a run needs of others: the hub that has its models, ports of this host.

use super::{Check, CheckKind, CheckState, Facts};

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    facts.models.iter().map(model).chain(ports(facts)).collect()
}

/// A model of the hub that a run would fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSeen {
    /// `owner/name`
    pub repository: String,
    /// What the hub said.
    pub access: Access,
}

/// Whether a model can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The hub serves it.
    Granted,
    /// It is in the cache, or nothing may be asked.
    NotAsked(String),
    /// The hub refuses it, with its words and what to do.
    Refused(String),
    /// It does not answer.
    Silent(String),
}

fn model(model: &ModelSeen) -> Check {
    let kind = CheckKind::Model;
    let check = match &model.access {
        Access::Granted => kind.ok("the hub serves it"),
        Access::NotAsked(reason) => kind.unknown(reason),
        Access::Refused(message) => kind.failed(CheckState::Error, message),
        Access::Silent(message) => kind.failed(CheckState::Warning, message),
    };
    check
        .named(format!("model {}", model.repository))
        .required("the hub serves it")
}

/// Only with the host's network are a container's ports the host's.
fn ports(facts: &Facts<'_>) -> Option<Check> {
    let required = &facts.requires?.ports;
    if required.is_empty() {
        return None;
    }
    let list = |ports: &[u16], prefix: &str, separator: &str| {
        let ports: Vec<String> = ports.iter().map(|port| format!("{prefix}{port}")).collect();
        ports.join(separator)
    };
    let mut taken = required.clone();
    taken.retain(|port| facts.listening.contains(port));
    let free = format!("{} free", list(required, "", ", "));
    let check = if taken.is_empty() {
        CheckKind::Ports.ok(&free)
    } else {
        CheckKind::Ports.error(format!("{} in use", list(&taken, "", ", ")))
    };
    Some(check.required(free).fix(format!(
        "find the process that listens there: sudo ss -ltnp '{}'",
        list(&taken, "sport = :", " or ")
    )))
}

//! What a run asks of others: the hub that has its models, ports of this host.

use super::{Check, CheckKind, CheckState, Facts};

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let mut checks: Vec<Check> = facts.models.iter().map(model).collect();
    checks.extend(ports(facts));
    checks
}

/// A model of the hub, asked for and not fetched.
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
    /// The hub gives it.
    Given,
    /// It is in the cache, or nothing may be asked.
    NotAsked(String),
    /// The hub refuses it, with its words and what to do.
    Refused(String),
    /// It does not answer.
    Silent(String),
}

fn model(model: &ModelSeen) -> Check {
    let name = format!("model {}", model.repository);
    let told = |state, text: &str| {
        let mut lines = text.lines();
        let found = lines.next().unwrap_or_default().to_owned();
        let rest: Vec<&str> = lines.map(str::trim).collect();
        Check::new(CheckKind::Model, &name, state, found)
            .required("the hub gives it")
            .fix(rest.join("; "))
    };
    match &model.access {
        Access::Given => Check::new(CheckKind::Model, &name, CheckState::Ok, "the hub gives it"),
        Access::NotAsked(because) => {
            Check::new(CheckKind::Model, &name, CheckState::Unknown, because)
        }
        Access::Refused(text) => told(CheckState::Error, text),
        Access::Silent(text) => told(CheckState::Warning, text),
    }
}

/// Only with the host's network are a container's ports the host's.
fn ports(facts: &Facts<'_>) -> Option<Check> {
    let wanted = &facts.requires?.ports;
    if wanted.is_empty() {
        return None;
    }
    let words = |ports: &[u16]| {
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        ports.join(", ")
    };
    let taken: Vec<u16> = wanted
        .iter()
        .filter(|port| facts.listening.contains(port))
        .copied()
        .collect();
    let check = if taken.is_empty() {
        Check::new(
            CheckKind::Ports,
            "ports",
            CheckState::Ok,
            format!("{} free", words(wanted)),
        )
    } else {
        let found = format!("{} in use", words(&taken));
        Check::new(CheckKind::Ports, "ports", CheckState::Error, found)
    };
    let list: Vec<String> = taken
        .iter()
        .map(|port| format!("sport = :{port}"))
        .collect();
    Some(
        check
            .required(format!("{} free", words(wanted)))
            .fix(format!(
                "find and end who listens there: sudo ss -ltnp '{}'",
                list.join(" or ")
            )),
    )
}

//! What a run needs of others: the hub that has its models, ports of this host.

use std::fmt;

use super::{Check, CheckKind, CheckState, Facts};
use crate::format::{count, size};

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let models = facts.models.iter().map(model);
    models.chain(network(facts)).chain(ports(facts)).collect()
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
    /// The hub serves it: what it has, if it told in time.
    Granted(Option<ModelSize>),
    /// It is in the cache, or nothing may be asked.
    NotAsked(String),
    /// The hub refuses it, with its words and what to do.
    Refused(String),
    /// It does not answer.
    Silent(String),
}

/// How large a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// Its selected files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that are not in the cache.
    pub missing: u64,
}

impl fmt::Display for ModelSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = count(self.files, "file");
        let bytes = size(self.bytes);
        match self.missing {
            0 => write!(formatter, "{files}, {bytes}, all of it cached"),
            missing if missing == self.bytes => write!(formatter, "{files}, {bytes}"),
            missing => write!(formatter, "{files}, {bytes}, {} to fetch", size(missing)),
        }
    }
}

fn model(model: &ModelSeen) -> Check {
    let kind = CheckKind::Model;
    let check = match &model.access {
        Access::Granted(None) => kind.ok("the hub serves it"),
        Access::Granted(Some(size)) => kind.ok(format!("the hub serves it: {size}")),
        Access::NotAsked(reason) => kind.unknown(reason),
        Access::Refused(message) => kind.failed(CheckState::Error, message),
        Access::Silent(message) => kind.failed(CheckState::Warning, message),
    };
    check
        .named(format!("model {}", model.repository))
        .required("the hub serves it")
}

/// Hosts that commands of a recipe connect to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostsSeen {
    /// Each of them.
    pub hosts: Vec<HostSeen>,
    /// They were asked from a container of the recipe's image, in its network.
    pub from_container: bool,
}

/// A host that commands of a recipe connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSeen {
    /// Its name.
    pub name: String,
    /// Why it was not asked: a proxy is between.
    pub unknown: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

fn network(facts: &Facts<'_>) -> Option<Check> {
    let HostsSeen {
        hosts,
        from_container,
    } = &facts.hosts;
    let all: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    if all.is_empty() {
        return None;
    }
    let failed = hosts.iter().filter_map(|host| {
        let error = host.error.as_ref()?;
        Some(format!("{}: {error}", host.name))
    });
    let failed: Vec<String> = failed.collect();
    let unknown = hosts.iter().find_map(|host| host.unknown.as_ref());
    let from = if *from_container {
        "from a container"
    } else {
        "from this machine"
    };
    let check = match unknown {
        _ if !failed.is_empty() => {
            CheckKind::Network.warning(format!("{from}: {}", failed.join("; ")))
        }
        Some(reason) => CheckKind::Network.unknown(reason),
        None => CheckKind::Network.ok(format!("all hosts answer {from}")),
    };
    Some(check.required(all.join(", ")).fix(
        "open the way to them (HTTPS, port 443), or set https_proxy: commands of the recipe fail without them",
    ))
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

//! Services that a run needs: the engine, the hub with its models, ports of this host.

use itertools::Itertools as _;

use super::{Access, Check, CheckKind, CheckState, EngineStatus, Facts, HostStatuses, ModelStatus};

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let models = facts.models.iter().map(model);
    models.chain(network(facts)).chain(ports(facts)).collect()
}

/// Checks that the container engine responds; none if it was not queried.
pub fn engine(engine: &EngineStatus) -> Option<Check> {
    Some(match engine {
        EngineStatus::NotQueried => return None,
        EngineStatus::Answers {
            product,
            api,
            endpoint,
            rootless,
        } => {
            let rootless = if *rootless { ", without root" } else { "" };
            CheckKind::Engine.ok(format!("{product}, API {api}, {endpoint}{rootless}"))
        }
        EngineStatus::Fails(error) => CheckKind::Engine
            .failed(CheckState::Error, error)
            .required("an engine that answers"),
    })
}

fn model(model: &ModelStatus) -> Check {
    let kind = CheckKind::Model;
    let check = match &model.access {
        Access::Granted(None) => kind.ok("the hub serves it"),
        Access::Granted(Some(size)) => kind.ok(format!("the hub serves it: {size}")),
        Access::NotQueried(reason) => kind.unknown(reason),
        Access::Refused(error) => kind.failed(CheckState::Error, error),
        Access::Silent(error) => kind.failed(CheckState::Warning, error),
    };
    check
        .named(format!("model {}", model.repository))
        .required("the hub serves it")
}

fn network(facts: &Facts<'_>) -> Option<Check> {
    let HostStatuses {
        hosts,
        from_container,
    } = &facts.hosts;
    if hosts.is_empty() {
        return None;
    }
    let all = hosts.iter().map(|host| &host.name).join(", ");
    let mut failed = hosts.iter().filter_map(|host| {
        let error = host.error.as_ref()?;
        Some(format!("{}: {error}", host.name))
    });
    let failed = failed.join("; ");
    let unknown = hosts.iter().find_map(|host| host.unknown.as_ref());
    let from = if *from_container {
        "from a container"
    } else {
        "from this machine"
    };
    let check = match unknown {
        _ if !failed.is_empty() => CheckKind::Network.warning(format!("{from}: {failed}")),
        Some(reason) => CheckKind::Network.unknown(reason),
        None => CheckKind::Network.ok(format!("all hosts answer {from}")),
    };
    Some(check.required(all).fix(
        "allow connections to them (HTTPS, port 443), or set https_proxy: the recipe's commands fail without them",
    ))
}

/// Only with the host's network are a container's ports the host's.
fn ports(facts: &Facts<'_>) -> Option<Check> {
    let required = &facts.requires?.ports;
    if required.is_empty() {
        return None;
    }
    let list = |ports: &[u16], prefix: &str, separator: &str| {
        let mut ports = ports.iter().map(|port| format!("{prefix}{port}"));
        ports.join(separator)
    };
    let mut in_use = required.clone();
    in_use.retain(|port| facts.listening.contains(port));
    let free = format!("{} free", list(required, "", ", "));
    let check = if in_use.is_empty() {
        CheckKind::Ports.ok(&free)
    } else {
        CheckKind::Ports.error(format!("{} in use", list(&in_use, "", ", ")))
    };
    Some(check.required(free).fix(format!(
        "find the process that listens there: sudo ss -ltnp '{}'",
        list(&in_use, "sport = :", " or ")
    )))
}

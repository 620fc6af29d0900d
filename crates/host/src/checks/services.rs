//! Services that a run needs: the engine, the hub with its models, ports of this host.

use itertools::Itertools as _;

use super::{
    EngineStatus, HostCheck, HostCheckKind, HostCheckState, HostFacts, HostStatuses, ModelAccess,
    ModelStatus,
};

pub fn checks(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let models = facts.models.iter().map(model);
    models.chain(network(facts)).chain(ports(facts)).collect()
}

/// Checks that the container engine responds; none if it was not queried.
pub fn engine(engine: &EngineStatus) -> Option<HostCheck> {
    Some(match engine {
        EngineStatus::NotQueried => return None,
        EngineStatus::Answers {
            product,
            api,
            endpoint,
            rootless,
        } => {
            let rootless = if *rootless { ", without root" } else { "" };
            HostCheckKind::Engine.ok(format!("{product}, API {api}, {endpoint}{rootless}"))
        }
        EngineStatus::Fails(error) => HostCheckKind::Engine
            .failed(HostCheckState::Error, error)
            .required("an engine that answers"),
    })
}

fn model(model: &ModelStatus) -> HostCheck {
    let kind = HostCheckKind::Model;
    let check = match &model.access {
        ModelAccess::Granted(None) => kind.ok("the hub serves it"),
        ModelAccess::Granted(Some(size)) => kind.ok(format!("the hub serves it: {size}")),
        ModelAccess::NotQueried(reason) => kind.unknown(reason),
        ModelAccess::Refused(error) => kind.failed(HostCheckState::Error, error),
        ModelAccess::NoResponse(error) => kind.failed(HostCheckState::Warning, error),
    };
    check
        .named(format!("model {}", model.repository))
        .required("the hub serves it")
}

fn network(facts: &HostFacts<'_>) -> Option<HostCheck> {
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
        _ if !failed.is_empty() => HostCheckKind::Network.warning(format!("{from}: {failed}")),
        Some(reason) => HostCheckKind::Network.unknown(reason),
        None => HostCheckKind::Network.ok(format!("all hosts answer {from}")),
    };
    Some(check.required(all).fix(
        "allow connections to them (HTTPS, port 443), or set https_proxy: the recipe's commands fail without them",
    ))
}

/// Only with the host's network are a container's ports the host's.
fn ports(facts: &HostFacts<'_>) -> Option<HostCheck> {
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
        HostCheckKind::Ports.ok(&free)
    } else {
        HostCheckKind::Ports.error(format!("{} in use", list(&in_use, "", ", ")))
    };
    Some(check.required(free).fix(format!(
        "find the process that listens there: sudo ss -ltnp '{}'",
        list(&in_use, "sport = :", " or ")
    )))
}

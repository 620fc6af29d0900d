//! Services that a run needs: the engine, the hub with its models, ports of this host.

use itertools::Itertools as _;

use super::{
    EngineStatus, HostCheck, HostCheckKind, HostCheckState, HostFacts, HostStatuses, ModelAccess,
    ModelStatus,
};

pub fn check_services(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let models = facts.models.iter().map(check_model);
    models.chain(check_network(facts)).chain(check_ports(facts)).collect()
}

/// Checks that the container engine responds; none if it was not queried.
pub fn check_engine(engine: &EngineStatus) -> Option<HostCheck> {
    Some(match engine {
        EngineStatus::NotQueried => return None,
        EngineStatus::Answers { product, api, endpoint, rootless } => {
            let rootless = if *rootless { ", without root" } else { "" };
            HostCheckKind::Engine.pass(format!("{product}, API {api}, {endpoint}{rootless}"))
        }
        EngineStatus::Fails(error) => HostCheckKind::Engine
            .check_from_message(HostCheckState::Error, error)
            .with_requirement("an engine that answers"),
    })
}

fn check_model(model: &ModelStatus) -> HostCheck {
    let kind = HostCheckKind::Model;
    let check = match &model.access {
        ModelAccess::Granted(None) => kind.pass("the hub serves it"),
        ModelAccess::Granted(Some(size)) => kind.pass(format!("the hub serves it: {size}")),
        ModelAccess::NotQueried(reason) => kind.undetermined(reason),
        // It is not in the cache either, or nothing would be asked of the hub.
        ModelAccess::Refused(error) | ModelAccess::NoResponse(error) => {
            kind.check_from_message(HostCheckState::Error, error)
        }
    };
    check.with_name(format!("model {}", model.repository)).with_requirement("the hub serves it")
}

fn check_network(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let HostStatuses { hosts, from_container } = &facts.hosts;
    if hosts.is_empty() {
        return None;
    }
    let all = hosts.iter().map(|host| &host.name).join(", ");
    let mut failures = hosts.iter().filter_map(|host| {
        let error = host.error.as_ref()?;
        Some(format!("{}: {error}", host.name))
    });
    let failed = failures.join("; ");
    let unknown = hosts.iter().find_map(|host| host.unknown.as_ref());
    let from = if *from_container { "from a container" } else { "from this machine" };
    let check = match unknown {
        _ if !failed.is_empty() => HostCheckKind::Network.warn(format!("{from}: {failed}")),
        Some(reason) => HostCheckKind::Network.undetermined(reason),
        None => HostCheckKind::Network.pass(format!("all hosts answer {from}")),
    };
    Some(check.with_requirement(all).with_fix(
        "allow connections to them (HTTPS, port 443), or set https_proxy: the recipe's commands fail without them",
    ))
}

/// Only with the host's network are a container's ports the host's.
fn check_ports(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let required = &facts.requires?.ports;
    if required.is_empty() {
        return None;
    }
    let list = |ports: &[u16], prefix: &str, separator: &str| {
        let mut prefixed = ports.iter().map(|port| format!("{prefix}{port}"));
        prefixed.join(separator)
    };
    let mut in_use = required.clone();
    in_use.retain(|port| facts.listening.contains(port));
    let free = format!("{} free", list(required, "", ", "));
    let check = if in_use.is_empty() {
        HostCheckKind::Ports.pass(&free)
    } else {
        HostCheckKind::Ports.fail(format!("{} in use", list(&in_use, "", ", ")))
    };
    Some(check.with_requirement(free).with_fix(format!(
        "find the process that listens there: sudo ss -ltnp '{}'",
        list(&in_use, "sport = :", " or ")
    )))
}

//! What containers leave in the copies of the recipe's files that they may write.

use crate::access::RunSession;
use crate::cache::seed::container_owner;
use retrial_container::{ContainerSpec, first_process};
use retrial_engine::api::ExecSpec;
use retrial_plan::Action;
use retrial_store::companions::remove_privileged_files;
use retrial_store::journal::EventKind;

/// Makes us the owner of the container's files below the control directory and in copies of the recipe's files,
/// without following symlinks. Root does not need it.
pub async fn restore_ownership(session: &RunSession, id: &str) {
    if rustix::process::getuid().is_root() {
        return;
    }
    let owner = container_owner(session).await;
    let mut words = vec!["chown", "-hR", &owner, first_process::CONTROL_MOUNT];
    let mounts = container_of(session, id).into_iter().flat_map(|container| &container.mounts);
    let writable = mounts
        .filter(|mount| !mount.read_only && session.plan.copied_companion(&mount.source).is_some());
    words.extend(writable.map(|mount| mount.target.as_str()));
    let spec = ExecSpec::as_root(words);
    // Files that stay the container's are reported when they are read or removed.
    let _ = session.with_engine(|engine| engine.exec_attached(id, &spec)).await;
}

/// The plan's description of a container of this run.
fn container_of<'a>(session: &'a RunSession, id: &str) -> Option<&'a ContainerSpec> {
    let state = session.state();
    let mut services = state.service_containers.iter();
    let Some((started_by, _)) = services.find(|(_, service)| service.as_str() == id) else {
        return Some(&session.plan.container);
    };
    let mut steps = session.plan.steps.iter();
    match &steps.find(|step| step.number == *started_by)?.action {
        Action::StartService(service) => service.own_container.as_ref(),
        _ => None,
    }
}

/// Removes set-user-ID bits and device nodes from the copies that containers could write.
pub fn remove_privileged_leftovers(session: &RunSession) {
    let root = session.companions.writable_root();
    for (path, error) in remove_privileged_files(&root) {
        let text = format!(
            "a container left a set-user-ID file or a device, which could not be removed: {}: {error}",
            path.display()
        );
        // On a full disk the container must still be removed.
        let _ = session.record(EventKind::Warning { text });
    }
}

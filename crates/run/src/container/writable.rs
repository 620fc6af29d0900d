//! What containers leave in the copies of the recipe's files that they may write.

use std::path::Path;

use itertools::Itertools as _;
use jiff::Timestamp;

use crate::access::RunSession;
use crate::cache::seed::container_owner;
use crate::interrupt::run_on_thread;
use retrial_container::{ContainerSpec, first_process};
use retrial_engine::api::ExecSpec;
use retrial_plan::{Action, Plan};
use retrial_store::RunDirectory;
use retrial_store::companions::{
    PrivilegedFile, WRITABLE_FOLDER, remove_privileged_files, revoke_privileged_files,
};
use retrial_store::journal::{EventKind, JournalState};

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

/// Removes set-user-ID bits, capabilities of files and device nodes from what containers could write.
pub async fn remove_privileged_leftovers(session: &RunSession) {
    let (run, plan, state) = (session.run.clone(), session.plan.clone(), session.state());
    let search = move || revoke_privileges_of_run(&run, &plan, &state);
    let Ok(texts) = run_on_thread(&session.stop, search).await else {
        let text = "the run was stopped while it looked for set-user-ID files and devices that a container left";
        // As below: it is being removed in any case.
        let _ = session.record(EventKind::Warning { text: text.to_owned() });
        return;
    };
    for text in texts {
        // On a full disk the container must still be removed.
        let _ = session.record(EventKind::Warning { text });
    }
}

/// Removes set-user-ID bits, capabilities of files and device nodes from what containers of a run could write: its own
/// directories, and those of the host where the host's own programs are not. Returns a sentence for each.
pub fn revoke_privileges_of_run(
    run: &RunDirectory,
    plan: &Plan,
    state: &JournalState,
) -> Vec<String> {
    let own = [WRITABLE_FOLDER, "control", "services"];
    let own = own.iter().flat_map(|name| remove_privileged_files(&run.join(name)));
    let since = state.since.as_ref().map_or(Timestamp::MIN, |moment| moment.time);
    let of_host = plan.writable_host_paths().map(Path::new).unique();
    let of_host = of_host.filter(|path| !has_programs(path) && !is_of_kernel(path));
    let found = own.chain(of_host.flat_map(|path| revoke_privileged_files(path, since)));
    found.map(|file| describe_file(&file)).collect()
}

fn describe_file(PrivilegedFile { path, removed }: &PrivilegedFile) -> String {
    let path = path.display();
    match removed {
        Ok(()) => format!(
            "a container left a set-user-ID file, one with capabilities or a device: {path}: its privileges were removed"
        ),
        Err(error) => format!(
            "set-user-ID files and devices that a container may have left could not be removed: {path}: {error}"
        ),
    }
}

/// Whether a directory has the kernel's own files, whose device nodes come and go.
fn is_of_kernel(directory: &Path) -> bool {
    let is_below = |outer: &str| directory.starts_with(outer);
    ["/proc", "/sys", "/dev"].into_iter().any(is_below) && !is_below("/dev/shm")
}

/// Whether a directory has the host's programs, some of which have such bits, or is one of them.
fn has_programs(directory: &Path) -> bool {
    let programs = Path::new("/usr");
    directory.starts_with(programs) || programs.starts_with(directory)
}

//! The paths that containers mount and builders are sent: the run's copy of the recipe's files, and paths of the host.
//! These are resolved each time that they are given to the engine, and must be what was approved.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::access::RunSession;
use crate::error::Halt;
use crate::interrupt::run_on_thread;
use crate::step::StepSession;
use retrial_beneath::RealPath;
use retrial_container::{CONTROL_MOUNT, ContainerSpec, Mount};
use retrial_plan::Plan;
use retrial_store::journal::StepFault;

/// Returns a path of the plan as the engine gets it.
async fn resolve_source(
    session: &RunSession,
    path: &str,
    read_only: bool,
) -> Result<RealPath, Halt> {
    let Some(companion) = session.plan.copied_companion(path) else {
        require_source(Path::new(path), path)?;
        return resolve_host_path(&session.plan, path);
    };
    let root = session.companions.root();
    let copy = root.join(companion);
    require_source(&copy, path)?;
    let (root, copy) = if read_only {
        (root, copy)
    } else {
        let (companions, companion) = (session.companions.clone(), companion.to_owned());
        let made = run_on_thread(&session.stop, move || companions.writable_copy(&companion));
        (session.companions.writable_root(), made.await??)
    };
    let resolve =
        |path_of: &Path| RealPath::resolve(path_of).map_err(|error| unresolved_error(path, &error));
    let (found, above) = (resolve(&copy)?, resolve(&root)?);
    let planned = copy.strip_prefix(&root).map(|below| above.path().join(below));
    if planned.is_ok_and(|planned| planned == found.path()) {
        return Ok(found);
    }
    Err(Halt::failure(
        StepFault::Request,
        format!("the copy of {path} is reached through a link"),
        "name what the link leads to, and start a new run",
    ))
}

/// The engine would mount an empty directory.
fn require_source(source: &Path, path: &str) -> Result<(), Halt> {
    if source.exists() {
        return Ok(());
    }
    Err(Halt::failure(
        StepFault::Request,
        format!("the mount's source {path} does not exist"),
        "create it or correct the recipe; the engine would mount an empty directory",
    ))
}

/// Resolves a path of the host, which must lead where it led when the plan was approved.
fn resolve_host_path(plan: &Plan, path: &str) -> Result<RealPath, Halt> {
    let found =
        RealPath::resolve(Path::new(path)).map_err(|error| unresolved_error(path, &error))?;
    let Some(source) = plan.find_host_path(path) else {
        // A directory of Retrial's own, a file of the hub's cache, or of the GPU's driver.
        return Ok(found);
    };
    // Nothing is a link below the directories that were known when it was approved.
    let below = Path::new(path).strip_prefix(source.known_directories());
    let approved = match below {
        Ok(below) if source.path != path => Path::new(source.resolved()).join(below),
        _ => PathBuf::from(source.resolved()),
    };
    if found.path() == approved {
        return require_own_below(Path::new(source.resolved()), &approved).map(|()| found);
    }
    let to = found.path().display();
    Err(Halt::failure(
        StepFault::Request,
        format!("{path} is or contains a link that leads to {to}, which was not approved"),
        "if you made the link, start a new run, which asks for approval; else find out which program made it",
    ))
}

/// Refuses directories above a path in which another user can put something else, below those that were known when it
/// was approved. Whose it is itself is what was asked for.
fn require_own_below(known: &Path, path: &Path) -> Result<(), Halt> {
    let own = rustix::process::geteuid().as_raw();
    let is_own = |directory: &Path| {
        let status = std::fs::symlink_metadata(directory);
        status.is_ok_and(|status| [0, own].contains(&status.uid()) && status.mode() & 0o022 == 0)
    };
    let mut below = path.ancestors().take_while(|directory| *directory != known).skip(1);
    below.find(|directory| !is_own(directory)).map_or(Ok(()), |other| {
        Err(Halt::failure(
            StepFault::Request,
            format!("another user owns or can write {}", other.display()),
            "mount a directory that only you can write: chmod go-w",
        ))
    })
}

fn unresolved_error(path: &str, error: &io::Error) -> Halt {
    Halt::failure(
        StepFault::Request,
        format!("the mount's source {path} cannot be resolved: {error}"),
        "do not replace it while a run starts",
    )
}

/// Returns the context of a build, without links.
pub async fn resolve_context(session: &RunSession, context: &str) -> Result<PathBuf, Halt> {
    let is_copied = session.plan.copied_companion(context).is_some();
    // The engine reports one that does not exist.
    if !is_copied && !Path::new(context).exists() {
        return Ok(PathBuf::from(context));
    }
    Ok(resolve_source(session, context, true).await?.path().to_owned())
}

/// Makes mounts of files next to the recipe mounts of their copies.
pub fn use_copies(session: &RunSession, mounts: &mut [Mount]) {
    for mount in mounts {
        if let Some(companion) = session.plan.copied_companion(&mount.source) {
            mount.source = session.companions.root().join(companion).display().to_string();
        }
    }
}

/// The sources of a container's mounts, as they were resolved before it was created.
pub struct ResolvedMounts(Vec<(RealPath, PathBuf)>);

impl ResolvedMounts {
    /// Resolves the sources of a container's mounts, and has the engine mount the resolved paths.
    pub async fn resolve(
        session: &RunSession,
        container: &mut ContainerSpec,
    ) -> Result<Self, Halt> {
        let mut resolved = Vec::new();
        for mount in &mut container.mounts {
            let real = resolve_source(session, &mount.source, mount.read_only).await?;
            mount.source = real.path().display().to_string();
            resolved.push((real, PathBuf::from(&mount.target)));
        }
        Ok(Self(resolved))
    }

    /// Checks that the engine will mount what was resolved, and that it is still there.
    pub async fn verify_mounted(
        &self,
        session: &StepSession<'_>,
        container: &str,
    ) -> Result<(), Halt> {
        let mounted = session.with_engine(|engine| engine.list_bind_mounts(container)).await?;
        for (real, target) in &self.0 {
            let mut mounts = mounted.iter().filter(|mount| mount.target == *target);
            // An engine in a virtual machine puts the directory before it at which it has our files.
            let relative = real.path().strip_prefix("/").unwrap_or(real.path());
            if !mounts.any(|mount| mount.source.ends_with(relative)) {
                return Err(replaced_error(real.path(), "the engine mounts another path there"));
            }
        }
        let is_ours = |target: &Path| target == Path::new(CONTROL_MOUNT);
        let is_known =
            |target: &Path| is_ours(target) || self.0.iter().any(|(_, known)| known == target);
        if let Some(other) = mounted.iter().find(|mount| !is_known(&mount.target)) {
            return Err(replaced_error(&other.source, "the engine mounts it by itself"));
        }
        let replaced_one = self.0.iter().find(|(real, _)| !real.is_unchanged());
        replaced_one.map_or(Ok(()), |(real, _)| {
            Err(replaced_error(real.path(), "it was replaced while the container was created"))
        })
    }
}

fn replaced_error(path: &Path, reason: &str) -> Halt {
    Halt::failure(
        StepFault::Request,
        format!("the mount's source {} is not what was approved: {reason}", path.display()),
        "find out which program replaced it; the container was removed",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use retrial_plan::access::{AccessKind, HostAccess, HostPath};

    /// `leads` is where the directories lead that are known before the run.
    fn plan(path: &str, leads: &Path) -> Plan {
        let source = HostPath {
            path: path.to_owned(),
            leads_to: Some(leads.display().to_string()),
            reason: None,
            is_socket: false,
            mounted_below: Vec::new(),
        };
        let access =
            HostAccess { recipient: "container".to_owned(), kind: AccessKind::Mount(source) };
        Plan { access: vec![access], ..Plan::default() }
    }

    #[test]
    fn no_link_is_followed_below_what_was_approved() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/node-1/sub")).unwrap();
        symlink("real", root.join("named")).unwrap();
        symlink("/", root.join("real/node-2")).unwrap();
        let named = root.join("named").display().to_string();
        let plan = plan(&format!("{named}/${{{{ node.name }}}}"), &root.join("real"));
        let resolve = |name: &str| resolve_host_path(&plan, &format!("{named}/{name}"));
        assert_eq!(resolve("node-1").unwrap().path(), root.join("real/node-1"));
        assert!(resolve("node-2").is_err());
        assert!(resolve("../real").is_err());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(root.join("real/node-1"), mode).unwrap();
        assert!(resolve("node-1").is_ok());
        assert!(resolve("node-1/sub").is_err(), "others can put a link in its place");
    }
}

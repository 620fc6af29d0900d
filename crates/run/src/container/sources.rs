//! The paths of this machine that containers mount and builders are sent, resolved each time that they are given to
//! the engine: a container that can write in a directory may have put a link in it since the plan was approved.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Halt;
use crate::step::StepSession;
use retrial_beneath::{RealPath, resolve_existing};
use retrial_container::{CONTROL_MOUNT, ContainerSpec};
use retrial_plan::Plan;
use retrial_store::journal::StepFault;

/// Records in a plan where links lead from its sources, for approval: out of the recipe's directory, or from a path
/// elsewhere.
pub fn record_links(plan: &mut Plan) {
    let directory_text = plan.directory.as_deref();
    let directory = directory_text.map(|directory| resolve_existing(Path::new(directory)));
    let outward_links = plan.engine_sources().filter_map(|source| {
        let named = Path::new(source.known_directories());
        let real = resolve_existing(named);
        let is_inside = plan.is_companion(&source.path)
            && directory.as_ref().is_some_and(|own| real.starts_with(own));
        (!is_inside && real != named).then(|| (source.path.clone(), real.display().to_string()))
    });
    let links: BTreeMap<String, String> = outward_links.collect();
    plan.record_links(&links);
}

/// Resolves a path of the plan, which must lead where it led when the plan was approved.
fn resolve_source(plan: &Plan, path: &str) -> Result<RealPath, Halt> {
    let failed = |error: io::Error| {
        Halt::failure(
            StepFault::Request,
            format!("the mount's source {path} cannot be resolved: {error}"),
            "do not replace it while a run starts",
        )
    };
    let source = plan.find_engine_source(path);
    let leads_to = source.and_then(|source| source.leads_to.as_deref());
    if let (Some(own), true, None) = (&plan.directory, plan.is_companion(path), leads_to) {
        let found = RealPath::resolve_beneath(Path::new(own), Path::new(path)).map_err(failed)?;
        return found.ok_or_else(|| not_approved_error(path, "out of the recipe's directory"));
    }
    let found = RealPath::resolve(Path::new(path)).map_err(failed)?;
    let Some(source) = source else {
        // A directory of Retrial's own, a file of the hub's cache, or of the GPU's driver.
        return Ok(found);
    };
    let approved = Path::new(leads_to.unwrap_or(source.known_directories()));
    let is_approved = if source.path == path {
        found.path() == approved
    } else {
        found.path().starts_with(approved)
    };
    if is_approved {
        return Ok(found);
    }
    Err(not_approved_error(path, &format!("to {}", found.path().display())))
}

fn not_approved_error(path: &str, to: &str) -> Halt {
    Halt::failure(
        StepFault::Request,
        format!("{path} is or contains a link that leads {to}, which was not approved"),
        "if you made the link, start a new run, which asks for approval; else find out which program made it",
    )
}

/// The context of a build, without links.
pub fn resolve_context(plan: &Plan, context: &str) -> Result<PathBuf, Halt> {
    // The engine reports one that does not exist.
    if !Path::new(context).exists() {
        return Ok(PathBuf::from(context));
    }
    Ok(resolve_source(plan, context)?.path().to_owned())
}

/// The sources of a container's mounts, as they were resolved before it was created.
pub struct ResolvedMounts(Vec<(RealPath, PathBuf)>);

impl ResolvedMounts {
    /// Resolves the sources of a container's mounts, and has the engine mount the resolved paths.
    pub fn resolve(plan: &Plan, container: &mut ContainerSpec) -> Result<Self, Halt> {
        let mut resolved = Vec::new();
        for mount in &mut container.mounts {
            let real = resolve_source(plan, &mount.source)?;
            mount.source = real.path().display().to_string();
            resolved.push((real, PathBuf::from(&mount.target)));
        }
        Ok(Self(resolved))
    }

    /// Checks that the engine mounts what was resolved, and that it is still there.
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
        self.verify_unchanged()
    }

    /// Checks that every path still leads to the same file or directory.
    pub fn verify_unchanged(&self) -> Result<(), Halt> {
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

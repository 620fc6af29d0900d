//! Lists everything of this machine that a plan lets containers, builds and commands use. The privileges to approve,
//! the key of a remembered approval, the check of owners, and the paths that are resolved again when a container is
//! created are all made from this list. Reads no files.

use std::collections::BTreeMap;
use std::path::Path;

use itertools::Itertools as _;

use super::access::{AccessKind, HostAccess, HostPath, container_accesses};
use super::privilege::{Privilege, privilege_for_access};
use super::step::Plan;
use retrial_host::gpu_support::GpuSupport;

mod steps;

impl Plan {
    /// Derives the plan's list of accesses, and the privileges that it needs. `named_by_user` are the secrets that the
    /// command line names.
    pub(super) fn derive_access(&mut self, support: &GpuSupport, named_by_user: &[String]) {
        let mut all = container_accesses(&self.container, "container");
        all.extend(self.steps.iter().flat_map(steps::step_accesses));
        for access in &mut all {
            match &mut access.kind {
                AccessKind::Mount(HostPath { path, .. })
                    if support.has_file(path) && self.is_read_only(path) =>
                {
                    let path = std::mem::take(path);
                    access.kind = AccessKind::DriverFile { path };
                }
                AccessKind::Secret { name, named_by_user: named } => {
                    *named = named_by_user.contains(name);
                }
                _ => {}
            }
        }
        self.access = all.into_iter().unique().collect();
        self.privileges = self.needed_privileges();
    }

    /// Returns whether no container can write to a mounted path.
    fn is_read_only(&self, path: &str) -> bool {
        let mut mounts = self.containers().flat_map(|container| &container.mounts);
        mounts.all(|mount| mount.source != path || mount.read_only)
    }

    /// Records where links lead from the sources of mounts and the contexts of builds, by path.
    pub fn record_links(&mut self, links: &BTreeMap<String, String>) {
        for access in &mut self.access {
            if let AccessKind::Mount(source) | AccessKind::BuildContext(source) = &mut access.kind {
                source.leads_to = links.get(&source.path).cloned();
            }
        }
        self.privileges = self.needed_privileges();
    }

    /// Returns the paths that are resolved again before the engine gets them, each once.
    pub fn engine_sources(&self) -> impl Iterator<Item = &HostPath> {
        let sources = self.access.iter().filter_map(|access| access.kind.engine_source());
        sources.unique_by(|source| &source.path)
    }

    /// Returns the source of a mounted path; one whose end is known only at run time matches by its beginning.
    pub fn find_engine_source(&self, path: &str) -> Option<&HostPath> {
        let exact = self.engine_sources().find(|source| source.path == path);
        let is_later = |source: &&HostPath| {
            let known = source.known_directories();
            known != source.path && path.starts_with(known)
        };
        exact.or_else(|| self.engine_sources().find(is_later))
    }

    /// Withdraws secrets that have no value: they need no approval, and a value that is set later is not passed.
    pub fn withdraw_secrets(&mut self, has_value: impl Fn(&str) -> bool) {
        let is_given = |access: &HostAccess| match &access.kind {
            AccessKind::Secret { name, named_by_user: false } => has_value(name),
            _ => true,
        };
        let extracted = self.access.extract_if(.., |access| !is_given(access));
        let withdrawn: Vec<HostAccess> = extracted.collect();
        self.secrets.retain(|secret| {
            let is_withdrawn = |access: &HostAccess| matches!(&access.kind, AccessKind::Secret { name, .. } if name == secret);
            !withdrawn.iter().any(is_withdrawn)
        });
        self.privileges = self.needed_privileges();
    }

    /// Returns whether a path is in the recipe's directory, by its name; links are not followed.
    pub fn is_companion(&self, path: &str) -> bool {
        let directory = self.directory.as_deref();
        let has_parent = path.split('/').any(|part| part == "..");
        directory.is_some_and(|directory| Path::new(path).starts_with(directory)) && !has_parent
    }

    /// The first privilege of this machine's plan that was not approved in the plan of another one. Links outside
    /// the recipe's directory may lead elsewhere here.
    pub fn unapproved_privilege(&self, approved: &Self) -> Option<Privilege> {
        let known: Vec<HostAccess> =
            approved.access.iter().map(|one| approved.comparable_access(one)).collect();
        let mut new =
            self.access.iter().filter(|one| !known.contains(&self.comparable_access(one)));
        new.find_map(|access| self.needed_privilege(access))
    }

    fn comparable_access(&self, access: &HostAccess) -> HostAccess {
        let mut comparable = access.clone();
        if let AccessKind::Mount(source) | AccessKind::BuildContext(source) = &mut comparable.kind
            && !self.is_companion(&source.path)
        {
            source.leads_to = None;
        }
        comparable
    }

    /// Returns the privileges that the plan's accesses need, each once.
    fn needed_privileges(&self) -> Vec<Privilege> {
        let needed = self.access.iter().filter_map(|access| self.needed_privilege(access));
        needed.unique().collect()
    }

    fn needed_privilege(&self, access: &HostAccess) -> Option<Privilege> {
        privilege_for_access(access, |path| self.is_companion(path))
    }
}

#[cfg(test)]
mod tests;

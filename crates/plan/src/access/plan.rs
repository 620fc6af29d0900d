//! Lists everything of this machine that a plan lets containers, builds and commands use. The privileges to approve,
//! the key of a remembered approval, the check of owners, and the paths that are resolved again when a container is
//! created are all made from this list. Reads no files.

use std::path::{Component, Path, PathBuf};

use itertools::Itertools as _;

use super::container::container_accesses;
use super::steps::step_accesses;
use super::{AccessKind, HostAccess, HostPath, PathFacts};
use crate::privilege::{PathPlace, Privilege, privilege_for_access};
use crate::step::{Action, Plan};
use retrial_host::gpu_support::GpuSupport;

/// The host's directory of shared memory.
pub const SHARED_MEMORY: &str = "/dev/shm";

impl Plan {
    /// Derives the plan's list of accesses, and the privileges that it needs. `named_by_user` are the secrets that the
    /// command line names.
    pub(crate) fn derive_access(&mut self, support: &GpuSupport, named_by_user: &[String]) {
        let mut all = container_accesses(&self.container, "container");
        all.extend(self.steps.iter().flat_map(step_accesses));
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

    /// Records what was found out about the paths that containers, builds and commands use.
    pub fn record_paths(&mut self, facts: impl Fn(&str) -> PathFacts) {
        for access in &mut self.access {
            if let Some(source) = access.kind.host_path_mut() {
                PathFacts {
                    leads_to: source.leads_to,
                    reason: source.reason,
                    is_socket: source.is_socket,
                    mounted_below: source.mounted_below,
                } = facts(&source.path);
            }
        }
        self.privileges = self.needed_privileges();
    }

    /// Returns the devices of the host that containers get by their paths.
    pub fn device_paths(&self) -> impl Iterator<Item = &str> {
        let devices = self.access.iter().filter_map(|access| match &access.kind {
            AccessKind::Device { device } => device.split(':').next(),
            _ => None,
        });
        devices.filter(|path| path.starts_with('/'))
    }

    /// Returns what was recorded of a path.
    pub fn path_facts(&self, path: &str) -> PathFacts {
        let source = self.host_paths().find(|source| source.path == path);
        source.map_or_else(PathFacts::default, |source| PathFacts {
            leads_to: source.leads_to.clone(),
            reason: source.reason.clone(),
            is_socket: source.is_socket,
            mounted_below: source.mounted_below.clone(),
        })
    }

    /// Returns the references of the images that are pulled.
    pub fn pulled_images(&self) -> impl Iterator<Item = &String> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Pull { reference, .. } => Some(reference),
            _ => None,
        })
    }

    /// Returns the paths that containers, builds and commands use, each once.
    pub fn host_paths(&self) -> impl Iterator<Item = &HostPath> {
        let sources = self.access.iter().filter_map(|access| access.kind.host_path());
        sources.unique_by(|source| &source.path)
    }

    /// Returns a path that containers, builds and commands use; one whose end is known only at run time matches by its
    /// beginning.
    pub fn find_host_path(&self, path: &str) -> Option<&HostPath> {
        let exact = self.host_paths().find(|source| source.path == path);
        let is_later = |source: &&HostPath| {
            let known = source.known_directories();
            known != source.path && path.starts_with(known)
        };
        exact.or_else(|| self.host_paths().find(is_later))
    }

    /// Returns the files and directories next to the recipe that the run copies, relative to the recipe's directory,
    /// each once; those that are links out of it are not copied.
    pub fn companion_names(&self) -> Vec<PathBuf> {
        let sources = self.host_paths().filter(|source| source.leads_to.is_none());
        let names = sources.filter_map(|source| self.companion_name(source.known_directories()));
        names.map(Path::to_owned).sorted().dedup().collect()
    }

    /// Returns the copied file of a path, relative to the recipe's directory; none if the path is one of the host.
    pub fn copied_companion<'a>(&self, path: &'a str) -> Option<&'a Path> {
        let source = self.find_host_path(path)?;
        let known = self.companion_name(source.known_directories());
        known.filter(|_| source.leads_to.is_none()).and_then(|_| self.companion_name(path))
    }

    /// Returns the paths of the host that are mounted or sent to the builder, without links as far as they are known.
    pub fn resolved_host_paths(&self) -> impl Iterator<Item = &str> {
        let sources = self.host_paths();
        let of_host = sources.filter(|source| self.copied_companion(&source.path).is_none());
        of_host.map(HostPath::resolved)
    }

    /// Returns the paths of the host that a container can write, without links as far as they are known: also the file
    /// systems below a read-only mount, which some engines mount writable.
    pub fn writable_host_paths(&self) -> impl Iterator<Item = &str> {
        let mounts = self.containers().flat_map(|container| &container.mounts);
        let of_host = mounts.filter(|mount| self.copied_companion(&mount.source).is_none());
        of_host.flat_map(|mount| {
            let source = self.find_host_path(&mount.source);
            let itself = source.filter(|_| !mount.read_only).map(HostPath::resolved);
            let below = source.filter(|_| mount.read_only).into_iter();
            let below = below.flat_map(|source| source.mounted_below.iter().map(String::as_str));
            itself.into_iter().chain(below)
        })
    }

    /// The host's directory of shared memory, if a container has it.
    fn shared_memory(&self) -> Option<&'static str> {
        let mut containers = self.containers();
        let is_shared = containers.any(|container| container.ipc.as_deref() == Some("host"));
        is_shared.then_some(SHARED_MEMORY)
    }

    /// Returns a path of the host, or one of `own`, that is below a directory of the host which a container can write, and
    /// that directory: a container could put a link in its place. The directory itself may be mounted twice. Of a path
    /// with an expression, any directory below those that are known may be meant. `is_within` tells whether a path is a
    /// directory or in it, also by another path of that.
    pub fn find_exposed_path(
        &self,
        own: &[PathBuf],
        is_within: impl Fn(&Path, &Path) -> bool,
    ) -> Option<(String, String)> {
        let late = self.host_paths().filter(|source| source.is_known_later());
        let exposed_late = late.map(HostPath::resolved).find_map(|known| {
            let mounts = self.containers().flat_map(|container| &container.mounts);
            let writable = mounts.filter(|mount| !mount.read_only);
            let writable = writable.filter_map(|mount| self.find_host_path(&mount.source));
            let writable = writable.filter(|other| !other.is_known_later());
            let below = self.host_paths().flat_map(|source| &source.mounted_below);
            let all = writable.map(HostPath::resolved).chain(below.map(String::as_str));
            let mut all = all.chain(self.shared_memory());
            let other = all.find(|other| {
                let (other, known) = (Path::new(other), Path::new(known));
                is_within(other, known) || is_within(known, other)
            })?;
            Some((known.to_owned(), other.to_owned()))
        });
        exposed_late.or_else(|| self.find_exposed_known_path(own, is_within))
    }

    fn find_exposed_known_path(
        &self,
        own: &[PathBuf],
        is_within: impl Fn(&Path, &Path) -> bool,
    ) -> Option<(String, String)> {
        self.writable_host_paths().chain(self.shared_memory()).find_map(|directory| {
            let mut paths =
                self.resolved_host_paths().map(Path::new).chain(own.iter().map(PathBuf::as_path));
            let outer = Path::new(directory);
            // The same directory twice is no danger to itself.
            let exposed = paths.find(|path| is_within(path, outer) && !is_within(outer, path))?;
            Some((exposed.display().to_string(), directory.to_owned()))
        })
    }

    /// Returns a path next to the recipe of which no directory is known before the run: nothing of it can be copied.
    pub(crate) fn find_unknown_companion(&self) -> Option<&str> {
        let mut paths = self.host_paths();
        let is_unknown = |source: &&HostPath| {
            self.is_companion(&source.path) && !self.is_companion(source.known_directories())
        };
        paths.find(is_unknown).map(|source| source.path.as_str())
    }

    /// Returns a path that the recipe names as one next to it, and as a path of the host, too. `relative` are those of
    /// its mounts next to it.
    pub(crate) fn find_path_named_twice(&self, relative: &[String]) -> Option<&str> {
        let files = self.access.iter().filter_map(|access| match &access.kind {
            AccessKind::BuildContext(source) | AccessKind::RecipeFile(source) => Some(&source.path),
            _ => None,
        });
        let named = relative.iter().chain(files);
        // `//` and `/.` name nothing.
        let is_same = |path: &str, other: &String| Path::new(other) == Path::new(path);
        let mut in_place = self.in_place.iter().map(String::as_str);
        in_place.find(|path| named.clone().any(|other| is_same(path, other)))
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
        self.place(path) == PathPlace::Companion
    }

    fn companion_name<'a>(&self, path: &'a str) -> Option<&'a Path> {
        let relative = Path::new(path).strip_prefix(self.directory.as_deref()?).ok()?;
        self.is_companion(path).then_some(relative)
    }

    fn place(&self, path: &str) -> PathPlace {
        let directory = self.directory.as_deref();
        let relative = directory.and_then(|directory| Path::new(path).strip_prefix(directory).ok());
        let mut names = relative.into_iter().flat_map(Path::components);
        match relative {
            Some(_) if self.in_place.iter().any(|named| Path::new(named) == Path::new(path)) => {
                PathPlace::InPlace
            }
            Some(relative) if relative.as_os_str().is_empty() => PathPlace::RecipeDirectory,
            Some(_) if names.all(|name| matches!(name, Component::Normal(_))) => {
                PathPlace::Companion
            }
            _ => PathPlace::Host,
        }
    }

    /// The first privilege of this machine's plan that was not approved in the plan of another one. Links outside
    /// the recipe's directory may lead elsewhere here, and other file systems may be mounted below a path, but not if
    /// that makes a part of it writable and no part was.
    pub fn unapproved_privilege(&self, approved: &Self) -> Option<Privilege> {
        let known: Vec<HostAccess> =
            approved.access.iter().map(|one| approved.comparable_access(one)).collect();
        let is_new = |access: &&HostAccess| {
            let path = access.kind.host_path().map(|source| source.path.as_str());
            !known.contains(&self.comparable_access(access))
                || path.is_some_and(|path| {
                    self.is_writable_below(path) && !approved.is_writable_below(path)
                })
        };
        self.access.iter().filter(is_new).find_map(|access| self.needed_privilege(access))
    }

    fn comparable_access(&self, access: &HostAccess) -> HostAccess {
        let mut comparable = access.clone();
        if let Some(source) = comparable.kind.host_path_mut()
            && !self.is_companion(&source.path)
        {
            source.leads_to = None;
            source.mounted_below.clear();
        }
        comparable
    }

    /// Returns whether a container may write to a mounted path, or to a file system below it.
    fn is_writable_below(&self, path: &str) -> bool {
        !self.is_read_only(path) || !self.path_facts(path).mounted_below.is_empty()
    }

    /// Returns the privileges that the plan's accesses need, each once.
    fn needed_privileges(&self) -> Vec<Privilege> {
        let needed = self.access.iter().filter_map(|access| self.needed_privilege(access));
        needed.unique().collect()
    }

    fn needed_privilege(&self, access: &HostAccess) -> Option<Privilege> {
        privilege_for_access(access, |path| self.place(path), |path| !self.is_read_only(path))
    }
}

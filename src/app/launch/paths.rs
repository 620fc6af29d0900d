//! The paths that a plan gives to containers, builds and commands, as this machine has them: what approval must know
//! of each, and the copy of those next to the recipe.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host_mounts::{check_host_paths, describe_other_writers};
use super::open::OpenedRecipe;
use super::stand_ins::is_stand_in;
use crate::app::catalog::MEMORY_DIRECTORY;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::own_directories::list_own_directories;
use retrial_beneath::{HeldDirectory, MountTable, resolve_existing};
use retrial_document::ErrorText;
use retrial_engine::docker::hash_build_context;
use retrial_engine::endpoint::{EngineEnvironment, choose_endpoint};
use retrial_plan::Plan;
use retrial_plan::access::{AccessKind, HostPath, PathFacts};
use retrial_recipe::model::Image;
use retrial_store::StoreError;
use retrial_store::companions::{
    CompanionError, CompanionFact, CompanionFacts, StagedCompanions, examine_companions,
};
use retrial_store::home::home_directory;

/// Directories with files of many programs: nothing directly in them belongs to a recipe.
const SHARED_DIRECTORIES: [&str; 5] = ["/", "/tmp", "/var/tmp", MEMORY_DIRECTORY, "/home"];

/// Directories of the system, with all that is below them.
const SYSTEM_DIRECTORIES: [&str; 5] = ["/dev", "/etc", "/proc", "/sys", "/boot"];

impl OpenedRecipe {
    /// Records where the plan's paths lead, and what of those next to the recipe is asked for. Fails on files next to
    /// the recipe that cannot be copied if the plan `is_run`.
    pub(super) fn record_paths(
        &self,
        global: &GlobalOptions,
        plan: &mut Plan,
        is_run: bool,
    ) -> Result<(), Failure> {
        // Files of a built-in recipe are this program's.
        let directory = self.own_directory(plan).map(PathBuf::from);
        record_links(plan);
        let names = if directory.is_some() { plan.companion_names() } else { Vec::new() };
        let owner = self.entry.owner().unwrap_or_default();
        let held = self.entry.held_directory();
        let examined = held.map(|held| examine_companions(held, &names, owner));
        let facts = match examined.unwrap_or_else(|| Ok(CompanionFacts::new())) {
            Err(error) if is_run => return Err(error.into()),
            facts => facts.unwrap_or_default(),
        };
        let places = PrivatePlaces::new(global);
        let is_remote = has_remote_engine(global);
        let reason = |plan: &Plan, path: &str| {
            let Some(name) = plan.copied_companion(path) else {
                return describe_host_path(plan.find_host_path(path)?, is_remote);
            };
            let directory = directory.as_deref()?;
            let place = places.describe(directory, &directory.join(name));
            place.or_else(|| describe_fact(&facts, name))
        };
        let recorded = plan.clone();
        plan.record_paths(|path| PathFacts {
            reason: reason(&recorded, path),
            ..recorded.path_facts(path)
        });
        Ok(())
    }

    /// Copies the files next to the recipe that the plan gives to containers, builds and commands, and records their
    /// digest. Nothing else of them is used from now on.
    pub(super) fn stage_companions(
        &self,
        global: &GlobalOptions,
        plan: &mut Plan,
    ) -> Result<Option<Arc<StagedCompanions>>, Failure> {
        refuse_outward_files(plan)?;
        let names = plan.companion_names();
        if names.is_empty() {
            return Ok(None);
        }
        let staged = StagedCompanions::new(&global.home.staging_directory())?;
        let own = self.own_directory(plan).and(self.entry.held_directory()).cloned();
        let is_own = own.is_some();
        let directory = if let Some(own) = own {
            own
        } else {
            let source = staged.source_directory();
            self.entry.extract_to(&source)?;
            HeldDirectory::open(&source).map_err(StoreError::io("open", &source))?
        };
        let owner = self.entry.owner().unwrap_or_default();
        let (digest, facts) = staged.copy(&directory, &names, owner)?;
        plan.companions = Some(digest);
        if is_own {
            refuse_new_facts(plan, &facts)?;
        }
        self.check_build_content(plan, &staged)?;
        Ok(Some(Arc::new(staged)))
    }

    /// The directory of the recipe on disk whose files the plan has; none if they are a built-in recipe's.
    fn own_directory<'a>(&self, plan: &'a Plan) -> Option<&'a str> {
        // By the names at which it was opened, whatever is there now.
        let directory = plan.directory.as_deref()?;
        (Path::new(directory) == self.entry.directory()?).then_some(directory)
    }

    /// Refuses a build whose files changed since its image was named.
    fn check_build_content(&self, plan: &Plan, staged: &StagedCompanions) -> Result<(), Failure> {
        let Image::Build(build) = &self.resolved.recipe.image else {
            return Ok(());
        };
        let (Some(own), Some(planned)) = (self.own_directory(plan), plan.build_content()) else {
            return Ok(());
        };
        let context = format!("{own}/{}", build.context.trim_start_matches("./"));
        let Some(name) = plan.copied_companion(&context) else {
            return Ok(());
        };
        let copy = resolve_existing(&staged.root().join(name));
        if hash_build_context(&copy, &build.dockerfile).is_ok_and(|copied| copied == planned) {
            return Ok(());
        }
        Err(Failure::usage(format!("{context} changed while the run was planned"))
            .with_help("run it again when nothing writes there"))
    }
}

/// Refuses a copy of which more should be known than was when the plan was made: what is asked for is decided by what is
/// copied.
fn refuse_new_facts(plan: &Plan, facts: &CompanionFacts) -> Result<(), Failure> {
    let asked = plan.host_paths().filter(|source| source.reason.is_some());
    let asked: Vec<&Path> =
        asked.filter_map(|source| plan.copied_companion(&source.path)).collect();
    let new = facts.keys().find(|name| !asked.contains(&name.as_path()));
    let Some(name) = new else {
        return Ok(());
    };
    Err(Failure::usage(format!("{} changed while the run was planned", name.display()))
        .with_help("run it again when nothing writes there"))
}

/// Refuses a command on the host that names a link out of the recipe's directory: it gets copies only.
fn refuse_outward_files(plan: &Plan) -> Result<(), Failure> {
    let mut accesses = plan.access.iter();
    let outward = accesses.find_map(|access| match &access.kind {
        AccessKind::RecipeFile(HostPath { path, leads_to: Some(target), .. }) => {
            Some((&access.recipient, path, target))
        }
        _ => None,
    });
    let Some((step, path, target)) = outward else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{step}: {path} is a link to {target}, outside the recipe's directory"
    ))
    .with_help("a command on the host gets copies of files next to the recipe: put the file there"))
}

/// Records where links lead from the paths of a plan: out of the recipe's directory, or from a path elsewhere.
fn record_links(plan: &mut Plan) {
    let planned = plan.clone();
    let directory = planned.directory.as_deref();
    let directory = directory.map(|directory| resolve_existing(Path::new(directory)));
    let mounts = MountTable::read();
    plan.record_paths(|path| {
        let source = planned.find_host_path(path);
        let named = Path::new(source.map_or(path, |source| source.known_directories()));
        let real = resolve_existing(named);
        let is_inside = planned.is_companion(path)
            && directory.as_ref().is_some_and(|own| real.starts_with(own) && real != *own);
        let is_socket = fs::metadata(&real).is_ok_and(|status| status.file_type().is_socket());
        let leads_to = (!is_inside && real != named).then(|| real.display().to_string());
        let mounted_below = if is_inside {
            Vec::new()
        } else {
            mounts.points_below(&real).map(|point| point.display().to_string()).collect()
        };
        PathFacts { leads_to, reason: None, is_socket, mounted_below }
    });
}

/// Records where links lead on another machine, or at another time. Files next to the recipe were copied, and are as
/// they were approved.
pub fn record_links_here(plan: &mut Plan, approved: &Plan) {
    record_links(plan);
    let here = plan.clone();
    plan.record_paths(|path| {
        if approved.copied_companion(path).is_some() {
            approved.path_facts(path)
        } else {
            here.path_facts(path)
        }
    });
}

/// Refuses an approved plan whose paths are not as they were: a link leads elsewhere, another user can write, another
/// file system lies below one that is read-only, or the engine is on another machine.
pub fn check_paths_again(global: &GlobalOptions, approved: &Plan) -> Result<(), Failure> {
    let mut here = approved.clone();
    record_links_here(&mut here, approved);
    let found = here.clone();
    let is_remote = has_remote_engine(global);
    here.record_paths(|path| {
        let (then, now) = (approved.path_facts(path), found.path_facts(path));
        if approved.copied_companion(path).is_some() {
            return then;
        }
        let source = found.find_host_path(path);
        let reason = source.and_then(|source| describe_host_path(source, is_remote));
        PathFacts { reason: reason.or(then.reason), ..now }
    });
    check_host_paths(&here, global)?;
    let moved = here.host_paths().find(|source| {
        approved.copied_companion(&source.path).is_none()
            && approved.path_facts(&source.path).leads_to != source.leads_to
    });
    let moved = moved.map(|source| format!("{} leads to {}", source.path, source.resolved()));
    let new = || here.unapproved_privilege(approved).map(|new| new.to_string());
    let new = if approved.built_in { None } else { moved.or_else(new) };
    let Some(change) = new else {
        return Ok(());
    };
    Err(Failure::usage(format!("this was not so when the run was approved: {change}"))
        .with_help("undo the change, or start a new run, which asks"))
}

/// Says why a path of the host is asked for each time, if it is.
fn describe_host_path(source: &HostPath, is_remote: bool) -> Option<String> {
    if is_remote {
        return Some("on the machine of the engine, which is not this one".to_owned());
    }
    if source.is_known_later() {
        return Some("which directory below, is known only during the run".to_owned());
    }
    let path = Path::new(source.resolved());
    if is_stand_in(path) {
        return Some("which path, is not set yet".to_owned());
    }
    describe_other_writers(path)
}

/// Whether the engine's own machine has the paths that it mounts. One that cannot be chosen is reported when it is used.
fn has_remote_engine(global: &GlobalOptions) -> bool {
    let chosen = choose_endpoint(global.engine.as_deref(), &EngineEnvironment::from_environment());
    chosen.is_ok_and(|endpoint| !endpoint.url.starts_with("unix://"))
}

/// Directories of which no recipe gets a part without a question.
struct PrivatePlaces {
    mounts: MountTable,
    /// Of this user: the home.
    home: PathBuf,
    /// Retrial's own.
    own: Vec<PathBuf>,
}

impl PrivatePlaces {
    fn new(global: &GlobalOptions) -> Self {
        Self {
            mounts: MountTable::read(),
            home: resolve_existing(&home_directory()),
            own: list_own_directories(global),
        }
    }

    /// Says why a file or directory next to a recipe is asked for, if it is.
    fn describe(&self, directory: &Path, path: &Path) -> Option<String> {
        let (directory, path) = (resolve_existing(directory), resolve_existing(path));
        let is_within = |inner: &Path, outer: &Path| self.mounts.is_within(inner, outer);
        let contains = |inner: &Path| is_within(inner, &path);
        // A recipe in a home may have files there, but not one that is above it.
        let of_path = self.find_home(&path);
        let is_from_outside = of_path.is_some_and(|home| !is_within(&directory, &home));
        let is_home = |path: &Path| self.find_home(path).is_some_and(|home| is_within(&home, path));
        let is_below =
            |outer: &Path| is_within(&path, outer) || self.mounts.is_same(&directory, outer);
        if contains(&self.home) || is_home(&path) || is_home(&directory) || is_from_outside {
            return Some("in the home directory".to_owned());
        }
        if self.own.iter().any(|own| contains(own) || is_below(own)) {
            return Some("in a directory of Retrial's own".to_owned());
        }
        let shared = SHARED_DIRECTORIES.iter().map(Path::new);
        let system = SYSTEM_DIRECTORIES.iter().map(Path::new);
        let is_of_system =
            |system: &Path| is_below(system) && !is_below(Path::new(MEMORY_DIRECTORY));
        let mut found = shared
            .filter(|shared| contains(shared) || self.mounts.is_same(&directory, shared))
            .chain(system.filter(|system| contains(system) || is_of_system(system)));
        let place = found.next().map(|found| format!("in {}", found.display()));
        place.or_else(|| {
            // As a link does, a mount leads out of the recipe's directory.
            let mut points = self.mounts.points_below(&directory);
            let point = points.find(|one| one.starts_with(&path) || path.starts_with(one))?;
            Some(format!("with what is mounted at {}", point.display()))
        })
    }

    /// The home that has a path: of this user, of root, or of another one for whom root runs it.
    fn find_home(&self, path: &Path) -> Option<PathBuf> {
        let names = self.mounts.names(path);
        let mut above = names.iter().flat_map(|name| name.ancestors());
        let is_home = |path: &Path| {
            self.mounts.is_same(path, &self.home)
                || path == Path::new("/root")
                || path.parent() == Some("/home".as_ref())
        };
        above.find(|above| is_home(above)).map(Path::to_owned)
    }
}

/// Says what a person should know of a companion, or of one that has it.
fn describe_fact(facts: &CompanionFacts, name: &Path) -> Option<String> {
    Some(match facts.get(name)? {
        CompanionFact::OtherOwner { path, user } => {
            format!("{} belongs to another user (uid {user})", path.display())
        }
        CompanionFact::Repository { path } => {
            format!("with a Git repository ({})", path.display())
        }
    })
}

impl From<CompanionError> for Failure {
    fn from(error: CompanionError) -> Self {
        match error {
            CompanionError::Store(error) => error.into(),
            CompanionError::Write { .. } => Self::host(ErrorText::of(&error)),
            _ => Self::usage(ErrorText::of(&error)),
        }
    }
}

//! Rules for paths of the host that a recipe mounts: nobody but this user and root can put something else in their
//! place while the engine resolves them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::app::failure::Failure;
use crate::app::file_owners;
use crate::app::options::GlobalOptions;
use crate::app::own_directories::list_own_directories;
use retrial_beneath::resolve_existing;
use retrial_plan::Plan;
use retrial_store::Home;

/// Refuses a path below a directory that a container of the same run can write, or below one that another user can.
pub fn check_host_paths(plan: &Plan, global: &GlobalOptions) -> Result<(), Failure> {
    let cache = Path::new(&plan.cache);
    // Directories that steps fill are mounted, too.
    let filled = resolve_existing(&cache.join("directories"));
    // A run is resumed with the cache that it began with.
    let mut of_retrial = list_own_directories(global);
    of_retrial.push(resolve_existing(cache));
    let is_in = |path: &str, directory: &Path| {
        Path::new(path).ancestors().any(|ancestor| is_same_directory(ancestor, directory))
    };
    let mut filled_paths = plan.resolved_host_paths().filter(|path| is_in(path, &filled));
    // A container could put links in place of what other containers mount.
    let mut writable = plan.writable_host_paths();
    let writable = writable.find(|path| of_retrial.iter().any(|own| is_in(path, own)));
    if let Some(path) = filled_paths.next().or(writable) {
        return Err(Failure::usage(format!(
            "{path} is in a directory of Retrial's own, which containers can write"
        ))
        .with_help("mount a directory of your own"));
    }
    if let Some((path, writable)) = plan.find_exposed_path(&of_retrial, is_below) {
        return Err(Failure::usage(format!(
            "{path} is below {writable}, which a container of this run can write: it could replace it"
        ))
        .with_help(format!("mount {writable} read-only (`:ro`), or a directory that does not contain {path}"))
        .with_help(other_home_help(Path::new(&path), Path::new(&writable), &global.home)));
    }
    let of_host = plan.host_paths().filter(|one| plan.copied_companion(&one.path).is_none());
    // By its name, whose links others must not be able to replace either.
    let named: Vec<PathBuf> = of_host.map(|one| PathBuf::from(one.known_directories())).collect();
    file_owners::require_own_directories(
        &named,
        "the recipe mounts a path below it, in whose place they could put a link",
    )
}

/// Returns whether a path is below a directory, also by another path of the directory.
fn is_below(path: &Path, directory: &Path) -> bool {
    !is_same_directory(path, directory)
        && path.ancestors().skip(1).any(|ancestor| is_same_directory(ancestor, directory))
}

/// Returns whether two paths without links are one directory: a bind mount gives it a second path.
fn is_same_directory(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    one == other || identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// Retrial's own directories can lie elsewhere; nothing else can.
fn other_home_help(path: &Path, writable: &Path, home: &Home) -> String {
    let is_home = path == resolve_existing(home.root());
    if is_home {
        format!("have Retrial's home outside {}: --home DIRECTORY", writable.display())
    } else {
        String::new()
    }
}

/// Says that other users can write a path, if they can.
pub fn describe_other_writers(path: &Path) -> Option<String> {
    file_owners::is_written_by_others(path).then(|| "other users can write it".to_owned())
}

//! Rules for paths of the host that a recipe mounts: nobody but this user and root can put something else in their
//! place while the engine resolves them.

use std::path::{Path, PathBuf};

use crate::app::configuration::configuration_path;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{file_owners, follow};
use retrial_beneath::resolve_existing;
use retrial_plan::Plan;
use retrial_store::Home;

/// Refuses a path below a directory that a container of the same run can write, or below one that another user can.
pub fn check_host_paths(plan: &Plan, global: &GlobalOptions) -> Result<(), Failure> {
    let home = &global.home;
    let (cache, home_root) = (Path::new(&plan.cache), resolve_existing(home.root()));
    // Directories that steps fill are mounted, too.
    let filled = resolve_existing(&cache.join("directories"));
    let scratch = follow::scratch_directory(global);
    let of_retrial = [home_root, resolve_existing(cache)];
    let configuration = configuration_path().parent().map(resolve_existing);
    let of_scratch = scratch.as_deref().map(resolve_existing);
    let of_retrial: Vec<PathBuf> =
        of_retrial.into_iter().chain(configuration).chain(of_scratch).collect();
    let is_in = |path: &str, directory: &PathBuf| Path::new(path).starts_with(directory);
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
    // What is remembered there is trusted, and its files are mounted.
    let configuration = configuration_path();
    let trusted = [home.root(), cache, &configuration].into_iter().chain(scratch.as_deref());
    let trusted: Vec<PathBuf> = trusted.map(resolve_existing).collect();
    if let Some((path, writable)) = plan.find_exposed_path(&trusted) {
        return Err(Failure::usage(format!(
            "{path} is below {writable}, which a container of this run can write: it could replace it"
        ))
        .with_help(format!("mount {writable} read-only (`:ro`), or a directory that does not contain {path}"))
        .with_help(other_home_help(Path::new(&path), Path::new(&writable), home)));
    }
    let of_host = plan.host_paths().filter(|one| plan.copied_companion(&one.path).is_none());
    // By its name, whose links others must not be able to replace either.
    let named: Vec<PathBuf> = of_host.map(|one| PathBuf::from(one.known_directories())).collect();
    file_owners::require_own_directories(
        &named,
        "the recipe mounts a path below it, in whose place they could put a link",
    )
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

//! Rules for paths of the host that a recipe mounts: nobody but this user and root can put something else in their
//! place while the engine resolves them.

use std::path::{Component, Path, PathBuf};

use super::approvals;
use crate::app::failure::Failure;
use crate::app::file_owners;
use crate::app::options::GlobalOptions;
use crate::app::own_directories::list_own_directories;
use retrial_beneath::{MountTable, resolve_existing};
use retrial_hub::HubSettings;
use retrial_plan::access::SHARED_MEMORY;
use retrial_plan::{Action, Plan};
use retrial_store::Home;

/// Refuses a path below a directory that a container of the same run can write, or below one that another user can.
pub fn check_host_paths(plan: &Plan, global: &GlobalOptions) -> Result<(), Failure> {
    let cache = Path::new(&plan.cache);
    // Directories that steps fill are mounted, too.
    let filled = resolve_existing(&cache.join("directories"));
    // A run is resumed with the cache that it began with.
    let mut of_retrial = list_own_directories(global);
    of_retrial.push(resolve_existing(cache));
    let hub_cache = find_hub_cache(plan);
    of_retrial.extend(hub_cache.clone());
    let mounts = MountTable::read();
    let is_in = |path: &str, directory: &Path| mounts.is_within(Path::new(path), directory);
    let mut filled_paths = plan.resolved_host_paths().filter(|path| is_in(path, &filled));
    // Of any home: it may be this user's with other options.
    let is_in_home = |path: &str| {
        let names = mounts.names(Path::new(path));
        let mut above = names.iter().flat_map(|name| name.ancestors());
        above.any(|directory| directory.join(approvals::FILE).exists())
    };
    // A container could put links in place of what other containers mount, and approve what runs next.
    let mut writable = plan.writable_host_paths();
    let is_own = |path: &str| of_retrial.iter().any(|own| is_in(path, own)) || is_in_home(path);
    let writable = writable.find(|path| is_own(path));
    if let Some((path, _)) = writable.zip(hub_cache).filter(|(path, cache)| is_in(path, cache)) {
        return Err(Failure::usage(format!(
            "{path} is in the hub's cache, from which this run mounts models: a container could replace them"
        ))
        .with_help(format!("mount {path} read-only (`:ro`), or have the cache elsewhere: HF_HUB_CACHE=DIR")));
    }
    if let Some(path) = filled_paths.next().or(writable) {
        return Err(Failure::usage(format!(
            "{path} is in a directory of Retrial's own, which containers can write"
        ))
        .with_help("mount a directory of your own"));
    }
    if let Some((path, writable)) =
        plan.find_exposed_path(&of_retrial, |path, directory| mounts.is_within(path, directory))
    {
        return Err(Failure::usage(format!(
            "{path} is below {writable}, which a container of this run can write: it could replace it"
        ))
        .with_help(exposure_help(&path, &writable))
        .with_help(other_home_help(Path::new(&path), Path::new(&writable), &global.home)));
    }
    let of_host = plan.host_paths().filter(|one| plan.copied_companion(&one.path).is_none());
    // By its name, whose links others must not be able to replace either.
    let named = of_host.map(|one| PathBuf::from(one.known_directories()));
    let devices: Vec<PathBuf> = plan.device_paths().map(PathBuf::from).collect();
    if let Some(device) = devices.iter().find(|device| !is_in_device_directory(device)) {
        return Err(Failure::usage(format!("the device {} is not below /dev", device.display()))
            .with_help("name the device itself: what a link elsewhere leads to may be another one at each start"));
    }
    let named: Vec<PathBuf> = named.chain(devices).collect();
    file_owners::require_own_directories(
        &named,
        "the recipe mounts a path below it, in whose place they could put a link",
    )
}

fn is_in_device_directory(device: &Path) -> bool {
    device.starts_with("/dev") && !device.components().any(|part| part == Component::ParentDir)
}

fn exposure_help(path: &str, writable: &str) -> String {
    if writable == SHARED_MEMORY {
        return format!("mount a directory elsewhere: a container with `ipc: host` has {writable}");
    }
    format!("mount {writable} read-only (`:ro`), or a directory that does not contain {path}")
}

/// The cache with the models that a plan fetches and mounts.
fn find_hub_cache(plan: &Plan) -> Option<PathBuf> {
    let mut actions = plan.steps.iter().map(|step| &step.action);
    let fetches = actions.any(|action| matches!(action, Action::FetchModel(_)));
    // Settings that cannot be read are reported when it is used.
    let settings = fetches.then(HubSettings::from_environment)?.ok()?;
    Some(resolve_existing(&settings.cache))
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

//! Directories that Retrial trusts: what is in them decides what runs. Makes none of them.

use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::app::configuration::configuration_path;
use crate::app::options::GlobalOptions;
use retrial_beneath::resolve_existing;
use retrial_host as host;
use retrial_store::cache::standard_cache;
use retrial_store::{Home, scratch};

/// Returns the home and the cache, also those without options of this command line, the configuration with the sites,
/// and the control directories, without links. No container gets them, or what is in them, to write.
pub fn list_own_directories(global: &GlobalOptions) -> Vec<PathBuf> {
    let configuration = configuration_path().parent().map(Path::to_owned);
    let own = [global.home.root().to_owned(), global.cache.clone()].into_iter();
    let usual = [Home::usual(), Home::default_home()].map(|home| home.root().to_owned());
    let usual = usual.into_iter().chain([standard_cache()]);
    let own = own.chain(usual).chain(configuration).chain(scratch_directory(global));
    own.map(|path| resolve_existing(&path)).unique().collect()
}

/// Returns the directory of containers' control directories if the home is on a network file system, which
/// may deny access to the engine's root: `RETRIAL_SCRATCH`, else a directory of this user below /tmp.
pub fn scratch_directory(global: &GlobalOptions) -> Option<PathBuf> {
    let variable = std::env::var_os("RETRIAL_SCRATCH").filter(|named| !named.is_empty());
    let named = variable.map(PathBuf::from).filter(|named| named.is_absolute());
    let shared = || host::network_file_system(global.home.root());
    named.or_else(|| shared().map(|_| scratch::default_location()))
}

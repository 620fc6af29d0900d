//! Finds site files: `sites/NAME.yaml` below the configuration directory.

use std::path::PathBuf;

use itertools::Itertools as _;

use crate::site::Site;
use retrial_store::home::{home_directory, user_directory};

/// A site, with the file that describes it.
#[derive(Debug, Clone)]
pub struct SiteFile {
    /// Its file's name without the ending.
    pub name: String,
    /// The path of the file: `sites/NAME.yaml`, or the copy in a run's directory.
    pub path: PathBuf,
    /// The text of the file, which is copied next to each submitted job.
    pub text: String,
    /// The site that the text describes.
    pub site: Site,
}

/// Returns the directory of site files: `$XDG_CONFIG_HOME/retrial/sites`, else `~/.config/retrial/sites`.
pub fn sites_directory() -> PathBuf {
    user_directory("XDG_CONFIG_HOME", ".config").join("retrial/sites")
}

/// A path of a site file: `~/` is the user's home directory.
pub fn expand_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(below) => home_directory().join(below),
        None => PathBuf::from(path),
    }
}

/// Names of the site files, sorted, with their paths.
pub fn list_sites() -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(sites_directory()).into_iter().flatten();
    let sites = entries.flatten().filter_map(|entry| {
        let path = entry.path();
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        let name = path.file_stem()?.to_str()?.to_owned();
        (is_yaml && !name.starts_with('.')).then_some((name, path))
    });
    sites.sorted().collect()
}

//! Finds site files: `sites/NAME.yaml` below the configuration directory.

use std::path::{Path, PathBuf};
use std::slice;

use itertools::Itertools as _;

use crate::app::failure::Failure;
use crate::app::file_owners;
use retrial_cluster::site::{self, Site};
use retrial_document::{Source, did_you_mean};
use retrial_store::StoreError;
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

/// Opens a site by its name, and prints the problems of its file. One that other users can change is
/// refused.
pub fn open_site(name: &str) -> Result<SiteFile, Failure> {
    let sites = list_sites();
    let Some((_, path)) = sites.iter().find(|(site, _)| site == name) else {
        return Err(unknown_site(name, &sites));
    };
    let reason = "a site's commands run with your rights";
    file_owners::require_trusted_owners(&sites_directory(), slice::from_ref(path), reason)?;
    read_site(name, path.clone())
}

/// Reads a site's file, and prints its problems.
pub fn read_site(name: &str, path: PathBuf) -> Result<SiteFile, Failure> {
    let source = read_source(&path)?;
    Ok(SiteFile {
        name: name.to_owned(),
        path,
        text: source.text.to_string(),
        site: site::read_site(&source).map_err(Failure::report_problems)?,
    })
}

/// The text of a site file.
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    Source::from_bytes(path.display().to_string(), &bytes).map_err(Failure::report_problems)
}

fn unknown_site(name: &str, sites: &[(String, PathBuf)]) -> Failure {
    let names = sites.iter().map(|(name, _)| name.as_str());
    let suggestion = if sites.is_empty() {
        "there are none yet".to_owned()
    } else {
        did_you_mean(name, names, "there are")
    };
    Failure::usage(format!("--site {name}: no such site; {suggestion}")).with_help(format!(
        "a site is a file {}/NAME.yaml; its keys: docs/clusters.md",
        sites_directory().display()
    ))
}

//! Opens site files, and prints their problems.

use std::path::{Path, PathBuf};
use std::slice;

use crate::app::failure::Failure;
use crate::app::file_owners;
use retrial_cluster::site;
use retrial_cluster::site_files::{SiteFile, list_sites, sites_directory};
use retrial_document::{Source, did_you_mean};
use retrial_store::StoreError;

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
        site: site::read_site(&source).map_err(Failure::of_problems)?,
    })
}

/// The text of a site file.
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    Source::from_bytes(path.display().to_string(), &bytes).map_err(Failure::of_problems)
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

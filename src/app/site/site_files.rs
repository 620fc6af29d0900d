//! Opens site files, and prints their problems.

use std::path::{Path, PathBuf};

use crate::app::failure::Failure;
use crate::app::opened_file::read_trusted_file;
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
    let bytes = read_trusted_file(path, "a site's commands run with your rights")?;
    let bytes = bytes.ok_or_else(|| unknown_site(name, &list_sites()))?;
    parse_site(name, path.clone(), &to_source(path, &bytes)?)
}

/// Reads a site's file, and prints its problems.
pub fn read_site(name: &str, path: PathBuf) -> Result<SiteFile, Failure> {
    let source = read_source(&path)?;
    parse_site(name, path, &source)
}

fn parse_site(name: &str, path: PathBuf, source: &Source) -> Result<SiteFile, Failure> {
    Ok(SiteFile {
        name: name.to_owned(),
        path,
        text: source.text.to_string(),
        site: site::read_site(source).map_err(Failure::of_problems)?,
    })
}

/// The text of a site file.
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    to_source(path, &bytes)
}

fn to_source(path: &Path, bytes: &[u8]) -> Result<Source, Failure> {
    Source::from_bytes(path.display().to_string(), bytes).map_err(Failure::of_problems)
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

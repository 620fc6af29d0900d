//! The user's own settings, `~/.config/retrial/config.yaml`: what options and variables of the environment do not say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retrial_beneath::resolve_existing;
use retrial_cluster::site_files::expand_home;
use retrial_document::{
    Diagnostics, FieldType as T, Source, did_you_mean, formats, object, read_document,
};
use retrial_plan::privilege::PRIVILEGE_NAMES;
use retrial_store::files::parent_directory;
use retrial_store::home::user_directory;

use crate::app::failure::Failure;
use crate::app::opened_file::read_trusted_file;

object! {
    /// The user's own settings.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Configuration: "a configuration";
    keys {
        /// The engine, unless `--engine`, `DOCKER_HOST` or `DOCKER_CONTEXT` names one.
        engine: Option<String> = T::Text(formats::LINE),
        /// The directory of runs, unless `--home` or `RETRIAL_HOME` names one.
        home: Option<String> = T::Text(formats::LINE),
        /// The directory of cached datasets, unless `--cache` or `RETRIAL_CACHE` names one.
        cache: Option<String> = T::Text(formats::LINE),
        /// The site of `run` and `batch` without `--site` and `--nodes`; `--site none` runs here.
        site: Option<String> = T::Text(formats::NAME),
        /// The trials of each performance measurement, unless `--trials` states them.
        trials: Option<u32> = T::Integer(1, 1000),
        /// Privileges of all recipes below a directory, as `--allow` approves them.
        allow: BTreeMap<String, Vec<String>> = T::Map(formats::FILLED, &T::List(&T::Text(formats::LINE), 1)),
    }
}

/// Returns the path of the configuration: `$XDG_CONFIG_HOME/retrial/config.yaml`, else in `~/.config`.
pub fn configuration_path() -> PathBuf {
    user_directory("XDG_CONFIG_HOME", ".config").join("retrial/config.yaml")
}

impl Configuration {
    /// Reads the configuration; empty if there is none.
    ///
    /// # Errors
    /// It cannot be read or has errors, or others can write it.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        // A directory that this user cannot enter is not this user's configuration.
        if path.parent().is_none_or(|directory| directory.metadata().is_err()) {
            return Ok(Self::default());
        }
        let Some(bytes) = read_trusted_file(path, "it approves privileges for you")? else {
            return Ok(Self::default());
        };
        let source = Source::from_bytes(path.display().to_string(), &bytes);
        let source = source.map_err(Failure::of_problems)?;
        let mut problems = Diagnostics::default();
        let read: Option<Self> = read_document(&source, &mut problems);
        let configuration = read.ok_or_else(|| Failure::of_problems(problems))?;
        let mut privileges = configuration.allow.values().flatten();
        let known = |name: &String| PRIVILEGE_NAMES.contains(&name.as_str());
        match privileges.find(|name| !known(name)) {
            None => Ok(configuration),
            Some(name) => {
                let help = did_you_mean(name, PRIVILEGE_NAMES, "privileges");
                let path = path.display();
                Err(Failure::usage(format!("{path}: no such privilege: `{name}`")).with_help(help))
            }
        }
    }
}

/// Returns the privileges that `allow` approves for what some files decide: those of the directories that all of them are
/// below, and the directories in which they are named, too, whose other files they use.
pub fn privileges_below(allow: &BTreeMap<String, Vec<String>>, files: &[PathBuf]) -> Vec<String> {
    let places =
        files.iter().flat_map(|file| [file.canonicalize(), parent_directory(file).canonicalize()]);
    let Ok(places) = places.collect::<Result<Vec<PathBuf>, _>>() else {
        return Vec::new();
    };
    let is_above = |directory: &str| {
        let directory = resolve_existing(&expand_home(directory));
        !places.is_empty() && places.iter().all(|place| place.starts_with(&directory))
    };
    let approved = allow.iter().filter(|(directory, _)| is_above(directory));
    approved.flat_map(|(_, privileges)| privileges.clone()).collect()
}

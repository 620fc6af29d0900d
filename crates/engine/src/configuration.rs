//! Docker's configuration directory: the current context and the contents of a context.
//! The layout is that of `docker context`: `contexts/meta/<sha256 of the name>/meta.json`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::error::EngineError;

/// The keys of Docker's `config.json` that are read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigFile {
    current_context: Option<String>,
    /// Proxies by the engine's URL, or `default`.
    pub proxies: BTreeMap<String, Value>,
}

impl ConfigFile {
    /// Reads it; empty where there is no such file.
    pub fn read(configuration: &Path) -> Result<Self, EngineError> {
        let path = configuration.join("config.json");
        match read_if_exists(&path)? {
            Some(text) => parse_json(&path, &text),
            None => Ok(Self::default()),
        }
    }

    /// The current context, where one is named.
    pub fn into_current_context(self) -> Option<String> {
        self.current_context.filter(|name| !name.is_empty())
    }
}

/// Returns Docker's configuration directory: `DOCKER_CONFIG`, else `~/.docker`.
pub fn configuration_directory() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    set("DOCKER_CONFIG").map_or_else(
        || PathBuf::from(set("HOME").unwrap_or_else(|| "/".into())).join(".docker"),
        PathBuf::from,
    )
}

/// Returns the directory name of a context: the SHA-256 of its name.
pub fn context_directory_name(name: &str) -> String {
    hex::encode(Sha256::digest(name.as_bytes()))
}

/// Reads a context by name: its engine's URL, and the directory of its certificates if it has some.
pub fn read_context(
    configuration: &Path,
    name: &str,
) -> Result<(String, Option<PathBuf>), EngineError> {
    let id = context_directory_name(name);
    let path = configuration.join("contexts/meta").join(&id).join("meta.json");
    let failed =
        |reason: String, help| EngineError::Configuration { path: path.clone(), reason, help };
    let Some(text) = read_if_exists(&path)? else {
        let help = "`docker context ls` lists them; `docker context use default` switches back to the default socket";
        return Err(failed(format!("there is no Docker context `{name}`"), Some(help)));
    };
    let file: Value = parse_json(&path, &text)?;
    let stated_url = file["Endpoints"]["docker"]["Host"].as_str();
    let url = stated_url
        .filter(|url| !url.is_empty())
        .ok_or_else(|| failed(format!("the Docker context `{name}` names no engine"), None))?;
    let certificate_directory = configuration.join("contexts/tls").join(&id).join("docker");
    let certificates = Some(certificate_directory).filter(|directory| directory.is_dir());
    Ok((url.to_owned(), certificates))
}

/// Reads a file's text; none if there is no such file.
fn read_if_exists(path: &Path) -> Result<Option<String>, EngineError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EngineError::File { path: path.to_owned(), source }),
    }
}

fn parse_json<T: for<'a> Deserialize<'a>>(path: &Path, text: &str) -> Result<T, EngineError> {
    serde_json::from_str(text).map_err(|error| EngineError::Configuration {
        path: path.to_owned(),
        reason: format!("not the JSON that Docker writes: {error}"),
        help: None,
    })
}

//! Security options in the engine's format: a seccomp profile is sent as its content.

use std::path::Path;

use serde_json::Value;

use crate::error::EngineError;

/// The one security option that the command line itself turns into something else.
pub(super) const SYSTEM_PATHS: &str = "systempaths=unconfined";

/// A seccomp profile's file is sent as its content; the rest as written.
pub(super) fn security_options(written: &[String]) -> Result<Vec<String>, EngineError> {
    let sent = written.iter().filter(|option| *option != SYSTEM_PATHS);
    sent.map(|option| {
        let profile = option.strip_prefix("seccomp=").or_else(|| option.strip_prefix("seccomp:"));
        match profile {
            None | Some("unconfined" | "builtin") => Ok(option.clone()),
            Some(path) => Ok(format!("seccomp={}", read_seccomp_profile(Path::new(path))?)),
        }
    })
    .collect()
}

fn read_seccomp_profile(path: &Path) -> Result<String, EngineError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| EngineError::File { path: path.to_owned(), source })?;
    // Without the white space between its tokens.
    let profile = serde_json::from_str(&text).map(|profile: Value| profile.to_string());
    profile.map_err(|error| EngineError::Configuration {
        path: path.to_owned(),
        reason: format!("a seccomp profile must be JSON: {error}"),
        help: Some("`seccomp=unconfined` switches it off"),
    })
}

//! Security options as the engine takes them: a seccomp profile is sent as its content.

use std::path::Path;

use crate::error::EngineError;

/// The one security option that the command line itself turns into something else.
pub(super) const SYSTEM_PATHS: &str = "systempaths=unconfined";

/// A seccomp profile's file is sent as its content; the rest as written.
pub(super) fn security_options(written: &[String]) -> Result<Vec<String>, EngineError> {
    let sent = written.iter().filter(|option| *option != SYSTEM_PATHS);
    sent.map(|option| {
        let profile = option
            .strip_prefix("seccomp=")
            .or_else(|| option.strip_prefix("seccomp:"));
        match profile {
            None | Some("unconfined" | "builtin") => Ok(option.clone()),
            Some(path) => Ok(format!("seccomp={}", seccomp_profile(Path::new(path))?)),
        }
    })
    .collect()
}

fn seccomp_profile(path: &Path) -> Result<String, EngineError> {
    let text = std::fs::read_to_string(path).map_err(|source| EngineError::File {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|error| {
        EngineError::Configuration {
            path: path.to_owned(),
            reason: format!(
                "a seccomp profile must be JSON: {error}\n  `seccomp=unconfined` switches it off"
            ),
        }
    })?;
    Ok(minify(&text))
}

/// JSON without the white space between its tokens, all else byte for byte.
fn minify(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut in_text, mut escaped) = (false, false);
    for c in json.chars() {
        if in_text {
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if c == '"' {
            in_text = true;
        } else if c.is_ascii_whitespace() {
            continue;
        }
        compact.push(c);
    }
    compact
}

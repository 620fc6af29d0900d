//! Chooses the engine: `--engine`, else `DOCKER_HOST`, else `DOCKER_CONTEXT`, else the current
//! Docker context, else the first default socket that exists. The order is Docker's own.

use std::env;
use std::path::PathBuf;

use super::configuration::{self, ConfigFile};
use super::error::EngineError;

/// The address on which an engine listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `unix:///…`, `tcp://host:port`.
    pub url: String,
    /// `--engine`, `DOCKER_HOST`, `context NAME`, `default socket`, …
    pub chosen_by: String,
    /// The directory of `ca.pem`, `cert.pem` and `key.pem`, where the connection is encrypted.
    pub certificates: Option<PathBuf>,
}

/// The parts of the environment that decide. A value, so that tests can supply one.
#[derive(Debug, Clone, Default)]
pub struct EngineEnvironment {
    /// `DOCKER_HOST`
    pub docker_host: Option<String>,
    /// `DOCKER_CONTEXT`
    pub docker_context: Option<String>,
    /// `DOCKER_CERT_PATH`, else the configuration; only where `DOCKER_TLS_VERIFY` or `DOCKER_TLS` is set.
    pub certificates: Option<PathBuf>,
    /// `DOCKER_CONFIG`, else `~/.docker`.
    pub configuration: PathBuf,
    /// `XDG_RUNTIME_DIR`
    pub runtime_directory: Option<PathBuf>,
    /// The root of the file system, `/` outside tests.
    pub root: PathBuf,
}

impl EngineEnvironment {
    /// Reads the process' environment. An empty variable counts as none, as with Docker.
    pub fn from_environment() -> Self {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let configuration = configuration::configuration_directory();
        let is_encrypted = text("DOCKER_TLS_VERIFY").is_some() || text("DOCKER_TLS").is_some();
        Self {
            docker_host: text("DOCKER_HOST"),
            docker_context: text("DOCKER_CONTEXT"),
            certificates: is_encrypted.then(|| {
                text("DOCKER_CERT_PATH").map_or_else(|| configuration.clone(), PathBuf::from)
            }),
            configuration,
            runtime_directory: text("XDG_RUNTIME_DIR").map(PathBuf::from),
            root: PathBuf::from("/"),
        }
    }
}

/// Chooses the endpoint; `requested` is the value of `--engine`.
///
/// # Errors
/// An unsupported scheme, or a context that does not exist or cannot be read.
pub fn choose_endpoint(
    requested: Option<&str>,
    environment: &EngineEnvironment,
) -> Result<Endpoint, EngineError> {
    if let Some(url) = requested {
        return parse_endpoint(url, "--engine", environment.certificates.clone());
    }
    if let Some(url) = &environment.docker_host {
        return parse_endpoint(url, "DOCKER_HOST", environment.certificates.clone());
    }
    let (name, how) = match &environment.docker_context {
        Some(name) => (Some(name.clone()), " from DOCKER_CONTEXT"),
        None => (ConfigFile::read(&environment.configuration)?.into_current_context(), ""),
    };
    if let Some(name) = name.filter(|name| name != "default") {
        let (url, certificates) = configuration::read_context(&environment.configuration, &name)?;
        return parse_endpoint(&url, &format!("context {name}{how}"), certificates);
    }
    Ok(default_socket(environment))
}

/// Docker's socket, else a rootless one, else Podman's; Docker's if there is none at all, because
/// the error that follows should name the best-known one.
fn default_socket(environment: &EngineEnvironment) -> Endpoint {
    let (root, runtime) = (Some(&environment.root), environment.runtime_directory.as_ref());
    let socket_candidates = [
        (root, "var/run/docker.sock", "default socket"),
        (runtime, "docker.sock", "rootless Docker's socket"),
        (runtime, "podman/podman.sock", "rootless Podman's socket"),
        (root, "run/podman/podman.sock", "Podman's socket"),
    ];
    let socket_paths = socket_candidates
        .into_iter()
        .filter_map(|(directory, socket, chosen_by)| Some((directory?.join(socket), chosen_by)));
    let mut sockets: Vec<(PathBuf, &str)> = socket_paths.collect();
    let existing = sockets.iter().position(|(path, _)| path.exists());
    let (path, chosen_by) = sockets.swap_remove(existing.unwrap_or(0));
    Endpoint {
        url: format!("unix://{}", path.display()),
        chosen_by: chosen_by.to_owned(),
        certificates: None,
    }
}

fn parse_endpoint(
    url: &str,
    chosen_by: &str,
    certificates: Option<PathBuf>,
) -> Result<Endpoint, EngineError> {
    let refuse = |reason: &str, help| {
        Err(EngineError::Endpoint {
            endpoint: url.to_owned(),
            chosen_by: chosen_by.to_owned(),
            reason: reason.to_owned(),
            help,
        })
    };
    let (scheme, rest) = url.split_once("://").unwrap_or_else(|| {
        let scheme = if url.starts_with('/') { "unix" } else { "tcp" };
        (scheme, url)
    });
    let (url, certificates) = match scheme {
        _ if rest.is_empty() => return refuse("it names no socket and no host", None),
        "unix" if !rest.starts_with('/') => return refuse("a socket needs an absolute path", None),
        "unix" => (format!("unix://{rest}"), None),
        "https" if certificates.is_none() => {
            return refuse(
                "https needs certificates",
                Some("set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH"),
            );
        }
        "tcp" | "http" | "https" => (tcp_url_with_port(rest, certificates.is_some()), certificates),
        "ssh" => {
            return refuse(
                "an engine over ssh does not share this machine's files",
                Some("log in there and run retrial on that machine"),
            );
        }
        other => {
            let reason = format!("unknown scheme `{other}`");
            return refuse(&reason, Some("use unix:// or tcp://"));
        }
    };
    Ok(Endpoint { url, chosen_by: chosen_by.to_owned(), certificates })
}

/// Docker's ports: 2375 in the clear, 2376 encrypted.
fn tcp_url_with_port(rest: &str, encrypted: bool) -> String {
    let address = rest.trim_end_matches('/');
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    if has_port {
        format!("tcp://{address}")
    } else {
        format!("tcp://{address}:{}", if encrypted { 2376 } else { 2375 })
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;

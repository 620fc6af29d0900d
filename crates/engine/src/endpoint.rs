//! Which engine: `--engine`, else `DOCKER_HOST`, else `DOCKER_CONTEXT`, else the current
//! Docker context, else the first default socket that is there. The order is Docker's own.

use std::env;
use std::path::{Path, PathBuf};

use super::configuration::{self, ConfigFile};
use super::error::EngineError;

/// Where an engine listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// `unix:///…`, `tcp://host:port`.
    pub url: String,
    /// `--engine`, `DOCKER_HOST`, `context NAME`, `default socket`, …
    pub chosen_by: String,
    /// Certificates, where the connection is encrypted.
    pub tls: Option<Certificates>,
}

/// The files of an encrypted connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificates {
    /// The authority that signed the engine's certificate.
    pub authority: PathBuf,
    /// Our certificate.
    pub certificate: PathBuf,
    /// Our key.
    pub key: PathBuf,
}

impl Certificates {
    /// `ca.pem`, `cert.pem` and `key.pem` of a directory, Docker's names.
    #[must_use]
    pub fn in_directory(directory: &Path) -> Self {
        Self {
            authority: directory.join("ca.pem"),
            certificate: directory.join("cert.pem"),
            key: directory.join("key.pem"),
        }
    }
}

/// What of the environment decides. A value, so that tests can plant one.
#[derive(Debug, Clone, Default)]
pub struct EngineEnvironment {
    /// `DOCKER_HOST`
    pub docker_host: Option<String>,
    /// `DOCKER_CONTEXT`
    pub docker_context: Option<String>,
    /// `DOCKER_TLS_VERIFY` or `DOCKER_TLS` is set.
    pub tls: bool,
    /// `DOCKER_CERT_PATH`
    pub certificates: Option<PathBuf>,
    /// `DOCKER_CONFIG`, else `~/.docker`.
    pub configuration: PathBuf,
    /// `XDG_RUNTIME_DIR`
    pub runtime_directory: Option<PathBuf>,
    /// The root of the file system, `/` outside tests.
    pub root: PathBuf,
}

impl EngineEnvironment {
    /// From the process' environment. An empty variable counts as none, as with Docker.
    #[must_use]
    pub fn from_environment() -> Self {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            docker_host: text("DOCKER_HOST"),
            docker_context: text("DOCKER_CONTEXT"),
            tls: text("DOCKER_TLS_VERIFY").is_some() || text("DOCKER_TLS").is_some(),
            certificates: text("DOCKER_CERT_PATH").map(PathBuf::from),
            configuration: configuration::configuration_directory(),
            runtime_directory: text("XDG_RUNTIME_DIR").map(PathBuf::from),
            root: PathBuf::from("/"),
        }
    }
}

/// Chooses the endpoint; `asked` is the value of `--engine`.
///
/// # Errors
/// A scheme that we cannot use, or a context that is not there or cannot be read.
pub fn choose(
    asked: Option<&str>,
    environment: &EngineEnvironment,
) -> Result<Endpoint, EngineError> {
    if let Some(url) = asked {
        return endpoint(url, "--engine", environment_tls(environment));
    }
    if let Some(url) = &environment.docker_host {
        return endpoint(url, "DOCKER_HOST", environment_tls(environment));
    }
    let (name, how) = match &environment.docker_context {
        Some(name) => (Some(name.clone()), " from DOCKER_CONTEXT"),
        None => (ConfigFile::read(&environment.configuration)?.context(), ""),
    };
    if let Some(name) = name.filter(|name| name != "default") {
        let found = configuration::context(&environment.configuration, &name)?;
        return endpoint(&found.host, &format!("context {name}{how}"), found.tls);
    }
    Ok(default_socket(environment))
}

fn environment_tls(environment: &EngineEnvironment) -> Option<Certificates> {
    environment.tls.then(|| {
        let directory = environment.certificates.as_ref();
        Certificates::in_directory(directory.unwrap_or(&environment.configuration))
    })
}

/// Docker's socket, else a rootless one, else Podman's; Docker's if there is none at all, for
/// the error that then follows should name what people know.
fn default_socket(environment: &EngineEnvironment) -> Endpoint {
    let mut sockets = vec![(
        environment.root.join("var/run/docker.sock"),
        "default socket".to_owned(),
    )];
    if let Some(directory) = &environment.runtime_directory {
        let rootless = "rootless Docker's socket".to_owned();
        sockets.push((directory.join("docker.sock"), rootless));
        let podman = "rootless Podman's socket".to_owned();
        sockets.push((directory.join("podman/podman.sock"), podman));
    }
    sockets.push((
        environment.root.join("run/podman/podman.sock"),
        "Podman's socket".to_owned(),
    ));
    let there = sockets.iter().position(|(path, _)| path.exists());
    let (path, chosen_by) = sockets.swap_remove(there.unwrap_or(0));
    Endpoint {
        url: format!("unix://{}", path.display()),
        chosen_by,
        tls: None,
    }
}

fn endpoint(
    url: &str,
    chosen_by: &str,
    tls: Option<Certificates>,
) -> Result<Endpoint, EngineError> {
    let refuse = |because: &str| {
        Err(EngineError::Endpoint {
            endpoint: url.to_owned(),
            chosen_by: chosen_by.to_owned(),
            because: because.to_owned(),
        })
    };
    let (scheme, rest) = url.split_once("://").unwrap_or_else(|| {
        let scheme = if url.starts_with('/') { "unix" } else { "tcp" };
        (scheme, url)
    });
    let (url, tls) = match scheme {
        _ if rest.is_empty() => return refuse("it names no socket and no host"),
        "unix" if !rest.starts_with('/') => return refuse("a socket needs an absolute path"),
        "unix" => (format!("unix://{rest}"), None),
        "tcp" | "http" => (with_port(rest, tls.is_some()), tls),
        "https" => {
            let Some(tls) = tls else {
                return refuse(
                    "https needs certificates: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH",
                );
            };
            (with_port(rest, true), Some(tls))
        }
        "ssh" => {
            return refuse(
                "an engine over ssh does not share this machine's files\n  log in there and run retrial on that machine",
            );
        }
        other => return refuse(&format!("unknown scheme `{other}`: use unix:// or tcp://")),
    };
    Ok(Endpoint {
        url,
        chosen_by: chosen_by.to_owned(),
        tls,
    })
}

/// Docker's ports: 2375 in the clear, 2376 encrypted.
fn with_port(rest: &str, encrypted: bool) -> String {
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

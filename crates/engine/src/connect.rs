//! From an endpoint to a client that is known to answer, in one round trip.

use std::io;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::SystemVersion;
use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};

use super::docker::fault::root_cause;
use super::endpoint::Endpoint;
use super::error::EngineError;
use retrial_container::EngineInfo;

/// Docker 19.03 (API 1.40) is the first with device requests.
const MIN_API_VERSION: (u64, u64) = (1, 40);

/// The timeout of queries and small changes, seconds; longer requests set their own.
const REQUEST_TIMEOUT_S: u64 = 120;

/// The timeout of the version request: a slower engine is not usable.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// Connects and requests the version. bollard's `negotiate_version` would request it again, to set a
/// number that bollard 0.21.1 never sends.
pub async fn connect_to_endpoint(endpoint: &Endpoint) -> Result<(Docker, EngineInfo), EngineError> {
    let client = build_client(endpoint)
        .map_err(|error| unreachable_error(endpoint, &error))?
        .with_request_modifier(|request| url_safe_credentials(log_request(request)));
    let version = client
        .clone()
        .with_timeout(VERSION_TIMEOUT)
        .version()
        .await
        .map_err(|error| unreachable_error(endpoint, &error))?;
    let info = engine_info(endpoint, &version);
    if parse_api_version(&info.api) < MIN_API_VERSION {
        return Err(EngineError::TooOld {
            engine: format!(
                "{} {} at {} has API {}",
                info.product, info.version, info.endpoint, info.api
            ),
            needed: format!("{}.{}", MIN_API_VERSION.0, MIN_API_VERSION.1),
        });
    }
    Ok((client, info))
}

fn build_client(endpoint: &Endpoint) -> Result<Docker, Error> {
    if endpoint.url.starts_with("unix://") {
        return Docker::connect_with_unix(&endpoint.url, REQUEST_TIMEOUT_S, API_DEFAULT_VERSION);
    }
    let Some(certificates) = &endpoint.certificates else {
        return Docker::connect_with_http(&endpoint.url, REQUEST_TIMEOUT_S, API_DEFAULT_VERSION);
    };
    install_tls_provider();
    Docker::connect_with_ssl(
        &endpoint.url,
        &certificates.join("key.pem"),
        &certificates.join("cert.pem"),
        &certificates.join("ca.pem"),
        REQUEST_TIMEOUT_S,
        API_DEFAULT_VERSION,
    )
}

/// Logs a request without its query, which has a build's arguments, and without its headers, which have credentials.
fn log_request(request: BollardRequest) -> BollardRequest {
    tracing::debug!(method = %request.method(), path = request.uri().path(), "request");
    request
}

/// bollard writes the credentials' headers in standard base64, and the engine reads them as
/// URL-safe: with `+` or `/` in them it silently asks the registry without credentials
/// (<https://github.com/moby/moby/issues/33434>).
fn url_safe_credentials(mut request: BollardRequest) -> BollardRequest {
    for name in ["x-registry-auth", "x-registry-config"] {
        if let Some(value) = request.headers_mut().get_mut(name) {
            let safe = value
                .to_str()
                .ok()
                .and_then(|text| text.replace('+', "-").replace('/', "_").parse().ok());
            if let Some(safe) = safe {
                *value = safe;
            }
        }
    }
    request
}

fn engine_info(endpoint: &Endpoint, version: &SystemVersion) -> EngineInfo {
    let podman =
        version.components.iter().flatten().find(|component| component.name.starts_with("Podman"));
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    EngineInfo {
        endpoint: endpoint.url.clone(),
        chosen_by: endpoint.chosen_by.clone(),
        product: podman.map_or("Docker Engine", |component| &component.name).to_owned(),
        version: or_unknown(&version.version),
        api: or_unknown(&version.api_version),
        platform: format!(
            "{}/{}, kernel {}",
            or_unknown(&version.os),
            or_unknown(&version.arch),
            or_unknown(&version.kernel_version)
        ),
    }
}

/// Major and minor; an unreadable version counts as too old.
pub(super) fn parse_api_version(text: &str) -> (u64, u64) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn unreachable_error(endpoint: &Endpoint, error: &Error) -> EngineError {
    let socket = endpoint.url.strip_prefix("unix://");
    let reason = match error {
        Error::SocketNotFoundError(_) => "no such socket".to_owned(),
        Error::CertPathError { path } | Error::CertParseError { path } => {
            return EngineError::Endpoint {
                endpoint: endpoint.url.clone(),
                chosen_by: endpoint.chosen_by.clone(),
                reason: format!("{} is missing or not a certificate", path.display()),
                help: Some(
                    "DOCKER_CERT_PATH (or the context) must hold ca.pem, cert.pem and key.pem",
                ),
            };
        }
        Error::RequestTimeoutError => format!("no answer within {} s", VERSION_TIMEOUT.as_secs()),
        Error::DockerResponseServerError { status_code, .. } => {
            format!("the server there is not a container engine (HTTP status {status_code})")
        }
        other => match (root_io_kind(other), socket) {
            (Some(io::ErrorKind::PermissionDenied), Some(path)) => {
                return EngineError::Forbidden {
                    endpoint: endpoint.url.clone(),
                    chosen_by: endpoint.chosen_by.clone(),
                    group: owning_group(path),
                };
            }
            (Some(io::ErrorKind::ConnectionRefused), _) => "connection refused".to_owned(),
            (Some(io::ErrorKind::ConnectionReset), None) if endpoint.certificates.is_none() => {
                "the connection was reset; it may require TLS (DOCKER_TLS_VERIFY=1, DOCKER_CERT_PATH)".to_owned()
            }
            _ => root_cause(other),
        },
    };
    EngineError::Unreachable {
        endpoint: endpoint.url.clone(),
        chosen_by: endpoint.chosen_by.clone(),
        reason,
    }
}

/// The kind of the operating system's error at the bottom of the chain.
fn root_io_kind(error: &Error) -> Option<io::ErrorKind> {
    let causes = iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    let io_errors = causes.filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.last().map(io::Error::kind)
}

/// Returns the name of the group that owns a file, its number where it has no name.
fn owning_group(path: &str) -> String {
    let Ok(gid) = std::fs::metadata(path).map(|metadata| metadata.gid()) else {
        return "docker".to_owned();
    };
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let name = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| gid.to_string())
}

/// Makes ring the process's TLS provider: bollard is built without one of its own.
fn install_tls_provider() {
    // An error means that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions_compare_as_numbers() {
        assert!(parse_api_version("1.9") < MIN_API_VERSION);
        assert!(parse_api_version("1.39") < MIN_API_VERSION);
        assert!(parse_api_version("1.40") >= MIN_API_VERSION);
        assert!(parse_api_version("1.53") > parse_api_version("1.41"));
        assert!(parse_api_version("unknown") < MIN_API_VERSION);
    }

    #[test]
    fn podman_is_called_podman() {
        let endpoint =
            Endpoint { url: "unix:///x".into(), chosen_by: "test".into(), certificates: None };
        let text = r#"{"Components":[{"Name":"Podman Engine","Version":"5.4.2","Details":{}}],"Version":"5.4.2","ApiVersion":"1.41","Os":"linux","Arch":"amd64","KernelVersion":"6.1"}"#;
        let version: SystemVersion = serde_json::from_str(text).unwrap();
        let info = engine_info(&endpoint, &version);
        assert_eq!(info.product, "Podman Engine");
        assert_eq!(info.platform, "linux/amd64, kernel 6.1");
    }
}

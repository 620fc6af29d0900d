//! Registry credentials from Docker's config.json, its helpers and its store, and from
//! Podman's auth.json. Nothing is cached, and nothing of it can be printed.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::api::RegistryAuth;
use super::configuration::configuration_directory;
use super::error::EngineError;
use retrial_container::ImageRef;

/// A helper may prompt on a screen that the user does not see.
const HELPER_TIMEOUT: Duration = Duration::from_secs(30);

/// What to log in with for an image's registry; none where nothing is configured.
///
/// # Errors
/// The reference is none, config.json cannot be read, or a credential helper fails.
pub async fn for_image(reference: &str) -> Result<Option<RegistryAuth>, EngineError> {
    for_image_in(reference, configuration_directory().join("config.json")).await
}

/// The same from a given config.json.
///
/// # Errors
/// As [`for_image`].
pub async fn for_image_in(
    reference: &str,
    configuration: PathBuf,
) -> Result<Option<RegistryAuth>, EngineError> {
    let reference = ImageRef::parse(reference)?;
    let registry = reference.registry.clone();
    let failed = |reason: String| EngineError::Credentials {
        registry: registry.clone(),
        reason,
    };
    let lookup = spawn_blocking(move || look_up(&reference, &configuration));
    timeout(HELPER_TIMEOUT, lookup)
        .await
        .map_err(|_| {
            failed(format!(
                "the credential helper did not respond within {} s",
                HELPER_TIMEOUT.as_secs()
            ))
        })?
        .map_err(|error| failed(error.to_string()))?
        .map_err(failed)
}

fn look_up(reference: &ImageRef, configuration: &Path) -> Result<Option<RegistryAuth>, String> {
    let mut keys = vec![reference.credentials_key()];
    if reference.registry == "docker.io" {
        // Old and hand-written files name the Hub by its host.
        keys.push("index.docker.io");
    }
    for key in keys {
        let file = match File::open(configuration) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(format!("{}: {error}", configuration.display())),
        };
        match docker_credential::get_credential_from_reader(file, key) {
            Ok(credential) => return Ok(usable(credential)),
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(explain(&error, configuration, key)),
        }
    }
    // Podman's file is a second place, so whatever is wrong with it counts as nothing there.
    let podman = docker_credential::get_podman_credential(&reference.registry);
    Ok(podman.ok().and_then(usable))
}

/// Helpers report an unknown registry by their message, not by their status.
fn is_absence(error: &CredentialRetrievalError) -> bool {
    match error {
        CredentialRetrievalError::NoCredentialConfigured => true,
        CredentialRetrievalError::HelperFailure { stdout, .. } => {
            stdout.contains("credentials not found")
        }
        _ => false,
    }
}

fn usable(credential: DockerCredential) -> Option<RegistryAuth> {
    match credential {
        DockerCredential::IdentityToken(token) => Some(RegistryAuth {
            identity_token: Some(token),
            ..RegistryAuth::default()
        }),
        DockerCredential::UsernamePassword(user, password) => {
            (!user.is_empty() || !password.is_empty()).then_some(RegistryAuth {
                username: Some(user),
                password: Some(password),
                identity_token: None,
            })
        }
    }
}

fn explain(error: &CredentialRetrievalError, configuration: &Path, key: &str) -> String {
    let file = configuration.display();
    match error {
        CredentialRetrievalError::HelperCommunicationError => format!(
            "{} could not be run; it is named in {file}",
            helper(configuration, key)
        ),
        CredentialRetrievalError::MalformedHelperResponse => {
            format!("{} did not return JSON", helper(configuration, key))
        }
        // The standard output of a helper can hold the secret; its standard error is for people.
        CredentialRetrievalError::HelperFailure { helper, stderr, .. } => {
            format!("{helper} failed: {}", stderr.trim())
        }
        other => format!("{file}: {}", other.to_string().to_lowercase()),
    }
}

fn helper(configuration: &Path, key: &str) -> String {
    let text = std::fs::read_to_string(configuration).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let of_registry = value["credHelpers"][key].as_str();
    let name = of_registry.or_else(|| value["credsStore"].as_str());
    format!("docker-credential-{}", name.unwrap_or("helper"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn from(config: &str, reference: &str) -> Result<Option<RegistryAuth>, EngineError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.json");
        std::fs::write(&path, config).unwrap();
        for_image_in(reference, path).await
    }

    fn pair(credentials: Option<RegistryAuth>) -> (String, String) {
        let credentials = credentials.unwrap();
        (credentials.username.unwrap(), credentials.password.unwrap())
    }

    #[tokio::test]
    async fn credentials_are_found_by_registry() {
        // me:a:b and hub:pw
        let config = r#"{"auths":{"127.0.0.1:5000":{"auth":"bWU6YTpi"},"https://index.docker.io/v1/":{"auth":"aHViOnB3"}}}"#;
        let credentials = from(config, "127.0.0.1:5000/a:1").await.unwrap();
        assert_eq!(pair(credentials), ("me".into(), "a:b".into()));
        let hub = from(config, "rocm/x").await.unwrap();
        assert_eq!(pair(hub), ("hub".into(), "pw".into()));
        assert!(from(config, "ghcr.io/a/b").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn docker_hub_matches_by_host_and_identity_tokens_are_read() {
        let config = r#"{"auths":{"index.docker.io":{"auth":"aHViOnB3"},"ghcr.io":{"identitytoken":"token"}}}"#;
        assert!(from(config, "debian").await.unwrap().is_some());
        let token = from(config, "ghcr.io/a/b").await.unwrap().unwrap();
        assert_eq!(token.identity_token.as_deref(), Some("token"));
    }

    #[tokio::test]
    async fn a_missing_config_file_has_no_credentials() {
        let credentials = for_image_in("debian", "/no/such/config.json".into()).await;
        assert!(credentials.unwrap().is_none());
    }

    #[tokio::test]
    async fn broken_credentials_are_reported() {
        let error = |config: &'static str| async move {
            match from(config, "ghcr.io/a/b").await {
                Err(error) => error.to_string(),
                Ok(_) => panic!("no error for {config}"),
            }
        };
        let helper = error(r#"{"credHelpers":{"ghcr.io":"no-such-helper"}}"#).await;
        assert!(
            helper.contains("docker-credential-no-such-helper"),
            "{helper}"
        );
        assert!(helper.contains("docker login ghcr.io"), "{helper}");
        let store = error(r#"{"credsStore":"no-such-store"}"#).await;
        assert!(store.contains("docker-credential-no-such-store"), "{store}");
        let json = error("{").await;
        assert!(json.contains("config.json"), "{json}");
    }
}

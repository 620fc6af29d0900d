//! Registry credentials from Docker's config.json, its helpers and its store, and from
//! Podman's auth.json. Nothing is cached, and nothing of it can be printed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use serde_json::Value;
use thiserror::Error;

use super::api::RegistryAuth;
use super::configuration::configuration_directory;
use super::credential_helper::{self, HelperError, HelperResponse};
use super::error::EngineError;
use retrial_container::ImageRef;

/// The user of an answer that is an identity token.
const TOKEN_USER: &str = "<token>";

/// Configured credentials that could not be read.
#[derive(Debug, Error)]
enum CredentialError {
    /// A helper gave no answer.
    #[error("{helper}; it is named in {path}", path = path.display())]
    Helper {
        /// Why the helper gave no answer.
        #[source]
        helper: HelperError,
        /// The path of the `config.json` that names the helper.
        path: PathBuf,
    },
    /// The configuration cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// The path of `config.json`.
        path: PathBuf,
        /// Why it cannot be read.
        #[source]
        source: std::io::Error,
    },
    /// The configuration is wrong.
    #[error("{path}: {reason}", path = path.display())]
    Configuration {
        /// The path of `config.json`.
        path: PathBuf,
        /// What is wrong in it: not JSON, or an entry that cannot be decoded.
        reason: String,
    },
}

/// Told of all credentials that this process finds.
static OBSERVER: OnceLock<fn(&RegistryAuth)> = OnceLock::new();

/// Makes a function see all credentials that this process finds, so that it can hide them in the log. The first one
/// stays.
pub fn observe_credentials(observer: fn(&RegistryAuth)) {
    OBSERVER.get_or_init(|| observer);
}

/// Returns the credentials for an image's registry; none where nothing is configured.
///
/// # Errors
/// The reference is none, config.json cannot be read, or a credential helper fails.
pub async fn find_image_credentials(reference: &str) -> Result<Option<RegistryAuth>, EngineError> {
    find_image_credentials_in(reference, configuration_directory().join("config.json")).await
}

/// As [`find_image_credentials`], from another config.json.
///
/// # Errors
/// As [`find_image_credentials`].
pub async fn find_image_credentials_in(
    reference: &str,
    configuration: PathBuf,
) -> Result<Option<RegistryAuth>, EngineError> {
    let reference = ImageRef::parse(reference)?;
    let found = find_registry_auth(&reference, &configuration).await;
    let auth = found.map_err(|error| EngineError::Credentials {
        registry: reference.registry.clone(),
        reason: error.to_string(),
    })?;
    if let (Some(auth), Some(observe)) = (&auth, OBSERVER.get()) {
        observe(auth);
    }
    tracing::debug!(registry = reference.registry, found = auth.is_some(), "credentials");
    Ok(auth)
}

async fn find_registry_auth(
    reference: &ImageRef,
    path: &Path,
) -> Result<Option<RegistryAuth>, CredentialError> {
    let mut keys = vec![reference.credentials_key()];
    if reference.registry == "docker.io" {
        // Old and hand-written files name the Hub by its host.
        keys.push("index.docker.io");
    }
    if let Some(found) = read_file_credentials(path, &keys).await? {
        return Ok(to_registry_auth(found));
    }
    // Podman's file is only a fallback, so an invalid one counts as missing.
    let podman = podman_auth_file();
    let found = read_file_credentials(&podman, &[reference.registry.as_str()]).await;
    Ok(found.ok().flatten().and_then(to_registry_auth))
}

/// The credentials that a file has for the first of these keys.
async fn read_file_credentials(
    path: &Path,
    keys: &[&str],
) -> Result<Option<DockerCredential>, CredentialError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let owned_path = path.to_owned();
            return Err(CredentialError::Read { path: owned_path, source });
        }
    };
    let configuration = CredentialConfiguration::parse(&text, path)?;
    for key in keys {
        let found = configuration.find_credentials(key).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns the path of Podman's file, by the rules of podman-login(1).
fn podman_auth_file() -> PathBuf {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    if let Some(file) = named("REGISTRY_AUTH_FILE") {
        return file;
    }
    let file = Path::new("containers/auth.json");
    let runtime_file = named("XDG_RUNTIME_DIR").map(|directory| directory.join(file));
    let running = runtime_file.filter(|file| file.is_file());
    running.unwrap_or_else(|| configuration_directory().join(file))
}

/// Docker's configuration: the helpers that it names are asked here, and the rest is the library's.
struct CredentialConfiguration<'a> {
    path: &'a Path,
    /// The configuration as JSON, without the keys `credHelpers` and `credsStore`.
    stored: Vec<u8>,
    helpers: Value,
    store: Option<String>,
}

impl<'a> CredentialConfiguration<'a> {
    fn parse(text: &[u8], path: &'a Path) -> Result<Self, CredentialError> {
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            let reason = format!("it is not JSON: {error}");
            let owned_path = path.to_owned();
            CredentialError::Configuration { path: owned_path, reason }
        })?;
        let mut stored = value;
        let mut remove = |key| stored.as_object_mut().and_then(|all| all.remove(key));
        let helpers = remove("credHelpers").unwrap_or_default();
        let store = remove("credsStore").and_then(|store| Some(store.as_str()?.to_owned()));
        Ok(Self {
            path,
            stored: stored.to_string().into_bytes(),
            helpers,
            store: store.filter(|name| !name.is_empty()),
        })
    }

    /// A registry's credentials: of its own helper, else stored in the file, else of the common helper.
    async fn find_credentials(
        &self,
        key: &str,
    ) -> Result<Option<DockerCredential>, CredentialError> {
        let own = self.helpers[key].as_str().filter(|name| !name.is_empty());
        if let Some(helper) = own {
            return self.query_helper(helper, key).await;
        }
        match docker_credential::get_credential_from_reader(&self.stored[..], key) {
            Ok(credential) => return Ok(Some(credential)),
            Err(CredentialRetrievalError::NoCredentialConfigured) => {}
            Err(error) => {
                let reason = error.to_string().to_lowercase();
                let path = self.path.to_owned();
                return Err(CredentialError::Configuration { path, reason });
            }
        }
        match &self.store {
            Some(helper) => self.query_helper(helper, key).await,
            None => Ok(None),
        }
    }

    async fn query_helper(
        &self,
        helper: &str,
        key: &str,
    ) -> Result<Option<DockerCredential>, CredentialError> {
        let helper_result = credential_helper::query_helper(helper, key).await;
        let answer = helper_result
            .map_err(|helper| CredentialError::Helper { helper, path: self.path.to_owned() })?;
        Ok(answer.map(|HelperResponse { username, secret }| {
            if username == TOKEN_USER {
                DockerCredential::IdentityToken(secret)
            } else {
                DockerCredential::UsernamePassword(username, secret)
            }
        }))
    }
}

fn to_registry_auth(credential: DockerCredential) -> Option<RegistryAuth> {
    match credential {
        DockerCredential::IdentityToken(token) => {
            Some(RegistryAuth { identity_token: Some(token), ..RegistryAuth::default() })
        }
        DockerCredential::UsernamePassword(user, password) => {
            (!user.is_empty() || !password.is_empty()).then_some(RegistryAuth {
                username: Some(user),
                password: Some(password),
                identity_token: None,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::with_remedy;

    async fn from(config: &str, reference: &str) -> Result<Option<RegistryAuth>, EngineError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.json");
        std::fs::write(&path, config).unwrap();
        find_image_credentials_in(reference, path).await
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
        let credentials = find_image_credentials_in("debian", "/no/such/config.json".into()).await;
        assert!(credentials.unwrap().is_none());
    }

    #[tokio::test]
    async fn broken_credentials_are_reported() {
        let error = |config: &'static str| async move {
            match from(config, "ghcr.io/a/b").await {
                Err(error) => with_remedy(&error),
                Ok(_) => panic!("no error for {config}"),
            }
        };
        let helper = error(r#"{"credHelpers":{"ghcr.io":"no-such-helper"}}"#).await;
        assert!(helper.contains("docker-credential-no-such-helper"), "{helper}");
        assert!(helper.contains("docker login ghcr.io"), "{helper}");
        let store = error(r#"{"credsStore":"no-such-store"}"#).await;
        assert!(store.contains("docker-credential-no-such-store"), "{store}");
        let json = error("{").await;
        assert!(json.contains("config.json"), "{json}");
    }
}

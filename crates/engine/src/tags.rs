//! The tags of a repository, from its registry (OCI Distribution API): the engine cannot list them.

use std::time::Duration;

use regex::Regex;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LINK, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::RegistryAuth;
use crate::credentials::find_image_credentials;
use crate::error::EngineError;
use retrial_container::ImageRef;

/// The tags that are asked for at once. Registries may send fewer.
const PAGE_TAGS: &str = "1000";
/// More pages than any repository has.
const MAX_PAGES: usize = 1000;
/// The longest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_mins(1);

/// Lists all tags of a repository, with the credentials of a pull.
///
/// # Errors
/// The registry does not answer, refuses, or does not know the repository.
pub async fn list_tags(repository: &ImageRef) -> Result<Vec<String>, EngineError> {
    // An error means that the process has a TLS provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .user_agent(concat!("retrial/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .build();
    let failed = |reason: String| tags_error(repository, reason, None);
    let client = client.map_err(|error| failed(format_chain(&error)))?;
    let auth = find_image_credentials(&repository.name()).await?;
    let lister = TagLister { client, repository, auth };
    let mut page = first_page(repository).ok_or_else(|| failed("its address is invalid".into()))?;
    let mut access = Access::Anonymous;
    let mut tags = Vec::new();
    for _ in 0..MAX_PAGES {
        let mut response = lister.send(&page, &access).await?;
        if response.status() == StatusCode::UNAUTHORIZED && matches!(access, Access::Anonymous) {
            access = lister.authorize(&page, response.headers()).await?;
            response = lister.send(&page, &access).await?;
        }
        let next = next_page(&page, response.headers());
        let answer: ListedTags = lister.read_answer(response).await?;
        tags.extend(answer.tags.unwrap_or_default());
        match next {
            Some(next) => page = next,
            None => return Ok(tags),
        }
    }
    Err(failed(format!("the list has more than {MAX_PAGES} pages")))
}

/// What a request shows to the registry.
enum Access {
    Anonymous,
    /// User name and password.
    Password,
    /// A token of the registry's own server of tokens.
    Token(String),
}

struct TagLister<'a> {
    client: Client,
    repository: &'a ImageRef,
    auth: Option<RegistryAuth>,
}

#[derive(Deserialize)]
struct ListedTags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
}

impl TagLister<'_> {
    async fn send(&self, url: &Url, access: &Access) -> Result<Response, EngineError> {
        let request = self.client.get(url.clone());
        self.answer(match access {
            Access::Anonymous => request,
            Access::Password => self.add_password(request),
            Access::Token(token) => request.bearer_auth(token),
        })
        .await
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Response, EngineError> {
        request.send().await.map_err(|error| {
            let reason = format!("no answer: {}", format_chain(&error));
            tags_error(self.repository, reason, None)
        })
    }

    fn add_password(&self, request: RequestBuilder) -> RequestBuilder {
        match self.auth.as_ref().and_then(|auth| Some((auth.username.as_ref()?, auth))) {
            Some((user, auth)) => request.basic_auth(user, auth.password.as_ref()),
            None => request,
        }
    }

    /// Gets access as the registry's challenge says.
    async fn authorize(&self, page: &Url, headers: &HeaderMap) -> Result<Access, EngineError> {
        let challenges = headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<&str> = challenges.filter_map(|value| value.to_str().ok()).collect();
        let Some(challenge) = challenges.iter().find_map(|text| TokenChallenge::parse(text)) else {
            return Ok(Access::Password);
        };
        // A password does not leave an encrypted connection.
        if challenge.realm.scheme() != "https" && page.scheme() == "https" {
            let reason = format!("its server of tokens, {}, is not encrypted", challenge.realm);
            return Err(tags_error(self.repository, reason, None));
        }
        let identity = self.auth.as_ref().and_then(|auth| auth.identity_token.as_deref());
        let request = if let Some(identity) = identity {
            let fields = [("grant_type", "refresh_token"), ("refresh_token", identity)];
            let form = challenge.to_form(self.repository, &fields);
            self.client.post(challenge.realm.clone()).body(form)
        } else {
            let mut url = challenge.realm.clone();
            url.set_query(Some(&challenge.to_form(self.repository, &[])));
            self.add_password(self.client.get(url))
        };
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer: TokenAnswer = self.read_answer(self.answer(request).await?).await?;
        let token = answer.token.or(answer.access_token);
        token.map(Access::Token).ok_or_else(|| {
            tags_error(self.repository, "its server of tokens sent none".to_owned(), None)
        })
    }

    async fn read_answer<T: DeserializeOwned>(
        &self,
        mut response: Response,
    ) -> Result<T, EngineError> {
        let failed = |reason: String| tags_error(self.repository, reason, None);
        let status = response.status();
        let registry = &self.repository.registry;
        match status {
            StatusCode::NOT_FOUND => {
                let reason = format!("{registry} does not have the repository");
                return Err(tags_error(self.repository, reason, Some("check its name")));
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let reason = format!("{registry} refuses them ({status})");
                let help = "check the name; if the repository is private, `docker login` first";
                return Err(tags_error(self.repository, reason, Some(help)));
            }
            _ if !status.is_success() => return Err(failed(format!("{registry} says {status}"))),
            _ => {}
        }
        let mut body = Vec::new();
        while let Some(piece) =
            response.chunk().await.map_err(|error| failed(format_chain(&error)))?
        {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(failed(format!("{registry} sends more than {MAX_ANSWER_BYTES} bytes")));
            }
            body.extend_from_slice(&piece);
        }
        let parsed = serde_json::from_slice(&body);
        parsed.map_err(|error| failed(format!("the answer of {registry} is malformed: {error}")))
    }
}

/// `Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="…"`
struct TokenChallenge {
    realm: Url,
    service: Option<String>,
}

impl TokenChallenge {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, parameters) = text.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let pairs = Regex::new(r#"(\w+)="([^"]*)""#).ok()?;
        let find = |name: &str| {
            let mut found = pairs.captures_iter(parameters).map(|pair| pair.extract().1);
            found.find_map(|[key, value]| key.eq_ignore_ascii_case(name).then(|| value.to_owned()))
        };
        Some(Self { realm: Url::parse(&find("realm")?).ok()?, service: find("service") })
    }

    /// The fields of a request for a token, URL-encoded. The scope is ours, whatever the registry proposes.
    fn to_form(&self, repository: &ImageRef, fields: &[(&str, &str)]) -> String {
        let mut url = self.realm.clone();
        let scope = format!("repository:{}:pull", repository.repository);
        let service = self.service.as_deref().map(|service| ("service", service));
        url.query_pairs_mut()
            .extend_pairs(service)
            .extend_pairs([("scope", scope.as_str()), ("client_id", "retrial")])
            .extend_pairs(fields);
        url.query().unwrap_or_default().to_owned()
    }
}

fn first_page(repository: &ImageRef) -> Option<Url> {
    let registry = match repository.registry.as_str() {
        // The Hub's registry is another host.
        "docker.io" => "registry-1.docker.io",
        other => other,
    };
    // As Docker does, which speaks HTTP to a registry of this machine only.
    let scheme = if is_loopback(registry) { "http" } else { "https" };
    let address = format!("{scheme}://{registry}/v2/{}/tags/list", repository.repository);
    Url::parse_with_params(&address, [("n", PAGE_TAGS)]).ok()
}

fn is_loopback(registry: &str) -> bool {
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The next page (`Link: </v2/…>; rel="next"`), on the same host only: it is sent the password.
fn next_page(page: &Url, headers: &HeaderMap) -> Option<Url> {
    let link = headers.get(LINK)?.to_str().ok()?;
    let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
    let next = page.join(target).ok()?;
    (parameters.contains("next") && next.origin() == page.origin()).then_some(next)
}

fn tags_error(repository: &ImageRef, reason: String, help: Option<&'static str>) -> EngineError {
    EngineError::Tags { repository: repository.name(), reason, help }
}

/// An error with its causes, which reqwest does not print.
fn format_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn the_next_page_is_on_the_same_host() {
        let page = Url::parse("https://registry.example.org/v2/a/b/tags/list?n=1000").unwrap();
        let next = |link: &'static str| {
            let headers = HeaderMap::from_iter([(LINK, HeaderValue::from_static(link))]);
            next_page(&page, &headers).map(|url| url.to_string())
        };
        let found = next(r#"</v2/a/b/tags/list?last=1.9&n=1000>; rel="next""#);
        let expected = "https://registry.example.org/v2/a/b/tags/list?last=1.9&n=1000";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(next(r#"<https://example.net/v2/>; rel="next""#), None);
        assert_eq!(next(r#"<http://registry.example.org/v2/>; rel="next""#), None);
        assert_eq!(next(r#"</v2/>; rel="prev""#), None);
    }

    #[test]
    fn a_challenge_names_the_server_of_tokens() {
        let challenge = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull""#;
        let parsed = TokenChallenge::parse(challenge).unwrap();
        let repository = ImageRef::parse("a/b").unwrap();
        assert_eq!(parsed.realm.as_str(), "https://auth.docker.io/token");
        assert_eq!(
            parsed.to_form(&repository, &[]),
            "service=registry.docker.io&scope=repository%3Aa%2Fb%3Apull&client_id=retrial"
        );
        assert!(TokenChallenge::parse(r#"Basic realm="registry""#).is_none());
    }

    #[test]
    fn only_a_registry_of_this_machine_is_asked_without_encryption() {
        let address = |image: &str| first_page(&ImageRef::parse(image).unwrap()).unwrap();
        let hub = "https://registry-1.docker.io/v2/rocm/pytorch/tags/list?n=1000";
        assert_eq!(address("rocm/pytorch").as_str(), hub);
        assert_eq!(address("127.0.0.1:5000/a").scheme(), "http");
        assert_eq!(address("localhost:5000/a").scheme(), "http");
        assert_eq!(address("10.0.0.1:5000/a").scheme(), "https");
        assert_eq!(address("127.example.org/a").scheme(), "https");
    }
}

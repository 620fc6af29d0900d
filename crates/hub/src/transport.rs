//! Requests to the hub, and the waits between attempts.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderValue, RANGE};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::instrument;

use crate::classify::{HubRequest, RequestFailure, classify_failure};
use crate::error::{
    FetchError, format_bytes, format_chain, format_connection_failure, pause_unless_stopped,
    run_unless_stopped,
};
use crate::progress::FetchProgress;
use crate::settings::HubSettings;

/// The longest answer that is no file, in bytes.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The most that is read of a refusal, in bytes.
const MAX_REFUSAL_BYTES: usize = 4096;
/// Attempts in a row that bring no byte.
const MAX_ATTEMPTS: u32 = 6;
/// The longest wait that the hub may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(15);
/// The longest wait between two attempts that the server does not ask for.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);
/// The longest time for a whole answer that is no file.
const MAX_ANSWER_TIME: Duration = Duration::from_mins(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// An HTTP client for one hub.
#[derive(Debug)]
pub struct Transport {
    client: Client,
    /// The hub, the account and the cache.
    pub settings: HubSettings,
}

impl Transport {
    /// Sets up the client.
    ///
    /// # Errors
    /// If proxies or certificates of this machine are unusable.
    pub fn new(settings: HubSettings) -> Result<Self, FetchError> {
        // An error means that the process has a TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("retrial/", env!("CARGO_PKG_VERSION")))
            // Over HTTP/2 all files would share a single connection.
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(settings.read_timeout)
            .build()
            .map_err(|error| FetchError::Client(format_chain(&error)))?;
        Ok(Self { client, settings })
    }

    /// Returns an address of the hub; each segment is escaped.
    pub fn hub_url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.settings.endpoint.clone();
        // `Settings::new` admits only addresses with a host.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Returns the `Authorization` header, if there is a token.
    ///
    /// # Errors
    /// If the token is not valid in a header.
    pub fn authorization_header(
        &self,
        request: &HubRequest<'_>,
    ) -> Result<Option<HeaderValue>, FetchError> {
        let Some(token) = &self.settings.token else {
            return Ok(None);
        };
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", token.value)).map_err(|_| {
                FetchError::Refused {
                    status: StatusCode::UNAUTHORIZED.as_u16(),
                    repository: request.repository.to_owned(),
                    reason: format!("the token of {} has invalid characters", token.source),
                    advice: "copy it again".to_owned(),
                }
            })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// Sends a request and waits for the head of its answer: all of it, or a range of bytes
    /// (`bytes=100-`). 416 is returned as an answer.
    #[instrument(level = "debug", skip_all, fields(%url, ?range))]
    pub async fn send_request(
        &self,
        request: &HubRequest<'_>,
        url: Url,
        range: Option<&str>,
    ) -> Result<Response, RequestFailure> {
        let mut headers = HeaderMap::new();
        // A compressed answer has no ranges, and another size.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(Ok(range)) = range.map(HeaderValue::from_str) {
            headers.insert(RANGE, range);
        }
        let is_hub = |url: &Url| url.origin() == self.settings.endpoint.origin();
        // The hub's own host only: reqwest drops the header when a redirect leads elsewhere.
        if is_hub(&url)
            && let Some(value) =
                self.authorization_header(request).map_err(RequestFailure::Permanent)?
        {
            headers.insert(AUTHORIZATION, value);
        }
        let sent = self.client.get(url).headers(headers).send().await;
        let sent = sent.inspect_err(|error| tracing::debug!(error = format_chain(error)));
        let mut answer = sent.map_err(to_transient_failure)?;
        let status = answer.status();
        tracing::debug!(%status, host = answer.url().host_str(), "answer");
        if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(answer);
        }
        let mut body = Vec::new();
        while body.len() <= MAX_REFUSAL_BYTES
            && let Ok(Some(chunk)) = answer.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
        let (redirected, body) = (!is_hub(answer.url()), String::from_utf8_lossy(&body));
        Err(classify_failure(&self.settings, request, status, answer.headers(), &body, redirected))
    }

    async fn fetch_once(
        &self,
        request: &HubRequest<'_>,
        url: Url,
    ) -> Result<(HeaderMap, Bytes), RequestFailure> {
        let mut answer = self.send_request(request, url, None).await?;
        let headers = answer.headers().clone();
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(to_transient_failure)? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                let reason = format!("it is longer than {}", format_bytes(MAX_ANSWER_BYTES as u64));
                return Err(RequestFailure::Permanent(request.malformed_answer(&reason)));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((headers, Bytes::from(body)))
    }
}

/// The transport as one task uses it.
#[derive(Clone, Copy)]
pub struct Connection<'a> {
    pub transport: &'a Transport,
    /// The channel for its progress reports.
    pub progress: &'a UnboundedSender<FetchProgress>,
    /// Cancelled when it is to stop.
    pub stop: &'a CancellationToken,
}

impl Connection<'_> {
    /// Fetches a whole answer that is no file, with several attempts.
    pub async fn fetch_with_retries(
        &self,
        request: &HubRequest<'_>,
        url: &Url,
    ) -> Result<(HeaderMap, Bytes), FetchError> {
        let mut backoff = Backoff::new(*self, request);
        loop {
            let fetch = self.transport.fetch_once(request, url.clone());
            let limited = async {
                timeout(MAX_ANSWER_TIME, fetch).await.unwrap_or_else(|_| {
                    let reason = format!("no complete answer in {} s", MAX_ANSWER_TIME.as_secs());
                    Err(RequestFailure::Transient { reason, answered: true, retry_after: None })
                })
            };
            match run_unless_stopped(self.stop, limited).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => backoff.wait_after_failure(failure).await?,
            }
        }
    }
}

/// A connection that failed or was cut. The address may have a signature, so it is omitted.
pub fn to_transient_failure(error: reqwest::Error) -> RequestFailure {
    RequestFailure::Transient {
        reason: format_connection_failure(&error.without_url()),
        answered: false,
        retry_after: None,
    }
}

/// Counts failed attempts in a row, and waits longer after each.
pub struct Backoff<'a> {
    connection: Connection<'a>,
    request: &'a HubRequest<'a>,
    failed_attempts: u32,
}

impl<'a> Backoff<'a> {
    /// Returns the state before the first attempt.
    pub fn new(connection: Connection<'a>, request: &'a HubRequest<'a>) -> Self {
        Self { connection, request, failed_attempts: 0 }
    }

    /// Forgets failed attempts, because bytes arrived.
    pub fn reset_attempts(&mut self) {
        self.failed_attempts = 0;
    }

    /// Waits until the next attempt.
    ///
    /// # Errors
    /// If no further attempt makes sense, or on a stop.
    pub async fn wait_after_failure(&mut self, failure: RequestFailure) -> Result<(), FetchError> {
        let (reason, answered, retry_after) = match failure {
            RequestFailure::Permanent(error) => return Err(error),
            RequestFailure::Transient { reason, answered, retry_after } => {
                (reason, answered, retry_after)
            }
        };
        let settings = &self.connection.transport.settings;
        let (endpoint, subject) = (settings.endpoint.to_string(), self.request.subject());
        self.failed_attempts += 1;
        if self.failed_attempts >= MAX_ATTEMPTS {
            let attempts = self.failed_attempts;
            return Err(if answered {
                FetchError::Unavailable { endpoint, subject, reason, attempts }
            } else {
                FetchError::Unreachable { endpoint, subject, reason }
            });
        }
        if let Some(wait) = retry_after.filter(|wait| *wait > MAX_RETRY_AFTER) {
            return Err(FetchError::RateLimited { endpoint, subject, wait });
        }
        let doubled = settings.retry_delay.saturating_mul(1 << (self.failed_attempts - 1).min(16));
        let delay = retry_after.unwrap_or(doubled.min(MAX_RETRY_DELAY));
        tracing::debug!(%subject, ?delay, "trying again after a pause");
        // Without a listener the download continues.
        let _ = self.connection.progress.send(FetchProgress::Retry {
            subject,
            reason,
            attempt: self.failed_attempts + 1,
            delay,
        });
        pause_unless_stopped(self.connection.stop, delay).await
    }
}

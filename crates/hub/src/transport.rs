//! Requests to the hub, and patience with them.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderValue, RANGE};
use reqwest::{Client, Response, Url};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::error::{FetchError, root_cause};
use crate::progress::Progress;
use crate::refusal::{Ask, Trouble, meaning};
use crate::settings::Settings;

/// The longest answer that is no file.
const ANSWER: usize = 64 << 20;
/// The longest part of a refusal that is read for its words.
const REFUSAL: usize = 4096;
/// The longest pause of ours between two tries.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
const CONNECT: Duration = Duration::from_secs(10);

/// The way to the hub.
#[derive(Debug)]
pub struct Transport {
    client: Client,
    pub(crate) settings: Settings,
}

impl Transport {
    /// The way that the settings name.
    pub fn new(settings: Settings) -> Result<Self, FetchError> {
        // An error says that the process has a TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("retrial/", env!("CARGO_PKG_VERSION")))
            // Files of one connection each: over HTTP/2 all of them would share a single one.
            .http1_only()
            .connect_timeout(CONNECT)
            .read_timeout(settings.patience.silence)
            .build()
            .map_err(|error| FetchError::Client(root_cause(&error)))?;
        Ok(Self { client, settings })
    }

    /// An address of the hub, each part taken as it is.
    pub fn url<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.settings.endpoint.clone();
        // An address with a host, as the settings made sure.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(parts);
        }
        url
    }

    /// The beginning of an answer: all of it, or a range of bytes (`bytes=100-`).
    pub async fn open(
        &self,
        ask: &Ask<'_>,
        url: Url,
        range: Option<&str>,
    ) -> Result<Response, Trouble> {
        let mut headers = HeaderMap::new();
        // What is compressed on the way has no ranges, and another size.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(Ok(range)) = range.map(HeaderValue::from_str) {
            headers.insert(RANGE, range);
        }
        // The hub's own host only: reqwest drops it where a redirect leads elsewhere.
        if url.origin() == self.settings.endpoint.origin()
            && let Some(token) = &self.settings.token
        {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", token.value())).map_err(|_| {
                    Trouble::Lasting(FetchError::Unauthorized {
                        repository: ask.repository.to_owned(),
                        because: format!(
                            "the token of {} has characters that no token has",
                            token.from()
                        ),
                        advice: "copy it anew".to_owned(),
                    })
                })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let answer = self.client.get(url).headers(headers).send().await;
        let mut answer = answer.map_err(passing)?;
        if answer.status().is_success()
            || answer.status() == reqwest::StatusCode::RANGE_NOT_SATISFIABLE
        {
            return Ok(answer);
        }
        let mut body = Vec::new();
        while let Ok(Some(piece)) = answer.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() > REFUSAL {
                break;
            }
        }
        let behind = answer.url().origin() != self.settings.endpoint.origin();
        let body = String::from_utf8_lossy(&body);
        Err(meaning(
            &self.settings,
            ask,
            answer.status(),
            answer.headers(),
            &body,
            behind,
        ))
    }

    /// A whole answer that is no file, asked for until it comes.
    pub async fn whole(
        &self,
        ask: &Ask<'_>,
        url: &Url,
        to: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<(HeaderMap, Bytes), FetchError> {
        let mut tries = Tries::new(self, ask, to.clone(), stop);
        loop {
            let once = async {
                let mut answer = self.open(ask, url.clone(), None).await?;
                let headers = answer.headers().clone();
                let mut body = Vec::new();
                while let Some(piece) = answer.chunk().await.map_err(passing)? {
                    if body.len() + piece.len() > ANSWER {
                        return Err(Trouble::Lasting(FetchError::Malformed {
                            what: ask.words(),
                            because: format!(
                                "it is longer than {}",
                                crate::error::bytes(ANSWER as u64)
                            ),
                        }));
                    }
                    body.extend_from_slice(&piece);
                }
                Ok((headers, Bytes::from(body)))
            };
            let result = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(FetchError::Stopped),
                result = once => result,
            };
            match result {
                Ok(answer) => return Ok(answer),
                Err(trouble) => tries.again(trouble).await?,
            }
        }
    }
}

/// A connection that failed or was cut. The address may carry a signature: it is left out.
pub fn passing(error: reqwest::Error) -> Trouble {
    Trouble::Passing {
        because: root_cause(&error.without_url()),
        answered: false,
        wait: None,
    }
}

/// How often something was tried in a row without success.
pub struct Tries<'a> {
    transport: &'a Transport,
    ask: &'a Ask<'a>,
    to: UnboundedSender<Progress>,
    stop: &'a CancellationToken,
    failed: u32,
}

impl<'a> Tries<'a> {
    /// None so far.
    pub fn new(
        transport: &'a Transport,
        ask: &'a Ask<'a>,
        to: UnboundedSender<Progress>,
        stop: &'a CancellationToken,
    ) -> Self {
        Self {
            transport,
            ask,
            to,
            stop,
            failed: 0,
        }
    }

    /// Something came: what failed before no longer counts.
    pub fn went_on(&mut self) {
        self.failed = 0;
    }

    /// Waits for the next try, or says why there is none.
    pub async fn again(&mut self, trouble: Trouble) -> Result<(), FetchError> {
        let (because, answered, wait) = match trouble {
            Trouble::Lasting(error) => return Err(error),
            Trouble::Passing {
                because,
                answered,
                wait,
            } => (because, answered, wait),
        };
        let settings = &self.transport.settings;
        let patience = &settings.patience;
        let (endpoint, what) = (settings.endpoint.to_string(), self.ask.words());
        self.failed += 1;
        if self.failed >= patience.tries {
            return Err(if answered {
                FetchError::Unavailable {
                    endpoint,
                    what,
                    because,
                    tries: self.failed,
                }
            } else {
                FetchError::Unreachable {
                    endpoint,
                    what,
                    because,
                }
            });
        }
        if let Some(wait) = wait.filter(|wait| *wait > patience.longest_wait) {
            return Err(FetchError::RateLimited {
                endpoint,
                what,
                wait,
            });
        }
        let ours = patience
            .pause
            .saturating_mul(1 << (self.failed - 1).min(16));
        let after = wait.unwrap_or(ours.min(LONGEST_PAUSE));
        let _ = self.to.send(Progress::Retry {
            what,
            because,
            attempt: self.failed + 1,
            after,
        });
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(FetchError::Stopped),
            () = tokio::time::sleep(after) => Ok(()),
        }
    }
}

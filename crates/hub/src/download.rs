//! One blob: its bytes from the hub into the cache, gone on with after a cut, kept only if they
//! are the right ones.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use crate::cache::Place;
use crate::error::FetchError;
use crate::listing::RemoteFile;
use crate::lock::BlobLock;
use crate::progress::{Teller, TransferState};
use crate::refusal::{Ask, Trouble};
use crate::sink::Sink;
use crate::transport::{Transport, Tries, passing};
use crate::verified;

/// What is fetched, from where and to where.
pub struct Download<'a> {
    pub transport: &'a Transport,
    pub place: &'a Place,
    pub ask: Ask<'a>,
    pub file: &'a RemoteFile,
    pub stop: &'a CancellationToken,
}

/// How one answer ended.
enum Answer {
    /// All bytes that were asked for are here.
    Whole,
    /// It was cut.
    Cut(Trouble),
    /// It does not go on where it should: the file begins anew.
    FromTheStart(Option<Response>),
    /// These cannot be the right bytes.
    Wrong(String),
    /// The disk takes no more.
    Full,
}

impl Download<'_> {
    /// Fetches it until it matches, a few times at most. Gives the bytes that came.
    pub async fn run(&self, lock: BlobLock, teller: &mut Teller) -> Result<u64, FetchError> {
        let lock = Arc::new(lock);
        let digest = &self.file.digest;
        let (part, blob) = (self.place.part(digest), self.place.blob(digest));
        let mut came = 0;
        let fetches = self.transport.settings.patience.fetches;
        let mut because = String::new();
        for _ in 0..fetches {
            match self.once(&lock, teller, &mut came).await? {
                Ok(()) => {
                    fs::rename(&part, &blob).map_err(FetchError::io("rename", &part))?;
                    let known = fs::metadata(&blob).map_err(FetchError::io("look at", &blob))?;
                    verified::keep(self.place, digest, &known);
                    return Ok(came);
                }
                Err(wrong) => {
                    fs::remove_file(&part).map_err(FetchError::io("remove", &part))?;
                    teller.thrown_out(wrong.clone());
                    because = wrong;
                }
            }
        }
        Err(FetchError::Corrupted {
            repository: self.ask.repository.to_owned(),
            path: self.file.path.clone(),
            because,
            times: fetches,
        })
    }

    /// Fetches it once, over as many connections as it takes; the inner error says what is wrong
    /// with what came.
    async fn once(
        &self,
        lock: &Arc<BlobLock>,
        teller: &mut Teller,
        came: &mut u64,
    ) -> Result<Result<(), String>, FetchError> {
        let mut sink = self.sink(lock, false).await?;
        teller.tell(TransferState::Downloading, sink.position());
        let mut tries = Tries::new(self.transport, &self.ask, teller.channel(), self.stop);
        let mut begun: Option<Response> = None;
        let mut restarts = 0;
        while sink.position() < self.file.size {
            let answer = match begun.take() {
                Some(answer) => Ok(answer),
                None => self.ask_from(sink.position()).await?,
            };
            let before = sink.position();
            let end = match answer {
                Ok(answer) => self.receive(answer, &mut sink, teller).await?,
                Err(trouble) => Answer::Cut(trouble),
            };
            *came += sink.position() - before;
            if sink.position() > before {
                tries.went_on();
            }
            match end {
                Answer::Whole => {}
                Answer::Full => break,
                Answer::Cut(trouble) => {
                    let again = tries.again(trouble).await;
                    if let Err(error) = again {
                        let nothing = sink.position() == 0;
                        // What came is written before anybody hears of the end.
                        sink.finish().await?;
                        if nothing {
                            let _ = fs::remove_file(self.place.part(&self.file.digest));
                        }
                        return Err(error);
                    }
                }
                Answer::FromTheStart(answer) => {
                    restarts += 1;
                    // Cut each time, and never gone on with: that could be for ever.
                    if restarts > self.transport.settings.patience.tries {
                        sink.finish().await?;
                        let because = "it is cut again and again, and the hub gives no ranges";
                        return Ok(Err(because.to_owned()));
                    }
                    sink.finish().await?;
                    sink = self.sink(lock, true).await?;
                    begun = answer;
                }
                Answer::Wrong(because) => {
                    sink.finish().await?;
                    return Ok(Err(because));
                }
            }
        }
        teller.tell(TransferState::Verifying, sink.position());
        let found = sink.finish().await?;
        if found == self.file.digest {
            return Ok(Ok(()));
        }
        let wanted = &self.file.digest;
        Ok(Err(format!(
            "it hashes to {found}, and the hub lists {wanted}"
        )))
    }

    async fn sink(&self, lock: &Arc<BlobLock>, anew: bool) -> Result<Sink, FetchError> {
        let RemoteFile { digest, size, .. } = self.file;
        let part = self.place.part(digest);
        Sink::open(&part, digest, *size, anew, Arc::clone(lock), self.stop)
            .await
            .map_err(|error| {
                if self.stop.is_cancelled() {
                    FetchError::Stopped
                } else {
                    error
                }
            })
    }

    /// Where an answer ends that begins at `from`.
    fn end(&self, from: u64) -> u64 {
        let at_once = self.transport.settings.at_once;
        from.saturating_add(at_once).min(self.file.size)
    }

    async fn ask_from(&self, from: u64) -> Result<Result<Response, Trouble>, FetchError> {
        let parts = self.ask.repository.split('/');
        let parts = parts.chain(["resolve", self.ask.revision]);
        let url = self.transport.url(parts.chain(self.file.path.split('/')));
        let end = self.end(from);
        let range = match (from, end == self.file.size) {
            (0, true) => None,
            (_, true) => Some(format!("bytes={from}-")),
            (_, false) => Some(format!("bytes={from}-{}", end - 1)),
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Ok(Err(Trouble::Lasting(FetchError::Stopped))),
            answer = self.transport.open(&self.ask, url, range.as_deref()) => Ok(answer),
        }
    }

    /// Takes an answer's bytes in.
    async fn receive(
        &self,
        mut answer: Response,
        sink: &mut Sink,
        teller: &mut Teller,
    ) -> Result<Answer, FetchError> {
        let (size, from) = (self.file.size, sink.position());
        let mut end = self.end(from);
        match answer.status() {
            StatusCode::OK if from == 0 => end = size,
            // It knows no ranges, and sends everything.
            StatusCode::OK => return Ok(Answer::FromTheStart(Some(answer))),
            StatusCode::PARTIAL_CONTENT => {
                if let Some(wrong) = range_is_wrong(&answer, from, size) {
                    return Ok(wrong);
                }
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let because = format!("it has no bytes from {from} on, and lists {size}");
                return Ok(Answer::Wrong(because));
            }
            other => return Ok(Answer::Wrong(format!("it answers {other}"))),
        }
        if let Some(length) = answer
            .content_length()
            .filter(|length| *length != end - from)
        {
            let because = format!("it sends {length} bytes where {} are to come", end - from);
            return Ok(Answer::Wrong(because));
        }
        loop {
            let piece = tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    return Ok(Answer::Cut(Trouble::Lasting(FetchError::Stopped)));
                }
                piece = answer.chunk() => piece,
            };
            let piece: Bytes = match piece {
                Ok(Some(piece)) => piece,
                // A connection that breaks after the last byte has done its work.
                Ok(None) | Err(_) if sink.position() == end => return Ok(Answer::Whole),
                Ok(None) => {
                    return Ok(Answer::Cut(Trouble::Passing {
                        because: "the answer ended early".to_owned(),
                        answered: true,
                        wait: None,
                    }));
                }
                Err(error) => return Ok(Answer::Cut(passing(error))),
            };
            if sink.position() + piece.len() as u64 > end {
                return Ok(Answer::Wrong(format!(
                    "it sends more than the {size} bytes it lists"
                )));
            }
            if !sink.take(piece).await {
                return Ok(Answer::Full);
            }
            teller.tell(TransferState::Downloading, sink.position());
        }
    }
}

/// `bytes 100-199/200`: an answer that goes on elsewhere must not be put here.
fn range_is_wrong(answer: &Response, from: u64, size: u64) -> Option<Answer> {
    let text = answer
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|value| value.to_str().ok());
    let range = text.and_then(|text| text.strip_prefix("bytes "));
    let (place, total) = range.and_then(|range| range.split_once('/'))?;
    if total != "*" && total.parse() != Ok(size) {
        return Some(Answer::Wrong(format!(
            "it has {total} bytes and lists {size}"
        )));
    }
    let begins = place
        .split_once('-')
        .and_then(|(first, _)| first.parse().ok());
    (begins != Some(from)).then_some(Answer::FromTheStart(None))
}

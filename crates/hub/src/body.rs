//! The bytes of a file from a position on: over plain HTTP, where the answer's range is checked,
//! or from the Xet store.

use bytes::Bytes;
use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use xet::xet_session::XetDownloadStream;

use crate::classify::RequestFailure;
use crate::transport::to_transient_failure;

/// Bytes that arrive in order, up to `end` of the file.
pub struct BlobStream {
    source: BlobSource,
    /// The end of the bytes, as an offset from the file's beginning.
    pub end: u64,
}

enum BlobSource {
    Http(Box<Response>),
    Xet(Box<XetDownloadStream>),
}

/// The reason for which an answer did not bring all of its bytes.
pub enum TransferInterruption {
    /// The request failed or was cut.
    Failed(RequestFailure),
    /// The file has to be read from its beginning: from this answer, if there is one.
    Restart(Option<BlobStream>),
    /// The answer is not the file that the hub lists, for this reason.
    Mismatch(String),
    /// The disk is full, as the sink will explain.
    Full,
}

impl From<RequestFailure> for TransferInterruption {
    fn from(failure: RequestFailure) -> Self {
        Self::Failed(failure)
    }
}

impl BlobStream {
    /// A part of a file from the Xet store.
    pub fn from_xet(stream: XetDownloadStream, end: u64) -> Self {
        let source = BlobSource::Xet(Box::new(stream));
        Self { source, end }
    }

    /// Checks an answer to a request for the bytes `from..end` of a file of `size` bytes.
    pub fn from_http(
        answer: Response,
        from: u64,
        end: u64,
        size: u64,
    ) -> Result<Self, TransferInterruption> {
        let mismatch = |reason| Err(TransferInterruption::Mismatch(reason));
        let end = match answer.status() {
            // A server that knows no ranges sends everything.
            StatusCode::OK => size,
            StatusCode::PARTIAL_CONTENT => match parse_content_range(&answer) {
                Some((_, Some(total))) if total != size => {
                    return mismatch(format!("it has {total} bytes and lists {size}"));
                }
                Some((first, _)) if first != Some(from) => {
                    return Err(TransferInterruption::Restart(None));
                }
                _ => end,
            },
            StatusCode::RANGE_NOT_SATISFIABLE => {
                return mismatch(format!("it has no bytes from {from} on, and lists {size}"));
            }
            other => return mismatch(format!("it returned {other}")),
        };
        let restart = answer.status() == StatusCode::OK && from > 0;
        let expected = if restart { end } else { end - from };
        let length = answer.content_length();
        let source = BlobSource::Http(Box::new(answer));
        let body = Self { source, end };
        match length.filter(|length| *length != expected) {
            Some(length) => mismatch(format!("it sends {length} bytes instead of {expected}")),
            None if restart => Err(TransferInterruption::Restart(Some(body))),
            None => Ok(body),
        }
    }

    /// Returns whether it comes from the Xet store.
    pub fn is_xet(&self) -> bool {
        matches!(self.source, BlobSource::Xet(_))
    }

    /// Returns the next bytes; none at the end.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, RequestFailure> {
        match &mut self.source {
            BlobSource::Http(answer) => answer.chunk().await.map_err(to_transient_failure),
            BlobSource::Xet(stream) => {
                stream.next().await.map_err(|error| RequestFailure::from_xet(&error))
            }
        }
    }
}

impl Drop for BlobSource {
    fn drop(&mut self) {
        if let Self::Xet(stream) = self {
            stream.cancel();
        }
    }
}

/// The first byte and the file's size of `bytes 100-199/200`, where they are numbers.
fn parse_content_range(answer: &Response) -> Option<(Option<u64>, Option<u64>)> {
    let text = answer.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (place, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = place.split_once('-').and_then(|(first, _)| first.parse().ok());
    Some((first, total.parse().ok()))
}

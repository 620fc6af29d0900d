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
        let expected = match answer.status() {
            // A server that knows no ranges sends everything.
            StatusCode::OK if from == 0 => size,
            StatusCode::OK => {
                return mismatch("it comes whole where its rest was requested".to_owned());
            }
            StatusCode::PARTIAL_CONTENT => match parse_content_range(&answer) {
                Some((_, Some(total))) if total != size => {
                    return mismatch(format!("it has {total} bytes and lists {size}"));
                }
                Some((first, _)) if first != Some(from) => {
                    return mismatch(format!("it does not continue at byte {from}"));
                }
                _ => end - from,
            },
            StatusCode::RANGE_NOT_SATISFIABLE => {
                return mismatch(format!("it has no bytes from {from} on, and lists {size}"));
            }
            other => return mismatch(format!("it returned {other}")),
        };
        if let Some(length) = answer.content_length().filter(|length| *length != expected) {
            return mismatch(format!("it sends {length} bytes instead of {expected}"));
        }
        Ok(Self { source: BlobSource::Http(Box::new(answer)), end: from + expected })
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

/// The first byte and the file's size of `bytes 100-199/200`, where they are numbers.
fn parse_content_range(answer: &Response) -> Option<(Option<u64>, Option<u64>)> {
    let text = answer.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (place, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = place.split_once('-').and_then(|(first, _)| first.parse().ok());
    Some((first, total.parse().ok()))
}

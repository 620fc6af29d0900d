//! A file's bytes on the wire: whole or a part, and as a fault bends them.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use futures_util::stream::{self, Stream};

use super::answer::{Answer, set, text};
use super::content::Content;
use super::fault::Fault;
use super::state::State;

/// The range that the Range header requests.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Some(Range<u64>),
    Beyond,
}

/// One range is served; several, or another unit, bring the whole file, as RFC 9110 allows.
fn part(headers: &HeaderMap, length: u64) -> Part {
    let header = headers.get("range").and_then(|value| value.to_str().ok());
    let Some(spec) = header.and_then(|text| text.strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    let Some((from, to)) = spec.split_once('-').filter(|_| !spec.contains(',')) else {
        return Part::Whole;
    };
    let range = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), Ok(to)) if from <= to => from..to.saturating_add(1).min(length),
        (Ok(from), Err(_)) if to.is_empty() => from..length,
        (Err(_), Ok(last)) if from.is_empty() => length.saturating_sub(last)..length,
        _ => return Part::Whole,
    };
    if range.is_empty() { Part::Beyond } else { Part::Some(range) }
}

/// The answer to a GET (or HEAD: `body` false) of a file's bytes.
pub fn answer(
    state: &Arc<State>,
    content: &Content,
    request: &HeaderMap,
    fault: Option<Fault>,
    sent: Arc<AtomicU64>,
    body: bool,
) -> Answer {
    let length = content.length();
    let requested = match fault {
        Some(Fault::WholeFile) => Part::Whole,
        Some(Fault::NoRange) => Part::Beyond,
        _ => part(request, length),
    };
    let (status, range) = match requested {
        Part::Whole => (StatusCode::OK, 0..length),
        Part::Some(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::Beyond => {
            let mut answer = text(StatusCode::RANGE_NOT_SATISFIABLE, "text/plain", String::new());
            set(answer.headers_mut(), "content-range", &format!("bytes */{length}"));
            return answer;
        }
    };
    let announced = match fault {
        Some(Fault::Length(length)) => length,
        _ => range.end - range.start,
    };
    let mut answer = Response::new(if body {
        Body::from_stream(stream(state, content.clone(), range.clone(), fault, sent))
    } else {
        Body::empty()
    });
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    set(headers, "content-length", &announced.to_string());
    set(headers, "accept-ranges", "bytes");
    if status == StatusCode::PARTIAL_CONTENT {
        let last = range.end - 1;
        let value = format!("bytes {}-{last}/{length}", range.start);
        set(headers, "content-range", &value);
    }
    answer
}

/// The body, piece by piece.
fn stream(
    state: &Arc<State>,
    content: Content,
    range: Range<u64>,
    fault: Option<Fault>,
    sent: Arc<AtomicU64>,
) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
    let begun = range.start;
    let mut released = state.released.subscribe();
    released.mark_unchanged();
    stream::unfold((range.start, fault, released), move |(at, mut fault, mut released)| {
        let (content, sent, end) = (content.clone(), Arc::clone(&sent), range.end);
        async move {
            let mut limit = end;
            match fault {
                Some(Fault::Cut(after)) if at - begun >= after => {
                    let broken = io::Error::new(io::ErrorKind::ConnectionReset, "cut");
                    return Some((Err(broken), (end, None, released)));
                }
                Some(Fault::Stall(after)) if at - begun >= after => {
                    // The sender lives as long as the hub: an error means that the hub was dropped.
                    let _ = released.changed().await;
                    fault = None;
                }
                Some(Fault::Cut(after) | Fault::Stall(after)) => limit = begun + after,
                Some(Fault::Slow(rate)) => {
                    // What is slow on purpose has to wait.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    limit = at + (rate / 20).max(1);
                }
                _ => {}
            }
            let mut chunk = content.chunk(at, limit.min(end));
            if chunk.is_empty() {
                return None;
            }
            let next = at + chunk.len() as u64;
            if let Some(Fault::Corrupt(offset)) = fault
                && (at..next).contains(&offset)
            {
                let mut bytes = chunk.to_vec();
                bytes[usize::try_from(offset - at).unwrap()] ^= 1;
                chunk = bytes.into();
            }
            sent.fetch_add(chunk.len() as u64, Ordering::SeqCst);
            Some((Ok(chunk), (next, fault, released)))
        }
    })
}

//! What was asked, and how much was sent: so that a test can say 'not fetched twice'.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::fault::Place;

/// A request that came in.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    pub method: String,
    /// The path as it was sent, with its query.
    pub path: String,
    pub repository: String,
    pub file: Option<String>,
    #[serde(skip)]
    pub place: Place,
    pub status: u16,
    pub range: Option<String>,
    /// Whether it carried an Authorization header.
    pub authorized: bool,
    pub user_agent: String,
    #[serde(skip)]
    pub(super) sent: Arc<AtomicU64>,
}

impl Request {
    /// How many bytes of the body went out.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

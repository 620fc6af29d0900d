//! What the hub knows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use axum::http::HeaderMap;
use tokio::sync::watch;

use super::access::Caller;
use super::fault::{self, Fault, Order, Place};
use super::log::Request;
use super::repository::Stored;

/// Shared by both listeners.
#[derive(Debug)]
pub struct State {
    /// `http://host:port`, without a slash.
    pub endpoint: String,
    pub cdn: String,
    inner: Mutex<Inner>,
    /// Counts `Hub::release`.
    pub released: watch::Sender<u64>,
}

/// Behind the lock.
#[derive(Debug, Default)]
pub struct Inner {
    pub repositories: BTreeMap<String, Stored>,
    /// Old names and what they are now.
    pub renamed: BTreeMap<String, String>,
    /// Tokens and whose they are.
    pub accounts: BTreeMap<String, String>,
    pub orders: Vec<Order>,
    pub requests: Vec<Request>,
    /// Entries of a tree's page, where it is not the real hub's 1000 (50 with `expand`).
    pub page: Option<usize>,
}

impl State {
    /// An empty hub.
    pub fn new(endpoint: String, cdn: String) -> Self {
        Self { endpoint, cdn, inner: Mutex::default(), released: watch::Sender::new(0) }
    }

    /// What is known; the lock is held for a moment only.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// The fault that was ordered for such a request.
    pub fn fault(&self, place: Place, repository: &str, file: Option<&str>) -> Option<Fault> {
        fault::take(&mut self.lock().orders, place, repository, file)
    }

    /// The caller of a request.
    pub fn caller(&self, headers: &HeaderMap) -> Caller {
        let Some(header) = headers.get("authorization") else {
            return Caller::Nobody;
        };
        let token = header.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
        let user = token.and_then(|token| self.lock().accounts.get(token).cloned());
        user.map_or(Caller::Stranger, Caller::User)
    }
}

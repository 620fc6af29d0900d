//! The hub as a test holds it: listening as long as it lives.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request as Incoming;
use tokio::runtime::Runtime;

use super::fault::{At, Fault, Order, Place};
use super::log::Request;
use super::repository::{Repository, Stored};
use super::route;
use super::state::State;

/// A running hub. It has threads of its own, so that it serves tests with a runtime and without.
#[derive(Debug)]
pub struct Hub {
    state: Arc<State>,
    runtime: Option<Runtime>,
}

impl Hub {
    /// An empty hub on free ports.
    pub fn start() -> Self {
        Self::start_at(0)
    }

    /// An empty hub on this port (0: a free one); its CDN has a free one.
    pub fn start_at(port: u16) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("hub")
            .enable_all()
            .build()
            .unwrap();
        // Another host name, not only another port: some clients send tokens by host name.
        let (hub, hub_at) = listen(Ipv4Addr::LOCALHOST, port);
        let (cdn, cdn_at) = listen(Ipv4Addr::new(127, 0, 0, 2), 0);
        let state = Arc::new(State::new(format!("http://{hub_at}"), format!("http://{cdn_at}")));
        let shared = Arc::clone(&state);
        runtime.spawn(serve(hub, move |incoming| route::hub(Arc::clone(&shared), incoming)));
        let shared = Arc::clone(&state);
        runtime.spawn(serve(cdn, move |incoming| route::cdn(Arc::clone(&shared), incoming)));
        Self { state, runtime: Some(runtime) }
    }

    /// What `HF_ENDPOINT` has to be: `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.state.endpoint
    }

    /// Where LFS files are redirected to.
    pub fn cdn(&self) -> &str {
        &self.state.cdn
    }

    /// Puts a repository there, or a new commit on one that is there; gives the commit's hash.
    pub fn add(&self, repository: Repository) -> String {
        let name = repository.name.clone();
        let mut inner = self.state.lock();
        let stored = inner.repositories.entry(name.clone());
        stored.or_insert_with(|| Stored::new(&name)).push(repository)
    }

    /// Renames a repository; its old name redirects.
    pub fn rename(&self, old: &str, new: &str) {
        let mut inner = self.state.lock();
        let mut stored = inner.repositories.remove(old).unwrap();
        new.clone_into(&mut stored.name);
        inner.repositories.insert(new.to_owned(), stored);
        inner.renamed.insert(old.to_owned(), new.to_owned());
    }

    /// Makes a token, and the user that it is of.
    pub fn account(&self, user: &str, token: &str) {
        let mut inner = self.state.lock();
        inner.accounts.insert(token.to_owned(), user.to_owned());
    }

    /// Orders a fault for the next `times` requests that it fits.
    pub fn fault(&self, fault: Fault, at: &At, times: u32) {
        assert!(times > 0, "a fault that never comes");
        let at = at.clone();
        self.state.lock().orders.push(Order { at, fault, times });
    }

    /// Faults that were ordered and did not come yet.
    pub fn faults_left(&self) -> u32 {
        self.state.lock().orders.iter().map(|order| order.times).sum()
    }

    /// Lets go on what `Fault::Stall` holds.
    pub fn release(&self) {
        self.state.released.send_modify(|count| *count += 1);
    }

    /// So many entries on a page of a tree.
    pub fn page(&self, entries: usize) {
        self.state.lock().page = Some(entries);
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().requests.clone()
    }

    /// Forgets what was asked.
    pub fn forget(&self) {
        self.state.lock().requests.clear();
    }

    /// How many GETs for a file's bytes came (from the hub or the CDN), answered well or not.
    pub fn downloads(&self, repository: &str, file: &str) -> usize {
        self.bytes_of(repository, file).len()
    }

    /// How many bytes of a file went out, all GETs together.
    pub fn sent(&self, repository: &str, file: &str) -> u64 {
        self.bytes_of(repository, file).iter().map(Request::sent).sum()
    }

    fn bytes_of(&self, repository: &str, file: &str) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| {
            request.place == Place::Bytes
                && request.method == "GET"
                && request.repository == repository
                && request.file.as_deref() == Some(file)
        });
        requests
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // Dropping a runtime inside another one is not allowed; this is.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn listen(host: Ipv4Addr, port: u16) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((host, port)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn serve<F, A>(listener: TcpListener, handle: F)
where
    F: Fn(Incoming) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = super::answer::Answer> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let router = Router::new().fallback(move |incoming: Incoming| handle(incoming));
    axum::serve(listener, router).await.unwrap();
}

//! A hub with one model, and hf-hub's client with a cache of its own.

use std::path::PathBuf;
use std::time::Duration;

use hf_hub::{HFClient, HFRepository, HFResult, RepoTypeModel};
use tempfile::TempDir;

use crate::hub::{At, Content, Fault, Hub, Place, Repository, Request};

pub const NAME: &str = "owner/model";
pub const FILE: &str = "model.safetensors";
pub const SIZE: u64 = 4 << 20;

pub struct Scene {
    pub hub: Hub,
    pub client: HFClient,
    pub cache: TempDir,
}

impl Scene {
    /// A model with a large file that plain HTTP serves.
    pub fn http() -> Self {
        Self::new(Repository::new(NAME).file("config.json", "{}").lfs(FILE, content()))
    }

    /// A model with a large file in the Xet store.
    pub fn xet() -> Self {
        Self::new(Repository::new(NAME).file("config.json", "{}").xet(FILE, content()))
    }

    fn new(repository: Repository) -> Self {
        let hub = Hub::start();
        hub.add(repository);
        hub.account("me", "hf_mine");
        let cache = tempfile::tempdir().unwrap();
        let client = HFClient::builder()
            .endpoint(hub.endpoint())
            .token("hf_mine")
            .cache_dir(cache.path())
            .retry_base_delay(Duration::from_millis(1))
            .build()
            .unwrap();
        Self { hub, client, cache }
    }

    pub fn model(&self) -> HFRepository<RepoTypeModel> {
        self.client.model("owner", "model")
    }

    /// Downloads the large file into the cache.
    pub async fn download(&self) -> HFResult<PathBuf> {
        self.model().download_file().filename(FILE).send().await
    }

    /// The bytes in the cache under the SHA-256 of the large file, if there are any.
    pub fn blob(&self) -> Option<Vec<u8>> {
        let blobs = self.cache.path().join("models--owner--model/blobs");
        std::fs::read(blobs.join(content().sha256())).ok()
    }

    /// The bytes of the large file that have arrived.
    pub fn partial(&self) -> Vec<u8> {
        let name = format!("{}.incomplete", content().sha256());
        let blobs = self.cache.path().join("models--owner--model/blobs");
        std::fs::read(blobs.join(name)).unwrap_or_default()
    }

    /// Bytes that the Xet store sent.
    pub fn sent_by_store(&self) -> u64 {
        let requests = self.hub.requests();
        let store = requests.iter().filter(|request| request.place == Place::Xet);
        store.map(Request::sent).sum()
    }

    /// Makes the next requests for the large file's bytes fail.
    pub fn fail_bytes(&self, fault: Fault, times: u32) {
        self.hub.fault(fault, &At::bytes(NAME, FILE), times);
    }

    /// Requests of this kind.
    pub fn requests(&self, place: Place) -> usize {
        let requests = self.hub.requests();
        requests.iter().filter(|request| request.place == place).count()
    }

    /// Whether a request to the CDN's host had an `Authorization` header.
    pub fn leaks_token(&self, path: &str) -> bool {
        let requests = self.hub.requests();
        requests.iter().any(|request| request.path == path && request.authorized)
    }

    /// The CDN's host and port, which are not the hub's.
    pub fn other_host(&self) -> &str {
        self.hub.cdn().strip_prefix("http://").unwrap()
    }
}

pub fn content() -> Content {
    Content::generated(7, SIZE)
}

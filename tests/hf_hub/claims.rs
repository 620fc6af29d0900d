//! Claims about hf-hub 1.0.0. A test that fails here says that a newer release deserves another
//! look: the crate could then carry our requests.
#![cfg(test)]
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../hub/mod.rs"]
mod hub;

use futures_util::StreamExt;
use hf_hub::repository::RepoTreeEntry;
use hf_hub::{HFClient, HFError};
use tempfile::TempDir;

use hub::{Content, Hub, Place, Repository};

const FILE: &str = "model.safetensors";
const SIZE: u64 = 4 << 20;

fn scene() -> (Hub, HFClient, TempDir) {
    let hub = Hub::start();
    hub.add(Repository::new("owner/model").xet(FILE, Content::generated(7, SIZE)));
    hub.account("me", "hf_mine");
    let cache = tempfile::tempdir().unwrap();
    let client = HFClient::builder()
        .endpoint(hub.endpoint())
        .token("hf_mine")
        .cache_dir(cache.path())
        .build()
        .unwrap();
    (hub, client, cache)
}

/// Requests for chunks of the Xet store.
fn chunks(hub: &Hub) -> usize {
    let requests = hub.requests();
    let is_chunk = |request: &&hub::Request| request.place == Place::Xet && request.file.is_some();
    requests.iter().filter(is_chunk).count()
}

/// Fixed after 1.0.0 by hf-hub's pull request 212.
#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_a_large_file_cannot_be_read() {
    let (_hub, client, _cache) = scene();
    let model = client.model("owner", "model");
    let metadata = model.get_file_metadata().filepath(FILE).send().await;
    assert!(
        matches!(metadata, Err(HFError::MalformedResponse { .. })),
        "{metadata:?}"
    );
}

/// The hub's field is `oid`, and the crate reads `sha256`.
#[tokio::test(flavor = "multi_thread")]
async fn the_listing_has_no_sha256() {
    let (_hub, client, _cache) = scene();
    let model = client.model("owner", "model");
    let listed = model.list_tree().recursive(true).send().unwrap();
    let listed: Vec<_> = listed.collect().await;
    let file = listed
        .into_iter()
        .map(Result::unwrap)
        .find_map(|entry| match entry {
            RepoTreeEntry::File { lfs, size, .. } => Some((lfs.unwrap().sha256, size)),
            RepoTreeEntry::Directory { .. } => None,
        });
    assert_eq!(file, Some((None, SIZE)));
}

/// Fixed after 1.0.0 by hf-hub's pull request 209.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_never_uses_the_xet_store() {
    let (hub, client, _cache) = scene();
    let model = client.model("owner", "model");
    let (_, mut stream) = model
        .download_file_stream()
        .filename(FILE)
        .send()
        .await
        .unwrap();
    let mut received = Vec::new();
    while let Some(bytes) = stream.next().await {
        received.extend_from_slice(&bytes.unwrap());
    }
    assert!(received == Content::generated(7, SIZE).to_vec());
    assert_eq!(chunks(&hub), 0);
    assert_eq!(hub.downloads("owner/model", FILE), 1);
}

/// Its Xet session has the defaults, which report each transfer to the store.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_into_its_cache_sends_telemetry() {
    let (hub, client, _cache) = scene();
    let model = client.model("owner", "model");
    model.download_file().filename(FILE).send().await.unwrap();
    assert!(chunks(&hub) > 0);
    for _ in 0..100 {
        let requests = hub.requests();
        if requests
            .iter()
            .any(|request| request.path == "/v1/telemetry")
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing was posted: {:#?}", hub.requests());
}

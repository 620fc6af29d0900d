//! Bytes are stored under a hash that nothing compares with them.

use futures_util::StreamExt;
use hf_hub::repository::RepoTreeEntry;

use crate::hub::Fault;
use crate::scene::{FILE, NAME, SIZE, Scene, content};

/// Refuted by a field of `BlobLfsInfo` that reads `oid`: the hub's listing has no `sha256`.
#[tokio::test(flavor = "multi_thread")]
async fn the_listing_has_no_sha256() {
    let scene = Scene::http();
    let model = scene.model();
    let listed: Vec<_> = model.list_tree().recursive(true).send().unwrap().collect().await;
    let large = listed.into_iter().map(Result::unwrap).find_map(|entry| match entry {
        RepoTreeEntry::File { lfs: Some(lfs), size, .. } => Some((lfs.sha256, size)),
        _ => None,
    });
    assert_eq!(large, Some((None, SIZE)));
}

/// Refuted by hashing the bytes while they are written, and renaming the file only if the hash is
/// the `ETag` that names it.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_download_is_complete_in_the_shared_cache() {
    let scene = Scene::http();
    scene.fail_bytes(Fault::Corrupt(1_234_567), 1);
    scene.download().await.unwrap();
    let stored = scene.blob().unwrap();
    assert_eq!(stored.len() as u64, SIZE);
    assert!(stored != content().to_vec());
    // It stays: the next download takes it as it is.
    scene.download().await.unwrap();
    assert!(scene.blob().unwrap() == stored);
}

/// Refuted by a request for the missing range when `.incomplete` has bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_download_starts_again() {
    const CUT: u64 = 3 << 20;
    let scene = Scene::http();
    scene.fail_bytes(Fault::Cut(CUT), 1);
    scene.download().await.unwrap_err();
    scene.download().await.unwrap();
    assert!(scene.blob().unwrap() == content().to_vec());
    assert_eq!(scene.hub.sent(NAME, FILE), CUT + SIZE);
}

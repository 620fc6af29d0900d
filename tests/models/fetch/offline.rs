//! Without the hub: a cached model is used only if it is complete and valid.

use retrial_hub::{FetchError, FetchProgress};

use super::scene::{NAME, Scene};
use crate::hub::{Content, Repository};

fn scene() -> Scene {
    Scene::new(
        Repository::new(NAME)
            .file("config.json", "{}")
            .lfs("model.safetensors", Content::generated(1, 1 << 20)),
    )
}

async fn filled_and_offline() -> Scene {
    let mut scene = scene();
    scene.main().await.fetched();
    scene.settings.offline = true;
    scene.hub.forget();
    scene
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_files_are_used() {
    let scene = filled_and_offline().await;
    let fetched = scene.main().await.fetched();
    assert_eq!((fetched.files.len(), fetched.bytes_fetched), (2, 0));
    assert!(scene.hub.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uncached_model_is_reported() {
    let mut scene = scene();
    scene.settings.offline = true;
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::NotCached { .. }), "{error}");
    assert!(error.to_string().contains("HF_HUB_OFFLINE"), "{error}");
    assert!(scene.hub.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_and_corrupt_files_are_reported() {
    let scene = filled_and_offline().await;
    let blob = scene.at("blobs").join(Content::generated(1, 1 << 20).sha256());
    let right = std::fs::read(&blob).unwrap();
    let mut wrong = right.clone();
    wrong[5] ^= 1;
    for content in [&wrong[..], &right[..100]] {
        std::fs::write(&blob, content).unwrap();
        let error = scene.main().await.error();
        let FetchError::Incomplete { files, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(files, &["model.safetensors"]);
    }
    std::fs::remove_file(&blob).unwrap();
    let error = scene.main().await.error().to_string();
    assert!(error.contains("1 file is missing: model.safetensors"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_of_an_older_client_has_no_listing() {
    let scene = filled_and_offline().await;
    std::fs::remove_dir_all(scene.at("trees")).unwrap();
    let went = scene.main().await;
    let warned = |event: &FetchProgress| matches!(event, FetchProgress::Warning(text) if text.contains("no listing"));
    assert!(went.progress.iter().any(warned), "{:?}", went.progress);
    assert_eq!(went.fetched().files.len(), 2);
    // A file that is named and missing is reported anyway.
    std::fs::remove_file(scene.at("blobs").join(Content::generated(1, 1 << 20).sha256())).unwrap();
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Incomplete { .. }), "{error}");
}

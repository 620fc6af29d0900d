//! Files that the hub keeps in its Xet store: from there, verified as all others, and over plain
//! HTTP when the store fails.

use retrial_hub::FetchProgress;

use super::scene::{NAME, Scene, Went, content};
use crate::hub::{At, Content, Fault, Place, Repository, Request};

const FILE: &str = "model.safetensors";
const SIZE: u64 = 4 << 20;

fn scene() -> Scene {
    Scene::new(
        Repository::new(NAME).file("config.json", "{}").xet(FILE, Content::generated(7, SIZE)),
    )
}

fn store() -> At {
    At::file(Place::Xet, NAME, FILE)
}

/// Requests to the Xet store.
fn requests(scene: &Scene) -> Vec<Request> {
    let mut requests = scene.hub.requests();
    requests.retain(|request| request.place == Place::Xet);
    requests
}

fn warnings(went: &Went) -> Vec<&str> {
    let mut texts = Vec::new();
    for event in &went.progress {
        if let FetchProgress::Warning(text) = event {
            texts.push(text.as_str());
        }
    }
    texts
}

#[track_caller]
fn is_right(went: Went) {
    let fetched = went.fetched();
    assert!(content(&fetched, FILE) == Content::generated(7, SIZE).to_vec());
    assert_eq!(content(&fetched, "config.json"), b"{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn xet_files_are_stored_like_all_others() {
    let scene = scene().token("hf_mine");
    scene.hub.account("me", "hf_mine");
    let went = scene.main().await;
    assert!(warnings(&went).is_empty(), "{:?}", went.progress);
    is_right(went);
    assert_eq!(scene.hub.downloads(NAME, FILE), 0);
    let sha256 = Content::generated(7, SIZE).sha256().to_owned();
    assert!(scene.at("blobs").join(sha256).exists());
    assert!(!requests(&scene).is_empty());
    // No telemetry: nothing is posted, to whichever path.
    let all = scene.hub.requests();
    assert!(all.iter().all(|request| request.method == "GET"), "{all:#?}");
    // A second time nothing is requested but the branch.
    scene.hub.forget();
    assert_eq!(scene.main().await.fetched().bytes_fetched, 0);
    assert_eq!(scene.hub.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_file_is_resumed_from_the_xet_store() {
    let scene = scene();
    let all = Content::generated(7, SIZE);
    let partial = scene.at("blobs").join(format!("{}.incomplete", all.sha256()));
    std::fs::create_dir_all(scene.at("blobs")).unwrap();
    std::fs::write(partial, &all.to_vec()[..1_500_000]).unwrap();
    let went = scene.main().await;
    assert!(went.discarded().is_empty(), "{:?}", went.progress);
    let fetched = went.result.as_ref().unwrap().bytes_fetched;
    assert_eq!(fetched, SIZE - 1_500_000 + 2);
    is_right(went);
    let sent: u64 = requests(&scene).iter().map(Request::sent).sum();
    assert!(sent < SIZE - 1_300_000, "{sent}");
    assert_eq!(scene.hub.downloads(NAME, FILE), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_store_falls_back_to_plain_http() {
    for fault in [Fault::Status(503), Fault::Status(404), Fault::Silence, Fault::Page] {
        let scene = scene();
        scene.hub.fault(fault, &store(), 1000);
        let went = scene.main().await;
        let warned = warnings(&went);
        assert_eq!(warned.len(), 1, "{:?}", went.progress);
        assert!(warned[0].contains("continuing over plain HTTP"), "{warned:?}");
        assert!(!warned[0].contains("Signature"), "{warned:?}");
        is_right(went);
        assert_eq!(scene.hub.downloads(NAME, FILE), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_data_from_the_store_is_discarded() {
    let scene = scene();
    scene.hub.fault(Fault::Corrupt(1_234_567), &store(), 1000);
    let went = scene.main().await;
    assert_eq!(went.discarded().len(), 1, "{:?}", went.progress);
    is_right(went);
    assert_eq!(scene.hub.downloads(NAME, FILE), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_store_downloads_transfer_each_byte_once() {
    let scene = scene();
    scene.hub.fault(Fault::Cut(700_000), &store(), 1000);
    let went = scene.main().await;
    assert!(went.discarded().is_empty(), "{:?}", went.progress);
    assert_eq!(went.result.as_ref().unwrap().bytes_fetched, SIZE + 2);
    is_right(went);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_xet_plain_http_is_used() {
    let mut scene = scene();
    scene.settings.xet = false;
    is_right(scene.main().await);
    assert!(requests(&scene).is_empty());
    assert_eq!(scene.hub.downloads(NAME, FILE), 1);
}

//! Files of the Xet store come from there or not at all.

use std::process::Command;
use std::time::Duration;

use crate::hub::{At, Fault, Place};
use crate::scene::{FILE, NAME, SIZE, Scene, content};

const HALF: u64 = SIZE / 2;

fn store() -> At {
    At::file(Place::Xet, NAME, FILE)
}

/// Refuted by a download over plain HTTP, which the hub serves for every file, when the store
/// fails; or by an option that does without Xet (`HF_HUB_DISABLE_XET` has no effect).
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_reached_ends_the_download() {
    let scene = Scene::xet();
    scene.hub.fault(Fault::Status(403), &store(), 1000);
    scene.download().await.unwrap_err();
    assert_eq!(scene.requests(Place::Bytes), 0);
}

/// Refuted as for plain HTTP: by a comparison with the hash that names the file.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_data_of_the_store_is_complete_in_the_shared_cache() {
    let scene = Scene::xet();
    scene.hub.fault(Fault::Corrupt(1_234_567), &store(), 1000);
    scene.download().await.unwrap();
    assert!(scene.blob().unwrap() != content().to_vec());
}

/// Refuted by an option of `HFClientBuilder` for the session, or a session that reports nothing by
/// default. `DO_NOT_TRACK` in the environment is the only way, and a library cannot set it safely.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_sends_telemetry() {
    let scene = Scene::xet();
    scene.download().await.unwrap();
    assert!(scene.requests(Place::Xet) > 0);
    for _ in 0..100 {
        let requests = scene.hub.requests();
        if requests.iter().any(|request| request.path.ends_with("/v1/telemetry")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing was posted: {:#?}", scene.hub.requests());
}

/// Refuted by `XetFileDownloadGroup::abort` when the future is dropped. The lock of the file is
/// free by then, so that another download writes to the same file.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_download_still_writes() {
    let scene = Scene::xet();
    let mut download = Box::pin(scene.download());
    // The first is the list of chunks, whose answer does not stall.
    scene.hub.fault(Fault::Stall(HALF), &store(), 2);
    tokio::select! {
        done = &mut download => panic!("{done:?}"),
        () = wait_until(|| scene.sent_by_store() >= HALF) => {}
    }
    drop(download);
    scene.hub.release();
    wait_until(|| scene.partial().len() as u64 == SIZE).await;
}

/// The other process: this program again, killed by the test below.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "is started by the test below"]
async fn child() {
    let client = hf_hub::HFClient::new().unwrap();
    let model = client.model("owner", "model");
    model.download_file().filename(FILE).send().await.unwrap();
}

/// Refuted by a request for the range that `.incomplete` lacks.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_download_starts_again() {
    let scene = Scene::xet();
    scene.hub.fault(Fault::Stall(HALF), &store(), 2);
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "xet::child"])
        .env("HF_ENDPOINT", scene.hub.endpoint())
        .env("HF_HUB_CACHE", scene.cache.path())
        .spawn()
        .unwrap();
    wait_until(|| scene.sent_by_store() >= HALF).await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    scene.hub.forget();
    scene.download().await.unwrap();
    assert!(scene.blob().unwrap() == content().to_vec());
    assert!(scene.sent_by_store() >= SIZE, "{}", scene.sent_by_store());
}

async fn wait_until(is_done: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing happened in 10 s");
}

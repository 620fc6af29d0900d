//! Refusals of a file's bytes are taken for the file, and waits that a hub requests are ignored.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use hf_hub::{HFClient, HFError};
use tokio::time::timeout;

use crate::hub::{At, Fault, Place};
use crate::scene::{FILE, NAME, Scene, content};

/// Refuted by `check_response` on the answer to the GET in `download_file_to_cache_network`, as
/// after its HEAD.
#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_refusal_becomes_the_file() {
    for status in [401, 403, 404, 416] {
        let scene = Scene::http();
        scene.fail_bytes(Fault::Status(status), 1);
        scene.download().await.unwrap();
        let stored = String::from_utf8(scene.blob().unwrap()).unwrap();
        assert!(stored.starts_with(&status.to_string()), "{stored}");
    }
}

/// Refuted in the same way: the attempts end, and the last answer is stored.
#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_busy_hub_becomes_the_file() {
    for fault in [Fault::Busy(600), Fault::Unavailable(600), Fault::Status(500)] {
        let scene = Scene::http();
        scene.fail_bytes(fault, 100);
        scene.download().await.unwrap();
        assert!(scene.blob().unwrap().len() < 1000);
    }
}

/// Refuted by a comparison with `X-Linked-Size`: the answer of a captive portal or a proxy.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_html_becomes_the_file() {
    let scene = Scene::http();
    scene.fail_bytes(Fault::Page, 1);
    scene.download().await.unwrap();
    let stored = String::from_utf8(scene.blob().unwrap()).unwrap();
    assert!(stored.contains("Sign in to the network"), "{stored}");
}

/// Refuted by a wait of `Retry-After` in `retry::retry`.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_hub_is_asked_again_at_once() {
    let scene = Scene::http();
    scene.hub.fault(Fault::Busy(600), &At::file(Place::Head, NAME, FILE), 100);
    let begun = Instant::now();
    let error = scene.download().await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(scene.requests(Place::Head), 6);
    let HFError::RateLimited { retry_after, .. } = error else { panic!("{error}") };
    assert_eq!(retry_after, Some(Duration::from_mins(10)));
}

/// Refuted by the status of a HEAD in `snapshot_download`, mapped by `check_response`.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_does_not_state_the_wait() {
    let scene = Scene::http();
    scene.hub.fault(Fault::Busy(600), &At::any(Place::Head, NAME), 100);
    let error = scene.model().snapshot_download().send().await.unwrap_err();
    assert!(matches!(error, HFError::Http { .. }), "{error:?}");
}

/// Refuted by using the given client, or its settings, for requests that follow no redirects.
#[tokio::test(flavor = "multi_thread")]
async fn the_timeouts_and_certificates_of_a_given_client_do_not_hold_for_metadata() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let given =
        reqwest::Client::builder().read_timeout(Duration::from_millis(200)).build().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let client = HFClient::builder()
        .endpoint(format!("http://{}", silent.local_addr().unwrap()))
        .client(given)
        .retry_max_attempts(0)
        .cache_dir(cache.path())
        .build()
        .unwrap();
    let model = client.model("owner", "model");
    let request = model.download_file().filename(FILE).send();
    assert!(timeout(Duration::from_secs(3), request).await.is_err());
}

/// Refuted by waiting as long as the other process holds the lock: a large file takes hours.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_download_of_a_file_fails_after_ten_seconds() {
    let scene = Scene::http();
    let locks = scene.cache.path().join(".locks/models--owner--model");
    std::fs::create_dir_all(&locks).unwrap();
    let path = locks.join(format!("{}.lock", content().sha256()));
    let held = std::fs::File::create(path).unwrap();
    held.lock().unwrap();
    let error = scene.download().await.unwrap_err();
    assert!(matches!(error, HFError::CacheLockTimeout { .. }), "{error}");
    // The thread that waits for it would keep this program from its end.
    drop(held);
}

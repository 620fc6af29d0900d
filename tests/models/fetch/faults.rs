//! Faults of a hub: the right bytes arrive anyway, or none.

use std::time::Duration;

use retrial_hub::{FetchError, FetchProgress};
use rstest::rstest;
use tokio_util::sync::CancellationToken;

use super::scene::{NAME, Scene, content, model_spec};
use crate::hub::{At, Content, Fault, Place, Repository};
use crate::support::remedy::with_remedy;

const FILE: &str = "model.safetensors";
const SIZE: u64 = 4 << 20;

fn scene() -> Scene {
    Scene::new(Repository::new(NAME).lfs(FILE, Content::generated(7, SIZE)))
}

fn bytes() -> At {
    At::bytes(NAME, FILE)
}

#[track_caller]
fn is_right(fetched: &retrial_hub::FetchedModel) {
    assert!(content(fetched, FILE) == Content::generated(7, SIZE).to_vec(), "wrong bytes");
}

#[rstest]
#[case(Fault::Cut(0))]
#[case(Fault::Cut(1_000_000))]
#[case(Fault::Length(1000))]
#[case(Fault::Length(SIZE + 1000))]
#[case(Fault::Corrupt(123_456))]
#[case(Fault::Page)]
#[case(Fault::Expired)]
#[case(Fault::Silence)]
#[case(Fault::Busy(1))]
#[case(Fault::Unavailable(0))]
#[case(Fault::Status(500))]
#[case(Fault::Status(502))]
#[case(Fault::Status(403))]
#[case(Fault::NoRange)]
#[case(Fault::WholeFile)]
#[tokio::test(flavor = "multi_thread")]
async fn one_fault_is_retried(#[case] fault: Fault, #[values(0, 1_500_000)] before: u64) {
    let scene = scene();
    if before > 0 {
        // The first connection leaves a part, so that the fault meets a resumed fetch.
        scene.hub.fault(Fault::Cut(before), &bytes(), 1);
    }
    scene.hub.fault(fault, &bytes(), 1);
    let went = scene.main().await;
    is_right(&went.fetched());
    assert_eq!(scene.hub.faults_left(), 0);
    assert_eq!(scene.names("blobs").len(), 1);
}

#[rstest]
#[case(Fault::Silence)]
#[case(Fault::Status(500))]
#[case(Fault::Busy(0))]
#[tokio::test(flavor = "multi_thread")]
async fn metadata_requests_are_retried(#[case] fault: Fault) {
    let scene = scene();
    for place in [Place::Info, Place::Tree, Place::Resolve] {
        scene.hub.fault(fault.clone(), &At::any(place, NAME), 1);
    }
    let went = scene.main().await;
    assert_eq!(went.retries().len(), 3, "{:?}", went.progress);
    is_right(&went.fetched());
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_downloads_transfer_each_byte_once() {
    let scene = scene();
    scene.hub.fault(Fault::Cut(500_000), &bytes(), 5);
    let went = scene.main().await;
    assert_eq!(went.retries().len(), 5, "{:?}", went.progress);
    let fetched = went.fetched();
    is_right(&fetched);
    assert_eq!(fetched.bytes_fetched, SIZE);
    assert_eq!(scene.hub.downloads(NAME, FILE), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_fetched_by_ranges() {
    let mut scene = scene();
    scene.settings.max_range = 1_500_000;
    scene.hub.fault(Fault::Cut(1_000_000), &bytes(), 1);
    let fetched = scene.main().await.fetched();
    is_right(&fetched);
    assert_eq!(fetched.bytes_fetched, SIZE);
    let requests = scene.hub.requests();
    let ranges: Vec<&str> = requests
        .iter()
        .filter(|request| request.place == Place::Bytes)
        .filter_map(|request| request.range.as_deref())
        .collect();
    let expected =
        ["bytes=0-1499999", "bytes=1000000-2499999", "bytes=2500000-3999999", "bytes=4000000-"];
    assert_eq!(ranges, expected);
    // One that knows no ranges gives all of it at once.
    std::fs::remove_dir_all(scene.cache()).unwrap();
    scene.hub.fault(Fault::WholeFile, &bytes(), 1);
    is_right(&scene.main().await.fetched());
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_respected() {
    let scene = scene();
    scene.hub.fault(Fault::Busy(1), &bytes(), 1);
    let went = scene.main().await;
    let waits: Vec<Duration> = went
        .progress
        .iter()
        .filter_map(|event| match event {
            FetchProgress::Retry { delay, .. } => Some(*delay),
            _ => None,
        })
        .collect();
    // Ours would be a millisecond.
    assert!(waits.iter().all(|wait| *wait >= Duration::from_secs(1)), "{waits:?}");
    assert_eq!(waits.len(), 1);
    is_right(&went.fetched());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_very_long_retry_after_is_an_error() {
    let scene = scene();
    scene.hub.fault(Fault::Busy(100_000), &bytes(), 1);
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::RateLimited { .. }), "{error}");
    assert!(with_remedy(&error).contains("HF_TOKEN"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeatedly_corrupt_data_is_discarded() {
    let scene = scene();
    scene.hub.fault(Fault::Corrupt(3_000_000), &bytes(), 10);
    let went = scene.main().await;
    assert_eq!(went.discarded().len(), 3);
    let error = went.error();
    assert!(matches!(error, FetchError::Corrupted { attempts: 3, .. }), "{error}");
    assert!(error.to_string().contains(FILE), "{error}");
    assert!(scene.names("blobs").is_empty(), "{:?}", scene.names("blobs"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_page_instead_of_the_file_is_discarded() {
    let scene = scene();
    scene.hub.fault(Fault::Page, &bytes(), 10);
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Corrupted { .. }), "{error}");
    assert!(scene.names("blobs").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_hub_is_reported_and_partial_files_remain() {
    let scene = scene();
    scene.hub.fault(Fault::Cut(1_000_000), &bytes(), 1);
    scene.hub.fault(Fault::Status(503), &bytes(), 10);
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Unavailable { .. }), "{error}");
    assert_eq!(scene.names("blobs").len(), 1);
    let part = Content::generated(7, SIZE).sha256().to_owned() + ".incomplete";
    assert_eq!(std::fs::metadata(scene.at("blobs").join(part)).unwrap().len(), 1_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_hub_is_reported() {
    let mut scene = scene();
    scene.settings.endpoint = "http://127.0.0.1:9".parse().unwrap();
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error}");
    assert!(with_remedy(&error).contains("HF_ENDPOINT"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_was_damaged_on_the_disk_is_discarded() {
    let scene = scene();
    let part = Content::generated(7, SIZE).sha256().to_owned() + ".incomplete";
    std::fs::create_dir_all(scene.at("blobs")).unwrap();
    std::fs::write(scene.at("blobs").join(part), vec![0; 2 << 20]).unwrap();
    let went = scene.main().await;
    assert_eq!(went.discarded().len(), 1);
    let fetched = went.fetched();
    is_right(&fetched);
    assert_eq!(fetched.bytes_fetched, (2 << 20) + SIZE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_connection_is_closed() {
    let mut scene = scene();
    scene.settings.read_timeout = Duration::from_secs(2);
    scene.hub.fault(Fault::Stall(1_000_000), &bytes(), 1);
    let went = scene.main().await;
    assert_eq!(went.retries().len(), 1, "{:?}", went.progress);
    let fetched = went.fetched();
    is_right(&fetched);
    assert_eq!(fetched.bytes_fetched, SIZE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_download_leaves_a_partial_file() {
    let scene = scene();
    scene.hub.fault(Fault::Stall(1_000_000), &bytes(), 1);
    let stop = CancellationToken::new();
    let part =
        scene.at("blobs").join(Content::generated(7, SIZE).sha256().to_owned() + ".incomplete");
    let main = model_spec("main");
    let stopper = async {
        while std::fs::metadata(&part).map_or(0, |part| part.len()) < 1_000_000 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (went, ()) = tokio::join!(scene.fetch_until(&main, &stop), stopper);
    assert!(matches!(went.error(), FetchError::Stopped));
    scene.hub.release();
    let fetched = scene.main().await.fetched();
    is_right(&fetched);
    assert_eq!(fetched.bytes_fetched, SIZE - 1_000_000);
}

//! Ours and the Python client on one cache: each takes what the other fetched, and waits for it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use retrial_hub::FetchProgress;
use tokio_util::sync::CancellationToken;

use super::scene::{NAME, Scene, model_spec};
use crate::hub::{At, Fault, Repository};
use crate::support::needs::find_python;

const FILE: &str = "model-00001-of-00002.safetensors";
const SIZE: u64 = 2 << 20;

fn scene() -> (Scene, PathBuf) {
    let mut scene = Scene::new(Repository::sharded(NAME, 2, SIZE));
    // A stalled connection must outlast the start of Python on a busy machine.
    scene.settings.read_timeout = Duration::from_mins(1);
    (scene, find_python(&[]))
}

/// A script with the same cache and the same hub.
fn start(scene: &Scene, python: &PathBuf, offline: bool, text: &str) -> Child {
    let text = format!("from huggingface_hub import *\n{text}");
    Command::new(python)
        .args(["-c", &text])
        .env("HF_ENDPOINT", scene.hub.endpoint())
        .env("HF_HUB_CACHE", scene.cache())
        .env("HF_HOME", scene.directory.path())
        .env("HF_HUB_OFFLINE", if offline { "1" } else { "0" })
        .env("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        .env("HF_HUB_DISABLE_TELEMETRY", "1")
        .env_remove("HF_TOKEN")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn stdout(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

const SNAPSHOT: &str = "print(snapshot_download('owner/model'))";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the lab"]
async fn python_uses_files_we_fetched() {
    let (scene, python) = scene();
    let fetched = scene.main().await.fetched();
    let directory = fetched.directory.display().to_string();
    assert_eq!(stdout(start(&scene, &python, true, SNAPSHOT)), directory);
    let download = format!("print(hf_hub_download('owner/model', '{FILE}'))");
    let path = stdout(start(&scene, &python, true, &download));
    assert_eq!(path, format!("{directory}/{FILE}"));
    let scan = "cache = scan_cache_dir()\nprint([str(warning) for warning in cache.warnings], [(repo.repo_id, repo.nb_files, repo.size_on_disk) for repo in cache.repos])";
    let expected = format!("[] [('owner/model', 5, {})]", fetched.total_bytes());
    assert_eq!(stdout(start(&scene, &python, true, scan)), expected);
    // Online too: nothing comes again.
    assert_eq!(stdout(start(&scene, &python, false, SNAPSHOT)), directory);
    for file in &fetched.files {
        assert_eq!(scene.hub.downloads(NAME, &file.path), 1, "{}", file.path);
    }
    // It detects the missing file by our listing.
    std::fs::remove_file(fetched.directory.join(FILE)).unwrap();
    let lacks = "from huggingface_hub.errors import IncompleteSnapshotError\ntry:\n    snapshot_download('owner/model')\nexcept IncompleteSnapshotError as error:\n    print(error)";
    let message = stdout(start(&scene, &python, true, lacks));
    assert!(message.contains(FILE), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the lab"]
async fn we_use_files_python_fetched() {
    let (mut scene, python) = scene();
    let directory = stdout(start(&scene, &python, false, SNAPSHOT));
    let fetched = scene.main().await.fetched();
    assert_eq!((fetched.directory.display().to_string(), fetched.bytes_fetched), (directory, 0));
    assert_eq!(scene.hub.downloads(NAME, FILE), 1);
    scene.settings.offline = true;
    assert_eq!(scene.main().await.fetched().files, fetched.files);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the lab"]
async fn we_wait_for_python() {
    let (scene, python) = scene();
    scene.hub.fault(Fault::Stall(700_000), &At::bytes(NAME, FILE), 1);
    let other = start(&scene, &python, false, SNAPSHOT);
    while scene.hub.sent(NAME, FILE) < 700_000 {
        tokio::task::yield_now().await;
    }
    let waits = std::cell::Cell::new(false);
    let observe = |event: &FetchProgress| {
        if matches!(event, FetchProgress::Waiting { path, .. } if path == FILE) {
            waits.set(true);
            scene.hub.release();
        }
    };
    let (main, stop) = (model_spec("main"), CancellationToken::new());
    let went = scene.fetch_observed(&main, &stop, observe).await;
    assert!(waits.get(), "{:?}", went.progress);
    went.fetched();
    stdout(other);
    assert_eq!(scene.hub.downloads(NAME, FILE), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the lab"]
async fn python_waits_for_us() {
    let (scene, python) = scene();
    scene.hub.fault(Fault::Stall(700_000), &At::bytes(NAME, FILE), 1);
    let python = async {
        while scene.hub.sent(NAME, FILE) < 700_000 {
            tokio::task::yield_now().await;
        }
        let other = start(&scene, &python, false, SNAPSHOT);
        // It has requested the file's head, and would request its bytes next.
        let heads = || {
            let requests = scene.hub.requests();
            let head = |request: &&crate::hub::Request| {
                request.method == "HEAD" && request.file.as_deref() == Some(FILE)
            };
            requests.iter().filter(head).count()
        };
        while heads() == 0 {
            tokio::task::yield_now().await;
        }
        scene.hub.release();
        tokio::task::spawn_blocking(|| stdout(other)).await.unwrap()
    };
    let (went, directory) = tokio::join!(scene.main(), python);
    assert_eq!(went.fetched().directory.display().to_string(), directory);
    assert_eq!(scene.hub.downloads(NAME, FILE), 1);
}

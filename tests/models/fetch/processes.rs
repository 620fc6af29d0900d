//! More than one process: killed and resumed, and two that share the work.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use retrial_hub::{FetchProgress, Hub as Client};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::scene::{NAME, Scene, content, model_spec};
use crate::hub::{At, Content, Fault, Repository};
use crate::support::wait::wait_until_async;

const FILE: &str = "model-00001-of-00003.safetensors";
const SIZE: u64 = 2 << 20;

/// The other process: this program again, with the model to fetch in the environment.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "is started by the tests below"]
async fn child() {
    let client = Client::from_environment().unwrap();
    let (to, mut events) = unbounded_channel();
    let telling = tokio::spawn(async move {
        while let Some(progress) = events.recv().await {
            if let FetchProgress::Waiting { path, holder } = progress {
                println!("\nwaiting {path} {holder}");
            }
        }
    });
    let stop = CancellationToken::new();
    let snapshot = client.resolve_snapshot(&model_spec("main"), &to, &stop).await.unwrap();
    let fetched = client.fetch_snapshot(&snapshot, &to, &stop).await.unwrap();
    drop(to);
    telling.await.unwrap();
    println!("\nfetched {}", fetched.bytes_fetched);
}

fn other(scene: &Scene) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "fetch::processes::child", "--nocapture"])
        .env("HF_ENDPOINT", scene.hub.endpoint())
        .env("HF_HUB_CACHE", scene.cache())
        .env("HF_HOME", scene.directory.path())
        .env_remove("HF_TOKEN")
        .env_remove("HF_HUB_OFFLINE")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The rest of the first line that begins so.
fn line(lines: &mut impl Iterator<Item = String>, begins: &str) -> String {
    let found = lines.find(|line| line.starts_with(begins));
    found.unwrap()[begins.len()..].trim().to_owned()
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok)
}

fn scene() -> Scene {
    Scene::new(Repository::sharded(NAME, 3, SIZE))
}

async fn until_sent(scene: &Scene, bytes: u64) {
    let part = Content::generated(1, SIZE).sha256().to_owned() + ".incomplete";
    let part = scene.at("blobs").join(part);
    wait_until_async("the bytes have arrived", async || {
        std::fs::metadata(&part).is_ok_and(|part| part.len() >= bytes)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_download_is_resumed() {
    let scene = scene();
    scene.hub.fault(Fault::Stall(700_000), &At::bytes(NAME, FILE), 1);
    let mut killed = other(&scene);
    until_sent(&scene, 700_000).await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    scene.hub.forget();
    let fetched = scene.main().await.fetched();
    assert!(content(&fetched, FILE) == Content::generated(1, SIZE).to_vec());
    assert_eq!(scene.hub.sent(NAME, FILE), SIZE - 700_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_the_work_and_report_waiting() {
    let scene = scene();
    scene.hub.fault(Fault::Stall(700_000), &At::bytes(NAME, FILE), 1);
    let mut first = other(&scene);
    until_sent(&scene, 700_000).await;
    let mut second = other(&scene);
    let mut output = lines(&mut second);
    let waits = line(&mut output, "waiting");
    assert!(waits.starts_with(FILE), "{waits}");
    assert!(waits.contains("process"), "{waits}");
    scene.hub.release();
    let came: u64 = line(&mut output, "fetched").parse().unwrap();
    let mut others = lines(&mut first);
    let others_came: u64 = line(&mut others, "fetched").parse().unwrap();
    // To the end: a closed pipe would break them.
    let _ = (output.count(), others.count());
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    let all = scene.main().await.fetched();
    assert_eq!((came + others_came, all.bytes_fetched), (all.total_bytes(), 0));
    for file in &all.files {
        assert_eq!(scene.hub.downloads(NAME, &file.path), 1, "{}", file.path);
    }
}

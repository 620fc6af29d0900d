//! A model of the hub: ours, which hashes while it fetches, against `hf download` and then
//! `sha256sum` of every file. A hub on loopback, a cache of its own each time.
//!
//! The target is 1.0 times the two commands, for 4 GB in 20 files. `FETCH_BENCH_MB` makes it less.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

#[path = "../tests/hub/mod.rs"]
mod hub;
#[path = "../tests/support/mod.rs"]
mod needed;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hub::{Hub, Repository};
use needed::needs::find_python;
use retrial_hub::{Hub as Client, ModelSpec};
use support::paired::{self, Pairs, timed};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

const PAIRS: usize = 7;
const FILES: u64 = 20;
const NAME: &str = "owner/model";

fn main() {
    if std::env::var_os("FETCH_AS_CHILD").is_some() {
        return fetch();
    }
    let python = find_python(&[]);
    let megabytes: u64 = std::env::var("FETCH_BENCH_MB").map_or(4000, |text| text.parse().unwrap());
    let hub = Hub::start();
    hub.add(Repository::sharded(NAME, FILES, megabytes * 1_000_000 / FILES));
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("a model of {megabytes} MB in {FILES} files  ({})", paired::machine());
    let pairs = Pairs::run(
        PAIRS,
        || {
            let home = tempfile::tempdir().unwrap();
            let mut ours = Command::new(std::env::current_exe().unwrap());
            timed(|| must(environment(&mut ours, &hub, home.path()).env("FETCH_AS_CHILD", "1")))
        },
        || {
            let home = tempfile::tempdir().unwrap();
            let mut hf = Command::new(python.with_file_name("hf"));
            hf.args(["download", NAME, "--quiet"]);
            timed(|| {
                must(environment(&mut hf, &hub, home.path()));
                must(Command::new("sha256sum").args(blobs(home.path())));
            })
        },
    );
    pairs.report("retrial's fetch", "hf download, then sha256sum", Some(1.0));
}

/// What `run` does for a model, in a process of its own.
fn fetch() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let model = ModelSpec {
            repository: NAME.to_owned(),
            revision: "main".to_owned(),
            ..ModelSpec::default()
        };
        let (to, mut events) = unbounded_channel();
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        let stop = CancellationToken::new();
        let client = Client::from_environment().unwrap();
        let snapshot = client.resolve_snapshot(&model, &to, &stop).await.unwrap();
        client.fetch_snapshot(&snapshot, &to, &stop).await.unwrap();
    });
}

fn environment<'a>(command: &'a mut Command, hub: &Hub, home: &Path) -> &'a mut Command {
    command
        .env("HF_ENDPOINT", hub.endpoint())
        .env("HF_HOME", home)
        .env("HF_HUB_CACHE", home.join("hub"))
        .env("HF_HUB_DISABLE_TELEMETRY", "1")
        .env("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        .env_remove("HF_TOKEN")
        .env_remove("HF_HUB_OFFLINE")
}

fn blobs(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.join("hub/models--owner--model/blobs")).unwrap();
    let blobs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(blobs.len() as u64 > FILES, "{blobs:?}");
    blobs
}

fn must(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

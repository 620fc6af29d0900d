//! A hub, an empty cache, and the progress events of a fetch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use retrial_hub::{
    FetchError, FetchProgress, FetchedModel, Hub as Client, HubSettings, ModelSpec, Token,
};
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::hub::{Hub, Repository};

pub const NAME: &str = "owner/model";

pub struct Scene {
    pub hub: Hub,
    pub directory: TempDir,
    pub settings: HubSettings,
}

/// How a fetch went.
#[derive(Debug)]
pub struct Went {
    pub result: Result<FetchedModel, FetchError>,
    pub progress: Vec<FetchProgress>,
}

pub fn model_spec(revision: &str) -> ModelSpec {
    ModelSpec { repository: NAME.to_owned(), revision: revision.to_owned(), ..ModelSpec::default() }
}

impl Scene {
    pub fn new(repository: Repository) -> Self {
        let hub = Hub::start();
        hub.add(repository);
        let directory = tempfile::tempdir().unwrap();
        let mut settings = HubSettings::new(hub.endpoint(), directory.path().join("hub")).unwrap();
        settings.token_path = PathBuf::from("/home/me/.cache/huggingface/token");
        settings.retry_delay = Duration::from_millis(1);
        settings.read_timeout = Duration::from_secs(5);
        Self { hub, directory, settings }
    }

    pub fn token(mut self, value: &str) -> Self {
        self.settings.token = Some(Token::new(value, "HF_TOKEN"));
        self
    }

    pub fn cache(&self) -> &Path {
        &self.settings.cache
    }

    /// A file of the repository's folder in the cache.
    pub fn at(&self, relative: &str) -> PathBuf {
        self.cache().join("models--owner--model").join(relative)
    }

    /// Names of the files in a folder of the repository's.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.at(folder)) else {
            return Vec::new();
        };
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub async fn main(&self) -> Went {
        self.fetch(&model_spec("main")).await
    }

    pub async fn fetch(&self, model: &ModelSpec) -> Went {
        self.fetch_until(model, &CancellationToken::new()).await
    }

    pub async fn fetch_until(&self, model: &ModelSpec, stop: &CancellationToken) -> Went {
        self.fetch_observed(model, stop, |_| {}).await
    }

    /// Fetches, and calls `observe` with each event as it arrives.
    pub async fn fetch_observed(
        &self,
        model: &ModelSpec,
        stop: &CancellationToken,
        observe: impl Fn(&FetchProgress),
    ) -> Went {
        let (to, mut events) = unbounded_channel();
        let work = async {
            let client = Client::new(self.settings.clone())?;
            let snapshot = client.resolve_snapshot(model, &to, stop).await?;
            client.fetch_snapshot(&snapshot, &to, stop).await
        };
        tokio::pin!(work);
        let mut progress = Vec::new();
        let mut record = |event| {
            observe(&event);
            progress.push(event);
        };
        let result = loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => record(event),
                result = &mut work => break result,
            }
        };
        while let Ok(event) = events.try_recv() {
            record(event);
        }
        Went { result, progress }
    }
}

impl Went {
    #[track_caller]
    pub fn fetched(self) -> FetchedModel {
        self.result.unwrap_or_else(|error| panic!("{error}\n{:?}", self.progress))
    }

    #[track_caller]
    pub fn error(self) -> FetchError {
        self.result.unwrap_err()
    }

    pub fn retries(&self) -> Vec<&str> {
        let mut reasons = Vec::new();
        for event in &self.progress {
            if let FetchProgress::Retry { reason, .. } = event {
                reasons.push(reason.as_str());
            }
        }
        reasons
    }

    pub fn discarded(&self) -> Vec<&str> {
        let mut reasons = Vec::new();
        for event in &self.progress {
            if let FetchProgress::Discarded { reason, .. } = event {
                reasons.push(reason.as_str());
            }
        }
        reasons
    }
}

/// What a file of a fetched model holds, read by its name in the commit.
pub fn content(fetched: &FetchedModel, path: &str) -> Vec<u8> {
    std::fs::read(fetched.directory.join(path)).unwrap()
}

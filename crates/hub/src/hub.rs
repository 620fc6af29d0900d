//! The hub and its cache: the commit of a revision, and its files on this machine.

use std::collections::BTreeMap;
use std::fs;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::blobs::{BlobFetcher, find_cached_blob};
use crate::cache::RepositoryCache;
use crate::classify::{HubRequest, repository_page};
use crate::digest::Digest;
use crate::error::FetchError;
use crate::listing::{self, ModelSnapshot};
use crate::model::{FetchedFile, FetchedModel, ModelSpec};
use crate::pattern;
use crate::progress::{DownloadState, FetchProgress, FileProgressReporter};
use crate::settings::HubSettings;
use crate::space;
use crate::transport::{Connection, Transport};
use crate::tree::{CommitTree, RemoteFile};
use crate::xet::XetStore;

/// A hub, and its cache on this machine.
#[derive(Debug)]
pub struct Hub {
    transport: Transport,
}

impl Hub {
    /// The hub that the environment names.
    ///
    /// # Errors
    /// If the endpoint is invalid, or as [`Hub::new`].
    pub fn from_environment() -> Result<Self, FetchError> {
        Self::new(HubSettings::from_environment()?)
    }

    /// The hub that the settings name.
    ///
    /// # Errors
    /// If the HTTP client cannot be set up.
    pub fn new(settings: HubSettings) -> Result<Self, FetchError> {
        let transport = Transport::new(settings)?;
        Ok(Self { transport })
    }

    pub fn settings(&self) -> &HubSettings {
        &self.transport.settings
    }

    /// Resolves a revision to its commit and the selected files. Offline: from the cache.
    ///
    /// # Errors
    /// If the hub does not have it, refuses it, or does not answer.
    pub async fn resolve_snapshot(
        &self,
        model: &ModelSpec,
        progress: &UnboundedSender<FetchProgress>,
        stop: &CancellationToken,
    ) -> Result<ModelSnapshot, FetchError> {
        listing::check_names(&model.repository, &model.revision)?;
        let cache = self.repository_cache(&model.repository);
        if self.settings().offline {
            return self.cached_snapshot(&cache, model, progress);
        }
        let (repository, revision) = (&model.repository, &model.revision);
        let request_at = |revision| HubRequest { repository, revision, path: None };
        let connection = self.connect(progress, stop);
        // A commit that was listed before needs no request.
        let is_listed = cache.read_ref(revision).as_ref() == Some(revision)
            && CommitTree::read(&cache, revision).is_some();
        let commit = if is_listed {
            revision.clone()
        } else {
            listing::fetch_commit(&connection, &request_at(revision)).await?
        };
        let request = request_at(&commit);
        let tree = listing::load_tree(&connection, &cache, &request).await?;
        let files =
            tree.remote_files().map_err(|error| request.malformed_answer(&error.to_string()))?;
        self.select_files(model, commit, files)
    }

    /// As [`Self::resolve_snapshot`], for a question that nobody stops and whose attempts and waits are not shown.
    ///
    /// # Errors
    /// As [`Self::resolve_snapshot`].
    pub async fn resolve_unreported(&self, model: &ModelSpec) -> Result<ModelSnapshot, FetchError> {
        let (progress, _unread) = unbounded_channel();
        self.resolve_snapshot(model, &progress, &CancellationToken::new()).await
    }

    /// Checks that the hub serves a revision's files to this account, before anything else is
    /// downloaded. Needs no request for a commit in the cache, and else reads a single byte.
    ///
    /// # Errors
    /// If the hub refuses them or does not answer.
    pub async fn check_access(&self, model: &ModelSpec) -> Result<(), FetchError> {
        listing::check_names(&model.repository, &model.revision)?;
        let cache = self.repository_cache(&model.repository);
        let commit = cache.read_ref(&model.revision);
        if commit.is_some_and(|commit| CommitTree::read(&cache, &commit).is_some()) {
            return Ok(());
        }
        listing::check_access(&self.transport, &model.repository, &model.revision).await
    }

    /// Returns the bytes of a snapshot that a download would still fetch.
    pub fn missing_bytes(&self, snapshot: &ModelSnapshot) -> u64 {
        let cache = self.repository_cache(&snapshot.repository);
        count_missing_bytes(&cache, &distinct_files(snapshot))
    }

    /// Downloads the missing files of a snapshot, and verifies all of them.
    ///
    /// # Errors
    /// If there is not enough space, the hub does not serve a file, or it never matches its hash.
    pub async fn fetch_snapshot(
        &self,
        snapshot: &ModelSnapshot,
        progress: &UnboundedSender<FetchProgress>,
        stop: &CancellationToken,
    ) -> Result<FetchedModel, FetchError> {
        if self.settings().offline {
            return self.verify_cached_snapshot(snapshot, progress, stop).await;
        }
        let cache = self.repository_cache(&snapshot.repository);
        let files = distinct_files(snapshot);
        let missing = count_missing_bytes(&cache, &files);
        space::check_free_space(&self.settings().cache, &snapshot.repository, missing)?;
        for file in &files {
            FileProgressReporter::new(progress, &file.path, file.size)
                .report_state(DownloadState::Waiting, 0);
        }
        // The first fault stops the others, as a stop from outside does.
        let transfers_stop = stop.child_token();
        let blobs = self.new_blobs(&cache, snapshot, self.connect(progress, &transfers_stop))?;
        // Files that another process downloads come last: until then there is other work.
        let (first, busy) = blobs.populate_blobs(files, false).await?;
        let (rest, _) = blobs.populate_blobs(busy, true).await?;
        link_snapshot(&cache, snapshot, first + rest)
    }

    fn connect<'a>(
        &'a self,
        progress: &'a UnboundedSender<FetchProgress>,
        stop: &'a CancellationToken,
    ) -> Connection<'a> {
        Connection { transport: &self.transport, progress, stop }
    }

    fn repository_cache(&self, repository: &str) -> RepositoryCache {
        RepositoryCache::new(&self.settings().cache, repository)
    }

    fn new_blobs<'a>(
        &'a self,
        cache: &'a RepositoryCache,
        snapshot: &'a ModelSnapshot,
        connection: Connection<'a>,
    ) -> Result<BlobFetcher<'a>, FetchError> {
        let transport = &self.transport;
        let request = snapshot.file_request(None);
        let token_url = listing::api_url(transport, &request, "xet-read-token");
        let token = transport.authorization_header(&request)?;
        Ok(BlobFetcher {
            connection,
            xet: XetStore::new(self.settings(), token_url.into(), token),
            cache,
            snapshot,
        })
    }

    fn select_files(
        &self,
        model: &ModelSpec,
        commit: String,
        files: Vec<RemoteFile>,
    ) -> Result<ModelSnapshot, FetchError> {
        let ModelSpec { repository, revision, allow, ignore } = model.clone();
        let all = files.len();
        let is_selected = |file: &RemoteFile| pattern::is_selected(&file.path, &allow, &ignore);
        let selected_files: Vec<RemoteFile> = files.into_iter().filter(is_selected).collect();
        if selected_files.is_empty() {
            let page = repository_page(self.settings(), &repository);
            return Err(FetchError::NothingSelected {
                page: format!("{page}/tree/{commit}"),
                repository,
                commit,
                files: all,
                patterns: format!("allow {allow:?}, ignore {ignore:?}"),
            });
        }
        Ok(ModelSnapshot { repository, revision, commit, files: selected_files })
    }

    /// The snapshot of a revision, from the cache.
    fn cached_snapshot(
        &self,
        cache: &RepositoryCache,
        model: &ModelSpec,
        progress: &UnboundedSender<FetchProgress>,
    ) -> Result<ModelSnapshot, FetchError> {
        let not_cached = || FetchError::NotCached {
            repository: model.repository.clone(),
            revision: model.revision.clone(),
            cache: cache.root().to_owned(),
        };
        let commit = cache.read_ref(&model.revision).ok_or_else(not_cached)?;
        if let Some(Ok(files)) = CommitTree::read(cache, &commit).map(|tree| tree.remote_files()) {
            return self.select_files(model, commit, files);
        }
        // Older clients write no listing: only the linked files are known.
        let mut files = Vec::new();
        for (path, digest) in cache.list_linked_files(&commit).map_err(|_| not_cached())? {
            let blob = digest.and_then(|digest| {
                let blob = fs::metadata(cache.blob_path(&digest)).ok()?;
                Some((digest, blob.len()))
            });
            let Some((digest, size)) = blob else {
                return Err(incomplete_error(cache, &model.repository, &commit, vec![path]));
            };
            files.push(RemoteFile { path, size, digest, xet_hash: None });
        }
        // Without a listener the download continues.
        let _ = progress.send(FetchProgress::Warning(format!(
            "the cache has no listing of {} at {commit}: missing files cannot be detected",
            model.repository
        )));
        self.select_files(model, commit, files)
    }

    /// Verifies a snapshot that has to be complete in the cache.
    async fn verify_cached_snapshot(
        &self,
        snapshot: &ModelSnapshot,
        progress: &UnboundedSender<FetchProgress>,
        stop: &CancellationToken,
    ) -> Result<FetchedModel, FetchError> {
        let (repository, commit) = (&snapshot.repository, &snapshot.commit);
        let cache = self.repository_cache(repository);
        let blobs = self.new_blobs(&cache, snapshot, self.connect(progress, stop))?;
        let missing = blobs.find_missing().await?;
        if missing.is_empty() {
            return link_snapshot(&cache, snapshot, 0);
        }
        Err(incomplete_error(&cache, repository, commit, missing))
    }
}

fn incomplete_error(
    cache: &RepositoryCache,
    repository: &str,
    commit: &str,
    files: Vec<String>,
) -> FetchError {
    FetchError::Incomplete {
        repository: repository.to_owned(),
        commit: commit.to_owned(),
        cache: cache.root().to_owned(),
        files,
    }
}

/// Links every file of a snapshot to its blob.
fn link_snapshot(
    cache: &RepositoryCache,
    snapshot: &ModelSnapshot,
    bytes_fetched: u64,
) -> Result<FetchedModel, FetchError> {
    let mut files = Vec::new();
    for file in &snapshot.files {
        cache.link_to_blob(&snapshot.commit, &file.path, &file.digest)?;
        let blob = cache.blob_path(&file.digest);
        files.push(FetchedFile {
            path: file.path.clone(),
            // The Python client's blob may be a link into its store for all repositories.
            blob: fs::canonicalize(&blob).map_err(FetchError::io("read", &blob))?,
            size: file.size,
            digest: file.digest.clone(),
        });
    }
    cache.write_ref(&snapshot.revision, &snapshot.commit)?;
    Ok(FetchedModel {
        repository: snapshot.repository.clone(),
        revision: snapshot.revision.clone(),
        commit: snapshot.commit.clone(),
        cache: cache.root().to_owned(),
        directory: cache.snapshot_directory(&snapshot.commit),
        files,
        bytes_fetched,
    })
}

/// Bytes of files that are not in the cache, less those received already.
fn count_missing_bytes(cache: &RepositoryCache, files: &[&RemoteFile]) -> u64 {
    let absent = files.iter().filter(|file| find_cached_blob(cache, file).is_none());
    let missing = absent.map(|file| {
        let received =
            fs::metadata(cache.partial_path(&file.digest)).map_or(0, |partial| partial.len());
        file.size.saturating_sub(received)
    });
    missing.sum()
}

/// One file of each content: a repository may hold the same bytes under several names.
fn distinct_files(snapshot: &ModelSnapshot) -> Vec<&RemoteFile> {
    let mut by_digest: BTreeMap<&Digest, &RemoteFile> = BTreeMap::new();
    for file in &snapshot.files {
        by_digest.entry(&file.digest).or_insert(file);
    }
    let mut files: Vec<&RemoteFile> = by_digest.into_values().collect();
    // Large files first, so that the last connection does not carry one alone.
    files.sort_by_key(|file| (std::cmp::Reverse(file.size), &file.path));
    files
}

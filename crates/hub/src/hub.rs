//! The hub and its cache: the commit of a revision, and its files on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::blobs::{BlobFetcher, present};
use crate::cache::RepositoryCache;
use crate::classify::{HubRequest, page};
use crate::digest::Digest;
use crate::error::FetchError;
use crate::listing::{self, ModelSnapshot};
use crate::pattern;
use crate::progress::{FileProgressReporter, Progress, TransferState};
use crate::settings::HubSettings;
use crate::space;
use crate::transport::{Connection, Transport};
use crate::tree::{CommitTree, RemoteFile};
use crate::xet::XetStore;

/// A model: a repository, a revision, and a selection of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSpec {
    /// `owner/name`
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Patterns of files to download; all if empty.
    pub allow: Vec<String>,
    /// Patterns of files to leave out.
    pub ignore: Vec<String>,
}

/// A commit's files on this machine, each verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedModel {
    /// `owner/name`
    pub repository: String,
    /// The branch, tag or commit that was requested.
    pub revision: String,
    /// The commit of that revision, 40 hexadecimal digits.
    pub commit: String,
    /// The directory of the hub's cache on this machine.
    pub cache: PathBuf,
    /// The commit's directory in it: links to the blobs.
    pub directory: PathBuf,
    /// The files, by path.
    pub files: Vec<FetchedFile>,
    /// Bytes that were fetched from the hub.
    pub bytes_fetched: u64,
}

/// A file of the commit on this machine, verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes: a regular file, shared with every program that uses the cache.
    pub blob: PathBuf,
    /// Its size, bytes.
    pub size: u64,
    /// The hash of its bytes.
    pub digest: Digest,
}

impl FetchedModel {
    /// Returns the bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

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

    /// Returns the settings in use.
    pub fn settings(&self) -> &HubSettings {
        &self.transport.settings
    }

    /// Resolves a revision to its commit and the selected files. Offline: from the cache.
    ///
    /// # Errors
    /// If the hub does not have it, refuses it, or does not answer.
    pub async fn resolve(
        &self,
        model: &ModelSpec,
        progress: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<ModelSnapshot, FetchError> {
        listing::check_names(&model.repository, &model.revision)?;
        let cache = self.cache_of(&model.repository);
        if self.settings().offline {
            return self.cached_snapshot(&cache, model, progress);
        }
        let (repository, revision) = (&model.repository, &model.revision);
        let request = |revision| HubRequest {
            repository,
            revision,
            path: None,
        };
        let connection = self.connection(progress, stop);
        // A commit that was listed before needs no request.
        let is_listed = cache.read_ref(revision).as_ref() == Some(revision)
            && CommitTree::read(&cache, revision).is_some();
        let commit = if is_listed {
            revision.clone()
        } else {
            listing::commit(&connection, &request(revision)).await?
        };
        let request = request(&commit);
        let tree = listing::tree(&connection, &cache, &request).await?;
        let files = tree.files().map_err(|reason| request.malformed(&reason))?;
        self.select(model, commit, files)
    }

    /// As [`Self::resolve`], for a question that nobody stops and whose attempts and waits are not shown.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub async fn look_up(&self, model: &ModelSpec) -> Result<ModelSnapshot, FetchError> {
        let (progress, _unread) = unbounded_channel();
        self.resolve(model, &progress, &CancellationToken::new())
            .await
    }

    /// Checks that the hub serves a revision's files to this account, before anything else is
    /// downloaded. Needs no request for a commit in the cache, and else reads a single byte.
    ///
    /// # Errors
    /// If the hub refuses them or does not answer.
    pub async fn check_access(&self, model: &ModelSpec) -> Result<(), FetchError> {
        listing::check_names(&model.repository, &model.revision)?;
        let cache = self.cache_of(&model.repository);
        let commit = cache.read_ref(&model.revision);
        if commit.is_some_and(|commit| CommitTree::read(&cache, &commit).is_some()) {
            return Ok(());
        }
        listing::check_access(&self.transport, &model.repository, &model.revision).await
    }

    /// Returns the bytes of a snapshot that a download would still fetch.
    pub fn missing(&self, snapshot: &ModelSnapshot) -> u64 {
        let cache = self.cache_of(&snapshot.repository);
        missing(&cache, &distinct(snapshot))
    }

    /// Downloads the missing files of a snapshot, and verifies all of them.
    ///
    /// # Errors
    /// If there is not enough space, the hub does not serve a file, or it never matches its hash.
    pub async fn fetch(
        &self,
        snapshot: &ModelSnapshot,
        progress: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<FetchedModel, FetchError> {
        if self.settings().offline {
            return self.verify_cached(snapshot, progress, stop).await;
        }
        let cache = self.cache_of(&snapshot.repository);
        let files = distinct(snapshot);
        let missing = missing(&cache, &files);
        space::check(&self.settings().cache, &snapshot.repository, missing)?;
        for file in &files {
            FileProgressReporter::new(progress, &file.path, file.size)
                .report(TransferState::Waiting, 0);
        }
        // The first fault stops the others, as a stop from outside does.
        let stop = stop.child_token();
        let blobs = self.blobs(&cache, snapshot, self.connection(progress, &stop))?;
        // Files that another process downloads come last: until then there is other work.
        let (first, busy) = blobs.populate(files, false).await?;
        let (rest, _) = blobs.populate(busy, true).await?;
        link(&cache, snapshot, first + rest)
    }

    fn connection<'a>(
        &'a self,
        progress: &'a UnboundedSender<Progress>,
        stop: &'a CancellationToken,
    ) -> Connection<'a> {
        Connection {
            transport: &self.transport,
            progress,
            stop,
        }
    }

    fn cache_of(&self, repository: &str) -> RepositoryCache {
        RepositoryCache::new(&self.settings().cache, repository)
    }

    fn blobs<'a>(
        &'a self,
        cache: &'a RepositoryCache,
        snapshot: &'a ModelSnapshot,
        connection: Connection<'a>,
    ) -> Result<BlobFetcher<'a>, FetchError> {
        let transport = &self.transport;
        let request = snapshot.request(None);
        let token_url = listing::api_url(transport, &request, "xet-read-token");
        let token = transport.authorization(&request)?;
        Ok(BlobFetcher {
            connection,
            xet: XetStore::new(self.settings(), token_url.into(), token),
            cache,
            snapshot,
        })
    }

    /// Selects a commit's files.
    fn select(
        &self,
        model: &ModelSpec,
        commit: String,
        files: Vec<RemoteFile>,
    ) -> Result<ModelSnapshot, FetchError> {
        let ModelSpec {
            repository,
            revision,
            allow,
            ignore,
        } = model.clone();
        let all = files.len();
        let is_selected = |file: &RemoteFile| pattern::is_selected(&file.path, &allow, &ignore);
        let files: Vec<RemoteFile> = files.into_iter().filter(is_selected).collect();
        if files.is_empty() {
            let page = page(self.settings(), &repository);
            return Err(FetchError::NothingSelected {
                page: format!("{page}/tree/{commit}"),
                repository,
                commit,
                files: all,
                patterns: format!("allow {allow:?}, ignore {ignore:?}"),
            });
        }
        Ok(ModelSnapshot {
            repository,
            revision,
            commit,
            files,
        })
    }

    /// The snapshot of a revision, from the cache.
    fn cached_snapshot(
        &self,
        cache: &RepositoryCache,
        model: &ModelSpec,
        progress: &UnboundedSender<Progress>,
    ) -> Result<ModelSnapshot, FetchError> {
        let not_cached = || FetchError::NotCached {
            repository: model.repository.clone(),
            revision: model.revision.clone(),
            cache: cache.root().to_owned(),
        };
        let commit = cache.read_ref(&model.revision).ok_or_else(not_cached)?;
        if let Some(Ok(files)) = CommitTree::read(cache, &commit).map(|tree| tree.files()) {
            return self.select(model, commit, files);
        }
        // Older clients write no listing: only the linked files are known.
        let mut files = Vec::new();
        for (path, digest) in cache.linked(&commit).map_err(|_| not_cached())? {
            let blob = digest.and_then(|digest| {
                let blob = fs::metadata(cache.blob(&digest)).ok()?;
                Some((digest, blob.len()))
            });
            let Some((digest, size)) = blob else {
                return Err(incomplete(cache, &model.repository, &commit, vec![path]));
            };
            files.push(RemoteFile {
                path,
                size,
                digest,
                xet_hash: None,
            });
        }
        let _ = progress.send(Progress::Warning(format!(
            "the cache has no listing of {} at {commit}: missing files cannot be detected",
            model.repository
        )));
        self.select(model, commit, files)
    }

    /// Verifies a snapshot that has to be complete in the cache.
    async fn verify_cached(
        &self,
        snapshot: &ModelSnapshot,
        progress: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<FetchedModel, FetchError> {
        let (repository, commit) = (&snapshot.repository, &snapshot.commit);
        let cache = self.cache_of(repository);
        let blobs = self.blobs(&cache, snapshot, self.connection(progress, stop))?;
        let missing = blobs.missing().await?;
        if missing.is_empty() {
            return link(&cache, snapshot, 0);
        }
        Err(incomplete(&cache, repository, commit, missing))
    }
}

fn incomplete(
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
fn link(
    cache: &RepositoryCache,
    snapshot: &ModelSnapshot,
    bytes_fetched: u64,
) -> Result<FetchedModel, FetchError> {
    let mut files = Vec::new();
    for file in &snapshot.files {
        cache.link(&snapshot.commit, &file.path, &file.digest)?;
        let blob = cache.blob(&file.digest);
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
        directory: cache.snapshot(&snapshot.commit),
        files,
        bytes_fetched,
    })
}

/// Bytes of files that are not in the cache, less those received already.
fn missing(cache: &RepositoryCache, files: &[&RemoteFile]) -> u64 {
    let missing = files.iter().filter(|file| present(cache, file).is_none());
    let missing = missing.map(|file| {
        let received = fs::metadata(cache.partial(&file.digest)).map_or(0, |partial| partial.len());
        file.size.saturating_sub(received)
    });
    missing.sum()
}

/// One file of each content: a repository may hold the same bytes under several names.
fn distinct(snapshot: &ModelSnapshot) -> Vec<&RemoteFile> {
    let mut by_digest: BTreeMap<&Digest, &RemoteFile> = BTreeMap::new();
    for file in &snapshot.files {
        by_digest.entry(&file.digest).or_insert(file);
    }
    let mut files: Vec<&RemoteFile> = by_digest.into_values().collect();
    // Large files first, so that the last connection does not carry one alone.
    files.sort_by_key(|file| (std::cmp::Reverse(file.size), &file.path));
    files
}

//! The hub and its cache: what a revision is, and its files on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::cache::Place;
use crate::digest::Digest;
use crate::error::FetchError;
use crate::getter::{Getter, present};
use crate::listing::{self, RemoteFile, Snapshot};
use crate::pattern;
use crate::progress::{Progress, Teller, TransferState};
use crate::refusal::{Ask, page};
use crate::settings::Settings;
use crate::space;
use crate::transport::Transport;
use crate::tree::Tree;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `owner/name`
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Globs of files to fetch; all if empty.
    pub allow: Vec<String>,
    /// Globs of files to leave.
    pub ignore: Vec<String>,
}

/// A commit's files on this machine, each checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// `owner/name`
    pub repository: String,
    /// What was asked for.
    pub revision: String,
    /// What it is.
    pub commit: String,
    /// The hub's cache.
    pub cache: PathBuf,
    /// The commit's directory in it: links to the blobs.
    pub directory: PathBuf,
    /// The files, by path.
    pub files: Vec<FetchedFile>,
    /// Bytes that had to come.
    pub bytes_fetched: u64,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its bytes: a regular file, shared with every program that uses the cache.
    pub blob: PathBuf,
    /// Bytes.
    pub size: u64,
    /// What its bytes hash to.
    pub digest: Digest,
}

impl Fetched {
    /// Bytes in all.
    #[must_use]
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
    /// Where what it names is no hub.
    pub fn from_environment() -> Result<Self, FetchError> {
        Self::new(Settings::from_environment()?)
    }

    /// The hub that the settings name.
    ///
    /// # Errors
    /// Where the transport cannot be set up.
    pub fn new(settings: Settings) -> Result<Self, FetchError> {
        let transport = Transport::new(settings)?;
        Ok(Self { transport })
    }

    /// What the hub is reached by.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.transport.settings
    }

    /// The commit of a revision and its files that are wanted. Offline: what the cache knows.
    ///
    /// # Errors
    /// Where the hub has none, refuses it, or does not answer.
    pub async fn resolve(
        &self,
        wanted: &Wanted,
        to: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<Snapshot, FetchError> {
        listing::check_names(&wanted.repository, &wanted.revision)?;
        let place = self.place(&wanted.repository);
        if self.settings().offline {
            return self.known(&place, wanted, to);
        }
        let ask = Ask {
            repository: &wanted.repository,
            revision: &wanted.revision,
            path: None,
        };
        let commit = match place
            .commit(&wanted.revision)
            .filter(|commit| *commit == wanted.revision)
        {
            // A commit that was listed before needs no question.
            Some(commit) if Tree::read(&place, &commit).is_some() => commit,
            _ => listing::commit(&self.transport, &ask, to, stop).await?,
        };
        let ask = Ask {
            revision: &commit,
            ..ask
        };
        let tree = listing::tree(&self.transport, &place, &ask, to, stop).await?;
        let files = tree
            .files()
            .map_err(|because| listing::malformed(&ask, &because))?;
        self.chosen(wanted, commit, files)
    }

    /// Whether the hub gives the files of a revision to this account: asked for before anything
    /// else is fetched, and of the cache where that has the commit. Reads next to nothing.
    ///
    /// # Errors
    /// As it refuses them, or where it does not answer.
    pub async fn gives(&self, wanted: &Wanted) -> Result<(), FetchError> {
        listing::check_names(&wanted.repository, &wanted.revision)?;
        let place = self.place(&wanted.repository);
        if place
            .commit(&wanted.revision)
            .is_some_and(|commit| Tree::read(&place, &commit).is_some())
        {
            return Ok(());
        }
        listing::is_given(&self.transport, wanted).await
    }

    /// Fetches what lacks of a snapshot, and checks all of it.
    ///
    /// # Errors
    /// Where there is no room, the hub does not give it, or what it gives never matches.
    pub async fn fetch(
        &self,
        snapshot: &Snapshot,
        to: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        if self.settings().offline {
            return self.checked(snapshot, to, stop).await;
        }
        let place = self.place(&snapshot.repository);
        let files = distinct(snapshot);
        let lacking = files.iter().filter(|file| present(&place, file).is_none());
        let lacking = lacking.map(|file| {
            let before = fs::metadata(place.part(&file.digest)).map_or(0, |part| part.len());
            file.size.saturating_sub(before)
        });
        space::check(&self.settings().cache, &snapshot.repository, lacking.sum())?;
        for file in &files {
            Teller::new(to, &file.path, file.size).tell(TransferState::Waiting, 0);
        }
        let getter = self.getter(&place, snapshot, to, stop);
        // What another process fetches comes last: until then there is something else to do.
        let (mut came, busy) = getter.all(files, false).await?;
        came += getter.all(busy, true).await?.0;
        named(&place, snapshot, came)
    }

    /// What the cache has of a revision, checked, without asking the hub.
    ///
    /// # Errors
    /// Where it is not in the cache, or not whole: with the files that lack.
    pub async fn cached(&self, wanted: &Wanted) -> Result<Fetched, FetchError> {
        listing::check_names(&wanted.repository, &wanted.revision)?;
        let (to, _nobody) = unbounded_channel();
        let place = self.place(&wanted.repository);
        let snapshot = self.known(&place, wanted, &to)?;
        self.checked(&snapshot, &to, &CancellationToken::new())
            .await
    }

    fn getter<'a>(
        &'a self,
        place: &'a Place,
        snapshot: &'a Snapshot,
        to: &'a UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Getter<'a> {
        Getter {
            transport: &self.transport,
            place,
            snapshot,
            to,
            // The first fault ends the others; a stop from outside ends them too.
            stop: stop.child_token(),
        }
    }

    fn place(&self, repository: &str) -> Place {
        Place::new(&self.settings().cache, repository)
    }

    /// The files that are wanted.
    fn chosen(
        &self,
        wanted: &Wanted,
        commit: String,
        files: Vec<RemoteFile>,
    ) -> Result<Snapshot, FetchError> {
        let Wanted {
            repository,
            revision,
            allow,
            ignore,
        } = wanted.clone();
        let all = files.len();
        let is_wanted = |file: &RemoteFile| pattern::wanted(&file.path, &allow, &ignore);
        let files: Vec<RemoteFile> = files.into_iter().filter(is_wanted).collect();
        if files.is_empty() {
            let ask = Ask {
                repository: &repository,
                revision: &commit,
                path: None,
            };
            return Err(FetchError::NothingWanted {
                page: format!("{}/tree/{commit}", page(self.settings(), &ask)),
                repository,
                commit,
                files: all,
                patterns: format!("allow {allow:?}, ignore {ignore:?}"),
            });
        }
        Ok(Snapshot {
            repository,
            revision,
            commit,
            files,
        })
    }

    /// What the cache knows of a revision.
    fn known(
        &self,
        place: &Place,
        wanted: &Wanted,
        to: &UnboundedSender<Progress>,
    ) -> Result<Snapshot, FetchError> {
        let not_cached = || FetchError::NotCached {
            repository: wanted.repository.clone(),
            revision: wanted.revision.clone(),
            cache: place.cache().to_owned(),
        };
        let commit = place.commit(&wanted.revision).ok_or_else(not_cached)?;
        if let Some(Ok(files)) = Tree::read(place, &commit).map(|tree| tree.files()) {
            return self.chosen(wanted, commit, files);
        }
        // Older clients keep no listing: what has a name is all that is known.
        let mut files = Vec::new();
        for (path, digest) in place.named(&commit).map_err(|_| not_cached())? {
            let told = digest.and_then(|digest| {
                let size = fs::metadata(place.blob(&digest)).ok()?.len();
                Some(RemoteFile {
                    path: path.clone(),
                    size,
                    digest,
                })
            });
            files.push(told.ok_or_else(|| FetchError::Incomplete {
                repository: wanted.repository.clone(),
                commit: commit.clone(),
                cache: place.cache().to_owned(),
                files: vec![path],
            })?);
        }
        let _ = to.send(Progress::Warning(format!(
            "the cache has no listing of {} at {commit}: whether files lack cannot be told",
            wanted.repository
        )));
        self.chosen(wanted, commit, files)
    }

    /// A snapshot that the cache has to have whole.
    async fn checked(
        &self,
        snapshot: &Snapshot,
        to: &UnboundedSender<Progress>,
        stop: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let place = self.place(&snapshot.repository);
        let lacking = self.getter(&place, snapshot, to, stop).lacking().await?;
        if !lacking.is_empty() {
            return Err(FetchError::Incomplete {
                repository: snapshot.repository.clone(),
                commit: snapshot.commit.clone(),
                cache: place.cache().to_owned(),
                files: lacking,
            });
        }
        named(&place, snapshot, 0)
    }
}

/// Gives every blob its name, and says where everything is.
fn named(place: &Place, snapshot: &Snapshot, came: u64) -> Result<Fetched, FetchError> {
    let mut files = Vec::new();
    for file in &snapshot.files {
        place.name(&snapshot.commit, &file.path, &file.digest)?;
        let blob = place.blob(&file.digest);
        files.push(FetchedFile {
            path: file.path.clone(),
            // The Python client's blob may be a link into its store for all repositories.
            blob: fs::canonicalize(&blob).map_err(FetchError::io("look at", &blob))?,
            size: file.size,
            digest: file.digest.clone(),
        });
    }
    place.keep_commit(&snapshot.revision, &snapshot.commit)?;
    Ok(Fetched {
        repository: snapshot.repository.clone(),
        revision: snapshot.revision.clone(),
        commit: snapshot.commit.clone(),
        cache: place.cache().to_owned(),
        directory: place.snapshot(&snapshot.commit),
        files,
        bytes_fetched: came,
    })
}

/// One file of each content: a repository may hold the same bytes under several names.
fn distinct(snapshot: &Snapshot) -> Vec<&RemoteFile> {
    let mut of: BTreeMap<&Digest, &RemoteFile> = BTreeMap::new();
    for file in &snapshot.files {
        of.entry(&file.digest).or_insert(file);
    }
    let mut files: Vec<&RemoteFile> = of.into_values().collect();
    // The large ones first, so that the last connection does not carry one alone.
    files.sort_by(|one, other| {
        other
            .size
            .cmp(&one.size)
            .then_with(|| one.path.cmp(&other.path))
    });
    files
}

//! What a revision is: its commit, and the commit's files with sizes and hashes.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderMap, LINK};
use serde::Deserialize;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::cache::Place;
use crate::digest::{Digest, is_hex};
use crate::error::FetchError;
use crate::hub::Wanted;
use crate::progress::Progress;
use crate::refusal::{Ask, Trouble};
use crate::transport::Transport;
use crate::tree::{Entry, Tree};

/// More pages than any repository has.
const PAGES: usize = 10_000;

/// The files of a commit that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// `owner/name`
    pub repository: String,
    /// What was asked for.
    pub revision: String,
    /// What it is.
    pub commit: String,
    /// The files, by path.
    pub files: Vec<RemoteFile>,
}

/// One file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path in the repository.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// What its bytes hash to.
    pub digest: Digest,
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    oid: String,
    lfs: Option<Lfs>,
    #[serde(rename = "xetHash")]
    xet_hash: Option<String>,
}

#[derive(Deserialize)]
struct Lfs {
    oid: String,
    size: u64,
}

/// Whether a path stays beneath the snapshot's directory.
pub fn is_safe(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Whether a repository or a revision can be one, before it becomes part of paths and addresses.
pub fn check_names(repository: &str, revision: &str) -> Result<(), FetchError> {
    let wrong = |what, name: &str, because| {
        let name = name.to_owned();
        Err(FetchError::Name {
            what,
            name,
            because,
        })
    };
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let parts: Vec<&str> = repository.split('/').collect();
    if parts.len() > 2
        || parts
            .iter()
            .any(|part| part.is_empty() || !part.chars().all(named))
    {
        return wrong(
            "repository",
            repository,
            "it is written owner/name, in letters, digits, '-', '_' and '.'",
        );
    }
    if repository.contains("..") || repository.contains("--") || parts.contains(&".") {
        return wrong(
            "repository",
            repository,
            "neither '..' nor '--' can be in it",
        );
    }
    if !is_safe(revision) || revision.chars().any(char::is_control) {
        return wrong("revision", revision, "it is a branch, a tag or a commit");
    }
    Ok(())
}

/// The commit that a revision is.
pub async fn commit(
    transport: &Transport,
    ask: &Ask<'_>,
    to: &UnboundedSender<Progress>,
    stop: &CancellationToken,
) -> Result<String, FetchError> {
    let parts = ["api", "models"]
        .into_iter()
        .chain(ask.repository.split('/'));
    let url = transport.url(parts.chain(["revision", ask.revision]));
    let (_, body) = transport.whole(ask, &url, to, stop).await?;
    let answer: Revision =
        serde_json::from_slice(&body).map_err(|error| malformed(ask, &error.to_string()))?;
    if !is_hex(&answer.sha, 40) {
        return Err(malformed(ask, "it names no commit"));
    }
    Ok(answer.sha)
}

/// A file that nearly every model has. The lists of a gated repository are everybody's; only a
/// file tells who may read it, whether it is there or not.
const ANY_FILE: &str = "config.json";

/// Whether the hub gives files of a revision to whoever asks; one try.
pub async fn is_given(transport: &Transport, wanted: &Wanted) -> Result<(), FetchError> {
    let ask = Ask {
        repository: &wanted.repository,
        revision: &wanted.revision,
        path: Some(ANY_FILE),
    };
    let parts = ask.repository.split('/');
    let url = transport.url(parts.chain(["resolve", ask.revision, ANY_FILE]));
    match transport.open(&ask, url, Some("bytes=0-0")).await {
        Ok(_) => Ok(()),
        Err(Trouble::Lasting(FetchError::Missing { what, .. })) if what.starts_with(ANY_FILE) => {
            Ok(())
        }
        Err(Trouble::Lasting(error)) => Err(error),
        Err(Trouble::Passing { because, .. }) => Err(FetchError::Unreachable {
            endpoint: transport.settings.endpoint.to_string(),
            what: ask.words(),
            because,
        }),
    }
}

/// All files of a commit, from the cache or from the hub.
pub async fn tree(
    transport: &Transport,
    place: &Place,
    ask: &Ask<'_>,
    to: &UnboundedSender<Progress>,
    stop: &CancellationToken,
) -> Result<Tree, FetchError> {
    if let Some(tree) = Tree::read(place, ask.revision) {
        return Ok(tree);
    }
    let parts = ["api", "models"]
        .into_iter()
        .chain(ask.repository.split('/'));
    let mut url = transport.url(parts.chain(["tree", ask.revision]));
    url.set_query(Some("recursive=true&expand=false"));
    let mut files = BTreeMap::new();
    for _ in 0..PAGES {
        let (headers, body) = transport.whole(ask, &url, to, stop).await?;
        let page: Vec<Listed> =
            serde_json::from_slice(&body).map_err(|error| malformed(ask, &error.to_string()))?;
        files.extend(
            page.into_iter()
                .filter(|listed| listed.kind == "file")
                .map(entry),
        );
        let Some(next) = next(&headers, &url) else {
            let tree = Tree::new(files);
            tree.keep(place, ask.revision);
            return Ok(tree);
        };
        // The token goes with it: it has to be the hub's own.
        if next.origin() != url.origin() {
            return Err(malformed(ask, "its listing goes on at another host"));
        }
        url = next;
    }
    Err(malformed(ask, "its listing never ends"))
}

fn entry(listed: Listed) -> (String, Entry) {
    let entry = Entry {
        size: listed.lfs.as_ref().map_or(listed.size, |lfs| lfs.size),
        blob_id: listed.oid,
        lfs_size: listed.lfs.as_ref().map(|lfs| lfs.size),
        lfs_sha256: listed.lfs.map(|lfs| lfs.oid),
        xet_hash: listed.xet_hash,
    };
    (listed.path, entry)
}

/// `<https://…?cursor=…>; rel="next"`
fn next(headers: &HeaderMap, from: &Url) -> Option<Url> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links
        .split(',')
        .find(|link| link.contains("rel=\"next\""))?;
    let (_, address) = next.split_once('<')?;
    from.join(address.split_once('>')?.0).ok()
}

/// An answer that makes no sense.
pub fn malformed(ask: &Ask<'_>, because: &str) -> FetchError {
    FetchError::Malformed {
        what: ask.words(),
        because: because.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("owner/name", "main", true)]
    #[case("gpt2", "refs/pr/1", true)]
    #[case("owner/name/more", "main", false)]
    #[case("../name", "main", false)]
    #[case("owner/..", "main", false)]
    #[case("owner/a--b", "main", false)]
    #[case("owner/a b", "main", false)]
    #[case("", "main", false)]
    #[case("owner/name", "../../x", false)]
    #[case("owner/name", "/etc", false)]
    #[case("owner/name", "", false)]
    fn names(#[case] repository: &str, #[case] revision: &str, #[case] fine: bool) {
        assert_eq!(check_names(repository, revision).is_ok(), fine);
    }

    #[test]
    fn a_listing_stays_in_its_place() {
        for path in ["/etc/passwd", "a/../../b", "a//b", "a/.", "a\0b", ""] {
            assert!(!is_safe(path), "{path}");
        }
        assert!(is_safe("a/b..c/.d"));
    }
}

//! A revision's commit, and the commit's files with sizes and hashes.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderMap, LINK};
use serde::Deserialize;

use crate::cache::RepositoryCache;
use crate::classify::{HubRequest, RequestFailure};
use crate::digest::is_hex;
use crate::error::FetchError;
use crate::transport::{Connection, Transport};
use crate::tree::{CommitTree, RemoteFile, TreeEntry, is_safe_path};

/// More pages than any repository has.
const MAX_PAGES: usize = 10_000;
/// A file that nearly every model has. Everybody may list a gated repository; only a file shows
/// who may read it, whether it exists or not.
const COMMON_FILE: &str = "config.json";

/// Selected files of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSnapshot {
    /// The repository on the hub, `owner/name`.
    pub repository: String,
    /// The branch, tag or commit that was requested.
    pub revision: String,
    /// The commit of that revision, 40 hexadecimal digits.
    pub commit: String,
    /// The files, by path.
    pub files: Vec<RemoteFile>,
}

impl ModelSnapshot {
    /// A request about the commit, or about a file of it.
    pub(crate) fn file_request<'a>(&'a self, path: Option<&'a str>) -> HubRequest<'a> {
        HubRequest { repository: &self.repository, revision: &self.commit, path }
    }
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

#[derive(Deserialize)]
struct ListedFile {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    oid: String,
    lfs: Option<LfsPointer>,
    #[serde(rename = "xetHash")]
    xet_hash: Option<String>,
}

#[derive(Deserialize)]
struct LfsPointer {
    oid: String,
    size: u64,
}

/// Checks the names of a repository and a revision, before they become part of paths and addresses.
pub fn check_names(repository: &str, revision: &str) -> Result<(), FetchError> {
    let check = |is_valid: bool, kind, name: &str, reason| {
        let owned_name = name.to_owned();
        let invalid = FetchError::Name { kind, name: owned_name, reason };
        if is_valid { Ok(()) } else { Err(invalid) }
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let parts: Vec<&str> = repository.split('/').collect();
    let is_part = |part: &&str| !part.is_empty() && *part != "." && part.chars().all(allowed);
    check(
        parts.len() <= 2 && parts.iter().all(is_part),
        "repository",
        repository,
        "a repository is owner/name, in letters, digits, '-', '_' and '.'",
    )?;
    check(
        !repository.contains("..") && !repository.contains("--"),
        "repository",
        repository,
        "a repository contains neither '..' nor '--'",
    )?;
    check(
        is_safe_path(revision) && !revision.chars().any(char::is_control),
        "revision",
        revision,
        "a revision is a branch, a tag or a commit",
    )
}

/// An address of the hub's API on the repository.
pub fn api_url(transport: &Transport, request: &HubRequest<'_>, endpoint: &str) -> Url {
    let prefix = ["api", "models"].into_iter();
    let segments = prefix.chain(request.repository.split('/'));
    transport.hub_url(segments.chain([endpoint, request.revision]))
}

/// Asks the hub for the commit of a revision.
pub async fn fetch_commit(
    connection: &Connection<'_>,
    request: &HubRequest<'_>,
) -> Result<String, FetchError> {
    let url = api_url(connection.transport, request, "revision");
    let (_, body) = connection.fetch_with_retries(request, &url).await?;
    let answer: Revision = serde_json::from_slice(&body)
        .map_err(|error| request.malformed_answer(&error.to_string()))?;
    if !is_hex(&answer.sha, 40) {
        return Err(request.malformed_answer("it names no commit"));
    }
    Ok(answer.sha)
}

/// Checks, in one attempt, that the hub does not refuse the revision's files to this account.
pub async fn check_access(
    transport: &Transport,
    repository: &str,
    revision: &str,
) -> Result<(), FetchError> {
    let path = Some(COMMON_FILE);
    let request = HubRequest { repository, revision, path };
    let segments = repository.split('/');
    let url = transport.hub_url(segments.chain(["resolve", revision, COMMON_FILE]));
    match transport.send_request(&request, url, Some("bytes=0-0")).await {
        Ok(_)
        | Err(
            RequestFailure::Permanent(FetchError::Missing { is_file: true, .. })
            // It is busy: the download waits as long as it asks for.
            | RequestFailure::Transient { answered: true, .. },
        ) => Ok(()),
        Err(RequestFailure::Permanent(error)) => Err(error),
        Err(RequestFailure::Transient { reason, .. }) => Err(FetchError::Unreachable {
            endpoint: transport.settings.endpoint.to_string(),
            subject: request.subject(),
            reason,
        }),
    }
}

/// The listing of a commit, from the cache or from the hub.
pub async fn load_tree(
    connection: &Connection<'_>,
    cache: &RepositoryCache,
    request: &HubRequest<'_>,
) -> Result<CommitTree, FetchError> {
    if let Some(tree) = CommitTree::read(cache, request.revision) {
        return Ok(tree);
    }
    let mut url = api_url(connection.transport, request, "tree");
    url.set_query(Some("recursive=true&expand=false"));
    let mut files = BTreeMap::new();
    for _ in 0..MAX_PAGES {
        let (headers, body) = connection.fetch_with_retries(request, &url).await?;
        let page: Vec<ListedFile> = serde_json::from_slice(&body)
            .map_err(|error| request.malformed_answer(&error.to_string()))?;
        let listed = page.into_iter().filter(|listed| listed.kind == "file");
        files.extend(listed.map(to_tree_entry));
        let Some(next) = parse_next_page_url(&headers, &url) else {
            let tree = CommitTree::new(files);
            tree.write(cache, request.revision);
            return Ok(tree);
        };
        // The token is sent with the request, so it has to be the hub's own address.
        if next.origin() != url.origin() {
            return Err(request.malformed_answer("its listing continues on another host"));
        }
        url = next;
    }
    Err(request.malformed_answer("its listing does not end"))
}

fn to_tree_entry(listed: ListedFile) -> (String, TreeEntry) {
    let entry = TreeEntry {
        size: listed.lfs.as_ref().map_or(listed.size, |lfs| lfs.size),
        blob_id: listed.oid,
        lfs_size: listed.lfs.as_ref().map(|lfs| lfs.size),
        lfs_sha256: listed.lfs.map(|lfs| lfs.oid),
        // Gated repositories list asterisks instead.
        xet_hash: listed.xet_hash.filter(|hash| is_hex(hash, 64)),
    };
    (listed.path, entry)
}

/// Returns the address of the listing's next page, from the header `<https://…?cursor=…>; rel="next"`.
fn parse_next_page_url(headers: &HeaderMap, from: &Url) -> Option<Url> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let (_, address) = next.split_once('<')?;
    from.join(address.split_once('>')?.0).ok()
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
    fn only_valid_repositories_and_revisions_are_accepted(
        #[case] repository: &str,
        #[case] revision: &str,
        #[case] fine: bool,
    ) {
        assert_eq!(check_names(repository, revision).is_ok(), fine);
    }

    #[test]
    fn listed_paths_cannot_escape_the_repository() {
        for path in ["/etc/passwd", "a/../../b", "a//b", "a/.", "a\0b", ""] {
            assert!(!is_safe_path(path), "{path}");
        }
        assert!(is_safe_path("a/b..c/.d"));
    }
}

//! A model repository: files, commits, branches and tags, and who may read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::access::Access;
use super::content::{Content, sha1_of};

/// A file of a commit.
#[derive(Clone, Debug)]
pub struct File {
    pub content: Content,
    /// Stored with Git LFS: served by the CDN and known by its SHA-256.
    pub lfs: bool,
    /// Kept in the Xet store too; plain clients get it as an LFS file.
    pub xet: bool,
}

impl File {
    /// What git knows the file by: the blob's id, for an LFS file that of its pointer.
    pub fn git_id(&self) -> String {
        if self.lfs { Content::from(self.pointer()).git_id() } else { self.content.git_id() }
    }

    /// The `ETag` without quotes: the SHA-256 of an LFS file, else git's id.
    pub fn etag(&self) -> String {
        if self.lfs { self.content.sha256().to_owned() } else { self.git_id() }
    }

    /// The name of its content in the Xet store, where it is there.
    pub fn xet_hash(&self) -> Option<String> {
        let text = format!("xet {}", self.content.sha256());
        self.xet.then(|| Content::from(text).sha256().to_owned())
    }

    /// The pointer that lies in git in place of an LFS file.
    pub fn pointer(&self) -> String {
        format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n",
            self.content.sha256(),
            self.content.length()
        )
    }
}

/// The files of a commit, by path.
pub type Files = BTreeMap<String, File>;

/// A repository as it is written down in a test: one commit on `main`.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) name: String,
    pub(super) files: Files,
    pub(super) tags: Vec<String>,
    pub(super) branches: Vec<String>,
    pub(super) access: Access,
}

impl Repository {
    /// An empty public one, `owner/name`.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            files: Files::new(),
            tags: Vec::new(),
            branches: vec!["main".to_owned()],
            access: Access::Public,
        }
    }

    /// A file that lies in git.
    #[must_use]
    pub fn file(self, path: &str, content: impl Into<Content>) -> Self {
        self.with(path, content.into(), false)
    }

    /// A file that is stored with LFS.
    #[must_use]
    pub fn lfs(self, path: &str, content: impl Into<Content>) -> Self {
        self.with(path, content.into(), true)
    }

    /// A file that is stored with Xet.
    #[must_use]
    pub fn xet(self, path: &str, content: impl Into<Content>) -> Self {
        let mut repository = self.lfs(path, content);
        if let Some(file) = repository.files.get_mut(path) {
            file.xet = true;
        }
        repository
    }

    fn with(mut self, path: &str, content: Content, lfs: bool) -> Self {
        let xet = false;
        self.files.insert(path.to_owned(), File { content, lfs, xet });
        self
    }

    /// A model as they are: a configuration, a card, and `count` shards of `length` bytes each.
    #[must_use]
    pub fn sharded(name: &str, count: u64, length: u64) -> Self {
        let mut repository = Self::new(name)
            .file(".gitattributes", "*.safetensors filter=lfs diff=lfs merge=lfs -text\n")
            .file("README.md", format!("# {name}\n"))
            .file("config.json", "{\"model_type\": \"llama\"}\n");
        for index in 1..=count {
            let path = format!("model-{index:05}-of-{count:05}.safetensors");
            repository = repository.lfs(&path, Content::generated(index, length));
        }
        repository
    }

    /// Also a tag on this commit.
    #[must_use]
    pub fn tag(mut self, name: &str) -> Self {
        self.tags.push(name.to_owned());
        self
    }

    /// On this branch in place of `main`.
    #[must_use]
    pub fn branch(mut self, name: &str) -> Self {
        self.branches = vec![name.to_owned()];
        self
    }

    /// Who may read it.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The commit's hash: the same for the same files.
    pub fn commit(&self) -> String {
        let mut text = format!("{}\n", self.name);
        for (path, file) in &self.files {
            let _ = writeln!(text, "{path} {} {}", file.lfs, file.content.mark());
        }
        sha1_of(&text)
    }
}

/// A repository as the hub keeps it.
#[derive(Debug)]
pub struct Stored {
    pub name: String,
    pub commits: BTreeMap<String, Files>,
    pub branches: BTreeMap<String, String>,
    pub tags: BTreeMap<String, String>,
    pub access: Access,
}

impl Stored {
    /// One without a commit.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            commits: BTreeMap::new(),
            branches: BTreeMap::new(),
            tags: BTreeMap::new(),
            access: Access::Public,
        }
    }

    /// Puts a commit on top; earlier ones can still be asked for.
    pub fn push(&mut self, repository: Repository) -> String {
        let commit = repository.commit();
        for branch in repository.branches {
            self.branches.insert(branch, commit.clone());
        }
        for tag in repository.tags {
            self.tags.insert(tag, commit.clone());
        }
        self.access = repository.access;
        self.commits.insert(commit.clone(), repository.files);
        commit
    }

    /// The commit that a branch, a tag, a `refs/…` or a hash (also a short one) means.
    pub fn resolve(&self, revision: &str) -> Option<(&String, &Files)> {
        let name = revision
            .strip_prefix("refs/heads/")
            .or_else(|| revision.strip_prefix("refs/tags/"))
            .unwrap_or(revision);
        if let Some(commit) = self.branches.get(name).or_else(|| self.tags.get(name)) {
            return self.commits.get_key_value(commit);
        }
        if revision.len() < 7 {
            return None;
        }
        let mut found = self.commits.iter().filter(|(hash, _)| hash.starts_with(revision));
        found.next()
    }
}

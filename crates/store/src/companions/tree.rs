//! Reads the named files and directories next to a recipe, through the handle of its directory: a link that replaces a
//! part of them meanwhile leads nowhere.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use thiserror::Error;

use crate::error::StoreError;
use retrial_beneath::HeldDirectory;

/// The most files, directories and links of a recipe.
const MAX_ENTRIES: usize = 10_000;

/// The most directories within one another.
const MAX_DEPTH: usize = 100;

/// What may still be read of a recipe's files.
pub(super) struct Allowance {
    bytes: u64,
    entries: usize,
}

impl Allowance {
    /// The allowance of one recipe: 1 GiB, and 10,000 entries.
    pub(super) fn of_recipe() -> Self {
        Self { bytes: 1 << 30, entries: MAX_ENTRIES }
    }

    /// The allowance of copies of a recipe's files.
    pub(super) fn unlimited() -> Self {
        Self { bytes: u64::MAX, entries: usize::MAX }
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        self.entries = self.entries.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(())
    }
}

/// The files next to a recipe cannot be copied.
#[derive(Debug, Error, Diagnostic)]
pub enum CompanionError {
    #[error("failed to read {path}: {source}", path = path.display())]
    #[diagnostic(help("make it readable, or remove it from the recipe"))]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("failed to copy {path}: {source}", path = path.display())]
    #[diagnostic(help("free space, or choose another directory: --home"))]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is a link, or is reached through one", path = path.display())]
    #[diagnostic(help(
        "name what it leads to: in the copy that containers and commands get, a link may lead elsewhere"
    ))]
    Link { path: PathBuf },
    #[error("{path} is neither a file, a directory nor a link", path = path.display())]
    #[diagnostic(help(
        "mount its directory by its absolute path, which needs approval and is not copied"
    ))]
    Special { path: PathBuf },
    #[error("the files next to the recipe have more than 1 GiB, {MAX_ENTRIES} entries or {MAX_DEPTH} directories within one another, at {path}", path = path.display())]
    #[diagnostic(help("mount data by its absolute path, which needs approval and is not copied"))]
    TooLarge { path: PathBuf },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
}

/// Something of a companion that a person should know before it is given to a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompanionFact {
    /// Neither the recipe's owner nor root owns it.
    OtherOwner { path: PathBuf, user: u32 },
    /// It is in a `.git`, or has one.
    Repository { path: PathBuf },
}

/// The first such fact of each companion, by its path relative to the recipe's directory.
pub type CompanionFacts = BTreeMap<PathBuf, CompanionFact>;

/// One file, directory or link.
pub(super) enum Entry<'a> {
    Directory,
    File(&'a OwnedFd),
    /// A link, with its target.
    Link(PathBuf),
}

/// Receives each entry with its path relative to the root and its status; directories come before their content.
pub(super) type Visit<'a> = dyn FnMut(&Path, &Entry<'_>, &Stat) -> Result<(), CompanionError> + 'a;

/// Looks at all entries of some files and directories next to a recipe. Missing ones are skipped: their requirement is
/// reported elsewhere.
///
/// # Errors
/// If one cannot be read or copied, leads out, or they are too large.
pub fn examine_companions(
    directory: &HeldDirectory,
    names: &[PathBuf],
    recipe_owner: u32,
) -> Result<CompanionFacts, CompanionError> {
    let (mut found, mut allowance) =
        (FactFinder::new(directory, recipe_owner), Allowance::of_recipe());
    for name in names {
        visit_named(directory, name, &mut allowance, &mut |path, _, status| {
            found.look_at(name, path, status);
            Ok(())
        })?;
    }
    Ok(found.facts)
}

/// Finds the facts of companions while they are read.
pub(super) struct FactFinder<'a> {
    directory: &'a Path,
    recipe_owner: u32,
    is_in_repository: bool,
    pub facts: CompanionFacts,
}

impl<'a> FactFinder<'a> {
    pub fn new(directory: &'a HeldDirectory, recipe_owner: u32) -> Self {
        let path = directory.path();
        let is_in_repository = path.canonicalize().is_ok_and(|real| has_repository(&real));
        Self { directory: path, recipe_owner, is_in_repository, facts: CompanionFacts::new() }
    }

    /// Looks at an entry of a companion.
    pub fn look_at(&mut self, name: &Path, path: &Path, status: &Stat) {
        // Of another user's recipe, what is root's was not meant for it.
        let is_root = rustix::process::geteuid().is_root();
        let is_owned = status.st_uid == self.recipe_owner || status.st_uid == 0 && !is_root;
        let at = || self.directory.join(path);
        let fact = if !is_owned {
            CompanionFact::OtherOwner { path: at(), user: status.st_uid }
        } else if self.is_in_repository || has_repository(path) {
            CompanionFact::Repository { path: at() }
        } else {
            return;
        };
        self.facts.entry(name.to_owned()).or_insert(fact);
    }
}

fn has_repository(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}

/// Visits one named file or directory with all that is in it.
pub(super) fn visit_named(
    directory: &HeldDirectory,
    name: &Path,
    allowance: &mut Allowance,
    visit: &mut Visit<'_>,
) -> Result<(), CompanionError> {
    let path = directory.path().join(name);
    let failed = |source: Errno| CompanionError::Read { path: path.clone(), source: source.into() };
    let link = || CompanionError::Link { path: path.clone() };
    let opened = match directory.open_beneath(name, OFlags::PATH | OFlags::NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP) => return Err(link()),
        opened => opened.map_err(failed)?,
    };
    let kind = file_type(&fstat(&opened).map_err(failed)?);
    if kind == FileType::Symlink {
        return Err(link());
    }
    let flags = open_flags(kind).ok_or_else(|| CompanionError::Special { path: path.clone() })?;
    // It may be another one since then, but no link.
    let opened = directory.open_beneath(name, flags).map_err(failed)?;
    let mut walk = Walk { directory: directory.path(), visit, allowance };
    walk.visit_opened(name, &opened)
}

struct Walk<'a, 'v> {
    directory: &'a Path,
    visit: &'a mut Visit<'v>,
    allowance: &'a mut Allowance,
}

impl Walk<'_, '_> {
    fn read_error(&self, path: &Path, source: impl Into<io::Error>) -> CompanionError {
        CompanionError::Read { path: self.directory.join(path), source: source.into() }
    }

    fn count(&mut self, path: &Path, bytes: u64) -> Result<(), CompanionError> {
        let taken = self.allowance.take(bytes);
        taken.ok_or_else(|| CompanionError::TooLarge { path: self.directory.join(path) })
    }

    fn visit_opened(&mut self, path: &Path, opened: &OwnedFd) -> Result<(), CompanionError> {
        let status = fstat(opened).map_err(|error| self.read_error(path, error))?;
        match file_type(&status) {
            FileType::RegularFile => {
                self.count(path, u64::try_from(status.st_size).unwrap_or_default())?;
                (self.visit)(path, &Entry::File(opened), &status)
            }
            FileType::Directory => {
                self.count(path, 0)?;
                if path.iter().count() > MAX_DEPTH {
                    return Err(CompanionError::TooLarge { path: self.directory.join(path) });
                }
                (self.visit)(path, &Entry::Directory, &status)?;
                self.visit_content(path, opened)
            }
            _ => Err(CompanionError::Special { path: self.directory.join(path) }),
        }
    }

    fn visit_content(&mut self, path: &Path, opened: &OwnedFd) -> Result<(), CompanionError> {
        let listed = Dir::read_from(opened).map_err(|error| self.read_error(path, error))?;
        let mut names = Vec::new();
        for entry in listed {
            let entry = entry.map_err(|error| self.read_error(path, error))?;
            let name = entry.file_name().to_bytes().to_owned();
            if name != b"." && name != b".." {
                names.push(name);
            }
            if names.len() > self.allowance.entries {
                return Err(CompanionError::TooLarge { path: self.directory.join(path) });
            }
        }
        names.sort();
        names.iter().try_for_each(|name| self.visit_entry(path, opened, OsStr::from_bytes(name)))
    }

    fn visit_entry(
        &mut self,
        path: &Path,
        parent: &OwnedFd,
        name: &OsStr,
    ) -> Result<(), CompanionError> {
        let path = path.join(name);
        let status = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| self.read_error(&path, error))?;
        if file_type(&status) == FileType::Symlink {
            self.count(&path, 0)?;
            let target = readlinkat(parent, name, Vec::new());
            let target = target.map_err(|error| self.read_error(&path, error))?;
            let target = PathBuf::from(OsStr::from_bytes(target.to_bytes()));
            return (self.visit)(&path, &Entry::Link(target), &status);
        }
        let special = || CompanionError::Special { path: self.directory.join(&path) };
        let flags = open_flags(file_type(&status)).ok_or_else(special)?;
        let opened = openat(parent.as_fd(), name, flags, Mode::empty())
            .map_err(|error| self.read_error(&path, error))?;
        self.visit_opened(&path, &opened)
    }
}

fn file_type(status: &Stat) -> FileType {
    FileType::from_raw_mode(status.st_mode)
}

/// The flags to open a file or directory: not through a link, and without waiting for a pipe's writer.
fn open_flags(kind: FileType) -> Option<OFlags> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match kind {
        FileType::RegularFile => Some(flags),
        FileType::Directory => Some(flags | OFlags::DIRECTORY),
        _ => None,
    }
}

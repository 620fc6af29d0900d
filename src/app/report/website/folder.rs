//! The directory of a website: only files that it lists in a file of its own are replaced or removed, and
//! only those whose content changes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::app::failure::Failure;
use retrial_store::files::write_atomically;
use retrial_store::open::read_beneath;

/// The list of a website's files.
const LIST_FILE: &str = "retrial-website.json";
/// The most bytes of the list of a website's files.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// The directory of a website, and a lock on it: two processes would write the same files.
pub struct WebsiteFolder {
    /// The directory of the website, absolute.
    pub path: PathBuf,
    listed_files: BTreeSet<String>,
    _lock: File,
}

/// How many files were written, left as they were, and removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    pub written: usize,
    pub unchanged: usize,
    pub removed: usize,
}

#[derive(Serialize, Deserialize)]
struct FileList {
    /// Explains the purpose of this file.
    about: String,
    files: BTreeSet<String>,
}

impl WebsiteFolder {
    /// Opens the directory of a website, or creates one. A directory with other files is refused.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let fault = |error: io::Error| Failure::host(format!("{}: {error}", directory.display()));
        if directory.symlink_metadata().is_ok() && !directory.is_dir() {
            let path = directory.display();
            return Err(Failure::usage(format!("{path} is not a directory")));
        }
        fs::create_dir_all(directory).map_err(fault)?;
        let path = directory.canonicalize().map_err(fault)?;
        let lock = File::open(&path).map_err(fault)?;
        lock.lock().map_err(fault)?;
        let listed = if path.join(LIST_FILE).symlink_metadata().is_ok() {
            read_file_list(&path)?
        } else {
            let mut entries = fs::read_dir(&path).map_err(fault)?.flatten();
            // Hidden entries such as a repository are allowed.
            let other =
                entries.find(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
            if let Some(other) = other {
                return Err(Failure::usage(format!(
                    "{} is not a website written by retrial: it contains {}",
                    directory.display(),
                    other.file_name().display()
                ))
                .with_help("name an empty or a new directory"));
            }
            BTreeSet::new()
        };
        Ok(Self { path, listed_files: listed, _lock: lock })
    }

    /// Writes the files whose text changes, and removes those that are no longer part of the website. A kill
    /// leaves files of before and after, each whole and listed.
    pub fn update(
        &self,
        names: &[&str],
        text: &(dyn Fn(usize) -> String + Sync),
    ) -> Result<FileCounts, Failure> {
        let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut new = expected.difference(&self.listed_files);
        let exists = |name: &&String| self.path.join(name).symlink_metadata().is_ok();
        if let Some(existing) = new.find(exists) {
            return Err(Failure::usage(format!(
                "{} is not part of this website and would be replaced: move it",
                self.path.join(existing).display()
            )));
        }
        if !expected.is_subset(&self.listed_files) {
            self.write_list(&expected.union(&self.listed_files).cloned().collect())?;
        }
        let files = names.par_iter().enumerate();
        let changed: Vec<bool> = files
            .map(|(at, name)| self.write_if_changed(name, text(at).as_bytes()))
            .collect::<Result<_, Failure>>()?;
        let stale: Vec<&String> = self.listed_files.difference(&expected).collect();
        for name in &stale {
            self.remove_with_part(name)?;
        }
        if expected != self.listed_files {
            self.write_list(&expected)?;
        }
        let written = changed.iter().filter(|changed| **changed).count();
        Ok(FileCounts { written, unchanged: changed.len() - written, removed: stale.len() })
    }

    /// Writes a file if it has another text; returns whether it had.
    fn write_if_changed(&self, name: &str, text: &[u8]) -> Result<bool, Failure> {
        let before = read_beneath(&self.path, Path::new(name), text.len() as u64);
        if before.is_ok_and(|before| before == text) {
            return Ok(false);
        }
        write_atomically(&self.path.join(name), text)?;
        Ok(true)
    }

    fn write_list(&self, files: &BTreeSet<String>) -> Result<(), Failure> {
        let list = FileList {
            about: "Files of this directory that retrial wrote and may replace or remove"
                .to_owned(),
            files: files.clone(),
        };
        let text = serde_json::to_string_pretty(&list).unwrap_or_default() + "\n";
        Ok(write_atomically(&self.path.join(LIST_FILE), text.as_bytes())?)
    }

    /// Removes a file, and the part of it that a killed process has written.
    fn remove_with_part(&self, name: &str) -> Result<(), Failure> {
        for name in [name, &format!("{name}.part")] {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Failure::host(format!("{}: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The files that a website lists. A list with names outside its directory is refused.
fn read_file_list(path: &Path) -> Result<BTreeSet<String>, Failure> {
    let bytes = read_beneath(path, Path::new(LIST_FILE), MAX_LIST_BYTES)?;
    let parsed: Option<FileList> = serde_json::from_slice(&bytes).ok();
    let is_name = |name: &String| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.bytes().all(|byte| is_plain(byte) || matches!(byte, b'-' | b'.'))
            && name != LIST_FILE
    };
    let list = parsed.filter(|list| list.files.iter().all(is_name));
    list.map(|list| list.files).ok_or_else(|| {
        Failure::host(format!("{} is damaged", path.join(LIST_FILE).display()))
            .with_help("name an empty or a new directory")
    })
}

//! Texts in which figures are searched: a step's output, a file of its results, or all that a glob matches.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::folder::{entry_names, is_not_found};
use retrial_readings::decode::{ENCODING_HEAD_BYTES, Utf8Blocks, detect_encoding};
use retrial_readings::lines::LineSplitter;
use retrial_readings::natural::natural_sort_key;
use retrial_readings::nearest::join_first_names;
use retrial_store::{StoreError, blocks, open};
use thiserror::Error;

/// More files than this are no results of one measurement.
const MAX_FILES: usize = 1000;
/// The output of a step in its directory.
const STEP_OUTPUT: &str = "output.log";
/// More names than this are no folder of results.
const MAX_NAMES: usize = 100_000;
/// Bytes before a line in which lines are counted: of more, counting would take longer than reading
/// the figure from the end.
const MAX_COUNTED_BYTES: u64 = 64 << 20;
/// A longer line is not shown.
const MAX_SHOWN_LINE_BYTES: u64 = 64 << 10;
/// The most parts of a glob's path.
const MAX_GLOB_DEPTH: usize = 12;

/// The reason why a text cannot be searched.
#[derive(Debug, Error)]
pub enum TextError {
    /// A glob that names more than one measurement.
    #[error("more than {MAX_FILES} files match {glob}")]
    TooManyFiles {
        /// The glob, as the recipe writes it.
        glob: String,
    },
    /// A glob that matches nothing.
    #[error("no file {glob} in the results; found {found}")]
    NoMatch {
        /// The glob, as the recipe writes it.
        glob: String,
        /// The first of the names that do not match.
        found: String,
    },
    /// A part of a glob that is too large to be compiled.
    #[error(transparent)]
    Glob(#[from] regex::Error),
    #[error("no such file; found {found}")]
    Missing {
        /// The first of the names that are in its place.
        found: String,
    },
    /// More bytes than are read of a log.
    #[error("larger than {limit}")]
    TooLarge {
        /// The most bytes, with their unit.
        limit: String,
    },
    /// No regular file, or one that cannot be opened.
    #[error(transparent)]
    Open(#[from] StoreError),
    /// The operating system could not read it.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
}

impl TextError {
    /// Returns whether no such text exists.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NoMatch { .. } | Self::Missing { .. })
    }
}

/// A text below a directory, which is searched for figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// The directory that the file lies beneath.
    pub directory: PathBuf,
    /// The file beneath it, or a glob of several.
    pub file: PathBuf,
}

impl TextFile {
    /// Returns the output of a step, below a run's directory.
    pub fn step_output(run: &Path, step_directory: &str) -> Self {
        Self {
            directory: run.to_owned(),
            file: Path::new("steps").join(step_directory).join(STEP_OUTPUT),
        }
    }

    /// Returns the files that are meant, each as a text of its own, in natural order: `result_2` comes
    /// before `result_10`.
    ///
    /// # Errors
    /// A glob matches no files, or too many.
    pub fn matching_files(&self) -> Result<Vec<Self>, TextError> {
        let pattern = self.file.to_string_lossy();
        if !pattern.contains(['*', '?']) {
            return Ok(vec![self.clone()]);
        }
        let mut matches = vec![PathBuf::new()];
        let mut others = Vec::new();
        for part in pattern.split('/').filter(|part| !part.is_empty()).take(MAX_GLOB_DEPTH) {
            let part = compile_glob(part)?;
            let mut next = Vec::new();
            for directory in &matches {
                // Links are no evidence and are skipped.
                for name in entry_names(&self.directory.join(directory), |kind| !kind.is_symlink())
                    .take(MAX_NAMES)
                {
                    if part.is_match(&name) {
                        next.push(directory.join(&name));
                    } else if others.len() < 20 {
                        others.push(name);
                    }
                }
            }
            if next.len() > MAX_FILES {
                let glob = pattern.into_owned();
                return Err(TextError::TooManyFiles { glob });
            }
            matches = next;
        }
        matches.sort_by_key(|path| natural_sort_key(&path.to_string_lossy()));
        if matches.is_empty() {
            others.sort();
            return Err(TextError::NoMatch {
                found: join_first_names(others.iter().map(String::as_str)),
                glob: pattern.into_owned(),
            });
        }
        let texts =
            matches.into_iter().map(|file| Self { directory: self.directory.clone(), file });
        Ok(texts.collect())
    }

    /// Opens it; a path that is no glob.
    ///
    /// # Errors
    /// It is not there, or no regular file.
    pub fn open(&self) -> Result<File, TextError> {
        open::open_beneath(&self.directory, &self.file)
            .map_err(|error| self.describe_failure(error))
    }

    /// Names what is in its place, if it is missing.
    fn describe_failure(&self, error: StoreError) -> TextError {
        if !is_not_found(&error) {
            return error.into();
        }
        TextError::Missing { found: self.list_neighbours() }
    }

    /// Returns the first of the names in the directory in which it would be.
    fn list_neighbours(&self) -> String {
        let path = self.directory.join(&self.file);
        let parent = path.parent().unwrap_or(&self.directory);
        let names = entry_names(parent, |kind| !kind.is_symlink()).take(MAX_NAMES);
        // The output is next to the results in a folder of them only.
        let mut names: Vec<String> = names.filter(|name| name != STEP_OUTPUT).collect();
        names.sort_by_key(|name| natural_sort_key(name));
        join_first_names(names.iter().map(String::as_str))
    }

    /// Returns the number of the line, from 1, that begins at an offset of the text as UTF-8; none where it is far
    /// from the beginning.
    pub fn line_number_at(&self, offset: u64) -> Option<u64> {
        if offset > MAX_COUNTED_BYTES {
            return None;
        }
        let (mut utf8, mut lines, mut rest) = (Utf8Blocks::default(), 1, offset);
        let count = |block: &[u8]| {
            utf8.push(block, |text| {
                let length = usize::try_from(rest).unwrap_or(usize::MAX).min(text.len());
                lines += memchr::memchr_iter(b'\n', &text[..length]).count() as u64;
                rest -= length as u64;
            });
        };
        // UTF-16 has two bytes for each of ASCII.
        let file = self.open().ok()?.take(offset.saturating_mul(2).saturating_add(4));
        blocks::for_each_block(file, count).ok()?;
        Some(lines)
    }

    /// Returns the line that begins at an offset of a text in UTF-8, as a person sees it; none if it is long, or if the
    /// text is in UTF-16.
    pub fn line_at(&self, offset: u64) -> Option<String> {
        let mut file = self.open().ok()?;
        let mut head = [0; ENCODING_HEAD_BYTES];
        let length = file.read(&mut head).ok()?;
        let (encoding, mark) = detect_encoding(&head[..length]);
        if encoding.name() != "UTF-8" || mark > 0 {
            return None;
        }
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_SHOWN_LINE_BYTES).read_to_end(&mut bytes).ok()?;
        let end = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
        let (mut splitter, mut line) = (LineSplitter::new(), None);
        splitter.push(&bytes[..end], |found| line = Some(found.text.into_owned()));
        splitter.finish(|found| line = Some(found.text.into_owned()));
        line
    }

    /// Returns the text from a line on, by its number from 1; none if the text is in UTF-16, is long, or has lines
    /// that were overwritten.
    pub fn text_from_line(&self, line: u64) -> Option<String> {
        let file = self.open().ok()?;
        if file.metadata().ok()?.len() > MAX_COUNTED_BYTES {
            return None;
        }
        let mut file = BufReader::new(file);
        let head = file.fill_buf().ok()?;
        let (encoding, mark) = detect_encoding(&head[..head.len().min(ENCODING_HEAD_BYTES)]);
        if encoding.name() != "UTF-8" {
            return None;
        }
        file.consume(mark);
        let mut above = Vec::new();
        for _ in 1..line {
            above.clear();
            file.read_until(b'\n', &mut above).ok()?;
            if memchr::memchr(b'\r', above.trim_ascii_end()).is_some() {
                return None;
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Reads it, at most so many bytes.
    ///
    /// # Errors
    /// As [`TextFile::open`], and where it is larger.
    pub fn read_bytes(&self, cap: u64) -> Result<Vec<u8>, TextError> {
        open::read_beneath(&self.directory, &self.file, cap)
            .map_err(|error| self.describe_failure(error))
    }
}

/// `*` and `?` within one part of a path.
fn compile_glob(part: &str) -> Result<Regex, regex::Error> {
    let escaped = regex::escape(part).replace("\\*", ".*").replace("\\?", ".");
    Regex::new(&format!("(?s)^{escaped}$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(directory: &Path, file: &str) -> TextFile {
        TextFile { directory: directory.to_owned(), file: file.into() }
    }

    #[test]
    fn globs_in_natural_order_and_without_links() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("logs")).unwrap();
        for name in ["result_10.txt", "result_2.txt", "result_1.txt", "other.log"] {
            std::fs::write(at("logs").join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", at("logs/result_3.txt")).unwrap();
        let files = text(directory.path(), "l*/result_*.txt").matching_files().unwrap();
        let names: Vec<_> = files.iter().map(|text| text.file.display().to_string()).collect();
        assert_eq!(names, ["logs/result_1.txt", "logs/result_2.txt", "logs/result_10.txt"]);
        assert_eq!(files[0].read_bytes(100).unwrap(), b"result_1.txt");
        assert!(files[0].read_bytes(3).is_err());
        let missing = text(directory.path(), "logs/trial.log");
        let names = missing.read_bytes(100).unwrap_err();
        assert!(names.is_missing() && missing.open().is_err());
        assert!(
            names.to_string().starts_with("no such file; found ")
                && names.to_string().contains("other.log"),
            "{names}"
        );
        let none = text(directory.path(), "logs/trial_*").matching_files().unwrap_err().to_string();
        assert!(none.contains("no file logs/trial_*") && none.contains("other.log"), "{none}");
    }
}

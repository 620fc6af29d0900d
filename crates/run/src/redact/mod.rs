//! Hides the values of secrets. A step's own filter does it in the container, before the output reaches the
//! disk; afterwards its output, its results and their names are searched.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use aho_corasick::{AhoCorasick, MatchKind};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use itertools::join;
use walkdir::WalkDir;

use self::forms::MIN_ENCODED_SECRET_BYTES;
use retrial_store::StoreError;

mod forms;
mod log;

pub use self::log::{hide_in_log, redact_log_text};

const READ_BLOCK_BYTES: usize = 256 << 10;
/// The maximum number of bytes held back: line breaks may be longer.
const MAX_PENDING_BYTES: usize = 4 * READ_BLOCK_BYTES;
/// Bytes of a compressed file's content that are searched.
const MAX_DECODED_BYTES: u64 = 16 << 30;
/// The magic bytes of a compressed file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The texts to hide, longest first, and the name that replaces each.
fn hidden_texts<'a>(
    secrets: impl Iterator<Item = (&'a String, &'a String)>,
    forms: fn(&str) -> Vec<String>,
) -> Vec<(String, String)> {
    let mut hidden: Vec<(String, String)> = secrets
        .flat_map(|(name, value)| {
            let secret_forms = forms(value).into_iter();
            secret_forms.map(move |form| (form, name.clone()))
        })
        .collect();
    hidden.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    hidden
}

/// The environment of a step that names secrets: their values, and for the step's filter
/// (which removes them from the command's environment) the texts to hide.
pub fn redaction_environment(
    names: &[String],
    secrets: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let selected = names.iter().filter_map(|name| secrets.get_key_value(name));
    let hidden = hidden_texts(selected.clone(), forms::printed_forms);
    if hidden.is_empty() {
        return Vec::new();
    }
    let mut environment: Vec<(String, String)> =
        selected.map(|(name, value)| (name.clone(), value.clone())).collect();
    let list = hidden.iter().enumerate();
    let list = join(list.map(|(index, (_, name))| format!("{index}:{name}")), " ");
    environment.push(("RETRIAL_HIDDEN".to_owned(), list));
    let forms = hidden.into_iter().enumerate();
    environment.extend(forms.map(|(index, (form, _))| (format!("RETRIAL_HIDE_{index}"), form)));
    environment
}

/// Replaces the values of a run's secrets in files and names. Not `Debug`: it knows them.
pub struct Redactor {
    forms: AhoCorasick,
    /// The replacement of each form.
    names: Vec<String>,
    longest: usize,
}

impl Redactor {
    /// Returns a redactor for these secrets; none without secrets.
    ///
    /// # Errors
    /// If they are too many to search for.
    pub fn new(
        secrets: &BTreeMap<String, String>,
    ) -> Result<Option<Self>, aho_corasick::BuildError> {
        Self::with_values(secrets.iter())
    }

    /// As [`Redactor::new`], where several values may have the same name.
    fn with_values<'a>(
        secrets: impl Iterator<Item = (&'a String, &'a String)>,
    ) -> Result<Option<Self>, aho_corasick::BuildError> {
        let hidden = hidden_texts(secrets, forms::all_forms);
        let Some((longest_form, _)) = hidden.first() else {
            return Ok(None);
        };
        let longest = longest_form.len();
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest);
        Ok(Some(Self {
            forms: builder.build(hidden.iter().map(|(form, _)| form))?,
            names: hidden.iter().map(|(_, name)| format!("[{name}]")).collect(),
            longest,
        }))
    }

    /// A text without them.
    pub fn redact_text(&self, text: &str) -> String {
        let clean = self.redact_bytes(text.as_bytes());
        clean.map_or_else(|| text.to_owned(), |clean| String::from_utf8_lossy(&clean).into_owned())
    }

    /// Redacts the files below a directory, and their names.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub fn redact_directory(&self, directory: &Path) -> Result<(), StoreError> {
        let walk = WalkDir::new(directory).min_depth(1).contents_first(true);
        let entries: Result<Vec<_>, _> = walk.into_iter().collect();
        for entry in entries.map_err(StoreError::io("list", directory))? {
            let path = entry.path();
            if entry.file_type().is_file() {
                self.redact_file(path)?;
            }
            if let Some(clean) = self.redact_bytes(entry.file_name().as_bytes()) {
                let number = |number| format!(".{number}").into_bytes();
                let mut ends = std::iter::once(Vec::new()).chain((2..).map(number));
                let free = ends.find_map(|end| {
                    let name = [clean.clone(), end].concat();
                    let candidate = path.with_file_name(OsStr::from_bytes(&name));
                    candidate.symlink_metadata().is_err().then_some(candidate)
                });
                let rename = |free| fs::rename(path, free);
                free.map_or(Ok(()), rename).map_err(StoreError::io("rename", path))?;
            }
        }
        Ok(())
    }

    /// Redacts a file of ours, also in the content of a compressed one; a file without secrets is unchanged.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn redact_file(&self, path: &Path) -> Result<(), StoreError> {
        let clean = path.with_file_name(".retrial-clean");
        let redact = || -> io::Result<()> {
            if self.copy_redacted(File::open(path)?, io::sink())? {
                let to = BufWriter::new(File::create(&clean)?);
                self.copy_redacted(File::open(path)?, to)?;
                fs::rename(&clean, path)?;
            }
            let mut begin = [0; 2];
            if File::open(path)?.read(&mut begin)? < begin.len() || begin != GZIP_MAGIC {
                return Ok(());
            }
            if self.copy_redacted(GzipDecoder::open(path)?, io::sink())? {
                let mut to = GzEncoder::new(File::create(&clean)?, Compression::default());
                self.copy_redacted(GzipDecoder::open(path)?, &mut to)?;
                to.finish()?;
                fs::rename(&clean, path)?;
            }
            Ok(())
        };
        redact().map_err(StoreError::io("redact", path))
    }

    /// Bytes without secrets; none if there are none in them.
    fn redact_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut clean = Vec::new();
        // Writing to memory does not fail.
        let found = self.copy_redacted(bytes, &mut clean).unwrap_or(false);
        found.then_some(clean)
    }

    /// Copies a text with everything hidden. Returns whether anything was hidden.
    fn copy_redacted(&self, mut from: impl Read, mut to: impl Write) -> io::Result<bool> {
        let mut found = false;
        let mut pending: Vec<u8> = Vec::new();
        let mut block = vec![0; READ_BLOCK_BYTES];
        loop {
            let count = from.read(&mut block)?;
            pending.extend_from_slice(&block[..count]);
            let line = JoinedText::new(&pending);
            // The end of a block may be the beginning of a secret.
            let held_back = if count == 0 { 0 } else { self.longest - 1 };
            let certain = line.bytes.len().saturating_sub(held_back);
            let mut done = 0;
            let hits = self.forms.find_iter(&line.bytes);
            for hit in hits.take_while(|hit| hit.start() < certain) {
                let place =
                    line.original_offset(hit.start())..line.original_offset(hit.end() - 1) + 1;
                if place.len() > hit.len() && hit.len() < MIN_ENCODED_SECRET_BYTES {
                    continue;
                }
                found = true;
                to.write_all(&pending[done..place.start])?;
                to.write_all(self.names[hit.pattern()].as_bytes())?;
                done = place.end;
            }
            if count == 0 {
                to.write_all(&pending[done..])?;
                to.flush()?;
                return Ok(found);
            }
            let least = pending.len().saturating_sub(MAX_PENDING_BYTES);
            let until = line.original_offset(certain).max(done).max(least);
            to.write_all(&pending[done..until])?;
            pending.drain(..until);
        }
    }
}

/// A text without its line breaks: programs wrap encoded text, and print in pieces.
struct JoinedText {
    bytes: Vec<u8>,
    /// The offsets of the bytes that follow a line break.
    breaks: Vec<usize>,
}

impl JoinedText {
    fn new(text: &[u8]) -> Self {
        let mut joined = Self { bytes: Vec::with_capacity(text.len()), breaks: Vec::new() };
        let mut begin = 0;
        for end in memchr::memchr2_iter(b'\n', b'\r', text) {
            joined.bytes.extend_from_slice(&text[begin..end]);
            joined.breaks.push(joined.bytes.len());
            begin = end + 1;
        }
        joined.bytes.extend_from_slice(&text[begin..]);
        joined
    }

    /// Returns the offset of a byte in the text.
    fn original_offset(&self, index: usize) -> usize {
        index + self.breaks.partition_point(|at| *at <= index)
    }
}

/// Decodes as much as possible of a compressed file, which may be truncated.
struct GzipDecoder(io::Take<MultiGzDecoder<BufReader<File>>>);

impl GzipDecoder {
    fn open(path: &Path) -> io::Result<Self> {
        let decoder = MultiGzDecoder::new(BufReader::new(File::open(path)?));
        Ok(Self(decoder.take(MAX_DECODED_BYTES)))
    }
}

impl Read for GzipDecoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_end = |kind| {
            matches!(
                kind,
                ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof
            )
        };
        match self.0.read(buffer) {
            Err(error) if is_end(error.kind()) => Ok(0),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;

//! What differs in an archive that is no longer as `runs pack` wrote it: somebody unpacked it, changed it and
//! packed it again. Nothing is written, and such an archive is not verified whatever is found.

use std::collections::BTreeMap;
use std::io::{self, Read};

use schemars::JsonSchema;
use serde::Serialize;
use tar::Archive;
use zstd::stream::read::Decoder;

use super::hashing::Hashing;
use super::head::{ENVELOPE, SIGNATURE, STATEMENT};
use super::manifest::{self, FileEntry, Manifest};

/// No more of each are named.
const MOST_NAMED: usize = 20;
/// No more entries are looked at, and no more bytes.
const MOST_ENTRIES: usize = 200_000;
const MOST_BYTES: u64 = 64 << 30;

/// How the files of an archive differ from its manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Differences {
    /// Their content is another.
    pub changed: Vec<String>,
    /// They are not there.
    pub missing: Vec<String>,
    /// The manifest does not name them.
    pub extra: Vec<String>,
}

impl Differences {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.extra.is_empty()
    }
}

/// Looks for what differs; none where it is no archive, or has no manifest.
pub fn differences(archive: impl Read) -> Option<Differences> {
    let mut decoder = Decoder::new(archive).ok()?;
    decoder.window_log_max(23).ok()?;
    let mut archive = Archive::new(decoder.take(MOST_BYTES));
    let mut manifest = None;
    let mut found = Vec::new();
    for entry in archive.entries().ok()?.take(MOST_ENTRIES) {
        let Ok(mut entry) = entry else { break };
        let path = entry.path().ok()?.display().to_string();
        let path = path.trim_start_matches("./").to_owned();
        let kind = entry.header().entry_type();
        if kind.is_dir() {
            continue;
        }
        if path == manifest::NAME && entry.size() <= manifest::LARGEST {
            let mut text = Vec::new();
            entry.read_to_end(&mut text).ok()?;
            manifest = Some(serde_json::from_slice::<Manifest>(&text).ok()?);
            continue;
        }
        if [STATEMENT, SIGNATURE, ENVELOPE].contains(&path.as_str()) {
            continue;
        }
        let mut content = Hashing::new(&mut entry);
        // What is cut off is another content.
        let _ = io::copy(&mut content, &mut io::sink());
        let (_, bytes, sum) = content.finish();
        let sha256 = if kind.is_file() { sum } else { String::new() };
        found.push(FileEntry {
            path,
            bytes,
            sha256,
        });
    }
    Some(compare(&manifest?, found))
}

fn compare(manifest: &Manifest, found: Vec<FileEntry>) -> Differences {
    let named = manifest.files.iter();
    let mut named: BTreeMap<String, &FileEntry> = named
        .map(|file| (format!("{}/{}", manifest.run, file.path), file))
        .collect();
    let mut differences = Differences::default();
    for found in found {
        match named.remove(&found.path) {
            Some(file) if file.bytes == found.bytes && file.sha256 == found.sha256 => {}
            Some(_) => note(&mut differences.changed, found.path),
            None => note(&mut differences.extra, found.path),
        }
    }
    for path in named.into_keys() {
        note(&mut differences.missing, path);
    }
    differences
}

fn note(list: &mut Vec<String>, path: String) {
    if list.len() < MOST_NAMED {
        list.push(path);
    }
}

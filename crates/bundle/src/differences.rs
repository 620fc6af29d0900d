//! Finds the differences in an archive that is no longer as `runs pack` wrote it: somebody unpacked it, changed
//! it and packed it again. Nothing is written, and such an archive is never verified.

use std::collections::BTreeMap;
use std::io::{self, Read};

use schemars::JsonSchema;
use serde::Serialize;
use tar::Archive;
use zstd::stream::read::Decoder;

use super::hashing::HashingStream;
use super::head::{ENVELOPE_FILE, SIGNATURE_FILE, STATEMENT_FILE};
use super::manifest::{self, BundleManifest, FileEntry};

/// The largest number of files of each kind that are listed.
const MAX_LISTED_FILES: usize = 20;
/// The largest number of entries that are read.
const MAX_ARCHIVE_ENTRIES: usize = 200_000;

/// How the files of an archive differ from its manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BundleDifferences {
    /// Files whose size or SHA-256 is not the manifest's.
    pub changed: Vec<String>,
    /// Files of the manifest that the archive does not have.
    pub missing: Vec<String>,
    /// Files that the manifest does not list.
    pub extra: Vec<String>,
}

impl BundleDifferences {
    /// Returns whether the archive has exactly the files of its manifest.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.extra.is_empty()
    }
}

/// Compares an archive with its manifest, reading at most so many bytes of its content; none if it is not an
/// archive, or has no manifest.
pub fn find_differences(archive: impl Read, max_bytes: u64) -> Option<BundleDifferences> {
    let mut decoder = Decoder::new(archive).ok()?;
    decoder.window_log_max(23).ok()?;
    let mut archive = Archive::new(decoder.take(max_bytes));
    let mut manifest = None;
    let mut files = Vec::new();
    for entry in archive.entries().ok()?.take(MAX_ARCHIVE_ENTRIES) {
        let Ok(mut entry) = entry else { break };
        let entry_path = entry.path().ok()?.display().to_string();
        let path = entry_path.trim_start_matches("./").to_owned();
        let kind = entry.header().entry_type();
        if kind.is_dir() {
            continue;
        }
        if path == manifest::MANIFEST_FILE && entry.size() <= manifest::MAX_MANIFEST_BYTES {
            let mut text = Vec::new();
            entry.read_to_end(&mut text).ok()?;
            manifest = Some(serde_json::from_slice::<BundleManifest>(&text).ok()?);
            continue;
        }
        if [STATEMENT_FILE, SIGNATURE_FILE, ENVELOPE_FILE].contains(&path.as_str()) {
            continue;
        }
        let mut content = HashingStream::new(&mut entry);
        // A truncated file has a different digest.
        let _ = io::copy(&mut content, &mut io::sink());
        let (_, bytes, sum) = content.finish();
        let sha256 = if kind.is_file() { sum } else { String::new() };
        files.push(FileEntry { path, bytes, sha256 });
    }
    Some(compare_with_manifest(&manifest?, files))
}

fn compare_with_manifest(manifest: &BundleManifest, files: Vec<FileEntry>) -> BundleDifferences {
    let listed_files = manifest.files.iter();
    let mut named: BTreeMap<String, &FileEntry> =
        listed_files.map(|file| (format!("{}/{}", manifest.run, file.path), file)).collect();
    let mut differences = BundleDifferences::default();
    for file in files {
        match named.remove(&file.path) {
            Some(listed) if listed.bytes == file.bytes && listed.sha256 == file.sha256 => {}
            Some(_) => push_capped(&mut differences.changed, file.path),
            None => push_capped(&mut differences.extra, file.path),
        }
    }
    for path in named.into_keys() {
        push_capped(&mut differences.missing, path);
    }
    differences
}

fn push_capped(list: &mut Vec<String>, path: String) {
    if list.len() < MAX_LISTED_FILES {
        list.push(path);
    }
}

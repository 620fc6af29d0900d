//! Opens a bundle: head first, then the sum of the rest, and only then its files, into a new directory.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use retrial_bundle::body;
use retrial_bundle::{BundleError, BundleHead, BundleManifest, stored};
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_store::import::available_bytes;
use retrial_store::{StoreError, UnpackLimit};

/// A bundle whose archive is whole: its size and digest match its manifest. The signature of the manifest is not
/// checked yet.
pub struct OpenedBundle {
    /// The manifest, statement and signatures as they are in the archive.
    pub head: BundleHead,
    /// The manifest of the head, parsed.
    pub manifest: BundleManifest,
    body: BufReader<File>,
}

/// Returns whether a file begins like a bundle.
pub fn is_bundle(path: &Path) -> bool {
    let mut begin = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == stored::ZSTD_MAGIC
}

/// Reads the head of a bundle, and checks the sum of the rest.
///
/// # Errors
/// If it cannot be read, or is not as `runs pack` writes it.
pub fn open_bundle(file: File) -> Result<OpenedBundle, BundleError> {
    let mut file = BufReader::new(file);
    let head = BundleHead::read(&mut file)?;
    let manifest = BundleManifest::parse(&head.manifest)?;
    let begin = file.stream_position().map_err(BundleError::Read)?;
    body::check_body_digest(&mut file, &manifest)?;
    file.seek(io::SeekFrom::Start(begin)).map_err(BundleError::Read)?;
    Ok(OpenedBundle { head, manifest, body: file })
}

impl OpenedBundle {
    /// Unpacks the run into a directory; it becomes a directory of its name there.
    ///
    /// # Errors
    /// If a file is not the one of the manifest, or the disk has no room.
    pub fn unpack(self, to: &Path) -> Result<PathBuf, BundleError> {
        let path = to.join(&self.manifest.run);
        let bytes = self.manifest.total_bytes().unwrap_or(u64::MAX);
        let archive = self.body.get_ref().metadata().map_err(BundleError::Read)?;
        let limit_result = UnpackLimit::for_archive(archive.len());
        let limit = limit_result.map_err(|error| BundleError::malformed(error.to_string()))?;
        limit.check_size(bytes)?;
        let free = available_bytes(to);
        if bytes > free {
            return Err(BundleError::Write {
                path: path.display().to_string(),
                source: io::Error::new(
                    io::ErrorKind::StorageFull,
                    format!(
                        "it needs {}, and {} is free; choose another disk: TMPDIR",
                        format::format_bytes(bytes),
                        format::format_bytes(free)
                    ),
                ),
            });
        }
        // Nobody else writes to the directory, and paths of a manifest lead nowhere else.
        body::unpack_body(self.body, &self.manifest, |file| {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap_or(&path))?;
            File::create_new(file)
        })?;
        Ok(path)
    }
}

/// Unpacks the run of a bundle, checked against its manifest; no signature is required.
///
/// # Errors
/// If it is not whole, or the disk has no room.
pub fn unpack_run(bundle: &Path, to: &Path) -> Result<(), StoreError> {
    let file = File::open(bundle).map_err(StoreError::io("open", bundle))?;
    open_bundle(file)
        .and_then(|opened| opened.unpack(to))
        .map(drop)
        .map_err(|error| StoreError::unusable(bundle, ErrorText::of(&error).to_string()))
}

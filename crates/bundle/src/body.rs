//! The body of a bundle: the files of a run, compressed. Written and read in one pass each, with no more
//! memory than a few buffers.

use std::io::{BufRead, Read, Write};

use zstd::stream::{read::Decoder, write::Encoder};

use super::blocks::{ARCHIVE_END, block_padding, copy_exactly, encode_header, expect_bytes};
use super::error::BundleError;
use super::hashing::HashingStream;
use super::manifest::{BundleManifest, FileEntry, SizedDigest};

/// The level of zstd; fixed, so that the same files give the same bytes.
const COMPRESSION_LEVEL: i32 = 3;
/// The largest window, 8 MiB, as in every zstd: a frame cannot require more memory.
const MAX_WINDOW_LOG: u32 = 23;

/// Writes the body, and records its files.
pub struct BodyWriter<W: Write> {
    run: String,
    encoder: Encoder<'static, HashingStream<W>>,
    files: Vec<FileEntry>,
}

impl<W: Write> BodyWriter<W> {
    /// Begins the body of this run.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(out: W, run: &str) -> std::io::Result<Self> {
        let mut encoder = Encoder::new(HashingStream::new(out), COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self { run: run.to_owned(), encoder, files: Vec::new() })
    }

    /// Adds a file; paths come in the order of a manifest.
    ///
    /// # Errors
    /// If its content has fewer bytes than `bytes`, or reading or writing fails.
    pub fn add_file(
        &mut self,
        path: &str,
        bytes: u64,
        content: impl Read,
    ) -> Result<(), BundleError> {
        let failed = |source| BundleError::Write { path: path.to_owned(), source };
        let header = encode_header(&format!("{}/{path}", self.run), bytes).map_err(failed)?;
        self.encoder.write_all(&header).map_err(failed)?;
        let mut content = HashingStream::new(content);
        copy_exactly(&mut content, &mut self.encoder, bytes).map_err(failed)?;
        let (_, read, sha256) = content.finish();
        if read != bytes {
            return Err(BundleError::Changed { path: path.to_owned() });
        }
        self.encoder.write_all(block_padding(bytes)).map_err(failed)?;
        self.files.push(FileEntry { path: path.to_owned(), bytes, sha256 });
        Ok(())
    }

    /// Ends the body; returns the writer and the manifest.
    ///
    /// # Errors
    /// If writing fails, or the manifest is invalid.
    pub fn finish(mut self) -> Result<(W, BundleManifest), BundleError> {
        let failed = |source| BundleError::Write { path: "the archive".to_owned(), source };
        self.encoder.write_all(&ARCHIVE_END).map_err(failed)?;
        let (out, bytes, sha256) = self.encoder.finish().map_err(failed)?.finish();
        let manifest = BundleManifest {
            schema: BundleManifest::SCHEMA,
            run: self.run,
            body: SizedDigest { bytes, sha256 },
            files: self.files,
        };
        manifest.validate()?;
        Ok((out, manifest))
    }
}

/// Checks that the input is the compressed body of a manifest, without trailing data.
///
/// # Errors
/// If it is not.
pub fn check_body_digest(body: impl Read, manifest: &BundleManifest) -> Result<(), BundleError> {
    let mut hashing = HashingStream::new(body.take(manifest.body.bytes.saturating_add(1)));
    std::io::copy(&mut hashing, &mut std::io::sink()).map_err(BundleError::Read)?;
    let (_, bytes, sha256) = hashing.finish();
    if bytes > manifest.body.bytes {
        return Err(BundleError::malformed("it has trailing data after its end"));
    }
    if bytes < manifest.body.bytes {
        return Err(BundleError::malformed("it is truncated"));
    }
    if sha256 != manifest.body.sha256 {
        return Err(BundleError::malformed(
            "the checksum of its compressed files differs from the manifest's",
        ));
    }
    Ok(())
}

/// Unpacks a body. Each file is checked against the manifest while it is written to the writer that `create`
/// returns for its path.
///
/// # Errors
/// At the first file whose position, path, size or digest differs from the manifest.
pub fn unpack_body<W: Write>(
    body: impl BufRead,
    manifest: &BundleManifest,
    create: impl Fn(&str) -> std::io::Result<W>,
) -> Result<(), BundleError> {
    let unreadable = |error: std::io::Error| {
        BundleError::malformed(format!("its files cannot be unpacked: {error}"))
    };
    let mut decoder = Decoder::with_buffer(body).map_err(unreadable)?.single_frame();
    decoder.window_log_max(MAX_WINDOW_LOG).map_err(unreadable)?;
    for file in &manifest.files {
        let differs = |reason| BundleError::File { path: file.path.clone(), reason };
        let encoded = encode_header(&format!("{}/{}", manifest.run, file.path), file.bytes);
        let header = encoded.map_err(|_| differs("this path cannot be stored in an archive"))?;
        let name = format!("the entry of {}", file.path);
        expect_bytes(&mut decoder, &header, &name)?;
        let failed = |source| BundleError::Write { path: file.path.clone(), source };
        let out = create(&file.path).map_err(failed)?;
        let mut out = HashingStream::new(out);
        let mut content = ReadTracker { inner: &mut decoder, read_error: None };
        let copied = copy_exactly(&mut content, &mut out, file.bytes);
        if let Some(error) = content.read_error {
            return Err(unreadable(error));
        }
        if copied.map_err(failed)? != file.bytes {
            return Err(differs("it is truncated"));
        }
        let (mut out, _, sha256) = out.finish();
        out.flush().map_err(failed)?;
        if sha256 != file.sha256 {
            return Err(differs("its checksum differs from the manifest's"));
        }
        let name = format!("the padding of {}", file.path);
        expect_bytes(&mut decoder, block_padding(file.bytes), &name)?;
    }
    expect_bytes(&mut decoder, &ARCHIVE_END, "the end of the archive")?;
    if decoder.read(&mut [0]).map_err(unreadable)? != 0 {
        return Err(BundleError::malformed("it has more files than its manifest"));
    }
    let mut rest = decoder.finish();
    if !rest.fill_buf().map_err(BundleError::Read)?.is_empty() {
        return Err(BundleError::malformed("it has trailing data after its end"));
    }
    Ok(())
}

/// Distinguishes a failure to read from one to write.
struct ReadTracker<'a, R> {
    inner: &'a mut R,
    read_error: Option<std::io::Error>,
}

impl<R: Read> Read for ReadTracker<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buffer).or_else(|error| {
            self.read_error = Some(error);
            Ok(0)
        })
    }
}

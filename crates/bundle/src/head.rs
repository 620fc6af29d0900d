//! The head of a bundle: manifest, statement and signatures, which are read before anything is unpacked.

use std::io::{Read, Write};

use tar::Header;

use super::blocks::{TAR_BLOCK_BYTES, block_padding, encode_header};
use super::error::BundleError;
use super::{manifest, stored};

/// The statement's name in the archive.
pub const STATEMENT_FILE: &str = "statement.json";
/// The name of the statement's SSH signature.
pub const SIGNATURE_FILE: &str = "statement.json.sig";
/// The name of the statement's DSSE envelope.
pub const ENVELOPE_FILE: &str = "statement.dsse.json";
/// The names in their order; an unsigned bundle has no signatures.
const PART_FILES: [&str; 4] =
    [manifest::MANIFEST_FILE, STATEMENT_FILE, SIGNATURE_FILE, ENVELOPE_FILE];
/// The largest statement or signature, bytes.
const MAX_PART_BYTES: u64 = 8 << 20;

/// The parts of a head, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleHead {
    /// The text of `manifest.json`, as it was read.
    pub manifest: Vec<u8>,
    /// The text of `statement.json`, as it was read and signed.
    pub statement: Vec<u8>,
    /// The signatures of the statement; none if the bundle is unsigned.
    pub signatures: Option<Signatures>,
}

/// The two signatures of a statement, by the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signatures {
    /// `statement.json.sig`: an SSH signature, armored.
    pub ssh: Vec<u8>,
    /// `statement.dsse.json`: a DSSE envelope.
    pub envelope: Vec<u8>,
}

impl BundleHead {
    /// Writes the head as one zstd frame of uncompressed blocks.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let mut content = Vec::new();
        let signature_pair = self.signatures.iter();
        let signatures = signature_pair.flat_map(|both| [&both.ssh, &both.envelope]);
        let parts = [&self.manifest, &self.statement].into_iter();
        for (name, part) in PART_FILES.iter().zip(parts.chain(signatures)) {
            content.extend(encode_header(name, part.len() as u64)?);
            content.extend(part);
            content.extend(block_padding(part.len() as u64));
        }
        stored::write_frame(out, &content)
    }

    /// Reads the frame at the beginning of an archive.
    ///
    /// # Errors
    /// If it is not as [`BundleHead::write`] writes it.
    pub fn read(from: &mut impl Read) -> Result<Self, BundleError> {
        let content = stored::read_frame(from, manifest::MAX_MANIFEST_BYTES + 3 * MAX_PART_BYTES)?;
        let mut rest = &content[..];
        let mut parts = Vec::new();
        for name in PART_FILES {
            if rest.is_empty() {
                break;
            }
            parts.push(split_off_part(&mut rest, name)?);
        }
        if !rest.is_empty() {
            return Err(BundleError::malformed("its head has trailing data"));
        }
        let mut parts = parts.into_iter();
        let (Some(manifest), Some(statement)) = (parts.next(), parts.next()) else {
            return Err(BundleError::malformed("it has no statement"));
        };
        let signatures = match (parts.next(), parts.next()) {
            (Some(ssh), Some(envelope)) => Some(Signatures { ssh, envelope }),
            (None, _) => None,
            (Some(_), None) => return Err(BundleError::malformed("it has no DSSE envelope")),
        };
        Ok(Self { manifest, statement, signatures })
    }
}

/// Splits off the next file, which must have this name.
fn split_off_part(rest: &mut &[u8], name: &str) -> Result<Vec<u8>, BundleError> {
    let wrong = || BundleError::malformed(format!("{name} differs from what `runs pack` writes"));
    let (block, after) = rest.split_first_chunk::<TAR_BLOCK_BYTES>().ok_or_else(wrong)?;
    let bytes = Header::from_byte_slice(block).entry_size().map_err(|_| wrong())?;
    let expected = encode_header(name, bytes).map_err(|_| wrong())?;
    if block[..] != expected[..] {
        return Err(BundleError::malformed(format!("expected {name}, found something else")));
    }
    let size = usize::try_from(bytes).map_err(|_| wrong())?;
    let (content, after) = after.split_at_checked(size).ok_or_else(wrong)?;
    let fill = block_padding(bytes);
    *rest = after.strip_prefix(fill).ok_or_else(wrong)?;
    Ok(content.to_vec())
}

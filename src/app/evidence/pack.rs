//! `retrial runs pack RUN --to FILE.tar.zst`: the bundle of a run, signed where a key is given.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::keys;
use crate::app::failure::Failure;
use retrial_bundle::body::BodyWriter;
use retrial_bundle::hashing::{HashingStream, hash_reader};
use retrial_bundle::signature::{self, Signer};
use retrial_bundle::statement::{Statement, StatementSources, Tool};
use retrial_bundle::{BundleError, BundleHead, BundleManifest};
use retrial_document::ErrorText;
use retrial_plan::Plan;
use retrial_results::verdict::Verdict;
use retrial_store::files::parent_directory;
use retrial_store::journal::{Event, Journal};
use retrial_store::pack::{EXCLUDED_ENTRIES, PackSummary};
use retrial_store::walk::{DirectoryEntry, walk_entries};
use retrial_store::{RunDirectory, StoreError};

#[derive(Debug)]
pub struct PackedBundle {
    /// The packed files of the run.
    pub packed: PackSummary,
    /// Bytes of the archive.
    pub size: u64,
    /// SHA-256 of the archive, hexadecimal.
    pub sha256: String,
    /// The fingerprint of the key; none: it is unsigned.
    pub key: Option<String>,
}

/// Writes a run's bundle.
///
/// # Errors
/// If the run has no verdict, the key does not sign, the file exists, or the disk takes no more.
pub fn pack_bundle(
    run: &RunDirectory,
    to: &Path,
    key: Option<&Path>,
) -> Result<PackedBundle, Failure> {
    let verdict: Verdict = run.read_json("verdict.json").map_err(|_| {
        Failure::usage(format!("{} has no verdict: only a finished run can be bundled", run.id()))
            .with_help(format!(
                "finish it: retrial resume {0}    pack it as is: --to {0}.tar.gz",
                run.id()
            ))
    })?;
    let plan: Plan = run.read_json("plan.json")?;
    let events = Journal::read_damaged::<Event>(&run.journal_path())?.entries;
    // Prompts for a passphrase before the work, not after it.
    let mut signer = key.map(keys::open_key).transpose()?;

    let failed =
        |error: io::Error| Failure::host(format!("failed to write {}: {error}", to.display()));
    let folder = parent_directory(to);
    let (mut body, manifest, omitted) = write_body(run, folder)?;
    let facts = StatementSources { plan: &plan, verdict: &verdict, events: &events };
    let head = create_head(facts, &manifest, signer.as_deref_mut())?;

    let mut builder = tempfile::Builder::new();
    // Like any file that is written: the umask decides who reads it.
    let with_permissions = builder.permissions(Permissions::from_mode(0o666));
    let mut part = with_permissions.tempfile_in(folder).map_err(failed)?;
    let mut out = HashingStream::new(BufWriter::new(part.as_file_mut()));
    head.write(&mut out).map_err(failed)?;
    body.rewind().map_err(failed)?;
    io::copy(&mut body, &mut out).map_err(failed)?;
    out.flush().map_err(failed)?;
    let (_, size, sha256) = out.finish();
    part.as_file().sync_all().map_err(failed)?;
    part.persist_noclobber(to).map_err(|error| failed(error.error))?;
    Ok(PackedBundle {
        packed: PackSummary {
            files: manifest.files.len(),
            bytes: manifest.total_bytes().unwrap_or_default(),
            omitted,
        },
        size,
        sha256,
        key: signer.map(|signer| signature::fingerprint(signer.public_key())),
    })
}

/// Compresses the run's files into an unnamed file next to the archive: the manifest precedes them, but is
/// known only after them.
fn write_body(
    run: &RunDirectory,
    folder: &Path,
) -> Result<(File, BundleManifest, Vec<String>), Failure> {
    let failed = |error| StoreError::io("write", folder)(error);
    let file = tempfile::tempfile_in(folder).map_err(failed)?;
    let mut body = BodyWriter::new(BufWriter::new(file), run.id()).map_err(failed)?;
    let mut omitted = Vec::new();
    walk_entries(run.path(), &EXCLUDED_ENTRIES, &mut |relative, entry| {
        let path = relative.display().to_string();
        match entry {
            DirectoryEntry::Directory => {}
            DirectoryEntry::File(file) => {
                let bytes = file.metadata().map_err(StoreError::io("read", relative))?;
                body.add_file(&path, bytes.len(), file)?;
            }
            DirectoryEntry::Other(reason) => omitted.push(format!("{path}: {reason}")),
        }
        Ok::<_, Failure>(())
    })?;
    let (out, manifest) = body.finish()?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    Ok((file, manifest, omitted))
}

fn create_head(
    facts: StatementSources<'_>,
    manifest: &BundleManifest,
    signer: Option<&mut (dyn Signer + 'static)>,
) -> Result<BundleHead, Failure> {
    let tool = Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // Whatever has become of the running program's file.
        sha256: File::open("/proc/self/exe")
            .and_then(hash_reader)
            .map_err(|error| Failure::host(format!("failed to read this program: {error}")))?,
    };
    let text = manifest.to_canonical_json()?.into_bytes();
    let unsigned_statement = Statement::new(facts, &manifest.run, &text, tool);
    let statement = unsigned_statement.to_canonical_json()?.into_bytes();
    let signing_result = signer.map(|signer| signature::sign_statement(&statement, signer));
    let signatures = signing_result
        .transpose()
        .map_err(|error| Failure::usage(ErrorText::of(&error).in_context("not signed: ")))?;
    Ok(BundleHead { manifest: text, statement, signatures })
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        Self::host(ErrorText::of(&error))
    }
}

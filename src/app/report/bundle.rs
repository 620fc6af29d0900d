//! A report on a run in an archive of `runs pack`: only on one that verifies, and with its digest and who signed it.

use std::path::Path;

use tempfile::TempDir;

use crate::app::evidence::{VerifyRequest, create_temporary_directory, verify_bundle};
use crate::app::failure::Failure;
use retrial_bundle::verification::SignatureState;
use retrial_results::verdict::ExitCode;
use retrial_store::RunDirectory;

/// A run out of an archive.
pub struct UnpackedBundle {
    /// The run, there as long as this value.
    pub run: RunDirectory,
    /// The archive, its digest and who signed it.
    pub name: String,
    _directory: TempDir,
}

/// Opens an archive, if it verifies.
pub fn open_verified_bundle(path: &Path) -> Result<UnpackedBundle, Failure> {
    let request = VerifyRequest { bundle: path.to_owned(), signers: None, identity: None };
    let directory = create_temporary_directory()?;
    let verified = verify_bundle(&request, directory.path())?;
    let result = &verified.verification;
    let (Some(run), true) = (verified.run, result.verified) else {
        let message = format!("{} is not reported: not verified", path.display());
        let failure = Failure::new(ExitCode::NotReproduced, message);
        let problems = result.problems.iter();
        return Err(problems.fold(failure, Failure::with_help));
    };
    let signed = match &result.signature {
        SignatureState::NotChecked { key } => {
            format!("signed by {key}; the key's owner was not checked")
        }
        _ => "unsigned".to_owned(),
    };
    Ok(UnpackedBundle {
        run,
        name: format!("{}, sha256:{}, {signed}", path.display(), result.sha256),
        _directory: directory,
    })
}

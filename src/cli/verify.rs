//! `retrial verify`: checks the bundle of a run that somebody else packed.

use crate::app::evidence::{self, VerifiedBundle};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, VerifyRequest};
use crate::app::runtime::start_runtime;
use crate::app::signals::Signals;
use crate::app::terminal;
use retrial_report::content;
use retrial_results::verdict::ExitCode;

/// Checks a bundle, and judges its logs again. Unpacked files are removed, also after a signal.
pub fn verify_archive(
    global: &GlobalOptions,
    request: &VerifyRequest,
) -> Result<ExitCode, Failure> {
    let directory = evidence::create_temporary_directory()?;
    let (request, to) = (request.clone(), directory.path().to_owned());
    let runtime = start_runtime()?;
    let verified = runtime.block_on(async {
        let work = tokio::task::spawn_blocking(move || evidence::verify_bundle(&request, &to));
        let Ok(mut signals) = Signals::new() else {
            return work.await.ok();
        };
        tokio::select! {
            done = work => done.ok(),
            _ = signals.next() => None,
        }
    });
    // Does not wait for the reader of the archive: its result is not needed any more.
    runtime.shutdown_background();
    let Some(verified) = verified else {
        return Ok(ExitCode::Interrupted);
    };
    let VerifiedBundle { verification, .. } = verified?;
    if global.output == OutputFormat::Json {
        terminal::print_json(&verification);
    } else {
        terminal::print_document(&content::verification::verification_document(&verification));
    }
    Ok(verification.exit_code)
}

//! `retrial verify`: checks the bundle of a run that somebody else packed.

use crate::app::evidence;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, VerifyRequest};
use crate::app::terminal;
use crate::report::content;
use crate::results::verdict::ExitCode;

/// Checks a bundle, and judges its logs again.
pub fn verify(global: &GlobalOptions, request: &VerifyRequest) -> Result<ExitCode, Failure> {
    let verified = evidence::verify(request)?;
    let verification = &verified.verification;
    if global.output == Output::Json {
        terminal::print_json(verification);
    } else {
        terminal::show(&content::verification::document(verification));
    }
    Ok(verification.exit_code)
}

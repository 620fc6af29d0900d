//! The JSON schema of batch files, for editors.

use super::keys::BATCH;
use retrial_recipe::schema::of;

/// The schema as pretty JSON with a newline at its end.
#[must_use]
pub fn json() -> String {
    of(
        &BATCH,
        "Retrial batch",
        "Many runs over what is varied, and what is claimed of them.",
    )
}

//! The JSON schema of batch files, for editors.

use super::keys::BATCH;
use retrial_document::schema;

/// The schema as pretty JSON with a newline at its end.
#[must_use]
pub fn json() -> String {
    schema::json(
        &BATCH,
        "Retrial batch",
        "Many runs over what is varied, and what is claimed of them.",
    )
}

//! The JSON schema of batch files, for editors.

use super::Batch;
use retrial_document::{Keys as _, schema};

/// Returns the schema as pretty JSON with a newline at its end.
pub fn batch_schema_json() -> String {
    schema::schema_json(
        Batch::OBJECT,
        "Retrial batch",
        "Runs over all combinations of the axes, and claims about them.",
    )
}

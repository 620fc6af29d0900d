//! The JSON schema of site files, for editors.

use super::Site;
use retrial_document::{Keys as _, schema};

/// Returns the schema as pretty JSON with a newline at its end.
pub fn site_schema_json() -> String {
    schema::schema_json(
        Site::OBJECT,
        "Retrial site",
        "A cluster, and how Retrial's jobs are submitted there.",
    )
}

//! An error as a line for assertions: what failed, and what to do about it.

use retrial_document::ErrorText;

/// Returns an error and its remedies in one line.
pub fn with_remedy(error: &dyn miette::Diagnostic) -> String {
    ErrorText::of(error).to_string()
}

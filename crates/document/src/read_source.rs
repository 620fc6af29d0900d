//! Reads the bytes of a file as a source; reports files that are too large or not UTF-8.

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::{MAX_DOCUMENT_BYTES, Source};

impl Source {
    /// Returns a source of the bytes of a file.
    ///
    /// # Errors
    /// Returns one problem if the file is too large or not UTF-8.
    pub fn from_bytes(path: impl Into<Arc<str>>, bytes: &[u8]) -> Result<Self, Diagnostics> {
        let source_path = path.into();
        if bytes.len() > MAX_DOCUMENT_BYTES {
            return Err(Self::new(source_path, "").size_limit_problem());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(source_path, text)),
            Err(error) => {
                let good = error.valid_up_to();
                let text = String::from_utf8_lossy(bytes);
                // Valid text is unchanged, so the offset is valid in the lossy text.
                let source = Self::new(source_path, text.as_ref());
                let problem = Diagnostic::error(
                    "not-utf-8",
                    "this is not UTF-8 text",
                    source.span(good..good + '\u{fffd}'.len_utf8()),
                )
                .with_help("documents are YAML in UTF-8; save the file in that encoding");
                Err(problem.into())
            }
        }
    }

    /// Returns the problem of a file that exceeds the size limit.
    pub fn size_limit_problem(&self) -> Diagnostics {
        Diagnostic::error(
            "too-large",
            format!(
                "the file is larger than {} KiB, the most that is read",
                MAX_DOCUMENT_BYTES >> 10
            ),
            self.span(0..0),
        )
        .into()
    }
}

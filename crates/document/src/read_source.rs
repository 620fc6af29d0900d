//! Reads the bytes of a file as a source; reports files that are too large or not UTF-8.

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::{SIZE_LIMIT, Source};

impl Source {
    /// Returns a source of the bytes of a file.
    ///
    /// # Errors
    /// Returns one problem if the file is too large or not UTF-8.
    pub fn from_bytes(path: impl Into<Arc<str>>, bytes: &[u8]) -> Result<Self, Diagnostics> {
        let path = path.into();
        if bytes.len() > SIZE_LIMIT {
            return Err(Self::new(path, "").too_large());
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(path, text)),
            Err(error) => {
                let good = error.valid_up_to();
                let text = String::from_utf8_lossy(bytes);
                // Valid text is unchanged, so the offset is valid in the lossy text.
                let source = Self::new(path, text.as_ref());
                let problem = Diagnostic::error(
                    "not-utf-8",
                    "this is not UTF-8 text",
                    source.span(good..good + '\u{fffd}'.len_utf8()),
                )
                .help("documents are YAML in UTF-8; save the file in that encoding");
                Err(problem.into())
            }
        }
    }

    /// Returns the problem of a file that exceeds the size limit.
    pub fn too_large(&self) -> Diagnostics {
        Diagnostic::error(
            "too-large",
            format!(
                "the file is larger than {} KiB, the most that is read",
                SIZE_LIMIT >> 10
            ),
            self.span(0..0),
        )
        .into()
    }
}

//! The text of a block in messages: on one line, without secrets and internal markers.

use super::grammar::{restore_here_documents, unmark_placeholders};
use super::secret::mask_secrets;

/// Returns a part of the block for a message.
pub(super) fn show(part: &impl ToString) -> String {
    show_text(&part.to_string())
}

/// Returns a text of the block for a message.
pub(super) fn show_text(text: &str) -> String {
    let shown = unmark_placeholders(&mask_secrets(&restore_here_documents(text)));
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

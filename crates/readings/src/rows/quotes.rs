//! Quotation marks of CSV: spaces before them, and cells that never end.

use std::borrow::Cow;

/// Removes spaces between a separator and a quotation mark, which the parser takes as a part of the cell.
pub fn strip_spaces_before_quotes(table: &[u8], separator: u8) -> Cow<'_, [u8]> {
    if memchr::memmem::find(table, b" \"").is_none() {
        return Cow::Borrowed(table);
    }
    let mut out = Vec::with_capacity(table.len());
    let (mut quoted, mut begins) = (false, true);
    let mut rest = table;
    while let Some((&byte, after)) = rest.split_first() {
        let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
        if begins && !quoted && rest.get(spaces) == Some(&b'"') {
            rest = &rest[spaces + 1..];
            out.push(b'"');
            (quoted, begins) = (true, false);
            continue;
        }
        // Within a cell that is not quoted, a quotation mark is one of its characters.
        if quoted && byte == b'"' {
            quoted = after.first() == Some(&b'"') && {
                out.push(b'"');
                true
            };
            rest = if quoted { &after[1..] } else { after };
            out.push(b'"');
            continue;
        }
        begins = !quoted && (byte == separator || matches!(byte, b'\n' | b'\r'));
        out.push(byte);
        rest = after;
    }
    Cow::Owned(out)
}

/// Returns whether a row ends within a quoted cell: it was cut, or all text behind it is in that cell.
pub fn ends_in_quoted_cell(row: &[u8], separator: u8) -> bool {
    let (mut quoted, mut begins) = (false, true);
    for byte in row {
        if *byte == b'"' && (quoted || begins) {
            // A doubled mark ends the cell and begins it again.
            quoted = !quoted;
            begins = !quoted;
        } else {
            let is_end = *byte == separator || matches!(byte, b'\n' | b'\r');
            begins = !quoted && (is_end || begins && *byte == b' ');
        }
    }
    quoted
}

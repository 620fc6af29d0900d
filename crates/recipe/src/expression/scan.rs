//! Finds expressions in a text.

use std::ops::Range;

/// The position of one `${{ … }}` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// The byte range with the delimiters.
    pub outer: Range<usize>,
    /// The byte range between the delimiters.
    pub inner: Range<usize>,
}

/// A `${{` at this byte offset that is never closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanError {
    pub offset: usize,
}

/// Returns all expressions of a text, in order. `}}` inside of quotes does not end one.
pub fn find_expressions(text: &str) -> Result<Vec<Expression>, ScanError> {
    let mut expressions = Vec::new();
    let mut from = 0;
    while let Some(offset) = text[from..].find("${{") {
        let start = from + offset;
        let inner = start + 3;
        let end = find_close(&text[inner..]).ok_or(ScanError { offset: start })? + inner;
        expressions.push(Expression { outer: start..end + 2, inner: inner..end });
        from = end + 2;
    }
    Ok(expressions)
}

fn find_close(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'\'' | b'"')) => quote = Some(byte),
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

//! JSON documents in a log: on a line of their own or behind a prefix (`[rank0]: {…}`), and
//! printed over several lines. Everything else is text of the program, and is skipped.

use serde_json::{Deserializer, Value};

use super::tolerance::quote_non_finite_numbers;
use super::unique::UniqueValue;

/// The longest document that is read.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;
/// Brackets of a line at which a document is looked for.
pub(super) const MAX_BEGINNINGS_PER_LINE: usize = 8;

/// A part of a log that is, or begins as, a JSON document.
#[derive(Debug, PartialEq)]
pub enum LogPiece<'a> {
    /// A document, with the number of its first line, from 1, and what precedes it there.
    Document(Value, u64, &'a str),
    /// A text that begins as a document and is none, or is cut; with the number of its line.
    Broken(&'a str, u64),
}

/// Finds the documents of a log, line by line.
#[derive(Debug, Clone, Default)]
pub struct DocumentSplitter {
    lines: u64,
    open: Option<OpenDocument>,
}

impl DocumentSplitter {
    /// Reads a line, and hands each document that ends on it to `emit`.
    pub fn feed_line(&mut self, line: &str, mut emit: impl FnMut(LogPiece<'_>)) {
        self.lines += 1;
        if let Some(mut open) = self.open.take() {
            match open.append_line(line) {
                DocumentState::Open => {
                    self.open = Some(open);
                    return;
                }
                DocumentState::Complete => return open.emit_piece(&mut emit),
                // The document was cut, and this line is not of it.
                DocumentState::Foreign => emit(LogPiece::Broken(&open.text, open.line)),
            }
        }
        self.open = begin_documents(line, self.lines, &mut emit);
    }

    /// Finishes the log: hands a document that is still open to `emit`, as broken.
    pub fn finish(&mut self, mut emit: impl FnMut(LogPiece<'_>)) {
        if let Some(open) = self.open.take() {
            emit(LogPiece::Broken(&open.text, open.line));
        }
    }
}

/// Reads the documents that begin on a line; returns one that does not end on it.
fn begin_documents(
    line: &str,
    number: u64,
    emit: &mut impl FnMut(LogPiece<'_>),
) -> Option<OpenDocument> {
    let mut broken = None;
    let brackets = line.match_indices(['{', '[']).map(|(at, _)| at);
    let beginnings = brackets.filter(|at| {
        let is_first = line[..*at].trim().is_empty();
        begins_document(&line[*at..]) && (is_first || line.as_bytes()[*at] == b'{')
    });
    for at in beginnings.take(MAX_BEGINNINGS_PER_LINE) {
        let rest = &line[at..];
        let text = quote_non_finite_numbers(rest.as_bytes());
        let mut values = Deserializer::from_slice(&text).into_iter::<UniqueValue>();
        match values.next() {
            Some(Ok(UniqueValue(Value::Array(_))))
                if !is_rest_empty(&text, values.byte_offset()) => {}
            Some(Ok(UniqueValue(value))) => {
                emit(LogPiece::Document(value, number, &line[..at]));
                let others = values.map_while(Result::ok).map(|UniqueValue(value)| value);
                for value in others.filter(Value::is_object) {
                    emit(LogPiece::Document(value, number, &line[..at]));
                }
                return None;
            }
            Some(Err(error)) if error.is_eof() => {
                let mut open = OpenDocument::new(&line[..at], number);
                if open.read_text(rest) == DocumentState::Open {
                    return Some(open);
                }
                broken = broken.or(Some(rest));
            }
            // It is JSON, and says two things.
            Some(Err(error)) if error.is_data() => {
                emit(LogPiece::Broken(rest, number));
                return None;
            }
            _ => broken = broken.or(Some(rest)),
        }
    }
    if let Some(text) = broken {
        emit(LogPiece::Broken(text, number));
    }
    None
}

fn is_rest_empty(text: &[u8], from: usize) -> bool {
    text.get(from..).is_none_or(|rest| rest.trim_ascii().is_empty())
}

/// Returns whether a text that begins with a bracket goes on as JSON does.
fn begins_document(text: &str) -> bool {
    let rest = text[1..].trim_start().bytes().next();
    match text.as_bytes()[0] {
        // With single quotes it is Python's, and is reported as broken.
        b'{' => matches!(rest, None | Some(b'"' | b'\'' | b'}')),
        // Words are text of the program: `[info] ready`.
        _ => rest
            .is_none_or(|byte| byte == b']' || (begins_value(byte) && !byte.is_ascii_alphabetic())),
    }
}

fn begins_value(byte: u8) -> bool {
    matches!(
        byte,
        b'"' | b'{' | b'[' | b'-' | b'+' | b'0'..=b'9' | b't' | b'f' | b'n' | b'i' | b'N' | b'I'
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentState {
    Open,
    Complete,
    Foreign,
}

/// A document that goes on with the next line. Brackets are counted, so that it is parsed once.
#[derive(Debug, Clone)]
struct OpenDocument {
    text: String,
    line: u64,
    /// The text before the document, which may be repeated on each line.
    prefix: String,
    brackets: Vec<u8>,
    /// The last byte that is not white space.
    previous: u8,
}

impl OpenDocument {
    fn new(prefix: &str, line: u64) -> Self {
        Self {
            text: String::new(),
            line,
            prefix: prefix.to_owned(),
            brackets: Vec::new(),
            previous: b':',
        }
    }

    fn append_line(&mut self, line: &str) -> DocumentState {
        let text = line.strip_prefix(&self.prefix).unwrap_or(line);
        match text.trim_start().bytes().next() {
            None => DocumentState::Open,
            Some(first) if self.may_go_on_with(first) => {
                self.text.push('\n');
                self.read_text(text)
            }
            Some(_) => DocumentState::Foreign,
        }
    }

    /// Returns whether JSON allows this after what was read.
    fn may_go_on_with(&self, first: u8) -> bool {
        match (self.previous, self.brackets.last()) {
            (b'{', _) => matches!(first, b'"' | b'}'),
            (b',', Some(b'{')) => first == b'"',
            (b'[', _) => first == b']' || begins_value(first),
            (b',' | b':', _) => begins_value(first),
            _ => matches!(first, b',' | b':' | b'}' | b']'),
        }
    }

    fn read_text(&mut self, text: &str) -> DocumentState {
        if self.text.len() + text.len() > MAX_DOCUMENT_BYTES {
            return DocumentState::Foreign;
        }
        let mut bytes = text.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    // A text never goes on with the next line.
                    let mut escaped = false;
                    let closed = bytes.any(|(_, byte)| {
                        let closes = byte == b'"' && !escaped;
                        escaped = byte == b'\\' && !escaped;
                        closes
                    });
                    if !closed {
                        self.text.push_str(text);
                        return DocumentState::Foreign;
                    }
                }
                b'{' | b'[' => self.brackets.push(byte),
                b'}' | b']' => {
                    self.brackets.pop();
                    if self.brackets.is_empty() {
                        self.text.push_str(&text[..=at]);
                        return DocumentState::Complete;
                    }
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.previous = byte;
            }
        }
        self.text.push_str(text);
        DocumentState::Open
    }

    fn emit_piece(&self, emit: &mut impl FnMut(LogPiece<'_>)) {
        match serde_json::from_slice(&quote_non_finite_numbers(self.text.as_bytes())) {
            Ok(UniqueValue(value)) => emit(LogPiece::Document(value, self.line, &self.prefix)),
            Err(_) => emit(LogPiece::Broken(&self.text, self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// The documents and the broken texts of a log, each with its line.
    type Pieces = (Vec<(Value, u64)>, Vec<(String, u64)>);

    fn pieces(log: &str) -> Pieces {
        let (mut whole, mut broken) = (Vec::new(), Vec::new());
        let mut documents = DocumentSplitter::default();
        let mut sort = |piece: LogPiece<'_>| match piece {
            LogPiece::Document(value, line, _) => whole.push((value, line)),
            LogPiece::Broken(text, line) => broken.push((text.to_owned(), line)),
        };
        for line in log.lines() {
            documents.feed_line(line, &mut sort);
        }
        documents.finish(&mut sort);
        (whole, broken)
    }

    #[rstest]
    #[case::line("a\n{\"v\": 1}\nb")]
    #[case::rank("\n[rank0]: {\"v\": 1}")]
    #[case::numbers("\n[1,0]<stdout>: {\"v\": 1}")]
    #[case::logger("\nINFO 2026-05-01 {main.py:3} {\"v\": 1} (3 s)")]
    #[case::pretty("start\n{\n  \"v\": 1\n}\nend")]
    #[case::pretty_behind_a_name("start\nresults: {\n \"v\":\n 1\n}\nend")]
    #[case::pretty_behind_ranks("start\n[rank0]: {\n[rank0]:  \"v\": 1\n[rank0]: }\nend")]
    #[case::in_code("int main() {\n{\"v\": 1}\n}")]
    #[case::after_a_cut_one("{\"v\": 5,\n{\"v\": 1}")]
    fn documents_are_found(#[case] log: &str) {
        assert_eq!(pieces(log).0, [(json!({"v": 1}), 2)]);
    }

    #[rstest]
    #[case::line("ok\n{\"v\": 1, \"w", "{\"v\": 1, \"w")]
    #[case::in_a_log("ok\n{\"v\": 1, \"w\nkilled", "{\"v\": 1, \"w")]
    #[case::pretty("ok\n{\n \"v\": 1,\nkilled", "{\n \"v\": 1,")]
    #[case::not_json("ok\n{\"v\": one}", "{\"v\": one}")]
    #[case::python("ok\n{'v': 1}", "{'v': 1}")]
    fn a_broken_document_is_told(#[case] log: &str, #[case] text: &str) {
        assert_eq!(pieces(log), (vec![], vec![(text.to_owned(), 2)]));
    }

    #[rstest]
    fn foreign_text_is_skipped(
        #[values("{loading} 3 of 3", "[info] ready", "{ no json", "f() {return}", "[cut", "100 %")]
        line: &str,
    ) {
        assert_eq!(pieces(line), (vec![], vec![]));
    }

    #[test]
    fn a_document_of_many_lines_is_parsed_once() {
        let rows = "  {\"v\": 1},\n".repeat(100_000);
        let (whole, broken) = pieces(&format!("[\n{rows}  {{}}\n]"));
        assert_eq!((whole.len(), broken.len()), (1, 0));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(log in "([{\\[\\]}\",:a1 n]|\\n){0,60}") {
            pieces(&log);
        }

        #[test]
        fn a_document_between_any_words_is_found(before in "[a-z]{0,9}", after in "[a-z ]{0,9}", pretty in any::<bool>(), text in "\\PC{0,9}") {
            let document = json!({"t": text, "list": [1, {"v": 2.5}], "none": null});
            let printed = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
            let (whole, _) = pieces(&format!("{before}\n{}\n{after}", printed.unwrap()));
            prop_assert_eq!(whole, [(document, 2)]);
        }
    }
}

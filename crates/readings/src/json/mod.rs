//! Figures of JSON documents: the values that a `JSONPath` (RFC 9535) selects.
//!
//! Benchmarks write JSON that is none: Python's `json.dump` prints `NaN` and `Infinity`, C++ `-nan`. They
//! are read, and are no figures. A record that lacks the figure, or was cut, and is like one that has it
//! announces it, and so does something else in place of an object on the way to the figure: no other
//! record takes its place.

use std::borrow::Cow;
use std::mem::take;

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::accumulator::{FigureEntries, find_or_insert_entry};
use super::decode::to_utf8;
use super::figure::PrintedNumber;
use super::json_path;
use super::lexer::{self, NotPlain};
use super::lines::LineSplitter;
use super::nearest::{self, truncate_for_message};
use super::place::{LineCounter, RecordLocation, UnreadableRecord};
use super::units;
use crate::request::MatchSelection;
use crate::sanitize::strip_escapes;
pub use documents::{DocumentSplitter, LogPiece};
use record::{ExampleRecord, IncompleteRecord};
use route::{RecordRoute, RouteResult};
pub use unique::UniqueValue;

mod documents;
mod error;
mod failure;
mod locate;
mod record;
mod route;
mod tolerance;
mod unique;

pub use documents::MAX_DOCUMENT_BYTES;
pub use error::JsonError;
pub use locate::locate_value;
pub use tolerance::quote_non_finite_numbers;

/// Records without the figure that are stored until one has it.
const MAX_PENDING_RECORDS: usize = 1000;

/// Reads documents, one at a time, and stores the values that the path selects.
#[derive(Debug, Clone)]
pub struct JsonReader<'a> {
    path: JsonPath,
    /// The way of a path that ends with a member.
    route: Option<RecordRoute>,
    path_text: &'a str,
    by: &'a [String],
    value: Option<&'a str>,
    /// The figure's unit; empty if it has none.
    unit: &'a str,
    /// The unit that the path's names state, if it is another.
    contradiction: Option<String>,
    take: MatchSelection,
    /// Whether a document may have one value only.
    is_single: bool,
    entries: FigureEntries<JsonError>,
    documents: u64,
    /// The nearest members in the last document in which the path selects nothing.
    nearest_path: String,
    first_error: Option<JsonError>,
    /// The number of the file that is read, among several.
    file: usize,
    /// Whether that is a file of records, and no log.
    in_file: bool,
    log: DocumentSplitter,
    /// The text before the document on its line.
    prefix: String,
    /// The latest record that has the figure, and the latest objects from it to the figure.
    examples: Vec<ExampleRecord>,
    /// The records without the figure, before one that has it.
    pending: Vec<IncompleteRecord>,
}

impl<'a> JsonReader<'a> {
    /// Returns a reader for one path. Without `take` each document may have one value only, and the last document's
    /// counts. With `by`, the members `by` of each match name an entry each, and
    /// its member `value` is the figure.
    ///
    /// # Errors
    /// [`JsonError::Path`] where it is no `JSONPath`.
    pub fn new(
        path: &'a str,
        by: &'a [String],
        value: Option<&'a str>,
        take: Option<MatchSelection>,
    ) -> Result<Self, JsonError> {
        Ok(Self {
            path: json_path::parse_json_path(path)
                .map_err(|source| JsonError::Path { path: path.to_owned(), source })?,
            route: RecordRoute::from_path(path),
            path_text: path,
            by,
            value,
            unit: "",
            contradiction: None,
            is_single: take.is_none() && by.is_empty(),
            take: take.unwrap_or_default(),
            entries: FigureEntries::new(),
            documents: 0,
            nearest_path: String::new(),
            first_error: None,
            file: 0,
            in_file: false,
            log: DocumentSplitter::default(),
            prefix: String::new(),
            examples: Vec::new(),
            pending: Vec::new(),
        })
    }

    /// Reads figures in this unit: what the document states of another is an error.
    #[must_use]
    pub fn with_unit(self, unit: &'a str) -> Self {
        let names = member_names(self.path_text);
        let mut names = self.value.into_iter().map(str::to_owned).chain(names);
        let contradiction = names.find_map(|name| units::find_contradiction(&name, unit));
        Self { unit, contradiction, ..self }
    }

    /// Begins the next of several files.
    pub fn begin_file(&mut self, file: usize) {
        self.file = file;
    }

    /// Reads a file: one document, or one after the other (JSON lines). One that begins with something
    /// else is a log.
    pub fn read_file(&mut self, bytes: &[u8]) {
        let bytes = to_utf8(bytes);
        let bytes = strip_escapes(&bytes);
        if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
            let mut splitter = LineSplitter::with_limit(MAX_DOCUMENT_BYTES);
            splitter.push(&bytes, |line| self.feed_line(&line.text));
            splitter.finish(|line| self.feed_line(&line.text));
            self.finish_log();
            return;
        }
        self.in_file = true;
        let bytes = quote_non_finite_numbers(&bytes);
        let mut documents = serde_json::Deserializer::from_slice(&bytes).into_iter::<UniqueValue>();
        let mut lines = LineCounter::new(&bytes, 1);
        loop {
            let line = lines.line_after(documents.byte_offset());
            match documents.next() {
                Some(Ok(UniqueValue(document))) => {
                    self.read_document(&document, RecordLocation::at_line(self.file, line));
                }
                Some(Err(error)) => {
                    self.first_error.get_or_insert(JsonError::Syntax { reason: error.to_string() });
                    return;
                }
                None => return,
            }
        }
    }

    /// Reads a line of a log; text that is no JSON object or list is skipped.
    pub fn feed_line(&mut self, line: &str) {
        let mut log = take(&mut self.log);
        log.feed_line(line, |piece| self.read_piece(piece));
        self.log = log;
    }

    /// Finishes a log; a document that is still open was cut.
    pub fn finish_log(&mut self) {
        take(&mut self.log).finish(|piece| self.read_piece(piece));
    }

    fn read_piece(&mut self, piece: LogPiece<'_>) {
        match piece {
            LogPiece::Document(document, line, prefix) => {
                prefix.clone_into(&mut self.prefix);
                self.read_document(&document, RecordLocation::at_line(self.file, line));
            }
            LogPiece::Broken(text, line) => {
                let place = RecordLocation::at_line(self.file, line);
                let record =
                    IncompleteRecord::from_broken_text(place, truncate_for_message(text), text);
                self.note_lacking_record(record.with_entry(text, self.by));
            }
        }
    }

    /// Reads one document: stores the values that the path selects, or notes which record lacks one.
    pub fn read_document(&mut self, document: &Value, place: RecordLocation) {
        self.documents += 1;
        let path = self.path.clone();
        let matches = path.query(document).all();
        if self.is_single && matches.windows(2).any(|pair| pair[0] != pair[1]) {
            let (path, count) = (self.path_text.to_owned(), matches.len());
            let error = JsonError::SeveralInDocument { path, count };
            let entry = find_or_insert_entry(&mut self.entries, [], self.take);
            if let Some(entry) = entry {
                entry.add_unreadable(UnreadableRecord { place, error });
            }
            return;
        }
        if matches.is_empty() && self.entries.is_empty() {
            self.nearest_path = nearest::describe_nearest_path(self.path_text, document);
        }
        let Some(route) = self.route.clone().filter(|_| self.by.is_empty()) else {
            for (number, value) in matches.into_iter().enumerate() {
                let place = place.with_value(Some(number));
                let entry =
                    value.as_object().map(|entry| ExampleRecord::from_record(entry, &self.prefix));
                self.learn_examples(entry.into_iter().collect());
                let members: Vec<_> = value.as_object().into_iter().collect();
                self.add_value(value, &members, place);
            }
            return;
        };
        let mut following = matches.iter().enumerate();
        for stop in route.collect_stops(document) {
            match stop {
                RouteResult::Figure(value, on_the_way) => {
                    let example_records =
                        on_the_way.iter().map(|one| ExampleRecord::from_record(one, &self.prefix));
                    let examples = example_records.collect();
                    self.learn_examples(examples);
                    // Both have the document's order.
                    let number = following.find(|(_, found)| std::ptr::eq(**found, value));
                    let place = place.with_value(number.map(|(number, _)| number));
                    self.add_value(value, &on_the_way, place);
                }
                RouteResult::MissingMember(members, level) => {
                    let text =
                        truncate_for_message(&serde_json::to_string(members).unwrap_or_default());
                    let record = IncompleteRecord::from_record(place, text, members, &self.prefix);
                    self.note_lacking_record(record.with_level(level));
                }
                RouteResult::NotAnObject(level) => {
                    let record = IncompleteRecord::from_absent_record(
                        place,
                        truncate_for_message(&document.to_string()),
                    );
                    self.note_lacking_record(record.with_level(level));
                }
            }
        }
    }

    /// Learns what a record with the figure is like; those before it may have announced it.
    fn learn_examples(&mut self, examples: Vec<ExampleRecord>) {
        if examples.is_empty() {
            return;
        }
        self.examples = examples;
        for record in take(&mut self.pending) {
            self.note_lacking_record(record);
        }
    }

    fn note_lacking_record(&mut self, record: IncompleteRecord) {
        if self.examples.is_empty() {
            if self.pending.len() < MAX_PENDING_RECORDS {
                self.pending.push(record);
            }
            return;
        }
        let route = self.route.as_ref();
        let member = route.and_then(|route| route.member_name(record.level));
        let is_anywhere = route.is_some_and(RecordRoute::is_anywhere);
        let mut examples = self.examples.iter().enumerate();
        let announces = examples.any(|(level, example)| {
            if record.is_broken {
                record.announces_figure(
                    example,
                    route.and_then(RecordRoute::figure_member),
                    self.in_file,
                )
            } else if is_anywhere {
                record.is_failure_like(example)
            } else {
                level == record.level && record.announces_figure(example, member, self.in_file)
            }
        });
        if announces {
            self.add_unreadable(record);
        }
    }

    fn add_unreadable(&mut self, record: IncompleteRecord) {
        let (path, text, place) = (self.path_text.to_owned(), record.text, record.place);
        let error = if record.is_broken {
            JsonError::Broken { path, text }
        } else {
            JsonError::MissingMember { path, text }
        };
        let record_of = |error| UnreadableRecord { place, error };
        match record.entry {
            // Of a table, any entry may be the one that was cut.
            None if !self.by.is_empty() => {
                for entry in self.entries.values_mut() {
                    entry.add_unreadable(record_of(error.clone()));
                }
            }
            name => {
                let name = name.unwrap_or_default();
                if let Some(entry) =
                    find_or_insert_entry(&mut self.entries, [name.as_str()], self.take)
                {
                    entry.add_unreadable(record_of(error));
                }
            }
        }
    }

    /// Adds a value, which is a member of the last of these objects.
    fn add_value(&mut self, value: &Value, objects: &[&Map<String, Value>], place: RecordLocation) {
        let names = match self.entry_names(value) {
            Ok(names) => names,
            Err(error) => {
                self.first_error.get_or_insert(error);
                return;
            }
        };
        let number = self.check_unit(objects).and_then(|()| self.read_number(value));
        let name_texts = names.iter().map(String::as_str);
        match find_or_insert_entry(&mut self.entries, name_texts, self.take) {
            Some(entry) => entry.add_record(number, place),
            None => {
                self.first_error
                    .get_or_insert(JsonError::TooManyEntries { path: self.path_text.to_owned() });
            }
        }
    }

    fn entry_names(&self, value: &Value) -> Result<Vec<String>, JsonError> {
        let names = self.by.iter();
        names.map(|name| self.require_member(value, name).map(describe_value)).collect()
    }

    fn require_member<'v>(&self, value: &'v Value, name: &str) -> Result<&'v Value, JsonError> {
        value.get(name).ok_or_else(|| JsonError::NoMember {
            path: self.path_text.to_owned(),
            member: name.to_owned(),
            has: describe_members(value),
        })
    }

    fn read_number(&self, value: &Value) -> Result<PrintedNumber, JsonError> {
        let figure = match self.value {
            Some(name) => self.require_member(value, name)?,
            None => value,
        };
        read_json_number(figure, self.unit).map_err(|reason| JsonError::NotPlain {
            path: self.path_text.to_owned(),
            text: describe_value(figure),
            reason,
        })
    }

    /// Checks that the unit next to a value, next to what contains it, or in its name, is the figure's.
    fn check_unit(&self, objects: &[&Map<String, Value>]) -> Result<(), JsonError> {
        let figure = self.route.as_ref().and_then(RecordRoute::figure_member).unwrap_or_default();
        let own = format!("{figure}_unit");
        let names = [own.as_str(), "unit", "units", "uom"];
        let mut objects = objects.iter().rev();
        let member = objects.find_map(|object| names.iter().find_map(|name| object.get(*name)));
        let stated = match member.and_then(Value::as_str).filter(|_| !self.unit.is_empty()) {
            Some(stated) if units::is_same(stated, self.unit) => None,
            Some(stated) => Some(stated.to_owned()),
            None => self.contradiction.clone(),
        };
        stated.map_or(Ok(()), |stated| {
            let (path, unit) = (self.path_text.to_owned(), self.unit.to_owned());
            Err(JsonError::Unit { path, stated, unit })
        })
    }

    /// Returns the figures by name; one that is not a table has the empty name.
    ///
    /// # Errors
    /// If a file is not JSON, or the path selects nothing. An entry whose value is not a number says
    /// so.
    pub fn into_entries(self) -> Result<FigureEntries<JsonError>, JsonError> {
        if let Some(error) = self.first_error {
            return Err(error);
        }
        if !self.entries.is_empty() {
            return Ok(self.entries);
        }
        let path = || self.path_text.to_owned();
        let figure = self.route.as_ref().and_then(RecordRoute::figure_member);
        let mut broken = self.pending.iter().filter(|record| record.is_broken);
        if let Some(record) = broken.clone().find(|record| record.has_figure_member(figure)) {
            let text = record.text.clone();
            return Err(JsonError::Broken { path: path(), text });
        }
        Err(match broken.next() {
            Some(record) if self.documents == 0 => {
                JsonError::OnlyBroken { text: record.text.clone() }
            }
            _ if self.documents == 0 => JsonError::Empty,
            _ => JsonError::NoMatch { path: path(), near: self.nearest_path },
        })
    }
}

/// Reads a number, or a text that is one (`"1,053.2"`).
pub fn parse_json_number(value: &Value) -> Option<PrintedNumber> {
    read_json_number(value, "").ok()
}

/// Reads a number, or a text that is a quantity in a unit.
fn read_json_number(value: &Value, unit: &str) -> Result<PrintedNumber, NotPlain> {
    match value {
        Value::Number(number) => {
            let value = number.as_f64().filter(|value| value.is_finite());
            // The shortest way to write it, which programs print: serde_json keeps no other digits of a number.
            let printed = lexer::parse_number(&number.to_string());
            value
                .zip(printed)
                .map(|(value, printed)| PrintedNumber { value, ..printed })
                .ok_or(NotPlain::NoNumber)
        }
        Value::String(text) => lexer::read_quantity(&strip_json_escapes(text), unit),
        _ => Err(NotPlain::NoNumber),
    }
}

/// Returns the names of the members on a path, the last first.
fn member_names(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = path.to_owned();
    while let Some((before, name)) = json_path::split_last_member(&rest) {
        names.push(name);
        rest = before.to_string();
    }
    names.extend(json_path::descendant_member_name(&rest).map(str::to_owned));
    names
}

/// Returns a value as a name or for a message.
fn describe_value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => strip_json_escapes(text),
        other => Cow::Owned(other.to_string()),
    };
    nearest::truncate_for_message(&text)
}

/// Removes the escape sequences of a text, which JSON spells as escapes (`\u001b[1m`).
fn strip_json_escapes(text: &str) -> Cow<'_, str> {
    match strip_escapes(text.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn describe_members(value: &Value) -> String {
    match value {
        Value::Object(map) => nearest::join_first_names(map.keys().map(String::as_str)),
        _ => "no members".to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! The way from a document to its figures: the records, and the members that lead from each to the figure.

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use crate::json_path::{descendant_member_name, split_last_member};

/// The way that a path takes.
#[derive(Debug, Clone)]
pub struct RecordRoute {
    /// The records; none if they may be anywhere in a document.
    records: Option<JsonPath>,
    /// The members from a record to the figure, at least one.
    members: Vec<String>,
}

/// A part of a document on the way to a figure.
pub enum RouteResult<'v> {
    /// The figure, and the objects on the way to it.
    Figure(&'v Value, Vec<&'v Map<String, Value>>),
    /// An object on the way, after so many members, that lacks the next one.
    MissingMember(&'v Map<String, Value>, usize),
    /// After so many members, something on the way that is no object, or an empty one.
    NotAnObject(usize),
}

impl RecordRoute {
    /// Returns the way of a path; none if it does not end with a member.
    pub fn from_path(path: &str) -> Option<Self> {
        if let Some(member) = descendant_member_name(path) {
            return Some(Self { records: None, members: vec![member.to_owned()] });
        }
        let (mut records, member) = split_last_member(path)?;
        let mut members = vec![member];
        while let Some((before, member)) = split_last_member(&records.to_string()) {
            members.insert(0, member);
            records = before;
        }
        Some(Self { records: Some(records), members })
    }

    /// Returns whether records may be anywhere, so that those without the figure are most often others.
    pub fn is_anywhere(&self) -> bool {
        self.records.is_none()
    }

    /// Returns the name of the member after so many.
    pub fn member_name(&self, level: usize) -> Option<&str> {
        self.members.get(level).map(String::as_str)
    }

    /// Returns the name of the figure's member.
    pub fn figure_member(&self) -> Option<&str> {
        self.members.last().map(String::as_str)
    }

    /// Returns what a document has on the way, in its order. A document without records is one that lacks
    /// the figure.
    pub fn collect_stops<'v>(&self, document: &'v Value) -> Vec<RouteResult<'v>> {
        let mut stops = Vec::new();
        let Some(records) = &self.records else {
            self.collect_descendant_stops(document, &mut stops);
            return stops;
        };
        let found_records = records.query(document).all();
        if found_records.is_empty() {
            let members = document.as_object();
            stops.extend(members.map(|members| RouteResult::MissingMember(members, 0)));
        }
        let is_document = |record: &Value| std::ptr::eq(record, document);
        for record in found_records {
            if record.is_object() || !is_document(record) {
                stops.push(self.follow_members(record));
            }
        }
        stops
    }

    fn follow_members<'v>(&self, record: &'v Value) -> RouteResult<'v> {
        let mut on_the_way = Vec::new();
        let mut value = record;
        for (level, member) in self.members.iter().enumerate() {
            let Some(members) = value.as_object() else {
                return RouteResult::NotAnObject(level);
            };
            on_the_way.push(members);
            match members.get(member) {
                Some(next) => value = next,
                None if members.is_empty() && level > 0 => return RouteResult::NotAnObject(level),
                None => return RouteResult::MissingMember(members, level),
            }
        }
        RouteResult::Figure(value, on_the_way)
    }

    fn collect_descendant_stops<'v>(&self, value: &'v Value, stops: &mut Vec<RouteResult<'v>>) {
        match value {
            Value::Object(members) => {
                stops.push(self.follow_members(value));
                members.values().for_each(|value| self.collect_descendant_stops(value, stops));
            }
            Value::Array(items) => {
                for value in items {
                    self.collect_descendant_stops(value, stops);
                }
            }
            _ => {}
        }
    }
}

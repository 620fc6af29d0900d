//! A document as a tree in which every value knows its place.

use super::source::Span;

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its place.
    pub span: Span,
}

/// A YAML value.
#[derive(Debug, Clone)]
pub enum Value {
    /// No value.
    Null,
    /// A null that removed the value that it was merged over.
    Removed,
    /// A text, a number or a boolean.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map.
    Map(Vec<Entry>),
}

/// A scalar as it was written: its reader decides its type.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// Its text, unquoted.
    pub text: String,
    /// Neither quoted nor a block: may be a number or a truth value.
    pub plain: bool,
}

/// One key of a map.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Without the `+` of `key+:`.
    pub key: String,
    /// The place of the key.
    pub key_span: Span,
    /// `key+:` appends to the list that it is merged over.
    pub append: bool,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// Returns a null.
    pub fn null(span: Span) -> Self {
        let value = Value::Null;
        Self { value, span }
    }

    /// Returns a scalar; `plain` is neither quoted nor a block.
    pub fn scalar(text: impl Into<String>, plain: bool, span: Span) -> Self {
        let text = text.into();
        let value = Value::Scalar(Scalar { text, plain });
        Self { value, span }
    }

    /// Returns a list.
    pub fn list(items: Vec<Self>, span: Span) -> Self {
        let value = Value::List(items);
        Self { value, span }
    }

    /// Returns a map.
    pub fn map(entries: Vec<Entry>, span: Span) -> Self {
        let value = Value::Map(entries);
        Self { value, span }
    }

    /// Whether it has no value.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null | Value::Removed)
    }

    /// The entries of a map; none for everything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none for everything else.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the items of a list, or the single value in its place.
    pub fn one_or_items(&self) -> &[Self] {
        match self.items() {
            [] => std::slice::from_ref(self),
            items => items,
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The entry of a key that has a value.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key && !entry.value.is_null())
    }

    /// The value of a key; null counts as absent.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the value of a key below keys; null counts as absent.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the text of a key.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns the items of a key's list; none for everything else.
    pub fn items_at(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// Returns the texts in a key's list.
    pub fn texts_at(&self, key: &str) -> Vec<String> {
        let texts = self.items_at(key).iter().filter_map(Self::text);
        texts.map(str::to_owned).collect()
    }

    /// Returns the entries of a key's map; none for everything else.
    pub fn entries_at(&self, key: &str) -> &[Entry] {
        self.get(key).map_or(&[], Self::entries)
    }

    /// Entries that have a value, as name and value.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.entries()
            .iter()
            .filter(|entry| !entry.value.is_null())
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// Returns the entries of a key's map that have a value, as name and value.
    pub fn named_at(&self, key: &str) -> impl Iterator<Item = (&str, &Self)> + use<'_> {
        self.get(key).into_iter().flat_map(Self::named)
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null | Value::Removed => "nothing",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Scalar(scalar) => scalar.kind(),
        }
    }
}

impl Entry {
    /// Returns the same key with another value.
    #[must_use]
    pub fn with(&self, value: Node) -> Self {
        Self {
            key: self.key.clone(),
            key_span: self.key_span.clone(),
            append: self.append,
            value,
        }
    }
}

impl Scalar {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        if !self.plain {
            "text"
        } else if self.boolean().is_some() {
            "a truth value"
        } else if self.text.parse::<i64>().is_ok() {
            "an integer"
        } else if self.number().is_some() {
            "a number"
        } else {
            "text"
        }
    }

    /// Reads `true` or `false`.
    pub fn boolean(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.plain => Some(true),
            "false" | "False" | "FALSE" if self.plain => Some(false),
            _ => None,
        }
    }

    /// Reads a whole number.
    pub fn integer(&self) -> Option<i64> {
        self.plain.then(|| self.text.parse().ok()).flatten()
    }

    /// A finite number; `inf` and `nan` are words here, not figures.
    pub fn number(&self) -> Option<f64> {
        let starts_well = self
            .text
            .starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        if !self.plain || !starts_well {
            return None;
        }
        self.text
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    }
}

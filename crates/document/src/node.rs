//! A document as a tree in which every value knows its place.

use super::source::Span;

/// A value with its position in the source.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value as written, unless it was evaluated.
    pub value: Value,
    /// The position of the value in its document.
    pub span: Span,
}

/// A value of a YAML document.
#[derive(Debug, Clone)]
pub enum Value {
    /// An absent value: `key:`, `~` or `null`.
    Null,
    /// A null that removed the value that it was merged over.
    Removed,
    /// A text, a number or a boolean.
    Scalar(Scalar),
    /// A sequence: `[a, b]`, or lines with dashes.
    List(Vec<Node>),
    /// A mapping, its entries in the order of the document.
    Map(Vec<MapEntry>),
}

/// A scalar as written; the field type of its key decides how it is read.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// The text without quotes and escapes.
    pub text: String,
    /// Written without quotes and not as a block: it may be a number or a boolean.
    pub plain: bool,
}

/// An entry of a map: a key and its value.
#[derive(Debug, Clone)]
pub struct MapEntry {
    /// The key without the `+` of `key+:`.
    pub key: String,
    /// The position of the key in its document.
    pub key_span: Span,
    /// `key+:` appends to the list that it is merged over.
    pub append: bool,
    /// The value; null if only the key is written.
    pub value: Node,
}

impl Node {
    /// Returns a node without a value.
    pub fn null(span: Span) -> Self {
        let value = Value::Null;
        Self { value, span }
    }

    /// Returns a scalar; `plain` is neither quoted nor a block.
    pub fn scalar(text: impl Into<String>, plain: bool, span: Span) -> Self {
        let scalar_text = text.into();
        let value = Value::Scalar(Scalar { text: scalar_text, plain });
        Self { value, span }
    }

    pub fn list(items: Vec<Self>, span: Span) -> Self {
        let value = Value::List(items);
        Self { value, span }
    }

    pub fn map(entries: Vec<MapEntry>, span: Span) -> Self {
        let value = Value::Map(entries);
        Self { value, span }
    }

    /// Returns whether the node has no value.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null | Value::Removed)
    }

    /// Returns the entries of a map; none for other values.
    pub fn entries(&self) -> &[MapEntry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items of a list; none for other values.
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

    /// Returns the text of a scalar; none for other values.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the node as JSON: plain scalars are numbers and booleans where they are written as these.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null | Value::Removed => serde_json::Value::Null,
            Value::Scalar(scalar) => scalar.to_json(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                serde_json::Value::Object(pairs.collect())
            }
        }
    }

    /// Returns the entry of a key that has a value.
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.entries().iter().find(|entry| entry.key == key && !entry.value.is_null())
    }

    /// Returns the value of a key; null counts as absent.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the value at a path of nested keys; null counts as absent.
    pub fn descendant(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the value at a path of nested keys, to change it; null counts as absent.
    pub fn descendant_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, key| {
            let Value::Map(entries) = &mut node.value else {
                return None;
            };
            let entry = entries.iter_mut().find(|entry| entry.key == *key)?;
            (!entry.value.is_null()).then_some(&mut entry.value)
        })
    }

    /// Sets a key of a map, in place of the value that it has; does nothing to another kind of node.
    pub fn set_key(&mut self, key: &str, value: Self) {
        if let Value::Map(entries) = &mut self.value {
            entries.retain(|entry| entry.key != key);
            let key_span = value.span.clone();
            entries.push(MapEntry { key: key.to_owned(), key_span, append: false, value });
        }
    }

    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns the items of a key's list; none for other values.
    pub fn items_at(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    pub fn texts_at(&self, key: &str) -> Vec<String> {
        let texts = self.items_at(key).iter().filter_map(Self::text);
        texts.map(str::to_owned).collect()
    }

    /// Returns the entries of a key's map; none for other values.
    pub fn entries_at(&self, key: &str) -> &[MapEntry] {
        self.get(key).map_or(&[], Self::entries)
    }

    /// Returns the entries that have a value, as name and value.
    pub fn present_entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.entries()
            .iter()
            .filter(|entry| !entry.value.is_null())
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// Returns the entries of a key's map that have a value, as name and value.
    pub fn present_entries_at(&self, key: &str) -> impl Iterator<Item = (&str, &Self)> + use<'_> {
        self.get(key).into_iter().flat_map(Self::present_entries)
    }

    /// Returns the noun of the value with its article, for messages: `a list`.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null | Value::Removed => "nothing",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Scalar(scalar) => scalar.kind(),
        }
    }
}

impl MapEntry {
    /// Returns the same key with another value.
    #[must_use]
    pub fn with_value(&self, value: Node) -> Self {
        Self { key: self.key.clone(), key_span: self.key_span.clone(), append: self.append, value }
    }
}

impl Scalar {
    /// Returns the noun of the value with its article, for messages: `an integer`.
    pub fn kind(&self) -> &'static str {
        if !self.plain {
            "text"
        } else if self.as_bool().is_some() {
            "a boolean"
        } else if self.text.parse::<i64>().is_ok() {
            "an integer"
        } else if self.as_number().is_some() {
            "a number"
        } else {
            "text"
        }
    }

    /// Returns the boolean if the scalar is written as one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.plain => Some(true),
            "false" | "False" | "FALSE" if self.plain => Some(false),
            _ => None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let integer = self.as_integer().map(serde_json::Value::from);
        let number = || self.as_number().map(serde_json::Value::from);
        let written = self.as_bool().map(serde_json::Value::from).or(integer).or_else(number);
        written.unwrap_or_else(|| self.text.as_str().into())
    }

    /// Returns the whole number if the scalar is written as one.
    pub fn as_integer(&self) -> Option<i64> {
        self.plain.then(|| self.text.parse().ok()).flatten()
    }

    /// Returns the number if the scalar is written as a finite one; `inf` and `nan` are text.
    pub fn as_number(&self) -> Option<f64> {
        let starts_well =
            self.text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        if !self.plain || !starts_well {
            return None;
        }
        self.text.parse().ok().filter(|value: &f64| value.is_finite())
    }
}

//! Names and values in the order in which they were written: `rocm=7.1.1,backend=migraphx`.

use std::fmt;

use indexmap::IndexMap;
use itertools::join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values by name, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedValues(IndexMap<String, String>);

impl NamedValues {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a value, in the place of one of this name or at the end.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Keeps only the values whose names pass.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|name, _| keep(name));
    }

    /// Sorts the values by name.
    pub fn sort(&mut self) {
        self.0.sort_keys();
    }

    /// Returns names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.0.iter();
        values.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether all of these values are among those of `others`.
    pub fn is_subset_of(&self, others: &Self) -> bool {
        self.iter().all(|(name, value)| others.get(name) == Some(value))
    }
}

impl FromIterator<(String, String)> for NamedValues {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// `rocm=7.1.1,backend=migraphx`
impl fmt::Display for NamedValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.iter().map(|(name, value)| format!("{name}={value}"));
        formatter.write_str(&join(values, ","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: &[(&str, &str)]) -> NamedValues {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        all.iter().map(own).collect()
    }

    #[test]
    fn order_survives_json() {
        let original = values(&[("rocm", "7.1.1"), ("backend", "migraphx"), ("a", "b")]);
        let json = serde_json::to_string(&original).unwrap();
        assert_eq!(json, r#"{"rocm":"7.1.1","backend":"migraphx","a":"b"}"#);
        let again = serde_json::from_str::<NamedValues>(&json).unwrap();
        // Equality ignores the order.
        assert_eq!(again.to_string(), original.to_string());
        assert_eq!(again, original);
        assert_eq!(original.to_string(), "rocm=7.1.1,backend=migraphx,a=b");
    }

    #[test]
    fn a_subset_of_values_is_contained() {
        let whole = values(&[("rocm", "7.1.1"), ("backend", "migraphx")]);
        assert!(values(&[("backend", "migraphx")]).is_subset_of(&whole));
        assert!(!values(&[("backend", "rocm")]).is_subset_of(&whole));
        assert!(!values(&[("gpu", "w7900")]).is_subset_of(&whole));
        assert!(NamedValues::default().is_subset_of(&whole));
    }
}

//! Names and values in the order in which they were written: `rocm=7.1.1,backend=migraphx`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values of axes or params, in order. In JSON a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(pub Vec<(String, String)>);

impl Values {
    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter();
        values
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Sets a value, in the place of one of this name or at the end.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of these values are among those of `others`.
    #[must_use]
    pub fn are_in(&self, others: &Self) -> bool {
        self.iter()
            .all(|(name, value)| others.get(name) == Some(value))
    }
}

impl FromIterator<(String, String)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// `rocm=7.1.1,backend=migraphx`
impl fmt::Display for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(formatter, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Values;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of values by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl JsonSchema for Values {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Values".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Values by name, in order.",
            "type": "object",
            "additionalProperties": { "type": "string" },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(all: &[(&str, &str)]) -> Values {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        all.iter().map(own).collect()
    }

    #[test]
    fn order_survives_json() {
        let one = values(&[("rocm", "7.1.1"), ("backend", "migraphx"), ("a", "b")]);
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(json, r#"{"rocm":"7.1.1","backend":"migraphx","a":"b"}"#);
        assert_eq!(serde_json::from_str::<Values>(&json).unwrap(), one);
        assert_eq!(one.to_string(), "rocm=7.1.1,backend=migraphx,a=b");
    }

    #[test]
    fn a_part_is_in_the_whole() {
        let whole = values(&[("rocm", "7.1.1"), ("backend", "migraphx")]);
        assert!(values(&[("backend", "migraphx")]).are_in(&whole));
        assert!(!values(&[("backend", "rocm")]).are_in(&whole));
        assert!(!values(&[("gpu", "w7900")]).are_in(&whole));
        assert!(Values::default().are_in(&whole));
    }
}

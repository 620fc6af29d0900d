//! Limits of the resources of a container's processes, which recipes, plans and the engine's request share.

use std::fmt;

use retrial_document::{FieldType, OrderedMap, object};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

object! {
    /// Both limits of a resource.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Ulimit: "a resource limit", or FieldType::Integer(-1, i64::MAX) => Ulimit::from_single;
    keys {
        /// The soft limit; -1 is unlimited.
        soft: i64 [required] = FieldType::Integer(-1, i64::MAX),
        /// The hard limit; -1 is unlimited.
        hard: i64 [required] = FieldType::Integer(-1, i64::MAX),
    }
}

impl Ulimit {
    fn from_single(text: &str) -> Option<Self> {
        let limit = text.parse().ok()?;
        Some(Self { soft: limit, hard: limit })
    }
}

/// `soft:hard`, as `--ulimit name=soft:hard` has it.
impl fmt::Display for Ulimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.soft, self.hard)
    }
}

/// A limit as plans store it: `{"name": "nofile", "soft": 1024, "hard": 2048}`.
#[derive(Serialize, Deserialize)]
struct StoredUlimit {
    name: String,
    #[serde(flatten)]
    limit: Ulimit,
}

/// Stores each limit as one object with its name.
pub(crate) fn serialize<S: Serializer>(
    ulimits: &OrderedMap<Ulimit>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        ulimits
            .iter()
            .map(|(name, limit)| StoredUlimit { name: name.clone(), limit: limit.clone() }),
    )
}

/// Reads what [`serialize`] stores.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<OrderedMap<Ulimit>, D::Error> {
    let stored = Vec::<StoredUlimit>::deserialize(deserializer)?;
    Ok(stored.into_iter().map(|ulimit| (ulimit.name, ulimit.limit)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_stores_each_limit_with_its_name() {
        let ulimits = vec![("nofile".to_owned(), Ulimit { soft: 1024, hard: 2048 })];
        let mut json = Vec::new();
        serialize(&ulimits, &mut serde_json::Serializer::new(&mut json)).unwrap();
        let expected = r#"[{"name":"nofile","soft":1024,"hard":2048}]"#;
        assert_eq!(String::from_utf8(json).unwrap(), expected);
        let mut reader = serde_json::Deserializer::from_str(expected);
        assert_eq!(deserialize(&mut reader).unwrap(), ulimits);
    }
}

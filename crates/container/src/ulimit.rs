//! Limits of the resources of a container's processes, which recipes, plans and the engine's request share.

use std::fmt;

use retrial_document::{FieldType, object};
use serde::{Deserialize, Serialize};

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
        Some(Self {
            soft: limit,
            hard: limit,
        })
    }
}

/// `soft:hard`, as `--ulimit name=soft:hard` has it.
impl fmt::Display for Ulimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.soft, self.hard)
    }
}

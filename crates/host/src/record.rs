//! The content of a run's `host.json`: the state of a machine when a run was prepared on it, and what the run adds to
//! it. It is evidence, and may come from elsewhere.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::assign::AssignedGpus;
use crate::checks::HostCheck;
use crate::model::{GpuCondition, HostSettings, HostView};
use retrial_container::{EngineCapabilities, EngineInfo};

/// The content of `host.json`. A part other than the host is empty where it is malformed: no comparison fails for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRecord {
    /// The site that a run was submitted to; the job replaces the record by that of its machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The version of Retrial.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostView>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_part")]
    pub engine: Option<EngineInfo>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_part")]
    pub abilities: Option<EngineCapabilities>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_part")]
    pub assigned_gpus: Option<AssignedGpus>,
    /// The state of each GPU of the host.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "read_part")]
    pub conditions: Vec<GpuCondition>,
    /// Settings that change what a benchmark measures.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_part")]
    pub settings: Option<HostSettings>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "read_part")]
    pub checks: Vec<HostCheck>,
    /// The models that were fetched, by their keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "read_part")]
    pub models: BTreeMap<String, ModelRecord>,
    /// The container that measured.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_part")]
    pub container: Option<ContainerRecord>,
}

/// A model of the hub, at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Its repository: `amd/Llama-2-70b-chat-hf`.
    pub repository: String,
    /// The branch, tag or commit that was requested.
    pub revision: String,
    /// The commit that was fetched.
    pub commit: String,
}

/// The container that measured, as the engine created it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerRecord {
    /// Labels of its image and of its recipe.
    pub labels: BTreeMap<String, String>,
    /// Its environment; without the value of what may be a secret.
    pub variables: BTreeMap<String, Option<String>>,
}

impl HostRecord {
    /// Returns the host's name, if it is known.
    pub fn hostname(&self) -> Option<&str> {
        let name = self.host.as_ref()?.hostname.as_str();
        Some(name).filter(|name| !name.is_empty())
    }
}

/// Reads a part; the default where it is malformed.
fn read_part<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    part: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(part)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_malformed_part_is_empty_and_a_malformed_host_an_error() {
        let host = serde_json::to_value(HostView::default()).unwrap();
        let text =
            json!({ "tool": "1", "host": host, "conditions": [1], "checks": "x", "container": 7 });
        let record: HostRecord = serde_json::from_value(text).unwrap();
        assert_eq!(record.tool, "1");
        assert_eq!(record.host, Some(HostView::default()));
        assert!(record.conditions.is_empty() && record.checks.is_empty());
        assert_eq!(record.container, None);
        assert!(serde_json::from_value::<HostRecord>(json!({ "host": 7 })).is_err());
    }

    #[test]
    fn empty_parts_are_not_written() {
        let record = HostRecord { site: Some("cluster".to_owned()), ..HostRecord::default() };
        assert_eq!(serde_json::to_value(record).unwrap(), json!({ "site": "cluster" }));
    }
}

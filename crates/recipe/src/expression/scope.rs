//! What expressions may name.

use std::collections::BTreeMap;

use minijinja::Value;
use retrial_document::Scalar;
use serde::{Deserialize, Serialize};

use crate::model::{Mode, ParamValue, Recipe};

/// The values that expressions may name. What is `None` is not defined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scope {
    /// `params.NAME`
    pub params: BTreeMap<String, ParamValue>,
    /// `variant.AXIS`
    pub variant: BTreeMap<String, String>,
    /// `scenario`: MLPerf's spelling (`Offline`) if it is one of its scenarios, else the key.
    pub scenario: Option<String>,
    /// `mode`
    pub mode: Option<Mode>,
    /// `trial`, from 1.
    pub trial: Option<u32>,
    /// `gpus.count`
    pub gpus: Option<u32>,
    /// What is known only on the machines: `None` until then, and expressions that name it stay as they
    /// are.
    pub node: Option<NodeScope>,
    /// `models.NAME.commit`, by name.
    pub models: BTreeMap<String, String>,
    /// The same of models whose commit is not known yet: what stands for it until it is.
    pub models_later: BTreeMap<String, String>,
}

/// One of several machines, and all of them together, once they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeScope {
    /// `node.name`
    pub name: String,
    /// `node.gpus`: those of this machine.
    pub gpus: u32,
    /// `head.address`: of the first machine.
    pub head: String,
    /// `nodes.count`
    pub count: u32,
    /// `nodes.gpus`: those of all machines.
    pub all_gpus: u32,
}

impl NodeScope {
    /// One of two machines with eight GPUs each, to try expressions on.
    #[must_use]
    pub fn example() -> Self {
        Self {
            name: "n1".to_owned(),
            gpus: 8,
            head: "192.0.2.1".to_owned(),
            count: 2,
            all_gpus: 16,
        }
    }
}

/// Whether a name stands for something that is known only on the machines.
pub(super) fn is_late(path: &str) -> bool {
    matches!(
        path,
        "node"
            | "head"
            | "nodes"
            | "nodes.count"
            | "nodes.gpus"
            | "node.name"
            | "node.gpus"
            | "head.address"
    )
}

impl Scope {
    /// What a recipe itself defines: params, variants, the number of GPUs that it asks for.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        Self {
            params: recipe.params.clone(),
            variant: recipe.variant.clone(),
            gpus: recipe.requires.gpus.as_ref().map(|gpus| gpus.count),
            ..Self::default()
        }
    }

    /// The value of a path, for example `params.results`.
    pub(super) fn get(&self, path: &str) -> Option<Scalar> {
        let text = |text: String| Scalar { text, plain: false };
        let number = |number: u32| Scalar {
            text: number.to_string(),
            plain: true,
        };
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        match (root, rest) {
            ("scenario", "") => self.scenario.clone().map(text),
            ("mode", "") => self.mode.map(|mode| text(mode.to_string())),
            ("trial", "") => self.trial.map(number),
            ("gpus", "count") => self.gpus.map(number),
            ("nodes", "count") => self.node.as_ref().map(|node| number(node.count)),
            ("nodes", "gpus") => self.node.as_ref().map(|node| number(node.all_gpus)),
            ("node", "gpus") => self.node.as_ref().map(|node| number(node.gpus)),
            ("node", "name") => self.node.as_ref().map(|node| text(node.name.clone())),
            ("head", "address") => self.node.as_ref().map(|node| text(node.head.clone())),
            ("params", name) => self.params.get(name).map(|value| Scalar {
                text: value.to_string(),
                plain: !matches!(value, ParamValue::Text(_)),
            }),
            ("variant", axis) => self.variant.get(axis).cloned().map(text),
            ("models", rest) => {
                let name = rest.strip_suffix(".commit")?;
                let commit = self.models.get(name).or(self.models_later.get(name));
                commit.cloned().map(text)
            }
            _ => None,
        }
    }

    /// As minijinja wants it.
    pub(super) fn context(&self) -> Value {
        let params = self.params.iter().map(|(name, value)| {
            let value = match value {
                ParamValue::Bool(value) => Value::from(*value),
                ParamValue::Int(value) => Value::from(*value),
                ParamValue::Text(value) => Value::from(value.as_str()),
            };
            (name.as_str(), value)
        });
        let text = |(name, value): (&String, &String)| (name.clone(), Value::from(value.as_str()));
        let model = |(name, commit): (&String, &String)| {
            let commit = Value::from(commit.as_str());
            (name.clone(), Value::from_pairs([("commit", commit)]))
        };
        let mut pairs = vec![
            ("params", Value::from_pairs(params)),
            ("variant", Value::from_pairs(self.variant.iter().map(text))),
            ("models", Value::from_pairs(self.models.iter().map(model))),
        ];
        if let Some(count) = self.gpus {
            pairs.push(("gpus", Value::from_pairs([("count", Value::from(count))])));
        }
        if let Some(node) = &self.node {
            let pair = |name: &'static str, value: Value| (name, value);
            let of_node = [
                pair("name", Value::from(node.name.as_str())),
                pair("gpus", Value::from(node.gpus)),
            ];
            let of_head = [pair("address", Value::from(node.head.as_str()))];
            pairs.push(("node", Value::from_pairs(of_node)));
            let of_all = [
                pair("count", Value::from(node.count)),
                pair("gpus", Value::from(node.all_gpus)),
            ];
            pairs.push(("head", Value::from_pairs(of_head)));
            pairs.push(("nodes", Value::from_pairs(of_all)));
        }
        if let Some(scenario) = &self.scenario {
            pairs.push(("scenario", Value::from(scenario.as_str())));
        }
        if let Some(mode) = self.mode {
            pairs.push(("mode", Value::from(mode.to_string())));
        }
        if let Some(trial) = self.trial {
            pairs.push(("trial", Value::from(trial)));
        }
        Value::from_pairs(pairs)
    }
}

//! The values that expressions may name.

use std::collections::BTreeMap;

use minijinja::value::ValueKind;
use minijinja::{Value, context};
use retrial_document::Scalar;
use serde::{Deserialize, Serialize};

use super::error::ExpressionFault;
use crate::model::Mode;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(untagged)]
pub enum ParamValue {
    /// A boolean: `type: bool`.
    #[strum(to_string = "{0}")]
    Bool(bool),
    /// A whole number: `type: int`.
    #[strum(to_string = "{0}")]
    Int(i64),
    /// Text: `type: string`, `path` and `enum`.
    #[strum(to_string = "{0}")]
    Text(String),
}

/// The values that expressions may name. A name whose value is `None` is undefined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpressionScope {
    /// The value of each param: `params.NAME`.
    pub params: BTreeMap<String, ParamValue>,
    /// The chosen value of each axis: `variant.AXIS`.
    pub variant: BTreeMap<String, String>,
    /// `scenario`: MLPerf's spelling (`Offline`) if it is one of its scenarios, else the key.
    pub scenario: Option<String>,
    /// The mode that is measured: `mode`.
    pub mode: Option<Mode>,
    /// The number of the trial, from 1: `trial`.
    pub trial: Option<u32>,
    /// The number of GPUs that the recipe requires: `gpus.count`.
    pub gpus: Option<u32>,
    /// The values known only on the machines; `None` until then, and expressions that name them stay unevaluated.
    pub node: Option<NodeScope>,
    /// The commit of each fetched model: `models.NAME.commit`.
    pub models: BTreeMap<String, String>,
    /// The placeholder of each model whose commit is not known yet.
    pub models_later: BTreeMap<String, String>,
}

/// One of several machines, and all of them together, once they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeScope {
    /// The name of this machine: `node.name`.
    pub name: String,
    /// The number of GPUs of this machine: `node.gpus`. `None` if it is not known yet; expressions that name it stay
    /// unevaluated.
    pub gpus: Option<u32>,
    /// The address of the first machine: `head.address`.
    pub head: String,
    /// The number of machines: `nodes.count`.
    pub count: u32,
    /// The number of GPUs of all machines: `nodes.gpus`.
    pub all_gpus: u32,
}

impl NodeScope {
    /// Returns one of two machines with eight GPUs each, to try expressions on.
    pub fn for_two_nodes() -> Self {
        Self {
            name: "n1".to_owned(),
            gpus: Some(8),
            head: "192.0.2.1".to_owned(),
            count: 2,
            all_gpus: 16,
        }
    }
}

impl ExpressionScope {
    /// Returns whether the value of a name is known only on the machines, and not in this scope.
    pub(super) fn is_known_later(&self, path: &str) -> bool {
        let root = path.split('.').next();
        match &self.node {
            None => matches!(root, Some("node" | "head" | "nodes")),
            Some(node) => node.gpus.is_none() && matches!(path, "node" | "node.gpus"),
        }
    }

    /// Returns the value of a path, for example `params.results`. A name may have dots and hyphens.
    pub(super) fn evaluate_path(&self, path: &str) -> Option<Scalar> {
        let later = |name: &str| self.models_later.get(name).map(Value::from);
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let values = self.to_context().get_attr(root).ok()?;
        let value = match (root, rest) {
            (_, "") => values,
            ("models", rest) => {
                let name = rest.strip_suffix(".commit")?;
                let model = values.get_item(&name.into()).ok()?;
                let commit = model.get_attr("commit").ok();
                commit.or_else(|| later(name))?
            }
            (_, name) => values.get_item(&name.into()).ok()?,
        };
        to_scalar(&value).ok()
    }

    /// Returns the values as minijinja's context.
    pub(super) fn to_context(&self) -> Value {
        let params = self.params.iter().map(|(name, value)| match value {
            ParamValue::Bool(value) => (name.as_str(), Value::from(*value)),
            ParamValue::Int(value) => (name.as_str(), Value::from(*value)),
            ParamValue::Text(value) => (name.as_str(), Value::from(value)),
        });
        let axes = self.variant.iter();
        let variant = axes.map(|(axis, value)| (axis.as_str(), value.as_str()));
        let commits = self.models.iter();
        let models = commits.map(|(name, commit)| (name.as_str(), context! { commit }));
        let node = self.node.as_ref();
        let values = [
            ("params", Some(Value::from_pairs(params))),
            ("variant", Some(Value::from_pairs(variant))),
            ("models", Some(Value::from_pairs(models))),
            ("gpus", self.gpus.map(|count| context! { count })),
            ("node", node.map(|node| context! { name => &node.name, gpus => node.gpus })),
            ("head", node.map(|node| context! { address => &node.head })),
            ("nodes", node.map(|node| context! { count => node.count, gpus => node.all_gpus })),
            ("scenario", self.scenario.as_deref().map(Value::from)),
            ("mode", self.mode.map(|mode| Value::from(mode.to_string()))),
            ("trial", self.trial.map(Value::from)),
        ];
        let pairs = values.into_iter();
        Value::from_pairs(pairs.filter_map(|(name, value)| Some((name, value?))))
    }
}

/// Returns a value as it would be written in a recipe.
pub(super) fn to_scalar(value: &Value) -> Result<Scalar, ExpressionFault> {
    let text = match value.kind() {
        // minijinja prints booleans as Python does.
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::String => value.to_string(),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(integer) => integer.to_string(),
            Err(_) => f64::try_from(value.clone())?.to_string(),
        },
        ValueKind::Undefined => return Err(ExpressionFault::UndefinedValue),
        kind => return Err(ExpressionFault::NotScalar(kind)),
    };
    let plain = value.kind() != ValueKind::String;
    Ok(Scalar { text, plain })
}

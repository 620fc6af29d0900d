//! The names that the expressions of one recipe may use: its params with their values, its variants, its models.

use retrial_document::{Diagnostic, Diagnostics, Node, Scalar, Span, Value, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};

use super::expression::{self, ExpressionFault, ExpressionScope, ParamValue, Template};
use crate::formats;

/// The declaration of a param.
#[derive(Debug, Clone)]
pub struct Param {
    pub kind: String,
    pub values: Vec<String>,
    pub span: Span,
    /// The purpose of the param, as the recipe states it.
    pub help: Option<String>,
    /// The default value, as written.
    default: Option<Node>,
    /// The value of `--set`, as written.
    set_value: Option<Node>,
}

/// The names that expressions may use, with the values known so far.
#[derive(Debug, Default)]
pub struct DeclaredNames {
    pub params: BTreeMap<String, Param>,
    pub axes: BTreeSet<String>,
    /// The models by name, and whether expressions can name their commit: only for models of the hub.
    pub models: BTreeMap<String, bool>,
    /// Whether `gpus.count` is defined: the recipe requires GPUs.
    pub gpus: bool,
    /// Whether the recipe has several machines.
    pub nodes: bool,
    /// The values that are known when the document is validated.
    pub scope: ExpressionScope,
    /// The params that `--set` changed from the recipe's own value.
    pub modified: Vec<String>,
    /// The params without a default that `--set` gave a value.
    pub given_params: Vec<String>,
    /// The params that the default of another param names.
    pub used_params: BTreeSet<String>,
}

impl DeclaredNames {
    /// Reads the names from a merged recipe, and evaluates and checks the values of params.
    pub fn from_recipe(
        recipe: &Node,
        variant: BTreeMap<String, String>,
        problems: &mut Diagnostics,
    ) -> Self {
        let has_commit = |model: &Node| model.descendant(&["source", "hub"]).is_some();
        let model_nodes = recipe.present_entries_at("models");
        let models = model_nodes.map(|(name, model)| (name.to_owned(), has_commit(model)));
        let mut names = Self {
            axes: variant.keys().cloned().collect(),
            models: models.collect(),
            gpus: recipe.descendant(&["requires", "gpus"]).is_some(),
            nodes: recipe.get("nodes").is_some(),
            scope: ExpressionScope { variant, ..ExpressionScope::default() },
            ..Self::default()
        };
        for entry in recipe.entries_at("params") {
            let param = Param {
                kind: entry.value.text_at("type").unwrap_or("").to_owned(),
                values: entry.value.texts_at("values"),
                span: entry.key_span.clone(),
                help: entry.value.text_at("help").map(str::to_owned),
                default: entry.value.get("default").cloned(),
                set_value: entry.value.get("set").cloned(),
            };
            if param.kind == "enum" && param.values.is_empty() {
                let message = format!("the enum `{}` has no values", entry.key);
                problems.error("param", message, &param.span, "list them: `values: [one, other]`");
            }
            let takes_values = matches!(&*param.kind, "enum" | "");
            if let Some(values) = entry.value.entry("values").filter(|_| !takes_values) {
                let message = format!("a param of type {} has no `values`", param.kind);
                problems.error(
                    "param",
                    message,
                    &values.key_span,
                    "only an enum has `values`: write `type: enum`",
                );
            }
            names.params.insert(entry.key.clone(), param);
        }
        names.evaluate_defaults(problems);
        names
    }

    /// Returns the params that have neither a default nor a value.
    pub fn unset_params(&self) -> impl Iterator<Item = (&str, &Param)> {
        self.params
            .iter()
            .filter(|(_, param)| param.default.is_none() && param.set_value.is_none())
            .map(|(name, param)| (name.as_str(), param))
    }

    /// Evaluates defaults in the order in which they need each other.
    fn evaluate_defaults(&mut self, problems: &mut Diagnostics) {
        let mut defaults = BTreeMap::new();
        let mut waiting: Vec<String> = self.params.keys().cloned().collect();
        loop {
            let before = waiting.len();
            waiting.retain(|name| {
                let param = &self.params[name];
                let needed_params = param.default.as_ref().map_or_else(Vec::new, referenced_params);
                self.used_params.extend(needed_params.iter().cloned());
                let mut needs = needed_params.iter();
                let is_ready = needs.all(|need| self.scope.params.contains_key(need));
                let mut read = |node: &Node| param.read_value(node, &self.scope, problems);
                let ready_default = param.default.as_ref().filter(|_| is_ready);
                let default = ready_default.and_then(&mut read);
                // One from `--set` needs nothing else.
                let set = param.set_value.as_ref().and_then(read);
                let is_done = is_ready || set.is_some();
                if let Some(value) = set.or_else(|| default.clone()) {
                    self.scope.params.insert(name.clone(), value);
                }
                if let Some(default) = default {
                    defaults.insert(name.clone(), default);
                }
                !is_done
            });
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
        self.report_circles(&waiting, problems);
        let set_params = self.params.iter().filter(|(_, param)| param.set_value.is_some());
        for (name, param) in set_params {
            if param.default.is_none() {
                self.given_params.push(name.clone());
            } else if defaults.get(name) != self.scope.params.get(name) {
                self.modified.push(name.clone());
            }
        }
    }

    /// Reports those that wait for each other, and not for one that must be set.
    fn report_circles(&self, waiting: &[String], problems: &mut Diagnostics) {
        for name in waiting {
            let mut path = vec![name.clone()];
            let mut next = name.clone();
            while let Some(node) = &self.params[&next].default {
                let Some(need) =
                    referenced_params(node).into_iter().find(|need| waiting.contains(need))
                else {
                    break;
                };
                if need == *name {
                    // Reported once, at the first of its names.
                    if path.iter().any(|other| other < name) {
                        break;
                    }
                    let message = format!(
                        "params refer to each other in a cycle: {} → {name}",
                        path.join(" → ")
                    );
                    let span = self.params[name]
                        .default
                        .as_ref()
                        .map_or(&self.params[name].span, |node| &node.span);
                    problems.error(
                        "param-circle",
                        message,
                        span,
                        "give one of them a value of its own",
                    );
                    break;
                }
                if path.contains(&need) {
                    break;
                }
                path.push(need.clone());
                next = need;
            }
        }
    }
}

/// Returns the params that a text names.
fn referenced_params(node: &Node) -> Vec<String> {
    let Some(text) = node.text() else {
        return Vec::new();
    };
    let expressions = expression::find_expressions(text).unwrap_or_default();
    expressions
        .iter()
        .filter_map(|part| expression::referenced_names(&text[part.inner.clone()]).ok())
        .flatten()
        .filter_map(|name| name.strip_prefix("params.").map(str::to_owned))
        .collect()
}

impl Param {
    /// Reads the value of a node as this param's type.
    fn read_value(
        &self,
        node: &Node,
        scope: &ExpressionScope,
        problems: &mut Diagnostics,
    ) -> Option<ParamValue> {
        // A list or a map is reported by the check of types.
        let Value::Scalar(scalar) = &node.value else {
            return None;
        };
        // Faults of expressions are reported there, too.
        let scalar = evaluate_scalar(scalar, scope).ok()?;
        match self.to_param_value(&scalar) {
            Ok(value) => Some(value),
            Err((message, help)) => {
                let problem = Diagnostic::error("param", message, node.span.clone());
                let help = self.help_with_purpose(help.as_deref());
                problems.push(problem.with_optional_help(help));
                None
            }
        }
    }

    /// Adds the purpose of the param to the help of a problem.
    pub fn help_with_purpose(&self, help: Option<&str>) -> Option<String> {
        let parts: Vec<&str> = help.into_iter().chain(self.help.as_deref()).collect();
        (!parts.is_empty()).then(|| parts.join(": "))
    }

    /// Reads a scalar as this param's type.
    pub fn to_param_value(&self, scalar: &Scalar) -> Result<ParamValue, (String, Option<String>)> {
        let text = scalar.text.clone();
        let mismatch = |noun: &str, help: &str| {
            let message = format!("this param is {noun}; `{text}` is {}", scalar.kind());
            let quotes = if scalar.plain { "" } else { ", without quotes" };
            Err((message, Some(format!("{help}{quotes}"))))
        };
        match self.kind.as_str() {
            "int" => match scalar.as_integer() {
                Some(value) => Ok(ParamValue::Int(value)),
                None => mismatch("an int", "write a whole number"),
            },
            "bool" => match scalar.as_bool() {
                Some(value) => Ok(ParamValue::Bool(value)),
                None => mismatch("a bool", "write true or false"),
            },
            "path" => match formats::HOST_PATH.mismatch(&text) {
                None => Ok(ParamValue::Text(text)),
                Some(_) => Err((
                    format!("this param is a path; `{text}` is not one"),
                    Some("write an absolute path, or one that begins with `./` for one next to the recipe".to_owned()),
                )),
            },
            "enum" if !self.values.is_empty() && !self.values.contains(&text) => Err((
                format!("`{text}` is not a value of this enum"),
                Some(did_you_mean(&text, self.values.iter().map(String::as_str), "values are")),
            )),
            _ => Ok(ParamValue::Text(text)),
        }
    }
}

/// A scalar with its expressions replaced. One that is exactly one expression takes its type.
pub fn evaluate_scalar(
    scalar: &Scalar,
    scope: &ExpressionScope,
) -> Result<Scalar, ExpressionFault> {
    let text = &scalar.text;
    let Ok(expressions) = expression::find_expressions(text) else {
        return Err(ExpressionFault::NotClosed);
    };
    match &expressions[..] {
        [] => Ok(scalar.clone()),
        [only] if only.outer == (0..text.len()) => {
            expression::evaluate_expression(&text[only.inner.clone()], scope)
        }
        _ => {
            let template = Template(text.clone());
            let text =
                expression::render_template(&template, scope).map_err(|error| error.fault)?;
            Ok(Scalar { text, plain: false })
        }
    }
}

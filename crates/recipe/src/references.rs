//! Checks names in expressions: defined, known in time, and located inside of block scalars too.

use retrial_document::{
    Diagnostics, Scalar, Scope, Span, did_you_mean, find_nearest, suggest_name,
};

use crate::expression::{self, MEASUREMENT_SCOPE, RUN_SCOPE};
use crate::language::RecipeLanguage;

impl RecipeLanguage<'_> {
    /// Checks the names in a scalar's expressions. Returns whether they can be evaluated already.
    pub(super) fn check_references(
        &mut self,
        scalar: &Scalar,
        span: &Span,
        scope: Scope,
        problems: &mut Diagnostics,
    ) -> bool {
        let expressions = match expression::find_expressions(&scalar.text) {
            Ok(expressions) => expressions,
            Err(error) => {
                // The params that it mentions count as used anyway.
                let text = &scalar.text[error.offset..];
                let names = self.names.params.keys();
                let mentioned = names.filter(|name| text.contains(&format!("params.{name}")));
                self.used_params.extend(mentioned.cloned());
                let raw = span.slice();
                let place = match expression::find_expressions(raw) {
                    Err(error) => span.sub_span(error.offset..error.offset + 3),
                    Ok(_) => span.sub_span(error.offset..error.offset),
                };
                problems.error(
                    "expression",
                    "`${{` is never closed by `}}`",
                    &place,
                    "write `${{ params.name }}`",
                );
                return false;
            }
        };
        if expressions.is_empty() {
            return true;
        }
        // Block scalars are dedented, folded and unescaped, so offsets of the value are not those
        // of the file; but the nth expression of one is the nth of the other.
        let raw = expression::find_expressions(span.slice()).unwrap_or_default();
        let same = raw.len() == expressions.len();
        let mut can_evaluate = true;
        for (index, expression) in expressions.iter().enumerate() {
            let inner = &scalar.text[expression.inner.clone()];
            let place = if same { span.sub_span(raw[index].outer.clone()) } else { span.clone() };
            match expression::referenced_names(inner) {
                Ok(references) => {
                    for reference in references {
                        let at = place.slice().find(&reference);
                        let place = at.filter(|_| same).map_or_else(
                            || place.clone(),
                            |at| place.sub_span(at..at + reference.len()),
                        );
                        can_evaluate &= self.check_reference(&reference, &place, scope, problems);
                    }
                }
                Err(fault) => {
                    can_evaluate = false;
                    problems.error(
                        "expression",
                        fault.to_string(),
                        &place,
                        "write a name, for example `${{ params.name }}`",
                    );
                }
            }
        }
        can_evaluate
    }

    /// Checks one name. Returns whether its value is known.
    fn check_reference(
        &mut self,
        path: &str,
        span: &Span,
        scope: Scope,
        problems: &mut Diagnostics,
    ) -> bool {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let names = self.names;
        let early = |problems: &mut Diagnostics, availability: &str| {
            let message = format!("`{path}` is not known here");
            problems.error("too-early", message, span, format!("it is {availability}"));
            false
        };
        let undefined = |problems: &mut Diagnostics, help: String| {
            problems.error("undefined", format!("`{path}` is not defined"), span, help);
            false
        };
        match (root, rest) {
            // minijinja reports the whole map where a key is computed: it may be any of them.
            ("params", "") => {
                self.used_params.extend(names.params.keys().cloned());
                true
            }
            ("params", name) => {
                self.used_params.insert(name.to_owned());
                if names.params.contains_key(name) {
                    return names.scope.params.contains_key(name);
                }
                let help = find_nearest(name, names.params.keys().map(String::as_str)).map_or_else(
                    || format!("declare it: `params: {{{name}: {{type: string, default: …}}}}`"),
                    |near| suggest_name(format_args!("params.{near}")),
                );
                undefined(problems, help)
            }
            ("variant", "") => true,
            ("variant", axis) if names.axes.contains(axis) => {
                names.scope.variant.contains_key(axis)
            }
            ("variant", axis) => {
                let help =
                    did_you_mean(axis, names.axes.iter().map(String::as_str), "axes of `variants`");
                undefined(problems, help)
            }
            ("sweep", name) => undefined(
                problems,
                format!("name it in the measurement: `sweep: {{ {name}: [1, 4, 16, 64] }}`"),
            ),
            ("scenario" | "mode" | "trial", "") if scope < MEASUREMENT_SCOPE => {
                early(problems, "defined within `scenarios` only: other commands run once for all")
            }
            ("scenario" | "mode" | "trial" | "models", "") => true,
            ("gpus" | "models" | "nodes" | "node" | "head", _) if scope < RUN_SCOPE => early(
                problems,
                "known only once the machines and the models are resolved; commands, env, mounts and paths may use it",
            ),
            ("gpus" | "nodes" | "node" | "head", _) => match self.machine_name_help(root, rest) {
                Some(help) => undefined(problems, help),
                None => true,
            },
            ("models", rest) => match self.model_name_help(rest) {
                Some(help) => undefined(problems, help),
                None => true,
            },
            _ => undefined(problems, self.unknown_root_help(path, root)),
        }
    }

    /// Returns help for an undefined name of GPUs or machines; none if the name is defined.
    fn machine_name_help(&self, root: &str, rest: &str) -> Option<String> {
        let has_nodes = self.names.nodes || self.partial;
        match (root, rest) {
            ("gpus", "" | "count") if self.names.gpus || self.partial => None,
            ("gpus", "" | "count") => Some(
                "set the number of GPUs under `requires`: `gpus: {vendor: amd, count: 8}`".into(),
            ),
            ("gpus", _) => Some(suggest_name("gpus.count")),
            ("nodes", "" | "count" | "gpus")
            | ("node", "" | "name" | "gpus")
            | ("head", "" | "address")
                if has_nodes =>
            {
                None
            }
            _ if has_nodes => Some(
                "nodes have `nodes.count`, `nodes.gpus`, `node.name`, `node.gpus`, `head.address`"
                    .into(),
            ),
            _ => Some(
                "set the number of machines at the top of the file: `nodes: {count: 2}`".into(),
            ),
        }
    }

    /// Returns help for a name with an unknown first part.
    fn unknown_root_help(&self, path: &str, root: &str) -> String {
        let roots = [
            "params", "variant", "scenario", "mode", "trial", "gpus", "models", "nodes", "node",
            "head",
        ];
        if let Some(qualified) = self.find_qualified_name(path) {
            suggest_name(qualified)
        } else if root == "env" {
            "for an environment variable, write `$NAME`: the shell reads it".into()
        } else {
            did_you_mean(root, roots, "expressions know")
        }
    }

    /// Returns the whole name of a param, an axis or a model whose first part is missing.
    fn find_qualified_name(&self, name: &str) -> Option<String> {
        let names = self.names;
        if names.params.contains_key(name) {
            Some(format!("params.{name}"))
        } else if names.axes.contains(name) {
            Some(format!("variant.{name}"))
        } else {
            let model = names.models.get_key_value(name);
            model.map(|(model, _)| format!("models.{model}.commit"))
        }
    }

    /// Returns help for `models.REST`; none if it is defined.
    fn model_name_help(&self, rest: &str) -> Option<String> {
        let models = &self.names.models;
        Some(match rest.strip_suffix(".commit") {
            Some(name) => match models.get(name) {
                Some(true) => return None,
                Some(false) => "only a model of the hub has a commit".into(),
                None if self.partial => return None,
                None => match find_nearest(name, models.keys().map(String::as_str)) {
                    Some(near) => suggest_name(format_args!("models.{near}.commit")),
                    None => "name a model of `models`".into(),
                },
            },
            None => "models have `models.NAME.commit`".into(),
        })
    }
}

//! The additions of recipes to keys and values: expressions, overlays of variants, reserved keys.

use std::collections::BTreeSet;

use retrial_document::{
    Diagnostic, Diagnostics, FormatMismatch, Key, Keys as _, Language, MapEntry, Node, Object,
    Scalar, Scope, Span, StringFormat,
};

use crate::expression;
use crate::keys::{RESERVED_KEYS, TOP_LEVEL_KEYS};
use crate::model::Recipe;
use crate::names::{DeclaredNames, evaluate_scalar};

/// The path of a measurement's keys.
const MEASUREMENT_PATH: &str = "scenarios.NAME.performance.";

/// Names that other tools and people use, and the paths of the keys that are meant.
const FOREIGN_KEYS: &[(&[&str], &str)] = &[
    (&["volumes", "volume", "mount"], "container.mounts"),
    (&["environment", "env"], "container.env"),
    (&["cwd", "working_dir"], "container.workdir"),
    (&["capabilities", "caps"], "container.cap_add"),
    (&["cmd", "command", "script", "run"], "scenarios.NAME.performance.run"),
    (
        &["repeat", "repeats", "repetitions", "iterations", "runs", "samples"],
        "scenarios.NAME.performance.trials",
    ),
    (&["metrics", "metric", "measurements", "outputs"], "scenarios.NAME.performance.figures"),
    (&["expected", "published", "baseline"], "scenarios.NAME.performance.expect"),
    (&["gpus", "gpu"], "requires.gpus"),
    (&["tolerance", "threshold"], "judge.margin"),
    (&["name"], "title"),
    (&["parameters", "args", "arguments", "vars"], "params"),
    (&["inherits", "include", "base"], "extends"),
    (&["docker", "docker_args", "docker_options"], "container"),
    (&["data"], "datasets"),
    (&["prepare", "install", "before"], "setup"),
    (&["hardware", "resources", "requirements"], "requires"),
    (&["version", "schema_version"], "schema"),
    (
        &["output", "output_dir", "results_dir", "result_dir", "artifacts"],
        "scenarios.NAME.performance.results",
    ),
    (&["time_limit", "max_time"], "scenarios.NAME.performance.timeout"),
    (&["regex", "regexp", "match"], "scenarios.NAME.performance.figures.NAME.pattern"),
    (&["jsonpath", "json_path"], "scenarios.NAME.performance.figures.NAME.json"),
    (
        &["lower_is_better", "higher_is_better", "direction", "maximize", "minimize"],
        "scenarios.NAME.performance.figures.NAME.better",
    ),
];

/// The language of one recipe or template.
pub struct RecipeLanguage<'a> {
    /// The names that expressions may use.
    pub names: &'a DeclaredNames,
    /// A template: the recipe that extends it may have the missing keys.
    pub partial: bool,
    /// A template of the recipe is missing: it might have the missing keys, except those that templates never have.
    pub base_missing: bool,
    /// The params that expressions name.
    pub used_params: BTreeSet<String>,
}

impl<'a> RecipeLanguage<'a> {
    pub fn new(names: &'a DeclaredNames, partial: bool, base_missing: bool) -> Self {
        Self { names, partial, base_missing, used_params: names.used_params.clone() }
    }
}

impl Language for RecipeLanguage<'_> {
    fn check_expressions(
        &mut self,
        scalar: &Scalar,
        span: &Span,
        scope: Scope,
        problems: &mut Diagnostics,
    ) -> bool {
        self.check_references(scalar, span, scope, problems)
    }

    fn evaluate(&self, scalar: &Scalar) -> Result<Scalar, FormatMismatch> {
        evaluate_scalar(scalar, &self.names.scope).map_err(|fault| {
            let help = "`retrial show RECIPE --resolved` lists the value of each param";
            (fault.to_string(), Some(help.to_owned()))
        })
    }

    fn template_mismatch(&self, scalar: &Scalar, format: StringFormat) -> Option<FormatMismatch> {
        // One that cannot be parsed is reported among the expressions.
        let expressions = expression::find_expressions(&scalar.text).ok()?;
        let first = expressions.first();
        match first.filter(|_| !format.has_own_expressions) {
            None => format.mismatch(&scalar.text),
            Some(first) => match evaluate_scalar(scalar, &self.names.scope) {
                Ok(value) => format.mismatch(&value.text),
                Err(_) => format.start_mismatch(&scalar.text[..first.outer.start]),
            },
        }
    }

    fn may_be_missing(&self, key: &Key) -> bool {
        self.partial || (self.base_missing && key.name != "title")
    }

    fn unknown_key_problem(&self, entry: &MapEntry, object: &Object) -> Option<Diagnostic> {
        let name = entry.key.as_str();
        if !std::ptr::eq(object, Recipe::OBJECT) || !RESERVED_KEYS.contains(&name) {
            return None;
        }
        let message = format!("`{name}` is reserved for a later release");
        let problem = Diagnostic::error("reserved-key", message, entry.key_span.clone());
        Some(
            problem.with_help(
                "this version of retrial runs one container on one host; remove the key",
            ),
        )
    }

    fn path_of_foreign_key(&self, name: &str) -> Option<&'static str> {
        let names = |(names, _): &&(&[&str], &str)| names.contains(&name);
        FOREIGN_KEYS.iter().find(names).map(|(_, path)| *path)
    }

    fn path_of_own_key(&self, name: &str) -> Option<String> {
        let mut paths = Recipe::OBJECT.key_paths(name);
        // What many maps have is most often meant for a measurement.
        let measured = paths.iter().position(|path| path.starts_with(MEASUREMENT_PATH));
        let at = measured.unwrap_or(0);
        (at < paths.len()).then(|| paths.swap_remove(at))
    }

    fn check_overlay(&mut self, node: &Node, problems: &mut Diagnostics) {
        for entry in node.entries() {
            if TOP_LEVEL_KEYS.contains(&entry.key.as_str()) {
                problems.error(
                    "overlay",
                    format!("an overlay cannot hold `{}`", entry.key),
                    &entry.key_span,
                    "write it at the top of the file",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_each_foreign_key_is_one_of_a_recipe() {
        for (_, path) in FOREIGN_KEYS {
            let key = path.rsplit('.').next().unwrap();
            let paths = Recipe::OBJECT.key_paths(key);
            assert!(paths.iter().any(|own| own == path), "{path}: {paths:?}");
        }
    }
}

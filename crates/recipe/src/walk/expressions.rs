//! Names in expressions: defined, known in time, and pointed at inside of block scalars too.

use super::Walk;
use crate::expression;
use crate::node::Scalar;
use crate::shape::Reach;
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};

impl Walk<'_> {
    /// Checks the names in a scalar's expressions. Whether they can be evaluated already.
    pub(super) fn expressions(&mut self, scalar: &Scalar, span: &Span, reach: Reach) -> bool {
        let found = match expression::scan(&scalar.text) {
            Ok(found) => found,
            Err(error) => {
                // What is meant there is used all the same.
                let text = &scalar.text[error.at..];
                let names = self.names.params.keys();
                let meant = names.filter(|name| text.contains(&format!("params.{name}")));
                self.used.extend(meant.cloned());
                let raw = span.slice();
                let place = match expression::scan(raw) {
                    Err(error) => span.part(error.at..error.at + 3),
                    Ok(_) => span.part(error.at..error.at),
                };
                self.error(
                    "expression",
                    "`${{` is never closed by `}}`",
                    &place,
                    "write `${{ params.name }}`",
                );
                return false;
            }
        };
        if found.is_empty() {
            return true;
        }
        // Block scalars are dedented, folded and unescaped, so offsets of the value are not those
        // of the file; but the nth expression of one is the nth of the other.
        let raw = expression::scan(span.slice()).unwrap_or_default();
        let same = raw.len() == found.len();
        let mut known = true;
        for (index, expression) in found.iter().enumerate() {
            let inner = &scalar.text[expression.inner.clone()];
            let place = if same {
                span.part(raw[index].outer.clone())
            } else {
                span.clone()
            };
            match expression::references(inner) {
                Ok(references) => {
                    for reference in references {
                        let at = place.slice().find(&reference.path);
                        let place = at.filter(|_| same).map_or_else(
                            || place.clone(),
                            |at| place.part(at..at + reference.path.len()),
                        );
                        known &= self.reference(&reference.path, &place, reach);
                    }
                }
                Err(message) => {
                    known = false;
                    self.error(
                        "expression",
                        message,
                        &place,
                        "write a name, for example `${{ params.name }}`",
                    );
                }
            }
        }
        known
    }

    /// Checks one name. Whether its value is known.
    fn reference(&mut self, path: &str, span: &Span, reach: Reach) -> bool {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let names = self.names;
        let undefined = |walk: &mut Self, help: String| {
            walk.error("undefined", format!("`{path}` is not defined"), span, help);
            false
        };
        let early = |walk: &mut Self, what: &str| {
            let message = format!("`{path}` is not known here");
            walk.error("too-early", message, span, format!("it is {what}"));
            false
        };
        match (root, rest) {
            // minijinja names the whole where a key is computed: any may be meant.
            ("params", "") => {
                self.used.extend(names.params.keys().cloned());
                true
            }
            ("params", name) => {
                self.used.insert(name.to_owned());
                if names.params.contains_key(name) {
                    return names.scope.params.contains_key(name);
                }
                let help = nearest(name, names.params.keys().map(String::as_str)).map_or_else(
                    || format!("declare it: `params: {{{name}: {{type: string, default: …}}}}`"),
                    |near| format!("did you mean `params.{near}`?"),
                );
                undefined(self, help)
            }
            ("variant", "") => true,
            ("variant", axis) if names.axes.contains(axis) => {
                names.scope.variant.contains_key(axis)
            }
            ("variant", axis) => {
                let help = did_you_mean(
                    axis,
                    names.axes.iter().map(String::as_str),
                    "axes of `variants`",
                );
                undefined(self, help)
            }
            ("scenario" | "mode" | "trial", "") if reach < Reach::Measurement => early(
                self,
                "defined within `scenarios` only: other commands run once for all",
            ),
            ("scenario" | "mode" | "trial" | "models", "") => true,
            ("gpus" | "models", _) if reach < Reach::Run => early(
                self,
                "known only once the host and the models are; commands, env, mounts and paths may name it",
            ),
            ("gpus", "" | "count") if names.gpus || self.partial => true,
            ("gpus", "" | "count") => undefined(
                self,
                "say how many under `requires`: `gpus: {vendor: amd, count: 8}`".into(),
            ),
            ("gpus", _) => undefined(self, "did you mean `gpus.count`?".into()),
            ("models", rest) => self.model(path, rest, span),
            _ => {
                let roots = [
                    "params", "variant", "scenario", "mode", "trial", "gpus", "models",
                ];
                let help = if names.params.contains_key(path) {
                    format!("did you mean `params.{path}`?")
                } else if root == "env" {
                    "for an environment variable, write `$NAME`: the shell reads it".into()
                } else {
                    did_you_mean(root, roots, "expressions know")
                };
                undefined(self, help)
            }
        }
    }

    fn model(&mut self, path: &str, rest: &str, span: &Span) -> bool {
        let models = &self.names.models;
        let help = match rest.strip_suffix(".commit") {
            Some(name) => match models.get(name) {
                Some(true) => return true,
                Some(false) => "only a model of the hub has a commit".into(),
                None if self.partial => return true,
                None => match nearest(name, models.keys().map(String::as_str)) {
                    Some(near) => format!("did you mean `models.{near}.commit`?"),
                    None => "name a model of `models`".into(),
                },
            },
            None => "models have `models.NAME.commit`".into(),
        };
        self.error("undefined", format!("`{path}` is not defined"), span, help);
        false
    }
}

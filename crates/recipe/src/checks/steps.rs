//! Models, datasets, setup steps, shared commands, companions.

use super::{Checks, entries};
use crate::model::is_commit;
use retrial_document::{Entry, Node};

impl Checks<'_> {
    pub(super) fn steps(&mut self) {
        let recipe = self.recipe;
        for model in entries(recipe, "models") {
            self.model(model);
        }
        for step in entries(recipe, "datasets")
            .iter()
            .chain(entries(recipe, "setup"))
        {
            self.setup(step);
        }
        for file in entries(recipe, "files") {
            self.companion(&file.key, &file.key_span);
        }
        self.unused_commands();
        self.cached_once();
    }

    fn model(&mut self, model: &Entry) {
        let Some(source) = model.value.get("source") else {
            return;
        };
        for key in ["revision", "allow", "ignore"] {
            if let Some(entry) = source
                .entry(key)
                .filter(|_| source.get("hub").is_none() && !self.partial)
            {
                self.problems.error(
                    "conflict",
                    format!("`{key}` stands without `hub`"),
                    &entry.key_span,
                    "it says what to fetch from the hub",
                );
            }
        }
        let hub_cache = model.value.get("as").is_some();
        if let Some(cache) = model
            .value
            .entry("as")
            .filter(|_| source.get("hub").is_none() && !self.partial)
        {
            self.problems.error(
                "conflict",
                "`as: hub-cache` needs a model of the hub",
                &cache.key_span,
                "write `source: {hub: owner/name}`",
            );
        }
        if !hub_cache && model.value.get("mount").is_none() && !self.partial {
            let message = format!("the model `{}` is mounted nowhere", model.key);
            self.problems.error(
                "missing-key",
                message,
                &model.key_span,
                "write `mount: /path/in/the/container`, or `as: hub-cache`",
            );
        }
        let Some(hub) = source.get("hub") else {
            return;
        };
        let (revision, span) = match source.get("revision") {
            Some(node) => (node.text().unwrap_or(""), &node.span),
            None => ("main", &hub.span),
        };
        let commit = is_commit(revision);
        // A tag or a short commit may be fixed; these two names are branches on every repository.
        if !commit && matches!(revision, "main" | "master") {
            let message = format!("the revision `{revision}` is a branch, which moves");
            self.problems.warning(
                "floating-revision",
                message,
                span,
                "name the commit that was measured",
            );
        }
    }

    fn setup(&mut self, step: &Entry) {
        if let Some(writable) = step
            .value
            .entry("writable")
            .filter(|_| step.value.get("cache").is_none() && !self.partial)
        {
            self.problems.error(
                "conflict",
                "`writable` applies to `cache`, which is missing",
                &writable.key_span,
                "write `cache: {path, key}`, or remove it",
            );
        }
        let host = step.value.get("on").and_then(Node::text) == Some("host");
        for key in ["user", "shell"] {
            if let Some(entry) = step.value.entry(key).filter(|_| host && key == "user") {
                self.problems.error(
                    "conflict",
                    "a step on the host runs as whoever runs retrial",
                    &entry.key_span,
                    "take `user` out",
                );
            }
        }
        for file in step
            .value
            .get("cache")
            .map_or(&[][..], |cache| entries(cache, "files"))
        {
            if file.value.entries().is_empty() {
                self.problems.warning(
                    "unchecked-file",
                    format!("nothing is said about `{}` but its name", file.key),
                    &file.key_span,
                    "give its size or sha256",
                );
            }
        }
    }

    /// Two steps with one cache key would populate one directory.
    fn cached_once(&mut self) {
        let recipe = self.recipe;
        let mut keys: Vec<(&str, &str)> = Vec::new();
        for step in entries(recipe, "datasets")
            .iter()
            .chain(entries(recipe, "setup"))
        {
            let Some(key) = step.value.get("cache").and_then(|cache| cache.get("key")) else {
                continue;
            };
            let text = key.text().unwrap_or("");
            if let Some((_, first)) = keys.iter().find(|(known, _)| *known == text) {
                let message = format!("`{}` caches under the key of `{first}`", step.key);
                self.problems
                    .error("cache", message, &key.span, "give each its own key");
            }
            keys.push((text, &step.key));
        }
    }

    fn unused_commands(&mut self) {
        if self.partial {
            return;
        }
        let recipe = self.recipe;
        let named: Vec<&str> = entries(recipe, "scenarios")
            .iter()
            .flat_map(|scenario| scenario.value.entries())
            .filter_map(|mode| mode.value.get("from").and_then(Node::text))
            .collect();
        for command in entries(recipe, "commands") {
            if !named.contains(&command.key.as_str()) {
                let message = format!("no scenario uses the command `{}`", command.key);
                self.problems.warning(
                    "unused-command",
                    message,
                    &command.key_span,
                    format!("write `from: {}` in a mode, or take it out", command.key),
                );
            }
        }
    }
}

//! Checks models, datasets, setup steps, shared commands and companion files.

use super::CheckContext;
use retrial_document::MapEntry;

impl CheckContext<'_> {
    pub(super) fn check_steps(&mut self) {
        let recipe = self.recipe;
        for model in recipe.entries_at("models") {
            self.check_model(model);
        }
        let datasets = recipe.entries_at("datasets").iter();
        let steps: Vec<&MapEntry> = datasets.chain(recipe.entries_at("setup")).collect();
        for step in &steps {
            self.check_setup_step(step);
        }
        for file in recipe.entries_at("files") {
            self.check_companion(&file.key, &file.key_span);
        }
        self.warn_unused_commands();
        self.check_unique_cache_keys(&steps);
    }

    fn check_model(&mut self, model: &MapEntry) {
        let Some(source) = model.value.get("source") else {
            return;
        };
        let hub_cache = model.value.get("as").is_some();
        if source.get("hub").is_none() {
            for key in ["revision", "allow", "ignore"] {
                let message = format!("`{key}` needs `hub`");
                self.report_misplaced(source, key, &message, "it selects files of the hub");
            }
            self.report_misplaced(
                &model.value,
                "as",
                "`as: hub-cache` needs a model of the hub",
                "write `source: {hub: owner/name}`",
            );
        }
        if !hub_cache && model.value.get("mount").is_none() && !self.partial {
            let message = format!("the model `{}` is not mounted", model.key);
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
        // A tag or a short commit may be fixed; these two names are branches on every repository.
        if matches!(revision, "main" | "master") {
            let message = format!("the revision `{revision}` is a branch, which moves");
            self.problems.warning(
                "floating-revision",
                message,
                span,
                "name the commit that was measured, or lock it: `retrial lock RECIPE`",
            );
        }
    }

    fn check_setup_step(&mut self, step: &MapEntry) {
        if step.value.get("cache").is_none() {
            self.report_misplaced(
                &step.value,
                "writable",
                "`writable` applies to `cache`, which is missing",
                "write `cache: {path, key}`, or remove it",
            );
        }
        let host = step.value.text_at("on") == Some("host");
        if let Some(user) = step.value.entry("user").filter(|_| host) {
            self.problems.error(
                "conflict",
                "a step on the host runs as the user who runs retrial",
                &user.key_span,
                "remove `user`",
            );
        }
        let cache = step.value.get("cache");
        let is_on_head = step.value.text_at("on") == Some("head");
        if let (true, Some(cache)) = (is_on_head, step.value.entry("cache")) {
            self.problems.error(
                "conflict",
                "a cached directory is populated on every machine, since every container mounts it",
                &cache.key_span,
                "remove `on: head`",
            );
        }
        for file in cache.map_or(&[][..], |cache| cache.entries_at("files")) {
            if file.value.entries().is_empty() {
                self.problems.warning(
                    "unchecked-file",
                    format!("`{}` has neither size nor sha256", file.key),
                    &file.key_span,
                    "give its size or sha256",
                );
            }
        }
    }

    /// Reports two steps with one cache key, which would populate one directory.
    fn check_unique_cache_keys(&mut self, steps: &[&MapEntry]) {
        let mut keys: Vec<(&str, &str)> = Vec::new();
        for step in steps {
            let Some(key) = step.value.descendant(&["cache", "key"]) else {
                continue;
            };
            let text = key.text().unwrap_or("");
            if let Some((_, first)) = keys.iter().find(|(key, _)| *key == text) {
                let message = format!("`{}` has the same cache key as `{first}`", step.key);
                self.problems.error("cache", message, &key.span, "give each its own key");
            }
            keys.push((text, &step.key));
        }
    }

    fn warn_unused_commands(&mut self) {
        if self.partial {
            return;
        }
        let recipe = self.recipe;
        let named: Vec<&str> = recipe
            .entries_at("scenarios")
            .iter()
            .flat_map(|scenario| scenario.value.entries())
            .filter_map(|mode| mode.value.text_at("from"))
            .collect();
        for command in recipe.entries_at("commands") {
            if !named.contains(&command.key.as_str()) {
                let message = format!("no scenario uses the command `{}`", command.key);
                self.problems.warning(
                    "unused-command",
                    message,
                    &command.key_span,
                    format!("write `from: {}` in a mode, or remove it", command.key),
                );
            }
        }
    }
}

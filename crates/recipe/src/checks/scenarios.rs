//! Checks scenarios: each mode measures something, its command exists, and its trials are in order.

use std::path::Path;

use super::CheckContext;
use crate::model::{CommandOptions, loadgen_name};
use retrial_document::{Keys as _, MapEntry, Node};

impl CheckContext<'_> {
    pub(super) fn check_scenarios(&mut self) {
        let Some(scenarios) = self.recipe.get("scenarios") else {
            return;
        };
        let all = scenarios.entries();
        let entry = self.recipe.entry("scenarios");
        if let Some(entry) = entry.filter(|_| all.is_empty() && !self.partial) {
            self.problems.error(
                "no-scenario",
                "the recipe has no scenario",
                &entry.key_span,
                "write a measurement: `offline: {performance: {run: …, results: …}}`",
            );
        }
        for (index, scenario) in all.iter().enumerate() {
            let name = loadgen_name(&scenario.key);
            let same = |other: &&MapEntry| name.is_some() && loadgen_name(&other.key) == name;
            if let Some(first) = all[..index].iter().find(same) {
                let message =
                    format!("`{}` and `{}` are the same scenario", scenario.key, first.key);
                self.problems.error(
                    "duplicate-scenario",
                    message,
                    &scenario.key_span,
                    "keep one of them",
                );
            }
            if scenario.value.entries().is_empty() && !self.partial {
                let message = format!("the scenario `{}` measures nothing", scenario.key);
                self.problems.error(
                    "no-mode",
                    message,
                    &scenario.key_span,
                    "write performance, accuracy or compliance below it",
                );
            }
            for mode in scenario.value.entries() {
                self.check_measurement(mode);
            }
        }
    }

    fn check_measurement(&mut self, mode: &MapEntry) {
        let measurement = &mode.value;
        if let Some(from) = measurement.get("from").filter(|_| !self.partial) {
            let commands = self.recipe.entries_at("commands");
            self.report_undeclared("unknown-command", "command", from, commands);
        }
        if measurement.get("from").is_some() {
            let options = CommandOptions::KEYS.iter().map(|key| key.name);
            for entry in options.chain(["needs", "on"]).filter_map(|key| measurement.entry(key)) {
                let message = format!("`{}` has no effect with `from`", entry.key);
                let help = "the shared command runs once for all; write it there, under `commands`";
                self.problems.warning("conflict", message, &entry.key_span, help);
            }
            self.report_misplaced(
                measurement,
                "warmup",
                "`warmup` needs a command of its own: with `from`, a warm-up would be a judged trial of other scenarios or modes",
                "write `run` instead of `from`, or remove it",
            );
        }
        if mode.key != "performance" {
            let message = "only performance has a warm-up";
            self.report_misplaced(measurement, "warmup", message, "remove it");
        }
        if measurement.get("check").is_none() {
            self.report_misplaced(
                measurement,
                "check_timeout",
                "`check_timeout` needs `check`",
                "remove it, or write the check",
            );
        }
        if let Some(results) = measurement.get("results") {
            self.check_results_on_disk(results);
        }
        self.check_figures(measurement, mode.key == "accuracy");
        if mode.key == "performance" {
            self.warn_single_trial(measurement);
        }
        if let Some(entry) = measurement.entry("trials") {
            let bound = |key: &str| -> Option<u32> { entry.value.text_at(key)?.parse().ok() };
            if let (Some(min), Some(max)) = (bound("min"), bound("max"))
                && min > max
            {
                self.problems.error(
                    "out-of-range",
                    "the minimum of trials exceeds the maximum",
                    &entry.key_span,
                    "min is at most max",
                );
            }
        }
        let has_figures =
            measurement.get("results").is_some() || !measurement.entries_at("figures").is_empty();
        if mode.key == "performance" && !has_figures && !self.partial {
            self.problems.warning(
                "no-figure",
                "this measures nothing: it has neither `results` nor `figures`",
                &mode.key_span,
                "set LoadGen's output directory (`results`), or define a figure (`figures`)",
            );
        }
    }

    /// Checks that results do not lie in memory, which an engine's archive does not contain.
    fn check_results_on_disk(&mut self, results: &Node) {
        let path = results.text().unwrap_or_default();
        let container = self.recipe.get("container").into_iter();
        let tmpfs = container.flat_map(|container| container.items_at("tmpfs"));
        let own = tmpfs.filter_map(|mount| mount.text()?.split(':').next());
        let mut in_memory = ["/dev/shm", "/proc", "/sys"].into_iter().chain(own);
        let is_below = |directory: &&str| Path::new(path).starts_with(directory);
        if let Some(directory) = in_memory.find(is_below) {
            self.problems.error(
                "in-memory",
                format!("`{directory}` is in memory, and what it holds cannot be collected"),
                &results.span,
                "write the results to a directory of the container's file system, or copy them there at the end of the command",
            );
        }
    }

    /// Warns of published figures that the recipe's one trial cannot decide, since nothing states the noise of a trial.
    fn warn_single_trial(&mut self, measurement: &Node) {
        let trials = measurement.get("trials");
        let max_trials = trials.map_or(Some("1"), |trials| trials.text().or(trials.text_at("max")));
        let is_single = max_trials == Some("1");
        let is_smoke_test = self.recipe.text_at("smoke_test") == Some("true");
        let states_noise =
            |node: Option<&Node>| node.is_some_and(|node| node.get("noise").is_some());
        // Published pairs of runs show the noise of MLPerf Inference's own benchmarks.
        let suite = self.recipe.descendant(&["submission", "suite"]);
        let suite = suite.and_then(Node::text).unwrap_or_default();
        let is_known_noise =
            suite.starts_with("mlperf-inference") || states_noise(self.recipe.get("judge"));
        if !is_single || is_smoke_test || is_known_noise || self.partial {
            return;
        }
        let figures = measurement.entries_at("figures");
        let undecided = measurement.entries_at("expect").iter().find(|entry| {
            let name = entry.key.split('[').next();
            let figure = figures.iter().find(|figure| Some(figure.key.as_str()) == name);
            let mut published = entry.value.one_or_items().iter();
            !published.any(|node| states_noise(Some(node)))
                && !states_noise(figure.map(|figure| &figure.value))
        });
        if let Some(entry) = undecided {
            let message = format!(
                "one trial cannot show whether `{}` is reproduced: the noise of a trial is unknown",
                entry.key
            );
            self.problems.warning(
                "single-trial",
                message,
                &entry.key_span,
                "measure it more often: `trials: 3` or `--trials 3`; or state the noise: `judge: {noise: 1%}`",
            );
        }
    }
}

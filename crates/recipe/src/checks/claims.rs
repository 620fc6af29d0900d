//! Checks claims: their figures exist, differ, and are better in the same direction.

use super::CheckContext;
use crate::model::loadgen_name;
use retrial_document::{MapEntry, Node, did_you_mean};

impl<'a> CheckContext<'a> {
    pub(super) fn check_claims(&mut self) {
        if self.partial {
            return;
        }
        for claim in self.recipe.items_at("claims") {
            let sides = ["candidate", "baseline"].map(|side| claim.get(side));
            let [Some(candidate), Some(baseline)] = sides else {
                continue;
            };
            let declared = [candidate, baseline].map(|side| self.find_claimed_figure(side));
            let name = |side: &Node| {
                ["scenario", "mode", "figure"].map(|key| side.text_at(key).map(str::to_owned))
            };
            if name(candidate) == name(baseline) {
                let message = "both sides of the claim are the same figure";
                let help = "name another scenario or figure";
                self.problems.error("claim", message, &baseline.span, help);
            }
            let better = |figure: &MapEntry| figure.value.text_at("better") == Some("lower");
            if let [Some(first), Some(second)] = declared
                && better(first) != better(second)
            {
                let message = format!(
                    "higher is better for one of `{}` and `{}`, lower for the other",
                    first.key, second.key
                );
                let help = "a claim compares two figures that are better in the same direction";
                self.problems.error("claim", message, &claim.span, help);
            }
        }
    }

    /// Returns the declaration of a claim's figure, if its measurement has one; reports a name that is not there.
    fn find_claimed_figure(&mut self, side: &Node) -> Option<&'a MapEntry> {
        let recipe = self.recipe;
        let [scenario, figure] = [side.get("scenario")?, side.get("figure")?];
        let name = scenario.text()?;
        let scenarios = recipe.entries_at("scenarios");
        let known = scenarios.iter().find(|entry| {
            let same = loadgen_name(&entry.key).filter(|same| loadgen_name(name) == Some(*same));
            entry.key == name || same.is_some()
        });
        let Some(known) = known else {
            self.report_undeclared("unknown-scenario", "scenario", scenario, scenarios);
            return None;
        };
        let mode = side.text_at("mode").unwrap_or("performance");
        let Some(measurement) = known.value.get(mode) else {
            let modes = known.value.entries().iter().map(|entry| entry.key.as_str());
            let message = format!("`{name}` has no {mode}");
            let help = did_you_mean(mode, modes, "modes");
            let span = &side.get("mode").unwrap_or(scenario).span;
            self.problems.error("unknown-mode", message, span, help);
            return None;
        };
        let is_accuracy = mode == "accuracy";
        self.find_figure(measurement, is_accuracy, figure.text()?, &figure.span)
    }
}

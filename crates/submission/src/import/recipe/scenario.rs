//! The scenarios of a published result: commands, target rates, expectations.

use itertools::Itertools as _;
use retrial_document::Node;
use retrial_recipe::model::loadgen_name;
use retrial_recipe::writer::{Section, list_node, map_node, plain_node, text_node};

use super::{PublishedSubmission, RecipeDraft};
use crate::import::model::{PublishedFigure, PublishedScenario, PublishedSettings};
use crate::published_text::published_text;
use retrial_document::measures::format;
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;

/// The placeholder command of a mode for which no README has one.
const COMMAND_PLACEHOLDER: &str =
    "echo 'write the command that is run in the container' >&2\nexit 1\n";

/// Adds the scenarios to a draft, and the items to complete.
pub(super) fn add_scenarios(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let mut scenarios = Section::default();
    for scenario in &published.scenarios {
        let Some(loadgen_scenario) = loadgen_name(&scenario.name) else {
            draft.add_incomplete(format!("scenarios: {} is not a LoadGen scenario", scenario.name));
            continue;
        };
        let key = loadgen_scenario.to_lowercase();
        if let Some(from) = scenario.inferred_from {
            let comment =
                format!("{loadgen_scenario} was inferred from the {from} run, not measured.");
            scenarios.comment_above(&key, &comment);
            continue;
        }
        let Some(performance) = &scenario.performance else {
            draft.add_incomplete(format!("scenarios.{key}: its log has no figure"));
            continue;
        };
        let mode = ModeSource { published, scenario, key: &key };
        let mut modes = Section::default();
        let commands = scenario.commands.as_ref();
        let run_commands = commands.and_then(|one| one.performance.as_deref());
        let mut measured = mode.describe_mode(draft, "performance", run_commands);
        add_settings(&mut measured, &scenario.settings, loadgen_scenario);
        measured.set_section("expect", describe_expectations(std::slice::from_ref(performance)));
        modes.set_section("performance", measured);
        if !scenario.accuracy.is_empty() {
            let run_commands = commands.and_then(|one| one.accuracy.as_deref());
            let mut measured = mode.describe_mode(draft, "accuracy", run_commands);
            measured.set_section("expect", describe_expectations(&scenario.accuracy));
            modes.set_section("accuracy", measured);
            if !scenario.is_from_endpoint {
                draft.add_incomplete(format!(
                    "scenarios.{key}.accuracy.check: the command that prints the accuracy"
                ));
            }
        }
        scenarios.set_section(&key, modes);
    }
    draft.keys.set_section("scenarios", scenarios);
}

/// The source of a mode's text.
struct ModeSource<'a> {
    published: &'a PublishedSubmission<'a>,
    scenario: &'a PublishedScenario,
    key: &'a str,
}

impl ModeSource<'_> {
    /// Returns the mode's command, and the path of its results.
    fn describe_mode(
        &self,
        draft: &mut RecipeDraft,
        mode: &str,
        commands: Option<&str>,
    ) -> Section {
        let place = format!("scenarios.{}.{mode}.run", self.key);
        let container = self.published.container.as_ref();
        let measured = container.and_then(|one| one.draft.measured.as_ref());
        let run = |text: &str| Section::from_iter([("run", text_node(text))]);
        let (mut keys, readme) = match (commands, measured, container) {
            (Some(commands), ..) => {
                let readme = self.scenario.commands.as_ref().map(|one| &*one.readme);
                (run(commands), readme)
            }
            (None, Some(measured), Some(container)) => {
                let keys = measured.iter().cloned().collect();
                (keys, Some(&*container.readme))
            }
            _ => (run(COMMAND_PLACEHOLDER), None),
        };
        if let Some(readme) = readme {
            draft.add_incomplete(format!("{place}: compare it with {readme}"));
            keys.comment_above("run", &format!("Drafted from {readme}."));
        } else {
            draft.add_incomplete(format!("{place}: no README has a command for it"));
        }
        let folder = match mode {
            // The client's own report has a folder for each mode.
            "performance" if !self.scenario.is_from_endpoint => PERFORMANCE_RUN,
            other => other,
        };
        let name = &self.scenario.name;
        let results = format!("${{{{ params.results }}}}/{name}/{folder}");
        keys.set("results", text_node(results));
        keys
    }
}

/// Adds the target rate, which determines the queries of Server and Interactive only; Offline's determines the
/// size of its query.
fn add_settings(measured: &mut Section, settings: &PublishedSettings, scenario: &str) {
    let source = settings.source;
    let min_duration_ms = settings.min_duration_ms;
    let duration = min_duration_ms
        .map(|duration| format!("min_duration {}", format::format_time_limit(duration / 1000)));
    match (settings.target_qps, scenario) {
        (Some(rate), "Server" | "Interactive") => {
            let duration_note = duration.map(|duration| format!("; {duration}"));
            let note = format!("as in {source}{}", duration_note.unwrap_or_default());
            measured.set("target_qps", plain_node(rate.to_string()));
            measured.comment_beside("target_qps", &note);
        }
        (rate, _) => {
            let offline_rate = rate.filter(|_| scenario == "Offline");
            let rate = offline_rate.map(|rate| format!("target_qps {rate}"));
            let requested = rate.into_iter().chain(duration).join(", ");
            if !requested.is_empty() {
                measured.comment_above("expect", &format!("In {source}: {requested}."));
            }
        }
    }
}

fn describe_expectations(all: &[PublishedFigure]) -> Section {
    let describe = |value: f64, kind: &str, source: &str| -> Node {
        map_node([
            ("value", plain_node(value.to_string())),
            ("kind", text_node(kind)),
            ("source", published_text(source)),
        ])
    };
    let mut figures = Section::default();
    for expected in all {
        let official = describe(expected.value, "official", &expected.source);
        let others = expected.third_party_figures.iter();
        let others = others.map(|other| describe(other.value, "third-party", &other.source));
        let value = if expected.third_party_figures.is_empty() {
            official
        } else {
            list_node([official].into_iter().chain(others).collect())
        };
        figures.set_compact(&expected.figure, value);
    }
    figures
}

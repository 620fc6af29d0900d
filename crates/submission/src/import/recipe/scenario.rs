//! The scenarios of a published result: commands, target rates, expectations.

use std::fmt::Write as _;

use itertools::Itertools as _;
use retrial_document::{Keys as _, to_yaml};
use retrial_recipe::docker_run::map_node;
use retrial_recipe::model::{Measurement, loadgen_name};

use super::write::{mapping_to_yaml, quote, to_single_line};
use super::{PublishedSubmission, RecipeDraft};
use crate::import::model::{PublishedFigure, PublishedScenario, PublishedSettings};
use retrial_document::measures::format;
use retrial_mlperf::submission_layout::PERFORMANCE_RUN;

/// The placeholder command of a mode for which no README has one.
const COMMAND_PLACEHOLDER: &str =
    "echo 'write the command that is run in the container' >&2\nexit 1\n";

/// Adds the section of scenarios to a draft, and the items to complete.
pub(super) fn add_scenarios(draft: &mut RecipeDraft, published: &PublishedSubmission<'_>) {
    let mut section = String::from("scenarios:\n");
    for scenario in &published.scenarios {
        let Some(loadgen_scenario) = loadgen_name(&scenario.name) else {
            draft.add_incomplete(format!(
                "scenarios: {} is not a LoadGen scenario",
                scenario.name
            ));
            continue;
        };
        let key = loadgen_scenario.to_lowercase();
        if let Some(from) = scenario.inferred_from {
            let _ = writeln!(
                section,
                "  # {loadgen_scenario} was inferred from the {from} run, not measured."
            );
            continue;
        }
        let Some(performance) = &scenario.performance else {
            draft.add_incomplete(format!("scenarios.{key}: its log has no figure"));
            continue;
        };
        if !section.ends_with("scenarios:\n") {
            section.push('\n');
        }
        let _ = writeln!(section, "  {key}:");
        let mode = ModeSource {
            published,
            scenario,
            key: &key,
        };
        let commands = scenario.commands.as_ref();
        let run_commands = commands.and_then(|one| one.performance.as_deref());
        section.push_str(&mode.render_mode(draft, "performance", run_commands));
        section.push_str(&render_settings(&scenario.settings, loadgen_scenario));
        section.push_str(&render_expectations(std::slice::from_ref(performance)));
        if scenario.accuracy.is_empty() {
            continue;
        }
        let run_commands = commands.and_then(|one| one.accuracy.as_deref());
        section.push_str(&mode.render_mode(draft, "accuracy", run_commands));
        section.push_str(&render_expectations(&scenario.accuracy));
        if !scenario.is_from_endpoint {
            draft.add_incomplete(format!(
                "scenarios.{key}.accuracy.check: the command that prints the accuracy"
            ));
        }
    }
    draft.sections.push(section);
}

/// The source of a mode's text.
struct ModeSource<'a> {
    published: &'a PublishedSubmission<'a>,
    scenario: &'a PublishedScenario,
    key: &'a str,
}

impl ModeSource<'_> {
    /// Writes the mode's command, and the path of its results.
    fn render_mode(&self, draft: &mut RecipeDraft, mode: &str, commands: Option<&str>) -> String {
        let place = format!("scenarios.{}.{mode}.run", self.key);
        let container = self.published.container.as_ref();
        let measured = container.and_then(|one| one.draft.measured.as_ref());
        let readme = self.scenario.commands.as_ref().map(|one| &*one.readme);
        let (run, readme) = match (commands, measured, container) {
            (Some(commands), ..) => (mapping_to_yaml(&[("run", commands.to_owned())]), readme),
            (None, Some(measured), Some(container)) => (
                to_yaml(&map_node(measured.iter().cloned()), Measurement::OBJECT),
                Some(&*container.readme),
            ),
            _ => (
                mapping_to_yaml(&[("run", COMMAND_PLACEHOLDER.to_owned())]),
                None,
            ),
        };
        let note = if let Some(readme) = readme {
            draft.add_incomplete(format!("{place}: compare it with {readme}"));
            format!("      # Drafted from {}.\n", to_single_line(readme))
        } else {
            draft.add_incomplete(format!("{place}: no README has a command for it"));
            String::new()
        };
        let folder = match mode {
            // The client's own report has a folder for each mode.
            "performance" if !self.scenario.is_from_endpoint => PERFORMANCE_RUN,
            other => other,
        };
        let name = &self.scenario.name;
        format!(
            "    {mode}:\n{note}{}      results: ${{{{ params.results }}}}/{name}/{folder}\n",
            textwrap::indent(&run, "      ")
        )
    }
}

/// The target rate, which determines the queries of Server and Interactive only; Offline's determines the
/// size of its query.
fn render_settings(settings: &PublishedSettings, scenario: &str) -> String {
    let source = settings.source;
    let min_duration_ms = settings.min_duration_ms;
    let duration = min_duration_ms.map(|duration| {
        format!(
            "min_duration {}",
            format::format_time_limit(duration / 1000)
        )
    });
    match (settings.target_qps, scenario) {
        (Some(rate), "Server" | "Interactive") => {
            let duration_note = duration.map(|duration| format!("; {duration}"));
            let note = format!("as in {source}{}", duration_note.unwrap_or_default());
            format!("      target_qps: {rate}    # {note}\n")
        }
        (rate, _) => {
            let offline_rate = rate.filter(|_| scenario == "Offline");
            let rate = offline_rate.map(|rate| format!("target_qps {rate}"));
            match &*rate.into_iter().chain(duration).join(", ") {
                "" => String::new(),
                requested => format!("      # In {source}: {requested}.\n"),
            }
        }
    }
}

fn render_expectations(all: &[PublishedFigure]) -> String {
    let mut text = String::from("      expect:\n");
    for expected in all {
        let official = format!(
            "{{ value: {}, kind: official, source: {} }}",
            expected.value,
            quote(&expected.source)
        );
        let figure = &expected.figure;
        if expected.third_party_figures.is_empty() {
            let _ = writeln!(text, "        {figure}: {official}");
            continue;
        }
        let _ = writeln!(text, "        {figure}:");
        let _ = writeln!(text, "          - {official}");
        for other in &expected.third_party_figures {
            let _ = writeln!(
                text,
                "          - {{ value: {}, kind: third-party, source: {} }}",
                other.value,
                quote(&other.source)
            );
        }
    }
    text
}

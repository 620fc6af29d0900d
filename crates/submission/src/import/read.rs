//! Reads the files of one published result.

use std::path::{Path, PathBuf};

use super::index::{ImportError, ImportableResult, ResultsIndex};
use super::model::{
    DraftedCommands, DraftedContainer, OtherSubmitterFigure, PublishedFigure, PublishedScenario,
    PublishedSettings, PublishedSubmission,
};
use super::{readme, user_conf};
use retrial_import::shell_blocks;
use retrial_mlperf::ScenarioName;
use retrial_mlperf::figures;
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::SubmissionLayout;
use retrial_readings::units;
use retrial_recipe::model::{JudgeRules, Mode};
use retrial_results::evidence::tree::gather::gather_place;
use retrial_results::evidence::tree::{JudgeContext, ScenarioFolder};
use retrial_results::verdict::{Evidence, TrialEvidence};
use retrial_store::open;

/// The largest README or `user.conf` that is read: the largest real one has 90 kB.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// Reads a result: its figures from the round's table, or from the logs if the table has none.
/// Figures of `others` are added to it.
///
/// # Errors
/// If no log of it has a figure.
pub fn read_submission<'i>(
    index: &'i ResultsIndex<'_>,
    entry: &'i ImportableResult<'_>,
    others: &[&ImportableResult<'_>],
) -> Result<PublishedSubmission<'i>, ImportError> {
    let benchmark = entry.benchmark;
    let path = benchmark.relative_path().display().to_string();
    let accelerators = entry.system.accelerators.as_ref();
    let models = accelerators.map(|one| &one.models[..]);
    let reader = SubmissionReader { index, entry, others };
    let scenarios = benchmark.scenarios.iter();
    let mut scenarios: Vec<PublishedScenario> =
        scenarios.map(|place| reader.read_scenario(place)).collect();
    scenarios.sort_by_key(|one| TestScenario::from_word(&one.name));
    let is_measured =
        |one: &PublishedScenario| one.performance.is_some() && one.inferred_from.is_none();
    if !scenarios.iter().any(is_measured) {
        return Err(ImportError::NoFigure { path });
    }
    let is_page = |page: &&String| page.starts_with("https://");
    let page = entry.details.iter().find(is_page).cloned();
    Ok(PublishedSubmission {
        round: index.round_name.as_deref(),
        entry,
        sources: page.into_iter().chain([path.clone()]).collect(),
        path,
        scenarios,
        container: reader.find_container(models.unwrap_or_default()),
    })
}

struct SubmissionReader<'r> {
    index: &'r ResultsIndex<'r>,
    entry: &'r ImportableResult<'r>,
    others: &'r [&'r ImportableResult<'r>],
}

impl SubmissionReader<'_> {
    fn read_scenario(&self, place: &ScenarioFolder) -> PublishedScenario {
        let judge_context = JudgeContext {
            round: self.index.round,
            published: None,
            rules: &JudgeRules::default(),
            require_accuracy: false,
        };
        let gathered = gather_place(place, &judge_context);
        let trial_in = |mode: Mode| {
            let mut all = gathered.evidence.iter();
            let evidence = all.find(|one| one.plan.mode == mode)?;
            Some((evidence, evidence.trials.first()?))
        };
        let performance = trial_in(Mode::Performance);
        let accuracy = trial_in(Mode::Accuracy).map(|(evidence, trial)| {
            let limited = evidence.limited_figures();
            let limited_names: Vec<&str> =
                limited.filter(|name| figures::is_published_accuracy(name)).collect();
            self.expected_accuracy(place, trial, &limited_names)
        });
        let logged = performance.and_then(|(_, trial)| trial.run_settings.as_ref()?.scenario);
        PublishedScenario {
            inferred_from: logged.and_then(|logged| inferred_from(place, logged)),
            name: place.scenario_name().to_string(),
            is_from_endpoint: performance.is_some_and(|(evidence, _)| !evidence.plan.loadgen),
            performance: performance
                .and_then(|(evidence, trial)| self.expected_performance(place, evidence, trial)),
            accuracy: accuracy.unwrap_or_default(),
            settings: read_settings(place, performance.map(|(_, trial)| trial)),
            commands: self.read_commands(place),
        }
    }

    fn expected_performance(
        &self,
        place: &ScenarioFolder,
        evidence: &Evidence,
        trial: &TrialEvidence,
    ) -> Option<PublishedFigure> {
        let name = evidence.published_metric.clone()?;
        let figure = trial.figure(&name)?;
        let table = self.index.published.as_ref();
        let published = table.and_then(|table| table.expectation_of_place(place, &figure.unit));
        Some(PublishedFigure {
            value: published.as_ref().map_or(figure.value, |one| one.value),
            source: self.figure_source(place),
            third_party_figures: self.figures_of_others(&place.scenario_name(), &figure.unit),
            unit: figure.unit.clone(),
            figure: name,
        })
    }

    /// The figures of the accuracy run: those that the round limits, or all if it limits none.
    fn expected_accuracy(
        &self,
        place: &ScenarioFolder,
        trial: &TrialEvidence,
        limited: &[&str],
    ) -> Vec<PublishedFigure> {
        let is_expected = |name: &str| {
            limited.contains(&name) || (limited.is_empty() && figures::is_published_accuracy(name))
        };
        let figures = trial.figures.iter().filter(|(name, _)| is_expected(name));
        let expected = figures.map(|(name, figure)| PublishedFigure {
            figure: name.clone(),
            value: figure.value,
            unit: figure.unit.clone(),
            source: self.figure_source(place),
            third_party_figures: Vec::new(),
        });
        expected.collect()
    }

    /// The id of its row, else the submitter and the system.
    fn figure_source(&self, place: &ScenarioFolder) -> String {
        let row = self.index.published.as_ref().and_then(|table| table.row_of_place(place));
        let id = row.and_then(|row| row.id.clone());
        id.unwrap_or_else(|| format!("{} {}", place.submitter.name, place.system))
    }

    fn figures_of_others(&self, scenario: &ScenarioName, unit: &str) -> Vec<OtherSubmitterFigure> {
        let others = self.others.iter().filter_map(|entry| {
            let mut figures = entry.figures.iter();
            let figure = figures.find(|one| one.scenario == *scenario)?;
            let (value, from) = figure.value.as_ref()?;
            let rates = || (from.ends_with("/s") && unit.ends_with("/s")).then_some(1.0);
            let factor = units::conversion_factor(from, unit).or_else(rates)?;
            let submitter = &entry.benchmark.submitter.name;
            let source = match entry.ids.first() {
                Some(id) => format!("{id} {submitter}"),
                None => format!("{submitter} {}", entry.benchmark.system),
            };
            Some(OtherSubmitterFigure { value: value * factor, source })
        });
        others.collect()
    }

    fn read_commands(&self, place: &ScenarioFolder) -> Option<DraftedCommands> {
        let places = [place.measurements_path(), place.results_path()];
        places.iter().find_map(|folder| {
            let (readme, blocks) = self.read_blocks(&folder.join("README.md"))?;
            let performance = readme::extract_commands(&blocks, "performance", "accuracy");
            let accuracy = readme::extract_commands(&blocks, "accuracy", "performance");
            (performance.is_some() || accuracy.is_some()).then_some(DraftedCommands {
                readme,
                performance,
                accuracy,
            })
        })
    }

    /// The container of the nearest README that starts one.
    fn find_container(&self, models: &[String]) -> Option<DraftedContainer> {
        self.readme_candidates().iter().find_map(|file| {
            let (readme, blocks) = self.read_blocks(file)?;
            let (draft, count) = readme::draft_container(&blocks, models)?;
            Some(DraftedContainer { readme, other_blocks: count - 1, draft })
        })
    }

    /// The paths of a result's possible READMEs, the nearest first.
    fn readme_candidates(&self) -> Vec<PathBuf> {
        let benchmark = self.entry.benchmark;
        let paths = benchmark.submitter.paths();
        let places = benchmark.scenarios.iter();
        let mut folders: Vec<PathBuf> =
            places.flat_map(|place| [place.measurements_path(), place.results_path()]).collect();
        folders.push(benchmark.relative_path());
        folders.push(paths.system_results(&benchmark.system).into());
        let names = [&*benchmark.name, self.index.official_name(benchmark)];
        for layout in [SubmissionLayout::Together, SubmissionLayout::Separate] {
            folders.extend(names.map(|name| paths.code(layout, name).into()));
        }
        folders.push(paths.root().into());
        folders.dedup();
        folders.iter().map(|at| at.join("README.md")).collect()
    }

    fn read_blocks(&self, file: &Path) -> Option<(String, Vec<String>)> {
        let root = &self.entry.benchmark.submitter.root;
        let text = open::read_text_beneath(root, file, MAX_TEXT_BYTES).ok()?;
        Some((file.display().to_string(), shell_blocks(&text)))
    }
}

/// Returns the scenario of a run whose figure was submitted in another scenario.
fn inferred_from(place: &ScenarioFolder, logged: TestScenario) -> Option<&'static str> {
    let is_edge = matches!(logged, TestScenario::SingleStream | TestScenario::MultiStream);
    (is_edge && place.scenario() != Some(logged)).then(|| logged.word())
}

/// The settings of the run: from the log if it states any, else from `user.conf`.
fn read_settings(place: &ScenarioFolder, trial: Option<&TrialEvidence>) -> PublishedSettings {
    let logged = trial.and_then(|trial| Some(&trial.run_settings.as_ref()?.settings));
    let logged = PublishedSettings {
        target_qps: logged.and_then(|settings| settings.target_qps),
        min_duration_ms: logged.and_then(|settings| settings.min_duration_ms),
        source: "the published log",
    };
    if logged.target_qps.is_some() || logged.min_duration_ms.is_some() {
        return logged;
    }
    let root = &place.submitter.root;
    let mut files = [place.measurements_path(), place.results_path()].into_iter();
    let text = files
        .find_map(|at| open::read_text_beneath(root, &at.join("user.conf"), MAX_TEXT_BYTES).ok())
        .unwrap_or_default();
    // LoadGen has no Interactive scenario: its settings are those of Server.
    let scenario = match place.scenario_name() {
        name if name == "Interactive" => TestScenario::Server.into(),
        name => name,
    };
    let value = |key: &str| user_conf::find_value(&text, &scenario, key);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration in ms, as text"
    )]
    let min_duration_ms = value("min_duration").map(|duration| duration as u64);
    PublishedSettings { target_qps: value("target_qps"), min_duration_ms, source: "user.conf" }
}

//! The parts of a submission tree: submitters, their benchmarks on systems, and one scenario each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{Evidence, TrialEvidence};
use retrial_mlperf::loadgen::{LoadgenRun, TestScenario};
use retrial_mlperf::rounds::{InferenceRules, SubmissionLayout};
use retrial_mlperf::submission_layout::{ScenarioPart, ScenarioPaths, SubmitterPaths};
use retrial_mlperf::{Division, ScenarioName};
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// One submitter's part of a tree: `closed/AMD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitter {
    /// The tree's root, in which the divisions lie.
    pub root: PathBuf,
    /// The division whose folder it is in.
    pub division: Division,
    /// The name of the submitter's folder.
    pub name: String,
    /// `model_mapping.json`: the submitter's own names of benchmarks, each with `MLCommons`'.
    pub names: BTreeMap<String, String>,
    /// Where its configurations and compliance tests are.
    pub layout: SubmissionLayout,
}

impl Submitter {
    /// Returns the path of the submitter's folder, below the root.
    pub fn relative_path(&self) -> PathBuf {
        self.paths().root().into()
    }

    /// Returns the paths of the submitter's folders, below the root.
    pub fn paths(&self) -> SubmitterPaths<'_> {
        SubmitterPaths { division: self.division, submitter: &self.name }
    }

    /// Accuracy, compliance and required scenarios are asked of everybody but the open division.
    pub fn is_open(&self) -> bool {
        self.division == Division::Open
    }

    /// Returns the path of the system's description, below the root.
    pub fn system_file(&self, system: &str) -> PathBuf {
        self.paths().system_file(system).into()
    }
}

/// One benchmark on one system: what is judged together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedBenchmark {
    pub submitter: Arc<Submitter>,
    /// The name of the system's folder.
    pub system: String,
    /// The name of the benchmark's folder.
    pub name: String,
    /// All its scenarios, or the requested ones.
    pub scenarios: Vec<ScenarioFolder>,
    /// All its scenarios are included: missing ones may be reported.
    pub has_all_scenarios: bool,
    /// Those of its scenarios that the user did not select.
    pub excluded: Vec<String>,
}

impl SubmittedBenchmark {
    /// Returns the path of its folder, below the root.
    pub fn relative_path(&self) -> PathBuf {
        let paths = self.submitter.paths();
        paths.benchmark_results(&self.system, &self.name).into()
    }
}

/// One scenario of a benchmark on a system, with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioFolder {
    pub submitter: Arc<Submitter>,
    /// The name of the system's folder.
    pub system: String,
    /// The name of the benchmark's folder.
    pub benchmark: String,
    /// The name of the scenario's folder.
    pub folder: String,
    /// Only this part was requested.
    pub requested_part: Option<ScenarioPart>,
}

impl ScenarioFolder {
    /// Returns the scenario that the folder's name says. An Interactive run's own log says `Server`.
    pub fn scenario(&self) -> Option<TestScenario> {
        TestScenario::from_word(&self.folder.replace(['-', '_'], ""))
    }

    /// Returns the scenario as it is shown.
    pub fn scenario_name(&self) -> ScenarioName {
        self.scenario().map_or_else(|| self.folder.as_str().into(), ScenarioName::from)
    }

    /// Returns where its results lie, below the root.
    pub fn results_path(&self) -> PathBuf {
        self.paths().results().into()
    }

    pub fn results_folder(&self) -> PathBuf {
        self.submitter.root.join(self.results_path())
    }

    /// Returns where its measurements lie, below the root.
    pub fn measurements_path(&self) -> PathBuf {
        self.paths().measurements(self.submitter.layout).into()
    }

    /// Returns where its compliance tests may lie, below the root.
    pub fn compliance_paths(&self) -> [PathBuf; 3] {
        self.paths().compliance_of_any_round().map(PathBuf::from)
    }

    /// Returns whether this part is to be judged.
    pub fn includes_part(&self, part: &ScenarioPart) -> bool {
        match (&self.requested_part, part) {
            (None, _) | (Some(ScenarioPart::Compliance), ScenarioPart::Test(_)) => true,
            (Some(only), part) => only == part,
        }
    }

    /// Returns evidence of it that has no trials yet.
    pub(crate) fn new_evidence(&self, mode: Mode, path: &Path) -> Evidence {
        let mut evidence = Evidence::new(self.scenario_name(), mode);
        evidence.path = path.display().to_string();
        evidence.plan.loadgen = true;
        evidence
    }

    /// Reads the run of it in a mode, in a folder below the root; `ran` is the scenario of its performance run.
    pub(crate) fn read_run(
        &self,
        mode: Mode,
        path: &Path,
        rules: Option<&InferenceRules>,
        ran: Option<TestScenario>,
    ) -> (Evidence, Option<LoadgenRun>) {
        let mut evidence = self.new_evidence(mode, path);
        evidence.plan.rules = rules.map(|rules| rules.clone().in_division(self.submitter.division));
        // The open division has no required accuracy, and its figures have the same names.
        let measured = MeasurementPlan {
            scenario: ran.map_or_else(|| self.scenario_name(), ScenarioName::from),
            rules: rules.cloned(),
            ..evidence.plan.clone()
        };
        let trial = TrialEvidence::new_finished(1, evidence.path.clone());
        let files = TrialFiles::of_tree(&measured, trial, &self.submitter.root, path);
        let settings = Some(self.measurements_path());
        let run = TrialFiles { settings, ..files }.read_into(&mut evidence);
        (evidence, run)
    }

    pub(super) fn paths(&self) -> ScenarioPaths<'_> {
        let submitter = self.submitter.paths();
        submitter.scenario(&self.system, &self.benchmark, &self.folder)
    }
}

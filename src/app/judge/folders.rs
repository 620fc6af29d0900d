//! Result folders outside submission trees, grouped by their paths.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Gathered;
use super::basis::Basis;
use super::other_system::Origin;
use super::own_results::{self, OUTPUT};
use crate::app::failure::Failure;
use crate::app::open;
use crate::app::options::{GlobalOptions, JudgeRequest, PlanRequest, RecipeRequest};
use retrial_mlperf::compliance::Test;
use retrial_mlperf::loadgen::{self, Scenario};
use retrial_mlperf::rounds::Rules;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureSource, Mode};
use retrial_results::evidence::accuracy;
use retrial_results::evidence::compliance;
use retrial_results::evidence::figures::Text;
use retrial_results::evidence::folder;
use retrial_results::evidence::loadgen::{fallback, loadgen_evidence, other_kind};
use retrial_results::evidence::markers;
use retrial_results::evidence::readings::readings;
use retrial_results::evidence::result_path::ResultPath;
use retrial_results::verdict::{Context, Evidence, Qualifier, RuleCheck, TrialEvidence};

/// The folder of a power measurement's ranging run.
const RANGING: &str = "ranging";

/// Results that are judged together: a submission's on one benchmark.
struct Group {
    place: ResultPath,
    /// Set if they are of another system than the recipe's figures.
    qualifiers: Vec<Qualifier>,
    evidence: Vec<Evidence>,
}

/// The context for reading folders.
struct Reader<'a> {
    directory: &'a Path,
    basis: Basis<'a>,
    plan: Option<Plan>,
}

/// The evidence of every result in or below a directory, grouped for judging.
pub fn gather(
    global: &GlobalOptions,
    directory: &Path,
    basis: Basis<'_>,
) -> Result<Vec<Gathered>, Failure> {
    let request = basis.request;
    let mut folders = folder::find_all(directory);
    // A power measurement's first run finds the meter's range, and is no trial of the result.
    folders.retain(|path| path.file_name() != Some(OsStr::new(RANGING)));
    let tests = compliance::find_all(directory);
    let reader = Reader {
        directory,
        plan: plan(global, request)?,
        basis,
    };
    if folders.is_empty() && tests.is_empty() {
        return match &reader.plan {
            Some(plan) => {
                let rounds = &reader.basis.rounds;
                let (context, evidence) = own_results::gather(directory, plan, request, rounds)?;
                Ok(vec![Gathered {
                    path: directory.to_owned(),
                    context,
                    evidence,
                }])
            }
            None => Err(Failure::usage(format!(
                "{} contains neither a run (plan.json) nor a result of LoadGen ({})\n  \
                 --recipe RECIPE: how to read figures of other benchmarks",
                directory.display(),
                folder::SUMMARY
            ))),
        };
    }
    let full = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    let mut groups: Vec<Group> = Vec::new();
    for relative in &folders {
        let place = reader.place(&full, relative);
        let group = reader.group(&mut groups, &place)?;
        reader.add(&mut group.evidence, relative, &place)?;
    }
    for relative in &tests {
        let place = reader.place(&full, relative);
        if let Some((test, folder)) = &place.test {
            let group = reader.group(&mut groups, &place)?;
            reader.verify(&mut group.evidence, (*test, folder), relative, &place);
        }
    }
    Ok(groups
        .into_iter()
        .map(|group| reader.gathered(group))
        .collect())
}

impl Reader<'_> {
    fn place(&self, full: &Path, relative: &Path) -> ResultPath {
        let mut place = ResultPath::parse(&full.join(relative));
        // One recipe's results belong together, whatever the names of the folders.
        if self.plan.is_some() && place.scenario.is_none() {
            full.clone_into(&mut place.group);
        }
        place
    }

    /// The group that a place belongs to. Results of another system are compared with a recipe's
    /// figures on demand only.
    fn group<'g>(
        &self,
        groups: &'g mut Vec<Group>,
        place: &ResultPath,
    ) -> Result<&'g mut Group, Failure> {
        let same = |group: &Group| group.place.group == place.group;
        if let Some(at) = groups.iter().position(same) {
            return Ok(&mut groups[at]);
        }
        let (rounds, force) = (&self.basis.rounds, self.basis.request.force);
        let origin = self.plan.as_ref().zip(Origin::of_inference(place));
        let qualifiers = origin.map(|(plan, origin)| origin.modified(plan, rounds, force));
        groups.push(Group {
            place: place.clone(),
            qualifiers: qualifiers.transpose()?.unwrap_or_default(),
            evidence: Vec::new(),
        });
        let last = groups.len() - 1;
        Ok(&mut groups[last])
    }

    fn gathered(&self, group: Group) -> Gathered {
        let rules = || group.evidence.iter().find_map(|one| one.rules.as_ref());
        let context = match &self.plan {
            Some(plan) => Context::from(plan),
            None => Context {
                submission: self.basis.submission(&group.place, rules()),
                ..Context::default()
            },
        };
        Gathered {
            context: Context {
                qualifiers: group.qualifiers,
                require_accuracy: self.basis.request.require_accuracy,
                ..context
            },
            path: group.place.group,
            evidence: group.evidence,
        }
    }

    /// One folder's result: a further trial of a measurement that is there, or a new one.
    fn add(
        &self,
        evidence: &mut Vec<Evidence>,
        relative: &Path,
        place: &ResultPath,
    ) -> Result<(), Failure> {
        let shown = self.directory.join(relative);
        let run = folder::read(&shown)
            .map_err(|error| Failure::usage(format!("{}: {error}", shown.display())))?;
        let measured = self.measurement(&shown, place, &run);
        let trials_of = if place.is_trial {
            relative.parent().unwrap_or(relative)
        } else {
            relative
        };
        let existing = evidence.iter().position(|one| {
            one.mode == measured.mode
                && one.scenario == measured.scenario
                && Path::new(&one.path) == trials_of
        });
        let index = existing.unwrap_or_else(|| {
            let mut added = Evidence::from(measured.clone());
            added.path = trials_of.display().to_string();
            added.loadgen = true;
            evidence.push(added);
            evidence.len() - 1
        });
        let result = &mut evidence[index];
        let number = u32::try_from(result.trials.len()).unwrap_or(u32::MAX - 1) + 1;
        let mut trial = TrialEvidence::finished(number, relative.display().to_string());
        loadgen_evidence(&run, result, &mut trial);
        result.checks.extend(self.markers(&shown));
        if measured.mode == Mode::Accuracy && run.mode() != Some(loadgen::Mode::Accuracy) {
            let scenario = Scenario::from_word(&measured.scenario);
            result.checks.extend(other_kind(&run, scenario));
            // The log of a performance run has a speed, which is not this result's.
            trial.figures.clear();
        }
        if measured.mode == Mode::Performance {
            result.checks.extend(fallback(&run));
        }
        // The output of a step is not among the results; this file keeps what a script prints.
        let texts = |source: &FigureSource| own_results::text(source, &shown, accuracy::ACCURACY);
        let is_in_a_file = |name: &String| {
            let mut figures = measured.figures.iter();
            figures.any(|(figure, source)| figure == name && source.file.is_some())
        };
        for mut reading in readings(&measured.figures, &texts) {
            if measured.mode == Mode::Performance {
                // Figures that were only printed cannot be among the results.
                reading.missing.retain(|name, _| is_in_a_file(name));
            }
            reading.add_to(&mut trial);
        }
        if measured.mode == Mode::Accuracy {
            accuracy::add_to(&mut trial, &shown, Path::new(accuracy::ACCURACY), &[]);
        }
        result.trials.push(trial);
        Ok(())
    }

    /// Adds the checks of a test's script to the evidence of its run, or as evidence of its own.
    fn verify(
        &self,
        evidence: &mut Vec<Evidence>,
        (test, folder): (Test, &Path),
        relative: &Path,
        place: &ResultPath,
    ) {
        let run = folder::logs(folder, Path::new(compliance::RUN)).run;
        let scenario = place.scenario.clone().unwrap_or_default();
        let rules = self.rules_of_tested(&scenario, place, &run);
        let checks = compliance::loose(folder, test, rules.as_ref(), &run);
        let is_run_of = |result: &&mut Evidence| {
            result.mode == Mode::Compliance && Path::new(&result.path).starts_with(relative)
        };
        if let Some(result) = evidence.iter_mut().find(is_run_of) {
            result.checks.extend(checks);
            return;
        }
        let mut result = Evidence::from(MeasurementPlan::new(scenario, Mode::Compliance));
        result.loadgen = true;
        result.checks = checks;
        result.path = relative.display().to_string();
        result
            .trials
            .push(TrialEvidence::finished(1, result.path.clone()));
        evidence.push(result);
    }

    /// The rules for the result that a test belongs to.
    fn rules_of_tested(
        &self,
        scenario: &str,
        place: &ResultPath,
        run: &loadgen::Run,
    ) -> Option<Rules> {
        let mut of_recipe = self.plan.iter().flat_map(|plan| &plan.measurements);
        let of_recipe = of_recipe
            .find(|one| one.mode == Mode::Performance && one.is_named(scenario))
            .and_then(|one| one.rules.clone());
        of_recipe.or_else(|| {
            let benchmark = self.basis.benchmark(place);
            self.basis.rules_of(&benchmark, scenario, run)
        })
    }

    /// The recipe's markers of invalid results in a folder, else the usual one.
    fn markers(&self, folder: &Path) -> Vec<RuleCheck> {
        let Some(plan) = &self.plan else {
            return markers::usual(folder).into_iter().collect();
        };
        let output = Text {
            directory: folder.to_owned(),
            file: OUTPUT.into(),
        };
        markers::of_recipe(&plan.judge.invalid_if, folder, &[output])
    }

    /// The recipe's measurement that a folder belongs to, else one that its log and path indicate.
    fn measurement(
        &self,
        folder: &Path,
        place: &ResultPath,
        run: &loadgen::Run,
    ) -> MeasurementPlan {
        let mode = match (run.mode(), place.mode) {
            // An accuracy summary has only two lines: then the folder's name decides.
            (Some(loadgen::Mode::Accuracy), _) | (None, Some(Mode::Accuracy)) => Mode::Accuracy,
            // The log in a submission's folder `accuracy` is never the published speed.
            (_, Some(Mode::Accuracy)) if place.is_submitted() => Mode::Accuracy,
            (_, Some(Mode::Compliance)) => Mode::Compliance,
            _ => Mode::Performance,
        };
        let logged = || run.scenario().map(|scenario| scenario.as_str().to_owned());
        let name = self.basis.request.scenario.clone();
        let name = name
            .or_else(|| place.scenario.clone())
            .or_else(logged)
            .unwrap_or_else(|| name_of(folder));
        let mut of_recipe = self.plan.iter().flat_map(|plan| &plan.measurements);
        let of_recipe = of_recipe.find(|one| one.mode == mode && one.is_named(&name));
        of_recipe
            .cloned()
            .unwrap_or_else(|| self.basis.measurement(&name, mode, place, run))
    }
}

/// The plan of `--recipe`, by which results are read.
fn plan(global: &GlobalOptions, request: &JudgeRequest) -> Result<Option<Plan>, Failure> {
    let Some(recipe) = &request.recipe else {
        return Ok(None);
    };
    let recipe = RecipeRequest {
        recipe: recipe.clone(),
        settings: request.settings.clone(),
    };
    // Host paths that must be set for a run do not affect the published figures.
    let (opened, _) = open::recipe_with_stand_ins(&recipe)?;
    let plan = PlanRequest::everything(recipe);
    open::plan(global, &plan, &opened, false, &open::host_view(global)).map(Some)
}

fn name_of(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().map_or_else(
        || "results".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

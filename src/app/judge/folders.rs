//! Result folders that are in no submission tree: whatever lies there, grouped by its path.

use std::path::{Path, PathBuf};

use super::Gathered;
use super::basis::Basis;
use super::other_system::differences;
use crate::app::failure::Failure;
use crate::app::open;
use crate::app::options::{GlobalOptions, JudgeRequest, PlanRequest, RecipeRequest};
use crate::plan::Plan;
use crate::plan::measurement::MeasurementPlan;
use crate::results::evidence::accuracy;
use crate::results::evidence::figures::Text;
use crate::results::evidence::folder;
use crate::results::evidence::loadgen::{fallback, loadgen_evidence};
use crate::results::evidence::markers;
use crate::results::evidence::readings::readings;
use crate::results::evidence::result_path::ResultPath;
use crate::results::verdict::{
    Context, Evidence, Qualifier, QualifierKind, RuleCheck, TrialEvidence,
};
use retrial_mlperf::loadgen;
use retrial_mlperf::mllog::TIME_TO_TRAIN;
use retrial_recipe::model::{FigureSource, Find, Mode};

/// Where the output of a step that was not ours is looked for.
const OUTPUT: &str = "output.log";
/// Where MLCommons keeps the logs of a submission's runs.
const TRAINING_LOGS: &str = "result_*.txt";

/// What is judged together: a submission's results on one benchmark.
struct Group {
    place: ResultPath,
    evidence: Vec<Evidence>,
}

/// What every folder is read by.
struct Reader<'a> {
    directory: &'a Path,
    basis: Basis<'a>,
    plan: Option<Plan>,
}

/// The evidence of every result in or below a directory; what is judged together lies together.
pub fn gather(
    global: &GlobalOptions,
    directory: &Path,
    request: &JudgeRequest,
) -> Result<Vec<Gathered>, Failure> {
    let folders = folder::find_all(directory);
    let reader = Reader {
        directory,
        plan: plan(global, request)?,
        basis: Basis::read(request)?,
    };
    if folders.is_empty() {
        return match &reader.plan {
            Some(plan) => Ok(vec![own_results(directory, plan, request)?]),
            None => Err(Failure::usage(format!(
                "{} contains neither a run (plan.json) nor a result of LoadGen ({})\n  \
                 --recipe RECIPE says how figures of other benchmarks are read",
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
        let mut place = ResultPath::of(&full.join(relative));
        // One recipe's results belong together, however somebody named the folders.
        if reader.plan.is_some() && place.scenario.is_none() {
            place.group.clone_from(&full);
        }
        reader.refuse_other_system(&place)?;
        let same = |group: &Group| group.place.group == place.group;
        let at = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(Group {
                place: place.clone(),
                evidence: Vec::new(),
            });
            groups.len() - 1
        });
        reader.add(&mut groups[at].evidence, relative, &place)?;
    }
    Ok(groups
        .into_iter()
        .map(|group| reader.gathered(group))
        .collect())
}

/// Results that are not `LoadGen`'s: what the recipe's own figures find in a directory.
fn own_results(directory: &Path, plan: &Plan, request: &JudgeRequest) -> Result<Gathered, Failure> {
    let mut found: Vec<Evidence> = plan
        .measurements
        .iter()
        .filter(|one| !one.loadgen && !one.figures.is_empty())
        .filter(|one| {
            let named = request.scenario.as_ref();
            named.is_none_or(|name| one.is_named(name))
        })
        .map(|one| one_folder(directory, one))
        .filter(|one| one.trials.iter().any(|trial| !trial.figures.is_empty()))
        .collect();
    if found.is_empty() {
        return Err(Failure::usage(format!(
            "{} contains none of the figures of {}\n  the output of its command is read from \
             {OUTPUT}, training logs from {TRAINING_LOGS}",
            directory.display(),
            plan.recipe
        )));
    }
    let mut context = context(plan, request);
    for evidence in &mut found {
        for name in leave_out_of_others(evidence) {
            let why = "no log has it: it is no event of MLCommons', and was not compared";
            context.warnings.push(format!("{name}: {why}"));
        }
    }
    Ok(Gathered {
        path: directory.to_owned(),
        context,
        evidence: found,
    })
}

/// Leaves out the figures that are not of `MLCommons`' events where no training log has them: what a
/// program prints or tracks besides, another submitter's does not. Where some logs have them, the
/// others are incomplete. Returns their names.
fn leave_out_of_others(evidence: &mut Evidence) -> Vec<String> {
    let is_timed = |figure: &FigureSource| matches!(&figure.find, Find::Mllog(figure) if figure.key == TIME_TO_TRAIN);
    let of_program = |figure: &FigureSource| match &figure.find {
        Find::Mllog(figure) => figure.key.starts_with("tracked_stats"),
        Find::Pattern(_) => true,
        Find::Json { .. } | Find::Csv(_) => false,
    };
    if !evidence.figures.iter().any(|(_, figure)| is_timed(figure)) {
        return Vec::new();
    }
    let trials = &evidence.trials;
    let nowhere = |name: &str| trials.iter().all(|trial| trial.figure(name).is_none());
    let own = evidence
        .figures
        .iter()
        .filter(|(_, figure)| of_program(figure));
    let names: Vec<String> = own
        .map(|(name, _)| name.clone())
        .filter(|name| nowhere(name))
        .collect();
    evidence
        .plan
        .figures
        .retain(|(name, _)| !names.contains(name));
    evidence
        .plan
        .expect
        .retain(|(name, _)| !names.contains(name));
    for trial in &mut evidence.trials {
        trial.missing.retain(|name, _| !names.contains(name));
    }
    names
}

fn context(plan: &Plan, request: &JudgeRequest) -> Context {
    Context {
        submission: plan.submission.clone(),
        rules: plan.judge.clone(),
        variant: plan.variant.clone(),
        require_accuracy: request.require_accuracy,
        ..Context::default()
    }
}

fn one_folder(directory: &Path, measured: &MeasurementPlan) -> Evidence {
    let mut evidence = Evidence::from(measured.clone());
    evidence.path = directory.display().to_string();
    let is_trained = |figure: &FigureSource| matches!(figure.find, Find::Mllog(_));
    let trained = measured
        .figures
        .iter()
        .any(|(_, figure)| is_trained(figure));
    let usual = if trained { TRAINING_LOGS } else { OUTPUT };
    let read = readings(&measured.figures, &|source| {
        let file = source.file.as_ref().map_or(usual, |file| file.0.as_str());
        vec![Text {
            directory: directory.to_owned(),
            file: file.into(),
        }]
    });
    for (number, reading) in (1..).zip(read) {
        let path = directory.display().to_string();
        let mut trial = TrialEvidence::finished(number, path);
        reading.add_to(&mut trial);
        evidence.trials.push(trial);
    }
    evidence
}

impl Reader<'_> {
    fn gathered(&self, group: Group) -> Gathered {
        let request = self.basis.request;
        let rules = || group.evidence.iter().find_map(|one| one.rules.as_ref());
        let context = match &self.plan {
            Some(plan) => Context {
                qualifiers: self.modified(&group.place),
                ..context(plan, request)
            },
            None => Context {
                submission: self.basis.submission(&group.place, rules()),
                require_accuracy: request.require_accuracy,
                ..Context::default()
            },
        };
        Gathered {
            path: group.place.group,
            context,
            evidence: group.evidence,
        }
    }

    /// Results of another system are compared with a recipe's figures on demand only.
    fn refuse_other_system(&self, place: &ResultPath) -> Result<(), Failure> {
        let differences = self.differences(place);
        if differences.is_empty() || self.basis.request.force {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{} is not what the recipe's figures were published on: {}\n  \
             compare anyway, as `modified`: --force",
            place.group.display(),
            differences.join(", ")
        )))
    }

    fn modified(&self, place: &ResultPath) -> Vec<Qualifier> {
        let differences = self.differences(place);
        let modified = |because: String| Qualifier::new(QualifierKind::Modified, because);
        let because = (!differences.is_empty()).then(|| differences.join(", "));
        because.map(modified).into_iter().collect()
    }

    fn differences(&self, place: &ResultPath) -> Vec<String> {
        let plan = self.plan.as_ref();
        plan.map_or_else(Vec::new, |plan| {
            differences(plan, place, &self.basis.rounds)
        })
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
            let mut one = Evidence::from(measured.clone());
            one.path = trials_of.display().to_string();
            one.loadgen = true;
            evidence.push(one);
            evidence.len() - 1
        });
        let one = &mut evidence[index];
        let number = u32::try_from(one.trials.len()).unwrap_or(u32::MAX - 1) + 1;
        let mut trial = TrialEvidence::finished(number, relative.display().to_string());
        loadgen_evidence(&run, one, &mut trial);
        one.checks.extend(self.markers(&shown));
        if measured.mode == Mode::Performance {
            one.checks.extend(fallback(&run));
        }
        let texts = |source: &FigureSource| {
            // The output of a step is not among the results; this file keeps what a script prints.
            let file = source.file.as_ref();
            vec![Text {
                directory: shown.clone(),
                file: file
                    .map_or(accuracy::ACCURACY, |file| file.0.as_str())
                    .into(),
            }]
        };
        let is_in_a_file = |name: &String| {
            let mut figures = measured.figures.iter();
            figures.any(|(known, source)| known == name && source.file.is_some())
        };
        for mut reading in readings(&measured.figures, &texts) {
            if measured.mode == Mode::Performance {
                // What was only printed cannot be among the results.
                reading.missing.retain(|name, _| is_in_a_file(name));
            }
            reading.add_to(&mut trial);
        }
        if measured.mode == Mode::Accuracy {
            accuracy::add_to(&mut trial, &shown, Path::new(accuracy::ACCURACY), &[]);
        }
        one.trials.push(trial);
        Ok(())
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

    /// The recipe's measurement that a folder belongs to, else one that its log and path tell.
    fn measurement(
        &self,
        folder: &Path,
        place: &ResultPath,
        run: &loadgen::Run,
    ) -> MeasurementPlan {
        let mode = match (run.mode(), place.mode) {
            // An accuracy summary holds only its two last lines: then the folder's name tells.
            (Some(loadgen::Mode::Accuracy), _) | (None, Some(Mode::Accuracy)) => Mode::Accuracy,
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
    let plan = PlanRequest::everything(recipe, Vec::new());
    // Paths of the host, which must be set for a run, say nothing of what was published.
    let (opened, _) = open::recipe_to_look_at(&plan.recipe)?;
    open::plan(global, &plan, &opened, false, &open::host_view(global)).map(Some)
}

fn name_of(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().map_or_else(
        || "results".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

//! Result folders that are in no submission tree: whatever lies there, grouped by its path.

use std::path::{Path, PathBuf};

use super::Gathered;
use super::loose_results::LooseResults;
use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::options::{PlanRequest, RecipeRequest};
use crate::app::{follow, open, terminal};
use crate::format;
use crate::plan::Plan;
use crate::plan::measurement::MeasurementPlan;
use crate::report::Entry;
use crate::results::evidence::accuracy;
use crate::results::evidence::figures::Text;
use crate::results::evidence::folder;
use crate::results::evidence::loadgen::loadgen_evidence;
use crate::results::evidence::readings::readings;
use crate::results::evidence::result_path::ResultPath;
use crate::results::verdict::{self, Context, Evidence, ExitCode, Outcome, Verdict};
use retrial_recipe::model::{FigureSource, Find, Mode};

/// Where the output of a step that was not ours is looked for.
const OUTPUT: &str = "output.log";
/// Where MLCommons keeps the logs of a submission's runs.
const TRAINING_LOGS: &str = "result_*.txt";

/// Judges every result in or below a directory.
pub fn judge(
    global: &GlobalOptions,
    directory: &Path,
    asked: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    let gathered = gather(global, directory, asked)?.into_iter();
    let verdicts: Vec<(PathBuf, Verdict)> = gathered
        .map(|(path, context, evidence)| (path, verdict::judge(&context, &evidence)))
        .collect();
    print_folders(global, &verdicts);
    Ok(ExitCode::first(
        verdicts.iter().map(|(_, verdict)| verdict.exit_code),
    ))
}

fn print_folders(global: &GlobalOptions, verdicts: &[(PathBuf, Verdict)]) {
    if global.output == Output::Json {
        let results: Vec<_> = verdicts
            .iter()
            .flat_map(|(_, verdict)| &verdict.results)
            .collect();
        match verdicts {
            [(_, verdict)] if results.len() == 1 => follow::print(global, verdict, ""),
            _ => terminal::print(&format!("{}\n", serde_json::json!({ "results": results }))),
        }
        return;
    }
    let shown: Vec<Entry<'_>> = verdicts
        .iter()
        .map(|(path, verdict)| Entry::new(path.display().to_string(), verdict))
        .collect();
    if follow::print_for_ci(global, &shown) {
        return;
    }
    for (path, verdict) in verdicts {
        follow::print(global, verdict, &path.display().to_string());
    }
    if verdicts.len() > 1 {
        let of = |outcome: Outcome| {
            let results = verdicts.iter().flat_map(|(_, verdict)| &verdict.results);
            results.filter(|result| result.outcome == outcome).count()
        };
        let counts: Vec<String> = Outcome::ALL
            .into_iter()
            .map(|outcome| (of(outcome), outcome))
            .filter(|(count, _)| *count > 0)
            .map(|(count, outcome)| format!("{count} {outcome}"))
            .collect();
        terminal::print(&format!(
            "\n{} of results, each judged by itself: {}\n",
            format::count(verdicts.len(), "group"),
            counts.join(", ")
        ));
    }
}

/// What is judged together: a submission's results on one benchmark.
struct Group {
    place: ResultPath,
    evidence: Vec<Evidence>,
}

/// The evidence of every result in or below a directory; what is judged together lies together.
pub fn gather(
    global: &GlobalOptions,
    directory: &Path,
    asked: &JudgeRequest,
) -> Result<Vec<Gathered>, Failure> {
    let folders = folder::find_all(directory);
    let plan = asked
        .recipe
        .as_ref()
        .map(|recipe| plan_of(global, recipe, &asked.settings))
        .transpose()?;
    let loose_results = LooseResults::new(asked)?;
    if folders.is_empty() {
        return match plan {
            Some(plan) => Ok(vec![own_results(directory, &plan, asked)?]),
            None => Err(Failure::usage(format!(
                "{}: neither a run of ours (plan.json) nor a result of LoadGen ({}) is in or below \
                 it; for figures that are not LoadGen's, --recipe says how they are read",
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
        if plan.is_some() && place.scenario.is_none() {
            place.group.clone_from(&full);
        }
        let at = groups
            .iter()
            .position(|group| group.place.group == place.group);
        let at = at.unwrap_or_else(|| {
            groups.push(Group {
                place: place.clone(),
                evidence: Vec::new(),
            });
            groups.len() - 1
        });
        let evidence = &mut groups[at].evidence;
        let recipe = plan.as_ref().ok_or(&loose_results);
        add(evidence, directory, relative, &place, recipe, asked)?;
    }
    let gathered = groups.into_iter().map(|group| {
        let mut context = Context {
            submission: {
                let rules = group.evidence.iter().find_map(|one| one.rules.as_ref());
                loose_results.submission(&group.place, rules)
            },
            require_accuracy: asked.require_accuracy,
            ..Context::default()
        };
        if let Some(plan) = &plan {
            context.submission.clone_from(&plan.submission);
            context.rules.clone_from(&plan.judge);
            context.variant.clone_from(&plan.variant);
        }
        (group.place.group, context, group.evidence)
    });
    Ok(gathered.collect())
}

/// Results that are not `LoadGen`'s: what the recipe's own figures find in a directory.
fn own_results(directory: &Path, plan: &Plan, asked: &JudgeRequest) -> Result<Gathered, Failure> {
    let found: Vec<Evidence> = plan
        .measurements
        .iter()
        .filter(|one| !one.loadgen && !one.figures.is_empty())
        .filter(|one| {
            asked
                .scenario
                .as_ref()
                .is_none_or(|name| one.is_named(name))
        })
        .map(|one| one_folder(directory, one))
        .filter(|one| one.trials.iter().any(|trial| !trial.figures.is_empty()))
        .collect();
    if found.is_empty() {
        return Err(Failure::usage(format!(
            "{}: none of the figures of {} is in it; the output of its command is looked for in \
             {OUTPUT}, training logs in {TRAINING_LOGS}",
            directory.display(),
            plan.recipe
        )));
    }
    let context = Context {
        submission: plan.submission.clone(),
        rules: plan.judge.clone(),
        variant: plan.variant.clone(),
        require_accuracy: asked.require_accuracy,
        ..Context::default()
    };
    Ok((directory.to_owned(), context, found))
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
        let mut trial = verdict::TrialEvidence::finished(number, path);
        reading.add_to(&mut trial);
        evidence.trials.push(trial);
    }
    evidence
}

/// One folder's result: a further trial of a measurement that is there, or a new one.
fn add(
    evidence: &mut Vec<Evidence>,
    directory: &Path,
    relative: &Path,
    place: &ResultPath,
    known: Result<&Plan, &LooseResults<'_>>,
    asked: &JudgeRequest,
) -> Result<(), Failure> {
    let shown = directory.join(relative);
    let run = folder::read(&shown)
        .map_err(|error| Failure::usage(format!("{}: {error}", shown.display())))?;
    let mode = match (run.mode(), place.mode) {
        // An accuracy summary holds only its two last lines: then the folder's name tells.
        (Some(retrial_mlperf::loadgen::Mode::Accuracy), _) | (None, Some(Mode::Accuracy)) => {
            Mode::Accuracy
        }
        (_, Some(Mode::Compliance)) => Mode::Compliance,
        _ => Mode::Performance,
    };
    let said = run.scenario().map(|scenario| scenario.as_str().to_owned());
    let name = asked
        .scenario
        .clone()
        .or_else(|| place.scenario.clone())
        .or(said)
        .unwrap_or_else(|| name_of(&shown));
    let of_recipe = known.ok().and_then(|plan| {
        let mut measurements = plan.measurements.iter();
        measurements.find(|one| one.mode == mode && one.is_named(&name))
    });
    let measured = match (of_recipe, known) {
        (Some(measured), _) => measured.clone(),
        (None, Err(loose_results)) => loose_results.measurement(&name, mode, place, &run),
        (None, Ok(_)) => LooseResults::new(asked)?.measurement(&name, mode, place, &run),
    };
    let trials_of = if place.is_trial {
        relative.parent().unwrap_or(relative)
    } else {
        relative
    };
    let existing = evidence.iter().position(|one| {
        one.mode == mode && one.scenario == measured.scenario && Path::new(&one.path) == trials_of
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
    let mut trial = verdict::TrialEvidence::finished(number, relative.display().to_string());
    loadgen_evidence(&run, one, &mut trial);
    let texts = |source: &FigureSource| {
        // The output of a step is not among the results; what a script prints is kept in this file.
        let file = source
            .file
            .as_ref()
            .map_or(accuracy::ACCURACY, |file| file.0.as_str());
        vec![Text {
            directory: shown.clone(),
            file: file.into(),
        }]
    };
    for reading in readings(&measured.figures, &texts) {
        reading.add_to(&mut trial);
    }
    if mode == Mode::Accuracy {
        accuracy::add_to(&mut trial, &shown, Path::new(accuracy::ACCURACY), &[]);
    }
    one.trials.push(trial);
    Ok(())
}

fn plan_of(
    global: &GlobalOptions,
    recipe: &str,
    settings: &[(String, String)],
) -> Result<Plan, Failure> {
    let recipe = RecipeRequest {
        recipe: recipe.to_owned(),
        settings: settings.to_vec(),
    };
    let arguments = PlanRequest::everything(recipe, Vec::new());
    // Paths of the host, which must be set for a run, say nothing of what was published.
    let (opened, _) = open::recipe_to_look_at(&arguments.recipe)?;
    open::plan(global, &arguments, &opened, false)
}

fn name_of(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().map_or_else(
        || "results".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

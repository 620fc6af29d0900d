//! The needs of a batch that are known before it starts: requirements of the host, and images.

use std::time::Duration;

use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use itertools::Itertools as _;
use retrial_batch::{BatchEstimate, ImageSource};
use retrial_engine::api::Engine as _;
use retrial_history::earlier_run::EarlierRun;
use retrial_history::entry;
use retrial_host::checks::HostCheck;
use retrial_plan::PlanOptions;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::remaining::{EstimateBasis, RemainingSteps, StepTimes};
use retrial_recipe::ResolvedRecipe;
use retrial_recipe::model::Trials;

/// The requirements of any cell that this host does not meet, each once.
pub fn unmet_requirements(
    global: &GlobalOptions,
    options: &PlanOptions,
    cells: &[ResolvedRecipe],
) -> Vec<HostCheck> {
    let host = open::probe_host(global);
    let mut checked = Vec::new();
    let mut all: Vec<HostCheck> = Vec::new();
    for cell in cells {
        let scenarios = cell.recipe.scenarios.iter();
        let modes = scenarios.flat_map(|(name, scenario)| {
            let modes = scenario.modes.iter();
            modes.map(move |(_, measured)| (name, measured.gpu_memory))
        });
        let requires = (&cell.recipe.requires, modes.collect_vec());
        if checked.contains(&requires) {
            continue;
        }
        checked.push(requires);
        let plan = retrial_plan::build_plan(&cell.recipe, &RecipeOrigin::default(), options, &host);
        for check in plan.into_iter().flat_map(|plan| plan.unmet) {
            if !all.contains(&check) {
                all.push(check);
            }
        }
    }
    all
}

/// How long a run of each cell takes, by earlier runs of this home.
pub fn estimate_durations(
    global: &GlobalOptions,
    options: &PlanOptions,
    cells: &[ResolvedRecipe],
) -> Vec<Option<Duration>> {
    let host = open::probe_host(global);
    let mut index = entry::open_index(&global.home);
    let options = PlanOptions { trials: Some(Trials::default()), ..options.clone() };
    let here = cells.iter().map(|cell| {
        let origin = RecipeOrigin { hash: cell.hash.clone(), ..RecipeOrigin::default() };
        let plan = retrial_plan::build_plan(&cell.recipe, &origin, &options, &host).ok()?;
        let earlier = EarlierRun::find(&mut index, &plan)?;
        let remaining = RemainingSteps::new(plan, StepTimes::default(), earlier.times);
        let total_estimate = remaining.estimate(None);
        let estimate = total_estimate.filter(|one| one.basis == EstimateBasis::EarlierRun)?;
        Some(Duration::from_secs_f64(estimate.seconds))
    });
    here.collect()
}

/// Adds which images the engine has, if it answers.
pub fn query_local_images(global: &GlobalOptions, estimate: &mut BatchEstimate) {
    let images = &mut estimate.images;
    // Images about which the engine does not answer in time are shown without that.
    runtime::query_engine(global, async |engine| {
        for image in images {
            let ImageSource::Pulled { reference } = &image.source else {
                continue;
            };
            if let Ok(local) = engine.find_image(reference).await {
                image.here = Some(local.is_some());
                image.size = local.map(|local| local.size);
            }
        }
        Some(())
    });
}

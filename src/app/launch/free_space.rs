//! Free space on the engine's disk, before the first byte. An image's size there is not known before
//! it is pulled: the recipe's requirement counts.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::app::failure::Failure;
use crate::app::terminal;
use retrial_document::measures::format;
use retrial_engine::api::Engine;
use retrial_host as host;
use retrial_hub::HubSettings;
use retrial_plan::Plan;
use retrial_plan::options::PullPolicy;
use retrial_plan::step::Action;

/// How to free disk space of the engine.
const FREE_IMAGES: &str = "free disk space: docker image prune";

/// Checks the space for all images that will be pulled, if this machine can determine it; with `one_at_a_time` each is
/// removed before the next is pulled.
pub async fn check_images_fit(
    engine: &dyn Engine,
    plans: &[&Plan],
    one_at_a_time: bool,
    force: bool,
) -> Result<(), Failure> {
    let mut required: BTreeMap<&str, (u64, &Plan)> = BTreeMap::new();
    for plan in plans {
        let (Some(disk), Some(reference)) = (plan.requires.disk, pulled_images(plan).next()) else {
            continue;
        };
        if required.contains_key(reference) || engine.find_image(reference).await?.is_none() {
            let entry = required.entry(reference).or_insert((disk, plan));
            entry.0 = entry.0.max(disk);
        }
    }
    if required.is_empty() {
        return Ok(());
    }
    // An engine elsewhere has its disk elsewhere.
    let root = engine.query_capabilities().await?.root_directory;
    let Some(root) = root.filter(|root| root.exists()) else {
        return Ok(());
    };
    let needs = required.values().map(|(disk, _)| *disk);
    let all = if one_at_a_time {
        needs.max().unwrap_or_default()
    } else {
        needs.fold(0, u64::saturating_add)
    };
    let Some(free) = host::free_disk_bytes(&root).filter(|free| *free < all) else {
        return Ok(());
    };
    let size = |bytes: u64| format::format_bytes(bytes);
    let recipes = required.values().map(|(_, plan)| plan.recipe.as_str());
    let subject = match required.len() {
        1 => format!("{} requires", recipes.collect::<String>()),
        images if one_at_a_time => format!("the largest of {images} images requires"),
        images => format!("{images} images require"),
    };
    let text = format!(
        "{} is free where the engine keeps images ({}), and {subject} {} in total",
        size(free),
        root.display(),
        size(all)
    );
    // Models on another disk need their part of the space there, and several images share them.
    let with_models = |plan: &Plan| plan.fetched_models().next().is_some();
    let fetches = required.values().any(|(_, plan)| with_models(plan));
    let models_elsewhere = fetches
        && (required.len() > 1
            || HubSettings::from_environment()
                .is_ok_and(|settings| !is_same_disk(&root, &settings.cache)));
    if force || models_elsewhere {
        terminal::advise(format!("warning: {text}"), FREE_IMAGES);
        return Ok(());
    }
    let failure = Failure::host(text);
    let failure = if required.len() > 1 && !one_at_a_time {
        failure.with_help("remove each image after its last trial: --order grouped --remove-images")
    } else {
        failure
    };
    Err(failure.with_help(format!("{FREE_IMAGES}, or run it anyway: --force")))
}

/// The images that a plan may pull: the recipe's first, then those of its services.
pub fn pulled_images(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.steps.iter().filter_map(|step| match &step.action {
        Action::Pull { reference, policy }
            if !step.is_skipped() && *policy != PullPolicy::Never =>
        {
            Some(reference.as_str())
        }
        _ => None,
    })
}

fn is_same_disk(path: &Path, other: &Path) -> bool {
    let disk = |path: &Path| {
        let existing = path.ancestors().find(|path| path.exists())?;
        std::fs::metadata(existing).ok().map(|status| status.dev())
    };
    disk(path) == disk(other)
}

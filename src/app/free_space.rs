//! Free space on the engine's disk, before the first byte. An image's size there is not known before
//! it is pulled: the recipe's requirement counts.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::app::failure::Failure;
use crate::app::terminal;
use crate::host;
use crate::plan::Plan;
use crate::plan::options::PullPolicy;
use crate::plan::step::Action;
use retrial_engine::api::Engine;
use retrial_hub::Settings;

/// Checks the space for an image that will be pulled, as far as this machine can tell.
pub async fn for_the_image(engine: &dyn Engine, plan: &Plan, force: bool) -> Result<(), Failure> {
    let Some(wanted) = plan.requires.disk else {
        return Ok(());
    };
    let pulled = plan.steps.iter().find_map(|step| match &step.action {
        Action::Pull { reference, policy }
            if !step.is_skipped() && *policy != PullPolicy::Never =>
        {
            Some(reference)
        }
        _ => None,
    });
    let Some(reference) = pulled else {
        return Ok(());
    };
    if engine.image(reference).await?.is_some() {
        return Ok(());
    }
    // An engine elsewhere has its disk elsewhere.
    let root = engine.abilities().await?.root_directory;
    let Some(root) = root.filter(|root| root.exists()) else {
        return Ok(());
    };
    let Some(free) = host::disk_free(&root).filter(|free| *free < wanted) else {
        return Ok(());
    };
    let size = |bytes: u64| crate::format::size(bytes);
    let told = format!(
        "{} is free where the engine keeps images ({}), and {} requires {} in all\n  free disk space: docker image prune",
        size(free),
        root.display(),
        plan.recipe,
        size(wanted)
    );
    // Models on a disk of their own take their part of it there.
    let models_elsewhere = plan.fetched_models().next().is_some()
        && Settings::from_environment().is_ok_and(|settings| !same_disk(&root, &settings.cache));
    if force || models_elsewhere {
        terminal::note(&format!("warning: {told}"));
        return Ok(());
    }
    Err(Failure::host(format!("{told}, or run it anyway: --force")))
}

fn same_disk(one: &Path, other: &Path) -> bool {
    let disk = |path: &Path| {
        let there = path.ancestors().find(|path| path.exists())?;
        std::fs::metadata(there).ok().map(|status| status.dev())
    };
    disk(one) == disk(other)
}

//! `retrial doctor`: is this host ready, and what would be wrong? It changes nothing.

use std::path::Path;

use serde_json::json;

use super::arguments::{Global, Output, RecipeArguments};
use super::failure::Failure;
use super::{open, supervise, terminal};
use crate::doctor::{CheckState, Disk, EngineFound, Facts, examine};
use crate::engine::api::Engine as _;
use crate::engine::docker::Docker;
use crate::host;
use crate::report::checks;
use crate::verdict::ExitCode;

/// Looks at the host, for a recipe where one is named.
pub fn doctor(global: &Global, recipe: Option<&RecipeArguments>) -> Result<ExitCode, Failure> {
    let opened = match recipe {
        Some(recipe) => Some(open::recipe_to_look_at(recipe)?.0),
        None => None,
    };
    let recipe = opened.as_ref().map(|opened| &opened.resolved.recipe);
    let view = open::host_view(global);
    let conditions = host::conditions(&global.root, &view.gpus);
    let settings = host::settings(&global.root);
    let home = open::home(global);
    let found = examine(&Facts {
        host: &view,
        conditions: &conditions,
        settings: &settings,
        engine: engine(global)?,
        disks: vec![disk("runs", home.root())],
        requires: recipe.map(|recipe| &recipe.requires),
        image_rocm: recipe.and_then(|recipe| recipe.variant.get("rocm").cloned()),
    });
    let text = match global.output {
        Output::Text | Output::Junit | Output::Markdown => checks::render(&found, terminal::color()),
        Output::Json => {
            serde_json::to_string_pretty(&json!({ "checks": found }))
                .map_err(|error| Failure::host(error.to_string()))?
                + "\n"
        }
    };
    terminal::print(&text);
    let ready = found.iter().all(|check| check.state != CheckState::Error);
    Ok(if ready {
        ExitCode::Success
    } else {
        ExitCode::Host
    })
}

fn engine(global: &Global) -> Result<EngineFound, Failure> {
    let runtime = supervise::runtime()?;
    let connected = runtime.block_on(Docker::connect(global.engine.as_deref()));
    Ok(match connected {
        Ok(engine) => {
            let info = engine.info();
            EngineFound::Answers {
                product: format!("{} {}", info.product, info.version),
                api: info.api.clone(),
                endpoint: format!("{} ({})", info.endpoint, info.chosen_by),
            }
        }
        Err(error) => EngineFound::Fails(error.to_string()),
    })
}

fn disk(what: &str, path: &Path) -> Disk {
    Disk {
        what: what.to_owned(),
        path: path.display().to_string(),
        free: host::disk_free(path),
        network: host::network_file_system(path),
    }
}

//! The first step: a recipe is found, and resolved with the settings of the command line.

use std::path::PathBuf;

use crate::app::catalog::{self, FoundRecipe};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanRequest};
use retrial_batch::is_batch;
use retrial_recipe::expression::render_template;
use retrial_recipe::model::{Image, MountRequest};
use retrial_recipe::{Diagnostics, LoadedRecipe, ParamSetting, ResolvedRecipe};

/// A recipe before and after its settings are applied.
pub struct OpenedRecipe {
    /// The recipe's text and where it was found.
    pub entry: FoundRecipe,
    /// The recipe merged with its templates, variants and `--set`.
    pub resolved: ResolvedRecipe,
}

/// Finds a recipe. Refuses a batch's file: a batch has commands of its own.
pub fn find_recipe(name: &str) -> Result<FoundRecipe, Failure> {
    let entry = catalog::open_recipe(name)?;
    if !is_batch(&entry.source) {
        return Ok(entry);
    }
    Err(Failure::usage(format!("{name} is a batch, not a recipe"))
        .with_help(format!("run it: retrial batch {name}"))
        .with_help(format!("see its cells: retrial plan {name}")))
}

impl OpenedRecipe {
    /// Finds and resolves a recipe, and prints its problems.
    pub fn open(request: &PlanRequest) -> Result<Self, Failure> {
        let entry = find_recipe(&request.recipe.recipe)?;
        let trial_run = request.options.trial_run;
        Self::resolve(entry, &request.recipe.settings.to_vec(), trial_run)
            .map_err(Failure::of_problems)
    }

    /// Resolves a recipe with the settings of the command line, for a trial run or a whole one.
    pub fn resolve(
        entry: FoundRecipe,
        settings: &[ParamSetting],
        trial_run: bool,
    ) -> Result<Self, Diagnostics> {
        let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, &entry)?;
        let resolved = loaded.for_trial_run(trial_run).resolve(&entry, settings)?;
        Ok(Self { entry, resolved })
    }

    /// The recipe's directory on this machine. A built-in recipe with companion files is extracted below
    /// the home, once for each resolved recipe.
    pub fn directory(
        &self,
        global: &GlobalOptions,
        extract: bool,
    ) -> Result<Option<String>, Failure> {
        if let Some(directory) = self.entry.directory() {
            let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
            return Ok(Some(directory.display().to_string()));
        }
        if !self.needs_companion_files() {
            return Ok(None);
        }
        let short = self.resolved.hash.get(..16).unwrap_or("recipe");
        let path: PathBuf = global.home.root().join("recipes").join(short);
        if extract && !path.exists() {
            global.home.create()?;
            self.entry.extract_to(&path)?;
        }
        Ok(Some(path.display().to_string()))
    }

    /// Whether the image's build or a container reads files next to the recipe.
    fn needs_companion_files(&self) -> bool {
        let recipe = &self.resolved.recipe;
        let scope = recipe.expression_scope();
        let is_relative = |mount: &MountRequest| {
            render_template(&mount.source, &scope).is_ok_and(|source| !source.starts_with('/'))
        };
        !recipe.files.is_empty()
            || matches!(recipe.image, Image::Build(_))
            || recipe.container.mounts.iter().any(is_relative)
    }
}

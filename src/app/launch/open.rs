//! The first step: a recipe is found, and resolved with the settings of the command line.

use std::iter;
use std::path::{Path, PathBuf};

use itertools::Itertools as _;

use crate::app::catalog::{self, FoundRecipe};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanRequest};
use retrial_batch::is_batch;
use retrial_engine::docker::hash_build_context;
use retrial_plan::named_recipe_files;
use retrial_recipe::expression::render_template;
use retrial_recipe::model::{Image, ModelSource, StepLocation};
use retrial_recipe::{Diagnostics, LoadedRecipe, ParamSetting, ResolvedRecipe};

/// Makes the relative paths among the settings absolute: on the command line a path is of where one stands, in a recipe
/// it is next to it.
fn resolve_relative_paths(loaded: &LoadedRecipe, settings: Vec<ParamSetting>) -> Vec<ParamSetting> {
    let params = loaded.declared_params();
    let is_path =
        |name: &str| params.iter().any(|param| param.name == name && param.kind == "path");
    let absolute = |setting: ParamSetting| {
        let is_relative = setting.value.starts_with("./") || setting.value.starts_with("../");
        match std::path::absolute(&setting.value) {
            Ok(path) if is_relative && is_path(&setting.name) => {
                ParamSetting::new(setting.name, path.display().to_string())
            }
            _ => setting,
        }
    };
    settings.into_iter().map(absolute).collect()
}

/// A recipe before and after its settings are applied.
pub struct OpenedRecipe {
    /// The recipe's text and where it was found.
    pub entry: FoundRecipe,
    /// The recipe merged with its templates, variants and `--set`.
    pub resolved: ResolvedRecipe,
    /// The file of the batch whose cell it is.
    batch_file: Option<BatchFile>,
    /// That file, or a command line that is not the user's own, gives it parameters or an image.
    is_changed_by_other: bool,
}

/// The file of a batch.
#[derive(Clone)]
pub struct BatchFile {
    pub path: PathBuf,
    /// As it was read; not for a batch that continues.
    pub read: Option<FoundRecipe>,
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
        let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, &entry);
        let settings = request.recipe.settings.to_vec();
        let settings = match &loaded {
            Ok(loaded) => resolve_relative_paths(loaded, settings),
            Err(_) => settings,
        };
        Self::resolve(entry, &settings, request.options.smoke_test).map_err(Failure::of_problems)
    }

    /// Resolves a recipe with the settings of the command line, for a smoke test or a whole one.
    pub fn resolve(
        entry: FoundRecipe,
        settings: &[ParamSetting],
        smoke_test: bool,
    ) -> Result<Self, Diagnostics> {
        let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, &entry)?;
        let resolved = loaded.for_smoke_test(smoke_test).resolve(&entry, settings)?;
        Ok(Self::new(entry, resolved))
    }

    /// A recipe with the user's own settings.
    pub(super) fn new(entry: FoundRecipe, resolved: ResolvedRecipe) -> Self {
        Self { entry, resolved, batch_file: None, is_changed_by_other: false }
    }

    /// Resolves a recipe with the settings of a batch, which are those of its file if it has one.
    pub fn resolve_cell(
        entry: FoundRecipe,
        settings: &[ParamSetting],
        batch_file: Option<BatchFile>,
    ) -> Result<Self, Diagnostics> {
        let opened = Self::resolve(entry, settings, false)?;
        let is_changed = batch_file.is_some() && opened.is_changed_by(settings);
        Ok(Self { batch_file, is_changed_by_other: is_changed, ..opened })
    }

    /// Takes the settings of the command line for somebody else's than the user's.
    #[must_use]
    pub fn with_untrusted_settings(mut self, request: &PlanRequest) -> Self {
        self.is_changed_by_other = self.is_changed_by(&request.recipe.settings.to_vec());
        self
    }

    /// Whether settings are more than a choice of variants, which are the recipe's own.
    fn is_changed_by(&self, settings: &[ParamSetting]) -> bool {
        let variant = &self.resolved.recipe.variant;
        settings.iter().any(|setting| !variant.contains_key(&setting.name))
    }

    /// Whether all that it does is of this program: it is built in, and nobody but the user gave it parameters or an
    /// image. It needs no approval.
    pub fn is_trusted(&self) -> bool {
        self.entry.is_builtin() && !self.is_changed_by_other
    }

    /// Who gives it parameters or an image, if not the user: the file of a batch, or a program's command line.
    pub(super) fn changed_by(&self) -> Option<String> {
        let author = self.batch_file.as_ref().map(|file| file.path.display().to_string());
        self.is_changed_by_other.then(|| author.unwrap_or_else(|| "the command line".to_owned()))
    }

    /// Whether a program's command line gives it parameters or an image.
    pub(super) fn has_settings_of_program(&self) -> bool {
        self.is_changed_by_other && self.batch_file.is_none()
    }

    /// The files whose authors decide what it does, of those that are not of this program: a recipe on disk and the file of
    /// its batch by their names, and by where the directories are in which they were read, whatever has those names now.
    pub fn files(&self) -> Vec<PathBuf> {
        let named = self.entry.held_directory().map(|_| PathBuf::from(&*self.entry.source.path));
        let of_batch = self.batch_file.as_ref().map(|file| file.path.clone());
        let read = self.origins().filter_map(|entry| {
            let named = Path::new(&*entry.source.path);
            // Without /proc nothing is there, so that nothing is approved for it.
            let directory = entry.held_directory()?.current_path().unwrap_or_default();
            Some(directory.join(named.file_name().unwrap_or_default()))
        });
        named.into_iter().chain(of_batch).chain(read).unique().collect()
    }

    /// Checks the same files, with templates and the lock, as they were read. The error ends with the reason.
    ///
    /// # Errors
    /// Another user owned or could write one of them, or the directory in which it was read.
    pub fn require_trusted(&self, reason: &str) -> Result<(), Failure> {
        self.origins().try_for_each(|entry| entry.require_trusted(reason))
    }

    fn origins(&self) -> impl Iterator<Item = &FoundRecipe> {
        let of_batch = self.batch_file.iter().filter_map(|file| file.read.as_ref());
        iter::once(&self.entry).chain(of_batch)
    }

    /// The directory that the plan names for the recipe's files. Those of a built-in recipe, run or extended, are on no
    /// disk until a run has its copy.
    pub fn directory(&self, global: &GlobalOptions) -> Result<Option<String>, Failure> {
        let companions = self.companion_paths();
        if let Some(own) = companions.iter().find(|path| !self.entry.is_of_base(path))
            && self.entry.is_stream()
        {
            let name = &self.entry.name;
            return Err(Failure::usage(format!(
                "{name} is a stream, and has no files next to it: `{own}`"
            ))
            .with_help("save the recipe in a directory with its files"));
        }
        if let Some(directory) = self.entry.directory() {
            let is_of_base = |path: &&String| self.entry.is_of_base(path);
            let (of_base, own): (Vec<_>, Vec<_>) = companions.iter().partition(is_of_base);
            match (of_base.first(), own.first()) {
                (None, _) => {
                    let absolute = std::path::absolute(directory);
                    let directory = absolute.unwrap_or_else(|_| directory.to_owned());
                    return Ok(Some(directory.display().to_string()));
                }
                (Some(of_base), Some(own)) => return Err(mixed_companions(of_base, own)),
                (Some(_), None) => {}
            }
        } else if companions.is_empty() {
            return Ok(None);
        }
        let short = self.resolved.hash.get(..16).unwrap_or("recipe");
        Ok(Some(global.home.root().join("recipes").join(short).display().to_string()))
    }

    /// SHA-256 of the Dockerfile and the context of the image's build. None if they cannot be read, which the build
    /// reports.
    pub fn hash_build_content(&self) -> Option<String> {
        let Image::Build(build) = &self.resolved.recipe.image else {
            return None;
        };
        let is_of_base = self.entry.is_of_base(&build.context);
        match self.entry.directory().filter(|_| !is_of_base) {
            Some(directory) => {
                let context = directory.join(&build.context).canonicalize().ok()?;
                hash_build_context(&context, &build.dockerfile).ok()
            }
            None => Some(self.entry.hash_builtin_files()),
        }
    }

    /// The files next to the recipe that the image's build, a container or a command on the host reads.
    pub fn companion_paths(&self) -> Vec<String> {
        let recipe = &self.resolved.recipe;
        let scope = recipe.expression_scope();
        let services = recipe.services.iter();
        let own = services.filter_map(|(_, service)| Some(&service.own_container.as_ref()?.flags));
        let mounts = iter::once(&recipe.container).chain(own).flat_map(|one| &one.mounts);
        let of_models = recipe.models.iter().filter_map(|(_, model)| match &model.source {
            ModelSource::Path(path) => Some(path),
            _ => None,
        });
        let sources = mounts.map(|mount| &mount.source).chain(of_models).filter_map(|source| {
            let source = render_template(source, &scope).ok()?;
            (!source.starts_with(['/', '~'])).then_some(source)
        });
        let steps = recipe.datasets.iter().chain(&recipe.setup);
        let on_host = steps.filter(|(_, step)| step.on.location() == StepLocation::Host);
        let named = on_host
            .filter_map(|(_, step)| named_recipe_files(&render_template(&step.run, &scope).ok()?));
        let files = recipe.files.iter().map(|file| file.source.clone());
        let context = match &recipe.image {
            Image::Build(build) => Some(build.context.clone()),
            Image::Pull { .. } => None,
        };
        files.chain(context).chain(sources).chain(named.flatten()).collect()
    }
}

fn mixed_companions(of_base: &str, own: &str) -> Failure {
    let message = format!(
        "`{own}` is next to the recipe, and `{of_base}` a file of the recipe that it extends"
    );
    Failure::usage(message).with_help(format!(
        "a run has the files of one directory: write `{of_base}` next to the recipe, too"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::options::RecipeRequest;

    /// Parameters are parts of commands: those of a batch's file are its author's.
    #[test]
    fn a_built_in_recipe_with_the_parameters_of_a_file_is_not_trusted() {
        let open = |settings: &[(&str, &str)], file: Option<&str>| {
            let entry = catalog::open_recipe("training-benchmarks/amd/mi350x/qwen3-8b-madengine");
            let settings = settings.iter().map(|(name, value)| ParamSetting::new(*name, *value));
            let settings: Vec<ParamSetting> = settings.collect();
            let file = file.map(|path| BatchFile { path: path.into(), read: None });
            OpenedRecipe::resolve_cell(entry.unwrap(), &settings, file).unwrap()
        };
        let file = Some("/srv/batch.yaml");
        let (variant, parameter) = (("by", "madengine"), ("revision", "x'; touch /tmp/x; '"));
        assert!(open(&[variant], file).is_trusted());
        assert!(open(&[variant, parameter], None).is_trusted(), "the user's own");
        let other = open(&[variant, parameter], file);
        assert!(!other.is_trusted());
        assert_eq!(other.files(), [PathBuf::from("/srv/batch.yaml")]);
        assert!(!open(&[("image", "debian:bookworm-slim")], file).is_trusted());
    }

    #[test]
    fn settings_that_are_not_the_users_are_trusted_as_far_as_they_choose_variants() {
        let is_trusted = |name: &str, value: &str| {
            let recipe = "training-benchmarks/amd/mi350x/qwen3-8b-madengine".to_owned();
            let settings = vec![ParamSetting::new(name, value)].into();
            let request = PlanRequest::whole_recipe(RecipeRequest { recipe, settings });
            let opened = OpenedRecipe::open(&request).unwrap();
            assert!(opened.is_trusted(), "the user's own");
            opened.with_untrusted_settings(&request).is_trusted()
        };
        assert!(is_trusted("by", "madengine"));
        assert!(!is_trusted("revision", "x'; touch /tmp/x; '"));
        assert!(!is_trusted("image", "debian:bookworm-slim"));
    }
}

//! Where recipes and templates are found: built in (embedded in the program) or on disk.
//!
//! A bare name means a built-in recipe and never a file of the working directory: the effect of a
//! command must not depend on its working directory. A path begins with `/`, `./` or `../`, or ends
//! with `.yaml`, which no built-in name does.

mod builtin;
mod disk;
mod error;
mod short_name;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use itertools::Itertools as _;
use sha2::{Digest as _, Sha256};

use crate::app::failure::Failure;
use crate::app::file_owners;
use crate::app::opened_file::OpenedFile;
pub use builtin::{omitted_results, recipe_names};
pub use disk::{MEMORY_DIRECTORY, is_stream, open_recipe as open_path};
pub use error::CatalogError;
use retrial_beneath::HeldDirectory;
pub use retrial_mlperf::rounds::built_in_rounds;

use retrial_mlperf::rounds::{Round, Rounds};
use retrial_plan::shell::RecipeFile;
use retrial_recipe::{RecipeFileKind, Source, TemplateSource};

/// A recipe that was found, before it is read.
#[derive(Debug, Clone)]
pub struct FoundRecipe {
    /// Built-in name, or the path that the user gave.
    pub name: String,
    /// The YAML text, with the path that diagnostics name.
    pub source: Source,
    /// Whether it is a recipe or a template.
    pub kind: RecipeFileKind,
    home: CompanionRoot,
    /// The directory of the built-in recipe that one on disk extends, below the embedded `recipes/`.
    base: Option<PathBuf>,
    /// The files that decide what it does, as they were read: templates and a lock are found while it is planned.
    read: Arc<Mutex<Vec<OpenedFile>>>,
}

/// The directory that a recipe's companion files are relative to.
#[derive(Debug, Clone)]
enum CompanionRoot {
    /// A directory below the embedded `recipes/`.
    BuiltIn(PathBuf),
    /// A directory of the file system, that of a template's own templates (a recipe's are in `templates/`), and the owner
    /// of the recipe's file.
    Disk { directory: HeldDirectory, templates: Option<HeldDirectory>, owner: u32 },
    /// None: the recipe is read from a stream.
    Stream,
}

/// The directory in a recipe's own that has its templates.
const TEMPLATES_DIRECTORY: &str = "templates";

/// All built-in recipes, sorted by name.
pub fn builtin_recipes() -> Vec<FoundRecipe> {
    let names = recipe_names().into_iter();
    names.filter_map(|name| builtin::find_recipe(&name)).collect()
}

/// Returns the shortest form of a built-in name that means this recipe only.
pub fn shorten_name(name: &str, names: &[String]) -> String {
    short_name::shorten(name, names)
}

/// Opens a recipe by a built-in name, the unique end of one, or a path.
///
/// # Errors
/// No recipe has this name or path, or it cannot be read.
pub fn open_recipe(recipe: &str) -> Result<FoundRecipe, CatalogError> {
    if is_path(recipe) {
        return open_path(Path::new(recipe));
    }
    find_builtin(recipe.trim_end_matches('/'))
        .ok_or_else(|| CatalogError::unknown_recipe(recipe, &recipe_names()))
}

/// Returns the built-in recipe of this name, or of the unique end of one.
fn find_builtin(name: &str) -> Option<FoundRecipe> {
    builtin::find_recipe(name).or_else(|| {
        let full_name = short_name::find_unique(name, &recipe_names())?;
        builtin::find_recipe(&full_name)
    })
}

/// The built-in rounds and those of these files, which replace built-in ones of the same name.
///
/// # Errors
/// A file does not exist, cannot be read, or contains no rules.
pub fn load_rounds(files: &[impl AsRef<Path>]) -> Result<Rounds, CatalogError> {
    files.iter().try_fold(built_in_rounds().clone(), |rounds, file| {
        let source = disk::read_source(file.as_ref())?;
        let round = Round::parse(&source).map_err(CatalogError::Text)?;
        Ok(rounds.with_round(round))
    })
}

/// Returns whether a text is a path, and not a built-in name.
pub fn is_path(recipe: &str) -> bool {
    let extension = Path::new(recipe).extension();
    recipe.starts_with(['/', '~'])
        || matches!(recipe.split('/').next(), Some("." | ".."))
        || extension.is_some_and(|extension| extension == "yaml" || extension == "yml")
}

impl FoundRecipe {
    /// Returns whether it is built in: then it needs no approval.
    pub fn is_builtin(&self) -> bool {
        matches!(self.home, CompanionRoot::BuiltIn(_))
    }

    /// Returns whether it is read from a stream: it has no files of its own.
    pub fn is_stream(&self) -> bool {
        matches!(self.home, CompanionRoot::Stream)
    }

    /// The open directory of a recipe on disk.
    pub fn held_directory(&self) -> Option<&HeldDirectory> {
        match &self.home {
            CompanionRoot::Disk { directory, .. } => Some(directory),
            CompanionRoot::BuiltIn(_) | CompanionRoot::Stream => None,
        }
    }

    /// The user who owns the file of a recipe on disk, as it was read.
    pub fn owner(&self) -> Option<u32> {
        match &self.home {
            CompanionRoot::Disk { owner, .. } => Some(*owner),
            CompanionRoot::BuiltIn(_) | CompanionRoot::Stream => None,
        }
    }

    /// Notes a file that decides what it does.
    pub fn record_read(&self, file: OpenedFile) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    /// Checks the files that decide what it does, as they were read, and the directory that it was read in. The error ends
    /// with the reason.
    ///
    /// # Errors
    /// Another user owned one of them, or could write it.
    pub fn require_trusted(&self, reason: &str) -> Result<(), Failure> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.iter().try_for_each(|file| file.require_trusted(reason))?;
        let held = self.held_directory();
        held.map_or(Ok(()), |held| file_owners::require_own_directory(held, reason))
    }

    /// The directory with the templates of a recipe on disk.
    pub fn templates_directory(&self) -> Option<PathBuf> {
        Some(disk::templates_directory(self.directory()?, self.kind))
    }

    /// The recipe's directory on disk; none for one that is read from a stream, and for a built-in one, see
    /// [`FoundRecipe::extract_to`].
    pub fn directory(&self) -> Option<&Path> {
        self.held_directory().map(HeldDirectory::path)
    }

    /// The files of a built-in recipe's directory, or of the one that it extends. None of one on disk: they are where
    /// they are.
    pub fn builtin_files(&self) -> Vec<RecipeFile> {
        self.builtin_home().map_or_else(Vec::new, builtin::recipe_files)
    }

    /// SHA-256 of the files of a built-in recipe's directory.
    pub fn hash_builtin_files(&self) -> String {
        let files = self.builtin_files();
        let mut hash = Sha256::new();
        for text in files.iter().flat_map(|file| [&file.path, &file.text]) {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        hex::encode(hash.finalize())
    }

    /// Writes the directory of a built-in recipe, or of the one that it extends, with its companions and build
    /// contexts, below `directory`. Nothing for another one on disk: its files are where they are.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn extract_to(&self, directory: &Path) -> Result<(), CatalogError> {
        self.builtin_home().map_or(Ok(()), |home| builtin::extract_recipe(home, directory))
    }

    fn builtin_home(&self) -> Option<&Path> {
        match &self.home {
            CompanionRoot::BuiltIn(home) => Some(home),
            CompanionRoot::Disk { .. } | CompanionRoot::Stream => self.base.as_deref(),
        }
    }

    /// Returns whether a companion is a file of the built-in recipe that this one on disk extends. A file of its own
    /// of that name comes first.
    pub fn is_of_base(&self, relative: &str) -> bool {
        let own = self.held_directory().and_then(|own| own.contains(Path::new(relative)));
        let base = self.base.as_ref().map(|base| base.join(relative));
        own != Some(true) && base.is_some_and(|path| builtin::companion_exists(&path))
    }
}

/// Templates of `templates/` in the recipe's directory, then the built-in ones.
impl TemplateSource for FoundRecipe {
    fn read_template(&self, name: &str) -> Result<Option<Source>, Box<dyn Error>> {
        if !is_template_name(name) {
            return Ok(None);
        }
        let file = PathBuf::from(format!("{name}.yaml"));
        let own = match &self.home {
            CompanionRoot::Disk { templates: Some(templates), .. } => {
                disk::read_beneath(templates, &file)?
            }
            CompanionRoot::Disk { directory, templates: None, .. } => {
                disk::read_beneath(directory, &Path::new(TEMPLATES_DIRECTORY).join(file))?
            }
            CompanionRoot::BuiltIn(_) | CompanionRoot::Stream => None,
        };
        let own = own.map(|(source, file)| {
            self.record_read(file);
            source
        });
        Ok(own.or_else(|| builtin::find_template(name)))
    }

    fn template_names(&self) -> Vec<String> {
        let own = self.directory().map(|directory| disk::template_names(directory, self.kind));
        let names = own.into_iter().flatten().chain(builtin::template_names());
        names.sorted().dedup().collect()
    }

    fn find_base(&self, name: &str) -> Option<(String, Source)> {
        find_builtin(name).map(|found| (found.name, found.source))
    }

    fn companion_exists(&self, relative: &str) -> Option<bool> {
        if self.is_of_base(relative) {
            return Some(true);
        }
        match &self.home {
            CompanionRoot::BuiltIn(home) => Some(builtin::companion_exists(&home.join(relative))),
            CompanionRoot::Disk { directory, .. } => directory.contains(Path::new(relative)),
            CompanionRoot::Stream => Some(false),
        }
    }

    fn companion_text(&self, relative: &str) -> Option<String> {
        if let Some(base) = self.base.as_ref().filter(|_| self.is_of_base(relative)) {
            return builtin::companion_text(&base.join(relative));
        }
        match &self.home {
            CompanionRoot::BuiltIn(home) => builtin::companion_text(&home.join(relative)),
            CompanionRoot::Disk { directory, .. } => {
                let (source, _) = disk::read_beneath(directory, Path::new(relative)).ok()??;
                Some(source.text.to_string())
            }
            CompanionRoot::Stream => None,
        }
    }
}

/// Returns whether a name is a path below a directory of templates, which never leads out of it.
fn is_template_name(name: &str) -> bool {
    name.split('/').all(|part| {
        !part.starts_with('.')
            && !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
    })
}

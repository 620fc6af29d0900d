//! Recipes and templates on disk.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{CatalogError, CompanionRoot, FoundRecipe, TEMPLATES_DIRECTORY, builtin};
use crate::app::opened_file::{OpenedFile, read_document_file};
use retrial_beneath::HeldDirectory;
use retrial_recipe::{RecipeFileKind, Source, find_nearest};
use retrial_store::files::parent_directory;

/// Names in a directory that are compared with a missing one.
const MAX_NEAR_NAMES: usize = 1000;

/// Where open files of processes have names, `/dev/stdin`, although nothing is next to them.
const STREAM_DIRECTORIES: [&str; 2] = ["/dev", "/proc"];

/// The directory in one of them that has files like any other, in memory.
pub const MEMORY_DIRECTORY: &str = "/dev/shm";

/// Opens a file, or a directory that contains recipe.yaml.
///
/// # Errors
/// It does not exist, or cannot be read.
pub fn open_recipe(path: &Path) -> Result<FoundRecipe, CatalogError> {
    let metadata = fs::metadata(path).map_err(|error| to_catalog_error(path, error))?;
    // Whoever writes into a pipe need not be who owns it.
    let is_regular = metadata.is_file() || metadata.is_dir();
    if !is_regular && !is_stream(path) {
        let source = io::Error::other("it is neither a file nor a directory; pipe it: /dev/stdin");
        return Err(CatalogError::Read { path: path.to_owned(), source });
    }
    let file = if metadata.is_dir() { path.join("recipe.yaml") } else { path.to_owned() };
    let directory = parent_directory(&file);
    let directory =
        fs::canonicalize(directory).map_err(|error| to_catalog_error(directory, error))?;
    // All of it is read in this directory, whatever takes its place meanwhile.
    let held = HeldDirectory::open(&directory);
    let held = held.map_err(|error| to_catalog_error(&directory, error))?;
    let entry = held.open_entry(Path::new(file.file_name().unwrap_or_default()));
    let read = entry
        .map_err(|error| to_catalog_error(&file, error))
        .and_then(|entry| read_opened(entry, &file));
    let (source, opened) = read.map_err(|error| match error {
        CatalogError::Missing { .. } if metadata.is_dir() => {
            CatalogError::NoRecipe { path: path.to_owned() }
        }
        error => error,
    })?;
    // `.` and `..` name nothing.
    let name = path.file_name().map_or(&*directory, |_| path).display().to_string();
    let named_recipe = file.file_name().is_some_and(|name| name == "recipe.yaml");
    let kind = match templates_above(&directory) {
        Some(_) if !named_recipe => RecipeFileKind::Template,
        _ => RecipeFileKind::Recipe,
    };
    let is_stream = is_stream_directory(&directory);
    let home = match kind {
        _ if is_stream => CompanionRoot::Stream,
        RecipeFileKind::Recipe => {
            CompanionRoot::Disk { templates: None, directory: held, owner: opened.owner() }
        }
        RecipeFileKind::Template => {
            let root = templates_directory(&directory, kind);
            let templates = HeldDirectory::open(&root);
            let templates = templates.map_err(|error| to_catalog_error(&root, error))?;
            let owner = opened.owner();
            CompanionRoot::Disk { templates: Some(templates), directory: held, owner }
        }
    };
    // Whose a stream is, is not looked at.
    let read = if is_stream { Vec::new() } else { vec![opened] };
    let read = Arc::new(Mutex::new(read));
    let mut found = FoundRecipe { name, source, kind, home, base: None, read };
    found.base = find_base(&found.source, &found);
    Ok(found)
}

/// Returns whether a path is a name of an open file of a process: `/dev/stdin`.
pub fn is_stream(path: &Path) -> bool {
    fs::canonicalize(parent_directory(path)).is_ok_and(|above| is_stream_directory(&above))
}

/// Returns whether a directory has names of open files, next to which nothing is.
fn is_stream_directory(directory: &Path) -> bool {
    STREAM_DIRECTORIES.iter().any(|streams| directory.starts_with(streams))
        && !directory.starts_with(MEMORY_DIRECTORY)
}

/// Returns the directory of the built-in recipe that a recipe on disk extends.
fn find_base(source: &Source, templates: &FoundRecipe) -> Option<PathBuf> {
    let (name, _) = retrial_recipe::find_base(source, templates)?;
    match builtin::find_recipe(&name)?.home {
        CompanionRoot::BuiltIn(home) => Some(home),
        CompanionRoot::Disk { .. } | CompanionRoot::Stream => None,
    }
}

fn to_catalog_error(path: &Path, source: io::Error) -> CatalogError {
    let owned_path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            CatalogError::Missing { near: find_near_path(path), path: owned_path }
        }
        _ => CatalogError::Read { path: owned_path, source },
    }
}

/// Returns the YAML file or directory next to a missing one whose name, without its extension, is nearest, if it is
/// near enough to be a slip.
fn find_near_path(path: &Path) -> Option<PathBuf> {
    let written = path.file_stem()?.to_str()?;
    let directory = Some(path.parent()?).filter(|parent| !parent.as_os_str().is_empty());
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let listed =
        entries.flatten().take(MAX_NEAR_NAMES).map(|entry| PathBuf::from(entry.file_name()));
    let is_recipe =
        |name: &PathBuf| name.extension().is_none_or(|end| end == "yaml" || end == "yml");
    let names: Vec<PathBuf> = listed.filter(is_recipe).collect();
    let bare_name = |name: &PathBuf| name.file_stem().and_then(OsStr::to_str).map(str::to_owned);
    let candidates: Vec<String> = names.iter().filter_map(bare_name).collect();
    let near = find_nearest(written, candidates.iter().map(String::as_str))?;
    let found = names.iter().find(|name| bare_name(name).as_deref() == Some(near));
    found.map(|name| path.with_file_name(name))
}

pub(super) fn read_source(path: &Path) -> Result<Source, CatalogError> {
    let file = File::open(path).map_err(|error| to_catalog_error(path, error))?;
    read_opened(file, path).map(|(source, _)| source)
}

fn read_opened(file: File, path: &Path) -> Result<(Source, OpenedFile), CatalogError> {
    let read = read_document_file(file, path);
    let (bytes, opened) = read.map_err(|error| to_catalog_error(path, error))?;
    let source = Source::from_bytes(path.display().to_string(), &bytes);
    Ok((source.map_err(CatalogError::Text)?, opened))
}

/// A file beneath an open directory. None if there is none.
///
/// # Errors
/// It cannot be read, or is reached through a link: it could lead to a file that the recipe's author cannot read.
pub(super) fn read_beneath(
    root: &HeldDirectory,
    file: &Path,
) -> Result<Option<(Source, OpenedFile)>, CatalogError> {
    let path = root.path().join(file);
    match root.open_file(file).map_err(|error| to_catalog_error(&path, error)) {
        Err(CatalogError::Missing { .. }) => Ok(None),
        opened => read_opened(opened?, &path).map(Some),
    }
}

pub(super) fn template_names(directory: &Path, kind: RecipeFileKind) -> Vec<String> {
    let Ok(entries) = fs::read_dir(templates_directory(directory, kind)) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".yaml").map(str::to_owned)
        })
        .collect()
}

pub(super) fn templates_directory(directory: &Path, kind: RecipeFileKind) -> PathBuf {
    match kind {
        RecipeFileKind::Recipe => directory.join(TEMPLATES_DIRECTORY),
        RecipeFileKind::Template => templates_above(directory).unwrap_or(directory).to_owned(),
    }
}

/// `templates/`, or a directory directly below one.
fn templates_above(directory: &Path) -> Option<&Path> {
    let mut nearest = directory.ancestors().take(2);
    nearest.find(|path| path.file_name().is_some_and(|name| name == TEMPLATES_DIRECTORY))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use retrial_recipe::TemplateSource as _;

    /// Takes root.
    #[test]
    fn the_owner_is_that_of_the_file_that_was_read() {
        if !rustix::process::getuid().is_root() {
            eprintln!("skipped: only root can give a file away");
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("recipe.yaml");
        fs::write(&path, "schema: 1\n").unwrap();
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        let found = open_recipe(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "schema: 1\n").unwrap();
        assert_eq!(found.owner(), Some(65534));
        let refused = found.require_trusted("it is a test").unwrap_err();
        assert!(refused.to_error().message.contains("belongs to another user"));
    }

    #[test]
    fn who_could_write_a_file_is_known_of_the_one_that_was_read() {
        let root = tempfile::tempdir().unwrap();
        let templates = root.path().join(TEMPLATES_DIRECTORY);
        fs::create_dir(&templates).unwrap();
        let read = |shared: &Path| {
            for file in [root.path().join("recipe.yaml"), templates.join("base.yaml")] {
                fs::write(&file, "schema: 1\n").unwrap();
                let mode = if file == shared { 0o666 } else { 0o644 };
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            }
            let found = open_recipe(root.path()).unwrap();
            found.read_template("base").unwrap();
            let _ = fs::remove_file(shared);
            found.require_trusted("it is a test").is_ok()
        };
        assert!(read(Path::new("none")));
        assert!(!read(&root.path().join("recipe.yaml")));
        assert!(!read(&templates.join("base.yaml")));
    }

    #[test]
    fn templates_are_those_of_the_directory_that_was_opened() {
        let root = tempfile::tempdir().unwrap();
        for (name, title) in [("own", "its own"), ("other", "another")] {
            let directory = root.path().join(name);
            fs::create_dir_all(directory.join(TEMPLATES_DIRECTORY)).unwrap();
            fs::write(directory.join("recipe.yaml"), "schema: 1\n").unwrap();
            let template = directory.join(TEMPLATES_DIRECTORY).join("base.yaml");
            fs::write(template, format!("title: {title}\n")).unwrap();
        }
        let found = open_recipe(&root.path().join("own")).unwrap();
        fs::rename(root.path().join("own"), root.path().join("moved")).unwrap();
        fs::rename(root.path().join("other"), root.path().join("own")).unwrap();
        let template = found.read_template("base").unwrap().unwrap();
        assert_eq!(&*template.text, "title: its own\n");
        assert_eq!(found.companion_exists("recipe.yaml"), Some(true));
        assert_eq!(found.companion_exists("missing"), Some(false));
    }

    #[test]
    fn a_slip_in_a_path_is_recognised() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["bench.yaml", "bench.txt", "suite"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let near = |name: &str| {
            let found = find_near_path(&directory.path().join(name))?;
            Some(found.file_name()?.to_str()?.to_owned())
        };
        assert_eq!(near("bnech.yaml").as_deref(), Some("bench.yaml"));
        assert_eq!(near("bench.yml").as_deref(), Some("bench.yaml"));
        assert_eq!(near("suites").as_deref(), Some("suite"));
        assert_eq!(near("other.yaml"), None);
    }
}

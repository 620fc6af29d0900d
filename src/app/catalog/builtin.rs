//! Recipes and templates that are embedded in the program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, DirEntry, File, include_dir};

use super::{CatalogError, CompanionRoot, FoundRecipe};
use retrial_plan::shell::RecipeFile;
use retrial_recipe::{RecipeFileKind, Source};
use retrial_store::files::parent_directory;

static RECIPES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/recipes");
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// Names of the built-in recipes, sorted.
pub fn recipe_names() -> Vec<String> {
    let mut names = names_below(&RECIPES);
    names.sort();
    names
}

/// Published results without a recipe, and the reasons: Markdown.
pub fn omitted_results() -> &'static str {
    let file = RECIPES.get_file("LEFT-OUT.md");
    file.and_then(File::contents_utf8).unwrap_or_default()
}

/// A directory with recipe.yaml is a recipe, which its other files belong to.
fn names_below(directory: &Dir<'_>) -> Vec<String> {
    let path = directory.path();
    if directory.contains(path.join("recipe.yaml")) {
        return path.to_str().map(str::to_owned).into_iter().collect();
    }
    let names = directory.entries().iter().flat_map(|entry| match entry {
        DirEntry::Dir(below) => names_below(below),
        DirEntry::File(file) => recipe_name(file).into_iter().collect(),
    });
    names.collect()
}

/// The path of a YAML file without its ending.
fn recipe_name(file: &File<'_>) -> Option<String> {
    let path = file.path().to_str()?;
    path.strip_suffix(".yaml").map(str::to_owned)
}

pub(super) fn find_recipe(name: &str) -> Option<FoundRecipe> {
    let file = RECIPES.get_file(format!("{name}.yaml"));
    // A file of a recipe's directory is not a recipe of its own.
    let file = match file {
        Some(file) if recipe_names().iter().any(|other| other == name) => file,
        _ => RECIPES.get_file(format!("{name}/recipe.yaml"))?,
    };
    let path = file.path();
    Some(FoundRecipe {
        name: name.to_owned(),
        source: Source::new(format!("recipes/{}", path.display()), file.contents_utf8()?),
        kind: RecipeFileKind::Recipe,
        home: CompanionRoot::BuiltIn(path.parent()?.to_owned()),
        base: None,
        read: Arc::default(),
    })
}

pub(super) fn find_template(name: &str) -> Option<Source> {
    let file = TEMPLATES.get_file(format!("{name}.yaml"))?;
    let path = format!("templates/{}", file.path().display());
    Some(Source::new(path, file.contents_utf8()?))
}

pub(super) fn template_names() -> Vec<String> {
    names_below(&TEMPLATES)
}

pub(super) fn companion_exists(path: &Path) -> bool {
    let clean: PathBuf = path.components().collect();
    clean.as_os_str().is_empty() || RECIPES.contains(clean)
}

pub(super) fn companion_text(path: &Path) -> Option<String> {
    let clean: PathBuf = path.components().collect();
    RECIPES.get_file(clean)?.contents_utf8().map(str::to_owned)
}

/// All files of a directory of the embedded recipes.
pub(super) fn recipe_files(home: &Path) -> Vec<RecipeFile> {
    let files = embedded_directory(home).map(files_below).unwrap_or_default();
    let texts = files.into_iter().filter_map(|file| {
        Some(RecipeFile {
            path: relative_path(file, home).display().to_string(),
            text: file.contents_utf8()?.to_owned(),
        })
    });
    texts.collect()
}

fn files_below(directory: &'static Dir<'static>) -> Vec<&'static File<'static>> {
    let entries = directory.entries().iter();
    entries
        .flat_map(|entry| match entry {
            DirEntry::Dir(below) => files_below(below),
            DirEntry::File(file) => vec![file],
        })
        .collect()
}

fn relative_path<'a>(file: &'a File<'_>, home: &Path) -> &'a Path {
    file.path().strip_prefix(home).unwrap_or(file.path())
}

fn embedded_directory(home: &Path) -> Option<&'static Dir<'static>> {
    if home.as_os_str().is_empty() {
        return Some(&RECIPES);
    }
    RECIPES.get_dir(home)
}

/// Writes a directory of the embedded recipes. Scripts are made executable, for embedding keeps
/// no rights.
pub(super) fn extract_recipe(home: &Path, target: &Path) -> Result<(), CatalogError> {
    for file in embedded_directory(home).map(files_below).unwrap_or_default() {
        let path = target.join(relative_path(file, home));
        write_file(file, &path).map_err(|source| CatalogError::Write { path, source })?;
    }
    Ok(())
}

fn write_file(file: &File<'_>, path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(parent_directory(path))?;
    fs::write(path, file.contents())?;
    if file.contents().starts_with(b"#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell plan has them as here-documents.
    #[test]
    fn all_files_are_text_that_ends_with_a_newline() {
        let mut directories = vec![&RECIPES];
        while let Some(directory) = directories.pop() {
            directories.extend(directory.dirs());
            for file in directory.files() {
                let text = file.contents_utf8();
                let path = file.path().display();
                assert!(text.is_some_and(|text| text.ends_with('\n')), "{path}");
            }
        }
    }
}

//! `retrial new`: a recipe to start from.

use std::path::Path;

use super::{new_from, new_from_results};
use crate::app::failure::Failure;
use crate::app::published::ImportRequest;
use crate::app::terminal;
use crate::results::verdict::ExitCode;
use retrial_recipe::scaffold;

/// Writes a commented recipe, one from a vendor's command line, or one from published results; never
/// over an existing file.
pub fn new(name: &Path, from: Option<&str>, results: &ImportRequest) -> Result<ExitCode, Failure> {
    use std::io::Write as _;
    let is_file = name
        .extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml");
    let path = if is_file {
        name.to_owned()
    } else {
        name.join("recipe.yaml")
    };
    let fault = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
            "{} exists already: choose another name",
            path.display()
        )),
        _ => Failure::host(format!("failed to write {}: {error}", path.display())),
    };
    let stem = name
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let (text, told) = match (from, &results.from_results) {
        (_, Some(tree)) => new_from_results::read(tree, results)?,
        (Some(from), None) => new_from::read(&stem, from)?,
        (None, None) => (scaffold::new(&stem), Vec::new()),
    };
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        std::fs::create_dir_all(parent).map_err(fault)?;
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(fault)?;
    file.write_all(text.as_bytes()).map_err(fault)?;
    let shown = if path.is_absolute() || path.starts_with(".") {
        path.display().to_string()
    } else {
        format!("./{}", path.display())
    };
    for told in told {
        terminal::note(&format!("note: {told}"));
    }
    terminal::note(&format!(
        "wrote {shown}\n  check it: retrial check {shown}    see its steps: retrial plan {shown}"
    ));
    Ok(ExitCode::Success)
}

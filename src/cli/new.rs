//! `retrial new`: a recipe to start from.

use std::path::Path;

use super::failure::Failure;
use super::terminal;
use crate::recipe::scaffold;
use crate::verdict::ExitCode;

/// Writes a commented recipe; never over a file that is there.
pub fn new(name: &Path) -> Result<ExitCode, Failure> {
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
            "{} is there already: choose another name",
            path.display()
        )),
        _ => Failure::host(format!("failed to write {}: {error}", path.display())),
    };
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        std::fs::create_dir_all(parent).map_err(fault)?;
    }
    let stem = name
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(fault)?;
    file.write_all(scaffold::new(&stem).as_bytes())
        .map_err(fault)?;
    let shown = if path.is_absolute() || path.starts_with(".") {
        path.display().to_string()
    } else {
        format!("./{}", path.display())
    };
    terminal::note(&format!(
        "wrote {shown}\n  check it: retrial check {shown}    look at its steps: retrial plan {shown}"
    ));
    Ok(ExitCode::Success)
}

//! What lies in a directory that others may have written: one thing after the other, each opened
//! through no link.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::dir_handle::Directory;
use super::error::StoreError;

/// Nobody's results lie deeper.
const DEEPEST: usize = 64;

/// An entry of a directory.
#[derive(Debug)]
pub enum Entry {
    /// A directory. What is in it comes next.
    Directory,
    /// A regular file.
    File(File),
    /// Neither, or not to be opened: why.
    Other(String),
}

/// Visits what lies beneath a directory, in the order of names; not what `skip` names at its top.
///
/// # Errors
/// Where the directory itself cannot be read, and what `visit` says.
pub fn walk(
    root: &Path,
    skip: &[&str],
    visit: &mut dyn FnMut(&Path, Entry) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let directory = Directory::open(root)?;
    for name in directory.names()? {
        if !skip.contains(&name.as_str()) {
            step(&directory, &name, &PathBuf::from(&name), 1, visit)?;
        }
    }
    Ok(())
}

fn step(
    parent: &Directory,
    name: &str,
    relative: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&Path, Entry) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if !parent.is_directory(name) {
        return match parent.file(Path::new(name)) {
            Ok(file) => visit(relative, Entry::File(file)),
            Err(error) => visit(relative, Entry::Other(error.because())),
        };
    }
    if depth > DEEPEST {
        return visit(relative, Entry::Other("it is nested too deeply".to_owned()));
    }
    let directory = match parent.directory(name) {
        Ok(directory) => directory,
        Err(error) => return visit(relative, Entry::Other(error.because())),
    };
    visit(relative, Entry::Directory)?;
    for name in directory.names()? {
        step(&directory, &name, &relative.join(&name), depth + 1, visit)?;
    }
    Ok(())
}

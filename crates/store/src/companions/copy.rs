//! Copies companion files: content, types, modes without set-user-ID bits, and times.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::tree::{Allowance, CompanionError, CompanionFacts, Entry, FactFinder, visit_named};
use crate::error::StoreError;
use crate::files::remove_directory;
use retrial_beneath::HeldDirectory;

/// The bits of a mode that are copied.
const PERMISSIONS: u32 = 0o777;

/// Copies some files and directories next to a recipe into a directory, at the same relative paths. Missing ones are
/// skipped. Returns what a person should know of what was copied.
///
/// # Errors
/// If one cannot be read or copied, leads out, or they are too large.
pub fn copy_companions(
    directory: &HeldDirectory,
    names: &[PathBuf],
    recipe_owner: u32,
    target: &Path,
) -> Result<CompanionFacts, CompanionError> {
    let mut allowance = Allowance::of_recipe();
    let mut found = FactFinder::new(directory, recipe_owner);
    for name in names {
        if target.join(name).symlink_metadata().is_ok() {
            // Within another one.
            continue;
        }
        let above = target.join(name.parent().unwrap_or(Path::new("")));
        let created = DirBuilder::new().recursive(true).mode(0o755).create(&above);
        created.map_err(|source| CompanionError::Write { path: above, source })?;
        copy_named(directory, name, &mut allowance, &target.join(name), &mut |path, status| {
            // Of a companion within another one, it is a fact, too.
            let within = names.iter().filter(|other| path.starts_with(other));
            within.for_each(|name| found.look_at(name, path, status));
        })?;
    }
    Ok(found.facts)
}

/// Copies a file or a directory of ours. The copy appears when it is complete.
pub(super) fn copy_tree(from: &Path, target: &Path) -> Result<(), StoreError> {
    // No copy has such a name: see `Companions::writable_copy`.
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let part = target.with_file_name(format!("%part%{name}"));
    if part.is_dir() {
        remove_directory(&part)?;
    }
    // Of a killed process.
    let _ = fs::remove_file(&part);
    let (directory, name) = match from.file_name() {
        Some(name) if !from.is_dir() => (from.parent().unwrap_or(from), Path::new(name)),
        _ => (from, Path::new("")),
    };
    let held = HeldDirectory::open(directory).map_err(StoreError::io("open", directory))?;
    let copied = copy_named(&held, name, &mut Allowance::unlimited(), &part, &mut |_, _| ());
    copied.map_err(|error| StoreError::unusable(from, error.to_string()))?;
    fs::rename(&part, target).map_err(StoreError::io("rename", &part))
}

fn copy_named(
    directory: &HeldDirectory,
    name: &Path,
    allowance: &mut Allowance,
    target: &Path,
    look_at: &mut dyn FnMut(&Path, &Stat),
) -> Result<(), CompanionError> {
    let mut directories = Vec::new();
    visit_named(directory, name, allowance, &mut |path, entry, status| {
        look_at(path, status);
        let below = path.strip_prefix(name).unwrap_or(path);
        let is_root = below.as_os_str().is_empty();
        // Joined with nothing, a file's path would end with a slash.
        let copy = if is_root { target.to_owned() } else { target.join(below) };
        if matches!(entry, Entry::Directory) {
            directories.push((copy.clone(), status.st_mode & PERMISSIONS));
        }
        let copied = copy_entry(&copy, entry, status);
        copied.map_err(|source| CompanionError::Write { path: copy, source })
    })?;
    // Only now: one that may not be written has been filled.
    directories.into_iter().rev().try_for_each(|(path, mode)| {
        let permissions = fs::Permissions::from_mode(mode | 0o700);
        let set = fs::set_permissions(&path, permissions);
        set.map_err(|source| CompanionError::Write { path, source })
    })
}

fn copy_entry(path: &Path, entry: &Entry<'_>, status: &Stat) -> io::Result<()> {
    match entry {
        Entry::Directory => DirBuilder::new().mode(0o700).create(path),
        Entry::Link(target) => symlink(target, path),
        Entry::File(opened) => copy_file(path, opened, status),
    }
}

fn copy_file(path: &Path, opened: &OwnedFd, status: &Stat) -> io::Result<()> {
    let mut from = File::from(opened.as_fd().try_clone_to_owned()?);
    let mut copy = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    io::copy(&mut from, &mut copy)?;
    copy.set_permissions(fs::Permissions::from_mode(status.st_mode & PERMISSIONS))?;
    copy.set_modified(from.metadata()?.modified()?)
}

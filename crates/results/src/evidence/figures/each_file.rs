//! A figure of several files, such as the logs of all ranks: each must have it.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::{FigureReadError, TextFile};
use retrial_readings::accumulator::{Accumulator, FigureEntries};
use retrial_recipe::model::{FigureSource, MatchSelection};

/// Returns the numbers of a figure in each of its files, joined in their order. Several files have it each: one that
/// lacks it is of a process that died, and the others are not the whole.
pub(super) fn read_each_file<E: Display>(
    source: &FigureSource,
    files: &[TextFile],
    read: impl Fn(usize, &TextFile) -> Result<FigureEntries<E>, FigureReadError>,
) -> Result<FigureEntries<E>, FigureReadError> {
    let read = |number: usize, file: &TextFile| skip_warmup(source, read(number, file)?);
    if let [only] = files {
        return read(0, only);
    }
    let mut all = FigureEntries::new();
    let mut lacking = None;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut first = None;
    for (number, file) in files.iter().enumerate() {
        let read_entries = read(number, file);
        let entries =
            read_entries.map_err(|unread| unread.with_path(&file.file.display().to_string()));
        match entries {
            Ok(entries) => {
                for name in entries.keys() {
                    *counts.entry(name.clone()).or_default() += 1;
                }
                let own = entries.values().next().and_then(Accumulator::extreme_values);
                let (name, values) = first.get_or_insert((file.file.display().to_string(), own));
                if source.take.is_none() && source.by.is_empty() && *values != own {
                    let other = file.file.display();
                    return Err(FigureReadError::Fault(format!(
                        "`{name}` and `{other}` have different values; name one file, or choose with `take:`"
                    )));
                }
                append_entries(&mut all, entries);
            }
            Err(FigureReadError::Absent(reason)) => drop(lacking.get_or_insert(reason)),
            Err(fault) => return Err(fault),
        }
    }
    match lacking {
        Some(reason) if all.is_empty() => Err(FigureReadError::Absent(reason)),
        Some(reason) => Err(FigureReadError::Fault(format!(
            "{reason}; every file that matches must have the figure"
        ))),
        None => match describe_partial_entry(source, &counts, files.len()) {
            Some(reason) => Err(FigureReadError::Fault(reason)),
            None => Ok(all),
        },
    }
}

/// Leaves out the first values of a file.
fn skip_warmup<E: Display>(
    source: &FigureSource,
    mut entries: FigureEntries<E>,
) -> Result<FigureEntries<E>, FigureReadError> {
    let Some(skipped) = source.skip else {
        return Ok(entries);
    };
    for entry in entries.values_mut() {
        entry.skip_first(skipped as usize).map_err(|count| {
            FigureReadError::Fault(format!(
                "it has {count} values, and `skip` leaves out {skipped}"
            ))
        })?;
    }
    Ok(entries)
}

/// Returns why a sum or mean over several files is of parts of them: an entry of a table that some have in common, and
/// not all.
fn describe_partial_entry(
    source: &FigureSource,
    counts: &BTreeMap<String, usize>,
    files: usize,
) -> Option<String> {
    let is_reduced = matches!(source.match_selection(), MatchSelection::Sum | MatchSelection::Mean);
    let is_common = counts.values().any(|count| *count > 1);
    let mut partial = counts.iter().filter(|(_, count)| **count < files);
    let (name, count) = partial.next().filter(|_| is_reduced && is_common)?;
    Some(format!("`{name}` is in {count} of {files} files; every file that matches must have it"))
}

fn append_entries<E: Display>(all: &mut FigureEntries<E>, after: FigureEntries<E>) {
    for (name, accumulator) in after {
        match all.get_mut(&name) {
            Some(before) => before.append(accumulator),
            None => drop(all.insert(name, accumulator)),
        }
    }
}

//! Starts a batch, or resumes one that has not ended.

use super::cells::Cells;
use super::file::OpenedBatch;
use super::follow::Taken;
use super::record::{Asked, BatchRecord};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use crate::batch;
use crate::batch::journal::{BatchEvent, BatchState};
use crate::store::journal::Journal;
use crate::store::run_directory::write_atomically;
use crate::store::{Home, Record};

/// Plans a batch in a new directory, or in that of the same batch if it is unfinished.
pub fn start(
    global: &GlobalOptions,
    opened: OpenedBatch,
    asked: Asked,
    new: bool,
) -> Result<(Taken, Record), Failure> {
    let cells = Cells::open(&opened.plan)?;
    let record = BatchRecord {
        recipe_hashes: cells.hashes(),
        asked,
        plan: opened.plan,
    };
    let before = unfinished(&global.home, &record).filter(|_| !new);
    let taken = Taken::of(global, record, cells)?;
    let directory = match before {
        Some(directory) => {
            if !global.quiet {
                terminal::note(&format!(
                    "{} is unfinished and continues (start a new one: --new)",
                    directory.id()
                ));
            }
            directory
        }
        None => write_down(&global.home, &batch::yaml(&opened.batch), &taken.record)?,
    };
    Ok((taken, directory))
}

/// Plans what is left of a batch. None if it has ended, with all of its runs.
pub fn resume(global: &GlobalOptions, directory: &Record) -> Result<Option<Taken>, Failure> {
    let record: BatchRecord = directory.read_json("batch.json")?;
    let state = BatchState::of(&Journal::read::<BatchEvent>(&directory.journal())?);
    let mut trial_runs = 1..=record.plan.schedule.trial_runs.len();
    if state.is_over() && trial_runs.all(|trial_run| state.has_ended(trial_run)) {
        return Ok(None);
    }
    let cells = Cells::open(&record.plan)?;
    changed(&record, &cells, directory.id())?;
    Taken::of(global, record, cells).map(Some)
}

/// Refuses a recipe that has changed since the batch started: its trials are one sample.
fn changed(record: &BatchRecord, cells: &Cells, id: &str) -> Result<(), Failure> {
    let now = cells.hashes();
    let pairs = now.iter().zip(&record.recipe_hashes);
    let changed = pairs.zip(&record.plan.cells);
    let changed = changed.filter(|((now, then), _)| now != then);
    let names: Vec<&str> = changed.map(|(_, cell)| cell.path.as_str()).collect();
    let Some(first) = names.first() else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "batch {id}: {first} has changed since the batch started, so its trials would no longer be one sample\n  undo the change, or start again: retrial batch … --new"
    )))
}

/// The latest unfinished batch with the same record.
fn unfinished(home: &Home, record: &BatchRecord) -> Option<Record> {
    let ids = home.batch_ids();
    let directories = ids
        .iter()
        .rev()
        .map(|id| Record::at(home.batches().join(id)));
    directories
        .filter(|directory| {
            let events = Journal::read::<BatchEvent>(&directory.journal()).unwrap_or_default();
            !BatchState::of(&events).is_over()
        })
        .find(|directory| {
            let known = directory.read_json::<BatchRecord>("batch.json");
            known.is_ok_and(|known| known == *record)
        })
}

/// Writes the batch's record, before anything else happens.
fn write_down(home: &Home, yaml: &str, record: &BatchRecord) -> Result<Record, Failure> {
    let directory = home.new_batch(&stem(&record.plan.title))?;
    write_atomically(&directory.join("batch.yaml"), yaml.as_bytes())?;
    directory.write_json("batch.json", record)?;
    Ok(directory)
}

/// `radeon-rocm-releases`: the part of a batch's id that describes it.
fn stem(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let stem = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    if stem.is_empty() {
        "batch".to_owned()
    } else {
        stem
    }
}

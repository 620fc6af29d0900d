//! Starts a batch, or resumes one that has not ended.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use itertools::join;

use super::array::{self, SiteBatch};
use super::cells::{CellRecipes, changed_since_start};
use super::file::OpenedBatch;
use super::planned::PlannedBatch;
use super::record::{BatchRecord, BatchRunRequest};
use crate::app::failure::Failure;
use crate::app::file_owners;
use crate::app::options::GlobalOptions;
use crate::app::own_record::Own;
use crate::app::terminal;
use retrial_batch::journal::{BatchEvent, BatchEventKind, BatchState};
use retrial_batch::run::read_state;
use retrial_batch::{self as batch, BatchPlan};
use retrial_cluster::site_files::SiteFile;
use retrial_results::verdict::ExitCode;
use retrial_store::files::{parent_directory, write_atomically};
use retrial_store::journal::Journal;
use retrial_store::lock::FileLock;
use retrial_store::{Home, RecordDirectory, StoreError};

/// A batch whose runs are planned.
pub enum BatchPlacement {
    /// Its runs are executed by this process.
    Local(Box<PlannedBatch>),
    /// For the nodes of a site.
    OnSite(Box<SiteBatch>),
}

impl BatchPlacement {
    fn approved(&self, record: &BatchRecord) -> BTreeMap<usize, BTreeSet<String>> {
        match self {
            Self::Local(planned) => planned.plans.approved(record),
            Self::OnSite(batch) => batch.approved.clone(),
        }
    }
}

/// Plans a batch, in a new directory, or in that of the same batch if it is unfinished or has other claims: these
/// are judged on the runs that there are. None if all of its runs are there already, and only its claims are new, or if other hosts
/// measured all of its cells.
pub fn start_batch(
    global: &GlobalOptions,
    opened: OpenedBatch,
    options: BatchRunRequest,
    site: Option<SiteFile>,
    new: bool,
) -> Result<(Option<BatchPlacement>, RecordDirectory), Failure> {
    let cells = CellRecipes::open(&opened.plan, opened.file.as_ref())?;
    let mut record = BatchRecord {
        recipe_hashes: cells.recipe_hashes(),
        approved: BTreeMap::new(),
        site: site.as_ref().map(|site| site.name.clone()),
        options,
        plan: opened.plan,
    };
    let yaml = batch::yaml(&opened.batch);
    let read = opened.file;
    let has_runs = !record.plan.cells.is_empty();
    let may_continue = !new && has_runs;
    let earlier = may_continue.then(|| find_earlier_batch(&global.home, &record)).transpose()?;
    let Some(before) = earlier.flatten() else {
        let plan_runs = || plan_batch_runs(global, site, &record, cells);
        let planned = has_runs.then(plan_runs).transpose()?;
        record.approved =
            planned.as_ref().map(|planned| planned.approved(&record)).unwrap_or_default();
        let directory = global.home.create_batch_record(&id_stem(&record.plan.title))?;
        write_record(&directory, &yaml, &record)?;
        if !has_runs {
            record_without_runs(&directory)?;
        }
        return Ok((planned, directory));
    };
    let own = Own::require_batch(&global.home, before.directory)
        .map_err(|failure| failure.with_help("start a new one: --new"))?;
    let directory = own.into_directory();
    if let Some(file) = record.plan.file.as_ref().filter(|_| record.plan.file != before.plan.file) {
        let reason = format!("it would continue {}, which is yours", directory.id());
        let by_name = || {
            let directory = parent_directory(file);
            file_owners::require_trusted_owners(directory, slice::from_ref(file), &reason)
        };
        let as_read = read.as_ref().map_or(Ok(()), |read| read.require_trusted(&reason));
        as_read
            .and_then(|()| by_name())
            .map_err(|failure| failure.with_help("start a new one: --new"))?;
    }
    let state = before.state;
    record.approved = before.approved;
    let mut note = format!("{} is unfinished and continues", directory.id());
    let has_new_claims = before.plan.claims != record.plan.claims;
    let ended = state.trial_runs.values().any(|one| one.end.is_some());
    record.plan.restated = before.plan.restated || has_new_claims && ended;
    // What is refused changes nothing.
    let planned =
        if state.is_over() { None } else { Some(plan_batch_runs(global, site, &record, cells)?) };
    if before.plan != record.plan && FileLock::find_holder(&directory.lock_path()).is_none() {
        write_record(&directory, &yaml, &record)?;
        if has_new_claims {
            note =
                format!("{} has new claims, which are judged on its existing runs", directory.id());
        }
    }
    if !global.quiet {
        terminal::print_note(&format!("{note} (start a new one: --new)"));
    }
    Ok((planned, directory))
}

/// Plans the rest of a batch. None if it has ended, with all of its runs.
pub fn resume_batch(
    global: &GlobalOptions,
    directory: &Own<RecordDirectory>,
    site: Option<SiteFile>,
) -> Result<Option<BatchPlacement>, Failure> {
    let record: BatchRecord = directory.read_json("batch.json")?;
    let state = read_state(directory)?;
    let mut trial_runs = 1..=record.plan.schedule.trial_runs.len();
    let is_whole = match record.plan.search {
        // It ended by itself, unless the host failed.
        Some(_) => state.trial_runs.keys().all(|one| state.has_result(*one)),
        None => trial_runs.all(|trial_run| state.has_result(trial_run)),
    };
    if state.is_over() && is_whole {
        return Ok(None);
    }
    let cells = CellRecipes::open(&record.plan, None)?;
    require_unchanged(&record, &cells, directory.id())?;
    plan_batch_runs(global, site, &record, cells).map(Some)
}

/// Plans the runs of a batch for a site, or for this host.
fn plan_batch_runs(
    global: &GlobalOptions,
    site: Option<SiteFile>,
    record: &BatchRecord,
    cells: CellRecipes,
) -> Result<BatchPlacement, Failure> {
    Ok(match site {
        Some(site) => {
            BatchPlacement::OnSite(Box::new(array::plan_site_batch(global, site, record, &cells)?))
        }
        None => BatchPlacement::Local(Box::new(PlannedBatch::new(global, record, cells)?)),
    })
}

/// Refuses a recipe that has changed since the batch started: its trials are one sample.
pub fn require_unchanged(
    record: &BatchRecord,
    cells: &CellRecipes,
    id: &str,
) -> Result<(), Failure> {
    let changed = cells.find_changed(&record.recipe_hashes);
    let Some(cell) = changed.and_then(|cell| record.plan.cells.get(cell)) else {
        return Ok(());
    };
    Err(changed_since_start(&format!("batch {id}: {}", cell.path)))
}

/// A batch of this home with the same runs.
struct EarlierBatch {
    directory: RecordDirectory,
    plan: BatchPlan,
    approved: BTreeMap<usize, BTreeSet<String>>,
    state: BatchState,
}

/// The latest batch that is the same but for its claims, its title and its file: an unfinished one, or else one whose claims
/// are others. A finished batch with the same claims is measured again.
///
/// # Errors
/// If the journal of such a batch cannot be read.
fn find_earlier_batch(home: &Home, record: &BatchRecord) -> Result<Option<EarlierBatch>, Failure> {
    let ids = home.batch_ids();
    let candidates = ids.iter().rev().filter_map(|id| {
        let directory = RecordDirectory::from_path(home.batches_directory().join(id));
        let stored: BatchRecord = directory.read_json("batch.json").ok()?;
        let mut same = stored.clone();
        same.plan.file.clone_from(&record.plan.file);
        same.plan.title.clone_from(&record.plan.title);
        same.plan.claims.clone_from(&record.plan.claims);
        same.plan.restated = record.plan.restated;
        // Compared when its runs are planned, which says what differs.
        same.approved.clone_from(&record.approved);
        (same == *record).then(|| {
            let state = read_state(&directory)
                .map_err(|error| Failure::from(error).with_help("start a new one: --new"))?;
            let (plan, approved) = (stored.plan, stored.approved);
            Ok(EarlierBatch { directory, plan, approved, state })
        })
    });
    let mut found = candidates.collect::<Result<Vec<_>, Failure>>()?;
    let unfinished = found.iter().position(|one| !one.state.is_over());
    let position = unfinished.or_else(|| {
        let latest = found.first()?;
        (latest.plan.claims != record.plan.claims).then_some(0)
    });
    Ok(position.map(|at| found.swap_remove(at)))
}

/// Writes the batch's record, before anything else happens.
fn write_record(
    directory: &RecordDirectory,
    yaml: &str,
    record: &BatchRecord,
) -> Result<(), Failure> {
    write_atomically(&directory.join("batch.yaml"), yaml.as_bytes())?;
    directory.write_json("batch.json", record)?;
    Ok(())
}

/// Records that a batch has ended whose cells were all measured elsewhere.
fn record_without_runs(directory: &RecordDirectory) -> Result<(), StoreError> {
    let mut journal = Journal::open(&directory.journal_path())?;
    let ended = BatchEventKind::BatchEnded {
        exit_code: ExitCode::Success.code(),
        reason: None,
        node: None,
    };
    for what in [BatchEventKind::batch_started(directory.id(), 0), ended] {
        journal.write(&BatchEvent::now(what))?;
    }
    Ok(())
}

/// `radeon-rocm-releases`: the part of a batch's id that describes it.
fn id_stem(title: &str) -> String {
    let split_words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = split_words.filter(|word| !word.is_empty());
    let stem = join(words.map(str::to_lowercase), "-");
    if stem.is_empty() { "batch".to_owned() } else { stem }
}

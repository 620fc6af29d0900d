//! Imports runs of another machine: from an archive of `runs pack`, or from a run's directory. Its creator is
//! not trusted: only regular files and directories are imported, beneath their run and within limits, and only
//! valid runs. Their verdicts are ignored: each is judged again before it becomes a run of this home.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::files::{PRIVATE_DIRECTORY_MODE, set_mode, sync_file_system};
use super::import_refusal::{ImportRefusal, RejudgeError};
use super::journal::Journal;
use super::lock::FileLock;
use super::pack::EXCLUDED_ENTRIES;
use super::staging_directory::{StagingDirectory, remove_leftover_stages};
use super::unpack::{UnpackOptions, unpack_archive};
use super::walk::{DirectoryEntry, walk_entries};
use super::{Home, RecordDirectory, RunDirectory, UnpackLimit};
use crate::journal::{Event, EventKind};
use retrial_document::ErrorText;
use retrial_plan::Plan;

/// The file with the origin of a run.
const MARK_FILE: &str = "imported.json";
/// The maximum number of files of an import.
const MAX_IMPORTED_FILES: usize = 4_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOrigin {
    /// The machine that it ran on.
    pub host: String,
    /// The archive or directory.
    pub source: String,
    pub time: Timestamp,
}

impl ImportOrigin {
    /// Reads the origin of a run; none if it ran here.
    pub fn read(run: &RunDirectory) -> Option<Self> {
        // Called for each run: most have none, and a check is cheaper than a failed read.
        run.join(MARK_FILE).exists().then(|| {
            // Whatever is in the mark, it ran elsewhere.
            let unknown = |_| Self {
                host: "an unknown host".to_owned(),
                source: String::new(),
                time: Timestamp::UNIX_EPOCH,
            };
            run.read_json(MARK_FILE).unwrap_or_else(unknown)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedRun {
    /// The id that the run has in the archive, and here.
    pub run: String,
    /// The machine that it ran on.
    pub host: String,
    /// Whether it existed already, so that nothing was done.
    pub already: bool,
    /// The difference between its verdict here and the imported one, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejudged: Option<String>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The imported runs, and those that existed already.
    pub runs: Vec<ImportedRun>,
    /// Files that were omitted, and why.
    pub omitted: Vec<String>,
    /// Entries that were no run or could not be imported, and why.
    pub refused: Vec<ErrorText>,
}

/// Judges a run by its files and stores the verdict; returns the difference from the previous one, or why it
/// cannot be judged.
pub type RejudgeRun<'a> = &'a dyn Fn(&RunDirectory) -> Result<Option<String>, RejudgeError>;

/// Unpacks the bundle of a run, checked against its manifest, into a directory; none if the file is not a
/// bundle.
pub type UnpackBundle<'a> = &'a dyn Fn(&Path, &Path) -> Option<Result<(), StoreError>>;

/// Imports the runs of an archive, or one run's directory.
///
/// # Errors
/// If it cannot be read, exceeds the free disk space, or is empty.
pub fn import_runs(
    home: &Home,
    source: &Path,
    judge: RejudgeRun<'_>,
    unbundle: UnpackBundle<'_>,
) -> Result<ImportReport, StoreError> {
    let runs = home.runs_directory();
    remove_leftover_stages(&runs);
    let stage = StagingDirectory::new(&runs)?;
    let omitted = if source.is_dir() {
        copy_run(source, stage.path())?
    } else if let Some(unpacked) = unbundle(source, stage.path()) {
        unpacked.map(|()| Vec::new())?
    } else {
        let archive = fs::metadata(source).map_err(StoreError::io("open", source))?;
        let limit = UnpackLimit::for_archive(archive.len())?.bytes();
        let most_bytes = limit.min(available_bytes(&runs));
        let limits = UnpackOptions {
            most_bytes,
            most_files: MAX_IMPORTED_FILES,
            executable: false,
            omitted_folders: 0,
            written_since: None,
        };
        let unpacked = unpack_archive(open_archive(source)?, source, stage.path(), limits);
        unpacked
            .map_err(|error| hide_archive_bytes(error, source))
            .map_err(|error| match error {
                StoreError::TooLarge { path, limit: stated, reason, .. } if most_bytes == limit => {
                    StoreError::TooLarge {
                        path,
                        limit: stated,
                        reason,
                        help: Some(UnpackLimit::advice()),
                    }
                }
                error => error,
            })?
            .omitted
    };
    let mut arrivals = ImportReport { omitted, ..ImportReport::default() };
    // Once for all of them: a directory with a run's name is complete, even after a crash of the host.
    sync_file_system(stage.path())?;
    let entries = fs::read_dir(stage.path()).map_err(StoreError::io("read", stage.path()))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for file_name in names {
        let staged = RunDirectory::from_path(stage.path().join(&file_name));
        let omitted = remove_excluded(&staged);
        match import_run(&staged, &runs, source, judge) {
            Ok(arrival) => {
                arrivals.omitted.extend(omitted);
                arrivals.runs.push(arrival);
            }
            Err(refusal) => {
                let context = format!("{}: {}: ", source.display(), file_name.to_string_lossy());
                arrivals.refused.push(ErrorText::of(&refusal).in_context(&context));
            }
        }
    }
    if arrivals.runs.is_empty() && arrivals.refused.is_empty() {
        return Err(StoreError::unusable(source, "it contains no runs"));
    }
    Ok(arrivals)
}

/// The archive's bytes, decompressed if necessary.
fn open_archive(archive: &Path) -> Result<Box<dyn Read>, StoreError> {
    let mut file = File::open(archive).map_err(StoreError::io("open", archive))?;
    let mut magic = [0; 2];
    let read = file.read(&mut magic).map_err(StoreError::io("read", archive))?;
    file.rewind().map_err(StoreError::io("read", archive))?;
    let file = BufReader::new(file);
    Ok(if read == 2 && magic == [0x1f, 0x8b] {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}

/// Errors must not contain bytes of the archive.
fn hide_archive_bytes(error: StoreError, source: &Path) -> StoreError {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let bytes_are_wrong = match &error {
        StoreError::Io { doing, source, .. } => {
            *doing == "read" || matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof)
        }
        _ => false,
    };
    if !bytes_are_wrong {
        return error;
    }
    let reason = "it is not an archive of runs (.tar, .tar.gz), or it is truncated";
    StoreError::unusable(source, reason)
}

/// Copies a run's directory; a run in progress is not copied.
fn copy_run(source: &Path, stage: &Path) -> Result<Vec<String>, StoreError> {
    let from = source.canonicalize().map_err(StoreError::io("find", source))?;
    let run = RunDirectory::from_path(from);
    if !run.journal_path().is_file() || !run.join("plan.json").is_file() {
        let reason = "it is not a run: it has no journal.jsonl and plan.json";
        return Err(StoreError::unusable(run.path(), reason));
    }
    if let Some(holder) = FileLock::find_holder(&run.lock_path()) {
        return Err(StoreError::Busy { run: run.id().to_owned(), holder: Box::new(holder) });
    }
    let to = stage.join(run.id());
    fs::create_dir(&to).map_err(StoreError::io("create", &to))?;
    let mut omitted = Vec::new();
    walk_entries(run.path(), &EXCLUDED_ENTRIES, &mut |relative, entry| {
        let target = to.join(relative);
        match entry {
            DirectoryEntry::Directory => {
                fs::create_dir(&target).map_err(StoreError::io("create", &target))
            }
            DirectoryEntry::File(mut file) => {
                let mut out =
                    File::create_new(&target).map_err(StoreError::io("create", &target))?;
                io::copy(&mut file, &mut out).map(drop).map_err(StoreError::io("write", &target))
            }
            DirectoryEntry::Other(reason) => {
                omitted.push(format!("{}: {reason}", relative.display()));
                Ok(())
            }
        }
    })?;
    Ok(omitted)
}

/// Removes the files that `pack` would have excluded; returns their names.
fn remove_excluded(staged: &RunDirectory) -> Vec<String> {
    let found = EXCLUDED_ENTRIES.iter().filter(|name| {
        let path = staged.join(name);
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).is_ok()
    });
    let omitted =
        found.map(|name| format!("{}/{name}: it belongs to the original machine", staged.id()));
    omitted.collect()
}

/// Moves a staged run among the runs.
fn import_run(
    staged: &RunDirectory,
    runs: &Path,
    source: &Path,
    judge: RejudgeRun<'_>,
) -> Result<ImportedRun, ImportRefusal> {
    let id = staged.id();
    if !RecordDirectory::is_valid_id(id) {
        return Err(ImportRefusal::Name);
    }
    let plan: Result<Plan, StoreError> = staged.read_json("plan.json");
    plan.map_err(ImportRefusal::Plan)?;
    let read = Journal::read_damaged::<Event>(&staged.journal_path());
    let events = read.map_err(ImportRefusal::Journal)?.entries;
    let started = events.iter().find_map(|event| match &event.what {
        EventKind::RunStarted { run, .. } => Some(run.as_str()),
        _ => None,
    });
    if started != Some(id) {
        let owner = started.unwrap_or("no run").to_owned();
        return Err(ImportRefusal::OtherJournal { owner });
    }
    let host_record = staged.read_host_record().unwrap_or_default();
    let host = host_record.hostname().unwrap_or("an unknown host");
    let arrival =
        ImportedRun { run: id.to_owned(), host: host.to_owned(), already: false, rejudged: None };
    let target = runs.join(id);
    if target.exists() {
        if !have_same_content(&staged.journal_path(), &target.join("journal.jsonl")) {
            let runs = runs.to_owned();
            return Err(ImportRefusal::Taken { runs });
        }
        return Ok(ImportedRun { already: true, ..arrival });
    }
    // Replaces any existing mark: ours prevents the execution of its plan here.
    let mark = ImportOrigin {
        host: host.to_owned(),
        source: source.display().to_string(),
        time: Timestamp::now(),
    };
    staged.write_json(MARK_FILE, &mark)?;
    set_mode(staged.path(), PRIVATE_DIRECTORY_MODE)?;
    let rejudged = judge(staged).map_err(ImportRefusal::Rejudge)?;
    fs::rename(staged.path(), &target).map_err(StoreError::io("move", staged.path()))?;
    Ok(ImportedRun { rejudged, ..arrival })
}

fn have_same_content(left: &Path, right: &Path) -> bool {
    matches!((fs::read(left), fs::read(right)), (Ok(left), Ok(right)) if left == right)
}

/// Free bytes on the disk, minus a reserve for other users.
pub fn available_bytes(directory: &Path) -> u64 {
    let found = rustix::fs::statvfs(directory);
    found.map_or(u64::MAX, |found| {
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        free - free / 20
    })
}

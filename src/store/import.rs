//! Runs of another machine are taken in: out of an archive that `runs pack` made, or from a run's
//! directory. Whoever made it is not trusted: only regular files and directories come in, beneath
//! their run and within caps, and only what is a run. Its verdict does not count: it is judged again
//! before it is a run of this home.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use flate2::read::GzDecoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::files::{PRIVATE, set_mode};
use super::journal::Journal;
use super::lock::FileLock;
use super::pack::STAYS;
use super::stage::{Stage, clear_left};
use super::unpack::{Limits, unpack};
use super::walk::{Entry, walk};
use super::{Home, Record, RunDirectory};
use crate::plan::Plan;
use crate::store::journal::{Event, What};

/// The file that says where a run came from.
const MARK: &str = "imported.json";
/// No import is larger, whatever it unpacks to.
const LARGEST: u64 = 256 << 30;
/// Nor has more files.
const MOST_FILES: usize = 4_000_000;

/// Where a run came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The machine that it ran on.
    pub host: String,
    /// The archive or directory.
    pub source: String,
    /// When it was taken in.
    pub time: Timestamp,
}

impl Mark {
    /// Of a run; none where it ran here.
    pub fn of(run: &RunDirectory) -> Option<Self> {
        // Asked of each run: most have none, and looking is cheaper than failing to read.
        run.join(MARK).exists().then(|| run.read_json(MARK).ok())?
    }
}

/// One run of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Arrival {
    /// The run.
    pub run: String,
    /// The machine that it ran on.
    pub host: String,
    /// It was here before: nothing was done.
    pub already: bool,
    /// How its verdict was changed by judging it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejudged: Option<String>,
}

/// What an import brought.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Arrivals {
    /// The runs.
    pub runs: Vec<Arrival>,
    /// Files that were left out, and why.
    pub omitted: Vec<String>,
    /// What was no run, or could not be taken in, and why.
    pub refused: Vec<String>,
}

/// Judges a run by its files and keeps that verdict; gives the difference to the one that it had, or
/// why it cannot be judged.
pub type Judge<'a> = &'a dyn Fn(&RunDirectory) -> Result<Option<String>, String>;

/// Unpacks the bundle of a run, checked against its manifest, into a directory; none where the file is no bundle.
pub type Unbundle<'a> = &'a dyn Fn(&Path, &Path) -> Option<Result<(), StoreError>>;

/// Takes in the runs of an archive, or one run's directory.
///
/// # Errors
/// Where it cannot be read, is larger than the disk has room for, or holds no run.
pub fn import(
    home: &Home,
    source: &Path,
    judge: Judge<'_>,
    unbundle: Unbundle<'_>,
) -> Result<Arrivals, StoreError> {
    let runs = home.runs();
    clear_left(&runs);
    let stage = Stage::new(&runs)?;
    let omitted = if source.is_dir() {
        copy_run(source, stage.path())?
    } else if let Some(unpacked) = unbundle(source, stage.path()) {
        unpacked.map(|()| Vec::new())?
    } else {
        let most_bytes = free_space(&runs).min(LARGEST);
        let limits = Limits {
            most_bytes,
            most_files: MOST_FILES,
            executable: false,
            omitted_folders: 0,
        };
        let unpacked = unpack(open(source)?, source, stage.path(), limits);
        unpacked
            .map_err(|error| no_archive(error, source))?
            .omitted
    };
    let mut arrivals = Arrivals {
        omitted,
        ..Arrivals::default()
    };
    // Once for all of them: what gets a run's name is whole, after a crash of the host too.
    File::open(stage.path())
        .and_then(|held| Ok(rustix::fs::syncfs(held)?))
        .map_err(StoreError::io("sync", stage.path()))?;
    let entries = fs::read_dir(stage.path()).map_err(StoreError::io("read", stage.path()))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let staged = RunDirectory::at(stage.path().join(&name));
        arrivals.omitted.extend(remove_what_stays(&staged));
        match take_in(&staged, &runs, source, judge) {
            Ok(arrival) => arrivals.runs.push(arrival),
            Err(reason) => {
                let name = name.to_string_lossy();
                arrivals.refused.push(format!("{name}: {reason}"));
            }
        }
    }
    match (arrivals.runs.is_empty(), arrivals.refused.first()) {
        (true, Some(reason)) => Err(StoreError::unusable(source, reason)),
        (true, None) => Err(StoreError::unusable(source, "it contains no runs")),
        (false, _) => Ok(arrivals),
    }
}

/// The archive's bytes, unpacked where they are packed.
fn open(archive: &Path) -> Result<Box<dyn Read>, StoreError> {
    let mut file = File::open(archive).map_err(StoreError::io("open", archive))?;
    let mut magic = [0; 2];
    let read = file
        .read(&mut magic)
        .map_err(StoreError::io("read", archive))?;
    file.rewind().map_err(StoreError::io("read", archive))?;
    let file = BufReader::new(file);
    Ok(if read == 2 && magic == [0x1f, 0x8b] {
        Box::new(GzDecoder::new(file))
    } else {
        Box::new(file)
    })
}

/// What an archive's own bytes say in an error is nobody's to read.
fn no_archive(error: StoreError, source: &Path) -> StoreError {
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

/// Copies a run's directory; a run that is going on is not copied.
fn copy_run(from: &Path, stage: &Path) -> Result<Vec<String>, StoreError> {
    let from = from.canonicalize().map_err(StoreError::io("find", from))?;
    let run = RunDirectory::at(from);
    if !run.journal().is_file() || !run.join("plan.json").is_file() {
        let reason = "it is not a run: it has no journal.jsonl and plan.json";
        return Err(StoreError::unusable(run.path(), reason));
    }
    if let Some(pid) = FileLock::holder(&run.lock()) {
        return Err(StoreError::Busy {
            run: run.id().to_owned(),
            pid: pid.to_string(),
        });
    }
    let to = stage.join(run.id());
    fs::create_dir(&to).map_err(StoreError::io("create", &to))?;
    let mut omitted = Vec::new();
    walk(run.path(), &STAYS, &mut |relative, entry| {
        let target = to.join(relative);
        match entry {
            Entry::Directory => fs::create_dir(&target).map_err(StoreError::io("create", &target)),
            Entry::File(mut file) => {
                let mut out =
                    File::create_new(&target).map_err(StoreError::io("create", &target))?;
                io::copy(&mut file, &mut out)
                    .map(drop)
                    .map_err(StoreError::io("write", &target))
            }
            Entry::Other(reason) => {
                omitted.push(format!("{}: {reason}", relative.display()));
                Ok(())
            }
        }
    })?;
    Ok(omitted)
}

/// Removes what `pack` would not have packed; says what there was.
fn remove_what_stays(staged: &RunDirectory) -> Vec<String> {
    let found = STAYS.iter().filter(|name| {
        let path = staged.join(name);
        fs::remove_file(&path)
            .or_else(|_| fs::remove_dir_all(&path))
            .is_ok()
    });
    let told =
        found.map(|name| format!("{}/{name}: it belongs to the original machine", staged.id()));
    told.collect()
}

/// Gives what was staged its place among the runs; says why not.
fn take_in(
    staged: &RunDirectory,
    runs: &Path,
    source: &Path,
    judge: Judge<'_>,
) -> Result<Arrival, String> {
    let id = staged.id();
    if !Record::is_id(id) {
        return Err("that is not the name of a run".to_owned());
    }
    let plan: Result<Plan, StoreError> = staged.read_json("plan.json");
    plan.map_err(|error| format!("plan.json: {}", error.reason()))?;
    let events: Vec<Event> = Journal::read(&staged.journal())
        .map_err(|error| format!("its journal: {}", error.reason()))?;
    let started = events.iter().find_map(|event| match &event.what {
        What::RunBegan { run, .. } => Some(run.as_str()),
        _ => None,
    });
    if started != Some(id) {
        let of = started.unwrap_or("no run");
        return Err(format!(
            "it is not a run of this name: its journal belongs to {of}"
        ));
    }
    let host: serde_json::Value = staged.read_json("host.json").unwrap_or_default();
    let host = host.pointer("/host/hostname");
    let host = host
        .and_then(|host| host.as_str())
        .unwrap_or("an unknown host");
    let arrival = Arrival {
        run: id.to_owned(),
        host: host.to_owned(),
        already: false,
        rejudged: None,
    };
    let target = runs.join(id);
    if target.exists() {
        let same = same_file(&staged.journal(), &target.join("journal.jsonl"));
        return if same {
            Ok(Arrival {
                already: true,
                ..arrival
            })
        } else {
            Err(format!(
                "another run of this name is in {}, or a longer copy of this one; move it away first",
                runs.display()
            ))
        };
    }
    // Whatever mark it has: this one is ours, and keeps its plan from being executed here.
    let mark = Mark {
        host: host.to_owned(),
        source: source.display().to_string(),
        time: Timestamp::now(),
    };
    let marked = staged.write_json(MARK, &mark);
    marked.map_err(|error| error.to_string())?;
    set_mode(staged.path(), PRIVATE).map_err(|error| error.to_string())?;
    let rejudged = judge(staged)?;
    fs::rename(staged.path(), &target).map_err(|error| error.to_string())?;
    Ok(Arrival {
        rejudged,
        ..arrival
    })
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Bytes that the disk has room for, less some for whoever else is on it.
pub fn free_space(directory: &Path) -> u64 {
    let found = rustix::fs::statvfs(directory);
    found.map_or(u64::MAX, |found| {
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        free - free / 20
    })
}

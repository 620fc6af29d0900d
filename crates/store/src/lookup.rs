//! Names of runs and batches: creation, listing and lookup.

use std::collections::BinaryHeap;
use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use retrial_document::{find_nearest, list_choices, suggest_name, suggest_nearest};

use super::error::{RecordKind, StoreError};
use super::files::{PRIVATE_DIRECTORY_MODE, create_private_directory};

/// The file that identifies the directory of a run or a batch.
const JOURNAL_FILE: &str = "journal.jsonl";

/// The most runs or batches that an error lists, the newest first.
const MAX_LISTED: usize = 10;

/// Creates a directory with a new id: time, name, and four digits.
pub(super) fn create_record_directory(
    kind: RecordKind,
    parent: &Path,
    full_stem: &str,
) -> Result<PathBuf, StoreError> {
    create_private_directory(parent)?;
    let real_parent = parent.canonicalize().map_err(StoreError::io("find", parent))?;
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let stem: String = full_stem.chars().take(40).collect();
    for attempt in 0..1000_u32 {
        let path = real_parent.join(format!("{now}-{stem}-{}", unique_suffix(attempt)));
        // A bind mount needs no permissions above its source, so containers of any user still write into the
        // control directory; other users of the host cannot access it.
        match DirBuilder::new().mode(PRIVATE_DIRECTORY_MODE).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("create", &path)(error)),
        }
    }
    let reason = format!("no free name for a new {kind}");
    Err(StoreError::unusable(&real_parent, reason))
}

/// Ids of the directories that have a journal, oldest first.
pub(super) fn list_record_ids(parent: &Path) -> Vec<String> {
    let began_of = |name: String| Some((read_start_time(parent, &name)?, name));
    let mut found: Vec<(Timestamp, String)> =
        list_names(parent).into_iter().filter_map(began_of).collect();
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

/// Names of possible runs or batches, sorted. A name with a leading dot is not yet, or no longer, one.
fn list_names(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names
}

/// How many before the last one a name means: `last`, or `last~1` for the one before it.
pub fn parse_last(name: &str) -> Option<usize> {
    let before = name.strip_prefix("last")?;
    if before.is_empty() { Some(0) } else { before.strip_prefix('~')?.parse().ok() }
}

/// Ids and starts of the runs or batches in a directory, the newest first. Of ten thousand, only those journals are opened
/// whose names do not rule them out.
pub struct NewestFirst {
    parent: PathBuf,
    /// By their latest possible start, the oldest first.
    unread: Vec<(Timestamp, String)>,
    read: BinaryHeap<(Timestamp, String)>,
}

impl NewestFirst {
    pub(super) fn new(parent: PathBuf) -> Self {
        let names = list_names(&parent).into_iter();
        let mut unread: Vec<(Timestamp, String)> = names
            .map(|name| (latest_possible_start(&name).unwrap_or(Timestamp::MAX), name))
            .collect();
        unread.sort_unstable();
        Self { parent, unread, read: BinaryHeap::new() }
    }
}

impl Iterator for NewestFirst {
    type Item = (Timestamp, String);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((at_the_latest, _)) = self.unread.last()
            && self.read.peek().is_none_or(|(started, _)| at_the_latest >= started)
        {
            let (_, name) = self.unread.pop()?;
            let started = read_start_time(&self.parent, &name);
            self.read.extend(started.map(|started| (started, name)));
        }
        self.read.pop()
    }
}

/// The latest possible start for a name: names have the local time of their creation, at most twelve hours
/// behind UTC.
fn latest_possible_start(name: &str) -> Option<Timestamp> {
    let local = DateTime::strptime("%Y%m%d-%H%M%S", name.get(..15)?).ok()?;
    let as_utc = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
    // Plus some time until the journal's first line.
    as_utc.checked_add(SignedDuration::from_hours(13)).ok()
}

/// Finds a directory by id, by a unique part of its id, by path, or as [`parse_last`] has it.
pub(super) fn find_record(
    kind: RecordKind,
    parent: &Path,
    query: &str,
) -> Result<PathBuf, StoreError> {
    let as_path = Path::new(query);
    if query.contains('/') {
        let path = as_path.to_owned();
        return if path.join(JOURNAL_FILE).exists() {
            path.canonicalize().map_err(StoreError::io("open", &path))
        } else if path.exists() {
            Err(StoreError::NotARecord { kind, path })
        } else {
            Err(StoreError::NoPath { path })
        };
    }
    let is_record = |id: &&String| parent.join(id).join(JOURNAL_FILE).exists();
    let ids = list_names(parent);
    let is_part = |id: &&String| !query.is_empty() && id.contains(query);
    let before_last = parse_last(query);
    let matches: Vec<String> = if let Some(before) = before_last {
        let found = NewestFirst::new(parent.to_owned()).nth(before);
        found.map(|(_, id)| id).into_iter().collect()
    } else if let Some(id) = ids.iter().find(|id| *id == query).filter(is_record) {
        vec![id.clone()]
    } else {
        ids.iter().filter(is_part).filter(is_record).cloned().collect()
    };
    if let [id] = &matches[..] {
        return Ok(parent.join(id));
    }
    if let Err(error) = fs::read_dir(parent)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(StoreError::io("open", parent)(error));
    }
    let newest_ids = ids.iter().rev().filter(is_record).take(MAX_LISTED).cloned();
    let latest: Vec<String> = newest_ids.collect();
    let requested = query.to_owned();
    if !matches.is_empty() {
        let choices = matches.into_iter().rev().collect();
        return Err(StoreError::Ambiguous { kind, requested, choices });
    }
    let help = if latest.is_empty() {
        format!("there are no {} yet", kind.plural())
    } else if before_last.is_some() {
        describe_oldest(NewestFirst::new(parent.to_owned()).count())
    } else {
        suggest_id(query, ids.iter().rev().filter(is_record))
            .unwrap_or_else(|| format!("the latest are: {}", latest.join(", ")))
    };
    let among = parent.to_owned();
    Err(StoreError::NoSuch { kind, requested, among, help: Some(help) })
}

/// Says which name the oldest of so many runs or batches has.
pub fn describe_oldest(count: usize) -> String {
    match count {
        0 | 1 => "the only one is `last`".to_owned(),
        _ => format!("the oldest is `last~{}`", count - 1),
    }
}

/// Returns "did you mean" with `last` or an id, or a list of those whose stem is probably meant (`lama3-70b`).
fn suggest_id<'a>(query: &str, newest_first: impl Iterator<Item = &'a String>) -> Option<String> {
    let ids: Vec<&str> = newest_first.map(String::as_str).collect();
    if let Some(suggestion) = suggest_nearest(query, std::iter::once("last").chain(ids.clone())) {
        return Some(suggestion);
    }
    let near = find_nearest(query, ids.iter().filter_map(|id| stem(id)))?;
    let choices: Vec<&str> = ids.iter().copied().filter(|id| stem(id) == Some(near)).collect();
    Some(match choices[..] {
        [only] => suggest_name(only),
        _ => list_choices(&choices),
    })
}

/// The part of an id between its time and its four digits.
fn stem(id: &str) -> Option<&str> {
    let (_, after_time) = id.split_at_checked("20261121-120000-".len())?;
    Some(after_time.rsplit_once('-')?.0)
}

/// Its start time, from its journal's first line: an id has the local time, to the second. `None` without a
/// journal; one without a time counts as the oldest.
fn read_start_time(parent: &Path, name: &str) -> Option<Timestamp> {
    let mut line = String::new();
    let file = fs::File::open(parent.join(name).join(JOURNAL_FILE)).ok()?;
    // A journal is ours, but a run's directory may be imported.
    let _ = BufReader::new(file.take(64 << 10)).read_line(&mut line);
    let first: Option<serde_json::Value> = serde_json::from_str(&line).ok();
    let time = first.and_then(|first| first.get("time")?.as_str()?.parse().ok());
    Some(time.unwrap_or(Timestamp::MIN))
}

/// Four hexadecimal digits that differ between processes that start in the same second.
fn unique_suffix(attempt: u32) -> String {
    use sha2::{Digest, Sha256};
    let now = jiff::Timestamp::now().as_nanosecond();
    let digest = Sha256::digest(format!("{now} {} {attempt}", std::process::id()));
    format!("{:02x}{:02x}", digest[0], digest[1])
}

#[cfg(test)]
mod tests {
    use retrial_document::ErrorText;

    use super::*;

    fn plant(parent: &Path, name: &str, time: &str) {
        fs::create_dir_all(parent.join(name)).unwrap();
        let line = format!("{{\"time\":\"{time}\"}}\n");
        fs::write(parent.join(name).join(JOURNAL_FILE), line).unwrap();
    }

    fn found(parent: &Path, query: &str) -> String {
        let found = find_record(RecordKind::Run, parent, query)
            .map_err(|error| ErrorText::of(&error).to_lines().join("\n"));
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        found.map_or_else(|error| error, name)
    }

    #[test]
    fn runs_that_cannot_be_read_are_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("runs");
        fs::write(&file, "").unwrap();
        assert!(found(&file, "last").contains("Not a directory"));
        assert!(found(&directory.path().join("none"), "last").contains("there are no runs yet"));
    }

    #[test]
    fn a_path_that_leads_to_no_run_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let runs = directory.path();
        let other = runs.join("other");
        fs::create_dir(&other).unwrap();
        let error = found(runs, &other.display().to_string());
        assert!(error.ends_with("is not the directory of a run: it has no journal"), "{error}");
        let error = found(runs, "./no/such");
        assert_eq!(error, "no such file or directory: ./no/such");
    }

    /// The second was started later, on a machine whose local time is ten hours behind; the last was renamed by
    /// hand.
    #[test]
    fn last_is_the_run_that_started_last() {
        let directory = tempfile::tempdir().unwrap();
        let runs = directory.path();
        plant(runs, "20261121-120000-east-0001", "2026-11-21T12:00:00Z");
        plant(runs, "20261121-080000-west-0002", "2026-11-21T18:00:00Z");
        plant(runs, "20250101-000000-old-0003", "2025-01-01T00:00:00Z");
        assert_eq!(found(runs, "last"), "20261121-080000-west-0002");
        plant(runs, "mine", "2026-11-21T19:00:00Z");
        assert_eq!(found(runs, "last"), "mine");
        plant(runs, "99991231-000000-future-0004", "2026-01-01T00:00:00Z");
        assert_eq!(found(runs, "last"), "mine");
        fs::create_dir(runs.join("20991231-000000-empty-0005")).unwrap();
        plant(runs, ".going-x", "2027-01-01T00:00:00Z");
        assert_eq!(found(runs, "last"), "mine");
        assert_eq!(list_record_ids(runs).last().unwrap(), "mine");
    }

    #[test]
    fn earlier_runs_are_counted_from_the_last() {
        let directory = tempfile::tempdir().unwrap();
        let runs = directory.path();
        plant(runs, "20261121-120000-east-0001", "2026-11-21T12:00:00Z");
        plant(runs, "20261121-080000-west-0002", "2026-11-21T18:00:00Z");
        plant(runs, "99991231-000000-future-0003", "2026-01-01T00:00:00Z");
        let newest_first = ["west-0002", "east-0001", "future-0003"];
        for (before, id) in newest_first.into_iter().enumerate() {
            let name = format!("last~{before}");
            assert!(found(runs, &name).ends_with(id), "{name}");
        }
        assert!(
            found(runs, "last~3").ends_with("the oldest is `last~2`"),
            "{}",
            found(runs, "last~3")
        );
        let single = tempfile::tempdir().unwrap();
        plant(single.path(), "only", "2026-11-21T12:00:00Z");
        assert!(found(single.path(), "last~5").ends_with("the only one is `last`"));
        for other in ["last~", "last~-1", "last~x", "last~1.5", "lastly"] {
            assert_eq!(parse_last(other), None, "{other}");
        }
    }

    #[test]
    fn a_unique_part_of_an_id_is_sufficient() {
        let directory = tempfile::tempdir().unwrap();
        let runs = directory.path();
        assert!(found(runs, "last").contains("no runs yet"));
        plant(runs, "20261121-120000-one-0001", "2026-11-21T12:00:00Z");
        plant(runs, "20261121-120000-one-0001-more", "2026-11-21T12:00:00Z");
        fs::create_dir(runs.join("20261121-120000-two-0002")).unwrap();
        for number in 3..15 {
            plant(runs, &format!("20261122-120000-many-00{number:02}"), "2026-11-22T12:00:00Z");
        }
        let error = found(runs, "many");
        let list = "12 runs\nhelp: choose one:\n  20261122-120000-many-0014\n  ";
        assert!(error.contains(list), "{error}");
        assert!(error.ends_with("-many-0005\n  and 2 more"), "ten are listed: {error}");
        assert_eq!(found(runs, "more"), "20261121-120000-one-0001-more");
        let exact = "20261121-120000-one-0001";
        assert_eq!(found(runs, exact), exact);
        assert!(found(runs, "one").contains("choose one:"));
        assert!(found(runs, "two").contains("the latest are"), "it has no journal");
    }

    #[test]
    fn misspelt_runs_are_suggested_by_their_stem() {
        let directory = tempfile::tempdir().unwrap();
        let runs = directory.path();
        let only = "20261121-120000-llama2-70b-mi300x-0001";
        plant(runs, only, "2026-11-21T12:00:00Z");
        for number in 2..4 {
            let id = format!("20261122-120000-gemm-000{number}");
            plant(runs, &id, "2026-11-22T12:00:00Z");
        }
        fs::create_dir(runs.join("20261122-120000-gemm-0009")).unwrap();
        let asks = |query: &str| found(runs, query).rsplit_once("help: ").unwrap().1.to_owned();
        assert_eq!(asks("llamma2-70b-mi300x"), format!("did you mean `{only}`?"));
        assert_eq!(asks("lats"), "did you mean `last`?");
        let expected = "choose one:\n  20261122-120000-gemm-0003\n  20261122-120000-gemm-0002";
        assert_eq!(asks("gemn"), expected);
        assert!(asks("resnet50").starts_with("the latest are: 20261122-120000-gemm-0003, "));
    }
}

//! One result folder: `LoadGen`'s summary and detail log.

use std::ffi::OsStr;
use std::fs::FileType;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use itertools::{Itertools as _, join};
use walkdir::WalkDir;

use retrial_mlperf::loadgen::{LoadgenRun, LoadgenSummary, detail, summary};
use retrial_readings::decode::{ENCODING_HEAD_BYTES, detect_encoding};
use retrial_store::{StoreError, blocks, open};

/// The largest summary that is read: a real one has 4 kB.
const MAX_SUMMARY_BYTES: u64 = 4 << 20;
/// Maximum depth below a result folder in which a summary is searched.
const MAX_RESULT_DEPTH: usize = 4;
/// Maximum depth below a directory in which results are searched.
pub(crate) const MAX_SEARCH_DEPTH: usize = 16;

pub use retrial_mlperf::loadgen::{DETAIL_FILE as DETAIL, SUMMARY_FILE as SUMMARY};

/// Reasons why a folder gives no result.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("no {SUMMARY} in it")]
    NoSummary,
    /// There are several summaries, in these folders.
    #[error("several {SUMMARY} in it: {0}")]
    Several(String),
    /// It cannot be read as one.
    #[error("{path}: {reason}")]
    Unreadable {
        path: String,
        /// Why it cannot be read, as a lower-case fragment.
        reason: String,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the one `LoadGen` result in or below a folder.
///
/// # Errors
/// If there is none, there are several, or it cannot be read.
pub fn read_result_folder(folder: &Path) -> Result<LoadgenRun, FolderError> {
    let relative = match &find_folders_with(folder, MAX_RESULT_DEPTH, |name| name == SUMMARY)[..] {
        [] => return Err(FolderError::NoSummary),
        [path] => path.clone(),
        several if several.iter().any(|path| path.as_os_str().is_empty()) => PathBuf::new(),
        several => {
            let names = join(several.iter().map(|path| path.display()), ", ");
            return Err(FolderError::Several(names));
        }
    };
    let summary = read_summary(folder, &relative)?;
    let detail = match read_detail_log(folder, &relative) {
        Ok(detail) => Some(detail),
        Err(error) if is_not_found(&error) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(LoadgenRun { summary: Some(summary), detail })
}

/// The two logs of one folder, as far as they can be read, and what is wrong with a file: its name
/// and why it cannot be read. A log that is not there is no fault: whether it must be is a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadgenLogs {
    /// The logs that could be read.
    pub run: LoadgenRun,
    /// Files that are there and cannot be read.
    pub faults: Vec<(&'static str, String)>,
}

/// Reads the logs of exactly this folder.
pub fn read_logs(root: &Path, folder: &Path) -> LoadgenLogs {
    let mut logs = LoadgenLogs::default();
    match read_summary(root, folder) {
        Ok(summary) => logs.run.summary = Some(summary),
        Err(FolderError::Store(error)) if is_not_found(&error) => {}
        Err(FolderError::Unreadable { reason, .. }) => logs.faults.push((SUMMARY, reason)),
        Err(error) => logs.faults.push((SUMMARY, error.to_string())),
    }
    match read_detail_log(root, folder) {
        Ok(detail) if detail.entries == 0 => {
            let encoding = read_head(root, folder).and_then(|head| describe_encoding(&head));
            let reason = encoding.unwrap_or_else(|| "it has no line of LoadGen's".to_owned());
            logs.faults.push((DETAIL, reason));
        }
        Ok(detail) => logs.run.detail = Some(detail),
        Err(error) if is_not_found(&error) => {}
        Err(error) => logs.faults.push((DETAIL, error.to_string())),
    }
    logs
}

/// Reads the summary of a folder.
///
/// # Errors
/// If it is missing, cannot be opened, or is no summary.
pub fn read_summary(root: &Path, folder: &Path) -> Result<LoadgenSummary, FolderError> {
    let path = folder.join(SUMMARY);
    let bytes = open::read_beneath(root, &path, MAX_SUMMARY_BYTES)?;
    let unreadable = |reason| FolderError::Unreadable { path: path.display().to_string(), reason };
    if let Some(encoding) = describe_encoding(&bytes) {
        return Err(unreadable(encoding));
    }
    let text = String::from_utf8_lossy(&bytes);
    summary::parse_summary(&text).map_err(|error| unreadable(error.to_string()))
}

/// Reads the detail log of a folder, of any length, in bounded memory.
///
/// # Errors
/// If it is missing or cannot be read.
pub fn read_detail_log(root: &Path, folder: &Path) -> Result<detail::LoadgenDetail, StoreError> {
    let relative = folder.join(DETAIL);
    let file = open::open_beneath(root, &relative)?;
    let mut parser = detail::DetailParser::new();
    blocks::for_each_block(file, |block| parser.push(block))
        .map_err(StoreError::io("read", &root.join(relative)))?;
    Ok(parser.finish())
}

/// The beginning of a folder's detail log.
fn read_head(root: &Path, folder: &Path) -> Option<Vec<u8>> {
    let file = open::open_beneath(root, &folder.join(DETAIL)).ok()?;
    let mut head = Vec::new();
    file.take(ENCODING_HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Describes the encoding of a text that is not ASCII, by its beginning; `LoadGen` writes ASCII.
fn describe_encoding(head: &[u8]) -> Option<String> {
    let (encoding, _) = detect_encoding(head);
    let name = encoding.name();
    (name != "UTF-8").then(|| {
        format!("it is in {name}, not in ASCII as LoadGen writes it: iconv -f {name} -t UTF-8 converts it")
    })
}

/// Returns whether the file is not there at all.
pub fn is_not_found(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}

/// Returns every folder in or below a directory that holds a summary, sorted; links are not followed.
pub fn find_summary_folders(directory: &Path) -> Vec<PathBuf> {
    find_folders_with(directory, MAX_SEARCH_DEPTH, |name| name == SUMMARY)
}

/// Returns the names of a directory's entries of some kind; none where it cannot be read.
pub(crate) fn entry_names(
    directory: &Path,
    accepts: fn(&FileType) -> bool,
) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(move |entry| entry.file_type().is_ok_and(|kind| accepts(&kind)))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Returns the folders in a directory, sorted; links are not followed, and hidden ones are no results.
pub(crate) fn folder_names(directory: &Path) -> Vec<String> {
    let folders = entry_names(directory, FileType::is_dir);
    let shown = folders.filter(|name| !name.starts_with('.'));
    shown.sorted().collect()
}

/// Returns the folders with files of some name, sorted; links are not followed.
pub(crate) fn find_folders_with(
    directory: &Path,
    depth: usize,
    is_name: fn(&OsStr) -> bool,
) -> Vec<PathBuf> {
    let entries = WalkDir::new(directory).max_depth(depth + 1);
    let files = entries
        .into_iter()
        .flatten()
        .filter(|entry| is_name(entry.file_name()) && !entry.file_type().is_dir());
    let folders = files.filter_map(|entry| {
        let folder = entry.path().parent()?.strip_prefix(directory).ok()?;
        Some(folder.to_owned())
    });
    folders.sorted().dedup().collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LOG: &str = ":::MLLOG {\"key\": \"loadgen_version\", \"value\": \"5.0\", \"time_ms\": 0.0, \"namespace\": \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", \"metadata\": {}}\n";

    /// UTF-16, in which shells of Windows redirect output.
    #[rstest]
    #[case("\u{feff}", u16::to_le_bytes, "UTF-16LE")]
    #[case("", u16::to_le_bytes, "UTF-16LE")]
    #[case("\u{feff}", u16::to_be_bytes, "UTF-16BE")]
    fn logs_in_another_encoding_are_named(
        #[case] mark: &str,
        #[case] to_bytes: fn(u16) -> [u8; 2],
        #[case] encoding: &str,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let text = format!("{mark}{text}");
            let bytes: Vec<u8> = text.encode_utf16().flat_map(to_bytes).collect();
            std::fs::write(directory.path().join(name), bytes).unwrap();
        };
        write(SUMMARY, "SUT name : PySUT\nScenario : Offline\n");
        write(DETAIL, LOG);
        let logs = read_logs(directory.path(), Path::new(""));
        let expected = format!("it is in {encoding}, not in ASCII");
        let names: Vec<&str> = logs.faults.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [SUMMARY, DETAIL]);
        for (name, reason) in &logs.faults {
            assert!(reason.starts_with(&expected), "{name}: {reason}");
        }
    }
}

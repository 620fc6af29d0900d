//! The figures of an `accuracy.txt` or of a check's output, where no recipe says how they are printed.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::verdict::{FigureValue, TrialEvidence};
use retrial_document::measures::format;
pub use retrial_mlperf::accuracy::ACCURACY_FILE;
use retrial_mlperf::accuracy::{Accuracy, AccuracyReader};
use retrial_mlperf::check::{Rule, RuleCheck};
use retrial_store::{StoreError, blocks, open};

/// The log of an accuracy run, which is cut short before it is published.
pub const ACCURACY_LOG: &str = "mlperf_log_accuracy.json";
/// The most bytes of the log once it was cut short; the hash is of the whole log.
pub const MAX_LOG_BYTES: u64 = 10 << 10;

/// The largest that is read: the longest that was published has 140 kB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The reason why an `accuracy.txt` cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AccuracyFileError {
    /// Missing, or no regular file.
    #[error("{}", .0.reason_without_path())]
    Open(#[from] StoreError),
    /// The operating system could not read it.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Longer than any that an accuracy script writes.
    #[error("it is larger than {}", format::format_bytes(MAX_FILE_BYTES))]
    TooLarge,
}

/// Reads an `accuracy.txt` beneath a folder; `required` are the figures that the round asks for,
/// where it is known.
///
/// # Errors
/// It is missing, no regular file, too long, or cannot be read.
pub fn read_accuracy<T>(
    folder: &Path,
    file: &Path,
    required: &[(String, T)],
) -> Result<Accuracy, AccuracyFileError> {
    let opened = open::open_beneath(folder, file)?;
    let mut reader = AccuracyReader::default()
        .with_requested_figures(required.iter().map(|(name, _)| name.as_str()));
    // A file may grow while it is read, so what was read counts too.
    let mut length = opened.metadata().map_or(0, |metadata| metadata.len());
    if length <= MAX_FILE_BYTES {
        length =
            blocks::for_each_block(opened.take(MAX_FILE_BYTES + 1), |block| reader.push(block))?;
    }
    if length > MAX_FILE_BYTES {
        return Err(AccuracyFileError::TooLarge);
    }
    Ok(reader.finish())
}

/// Adds figures that a trial does not have yet, and why one is none.
pub fn add_to_trial(trial: &mut TrialEvidence, accuracy: &Accuracy) {
    for (name, figure) in &accuracy.figures {
        if trial.figure(name).is_none() {
            let value =
                FigureValue::new(figure.value, figure.unit).with_half_digit(figure.half_digit);
            trial.figures.insert((*name).to_owned(), value);
        }
    }
    let broken = accuracy.not_numbers.iter().map(|(name, text)| {
        let reason = format!("it was printed as `{text}`, which is not a number");
        (*name, reason)
    });
    let cut = accuracy.cut.iter().map(|name| (*name, "the text ends inside it".to_owned()));
    for (name, reason) in broken.chain(cut) {
        if trial.figure(name).is_none() {
            trial.missing.entry(name.to_owned()).or_insert(reason);
        }
    }
}

/// Checks the rules for an accuracy run's files beneath a tree's root: the log's hash stands in `accuracy.txt`, the
/// log was cut short, and each figure was printed once.
pub fn check_accuracy_files(accuracy: &Accuracy, root: &Path, folder: &Path) -> Vec<RuleCheck> {
    let path = folder.join(ACCURACY_LOG);
    let log = open::open_beneath(root, &path).ok().and_then(|file| file.metadata().ok());
    let mut checks = accuracy.check_prints(ACCURACY_FILE);
    // A missing log is not too long either.
    checks.extend(log.map(|log| log.len()).map(|length| {
        RuleCheck::new(
            "accuracy log is truncated",
            format::format_bytes(length),
            format!("{ACCURACY_LOG} of at most {}", format::format_bytes(MAX_LOG_BYTES)),
            length <= MAX_LOG_BYTES,
        )
    }));
    // Only an uncut log is this short, or one that is cut already.
    let whole = open::read_beneath(root, &path, MAX_LOG_BYTES).ok();
    checks.extend(whole.and_then(|log| check_hash(accuracy, &log)));
    checks
}

/// The line in place of the middle that was cut out of a log.
const CUT_MARK: &[u8] = b"...";

/// Checks the rule for a log that nothing was cut out of: its SHA-256 is the one in `accuracy.txt`. That of a
/// cut one is of a log that no longer exists.
fn check_hash(accuracy: &Accuracy, log: &[u8]) -> Option<RuleCheck> {
    let stated = accuracy.hash.as_deref()?;
    let mut lines = log.split(|byte| *byte == b'\n');
    if lines.any(|line| line.trim_ascii() == CUT_MARK) {
        return None;
    }
    let actual = hex::encode(Sha256::digest(log));
    let passed = actual.eq_ignore_ascii_case(stated);
    let rule = Rule::of_text("hash of the whole accuracy log", ACCURACY_FILE, "hash=");
    let required = format!("{stated}, as in {ACCURACY_FILE}");
    Some(RuleCheck::new(rule, format!("SHA-256 {actual}"), required, passed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_reasons_for_missing_figures() {
        let folder = tempfile::tempdir().unwrap();
        let read = || read_accuracy::<f64>(folder.path(), Path::new(ACCURACY_FILE), &[]);
        assert_eq!(read().unwrap_err().to_string(), "it is missing");
        let text = "{'rouge1': 44.5, 'rouge2': nan}\nhash=0f\n";
        std::fs::write(folder.path().join(ACCURACY_FILE), text).unwrap();
        let mut trial = TrialEvidence::new_finished(1, "accuracy");
        add_to_trial(&mut trial, &read().unwrap());
        assert_eq!(trial.figures["ROUGE1"], FigureValue::new(44.5, "").with_half_digit(0.05));
        assert!(trial.missing["ROUGE2"].contains("`nan`"));
    }

    #[test]
    fn an_oversized_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(folder.path().join(ACCURACY_FILE)).unwrap();
        file.set_len(5 << 30).unwrap();
        let error = read_accuracy::<f64>(folder.path(), Path::new(ACCURACY_FILE), &[]).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 64 MiB");
    }

    #[test]
    fn a_whole_log_has_the_stated_hash() {
        let log = b"[\n{ \"qsl_idx\" : 1, \"data\" : \"00\" }\n]\n";
        let hash = hex::encode(Sha256::digest(log));
        let passed = |hash: &str, log: &[u8]| {
            let text = format!("mAP=37.3%\nhash={hash}\n");
            let read = retrial_mlperf::accuracy::parse_accuracy(text.as_bytes());
            check_hash(&read, log).map(|check| check.passed)
        };
        assert_eq!(passed(&hash, log), Some(true));
        assert_eq!(passed(&hash.to_uppercase(), log), Some(true));
        assert_eq!(passed(&"0".repeat(64), log), Some(false));
        // What was cut out is not there to be hashed.
        let cut = b"[\n{ \"qsl_idx\" :\n\n...\n\n : \"00\" }\n]\n";
        assert_eq!(passed(&hash, cut), None);
        assert_eq!(passed(&hash, b"[\r\n\r\n...\r\n\r\n]\r\n"), None);
    }

    #[test]
    fn the_log_is_hashed_and_truncated() {
        let passed = |text: &str, log: Option<&str>| -> Vec<bool> {
            let folder = tempfile::tempdir().unwrap();
            if let Some(log) = log {
                std::fs::write(folder.path().join(ACCURACY_LOG), log).unwrap();
            }
            let read = retrial_mlperf::accuracy::parse_accuracy(text.as_bytes());
            let checks = check_accuracy_files(&read, folder.path(), Path::new(""));
            checks.iter().map(|check| check.passed).collect()
        };
        let longest = format!("[\n...\n{}", " ".repeat(10_234));
        let longer = format!("{longest} ");
        assert_eq!(passed("mAP=37.3%\nhash=0f\n", Some(&longest)), [true, true]);
        assert_eq!(passed("mAP=37.3%\n", Some(&longer)), [false, false]);
        assert_eq!(passed("mAP=37.3%\nmAP=36.1%\nhash=0f\n", None), [true, false]);
    }
}

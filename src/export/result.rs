//! The files of one result: `LoadGen`'s logs as they are, accuracy with its hash, an audit's test.

use serde_json::Value;

use super::choose::Chosen;
use super::model::{Content, File, Missing, Origin};

/// The summary.
pub(super) const SUMMARY: &str = "mlperf_log_summary.txt";
/// The log from which `MLCommons` publishes.
pub(super) const DETAIL: &str = "mlperf_log_detail.txt";
/// What the system answered.
pub(super) const ANSWERS: &str = "mlperf_log_accuracy.json";
/// What the accuracy script said.
pub(super) const ACCURACY: &str = "accuracy.txt";
/// The official checker takes no larger file.
const MOST_BYTES: u64 = 50 << 20;
/// Folders of samples that belong beside an accuracy log (Stable Diffusion XL, Wan).
const SAMPLES: [&str; 2] = ["images/", "videos/"];

/// What was gathered for a tree.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub files: Vec<File>,
    pub missing: Vec<Missing>,
    pub notes: Vec<String>,
}

impl Gathered {
    pub fn text(&mut self, path: String, text: String) {
        let content = Content::Text(text);
        self.files.push(File { path, content });
    }

    pub fn lacks(&mut self, place: &str, what: impl Into<String>, advice: impl Into<String>) {
        self.missing.push(Missing {
            place: place.to_owned(),
            what: what.into(),
            advice: advice.into(),
        });
    }

    /// A log as it is.
    fn log(&mut self, chosen: &Chosen<'_>, name: &str, place: &str) {
        let path = format!("{place}/{name}");
        let run = &chosen.run.id;
        match chosen.found.files.get(name) {
            None => self.lacks(
                place,
                name,
                format!("run {run} left none: let LoadGen write it where `results:` collects"),
            ),
            Some(size) => {
                if *size > MOST_BYTES {
                    let size = crate::format::size(*size);
                    self.lacks(
                        place,
                        format!("{name} of at most 50 MiB (it has {size})"),
                        "the checker takes no larger file: log less, or for less long",
                    );
                }
                let content = Content::Copy(origin(chosen, name));
                self.files.push(File { path, content });
            }
        }
    }

    /// A performance run.
    pub fn performance(&mut self, chosen: &Chosen<'_>, place: &str) {
        self.log(chosen, SUMMARY, place);
        self.log(chosen, DETAIL, place);
    }

    /// An accuracy run.
    pub fn accuracy(&mut self, chosen: &Chosen<'_>, place: &str) {
        self.log(chosen, SUMMARY, place);
        self.log(chosen, DETAIL, place);
        let run = &chosen.run.id;
        if !chosen.found.files.contains_key(ANSWERS) {
            let advice =
                format!("run {run} left none: let LoadGen write it where `results:` collects");
            self.lacks(place, ANSWERS, advice);
            return;
        }
        let log = origin(chosen, ANSWERS);
        let path = format!("{place}/{ANSWERS}");
        let content = Content::Shortened(log.clone());
        self.files.push(File { path, content });
        let printed = chosen.found.printed.as_ref();
        let text = match (&chosen.found.accuracy, printed) {
            (Some(text), _) => Some(text.clone()),
            (None, Some(printed)) if !printed.text.trim().is_empty() => {
                self.notes.push(format!(
                    "{place}/{ACCURACY} is what step {} of run {run} printed",
                    printed.step
                ));
                Some(printed.text.clone())
            }
            _ => None,
        };
        match text {
            Some(text) => self.files.push(File {
                path: format!("{place}/{ACCURACY}"),
                content: Content::Hashed { text, log },
            }),
            None => self.lacks(
                place,
                ACCURACY,
                "give the recipe's accuracy mode a `check:`: the benchmark's accuracy script",
            ),
        }
        for name in chosen.found.files.keys() {
            if SAMPLES.iter().any(|folder| name.starts_with(folder)) {
                self.log(chosen, name, place);
            }
        }
    }

    /// A test of the audit, where the run has it.
    pub fn compliance(&mut self, chosen: &Chosen<'_>, folder: &str, test: &str, place: &str) {
        let below = |name: &str| {
            if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            }
        };
        for name in parts_of(test) {
            let source = below(name);
            let path = format!("{place}/{name}");
            if !chosen.found.files.contains_key(&source) {
                let advice = format!(
                    "run {} left none in its {test}: the test's own scripts write it",
                    chosen.run.id
                );
                self.lacks(place, *name, advice);
                continue;
            }
            let content = if name.ends_with(ANSWERS) {
                Content::Shortened(origin(chosen, &source))
            } else {
                Content::Copy(origin(chosen, &source))
            };
            self.files.push(File { path, content });
        }
        for name in FURTHER_PARTS {
            let source = below(name);
            let path = format!("{place}/{name}");
            let is_new = self.files.iter().all(|file| file.path != path);
            if is_new && chosen.found.files.contains_key(&source) {
                let content = if name.ends_with(ANSWERS) {
                    Content::Shortened(origin(chosen, &source))
                } else {
                    Content::Copy(origin(chosen, &source))
                };
                self.files.push(File { path, content });
            }
        }
    }
}

/// The files that the official checker asks of a test.
fn parts_of(test: &str) -> &'static [&'static str] {
    match test {
        "TEST01" => &[
            "verify_accuracy.txt",
            "verify_performance.txt",
            "accuracy/mlperf_log_accuracy.json",
            "accuracy/accuracy.txt",
            "performance/run_1/mlperf_log_summary.txt",
            "performance/run_1/mlperf_log_detail.txt",
        ],
        "TEST04" | "TEST05" => &[
            "verify_performance.txt",
            "performance/run_1/mlperf_log_summary.txt",
            "performance/run_1/mlperf_log_detail.txt",
        ],
        "TEST09" => &["verify_output_len.txt"],
        _ => &["verify_accuracy.txt"],
    }
}

/// What a test may have besides.
const FURTHER_PARTS: [&str; 8] = [
    "verify_accuracy.txt",
    "verify_performance.txt",
    "accuracy/accuracy.txt",
    "accuracy/mlperf_log_accuracy.json",
    "accuracy/baseline_accuracy.txt",
    "accuracy/compliance_accuracy.txt",
    "performance/run_1/mlperf_log_summary.txt",
    "performance/run_1/mlperf_log_detail.txt",
];

/// A file of the chosen trial.
pub(super) fn origin(chosen: &Chosen<'_>, name: &str) -> Origin {
    Origin {
        run: chosen.index,
        path: format!("{}/{name}", chosen.found.folder),
    }
}

/// JSON as people read it.
pub(super) fn json(value: &Value) -> String {
    format!("{value:#}\n")
}

//! The recipe's own figures of one trial. A step that trained several times (one log with ten
//! runs, a log for each) is as many trials.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use itertools::Itertools as _;

use super::figures::{self, FigureReadError, OtherPatterns, TextFile, for_each_line};
use super::identity::{FigureOfFile, addends, text_log, training_log};
use super::texts::TextError;
use crate::verdict::{FigureValue, TrialEvidence, TrialLog, table_name};
use retrial_mlperf::mllog::{
    SAMPLES_TO_CONVERGE, TIME_TO_TRAIN, TrainingLogError, TrainingRun, TrainingRunReader,
};
use retrial_readings::accumulator::SingleValueError;
use retrial_readings::units;
use retrial_recipe::model::{FigureLocator, FigureSource, MatchSelection, MllogFigure, OrderedMap};

/// The parameter that holds a trial's samples to converge.
pub use crate::verdict::convergence::{BATCH_SIZE_PARAMETER, SAMPLES_PARAMETER};

/// The recipe's own figures of one trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialReadings {
    /// The one of several runs of the step: the file's name, or its place in the log.
    pub run: Option<String>,
    /// The figures that were read, by name.
    pub figures: BTreeMap<String, FigureValue>,
    /// The reason for which a figure is not among them.
    pub missing: BTreeMap<String, String>,
    /// The missing figures that a record announces.
    pub announced: BTreeSet<String>,
    /// Further parameters from the log.
    pub parameters: BTreeMap<String, f64>,
    pub logs: Vec<TrialLog>,
}

impl TrialReadings {
    /// Adds what was read to a trial.
    pub fn add_to_trial(self, trial: &mut TrialEvidence) {
        trial.figures.extend(self.figures);
        trial.missing.extend(self.missing);
        trial.announced.extend(self.announced);
        trial.parameters.extend(self.parameters);
        trial.logs.extend(self.logs);
        if let Some(run) = self.run {
            trial.path = format!("{}/{run}", trial.path);
        }
    }

    fn insert_figure(
        &mut self,
        name: &str,
        source: &FigureSource,
        others: &OtherPatterns<'_>,
        texts: &[TextFile],
    ) {
        // The verdict reports a missing figure: it knows whether the figure is required.
        match figures::find_figure(name, source, others, texts) {
            Ok(found) => {
                self.figures.extend(found.figures);
                self.announced.extend(found.missing.keys().cloned());
                self.missing.extend(found.missing);
            }
            Err(unread) => self.insert_missing(name, unread),
        }
    }

    fn insert_missing(&mut self, name: &str, unread: FigureReadError) {
        if matches!(unread, FigureReadError::Fault(_)) {
            self.announced.insert(name.to_owned());
        }
        self.missing.insert(name.to_owned(), unread.into_reason());
    }

    /// Adds those of the texts of which a figure was read: the output of a check that finds nothing is the
    /// same in every trial. A sum or mean of what is no measurement of its own is no figure.
    fn add_logs(&mut self, declared: &OrderedMap<FigureSource>, texts: &[TextFile]) {
        let is_reduced = |name: &str| {
            let named =
                declared.iter().find(|(declared, _)| declared == table_name(name).unwrap_or(name));
            named.is_some_and(|(_, source)| {
                matches!(source.match_selection(), MatchSelection::Sum | MatchSelection::Mean)
            })
        };
        let mut faults = Vec::new();
        for text in texts.iter().unique_by(|text| (&text.directory, &text.file)) {
            let files = text.matching_files().unwrap_or_default();
            let names: Vec<String> =
                files.iter().map(|file| file.file.display().to_string()).collect();
            let is_of_text =
                |figure: &FigureValue| names.iter().any(|name| figure.is_read_from(name));
            let figures: Vec<(&String, FigureOfFile<'_>)> = self
                .figures
                .iter()
                .filter(|(_, figure)| is_of_text(figure))
                .map(|(name, figure)| (name, (figure, is_reduced(name))))
                .collect();
            let mut logs = Vec::new();
            for (file, name) in files.iter().zip(&names) {
                let of_file: Vec<_> = figures
                    .iter()
                    .map(|(_, figure)| *figure)
                    .filter(|(figure, reduced)| *reduced || figure.is_read_from(name))
                    .collect();
                logs.extend((!of_file.is_empty()).then(|| text_log(file, &of_file)).flatten());
            }
            for (name, (figure, _)) in figures.iter().filter(|(_, (_, is_reduced))| *is_reduced) {
                let fault = addends::find_fault(figure, &files, &logs);
                faults.extend(fault.map(|fault| ((*name).clone(), fault)));
            }
            self.logs.extend(logs);
        }
        for (name, reason) in faults {
            self.figures.remove(&name);
            self.insert_missing(&name, FigureReadError::Fault(reason));
        }
    }
}

/// Reads every figure: one reading, or one for each training run.
pub fn read_trial_figures(
    figures: &OrderedMap<FigureSource>,
    texts: &dyn Fn(&FigureSource) -> Vec<TextFile>,
) -> Vec<TrialReadings> {
    let logs = TrainingLogs::from_texts(figures, texts);
    let mut readings: Vec<TrialReadings> =
        (0..logs.run_count().max(1)).map(|run| logs.read_run(run)).collect();
    let mut searched: Vec<Vec<TextFile>> = vec![Vec::new(); readings.len()];
    for (name, source) in figures {
        if matches!(source.find, FigureLocator::Mllog(_)) {
            continue;
        }
        let others = OtherPatterns::of_figures(figures, source);
        for (run, reading) in readings.iter_mut().enumerate() {
            // A log for each run: what is printed in it is that run's.
            let file = logs.own_file(run, source);
            let texts = file.map_or_else(|| texts(source), |file| vec![file]);
            reading.insert_figure(name, source, &others, &texts);
            searched[run].extend(texts);
        }
    }
    for (reading, texts) in readings.iter_mut().zip(searched) {
        reading.add_logs(figures, &texts);
    }
    readings
}

/// The reason why no run of training logs can be read.
#[derive(Debug, thiserror::Error)]
enum TrainingLogsError {
    #[error("there is no output to search")]
    NoOutput,
    #[error("{}: {source}", file.display())]
    Text { file: PathBuf, source: TextError },
    #[error("{}: {source}", file.display())]
    Runs { file: PathBuf, source: TrainingLogError },
    #[error("{}: {}: {source}", glob.display(), file.display())]
    RunsOfOne { glob: PathBuf, file: PathBuf, source: TrainingLogError },
}

/// The training logs that figures are read of, run by run.
struct TrainingLogs<'a> {
    /// The figures, in the order in which the parser got them.
    figures: Vec<(&'a String, &'a FigureSource, &'a MllogFigure)>,
    /// The file of the logs, as the recipe writes it.
    file: Option<String>,
    runs: Result<Vec<(TextFile, TrainingRun)>, TrainingLogsError>,
    several_files: bool,
}

impl<'a> TrainingLogs<'a> {
    fn from_texts(
        figures: &'a OrderedMap<FigureSource>,
        texts: &dyn Fn(&FigureSource) -> Vec<TextFile>,
    ) -> Self {
        let mllog_figures: Vec<_> = figures
            .iter()
            .filter_map(|(name, source)| match &source.find {
                FigureLocator::Mllog(figure) => Some((name, source, figure)),
                _ => None,
            })
            .collect();
        // The log with the time to train; other figures of the log are read there too.
        let leader = mllog_figures
            .iter()
            .find(|(_, _, figure)| figure.key == TIME_TO_TRAIN)
            .or(mllog_figures.first());
        let keys: Vec<(String, MatchSelection)> = mllog_figures
            .iter()
            .map(|(_, source, figure)| (figure.key.clone(), source.match_selection()))
            .collect();
        let runs = leader.map_or(Ok(Vec::new()), |(_, source, _)| {
            let runs = texts(source).into_iter().map(|text| parse_runs(&text, &keys));
            runs.find_or_last(Result::is_ok).unwrap_or(Err(TrainingLogsError::NoOutput))
        });
        let several_files =
            runs.as_ref().is_ok_and(|runs| !runs.iter().map(|(text, _)| &text.file).all_equal());
        Self {
            file: leader.and_then(|(_, source, _)| source.file.as_ref().map(|file| file.0.clone())),
            figures: mllog_figures,
            runs,
            several_files,
        }
    }

    fn run_count(&self) -> usize {
        self.runs.as_ref().map_or(0, Vec::len)
    }

    /// Returns the file of one run, where each run has its own and this figure is read there.
    fn own_file(&self, run: usize, source: &FigureSource) -> Option<TextFile> {
        let same = source.file.as_ref().map(|file| &file.0) == self.file.as_ref();
        let runs = self.runs.as_ref().ok().filter(|_| same && self.several_files)?;
        runs.get(run).map(|(file, _)| file.clone())
    }

    fn read_run(&self, index: usize) -> TrialReadings {
        let mut reading = TrialReadings::default();
        let run = match &self.runs {
            Ok(runs) => runs.get(index),
            Err(error) => {
                for (name, ..) in &self.figures {
                    reading.missing.insert((*name).clone(), error.to_string());
                }
                return reading;
            }
        };
        let Some((file, run)) = run else {
            return reading;
        };
        reading.logs.push(training_log(file, run));
        if self.several_files {
            reading.run = file.file.file_name().map(|name| name.to_string_lossy().into_owned());
        } else if self.run_count() > 1 {
            reading.run = Some(format!("run {} of the log", index + 1));
        }
        let parameters = [
            (BATCH_SIZE_PARAMETER, run.batch_size),
            (SAMPLES_PARAMETER, run.samples_to_converge()),
        ];
        for (name, value) in parameters {
            let parameter = value.map(|value| (name.to_owned(), value));
            reading.parameters.extend(parameter);
        }
        for (position, (name, source, figure)) in self.figures.iter().enumerate() {
            match read_value(file, run, position, source, figure) {
                Ok(value) => drop(reading.figures.insert((*name).clone(), value)),
                Err(unread) => {
                    let path = file.file.display().to_string();
                    reading.insert_missing(name, unread.with_path(&path));
                }
            }
        }
        reading
    }
}

fn parse_runs(
    text: &TextFile,
    keys: &[(String, MatchSelection)],
) -> Result<Vec<(TextFile, TrainingRun)>, TrainingLogsError> {
    let unreadable =
        |source: TextError| TrainingLogsError::Text { file: text.file.clone(), source };
    let mut all = Vec::new();
    for file in text.matching_files().map_err(unreadable)? {
        let mut runs = TrainingRunReader::new(keys);
        let mut opened = file.open().map_err(unreadable)?;
        for_each_line(&mut opened, |line| runs.feed_line(line)).map_err(unreadable)?;
        let finished = runs.finish().map_err(|source| {
            let (glob, file) = (text.file.clone(), file.file.clone());
            if glob == file {
                TrainingLogsError::Runs { file, source }
            } else {
                TrainingLogsError::RunsOfOne { glob, file, source }
            }
        })?;
        all.extend(finished.into_iter().map(|run| (file.clone(), run)));
    }
    Ok(all)
}

fn read_value(
    file: &TextFile,
    run: &TrainingRun,
    position: usize,
    source: &FigureSource,
    figure: &MllogFigure,
) -> Result<FigureValue, FigureReadError> {
    let own = source.unit.as_deref();
    match figure.key.as_str() {
        TIME_TO_TRAIN => {
            let unit = own.unwrap_or("min");
            let factor = units::conversion_factor("min", unit).ok_or_else(|| {
                FigureReadError::Fault(format!("a time cannot be converted to `{unit}`"))
            })?;
            let time_to_train = run.minutes_to_train(figure.target.as_ref());
            let minutes = time_to_train.map_err(FigureReadError::fault)?;
            Ok(FigureValue::new(minutes * factor, unit))
        }
        SAMPLES_TO_CONVERGE => {
            run.check_evaluation().map_err(FigureReadError::fault)?;
            let samples = run.samples_to_converge().ok_or_else(|| {
                let reason = "none of its eval_accuracy events has samples_count or epoch_num";
                FigureReadError::Absent(reason.to_owned())
            })?;
            Ok(FigureValue::new(samples, own.unwrap_or("samples")))
        }
        _ => {
            let accumulator = run
                .requested_accumulator(position)
                .ok_or_else(|| FigureReadError::Fault("it was not requested".to_owned()))?;
            let files = std::slice::from_ref(file);
            if let Some(record) = accumulator.unreadable_announcement() {
                let line = figures::locate_origin(files, record.place).line.unwrap_or(0);
                let reason = format!("line {line}: {}", record.error);
                return Err(FigureReadError::Fault(reason));
            }
            let mut origin = figures::locate_origin(files, accumulator.deciding_place());
            origin.passed_over = figures::skipped_records(files, accumulator);
            origin.repeated = figures::repeated_values(source, accumulator);
            let single = accumulator.clone().into_single_value();
            let printed = single.map_err(|error| match error {
                SingleValueError::NoValue => FigureReadError::absent(error),
                _ => FigureReadError::fault(error),
            })?;
            let value = FigureValue::new(printed.value, own.unwrap_or_default());
            Ok(value.with_half_digit(printed.half_digit).with_origin(origin))
        }
    }
}

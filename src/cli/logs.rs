//! `retrial logs`: the output of a run's steps, once or as it grows.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::arguments::LogsArguments;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::site;
use crate::app::terminal;
use retrial_cluster::job::liveness::Liveness;
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_plan::Plan;
use retrial_plan::step::Step;
use retrial_readings::lines::{LineSplitter, StreamLine};
use retrial_readings::sanitize;
use retrial_results::verdict::ExitCode;
use retrial_store::StoreError;
use retrial_store::open::open_beneath;

/// The file of a step's output, in the step's directory.
const OUTPUT_FILE: &str = "output.log";

/// Prints the output of one step, or of all.
pub fn print_logs(global: &GlobalOptions, arguments: &LogsArguments) -> Result<ExitCode, Failure> {
    let step = arguments.step.as_deref();
    let whole = global.home.find_run(&arguments.run)?;
    let directory = NodeAllocation::machine_directory(&whole, arguments.node.as_deref())?;
    let plan: Plan = directory.read_json("plan.json")?;
    let is_selected = |planned: &&Step| {
        step.is_none_or(|step| {
            planned.name == step || planned.number.to_string() == step.trim_start_matches('0')
        })
    };
    let format = match global.output {
        OutputFormat::Json => LogFormat::Json,
        _ if arguments.raw => LogFormat::Raw,
        _ => LogFormat::Text,
    };
    let has_headers = step.is_none() && format != LogFormat::Json;
    let mut tails: Vec<StepLogTail> = plan
        .steps
        .iter()
        .filter(is_selected)
        .map(|planned| {
            let path = directory.steps_directory().join(planned.directory_name());
            StepLogTail::new(&planned.name, path, has_headers, format)
        })
        .collect();
    if tails.is_empty() {
        let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "{}: no step {}; it has {}",
            directory.id(),
            step.unwrap_or_default(),
            names.join(", ")
        )));
    }
    let mut printed = 0;
    let mut liveness = Liveness::new(&whole);
    loop {
        // Determined before reading: output written until then is read in this iteration.
        let continues = arguments.follow && liveness.is_live(site::has_job);
        for tail in &mut tails {
            match tail.print_new() {
                Ok(bytes) => printed += bytes,
                Err(PrintError::Read(error)) => return Err(error.into()),
                Err(PrintError::Write(error)) => {
                    terminal::record_write_failure(Err(error));
                    return Ok(ExitCode::Success);
                }
            }
        }
        if !continues {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    for tail in &mut tails {
        terminal::record_write_failure(tail.finish());
    }
    if printed == 0 && !global.quiet {
        terminal::print_note(&format!(
            "{}: no output{}",
            directory.id(),
            step.map(|step| format!(" of {step}")).unwrap_or_default()
        ));
    }
    Ok(ExitCode::Success)
}

#[derive(Debug, thiserror::Error)]
enum PrintError {
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] StoreError),
    /// Standard output cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// The part of one step's output that was not printed yet.
struct StepLogTail {
    name: String,
    /// The directory of the step below `steps`, with its output.
    directory: PathBuf,
    file: Option<File>,
    splitter: LineSplitter,
    headers: bool,
    has_header: bool,
    format: LogFormat,
}

/// How output is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFormat {
    /// Lines without control characters.
    Text,
    /// The bytes as the step wrote them.
    Raw,
    /// An object for each line.
    Json,
}

/// A line of output as programs read it.
#[derive(Serialize)]
struct LogLine<'a> {
    step: &'a str,
    line: &'a str,
    /// The next object continues the line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    continues: bool,
}

impl StepLogTail {
    fn new(name: &str, directory: PathBuf, headers: bool, format: LogFormat) -> Self {
        Self {
            name: name.to_owned(),
            directory,
            file: None,
            splitter: LineSplitter::new(),
            headers,
            has_header: false,
            format,
        }
    }

    /// Prints the output since the last call; returns the number of bytes.
    fn print_new(&mut self) -> Result<usize, PrintError> {
        let mut printed = self.print_file()?;
        if self.is_replaced() {
            // The step was started again: its earlier output is in another file.
            self.finish()?;
            self.file = open_beneath(&self.directory, Path::new(OUTPUT_FILE)).ok();
            self.has_header = false;
            printed += self.print_file()?;
        }
        Ok(printed)
    }

    fn print_file(&mut self) -> Result<usize, PrintError> {
        let Some(file) = &mut self.file else {
            return Ok(0);
        };
        let mut out = std::io::stdout().lock();
        let mut block = vec![0; 64 << 10];
        let mut printed = 0;
        loop {
            let count = file
                .read(&mut block)
                .map_err(StoreError::io("read", &self.directory.join(OUTPUT_FILE)))?;
            if count == 0 {
                out.flush()?;
                return Ok(printed);
            }
            if self.headers && !std::mem::replace(&mut self.has_header, true) {
                writeln!(out, "==> {} <==", self.name)?;
            }
            printed += count;
            if self.format == LogFormat::Raw {
                out.write_all(&block[..count])?;
                continue;
            }
            let mut text = String::new();
            let (name, format) = (&self.name, self.format);
            self.splitter.push(&block[..count], |line| text += &format.print(name, &line));
            out.write_all(text.as_bytes())?;
        }
    }

    /// Returns whether the file was replaced since it was opened, or not opened yet.
    fn is_replaced(&self) -> bool {
        let Ok(current) = std::fs::symlink_metadata(self.directory.join(OUTPUT_FILE)) else {
            return false;
        };
        let opened = self.file.as_ref().and_then(|file| file.metadata().ok());
        opened.is_none_or(|opened| opened.ino() != current.ino())
    }

    /// Prints a last line that has no line break.
    fn finish(&mut self) -> std::io::Result<()> {
        let mut text = String::new();
        let (name, format) = (&self.name, self.format);
        self.splitter.finish(|line| text += &format.print(name, &line));
        std::io::stdout().lock().write_all(text.as_bytes())
    }
}

impl LogFormat {
    /// Returns a line of a step; a piece of a long one has no line break.
    fn print(self, step: &str, line: &StreamLine<'_>) -> String {
        if self == Self::Json {
            return terminal::to_json_line(&LogLine {
                step,
                line: &line.text,
                continues: line.continues,
            });
        }
        let end = if line.continues { "" } else { "\n" };
        format!("{}{end}", sanitize(&line.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_log_is_not_a_standard_output_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut tail =
            StepLogTail::new("main", directory.path().to_owned(), false, LogFormat::Text);
        // Reading a directory fails, as a disk does.
        tail.file = Some(File::open(directory.path()).unwrap());
        let Err(PrintError::Read(error)) = tail.print_file() else {
            panic!("it was read");
        };
        let path = directory.path().join(OUTPUT_FILE).display().to_string();
        assert!(error.to_string().contains(&path), "{error}");
    }
}

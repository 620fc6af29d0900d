//! Reads the files that another process, such as a job, writes into the directory of a run: its journal, the output of
//! the current step, and the samples of its telemetry. Files are reopened for each poll, since a network file system
//! shows another host's writes when a file is opened.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::incoming_file::{IncomingFile, MAX_POLL_BYTES};
use super::samples::SampleReader;
use retrial_readings::lines::LineSplitter;
use retrial_readings::sanitize;
use retrial_run::tail::OutputTail;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind, LiveEvent};
use retrial_store::open::open_beneath;

/// Bytes that are read to show the latest lines.
const MAX_TAIL_BYTES: u64 = 4096;

/// The events of a run that another process executes, in the order of its journal.
pub struct RunEvents {
    run: RunDirectory,
    journal: IncomingFile,
    step: Option<StepOutput>,
    samples: SampleReader,
    all_output: bool,
}

/// The output of the step under way.
struct StepOutput {
    /// The event that started the step: events of its output are made from it.
    event: Event,
    path: PathBuf,
    position: u64,
    tail: OutputTail,
    splitter: LineSplitter,
}

impl RunEvents {
    /// Reads the events of a run from a position in its journal; every line of output with `all_output`.
    pub fn open_at(run: &RunDirectory, position: u64, all_output: bool) -> Self {
        Self {
            run: run.clone(),
            journal: IncomingFile::open_at(run.journal_path(), position),
            step: None,
            samples: SampleReader::open(run),
            all_output,
        }
    }

    /// Returns the events since the last call, with the output and the latest sample of the step under way.
    pub fn poll(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for event in self.journal.poll::<Event>() {
            match &event.what {
                EventKind::StepStarted { .. } | EventKind::StepReattached { .. } => {
                    self.step = StepOutput::from_event(&event);
                }
                EventKind::StepEnded { .. } => {
                    self.poll_output(&mut events, true);
                    self.step = None;
                }
                _ => {}
            }
            events.push(event);
        }
        self.poll_output(&mut events, false);
        if let (Some(live), Some(step)) = (self.samples.poll(), &self.step) {
            events.push(Event {
                what: LiveEvent::Telemetry { live }.into(),
                ..step.event.with_current_time()
            });
        }
        events
    }

    fn poll_output(&mut self, events: &mut Vec<Event>, at_the_end: bool) {
        let all = self.all_output;
        let Some(step) = &mut self.step else { return };
        let lines = step.poll_lines(&self.run, all, at_the_end);
        events.extend(lines.into_iter().map(|line| Event {
            what: LiveEvent::Output { line }.into(),
            ..step.event.with_current_time()
        }));
    }
}

impl StepOutput {
    fn from_event(event: &Event) -> Option<Self> {
        let name = event.name.as_deref()?;
        Some(Self {
            path: PathBuf::from(format!("{:02}-{name}", event.step?)).join("output.log"),
            event: event.clone(),
            position: 0,
            tail: OutputTail::default(),
            splitter: LineSplitter::new(),
        })
    }

    /// Returns the lines since the last call: all of them, or the latest.
    fn poll_lines(&mut self, run: &RunDirectory, all: bool, at_the_end: bool) -> Vec<String> {
        let Ok(mut file) = open_beneath(&run.steps_directory(), &self.path) else {
            return Vec::new();
        };
        let length = file.metadata().map_or(0, |status| status.len());
        if length < self.position {
            // It was started again.
            self.position = 0;
        }
        let mut from = self.position;
        if !all && length.saturating_sub(from) > MAX_TAIL_BYTES {
            from = length - MAX_TAIL_BYTES;
            self.tail.mark_gap();
        }
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(from))
            .and_then(|_| file.take(MAX_POLL_BYTES).read_to_end(&mut bytes));
        self.position = from + read.unwrap_or(0) as u64;
        if !all {
            self.tail.push(&bytes);
            return self.tail.drain_lines(at_the_end);
        }
        let mut lines = Vec::new();
        self.splitter.push(&bytes, |line| lines.push(sanitize(&line.text).into_owned()));
        if at_the_end {
            self.splitter.finish(|line| lines.push(sanitize(&line.text).into_owned()));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;
    use jiff::Timestamp;
    use retrial_store::Home;
    use retrial_store::journal::StepEnd;

    fn event(step: u32, what: EventKind) -> String {
        let event = Event {
            time: Timestamp::UNIX_EPOCH,
            since_boot: None,
            node: "local".to_owned(),
            container: None,
            step: Some(step),
            name: Some("main".to_owned()),
            what,
        };
        serde_json::to_string(&event).unwrap() + "\n"
    }

    #[test]
    fn events_and_output_are_read_incrementally() {
        let directory = tempfile::tempdir().unwrap();
        let run = Home::from_root(directory.path().to_owned()).create_run_directory("r").unwrap();
        let mut journal = File::create(run.journal_path()).unwrap();
        journal.write_all(b"earlier\n").unwrap();
        let mut events = RunEvents::open_at(&run, 8, true);
        assert_eq!(events.poll(), []);
        let started = event(4, EventKind::StepStarted { summary: "x".to_owned(), timeout_s: None });
        let (start, end) = started.split_at(20);
        journal.write_all(start.as_bytes()).unwrap();
        assert_eq!(events.poll(), []);
        journal.write_all(end.as_bytes()).unwrap();
        assert_eq!(events.poll().len(), 1);
        let output = run.steps_directory().join("04-main/output.log");
        std::fs::create_dir_all(output.parent().unwrap()).unwrap();
        std::fs::write(&output, "one\ntw").unwrap();
        let lines = |events: Vec<Event>| -> Vec<String> {
            let line = |event: Event| match event.what {
                EventKind::Live(LiveEvent::Output { line }) => line,
                other => format!("{other:?}").chars().take(9).collect(),
            };
            events.into_iter().map(line).collect()
        };
        assert_eq!(lines(events.poll()), ["one"]);
        std::fs::write(&output, "one\ntwo\nthree").unwrap();
        let ended = StepEnd::Done { exit_code: Some(0) };
        let ended = event(4, EventKind::StepEnded { end: ended, seconds: 1.0 });
        journal.write_all(ended.as_bytes()).unwrap();
        assert_eq!(lines(events.poll()), ["two", "three", "StepEnded"]);
    }
}

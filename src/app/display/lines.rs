//! Reporters that write lines: plain, JSON, and failures only.

use std::io::Write;

use super::Reporter;
use retrial_report::progress::sentence;
use retrial_store::journal::{Event, EventKind, StepEnd};

/// Writes the lines of each event.
pub struct LineReporter<W, F> {
    output: W,
    lines: F,
}

impl<W: Write, F: FnMut(&Event) -> Vec<String>> LineReporter<W, F> {
    /// Writes what `lines` makes of an event to `to`.
    pub fn new(output: W, lines: F) -> Self {
        Self { output, lines }
    }
}

impl<W: Write + Send, F: FnMut(&Event) -> Vec<String> + Send> Reporter for LineReporter<W, F> {
    fn report_event(&mut self, event: &Event) {
        let mut text = (self.lines)(event).join("\n");
        if !text.is_empty() {
            text.push('\n');
            // At once, so that no line of another program comes between them. A reader that is
            // gone (`| head`) does not end the run.
            let _ = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
        }
    }
}

/// An event as JSON; progress and output only if `verbose`.
pub fn to_json_lines(event: &Event, verbose: bool) -> Vec<String> {
    let shown = (verbose || event.what.is_stored()).then(|| serde_json::to_string(event));
    shown.into_iter().flatten().collect()
}

/// The failure of a step; nothing for other events.
pub fn failure_lines(event: &Event) -> Vec<String> {
    match &event.what {
        EventKind::StepEnded { end: end @ StepEnd::Failed { .. }, seconds } => {
            let first = format!(
                "{}: {}",
                sentence::step_label(event),
                sentence::describe_step_end(end, *seconds)
            );
            [vec![first], sentence::failure_details(end)].concat()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_report::progress::plain::PlainProgress;
    use retrial_report::progress::remaining_time::RemainingTime;
    use retrial_report::progress::tests::script;

    fn write_events(events: &[Event], lines: impl FnMut(&Event) -> Vec<String> + Send) -> String {
        let mut out = Vec::new();
        let mut reporter = LineReporter::new(&mut out, lines);
        for event in events {
            reporter.report_event(event);
        }
        reporter.finish();
        String::from_utf8(out).unwrap()
    }

    fn read_back(events: &[Event], verbose: bool) -> Vec<Event> {
        let text = write_events(events, |event| to_json_lines(event, verbose));
        let lines = text.lines();
        lines
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    fn stored(events: Vec<Event>) -> Vec<Event> {
        events.into_iter().filter(|event| event.what.is_stored()).collect()
    }

    /// Those of the moment are for who looks at them, and no journal has them.
    #[test]
    fn every_event_that_is_stored_is_read_back() {
        for events in [script::run(), script::resumed(), script::hostile()] {
            let events = stored(events);
            assert_eq!(read_back(&events, true), events);
        }
    }

    #[test]
    fn progress_and_output_are_written_only_if_verbose() {
        let written = |verbose| {
            let lines = write_events(&script::run(), |event| to_json_lines(event, verbose));
            lines.matches("\"event\":\"output\"").count()
        };
        assert_eq!(read_back(&script::run(), false), stored(script::run()));
        assert!(written(true) > 0);
        assert_eq!(written(false), 0);
    }

    #[test]
    fn quiet_reports_only_failures() {
        insta::assert_snapshot!(write_events(&script::run(), failure_lines), @r"
        07 offline-accuracy: failed after 2m 11s: it ended with exit code 2
            after 3 of 4 shards
            the last lines of its output:
            | loading shard 3
            | Traceback (most recent call last):
            | RuntimeError: HIP out of memory
            help: read its output; to inspect the container, use --keep on-failure and `retrial shell`
        ");
    }

    #[test]
    fn plain_writes_the_lines_of_every_event() {
        let mut plain = PlainProgress::new(false, RemainingTime::default());
        let text = write_events(&script::run(), |event| plain.report_event(event));
        assert!(
            text.starts_with("run 20250615-llama2-70b-k3f9: 9 steps\n01 pull: 1 of 4 layers, "),
            "{text}"
        );
        assert!(text.ends_with("exit code 4\n"), "{text}");
    }
}

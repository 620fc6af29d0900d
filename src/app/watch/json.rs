//! One event a line, for programs.

use std::io::Write;

use super::Reporter;
use crate::store::journal::Event;

/// Writes events as JSON; progress and output only where everything is asked for.
pub struct Json<W> {
    to: W,
    verbose: bool,
}

impl<W: Write> Json<W> {
    /// Writes to `to`.
    pub fn new(to: W, verbose: bool) -> Self {
        Self { to, verbose }
    }
}

impl<W: Write + Send> Reporter for Json<W> {
    fn event(&mut self, event: &Event) {
        if !self.verbose && !event.what.is_kept() {
            return;
        }
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            // A reader that is gone (`| head`) does not end the run.
            let _ = self.to.write_all(&line).and_then(|()| self.to.flush());
        }
    }

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::progress::tests::script;

    fn read_back(events: &[Event], verbose: bool) -> Vec<Event> {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out, verbose);
        for event in events {
            json.event(event);
        }
        json.finish();
        let text = String::from_utf8(out).unwrap();
        text.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    #[test]
    fn every_event_is_read_back() {
        for events in [script::run(), script::resumed(), script::hostile()] {
            assert_eq!(read_back(&events, true), events);
        }
    }

    #[test]
    fn progress_and_output_are_for_the_verbose() {
        let kept: Vec<Event> = script::run()
            .into_iter()
            .filter(|event| event.what.is_kept())
            .collect();
        assert_eq!(read_back(&script::run(), false), kept);
    }
}

//! Reporters that write lines: plain, and quiet.

use std::io::Write;

use super::Reporter;
use crate::report::progress::{plain, sentence};
use crate::store::journal::{Event, StepEnd, What};

/// Every event of note as a plain line.
pub struct Plain<W> {
    to: W,
    lines: plain::Plain,
}

impl<W: Write> Plain<W> {
    /// Writes to `to`, with every line of output where `verbose`.
    pub fn new(to: W, verbose: bool) -> Self {
        Self {
            to,
            lines: plain::Plain::new(verbose),
        }
    }
}

impl<W: Write + Send> Reporter for Plain<W> {
    fn event(&mut self, event: &Event) {
        write(&mut self.to, &self.lines.take(event));
    }

    fn finish(&mut self) {}
}

/// Only what failed.
pub struct Quiet<W> {
    to: W,
}

impl<W: Write> Quiet<W> {
    /// Writes to `to`.
    pub fn new(to: W) -> Self {
        Self { to }
    }
}

impl<W: Write + Send> Reporter for Quiet<W> {
    fn event(&mut self, event: &Event) {
        if let What::StepEnded {
            end: end @ StepEnd::Failed { .. },
            seconds,
        } = &event.what
        {
            let mut lines = vec![format!(
                "{}: {}",
                sentence::step(event),
                sentence::end(end, *seconds)
            )];
            lines.extend(sentence::details(end));
            write(&mut self.to, &lines);
        }
    }

    fn finish(&mut self) {}
}

/// Writes lines at once, so that those of another program never stand between them.
fn write(to: &mut impl Write, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let text = lines.join("\n") + "\n";
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::progress::tests::script;

    #[test]
    fn quiet_tells_failures_and_nothing_else() {
        let mut out = Vec::new();
        let mut quiet = Quiet::new(&mut out);
        for event in &script::run() {
            quiet.event(event);
        }
        quiet.finish();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        07 offline-accuracy: failed after 2m 11s: it ended with exit code 2
            after 3 of 4 shards
            the last lines of its output:
            | loading shard 3
            | Traceback (most recent call last):
            | RuntimeError: HIP out of memory
            help: read its output; look into the container with --keep on-failure and `retrial shell`
        ");
    }

    #[test]
    fn plain_writes_the_lines_of_every_event() {
        let mut out = Vec::new();
        let mut plain = Plain::new(&mut out, false);
        for event in &script::run() {
            plain.event(event);
        }
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("run 20250615-llama2-70b-k3f9: 9 steps\n01 pull: started: "),
            "{text}"
        );
        assert!(text.ends_with("exit code 4\n"), "{text}");
    }
}

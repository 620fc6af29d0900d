//! Watches a command for signs of a failure while it is followed.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use super::children::ChildWatch;
use super::finding::FailureFinding;
use crate::step::StepCommand;
use crate::step::output::open_output;
use retrial_plan::failure::{FailedLine, LineSearch};
use retrial_store::journal::{StepEnd, StepFault};

const READ_BLOCK_BYTES: usize = 256 << 10;
/// The maximum number of blocks per read, so that signals are still handled.
const MAX_BLOCKS_PER_READ: usize = 16;
/// The time that a command may continue after a line that shows its failure: it may be printing details.
const DETAILS_GRACE_PERIOD: Duration = Duration::from_secs(2);

pub struct FailureWatch {
    output: Option<OutputSearch>,
    children: ChildWatch,
    /// The first sign, and when it was detected.
    first_finding: Option<(FailureFinding, Instant)>,
}

struct OutputSearch {
    file: Option<File>,
    search: LineSearch,
    block: Vec<u8>,
    bytes_read: u64,
    /// Output from before the search has no known time.
    old_bytes: u64,
}

impl FailureWatch {
    /// Starts the watch of a command that was started. Earlier output is searched, too.
    ///
    /// # Errors
    /// If a pattern is no regular expression.
    pub fn new(command: &StepCommand<'_>) -> Result<Self, StepEnd> {
        let signs = &command.exec.failure;
        let search = LineSearch::new(signs, Instant::now()).map_err(|error| {
            StepEnd::failure(StepFault::Request, error.to_string(), "correct `fail_on`")
        })?;
        let has_patterns = !signs.output.is_empty() || signs.progress.is_some();
        let output = has_patterns.then(|| {
            let file = open_output(&command.session).ok();
            let status = file.as_ref().and_then(|file| file.metadata().ok());
            OutputSearch {
                file,
                search,
                block: vec![0; READ_BLOCK_BYTES],
                bytes_read: 0,
                old_bytes: status.map_or(0, |status| status.len()),
            }
        });
        Ok(Self { output, children: ChildWatch::default(), first_finding: None })
    }

    /// Searches the output since the last call.
    pub fn search_new_output(&mut self, command: &StepCommand<'_>) -> Result<(), StepEnd> {
        if let Some((finding, since)) = &self.first_finding {
            if since.elapsed() < DETAILS_GRACE_PERIOD {
                return Ok(());
            }
            return Err(finding.to_step_end(None));
        }
        let age = command.session.age();
        let Some(output) = &mut self.output else {
            return Ok(());
        };
        for _ in 0..MAX_BLOCKS_PER_READ {
            let (count, finding) = output.search_block(age);
            if count == 0 || finding.is_some() {
                let rest = || output.search.search_unterminated(Some(age), Instant::now(), false);
                self.first_finding =
                    finding.or_else(rest).map(|found| to_timed_finding(command, found));
                break;
            }
        }
        if self.first_finding.is_some() {
            return Ok(());
        }
        let searched = self.output.as_ref();
        let stalled = searched.and_then(|output| output.search.stalled_rule(Instant::now()));
        stalled.map_or(Ok(()), |rule| {
            let finding = FailureFinding::NoProgress {
                pattern: rule.pattern.clone(),
                within_s: rule.within.as_secs(),
            };
            Err(finding.to_step_end(None))
        })
    }

    /// Checks its child processes, at intervals.
    pub async fn probe_children(&mut self, command: &StepCommand<'_>) -> Result<(), StepEnd> {
        let finding = self.children.probe_children(command).await;
        finding.map_or(Ok(()), |finding| Err(finding.to_step_end(None)))
    }

    /// Searches all output to its last line: the command has ended, or the step that needs it has.
    pub async fn search_remaining_output(
        &mut self,
        command: &StepCommand<'_>,
        exit_code: Option<i64>,
    ) -> Result<(), StepEnd> {
        let age = command.session.age();
        while let Some(output) = self.output.as_mut().filter(|_| self.first_finding.is_none()) {
            let (count, finding) = output.search_block(age);
            let finding = match (finding, count) {
                (None, 0) => output.search.search_unterminated(Some(age), Instant::now(), true),
                (finding, _) => finding,
            };
            self.first_finding = finding.map(|found| to_timed_finding(command, found));
            if count == 0 || command.session.run_session.stop.is_cancelled() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let found = self.first_finding.as_ref();
        found.map_or(Ok(()), |(finding, _)| Err(finding.to_step_end(exit_code)))
    }
}

fn to_timed_finding(command: &StepCommand<'_>, mut found: FailedLine) -> (FailureFinding, Instant) {
    found.line = command.session.run_session.redact(&found.line);
    (FailureFinding::Line(found), Instant::now())
}

impl OutputSearch {
    /// Reads one block. Returns the number of bytes read, and the line of a failure.
    fn search_block(&mut self, age: Duration) -> (usize, Option<FailedLine>) {
        let Some(file) = &mut self.file else {
            return (0, None);
        };
        let count = file.read(&mut self.block).unwrap_or(0);
        let age = (self.bytes_read >= self.old_bytes).then_some(age);
        self.bytes_read += count as u64;
        if count == 0 {
            return (0, None);
        }
        let finding = self.search.push(&self.block[..count], age, Instant::now());
        (count, finding)
    }
}

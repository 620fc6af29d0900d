//! The steps of a run as a page shows them: how each ended, and where its log is.

use std::path::{Component, Path, PathBuf};

use crate::plan::Plan;
use crate::report::content::page::Step;
use crate::store::RunDirectory;
use crate::store::journal::{Event, StepEnd, What};

/// The steps in their order; a log's path is told from the page's directory, where that is known.
pub fn of(
    plan: &Plan,
    events: &[Event],
    directory: &RunDirectory,
    page: Option<&Path>,
) -> Vec<Step> {
    let steps = plan.steps.iter();
    steps
        .map(|step| {
            let log = directory.steps().join(step.directory()).join("output.log");
            let is_log = std::fs::symlink_metadata(&log).is_ok_and(|found| found.is_file());
            let log = match page {
                Some(page) => relative(page, &log),
                None => log,
            };
            let mut shown = Step {
                number: step.number,
                name: step.name.clone(),
                status: "not started".to_owned(),
                log: is_log.then(|| log.display().to_string()),
                ..Step::default()
            };
            let mut ends = events.iter().rev().filter_map(|event| match &event.what {
                What::StepEnded { end, seconds } if event.step == Some(step.number) => {
                    Some((end, *seconds))
                }
                _ => None,
            });
            if let Some((end, seconds)) = ends.next() {
                shown.seconds = Some(seconds);
                tell(&mut shown, end);
            }
            shown
        })
        .collect()
}

fn tell(shown: &mut Step, end: &StepEnd) {
    shown.status = match end {
        StepEnd::Done { .. } => "done".to_owned(),
        StepEnd::Skipped { reason } => {
            shown.seconds = None;
            format!("skipped: {reason}")
        }
        StepEnd::Failed {
            because,
            last_lines,
            ..
        } => {
            shown.failed = true;
            shown.tail.clone_from(last_lines);
            because.clone()
        }
        StepEnd::Stopped => "stopped".to_owned(),
    };
}

/// The way from a directory to a file; both are absolute.
pub fn relative(from: &Path, to: &Path) -> PathBuf {
    let mut up = from.components().peekable();
    let mut down = to.components().peekable();
    while let (Some(one), Some(other)) = (up.peek(), down.peek()) {
        if one != other {
            break;
        }
        up.next();
        down.next();
    }
    let back = up.map(|_| Component::ParentDir);
    back.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "/home/me",
        "/data/runs/a/steps/01/output.log",
        "../../data/runs/a/steps/01/output.log"
    )]
    #[case(
        "/data/runs/a",
        "/data/runs/a/steps/01/output.log",
        "steps/01/output.log"
    )]
    #[case("/", "/a", "a")]
    fn the_way_to_a_log(#[case] from: &str, #[case] to: &str, #[case] way: &str) {
        assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(way));
    }
}

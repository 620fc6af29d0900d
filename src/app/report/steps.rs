//! The steps of a run as a page shows them: how each ended, and where its log is.

use std::path::{Component, Path, PathBuf};

use retrial_plan::Plan;
use retrial_report::content::subject::StepReport;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind};

/// The steps in their order; a log's path is relative to the page's directory, if that is known.
pub fn list_steps(
    plan: &Plan,
    events: &[Event],
    directory: &RunDirectory,
    page: Option<&Path>,
) -> Vec<StepReport> {
    let steps = plan.steps.iter().map(|step| {
        let log = directory.steps_directory().join(step.directory_name()).join("output.log");
        let is_log = std::fs::symlink_metadata(&log).is_ok_and(|metadata| metadata.is_file());
        let step_events = events.iter().filter(|event| event.step == Some(step.number));
        let mut ends = step_events.rev().filter_map(|event| match &event.what {
            EventKind::StepEnded { end, seconds } => Some((end.clone(), *seconds)),
            _ => None,
        });
        StepReport {
            number: step.number,
            name: step.name.clone(),
            end: ends.next(),
            log: is_log.then(|| page_link(page, &log)),
        }
    });
    steps.collect()
}

/// The report in the directory of a run or a batch, if it was written.
pub fn written_report(directory: &Path) -> Option<PathBuf> {
    let report = directory.join(super::PAGE_FILE);
    let is_file = std::fs::symlink_metadata(&report).is_ok_and(|metadata| metadata.is_file());
    is_file.then_some(report)
}

/// The path to a file as a page in a directory links it, or else the whole path.
pub fn page_link(page: Option<&Path>, to: &Path) -> String {
    let path = page.map_or_else(|| to.to_owned(), |page| relative_path(page, to));
    path.display().to_string()
}

/// The way from a directory to a file; both are absolute.
pub fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let mut up = from.components().peekable();
    let mut down = to.components().peekable();
    while let (Some(component), Some(other)) = (up.peek(), down.peek()) {
        if component != other {
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
    #[case("/home/me", "/data/runs/a/steps/01/output.log", "../../data/runs/a/steps/01/output.log")]
    #[case("/data/runs/a", "/data/runs/a/steps/01/output.log", "steps/01/output.log")]
    #[case("/", "/a", "a")]
    fn a_log_is_linked_relative_to_the_page(
        #[case] from: &str,
        #[case] to: &str,
        #[case] way: &str,
    ) {
        assert_eq!(relative_path(Path::new(from), Path::new(to)), Path::new(way));
    }
}

//! Finds the failure of a cell by itself: by the steps of its run and how they ended, never by a text.

use crate::journal::CellFailure;
use retrial_plan::Plan;
use retrial_plan::failure::FailureKind;
use retrial_plan::step::{Action, Step};
use retrial_recipe::model::StepLocation;
use retrial_store::journal::{JournalState, StepEnd, StepFault};

/// Returns the failure of a run that is its cell's own: the image does not exist, cannot be built, has no code for the
/// GPUs, or a command in a container failed before anything was measured.
pub(super) fn find_cell_failure(plan: &Plan, state: &JournalState) -> Option<CellFailure> {
    let end_of = |step: &Step| state.ended.get(&step.number).map(|(end, _)| end);
    let is_measured =
        |step: &Step| step.runs_measurement() && end_of(step).is_some_and(StepEnd::is_done);
    if plan.steps.iter().any(is_measured) {
        return None;
    }
    plan.steps.iter().find_map(|step| {
        let Some(end @ StepEnd::Failed { fault, .. }) = end_of(step) else {
            return None;
        };
        let kind = end.cause().map(|cause| cause.kind);
        match (&step.action, fault) {
            (Action::Pull { reference, .. }, _) if kind == Some(FailureKind::NoSuchTag) => {
                Some(CellFailure::NoSuchTag { image: reference.clone() })
            }
            (Action::Build(_), StepFault::Command) => Some(CellFailure::BuildFailed),
            (action, StepFault::Command) if runs_in_container(action) => {
                let targets = plan.gpu_targets();
                Some(if kind == Some(FailureKind::NoCodeForGpu) && !targets.is_empty() {
                    CellFailure::UnsupportedGpu { targets }
                } else {
                    CellFailure::DoesNotRun
                })
            }
            _ => None,
        }
    })
}

fn runs_in_container(action: &Action) -> bool {
    match action {
        Action::Exec(_) | Action::StartService(_) => true,
        Action::Populate(step) => step.location == StepLocation::Container,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use retrial_plan::step::{BuildStep, CommandPurpose, ExecStep, StepCondition};
    use retrial_store::journal::{Event, EventKind};
    use rstest::rstest;

    use super::*;
    use retrial_plan::options::PullPolicy;

    fn pull() -> Action {
        Action::Pull { reference: "a:1".to_owned(), policy: PullPolicy::Missing }
    }

    fn build() -> Action {
        Action::Build(BuildStep {
            context: "/c".to_owned(),
            dockerfile: "Dockerfile".to_owned(),
            args: std::collections::BTreeMap::default(),
            tag: "a".to_owned(),
            content: None,
        })
    }

    fn prepare() -> Action {
        Action::Exec(ExecStep { purpose: CommandPurpose::Prepare, ..ExecStep::default() })
    }

    fn measure() -> Action {
        let purpose = CommandPurpose::Measure { measurements: vec![0], trial: 1 };
        Action::Exec(ExecStep { purpose, ..ExecStep::default() })
    }

    const DONE: StepEnd = StepEnd::Done { exit_code: Some(0) };

    fn failed(fault: StepFault) -> StepEnd {
        StepEnd::failure(fault, "it failed", "")
    }

    fn missing() -> StepEnd {
        failed(StepFault::Host).with_kind(FailureKind::NoSuchTag)
    }

    fn find(steps: Vec<(Action, StepEnd)>) -> Option<CellFailure> {
        let (mut plan, mut events) = (Plan::default(), Vec::new());
        for (number, (action, end)) in (1..).zip(steps) {
            let step = Step {
                number,
                name: "one".to_owned(),
                on: None,
                container: None,
                when: StepCondition::Always,
                action,
            };
            let kind = EventKind::StepEnded { end, seconds: 1.0 };
            events.push(Event {
                time: Timestamp::UNIX_EPOCH,
                ..Event::new("local", Some(&step), kind)
            });
            plan.steps.push(step);
        }
        find_cell_failure(&plan, &JournalState::from_events(&events))
    }

    #[rstest]
    #[case::no_such_tag(vec![(pull(), missing())], Some(CellFailure::NoSuchTag { image: "a:1".to_owned() }))]
    #[case::another_pull_failure(vec![(pull(), failed(StepFault::Host))], None)]
    #[case::build_failed(vec![(build(), failed(StepFault::Command))], Some(CellFailure::BuildFailed))]
    #[case::no_builder(vec![(build(), failed(StepFault::Host))], None)]
    #[case::setup(vec![(pull(), DONE), (prepare(), failed(StepFault::Command))], Some(CellFailure::DoesNotRun))]
    #[case::measurement(vec![(pull(), DONE), (measure(), failed(StepFault::Command))], Some(CellFailure::DoesNotRun))]
    #[case::timeout(vec![(measure(), failed(StepFault::Timeout))], None)]
    #[case::something_was_measured(vec![(measure(), DONE), (measure(), failed(StepFault::Command))], None)]
    fn the_failed_step_decides(
        #[case] steps: Vec<(Action, StepEnd)>,
        #[case] expected: Option<CellFailure>,
    ) {
        assert_eq!(find(steps), expected);
    }
}

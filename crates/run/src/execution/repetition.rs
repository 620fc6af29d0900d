//! Decides whether another trial would fail as the ones before did. Pure.

use retrial_plan::failure::FailureKind;
use retrial_plan::step::Plan;
use retrial_store::journal::{JournalState, SkipReason, StepEnd};

/// Returns why a trial would fail as those before it: the first failed by a cause that repeats, or the latest two by
/// the same one.
pub fn find_repeating_failure(
    state: &JournalState,
    plan: &Plan,
    measurement: usize,
    trial: u32,
) -> Option<SkipReason> {
    let ends = (1..trial)
        .filter_map(|earlier| Some((earlier, trial_end(state, plan, measurement, earlier)?)))
        .filter(|(_, end)| !matches!(end, StepEnd::Skipped { .. }));
    let causes: Vec<(u32, Option<FailureKind>)> =
        ends.map(|(earlier, end)| (earlier, end.cause().map(|cause| cause.kind))).collect();
    let (trials, cause) = match causes.as_slice() {
        [(only, Some(cause))] if cause.repeats() => (vec![*only], *cause),
        [.., (earlier, Some(before)), (latest, Some(cause))] if before == cause => {
            (vec![*earlier, *latest], *cause)
        }
        _ => return None,
    };
    Some(SkipReason::CauseRepeats { trials, cause })
}

/// Returns how the command of a trial ended; if it was not started for a failed service, how that one did.
fn trial_end<'a>(
    state: &'a JournalState,
    plan: &Plan,
    measurement: usize,
    trial: u32,
) -> Option<&'a StepEnd> {
    let end = |step: u32| state.ended.get(&step).map(|(end, _)| end);
    match end(plan.measuring_step(measurement, trial)?.number)? {
        StepEnd::Skipped { reason: SkipReason::InputMissing { step } } => end(*step),
        measured => Some(measured),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_plan::failure::FailureCause;
    use retrial_plan::step::{Action, CommandPurpose, ExecStep, Step, StepCondition};
    use retrial_store::clock::Moment;
    use retrial_store::journal::StepFault;

    fn measuring(number: u32) -> Step {
        let purpose = CommandPurpose::Measure { measurements: vec![0], trial: number };
        Step {
            number,
            name: format!("main-performance-{number}"),
            on: None,
            container: None,
            when: StepCondition::Always,
            action: Action::Exec(ExecStep { purpose, ..ExecStep::default() }),
        }
    }

    fn failed(kind: Option<FailureKind>) -> StepEnd {
        let cause = kind.map(|kind| FailureCause {
            kind,
            gpu: None,
            rank: None,
            signal: None,
            line: "so it says".to_owned(),
        });
        StepEnd::failure(StepFault::Command, "exit code 1", "").with_cause(cause)
    }

    const MEMORY: Option<FailureKind> = Some(FailureKind::OutOfGpuMemory);
    const HANG: Option<FailureKind> = Some(FailureKind::GpuHang);
    const DONE: StepEnd = StepEnd::Done { exit_code: Some(0) };

    #[rstest]
    #[case(&[], None)]
    #[case(&[DONE], None)]
    #[case(&[failed(None)], None)]
    #[case(&[failed(None), failed(None)], None)]
    #[case(&[failed(HANG)], None)]
    #[case(&[failed(HANG), DONE], None)]
    #[case(&[failed(HANG), failed(None)], None)]
    #[case(&[DONE, failed(MEMORY)], None)]
    #[case(&[failed(MEMORY)], Some("trial 1 failed (out of GPU memory), which another trial would repeat"))]
    #[case(&[failed(HANG), failed(HANG)], Some("trials 1 and 2 failed by the same cause (GPU hang)"))]
    #[case(&[DONE, failed(MEMORY), failed(MEMORY)], Some("trials 2 and 3 failed by the same cause (out of GPU memory)"))]
    fn a_trial_is_not_needed_after_failures_that_it_would_repeat(
        #[case] ends: &[StepEnd],
        #[case] reason: Option<&str>,
    ) {
        let next = u32::try_from(ends.len()).unwrap() + 1;
        let plan = Plan { steps: (1..=next).map(measuring).collect(), ..Plan::default() };
        let mut state = JournalState::default();
        for (step, end) in (1..).zip(ends.iter().cloned()) {
            state.ended.insert(step, (end, Moment::now()));
        }
        let found = find_repeating_failure(&state, &plan, 0, next);
        assert_eq!(found.map(|reason| reason.to_string()).as_deref(), reason);
    }
}

use jiff::Timestamp;

use super::*;
use crate::evidence::context::gather_context;
use retrial_host::checks::{HostCheck, HostCheckKind, HostCheckState};
use retrial_plan::StepCondition;
use retrial_plan::step::{CommandPurpose, ExecStep, FollowedLock, Plan};
use retrial_recipe::model::{GpuRequest, GpuVendor};
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind, JournalState, StepFault};
use retrial_store::process::ProcessIdentity;
use retrial_telemetry::rate::SamplingInterval;

const LOCK_CLOCKS: u32 = 1;
const CREATE: u32 = 2;
const FIRST: u32 = 3;
const SECOND: u32 = 4;
const COLLECT: u32 = 5;

/// Returns a step on the host, a container, and two trials.
fn plan() -> Plan {
    let measure = |trial: u32| {
        Action::Exec(ExecStep {
            purpose: CommandPurpose::Measure { measurements: vec![0], trial },
            ..ExecStep::default()
        })
    };
    let collect = Action::Collect {
        measurement: 0,
        trial: 2,
        of: SECOND,
        path: "/results".to_owned(),
        max_bytes: None,
    };
    let actions = [
        ("setup-lock-clocks", Action::Host(ExecStep::default())),
        ("create", Action::Create),
        ("s-performance-1", measure(1)),
        ("s-performance-2", measure(2)),
        ("s-performance-collect-2", collect),
    ];
    let steps = (1..).zip(actions).map(|(number, (name, action))| Step {
        number,
        name: name.to_owned(),
        on: None,
        container: None,
        when: StepCondition::Always,
        action,
    });
    Plan { steps: steps.collect(), ..Plan::default() }
}

/// A journal that is written event by event.
#[derive(Default)]
struct Script(Vec<Event>);

impl Script {
    fn event(mut self, step: u32, what: EventKind) -> Self {
        self.0.push(Event {
            time: Timestamp::UNIX_EPOCH,
            since_boot: None,
            node: "local".to_owned(),
            container: None,
            step: (step > 0).then_some(step),
            name: None,
            what,
        });
        self
    }

    fn process(self) -> Self {
        let what = EventKind::RunStarted {
            run: "r".to_owned(),
            steps: 5,
            process: ProcessIdentity::default(),
            completed_steps: Vec::new(),
            tool: String::new(),
            since: None,
        };
        self.event(0, what)
    }

    fn start(self, step: u32) -> Self {
        let summary = String::new();
        let timeout_s = None;
        self.event(step, EventKind::StepStarted { summary, timeout_s })
    }

    fn end(self, step: u32, end: StepEnd) -> Self {
        self.event(step, EventKind::StepEnded { end, seconds: 1.0 })
    }

    fn done(self, step: u32) -> Self {
        self.start(step).end(step, StepEnd::Done { exit_code: Some(0) })
    }

    fn create(self) -> Self {
        let what = EventKind::ContainerCreated {
            id: "c".to_owned(),
            name: "c".to_owned(),
            service: false,
        };
        self.start(CREATE).event(CREATE, what).end(CREATE, StepEnd::Done { exit_code: None })
    }

    fn qualifiers(&self) -> Vec<String> {
        qualifiers(&plan(), &JournalState::from_events(&self.0))
    }
}

fn qualifiers(plan: &Plan, state: &JournalState) -> Vec<String> {
    let directory = RunDirectory::from_path("/nowhere".into());
    let files = RunFiles::without_telemetry(&directory, plan, state);
    let qualifiers = gather_context(&files).execution.into_iter();
    qualifiers.map(|one| format!("{}: {}", one.kind, one.reason)).collect()
}

fn whole() -> Script {
    Script::default().process().done(LOCK_CLOCKS).create().done(FIRST)
}

#[test]
fn an_uninterrupted_run_has_no_qualifier() {
    let script = whole().done(SECOND).done(COLLECT);
    assert_eq!(script.qualifiers(), Vec::<String>::new());
}

#[test]
fn a_measurement_that_goes_on_while_the_tool_is_away_has_no_qualifier() {
    let reattached =
        EventKind::StepReattached { summary: String::new(), started: None, timeout_s: None };
    let script = whole().start(SECOND).process().event(SECOND, reattached);
    let script = script.end(SECOND, StepEnd::Done { exit_code: Some(0) });
    assert_eq!(script.qualifiers(), Vec::<String>::new());
}

#[test]
fn a_run_that_is_resumed_in_another_container_says_so() {
    let script = whole().process().create().done(SECOND);
    let expected = [
        "resumed: measured in 2 containers, one after the other",
        "resumed: setup-lock-clocks was not executed again after the run was interrupted",
    ];
    assert_eq!(script.qualifiers(), expected);
}

#[test]
fn a_measurement_that_failed_and_was_repeated_says_so() {
    let failed = StepEnd::failure(StepFault::Command, "it ended with exit code 1\nmore", "");
    let over = EventKind::RunEnded { exit_code: 4, reason: None };
    let script = whole().start(SECOND).end(SECOND, failed).event(0, over);
    let script = script.process().done(SECOND);
    let expected =
        ["resumed: s-performance-2 was executed again: it had failed: it ended with exit code 1"];
    assert_eq!(script.qualifiers(), expected);
}

#[test]
fn a_measurement_that_was_stopped_or_lost_and_repeated_says_so() {
    let script = whole().start(SECOND).end(SECOND, StepEnd::Stopped);
    let script = script.process().done(SECOND);
    let stopped = ["resumed: s-performance-2 was executed again: it had been stopped"];
    assert_eq!(script.qualifiers(), stopped);
    let script = whole().start(SECOND).process().done(SECOND);
    let lost = ["resumed: s-performance-2 was executed again: it had been interrupted"];
    assert_eq!(script.qualifiers(), lost);
}

#[test]
fn a_run_that_is_resumed_with_another_image_is_modified() {
    let image = |id: &str| EventKind::Image { id: id.to_owned(), digests: Vec::new(), size: 1 };
    let script = whole().event(CREATE, image("sha256:a")).event(CREATE, image("sha256:b"));
    let expected = ["modified: begun with the image sha256:a, resumed with sha256:b"];
    assert_eq!(script.qualifiers(), expected);
}

#[test]
fn a_forced_requirement_a_lock_of_another_recipe_and_unwatched_gpus_are_modified() {
    let rocm = HostCheck {
        kind: HostCheckKind::Rocm,
        name: "rocm on the host".to_owned(),
        state: HostCheckState::Error,
        actual: "6.2".to_owned(),
        required: "7.0".to_owned(),
        fix: String::new(),
    };
    let mut plan = Plan {
        unmet: vec![rocm],
        lock: Some(FollowedLock {
            path: "/home/me/mine.lock.yaml".to_owned(),
            differs: vec!["the image a:1 is not in the lock".to_owned()],
        }),
        telemetry: SamplingInterval::OFF,
        ..plan()
    };
    plan.requires.gpus =
        Some(GpuRequest { vendor: GpuVendor::Amd, models: Vec::new(), count: 8, partition: None });
    let expected = [
        "modified: --force: rocm on the host: 6.2; required: 7.0",
        "modified: lock mine.lock.yaml: the image a:1 is not in the lock",
        "modified: --telemetry off: idle GPUs are not detected",
    ];
    assert_eq!(qualifiers(&plan, &JournalState::default()), expected);
}

#[test]
fn what_failed_no_step_is_a_warning_with_its_consequence() {
    let omitted = vec!["trace.json: a link".to_owned()];
    let collected = EventKind::Collected {
        from: "/results".to_owned(),
        to: "results".to_owned(),
        files: 2,
        bytes: 10,
        older: Vec::new(),
        omitted,
    };
    let processes = vec!["12 monitor".to_owned()];
    let text = "the service server failed".to_owned();
    let script = whole()
        .start(SECOND)
        .event(SECOND, EventKind::LeftoverProcesses { processes })
        .event(COLLECT, collected)
        .event(SECOND, EventKind::Incident { text });
    let plan = plan();
    let state = JournalState::from_events(&script.0);
    let directory = RunDirectory::from_path("/nowhere".into());
    let files = RunFiles::without_telemetry(&directory, &plan, &state);
    let expected = [
        "s-performance-collect-2: 1 result file was not collected, and no figure is read from there: trace.json: a link",
        "s-performance-2: processes that it left running were killed, and later steps ran without them: 12 monitor",
        "s-performance-2: the service server failed",
    ];
    assert_eq!(gather_context(&files).warnings, expected);
}

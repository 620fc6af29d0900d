//! The journal of a planted run: every step of its plan, one after the other.

use jiff::{SignedDuration, Timestamp};
use retrial_plan::step::{Action, CommandPurpose};
use retrial_plan::{Plan, Step};
use retrial_store::journal::{AbortReason, Event, EventKind, SkipReason, StepEnd, StepFault};
use retrial_store::process::ProcessIdentity;
use sha2::{Digest, Sha256};

use super::Went;

/// A journal, and when its measurements began.
pub struct Planted {
    pub text: String,
    pub measured: Vec<Timestamp>,
}

/// What every step does for how long.
fn seconds(step: &Step) -> i64 {
    match &step.action {
        Action::Exec(_) => 400,
        Action::Pull { .. } => 8,
        _ => 1,
    }
}

pub fn journal(plan: &Plan, id: &str, started: Timestamp, went: Went) -> Planted {
    let mut writer = Writer { now: started, text: String::new() };
    let mut measured = Vec::new();
    writer.record(
        None,
        EventKind::RunStarted {
            run: id.to_owned(),
            steps: plan.steps.len(),
            process: ProcessIdentity::default(),
            completed_steps: Vec::new(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            since: None,
        },
    );
    let mut failed = false;
    for step in &plan.steps {
        let is_measure = matches!(&step.action, Action::Exec(exec) if matches!(exec.purpose, CommandPurpose::Measure { .. }));
        let last = matches!(step.action, Action::Judge | Action::Remove);
        if failed && !last {
            let reason = SkipReason::Aborted { reason: step_failed() };
            writer.end(step, StepEnd::Skipped { reason }, 0);
            continue;
        }
        writer.record(
            Some(step),
            EventKind::StepStarted { summary: step.name.clone(), timeout_s: Some(43_200) },
        );
        if is_measure {
            measured.push(writer.now + SignedDuration::from_secs(2));
        }
        if is_measure && went == Went::Interrupted {
            break;
        }
        if let Some(what) = happening(&step.action, id) {
            writer.record(Some(step), what);
        }
        failed |= is_measure && went == Went::Failed;
        let end = if is_measure && failed {
            StepEnd::Failed {
                fault: StepFault::Command,
                reason: "it ended with exit code 1".to_owned(),
                exit_code: Some(1),
                last_lines: vec!["HIP out of memory".to_owned()],
                advice: String::new(),
                cause: None,
            }
        } else {
            let exit_code = matches!(step.action, Action::Exec(_)).then_some(0);
            StepEnd::Done { exit_code }
        };
        writer.end(step, end, seconds(step));
    }
    if went != Went::Interrupted {
        let exit_code = match went {
            Went::Failed => 4,
            Went::Invalid => 1,
            _ => 0,
        };
        let reason = failed.then(step_failed);
        writer.record(None, EventKind::RunEnded { exit_code, reason });
    }
    Planted { text: writer.text, measured }
}

fn step_failed() -> AbortReason {
    AbortReason::StepFailed {
        name: "a step".to_owned(),
        error: "it ended with exit code 1".to_owned(),
    }
}

/// The event of a step between its start and its end.
fn happening(action: &Action, id: &str) -> Option<EventKind> {
    Some(match action {
        Action::Pull { reference, .. } => {
            let repository = reference.split(':').next().unwrap_or_default();
            EventKind::Image {
                id: format!("sha256:{}", hash(&format!("{reference} id"))),
                digests: vec![format!("{repository}@sha256:{}", hash(reference))],
                size: 24_000_000_000,
            }
        }
        Action::Create => EventKind::ContainerCreated {
            id: hash(id),
            name: format!("retrial-{id}"),
            service: false,
        },
        Action::Collect { path, .. } => EventKind::Collected {
            from: path.clone(),
            to: "results".to_owned(),
            files: 4,
            bytes: 20_000,
            omitted: Vec::new(),
            older: Vec::new(),
        },
        Action::Judge => EventKind::Judged {
            outcome: "told in verdict.json".to_owned(),
            sentence: String::new(),
        },
        Action::Remove => EventKind::ContainerRemoved { id: hash(id) },
        _ => return None,
    })
}

fn hash(value: &str) -> String {
    hex::encode(Sha256::digest(value))
}

struct Writer {
    now: Timestamp,
    text: String,
}

impl Writer {
    fn record(&mut self, step: Option<&Step>, what: EventKind) {
        let event = Event {
            time: self.now,
            since_boot: None,
            node: "local".to_owned(),
            container: step.and_then(|step| step.container.clone()),
            step: step.map(|step| step.number),
            name: step.map(|step| step.name.clone()),
            what,
        };
        self.text += &serde_json::to_string(&event).unwrap();
        self.text.push('\n');
    }

    fn end(&mut self, step: &Step, end: StepEnd, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        let seconds = seconds as f64;
        self.record(Some(step), EventKind::StepEnded { end, seconds });
    }
}

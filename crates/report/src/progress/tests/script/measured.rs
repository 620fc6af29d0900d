//! The part of the run in which scenarios are measured.

use super::*;

fn second_trial() -> EventKind {
    let figure = "tokens_per_second".to_owned();
    EventKind::Live(LiveEvent::Measured {
        trial: "trial 2 of 5".to_owned(),
        figures: vec![(figure, 103_480.2, "tokens/s".to_owned())],
    })
}

/// A scenario of performance.
pub(super) fn measured() -> Vec<Event> {
    let offline = Some((5, "offline-performance"));
    let mut events = Vec::new();
    let command = "python /lab-mlperf-inference/code/main.py --config-path /lab-mlperf-inference/code/llama2-70b-99/ --config-name offline_mi355x test_mode=performance";
    events.push(at(43_600, offline, started(command, Some(3600))));
    for line in 1..=240_i64 {
        events.push(at(43_600 + line * 3000, offline, output(&format!("query {line:04} of 2000"))));
    }
    events.push(at(
        764_000,
        offline,
        EventKind::LeftoverProcesses { processes: vec!["311 rocm-smi".to_owned()] },
    ));
    events.push(at(
        764_100,
        offline,
        EventKind::StepEnded { end: StepEnd::Done { exit_code: Some(0) }, seconds: 720.5 },
    ));
    let collected = EventKind::Collected {
        from: "/results/run_1".to_owned(),
        to: "results/Offline/performance/run_1".to_owned(),
        files: 6,
        bytes: 3_400_000,
        omitted: vec!["trace.json: a link".to_owned()],
        older: Vec::new(),
    };
    events.push(at(764_200, Some((6, "collect-offline")), started("collect /results/run_1", None)));
    events.push(at(764_300, Some((6, "collect-offline")), collected));
    events.push(at(764_350, Some((6, "collect-offline")), second_trial()));
    events.push(at(764_400, Some((6, "collect-offline")), done(0.2)));
    events
}

/// A scenario of accuracy that fails, and what follows.
pub(super) fn failed_and_ended() -> Vec<Event> {
    let mut events = Vec::new();
    let accuracy = Some((7, "offline-accuracy"));
    events.push(at(764_500, accuracy, started("bash run_accuracy.sh", Some(5400))));
    events.push(at(
        764_600,
        None,
        EventKind::Warning { text: "the engine was away for 12 s".to_owned() },
    ));
    events.push(at(895_700, accuracy, failed()));
    events.push(at(895_800, Some((8, "judge")), started("judge", None)));
    events.push(at(
        895_900,
        Some((8, "judge")),
        EventKind::Judged {
            outcome: "failed".to_owned(),
            sentence: "offline-accuracy ended with exit code 2".to_owned(),
        },
    ));
    events.push(at(
        895_900,
        Some((8, "judge")),
        EventKind::StepEnded { end: StepEnd::Done { exit_code: None }, seconds: 0.1 },
    ));
    events.push(at(896_000, Some((9, "remove")), started("remove the container", None)));
    events.push(at(
        896_300,
        Some((9, "remove")),
        EventKind::ContainerRemoved { id: "c0ffee".repeat(10) },
    ));
    events.push(at(896_300, Some((9, "remove")), ended(StepEnd::Stopped, 0.3)));
    events.push(at(896_400, None, EventKind::RunEnded { exit_code: 4, reason: None }));
    events
}

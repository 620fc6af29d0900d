//! Scripted runs for the reporters' tests.

mod measured;

use jiff::Timestamp;

use crate::progress::remaining_time::RemainingTime;
use retrial_document::ErrorText;
use retrial_host::model::HostView;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::remaining::{RemainingSteps, StepTimes};
use retrial_plan::{PlanOptions, build_plan};
use retrial_store::journal::{
    AbortReason, Event, EventKind, LiveEvent, SkipReason, StepEnd, StepFault, Transfer,
    TransferState, TransferUnit,
};
use retrial_store::process::ProcessIdentity;

const BEGAN: i64 = 1_750_000_000_000;

/// An event so many milliseconds after the beginning; steps by number and name.
pub fn at(milliseconds: i64, step: Option<(u32, &str)>, what: EventKind) -> Event {
    Event {
        time: Timestamp::from_millisecond(BEGAN + milliseconds).unwrap(),
        since_boot: None,
        node: "local".to_owned(),
        container: step.filter(|(number, _)| *number > 3).map(|_| "main".to_owned()),
        step: step.map(|(number, _)| number),
        name: step.map(|(_, name)| name.to_owned()),
        what,
    }
}

/// What is left of a run with so many trials, each of which is expected to take a minute; and the steps that
/// measure, from the third one on.
pub fn rest_of_trials(trials: u32) -> (RemainingTime, Vec<(u32, String)>) {
    let text = format!(
        "schema: 1\ntitle: t\nexpected_duration: 1m\nsubmission: {{ suite: own, benchmark: b, sources: [x] }}\nimage: debian\nscenarios: {{ s: {{ performance: {{ trials: {trials}, run: \"true\", figures: {{ speed: {{ pattern: \"([0-9]+)\" }} }} }} }} }}\n"
    );
    let source = retrial_recipe::Source::new("r.yaml", text);
    let resolved = retrial_recipe::resolve_recipe("r", &source, &retrial_recipe::NoTemplates, &[]);
    let (options, host) = (PlanOptions::default(), HostView::default());
    let recipe = resolved.unwrap().recipe;
    let plan = build_plan(&recipe, &RecipeOrigin::default(), &options, &host).unwrap();
    let measuring = plan.steps.iter().filter(|step| step.measurement_and_trial().is_some());
    let steps = measuring.map(|step| (step.number, step.name.clone()));
    let steps = steps.collect();
    let none = StepTimes::default();
    let remaining = RemainingTime::new(RemainingSteps::new(plan, none.clone(), none), None);
    (remaining, steps)
}

pub fn started(summary: &str, timeout_s: Option<u64>) -> EventKind {
    EventKind::StepStarted { summary: summary.to_owned(), timeout_s }
}

pub fn done(seconds: f64) -> EventKind {
    EventKind::StepEnded { end: StepEnd::Done { exit_code: Some(0) }, seconds }
}

pub fn layer(id: &str, state: TransferState, bytes: Option<(u64, u64)>) -> EventKind {
    EventKind::from(LiveEvent::Transfer(Transfer {
        unit: TransferUnit::Layer,
        part: id.to_owned(),
        state,
        current: bytes.map(|(done, _)| done),
        total: bytes.map(|(_, total)| total),
    }))
}

pub fn output(line: &str) -> EventKind {
    LiveEvent::Output { line: line.to_owned() }.into()
}

fn failed() -> EventKind {
    EventKind::StepEnded {
        end: StepEnd::Failed {
            fault: StepFault::Command,
            reason: "it ended with exit code 2\nafter 3 of 4 shards".to_owned(),
            exit_code: Some(2),
            last_lines: ["loading shard 3", "Traceback (most recent call last):", "RuntimeError: HIP out of memory"].map(str::to_owned).to_vec(),
            advice: "read its output; to inspect the container, use --keep on-failure and `retrial shell`".to_owned(),
            cause: None,
        },
        seconds: 131.2,
    }
}

/// Four layers in 24 s: one that is there, three that come three at a time.
pub fn pull(step: (u32, &str), from: i64) -> Vec<Event> {
    const SIZES: [(&str, u64); 3] = [
        ("a1b2c3d4e5f6", 2_400_000_000),
        ("0f1e2d3c4b5a", 600_000_000),
        ("99aabbccddee", 45_000_000),
    ];
    let mut events = vec![at(
        from,
        Some(step),
        started("pull rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0", None),
    )];
    let mut add = |time: i64, what: EventKind| events.push(at(from + time, Some(step), what));
    add(100, output("Pulling from rocm/amd-mlperf"));
    add(100, layer("5e0a6e3b1c2d", TransferState::Cached, None));
    for (id, _) in SIZES {
        add(120, layer(id, TransferState::Waiting, None));
    }
    for tick in 1..=100_u64 {
        let time = 120 + i64::try_from(tick).unwrap() * 200;
        for (id, size) in SIZES {
            let done = tick * 30_000_000;
            let before = done - 30_000_000;
            if done < size {
                add(time, layer(id, TransferState::Downloading, Some((done, size))));
            } else if before < size {
                add(time, layer(id, TransferState::Downloaded, None));
            }
        }
    }
    for (index, (id, size)) in SIZES.into_iter().enumerate() {
        let time = 21_000 + i64::try_from(index).unwrap() * 1000;
        add(time, layer(id, TransferState::Extracting, Some((size / 2, size))));
        add(time + 800, layer(id, TransferState::Done, None));
    }
    add(
        24_000,
        EventKind::Image {
            id: format!("sha256:{}", "4f2a9c".repeat(8)),
            digests: Vec::new(),
            size: 10_390_000_000,
        },
    );
    add(24_100, done(24.1));
    events
}

/// A model of five files: one is there, one is checked, two come, one waits.
pub fn fetch(step: (u32, &str), from: i64) -> Vec<Event> {
    const SHARD: u64 = 4_900_000_000;
    let mut events =
        vec![at(from, Some(step), started("fetch meta-llama/Llama-3.1-8B-Instruct at main", None))];
    let mut file = |time: i64, path: &str, state: TransferState, current: u64, total: u64| {
        let what = LiveEvent::Transfer(Transfer {
            unit: TransferUnit::File,
            part: path.to_owned(),
            state,
            current: Some(current),
            total: Some(total),
        });
        events.push(at(from + time, Some(step), what.into()));
    };
    let shard = |index: u32| format!("model-0000{index}-of-00004.safetensors");
    file(100, "config.json", TransferState::Cached, 855, 855);
    for index in 1..=4 {
        file(100, &shard(index), TransferState::Waiting, 0, SHARD);
    }
    for tick in 1..=60_u64 {
        let time = 100 + i64::try_from(tick).unwrap() * 200;
        file(time, &shard(1), TransferState::Verifying, tick * 80_000_000, SHARD);
        file(time, &shard(2), TransferState::Downloading, tick * 60_000_000, SHARD);
        file(time, &shard(3), TransferState::Downloading, tick * 40_000_000, SHARD);
    }
    events.push(at(
        from + 100_000,
        Some(step),
        EventKind::Model {
            model: "llama".to_owned(),
            repository: "meta-llama/Llama-3.1-8B-Instruct".to_owned(),
            commit: "0e9e39f249a16976918f6564b8830bc894c89659".to_owned(),
            directory: "/cache/models--meta-llama--Llama-3.1-8B-Instruct".to_owned(),
            files: 5,
            bytes: 4 * SHARD + 855,
            bytes_fetched: 3 * SHARD,
        },
    ));
    events.push(at(from + 100_000, Some(step), done(100.0)));
    events
}

/// A whole run: pull, build, create, two measurements of which one fails, collect, judge, remove.
pub fn run() -> Vec<Event> {
    let mut events = vec![at(
        0,
        None,
        EventKind::RunStarted {
            run: "20250615-llama2-70b-k3f9".to_owned(),
            steps: 9,
            process: ProcessIdentity::default(),
            completed_steps: Vec::new(),
            tool: "0.1.0".to_owned(),
            since: None,
        },
    )];
    events.extend(pull((1, "pull"), 100));
    events.extend(prepared());
    events.extend(measured::measured());
    events.extend(measured::failed_and_ended());
    events
}

fn prepared() -> Vec<Event> {
    let mut events = Vec::new();
    let build = Some((2, "build"));
    events.push(at(25_000, build, started("build retrial/quickstart", None)));
    for line in 0..12_i64 {
        events.push(at(
            25_000 + line * 1500,
            build,
            output(&format!("Step {}/12 : RUN make part{line}", line + 1)),
        ));
    }
    events.push(at(43_000, build, done(18.0)));
    events.push(at(43_100, Some((3, "create")), started("create the container", None)));
    events.push(at(
        43_400,
        Some((3, "create")),
        EventKind::ContainerCreated {
            id: "c0ffee".repeat(10),
            name: "retrial-llama2-70b-k3f9".to_owned(),
            service: false,
        },
    ));
    events.push(at(43_500, Some((3, "create")), done(0.4)));
    events.push(at(
        43_500,
        Some((4, "dataset-open-orca")),
        EventKind::StepEnded {
            end: StepEnd::Skipped {
                reason: SkipReason::Option { option: "--skip dataset-open-orca".to_owned() },
            },
            seconds: 0.0,
        },
    ));
    events
}

/// The rest of a run whose tool was killed in the fifth step.
pub fn resumed() -> Vec<Event> {
    let offline = Some((5, "offline-performance"));
    let began_at = Timestamp::from_millisecond(BEGAN - 600_000).unwrap();
    let mut events = vec![at(
        0,
        None,
        EventKind::RunStarted {
            run: "20250615-llama2-70b-k3f9".to_owned(),
            steps: 9,
            process: ProcessIdentity::default(),
            completed_steps: vec![1, 2, 3],
            tool: "0.1.0".to_owned(),
            since: Some(began_at),
        },
    )];
    for (number, name) in [(1, "pull"), (2, "build"), (3, "create")] {
        events.push(at(10, Some((number, name)), ended(StepEnd::Done { exit_code: None }, 0.0)));
    }
    events.push(at(
        100,
        offline,
        EventKind::StepReattached {
            summary: "python main.py".to_owned(),
            started: Some(began_at),
            timeout_s: Some(3600),
        },
    ));
    events.push(at(70_000, offline, output("query 0231 of 2000")));
    events.push(at(80_000, offline, done(80.0)));
    events.push(at(
        80_100,
        None,
        EventKind::RunEnded { exit_code: 130, reason: Some(AbortReason::Stopped) },
    ));
    events
}

/// Events whose texts try to steer a terminal.
pub fn hostile() -> Vec<Event> {
    let bad = "a\u{1b}[2Jb\u{1b}]0;title\u{7}c\r\u{9b}31md\u{202e}e".to_owned();
    let step = Some((1, bad.as_str()));
    let failed = StepEnd::Failed {
        fault: StepFault::Host,
        reason: format!("{bad}\n{bad}"),
        exit_code: None,
        last_lines: vec![bad.clone()],
        advice: bad.clone(),
        cause: None,
    };
    [
        EventKind::RunStarted {
            run: bad.clone(),
            steps: 1,
            process: ProcessIdentity::default(),
            completed_steps: Vec::new(),
            tool: bad.clone(),
            since: None,
        },
        EventKind::Detached { resume: bad.clone() },
        started(&bad, None),
        output(&bad),
        layer(&bad, TransferState::Downloading, Some((1, 2))),
        ended(failed, 1.0),
        ended(StepEnd::Skipped { reason: SkipReason::Option { option: bad.clone() } }, 0.0),
        EventKind::Decided { decision: bad.clone() },
        EventKind::Image { id: bad.clone(), digests: vec![bad.clone()], size: 1 },
        EventKind::ContainerCreated { id: bad.clone(), name: bad.clone(), service: false },
        EventKind::LeftoverProcesses { processes: vec![bad.clone()] },
        EventKind::Collected {
            from: bad.clone(),
            to: bad.clone(),
            files: 1,
            bytes: 1,
            omitted: vec![bad.clone()],
            older: vec![bad.clone()],
        },
        EventKind::Warning { text: bad.clone() },
        EventKind::Judged { outcome: bad.clone(), sentence: bad.clone() },
        EventKind::RunEnded {
            exit_code: 3,
            reason: Some(AbortReason::Error { error: ErrorText::new(bad.clone()) }),
        },
    ]
    .map(|what| at(0, step, what))
    .to_vec()
}

fn ended(end: StepEnd, seconds: f64) -> EventKind {
    EventKind::StepEnded { end, seconds }
}

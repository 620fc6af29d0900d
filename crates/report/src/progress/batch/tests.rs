use jiff::Timestamp;

use super::*;
use retrial_batch::RunOrder;
use retrial_batch::journal::TrialRunFigure;
use retrial_batch::tests::build::{cell, plan_of};
use retrial_results::verdict::QualifiedOutcome;

fn plan() -> BatchPlan {
    let cells = ["rocm=6.4.1", "rocm=7.1.1"].map(|name| cell(name, 2));
    plan_of(cells.into(), RunOrder::Interleaved)
}

fn ended(trial_run: usize, exit_code: u8, outcome: Outcome, seconds: f64) -> BatchEventKind {
    let figure = TrialRunFigure {
        scenario: "Offline".into(),
        name: "tokens_per_second".to_owned(),
        value: 103_480.0,
        unit: "tokens/s".to_owned(),
    };
    let end = TrialRunEnd {
        exit_code,
        run: Some(format!("r{trial_run}")),
        outcome: Some(QualifiedOutcome::from_kinds(outcome, [])),
        figures: if exit_code == 0 { vec![figure] } else { Vec::new() },
        reason: (exit_code == 3).then(|| ErrorText::new("create failed: no space")),
        seconds,
        failure: None,
    };
    BatchEventKind::TrialRunEnded { trial_run, end }
}

#[test]
fn each_finished_run_has_a_line() {
    let expected = [(0, EstimateBasis::Recipe, 50.0), (1, EstimateBasis::EarlierRun, 110.0)];
    let expected = expected.map(|(cell, basis, seconds)| (cell, TimeEstimate { seconds, basis }));
    let mut lines = PlainBatchProgress::new(plan(), 1, false, expected.into());
    let started = BatchEventKind::TrialRunStarted {
        trial_run: 3,
        run: "r3".to_owned(),
        cell: String::new(),
        trial: 2,
        attempt: 2,
        gpus: vec!["0000:05:00.0".to_owned()],
        concurrent_runs: Vec::new(),
    };
    let events = [
        BatchEventKind::BatchStarted {
            batch: "b".to_owned(),
            trial_runs: 4,
            pid: 1,
            tool: String::new(),
        },
        BatchEventKind::Reused { trial_runs: vec![1] },
        ended(1, 0, Outcome::Reproduced, 60.0),
        ended(2, 0, Outcome::Reproduced, 120.0),
        ended(3, 3, Outcome::Failed, 1.0),
        started,
        ended(3, 3, Outcome::Failed, 1.0),
        ended(3, 0, Outcome::Reproduced, 120.0),
        ended(4, 1, Outcome::NotReproduced, 60.0),
    ];
    let reported = events.into_iter().flat_map(|what| {
        let time = Timestamp::UNIX_EPOCH;
        lines.report_event(&BatchEvent { time, what })
    });
    insta::assert_snapshot!(reported.collect::<Vec<_>>().join("\n"), @r"
    batch b: 4 runs of 2 cells, about 5m 20s
    reused: 1 run of 4 already complete, skipped
    [1/4] rocm=6.4.1 trial 1/2: Offline tokens_per_second 103,480 tokens/s (1m 00s); 3 remaining, about 4m 40s
    [2/4] rocm=7.1.1 trial 1/2: Offline tokens_per_second 103,480 tokens/s (2m 00s); 2 remaining, about 3m 00s
    [3/4] rocm=7.1.1 trial 2/2: failed with exit code 3: create failed: no space (1.0 s); 2 remaining, about 3m 00s
    [3/4] rocm=7.1.1 trial 2/2: run r3, attempt 2 on GPUs 0000:05:00.0
    [3/4] rocm=7.1.1 trial 2/2: failed with exit code 3 for the same reason (1.0 s); 2 remaining, about 3m 00s
    [3/4] rocm=7.1.1 trial 2/2: Offline tokens_per_second 103,480 tokens/s (2m 00s); 1 remaining, about 1m 00s
    [4/4] rocm=6.4.1 trial 2/2: ended (1m 00s)
    ");
}

#[test]
fn a_remedy_has_a_line_of_its_own_and_is_printed_once() {
    let mut lines = PlainBatchProgress::new(plan(), 1, false, <_>::default());
    let end = TrialRunEnd {
        exit_code: 3,
        reason: Some(ErrorText::new("the disk is full").with_help("free some space")),
        ..TrialRunEnd::default()
    };
    let stored = serde_json::to_value(&end).unwrap();
    assert_eq!(stored["reason"]["message"], "the disk is full");
    assert_eq!(stored["reason"]["help"][0], "free some space");
    let failed = BatchEventKind::ImageFailed {
        image: "debian:12".to_owned(),
        error: ErrorText::new("no such image").with_help("check its tag"),
    };
    let end = |trial_run| BatchEventKind::TrialRunEnded { trial_run, end: end.clone() };
    let events = [failed, end(1), end(2)];
    let reported = events.into_iter().flat_map(|what| {
        let time = Timestamp::UNIX_EPOCH;
        lines.report_event(&BatchEvent { time, what })
    });
    let reported = reported.collect::<Vec<_>>();
    assert_eq!(reported.len(), 5, "{reported:?}");
    assert!(reported[0].ends_with("will try again: no such image"), "{reported:?}");
    assert_eq!(reported[1], "    help: check its tag");
    assert!(
        reported[2].contains("failed with exit code 3: the disk is full; 4 remaining"),
        "{reported:?}"
    );
    assert_eq!(reported[3], "    help: free some space");
    assert!(reported[4].contains("for the same reason"), "{reported:?}");
}

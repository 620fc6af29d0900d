use proptest::prelude::*;
use rstest::rstest;

use retrial_readings::accumulator::SingleValueError;

use super::*;

/// Events as a program prints them: key, milliseconds, value, metadata.
fn line(key: &str, time: u64, value: &str, metadata: &str) -> String {
    format!(
        ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {time}, \"event_type\": \"POINT_IN_TIME\", \
         \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}"
    )
}

/// Returns a run that begins at `at` and takes `minutes`.
fn run(at: u64, minutes: u64, status: &str, loss: f64) -> Vec<String> {
    let stop = at + minutes * 60_000;
    vec![
        line("cache_clear", at - 2000, "true", ""),
        line("init_start", at - 2000, "null", ""),
        line("submission_benchmark", at - 1000, "\"llama2_70b_lora\"", ""),
        line("global_batch_size", at - 1000, "8", ""),
        line("run_start", at, "null", ""),
        line("block_start", at, "null", "\"samples_count\": 0"),
        line("tracked_stats", at + 5, "{\"throughput\": 5.5}", ""),
        line("eval_accuracy", at + 9, "0.99", "\"samples_count\": 2688"),
        line("block_stop", at + 9, "null", ""),
        line("tracked_stats", at + 9, "{\"throughput\": 6.5}", ""),
        line("eval_accuracy", stop - 1, &loss.to_string(), "\"samples_count\": 3072"),
        line("run_stop", stop, "null", &format!("\"status\": \"{status}\"")),
        line("train_samples", stop + 1, "3901", ""),
    ]
}

fn read(
    lines: &[String],
    requested: &[(&str, MatchSelection)],
) -> Result<Vec<TrainingRun>, TrainingLogError> {
    let requested: Vec<(String, MatchSelection)> =
        requested.iter().map(|(key, take)| ((*key).to_owned(), *take)).collect();
    let mut runs = TrainingRunReader::new(&requested);
    for line in lines {
        runs.feed_line(line);
    }
    runs.finish()
}

/// Returns the number of the key that was requested at a position.
fn requested_value(
    run: &TrainingRun,
    position: usize,
) -> Result<f64, SingleValueError<EventError>> {
    let accumulator = run.requested_accumulator(position).unwrap().clone();
    accumulator.into_single_value().map(|printed| printed.value)
}

const TARGET: Limit = Limit { min: None, max: Some(0.925), below: None };

#[test]
fn a_run_is_timed_from_start_to_stop() {
    let requested = [
        ("tracked_stats.throughput", MatchSelection::Mean),
        ("train_samples", MatchSelection::Last),
        ("seed", MatchSelection::Last),
    ];
    let runs = read(&run(1_000_000, 21, "success", 0.9249), &requested).unwrap();
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(run.minutes_to_train(Some(&TARGET)), Ok(21.0));
    assert_eq!(run.samples_to_converge(), Some(3072.0));
    assert_eq!(run.batch_size, Some(8.0));
    assert_eq!(run.benchmark.as_deref(), Some("llama2_70b_lora"));
    assert_eq!(requested_value(run, 0), Ok(6.0));
    assert_eq!(requested_value(run, 1), Ok(3901.0));
    assert_eq!(requested_value(run, 2), Err(SingleValueError::NoValue));
}

/// Returns a run whose last but one line is this event.
fn run_with(key: &str, value: &str) -> Vec<String> {
    let mut lines = run(1_000_000, 21, "success", 0.92);
    lines.insert(11, line(key, 2_000_000, value, ""));
    lines
}

#[rstest]
#[case::not_a_number("{\"throughput\": NaN}", "tracked_stats.throughput has `NaN`")]
#[case::none("{\"throughput\": null}", "has `null`")]
#[case::no_map("-Infinity", "has `-Infinity`")]
#[case::cut("{\"throughput\": 7", "an event tracked_stats was cut")]
fn an_event_that_announces_a_figure_is_not_replaced_by_another(
    #[case] value: &str,
    #[case] expected: &str,
) {
    let requested = [("tracked_stats.throughput", MatchSelection::Last)];
    let runs = read(&run_with("tracked_stats", value), &requested).unwrap();
    let error = requested_value(&runs[0], 0).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert_eq!(runs[0].minutes_to_train(Some(&TARGET)), Ok(21.0));
}

#[test]
fn other_members_that_are_no_numbers_hide_nothing() {
    let requested = [("tracked_stats.throughput", MatchSelection::Last)];
    let lines = run_with("tracked_stats", "{\"throughput\": 2.5, \"loss\": NaN}");
    let runs = read(&lines, &requested).unwrap();
    assert_eq!(requested_value(&runs[0], 0), Ok(2.5));
    let place = runs[0].requested_accumulator(0).unwrap().deciding_place();
    assert_eq!(place, RecordLocation::at_line(0, 12));
}

#[test]
fn a_last_evaluation_that_is_not_a_number_is_no_success() {
    let runs = read(&run_with("eval_accuracy", "NaN"), &[]).unwrap();
    for target in [None, Some(&TARGET)] {
        let minutes = runs[0].minutes_to_train(target);
        assert_eq!(minutes, Err(TrainingRunError::EvaluationNotANumber));
    }
    assert!(runs[0].check_evaluation().is_err());
    let mut earlier = run(1_000_000, 21, "success", 0.92);
    earlier.insert(6, line("eval_accuracy", 1_000_001, "NaN", ""));
    let runs = read(&earlier, &[]).unwrap();
    assert_eq!(runs[0].minutes_to_train(Some(&TARGET)), Ok(21.0));
}

/// An evaluation that was cut may have missed the target.
#[rstest]
#[case::in_its_value(r#":::MLLOG {"key": "eval_accuracy", "val"#, true)]
#[case::in_its_key(r#":::MLLOG {"namespace": "", "key": "eval_acc"#, true)]
#[case::of_a_loss(r#":::MLLOG {"key": "eval_error", "value": 0.9"#, true)]
#[case::of_another_key(r#":::MLLOG {"key": "tracked_stats", "val"#, false)]
#[case::cut_in_another_key(r#":::MLLOG {"key": "tracked"#, false)]
fn a_last_evaluation_that_was_cut_is_no_success(#[case] cut: &str, #[case] is_evaluation: bool) {
    let mut lines = run(1_000_000, 21, "success", 0.92);
    lines.insert(11, cut.to_owned());
    let runs = read(&lines, &[]).unwrap();
    for target in [None, Some(&TARGET)] {
        let minutes = runs[0].minutes_to_train(target);
        if is_evaluation {
            assert_eq!(minutes, Err(TrainingRunError::BrokenEvaluation { line: 12 }));
        } else {
            assert_eq!(minutes, Ok(21.0));
        }
    }
    // One that was repeated afterwards is no fault.
    let mut earlier = run(1_000_000, 21, "success", 0.92);
    earlier.insert(10, cut.to_owned());
    let runs = read(&earlier, &[]).unwrap();
    assert_eq!(runs[0].minutes_to_train(Some(&TARGET)), Ok(21.0));
}

#[test]
fn several_runs_in_one_log() {
    let mut lines = run(1_000_000, 10, "success", 0.92);
    lines.extend(run(2_000_000, 11, "aborted", 0.95));
    lines.extend(run(3_000_000, 12, "success", 0.93));
    // The next one is truncated.
    lines.extend(run(4_000_000, 13, "success", 0.92).into_iter().take(8));
    let runs = read(&lines, &[]).unwrap();
    assert_eq!(runs.len(), 4);
    assert_eq!(runs[0].minutes_to_train(Some(&TARGET)), Ok(10.0));
    assert_eq!(runs[1].minutes_to_train(Some(&TARGET)), Ok(f64::INFINITY));
    assert_eq!(runs[1].samples_to_converge(), Some(f64::INFINITY));
    assert_eq!(
        runs[2].minutes_to_train(Some(&TARGET)),
        Err(TrainingRunError::TargetMissed { value: 0.93 })
    );
    assert_eq!(runs[2].minutes_to_train(None), Ok(12.0));
    let cut = runs[3].minutes_to_train(None).unwrap_err().to_string();
    assert!(cut.contains("has no run_stop: the last event of the run is eval_accuracy"), "{cut}");
}

/// A script that prints its log while it trains, and again in the end.
#[test]
fn a_log_that_is_printed_twice_is_one_run() {
    const DATE: u64 = 1_759_734_393_481;
    let log = run(DATE, 10, "success", 0.92);
    let mut lines = log.clone();
    lines.push("the log once more:".to_owned());
    lines.extend(log.clone());
    assert_eq!(read(&lines, &[]).unwrap().len(), 1);
    // What was printed at first was truncated: the whole log counts.
    let mut lines = log[..8].to_vec();
    lines.extend(log.clone());
    let runs = read(&lines, &[]).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].minutes_to_train(None), Ok(10.0));
    // The end of it again.
    lines.extend(log[8..].to_vec());
    assert_eq!(read(&lines, &[]).unwrap().len(), 1);
    lines.extend(run(DATE + 900_000, 10, "success", 0.92));
    assert_eq!(read(&lines, &[]).unwrap().len(), 2);
}

#[test]
fn ranks_that_print_the_same_lines_are_one_run() {
    let ours = run(1_000_000, 10, "success", 0.92);
    let mut lines: Vec<String> = Vec::new();
    for line in &ours {
        lines.push(format!("0: {line}"));
        lines.push(format!("1: {line}{line}"));
    }
    let runs = read(&lines, &[]).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].minutes_to_train(None), Ok(10.0));
    // A rank that logs another status.
    lines.push(line("run_stop", 1_600_000, "null", "\"status\": \"aborted\""));
    let runs = read(&lines, &[]).unwrap();
    assert_eq!(runs[0].minutes_to_train(None), Err(TrainingRunError::RanksDisagree));
}

#[rstest]
#[case(&[], "no line has :::MLLOG")]
#[case(&["init_start", "seed"], "no run_start; its events are init_start, seed")]
fn a_log_without_runs(#[case] keys: &[&str], #[case] expected: &str) {
    let lines: Vec<String> = keys.iter().map(|key| line(key, 5, "1", "")).collect();
    let error = read(&lines, &[]).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_clock_that_runs_backwards_is_an_error() {
    let lines = [
        line("run_start", 9000, "null", ""),
        line("run_stop", 8000, "null", "\"status\": \"success\""),
    ];
    let runs = read(&lines, &[]).unwrap();
    assert_eq!(runs[0].minutes_to_train(None), Err(TrainingRunError::StopNotAfterStart));
}

proptest! {
    #[test]
    fn any_order_of_events_has_positive_times_or_fails(order in prop::collection::vec((0_usize..13, 0_u64..3), 0..60)) {
        let lines: Vec<String> = order
            .iter()
            .map(|(index, later)| run(10_000_000 + later * 1_000_000, 5, "success", 0.9)[*index].clone())
            .collect();
        if let Ok(runs) = read(&lines, &[("tracked_stats.throughput", MatchSelection::Sum)]) {
            for run in runs {
                let minutes = run.minutes_to_train(Some(&TARGET));
                prop_assert!(minutes.is_err() || minutes.unwrap() > 0.0);
            }
        }
    }
}

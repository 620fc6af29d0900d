use super::*;

const SEARCH: ChangeSearch = ChangeSearch {
    positions: 10,
    change: ChangeCriterion::Slower { better: Better::Higher, margin: 0.02 },
    alpha: 0.05,
    max_trials: 100,
    rounding_error: 0.0005,
};

/// Searches where a position has the value that a function of position and trial gives.
fn search(search: &ChangeSearch, value: impl Fn(usize, usize) -> f64) -> (SearchStep, Vec<usize>) {
    let mut trials = Vec::new();
    loop {
        match search.next_step(&trials) {
            SearchStep::Measure(position) => {
                trials.push(Observation { position, value: value(position, trials.len()) });
            }
            end => return (end, trials.iter().map(|trial| trial.position).collect()),
        }
    }
}

/// Noise of half a per cent, the same in every test.
fn noise(trial: usize) -> f64 {
    [0.3, -0.5, 0.1, 0.5, -0.2, -0.4, 0.2][trial % 7] / 100.0
}

fn change_point(step: SearchStep) -> ChangePoint {
    match step {
        SearchStep::Found(change_point) => change_point,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ends_are_measured_first_then_halves_then_the_pair() {
    let speed = |position, trial| if position < 7 { 100.0 } else { 90.0 } * (1.0 + noise(trial));
    let (end, positions) = search(&SEARCH, speed);
    let change_point = change_point(end);
    assert_eq!(change_point.before, 6);
    assert!(change_point.probability > 0.95);
    let NeighbourRatio { center, bounds } = change_point.ratio.unwrap();
    assert!((center.exp() - 0.9).abs() < 0.01, "{center}");
    assert!(bounds.0 < center && center < bounds.1);
    assert_eq!(positions[..4], [0, 9, 9, 0]);
    assert!(positions.len() < 14, "{positions:?}");
    assert_eq!(change_point.sweep, 10);
}

#[test]
fn falling_latency_is_faster() {
    let latency = |position, trial| if position < 2 { 10.0 } else { 9.0 } * (1.0 + noise(trial));
    let change = ChangeCriterion::Faster { better: Better::Lower, margin: 0.05 };
    let change_point = change_point(search(&ChangeSearch { change, ..SEARCH }, latency).0);
    assert_eq!(change_point.before, 1);
    assert!(change_point.ratio.unwrap().center > 0.0);
}

#[test]
fn ends_that_do_not_differ_are_refused() {
    let (end, positions) = search(&SEARCH, |_, trial| 100.0 * (1.0 + noise(trial)));
    assert_eq!(end, SearchStep::NoDifference);
    assert!(positions.iter().all(|position| matches!(position, 0 | 9)));
    let faster = |position, trial| if position < 5 { 100.0 } else { 110.0 } * (1.0 + noise(trial));
    assert_eq!(search(&SEARCH, faster).0, SearchStep::NoDifference);
    // Noise as large as the margin: half of the trials are used.
    let loud = |_, trial| 100.0 * (1.0 + 8.0 * noise(trial));
    let (end, positions) = search(&ChangeSearch { max_trials: 8, ..SEARCH }, loud);
    assert_eq!((end, positions.len()), (SearchStep::EndsUndecided, 4));
}

#[test]
fn a_misleading_trial_is_corrected() {
    // The first inner trial is a slow one before the change.
    let speed = |position, trial| {
        let slow = if trial == 4 { 0.9 } else { 1.0 };
        slow * if position < 7 { 100.0 } else { 90.0 } * (1.0 + noise(trial))
    };
    let (end, positions) = search(&SEARCH, speed);
    assert_eq!(change_point(end).before, 6);
    assert!(positions[5..].contains(&positions[4]), "{positions:?}");
}

#[test]
fn the_larger_of_two_changes_is_found() {
    let speed = |position, trial| {
        let level = [100.0, 97.0, 90.0][usize::from(position > 2) + usize::from(position > 6)];
        level * (1.0 + noise(trial))
    };
    assert_eq!(change_point(search(&SEARCH, speed).0).before, 6);
    // Two of the same size: one of them.
    let speed = |position, trial| {
        let level = [100.0, 95.0, 90.25][usize::from(position > 2) + usize::from(position > 6)];
        level * (1.0 + noise(trial))
    };
    assert!([2, 6].contains(&change_point(search(&SEARCH, speed).0).before));
}

#[test]
fn figures_without_noise_are_found() {
    let whole = |position, _| if position < 3 { 200.0 } else { 180.0 };
    let change_point = change_point(search(&SEARCH, whole).0);
    assert_eq!(change_point.before, 2);
    let (lower, upper) = change_point.ratio.unwrap().bounds;
    assert!(upper - lower > 0.0019, "a figure is known to half a digit");
}

#[test]
fn a_search_over_two_values_works() {
    let speed = |position, trial| [100.0, 90.0][position] * (1.0 + noise(trial));
    let two = ChangeSearch { positions: 2, ..SEARCH };
    assert_eq!(change_point(search(&two, speed).0).before, 0);
}

#[test]
fn yes_no_answers_have_an_assumed_error_rate() {
    let change = ChangeCriterion::Answer { error: 0.05 };
    let answers = ChangeSearch { change, ..SEARCH };
    let valid = |position: usize, _| f64::from(u8::from(position < 4));
    let (end, positions) = search(&answers, valid);
    let end = change_point(end);
    assert_eq!((end.before, end.ratio, end.sweep), (3, None, 30));
    assert!(positions.len() < 14, "{positions:?}");
    // One wrong answer in the middle.
    let once = |position: usize, trial| f64::from(u8::from((position < 4) != (trial == 5)));
    assert_eq!(change_point(search(&answers, once).0).before, 3);
    assert_eq!(search(&answers, |_, _| 1.0).0, SearchStep::NoDifference);
}

#[test]
fn an_undecided_search_reports_its_range() {
    let speed = |position, trial| if position < 7 { 100.0 } else { 90.0 } * (1.0 + noise(trial));
    let (end, _) = search(&ChangeSearch { max_trials: 8, ..SEARCH }, speed);
    let SearchStep::Undecided { first, last } = end else {
        panic!("{end:?}");
    };
    assert!(first <= 6 && last >= 7 && last - first < 6, "{first} {last}");
}

//! Pulls, message by message.

use super::*;

fn at(tenths: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + tenths * 100).unwrap()
}

#[test]
fn bytes_speed_and_time_left() {
    let mut pull = Pull::default();
    pull.take(at(0), "a", "Already exists", None, None);
    pull.take(at(0), "b", "Pulling fs layer", None, None);
    pull.take(at(0), "c", "Waiting", None, None);
    assert!(!pull.sum(at(0)).total_known);
    for step in 0..=40_u32 {
        pull.take(
            at(step.into()),
            "b",
            "Downloading",
            Some(u64::from(step) * 1_000_000),
            Some(100_000_000),
        );
    }
    let sum = pull.sum(at(40));
    assert_eq!(
        (sum.done, sum.total, sum.total_known, sum.left),
        (40_000_000, 100_000_000, false, None)
    );
    assert!((sum.rate.unwrap() - 1e7).abs() < 1e5, "{sum:?}");
    pull.take(at(41), "c", "Downloading", Some(0), Some(10_000_000));
    let sum = pull.sum(at(41));
    assert!((sum.left.unwrap() - 7.0).abs() < 0.3, "{sum:?}");
    assert_eq!(
        pull.active()
            .map(|layer| layer.id.as_str())
            .collect::<Vec<_>>(),
        ["b", "c"]
    );
    assert_eq!((sum.done_parts, sum.parts), (1, 3));
}

#[test]
fn a_download_that_stalls_slows_down() {
    let mut pull = Pull::default();
    for step in 0..=40_u32 {
        pull.take(
            at(step.into()),
            "b",
            "Downloading",
            Some(u64::from(step) * 1_000_000),
            Some(100_000_000),
        );
    }
    assert!(pull.sum(at(80)).rate.unwrap() < 6e6);
    assert!(pull.sum(at(1000)).rate.unwrap() < 1e5);
}

#[test]
fn extraction_is_a_phase_of_its_own() {
    let mut pull = Pull::default();
    pull.take(at(0), "b", "Downloading", Some(10), Some(100));
    pull.take(at(1), "b", "Download complete", None, None);
    assert_eq!(
        (pull.sum(at(1)).phase, pull.sum(at(1)).done),
        (Phase::Extracting, 0)
    );
    pull.take(at(2), "b", "Extracting", Some(60), Some(100));
    assert_eq!((pull.sum(at(2)).done, pull.sum(at(2)).total), (60, 100));
    // The containerd store: seconds, not bytes.
    pull.take(at(3), "b", "Extracting", Some(3), None);
    assert_eq!(pull.sum(at(3)).done, 0);
    pull.take(at(4), "b", "Pull complete", None, None);
    let sum = pull.sum(at(4));
    assert_eq!((sum.done, sum.done_parts, sum.total_known), (100, 1, true));
}

#[test]
fn nothing_is_known_of_an_empty_pull() {
    let sum = Pull::default().sum(at(0));
    assert_eq!(
        (sum.done, sum.total, sum.rate, sum.left),
        (0, 0, None, None)
    );
}

#[test]
fn files_are_hashed_and_never_unpacked() {
    let mut pull = Pull::default();
    pull.take_file(at(0), "a", TransferState::Waiting, 0, 100);
    pull.take_file(at(0), "b", TransferState::Waiting, 0, 50);
    pull.take_file(at(0), "c", TransferState::Verifying, 20, 60);
    pull.take_file(at(1), "a", TransferState::Downloading, 40, 100);
    let sum = pull.sum(at(1));
    assert_eq!((sum.done, sum.total, sum.total_known), (60, 210, true));
    assert_eq!((sum.parts, sum.done_parts, sum.unit), (3, 0, Unit::File));
    // What was there need not come: it is in no sum.
    pull.take_file(at(2), "c", TransferState::Cached, 60, 60);
    pull.take_file(at(2), "a", TransferState::Done, 100, 100);
    pull.take_file(at(2), "b", TransferState::Done, 50, 50);
    let sum = pull.sum(at(2));
    assert_eq!((sum.done, sum.total, sum.done_parts), (150, 150, 3));
    assert_eq!(sum.phase, Phase::Downloading);
    assert_eq!(pull.active().count(), 0);
}
